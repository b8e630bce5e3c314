#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace conebench::cli {

/// What `inspect` says of a problem whose file is a simulation's sample; null elsewhere.
inline constexpr std::array<std::string_view, 8> sample_keys = {
    "scene", "step", "seed", "coordinates", "metric", "loop_outcome", "loop_status", "loop_residual"};

inline constexpr double max_feasibility_s = 60.0;

/// One line a value of the object that `inspect --json` prints.
std::string inspect_text(const nlohmann::json& inspected);
/// A line a step of a recording.
std::string inspect_steps_text(const std::string& recording, const nlohmann::json& steps);

}  // namespace conebench::cli
