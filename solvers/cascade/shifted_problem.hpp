#pragma once

#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/interior_point.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// G̃ + α I and what solves it, for one stage after the other (proximal point, bilateral relaxation), so
/// that there is one copy of G̃ whatever they do. Each sets α and the interior point's `finish` anew.
struct ShiftedProblem {
  /// `lu` has analysed `base`'s pattern and must outlive this object.
  ShiftedProblem(const ScaledProblem& base, BlockLu& lu)
      : problem(base), newton(problem, lu), interior_point(problem, lu, newton) {
    interior_point.alternate = false;
  }
  ShiftedProblem(const ShiftedProblem&) = delete;
  ShiftedProblem& operator=(const ShiftedProblem&) = delete;

  ScaledProblem problem;
  SemismoothNewton newton;
  InteriorPoint interior_point;
};

}  // namespace conebench::cascade
