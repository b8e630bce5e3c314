#pragma once

#include <memory>
#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "solvers/registry.hpp"

namespace conebench::simulation {

/// The solver of a simulation's loop with its own options.
struct LoopSolver {
  const SolverRow* row = nullptr;
  OptionValues options;  ///< as they were set

  /// The solver; with SolverInfo::own_process one that solves in a process of its own, for `seconds` at most a solve.
  Result<std::unique_ptr<Solver>> make(double seconds) const;
  /// Its id and the options that differ from their defaults, in the order of their names: equal configurations have
  /// equal labels.
  std::string label() const;
  /// What to set where the solver refuses a problem: "set solver_options=r_alpha=1e-6, or another solver" where its
  /// reason names the value of an option ("r_alpha = 1e-6"), else "set another solver".
  std::string advice(const std::string& reason) const;
};

/// `options`: "increment=0.02,ratio=5", empty for the defaults. Errors (wrong_usage): an unknown solver or option, a
/// value out of range; unsupported: the solver is not in this build.
Result<LoopSolver> loop_solver(const std::string& id, const std::string& options);

/// Hash of the files of a plug-in or program; empty: a solver of this build, or one that it does not know.
std::string code_of_solver(const std::string& id);

}  // namespace conebench::simulation
