#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/newton/convex_qp.hpp"
#include "solvers/progress.hpp"

namespace conebench::newton {

/// What one call of an inner solver did.
struct InnerCount {
  long iterations = 0;
  long factorizations = 0;
  long products = 0;  ///< with A
};

/// The monitor of the whole solve, as inner solvers see it: it checks the last whole iterate, which an inner one is
/// not, and where it ends the solve, the inner one ends too.
struct Watch {
  SolveProgress progress;
  VectorRef impulse;  ///< the last whole iterate
  double own_residual = std::numeric_limits<double>::quiet_NaN();
  long checks = 0;  ///< what the monitor counts
  std::optional<SolveStatus> ended = {};

  /// Asked after inner iteration k, every `period` of them.
  bool ends(long k, long period = 10) {
    if (k % period == 0) ended = progress.check(++checks, own_residual, impulse);
    return ended.has_value();
  }
};

/// Solves one ConvexQp again and again, from the last answer.
class ConvexQpSolver {
 public:
  virtual ~ConvexQpSolver() = default;
  /// From x to x until `residual` of the problem is at most `tolerance` [m/s], at most `max_iterations`, and while
  /// `watch` does not end the whole solve.
  virtual InnerCount solve(const Vector& q, Vector& x, double tolerance, long max_iterations, Watch& watch) = 0;
};

/// "admm": ADMM with residual balancing on one factorization a penalty (LeLidec24 III-D names it); "pgs": projected
/// block Gauss-Seidel; "newton": semi-smooth Newton on the natural map. `qp` must outlive the result.
std::unique_ptr<ConvexQpSolver> make_convex_qp_solver(const std::string& name, const ConvexQp& qp);

const std::vector<std::string>& convex_qp_solver_names();

}  // namespace conebench::newton
