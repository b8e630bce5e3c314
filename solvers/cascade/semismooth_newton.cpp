#include "solvers/cascade/semismooth_newton.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/cone_projection.hpp"

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Whether a run goes in a circle: a residual that equals one of the last twelve.
class Circle {
 public:
  Circle() { last_.fill(std::numeric_limits<double>::infinity()); }
  bool closes(double residual) {
    constexpr double equal = 3e-4;
    const auto meets = [&](double other) { return std::abs(other - residual) <= equal * residual; };
    const bool closed = std::any_of(last_.begin(), last_.end(), meets);
    last_[count_++ % last_.size()] = residual;
    return closed;
  }

 private:
  std::array<double, 12> last_;
  std::size_t count_ = 0;
};

}  // namespace

SemismoothNewton::SemismoothNewton(const ScaledProblem& problem, BlockLu& lu)
    : problem_(problem),
      lu_(lu),
      steps_(at(problem.contacts())),
      left_(at(problem.contacts())),
      right_(at(problem.contacts())),
      base_(at(problem.contacts())),
      dropped_(at(problem.contacts())),
      w_(problem.size()),
      known_(problem.size()),
      product_(problem.size()),
      right_side_(problem.size()),
      z_(problem.size()) {}

bool SemismoothNewton::linearise(const Vector& r) {
  bool same = true;
  for (int i = 0; i < problem_.contacts(); ++i) {
    steps_[at(i)] = linearise_contact(r.segment<3>(3 * i), rho_ * w_.segment<3>(3 * i));
    same = same && dropped_[at(i)] == steps_[at(i)].left_out;
    dropped_[at(i)] = steps_[at(i)].left_out;
  }
  return same;
}

void SemismoothNewton::regularise(double alpha) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    ContactStep& step = steps_[at(i)];
    step.regularise(alpha);
    left_[at(i)] = rho_ * step.left;
    right_[at(i)] = step.right;
    base_[at(i)] = step.base;
    known_.segment<3>(3 * i) = step.known;
    right_side_.segment<3>(3 * i) = step.side;
  }
}

void SemismoothNewton::step(Vector& r) {
  problem_.multiply(known_, product_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (dropped_[at(i)] != Left::everything) right_side_.segment<3>(3 * i) -= left_[at(i)] * product_.segment<3>(3 * i);
  }
  lu_.factor(problem_, left_, right_, base_, dropped_);
  lu_.solve(right_side_, z_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    r.segment<3>(3 * i) += right_[at(i)] * z_.segment<3>(3 * i) + known_.segment<3>(3 * i);
  }
}

bool SemismoothNewton::run(Search& search, Vector& r, const NewtonBudget& budget, const Measured& start) {
  constexpr int stall = 2;
  constexpr std::array<double, 4> scales{1.0, 3.0, 1.0, 1.0 / 3.0};
  constexpr double far_scale = 10.0;
  double best = std::numeric_limits<double>::infinity();
  double best_to_beat = std::numeric_limits<double>::infinity();
  double last = 0.0;
  int without_progress = 0;
  std::size_t changes = 0;
  Circle circle;
  int circles = 0;
  rho_ = budget.scale;
  best_ = r;
  for (int k = 0;; ++k) {
    const bool known = k == 0 && start.velocity.size() > 0;
    known ? void(w_ = start.velocity) : problem_.velocity(r, w_);
    const double residual = known ? start.residual : problem_.residual(r, w_);
    if (k > 0 || budget.start_counts) {
      without_progress = residual < budget.progress * best_to_beat ? 0 : without_progress + 1;
      best_to_beat = std::min(best_to_beat, residual);
    }
    if (residual < best) {
      best = residual;
      best_ = r;
    }
    if (!known && search.offer(r, residual)) return true;
    if (!std::isfinite(residual) || k >= budget.steps || without_progress >= budget.patience || search.halted()) break;
    if (budget.changes_scale && without_progress > 0 && without_progress % stall == 0) {
      rho_ = budget.scale * scales[++changes % scales.size()];
    }
    if (budget.leaves_circles) {
      if (circle.closes(residual)) {
        if (++circles == 3) break;
        circle = {};
        last = 0.0;
        if (circles == 1) {
          r = 0.5 * (r + previous_);
          continue;
        }
        rho_ = far_scale * budget.scale;
      }
      previous_ = r;
    }
    const bool trusted = linearise(r) && budget.trusts_modes && residual < std::min(1e-2, 0.1 * last);
    const double relative = (trusted ? 0.01 : 1.0) * budget.relative;
    regularise(std::min(budget.largest, std::max(1e-12, relative * residual)));
    last = residual;
    step(r);
    search.count_newton();
  }
  r = best_;
  return false;
}

}  // namespace conebench::cascade
