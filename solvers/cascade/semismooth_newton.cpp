#include "solvers/cascade/semismooth_newton.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/cones/coulomb.hpp"

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Whether a run cycles: a residual that equals one of the last.
class Cycle {
 public:
  Cycle() { last_.fill(std::numeric_limits<double>::infinity()); }
  bool closes(double residual) {
    const auto meets = [&](double other) { return std::abs(other - residual) <= tuned.same_residual * residual; };
    const bool closed = std::any_of(last_.begin(), last_.end(), meets);
    last_[count_++ % last_.size()] = residual;
    return closed;
  }

 private:
  std::array<double, tuned.max_cycle> last_;
  std::size_t count_ = 0;
};

}  // namespace

SemismoothNewton::SemismoothNewton(const ScaledProblem& problem, LinearSolver& linear)
    : problem_(problem),
      linear_(linear),
      system_(problem.contacts()),
      modes_(system_.left_out.size()),
      w_(problem.size()),
      known_(problem.size()),
      right_side_(problem.size()),
      z_(problem.size()) {}

void SemismoothNewton::linearise() {
  const double half_root = std::sqrt(0.5);
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (problem_.is_interval(i)) {
      linearise_interval(i);
      continue;
    }
    const Eigen::Vector3d ri = r_.segment<3>(3 * i);
    const Eigen::Vector3d wi = rho_ * w_.segment<3>(3 * i);
    const double slip = tangential_norm<3>(wi);
    Eigen::Vector3d y = ri - wi;
    y[2] -= slip;
    const double length = tangential_norm<3>(y);
    auto known = known_.segment<3>(3 * i);
    auto right_side = right_side_.segment<3>(3 * i);
    Block& left = system_.left[at(i)];
    Block& right = system_.right[at(i)];
    Block& diagonal = system_.diagonal[at(i)];
    if (length <= y[2]) {  // it sticks
      modes_[at(i)] = Mode::stick;
      left.setIdentity();
      right.setIdentity();
      diagonal.setZero();
      known.setZero();
      right_side = -wi;
    } else if (length <= -y[2]) {  // it opens
      modes_[at(i)] = Mode::open;
      left.setZero();
      right.setZero();
      diagonal.setIdentity();
      known = -ri;
      right_side.setZero();
    } else {
      modes_[at(i)] = Mode::slip;
      Eigen::Vector3d axis = y / length;  // √2 f1
      axis[2] = 1.0;
      const Eigen::Vector3d across(-axis[1], axis[0], 0.0);  // f3
      const double turned = 0.5 + 0.5 * y[2] / length;       // τ
      Eigen::Vector3d row = half_root * axis;                // f1ᵀ Q
      if (slip > 0.0) row.head<2>() += half_root / slip * wi.head<2>();
      left << row.transpose(), Eigen::RowVector3d::Zero(), turned * across.transpose();
      right << half_root * axis, Eigen::Vector3d::Zero(), across;
      diagonal = Eigen::Vector3d(0.0, 1.0, 1.0 - turned).asDiagonal();
      known = 0.5 * (ri[2] - axis.head<2>().dot(ri.head<2>())) * axis;  // −F_2 f2
      known[2] = -known[2];
      right_side << -half_root * (axis.dot(wi) + slip), 0.0, -across.dot(ri);
    }
    left *= rho_;
    system_.left_out[at(i)] = modes_[at(i)] == Mode::open;
  }
}

void SemismoothNewton::linearise_interval(int i) {
  const Interval& bounds = problem_.bounds(i);
  const double r = r_[3 * i + 2];
  const double y = r - rho_ * w_[3 * i + 2];
  const bool given = bounds.lower == bounds.upper;
  const Mode mode = given || y < bounds.lower ? Mode::at_lower : y > bounds.upper ? Mode::at_upper : Mode::stick;
  const bool sticks = mode == Mode::stick;
  modes_[at(i)] = mode;
  system_.left_out[at(i)] = !sticks;
  const Block left = (sticks ? 1.0 : 0.0) * Block::Identity();
  system_.left[at(i)] = rho_ * left;
  system_.right[at(i)] = left;
  system_.diagonal[at(i)] = Block::Identity() - left;
  known_.segment<3>(3 * i).setZero();
  right_side_.segment<3>(3 * i).setZero();
  if (sticks) {
    right_side_.segment<3>(3 * i) = -rho_ * w_.segment<3>(3 * i);
  } else {
    known_[3 * i + 2] = (mode == Mode::at_lower ? bounds.lower : bounds.upper) - r;
  }
}

void SemismoothNewton::step(double alpha) {
  problem_.multiply(known_, z_);
  const double share = alpha / rho_;
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (system_.left_out[at(i)]) continue;
    const Block& left = system_.left[at(i)];
    system_.diagonal[at(i)].noalias() += share * (left * system_.right[at(i)]);
    right_side_.segment<3>(3 * i) -= left * (z_.segment<3>(3 * i) + share * known_.segment<3>(3 * i));
  }
  linear_.factor(problem_, system_);
  factored_ = modes_;
  linear_.solve(right_side_, z_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    r_.segment<3>(3 * i) += system_.right[at(i)] * z_.segment<3>(3 * i) + known_.segment<3>(3 * i);
  }
}

bool SemismoothNewton::run(Search& search, const Vector& start, const NewtonBudget& budget, const Measured& known) {
  constexpr int stall = 2;
  constexpr std::array<double, 4> scales{1.0, tuned.other_scale, 1.0, 1.0 / tuned.other_scale};
  double best_to_beat = std::numeric_limits<double>::infinity();
  double relative = budget.relative;
  int without_progress = 0;
  std::size_t changes = 0;
  Cycle cycle;
  int cycles = 0;
  rho_ = budget.scale;
  r_ = start;
  factored_.clear();
  for (int k = 0;; ++k) {
    const bool measured = k == 0 && known.velocity.size() > 0;
    measured ? void(w_ = known.velocity) : problem_.velocity(r_, w_);
    const double residual = measured ? known.residual : problem_.residual(r_, w_);
    if (k > 0 || budget.start_counts) {
      without_progress = residual < tuned.progress * best_to_beat ? 0 : without_progress + 1;
      best_to_beat = std::min(best_to_beat, residual);
    }
    if (!measured && search.offer(r_, residual)) return true;
    if (!std::isfinite(residual) || k >= budget.steps || without_progress >= budget.stall_window || search.halted())
      return false;
    if (budget.changes_scale && without_progress > 0 && without_progress % stall == 0) {
      rho_ = budget.scale * scales[++changes % scales.size()];
    }
    if (budget.leaves_cycles) {
      if (cycle.closes(residual)) {
        if (++cycles == 3) return false;
        cycle = {};
        if (cycles == 1) {
          r_ = 0.5 * (r_ + previous_);
          continue;
        }
        rho_ = tuned.other_scale * tuned.other_scale * budget.scale;
      }
      previous_ = r_;
    }
    linearise();
    const bool trusted = budget.trusts_modes && factored_ == modes_;
    relative = trusted ? tuned.trusted_share * relative : budget.relative;
    step(std::min(budget.largest, std::max(tuned.least, relative * residual)));
    search.count_newton();
  }
}

void SemismoothNewton::step_from(Vector& r, const Vector& w, double alpha) {
  rho_ = 1.0;
  r_ = r;
  w_ = w;
  linearise();
  step(alpha);
  r = r_;
}

void SemismoothNewton::rescue(Search& search) {
  for (double before = std::numeric_limits<double>::infinity(); search.best() < tuned.short_step * before;) {
    before = search.best();
    if (run(search, search.best_point(), strong_newton) || search.halted()) return;
  }
}

}  // namespace conebench::cascade
