#pragma once

#include <string>

#include "metrics/residuals.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench::testing {

/// An answer with the judge's residual.
struct JudgedAnswer {
  SolveSummary summary;
  double residual;
  double outside;
  Vector impulse;
};

inline JudgedAnswer judged_solve(const std::string& id, const ContactProblem& problem, double tolerance,
                                 const OptionValues& options = {}) {
  SilentMonitor monitor;
  const StopRule stop{.tolerance = tolerance, .max_iterations = 100000, .stop_by = StopBy::solver};
  const auto solver = prepared(*find_solver(id), problem, options);
  const Answer answer = solve(*solver, problem, stop, monitor);
  const Judgement judgement = judge(problem, answer.impulse);
  return {answer.summary, judgement["natural_map_scaled"].value, judgement["primal"].value, answer.impulse};
}

}  // namespace conebench::testing
