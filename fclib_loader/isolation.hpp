#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace conebench::hdf5 {

constexpr double default_read_seconds = 10.0;
/// The limit of isolated()'s processor time from now on, in this process and those that it forks: `seconds` and one for
/// each 4 MB of the file. A reader that waits ten times as long without having used it is ended, too (killed): nothing
/// is known of its file.
void limit_reading(double seconds);

/// Runs `body` in a forked process and gives the bytes that it returns, so that HDF5's own crashes and endless loops on
/// damaged files end that process alone. `body` may throw Failure, which becomes the error. Its time
/// (limit_reading) and its memory are bounded in proportion to the size of `file`. Where no process can be forked,
/// `body` runs here.
///
/// A process that was terminated externally is started again, up to three times in all.
/// Errors: the Failure's; (bad_input) a process that ended without an answer ("file: HDF5's library crashed …") or took
/// too long; (ErrorCode::killed) one that was terminated externally each time.
Result<std::string> isolated(const std::filesystem::path& file, const std::function<std::string()>& body);

}  // namespace conebench::hdf5
