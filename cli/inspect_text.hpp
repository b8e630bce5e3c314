#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace conebench::cli {

/// What `inspect` says of a problem whose file is a simulation's sample; null elsewhere.
inline constexpr std::array<std::string_view, 8> sample_keys = {
    "scene", "step", "seed", "coordinates", "metric", "loop_outcome", "loop_status", "loop_residual"};

inline constexpr double max_feasibility_s = 60.0;

/// One line a value of the object that `inspect --json` prints.
std::string inspect_text(const nlohmann::json& inspected);
/// A table with a line for each of several, without those that have an "error". `arguments`: as they were given; a
/// single one (a recording, a folder) is not repeated in each line. `recording`: they are the steps of that one.
std::string inspect_table(const std::vector<std::string>& arguments, bool recording, const nlohmann::json& inspected);
/// Error (wrong_usage): the table has no such column; lists them.
Result<void> check_column(const std::string& name);
/// Orders a list of such objects by a column; null comes last, and so does an "error".
void sort_by(const std::string& column, bool largest_first, nlohmann::json& inspected);

}  // namespace conebench::cli
