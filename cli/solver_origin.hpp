#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "solvers/registry.hpp"

namespace conebench::cli {

/// Whose a solver is, as JSON keys of `object`: origin, peer_version, peer_released (ISO date), peer_build and checks
/// ("free" or "paid").
void add_origin(nlohmann::json& object, const SolverInfo& info);

/// The same for people: "by Conebench's authors", "a paper's", "peer 4.4.0 (2021-09-07)", "plug-in", "program".
std::string origin_text(const SolverRow& row);

}  // namespace conebench::cli
