#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// A solver that takes many problems in one call, since that is faster for it: by threads of its own, on a GPU.
class ManySolver {
 public:
  virtual ~ManySolver() = default;
  virtual std::optional<std::string> unsupported_reason(const ContactProblem& problem) const = 0;
  /// Sets up all of them. Errors: unsupported, with the reason.
  virtual Result<void> prepare(std::span<const ContactProblem> problems) = 0;
  /// From guesses[k] to impulses[k], each as long as problem k has rows [N s]; the solver's own test ends each. The
  /// same guesses give the same bits.
  virtual void solve(std::span<const double* const> guesses, const StopRule& stop, std::span<double* const> impulses,
                     std::span<SolveSummary> summaries) = 0;
};

}  // namespace conebench
