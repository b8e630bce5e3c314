#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

namespace ipopt {

struct IpoptOptions {
  std::string barrier = "monotone";
  std::string scaling = "gradient-based";
};

/// Why this build has no Ipopt; nothing where it has.
std::optional<std::string> missing_reason();

/// The library's file name with its major version; empty in builds without it.
std::string library_file();

/// Errors (unsupported) come from prepare: no library on this machine. Null in a build without Ipopt.
std::unique_ptr<Solver> make_solver(const SolverInfo& info, const IpoptOptions& options);

}  // namespace ipopt

/// The row IPOPT-CCP.
std::vector<SolverRow> ipopt_rows();

}  // namespace conebench
