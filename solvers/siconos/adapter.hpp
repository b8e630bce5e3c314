#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solvers/solver.hpp"

namespace conebench::siconos {

enum class Method { nsgs, nsn_ac, nsn_ac_new, nsn_nm, admm, vi_eg, prox, aclm, ipm_snm };

/// What the rows' options set; each method reads its own.
struct Settings {
  Method method = Method::nsgs;
  std::string storage = "auto";
  double tightening = 3.0;
  bool projection_local_solver = false;   ///< NSGS: projection on the cone instead of Newton
  std::string error_evaluation = "full";  ///< NSGS, VI-EG
  std::string line_search = "goldstein-price";
  std::string warm_up = "none";
  std::string inner = "nsn-ac";
  double penalty = 1.0;
  std::string initial_penalty = "value";
  std::string balancing = "none";
  double sigma = 5.0;
  double exponent = 1.0;
  std::string scaling = "none";
};

/// Why this build lacks the method; nothing where it has it.
std::optional<std::string> missing_reason(Method method);
/// Whether its sweep over contacts with rolling friction has Newton at each contact.
bool has_rolling_newton();
/// The library's file name with its version; empty in builds without it.
std::string library_file();
/// As siconos_blas().
std::string blas();

/// Errors (unsupported) come from prepare: no library on this machine.
std::unique_ptr<Solver> make_adapter(SolverInfo info, Settings settings);

}  // namespace conebench::siconos
