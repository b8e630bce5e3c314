#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace conebench::cli {

/// Draws each script for gnuplot (….gp) among the files, beside it. Nothing if all went well; else why figures are
/// missing, for a note.
std::optional<std::string> draw_figures(const std::vector<std::filesystem::path>& files);

}  // namespace conebench::cli
