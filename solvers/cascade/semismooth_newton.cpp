#include "solvers/cascade/semismooth_newton.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/cone_projection.hpp"

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
  std::array<double, tuned.longest_cycle> last_;
  std::size_t count_ = 0;
};

}  // namespace

SemismoothNewton::SemismoothNewton(const ScaledProblem& problem, BlockLu& lu)
    : problem_(problem),
      lu_(lu),
      system_(problem.contacts()),
      w_(problem.size()),
      known_(problem.size()),
      product_(problem.size()),
      right_side_(problem.size()),
      z_(problem.size()) {}

void SemismoothNewton::linearise(const Vector& r) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d ri = r.segment<3>(3 * i);
    const Eigen::Vector3d wi = rho_ * w_.segment<3>(3 * i);
    const Eigen::Vector3d y = projected_point<3>(ri, wi);
    auto known = known_.segment<3>(3 * i);
    auto right_side = right_side_.segment<3>(3 * i);
    Block& left = system_.left[at(i)];
    Block& right = system_.right[at(i)];
    Block& diagonal = system_.diagonal[at(i)];
    switch (mode_of<3>(y)) {
      case Mode::stick:
        system_.left_out[at(i)] = problem_.planar() ? Left::middle : Left::nothing;
        left.setIdentity();
        right.setIdentity();
        diagonal.setZero();
        known.setZero();
        right_side = -wi;
        break;
      case Mode::open:
        system_.left_out[at(i)] = Left::everything;
        left.setZero();
        right.setZero();
        diagonal.setIdentity();
        known = -ri;
        right_side.setZero();
        break;
      case Mode::slip:
        const Slip<3> slip(ri, wi, y);
        system_.left_out[at(i)] = problem_.planar() ? Left::middle_and_last : Left::middle;  // z_2 = 0
        left << slip.row.transpose(), Eigen::RowVector3d::Zero(), slip.turned * slip.across.transpose();
        right << slip.along, Eigen::Vector3d::Zero(), slip.across;
        diagonal = Eigen::Vector3d(0.0, 1.0, 1.0 - slip.turned).asDiagonal();
        known = slip.known;
        right_side << slip.first, 0.0, slip.third;
    }
    system_.left[at(i)] *= rho_;
  }
}

void SemismoothNewton::regularise(double alpha) {
  const char sticks = problem_.planar() ? Left::middle : Left::nothing;
  const double share = alpha / rho_;
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (system_.left_out[at(i)] == Left::everything) continue;
    if (system_.left_out[at(i)] == sticks) {
      system_.diagonal[at(i)].diagonal().array() += alpha;
      continue;
    }
    system_.diagonal[at(i)].noalias() += share * (system_.left[at(i)] * system_.right[at(i)]);
    right_side_.segment<3>(3 * i) -= share * (system_.left[at(i)] * known_.segment<3>(3 * i));
  }
}

void SemismoothNewton::step(Vector& r) {
  problem_.multiply(known_, product_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (system_.left_out[at(i)] != Left::everything)
      right_side_.segment<3>(3 * i) -= system_.left[at(i)] * product_.segment<3>(3 * i);
  }
  lu_.factor(problem_, system_);
  factored_ = system_.left_out;
  lu_.solve(right_side_, z_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    r.segment<3>(3 * i) += system_.right[at(i)] * z_.segment<3>(3 * i) + known_.segment<3>(3 * i);
  }
}

bool SemismoothNewton::run(Search& search, Vector& r, const NewtonBudget& budget, const Measured& start) {
  constexpr int stall = 2;
  constexpr std::array<double, 4> scales{1.0, tuned.other_scale, 1.0, 1.0 / tuned.other_scale};
  double best = std::numeric_limits<double>::infinity();
  double best_to_beat = std::numeric_limits<double>::infinity();
  double last = 0.0;
  int without_progress = 0;
  std::size_t changes = 0;
  Cycle cycle;
  int cycles = 0;
  rho_ = budget.scale;
  best_ = r;
  for (int k = 0;; ++k) {
    const bool known = k == 0 && start.velocity.size() > 0;
    known ? void(w_ = start.velocity) : problem_.velocity(r, w_);
    const double residual = known ? start.residual : problem_.residual(r, w_);
    if (k > 0 || budget.start_counts) {
      without_progress = residual < tuned.progress * best_to_beat ? 0 : without_progress + 1;
      best_to_beat = std::min(best_to_beat, residual);
    }
    if (residual < best) {
      best = residual;
      best_ = r;
    }
    if (!known && search.offer(r, residual)) return true;
    if (!std::isfinite(residual) || k >= budget.steps || without_progress >= budget.stall_window || search.halted())
      break;
    if (budget.changes_scale && without_progress > 0 && without_progress % stall == 0) {
      rho_ = budget.scale * scales[++changes % scales.size()];
    }
    if (budget.leaves_cycles) {
      if (cycle.closes(residual)) {
        if (++cycles == 3) break;
        cycle = {};
        last = 0.0;
        if (cycles == 1) {
          r = 0.5 * (r + previous_);
          continue;
        }
        rho_ = tuned.far_scale * budget.scale;
      }
      previous_ = r;
    }
    linearise(r);
    const bool trusted = budget.trusts_modes && factored_ == system_.left_out &&
                         residual < std::min(tuned.trusted_below, tuned.fallen * last);
    const double relative = (trusted ? tuned.trusted_share : 1.0) * budget.relative;
    regularise(std::min(budget.largest, std::max(tuned.least, relative * residual)));
    last = residual;
    step(r);
    search.count_newton();
  }
  r = best_;
  return false;
}

}  // namespace conebench::cascade
