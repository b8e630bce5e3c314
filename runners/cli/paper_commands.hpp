#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "reports/paper/command_source.hpp"
#include "reports/paper/sample.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

/// Runs those of `sources` that `folder` does not hold yet as this executable measures them; it keeps what they print.
/// False where it was interrupted. A gate of the command that fails (exit code 1) is a result. Errors: its others.
Result<bool> run_commands(const std::vector<paper::CommandSource>& sources, const std::filesystem::path& folder,
                          const std::atomic<bool>* interrupted, Progress& progress);

/// A sample each. Errors: as sample_of; a file can't be read.
Result<std::vector<paper::Sample>> command_samples(const std::vector<paper::CommandSource>& sources,
                                                   const std::filesystem::path& folder);

}  // namespace conebench::cli
