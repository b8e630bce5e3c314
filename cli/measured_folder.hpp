#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/write_files.hpp"

namespace conebench::cli {

/// Puts what was measured into a folder, which may not be there yet, and gives the notes to be kept beside it. Nothing:
/// it was interrupted.
using FillFolder = std::function<Result<std::optional<std::vector<ReportFile>>>(const std::filesystem::path&)>;

/// Has the folder `place` filled where `executable` (a hash) has not: beside its place first, so that it is whole or
/// not there. False where that was interrupted. Errors: those of `fill`; bad_input where it can't be written.
Result<bool> fill_once(const std::filesystem::path& place, const std::string& executable, const FillFolder& fill);

/// Hash of the words.
std::string folder_name(const std::vector<std::string>& words);

}  // namespace conebench::cli
