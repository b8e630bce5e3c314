#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace conebench::reports {

/// One HTML page that works offline: the answers in a recording on their own law, on Coulomb's with compliance and on
/// rigid contact, step by step. `judged`: what `conebench judge RECORDING --answers --json` prints
/// (docs/command_line.md); residuals scaled and in m/s, times in s, gaps in m.
std::string recording_page(const nlohmann::json& judged);

}  // namespace conebench::reports
