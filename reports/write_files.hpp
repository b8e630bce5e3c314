#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace conebench {

/// One file of a report, before anything is written.
struct ReportFile {
  std::filesystem::path path;  ///< relative to the report's folder
  std::string content;
};

/// Takes a text piece by piece.
using ByteSink = std::function<void(std::string_view)>;
/// Gives a text piece by piece, the same bytes each time it is called.
using ByteSource = std::function<void(const ByteSink&)>;
/// All that the source gives.
std::string collected(const ByteSource& source);

/// A file whose content is made while it is written: a large one is never whole in memory.
struct StreamedFile {
  std::filesystem::path path;  ///< relative to the report's folder
  ByteSource content;
};

/// Writes all of them into the folder (made where it is missing; "" for paths as they are), or none: each beside its
/// path first (PATH.unfinished-PID, synced), and when all are whole, each is renamed to its path. A full disk, a
/// lost folder or a kill leaves what was there. Pipes and devices are written to as they are. Errors (bad_input): the
/// path and the system's reason.
Result<void> write_files(const std::filesystem::path& folder, const std::vector<ReportFile>& files);
Result<void> write_files(const std::filesystem::path& folder, const std::vector<StreamedFile>& files);

}  // namespace conebench
