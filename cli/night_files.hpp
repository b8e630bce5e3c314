#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

/// Files that `conebench nightly` copies, keeps and deletes after a night.
namespace conebench::cli {

/// Copies history/, the night's comparison without its stores, and night.xml to `out`. Links between them work. If
/// `out` is empty, nothing is copied. Errors (bad_input): it cannot be written.
Result<void> copy_pages(const std::filesystem::path& folder, const std::filesystem::path& store,
                        const std::filesystem::path& out);

/// Deletes the suite's nights beyond the newest `keep` (0: none), without `spared`; notes each.
void prune_nights(const std::filesystem::path& folder, const std::string& suite, long keep,
                  const std::vector<std::filesystem::path>& spared);

/// Of the suite's nights beyond the newest `keep` (0: none), without `spared`, deletes all but what the page of all
/// nights needs; notes how many.
void prune_stores(const std::filesystem::path& folder, const std::string& suite, long keep,
                  const std::vector<std::filesystem::path>& spared);

/// Keeps the executables of tonight, of the last good night, of the pinned reference, and of as many nights as a
/// history may date a change back. Deletes the others.
void keep_builds(const std::filesystem::path& folder, const std::string& executable, const std::filesystem::path& pin);

}  // namespace conebench::cli
