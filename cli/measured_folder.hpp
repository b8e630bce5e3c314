#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/write_files.hpp"

namespace conebench::cli {

/// Puts what was measured into a folder, which may not be there yet, and gives the notes to be kept with it. Nothing:
/// it was interrupted.
using FillFolder = std::function<Result<std::optional<std::vector<ReportFile>>>(const std::filesystem::path&)>;

/// Has the folder `target` filled unless `executable` (a hash) did: under another name first, so that it is whole or
/// not there. False where that was interrupted. Errors: those of `fill`; bad_input where it can't be written.
Result<bool> fill_once(const std::filesystem::path& target, const std::string& executable, const FillFolder& fill);

/// Hash of a command line.
std::string folder_name(const std::vector<std::string>& arguments);

}  // namespace conebench::cli
