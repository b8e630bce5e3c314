#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "papers/command_source.hpp"
#include "papers/sample.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

/// Runs those of `sources` that `folder` does not hold yet as this executable measures them; it keeps what they print.
/// False where it was interrupted. A gate of the command that fails (exit code 1) is a result. Errors: its others.
Result<bool> run_commands(const std::vector<papers::CommandSource>& sources, const std::filesystem::path& folder,
                          const std::atomic<bool>* interrupted, Progress& progress);

/// A sample each. Errors: as sample_of; a file can't be read.
Result<std::vector<papers::Sample>> command_samples(const std::vector<papers::CommandSource>& sources,
                                                    const std::filesystem::path& folder);

}  // namespace conebench::cli
