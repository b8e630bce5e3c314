#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// How every problem of a batch is solved.
struct BatchOptions {
  std::string solver;  ///< an id of the registry
  OptionValues options = {};
  StopRule stop = {.stop_by = StopBy::judge};
  std::string verdict = "natural_map_scaled";  ///< an id of residual_table()
  double time_limit_s = 10.0;                  ///< of one problem's solve
  int threads = 1;
};

/// What became of one problem.
struct BatchAnswer {
  SolveSummary summary;  ///< with the status unsupported and a message where the solver can't take the problem
  double verdict = std::numeric_limits<double>::infinity();  ///< of the answer, in double
  bool solved = false;                                       ///< by the verdict, whatever the solver claims
  double setup_s = 0.0;
  double solve_s = 0.0;  ///< without the checks of the verdict; NaN where the solver solved all problems in one call
};

/// Many problems of any sizes, solved by one solver's configuration. What is set up stays: solve() may be called again,
/// from other guesses, with the same bits for the same guess. Answers do not depend on the number of threads.
class Batch {
 public:
  /// Sets up every problem. A plug-in works in this process. Errors (wrong_usage): an unknown solver, option or
  /// verdict, a peer's library that needs a process of its own, no thread; unsupported: the solver is not in this
  /// build.
  static Result<Batch> create(const BatchOptions& options, std::span<const ContactProblem> problems);
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  Index size() const;
  /// Rows of all problems, and where those of problem k begin.
  Index rows() const;
  Index first_row(Index k) const;

  /// `guesses` and `impulses`: one problem after the other, rows() long [N s]. Returns an answer for each problem,
  /// valid until the next call. Allocates nothing but what the solver does (SolverInfo::allocates).
  std::span<const BatchAnswer> solve(ConstVectorRef guesses, VectorRef impulses);
  /// Time that the last solve() took, with all checks of the verdict [s].
  double wall_s() const;

 private:
  struct Parts;
  explicit Batch(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace conebench
