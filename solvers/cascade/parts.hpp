#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/contact_sweep.hpp"
#include "solvers/cascade/interior_point.hpp"
#include "solvers/cascade/proximal_point.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// One problem with the parts that work on it; a part is made when it is first called, so that a problem that a few
/// sweeps solve pays for no symbolic analysis.
class Parts {
 public:
  /// `problem` must outlive this object. Factors of more than `max_bytes` are never made.
  explicit Parts(const ContactProblem& problem, double max_bytes = std::numeric_limits<double>::infinity(),
                 std::optional<JointElimination> joints = std::nullopt)
      : max_bytes_(max_bytes), problem_(problem, std::move(joints)) {}

  /// Takes the order and the fill of `earlier`, which is of no use afterwards, where the pattern of blocks is the same:
  /// from one step of a simulation to the next.
  void take_analysis_of(Parts& earlier) {
    if (!earlier.lu_ || !problem_.same_pattern(earlier.problem_)) return;
    lu_ = std::move(earlier.lu_);
  }

  const ScaledProblem& problem() const { return problem_; }
  double max_bytes() const { return max_bytes_; }

  BlockLu& lu() { return made(lu_, problem_, max_bytes_); }
  const ContactSweep& sweep() {
    if (!sweep_) sweep_.emplace(problem_.system()).prepare();
    return *sweep_;
  }
  SemismoothNewton& newton() { return made(newton_, problem_, lu()); }
  InteriorPoint& interior_point() { return made(interior_point_, problem_, lu(), newton()); }
  ProximalPoint& proximal_point() { return made(proximal_point_, problem_, newton(), lu()); }

 private:
  template <class Part, class... Arguments>
  static Part& made(std::unique_ptr<Part>& part, Arguments&... arguments) {
    if (!part) part = std::make_unique<Part>(arguments...);
    return *part;
  }

  double max_bytes_;
  ScaledProblem problem_;
  std::optional<ContactSweep> sweep_;
  std::unique_ptr<BlockLu> lu_;
  std::unique_ptr<SemismoothNewton> newton_;
  std::unique_ptr<InteriorPoint> interior_point_;
  std::unique_ptr<ProximalPoint> proximal_point_;
};

}  // namespace conebench::cascade
