#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

/// What `conebench nightly` does to its folder when a night is over.
namespace conebench::cli {

/// history/, the night's comparison without its stores, and night.xml into `out`, laid out so that links between them
/// work. Nothing where `out` is empty. Errors (bad_input): it cannot be written.
Result<void> copy_pages(const std::filesystem::path& folder, const std::filesystem::path& store,
                        const std::filesystem::path& out);

/// Deletes the suite's nights beyond the newest `keep` (0: none), without `spared`; says so.
void prune_nights(const std::filesystem::path& folder, const std::string& suite, long keep,
                  const std::vector<std::filesystem::path>& spared);

/// Keeps tonight's executable and those as far back as the rules of a history look for the night of a change, the last
/// good one and the pinned one besides; deletes the others.
void keep_builds(const std::filesystem::path& folder, const std::string& executable, const std::filesystem::path& pin);

}  // namespace conebench::cli
