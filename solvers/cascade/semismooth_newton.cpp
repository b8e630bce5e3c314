#include "solvers/cascade/semismooth_newton.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/cone_projection.hpp"

namespace conebench::cascade {

namespace {

const double half_root = std::sqrt(0.5);

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Whether a run cycles: a residual that equals one of the last twelve.
class Cycle {
 public:
  Cycle() { last_.fill(std::numeric_limits<double>::infinity()); }
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
      system_(problem.contacts()),
      w_(problem.size()),
      known_(problem.size()),
      product_(problem.size()),
      right_side_(problem.size()),
      z_(problem.size()) {}

void SemismoothNewton::linearise_slip(int i, const Eigen::Vector3d& r, const Eigen::Vector3d& y) {
  const double length = tangential_norm<3>(y);
  const double ex = y[0] / length;
  const double ey = y[1] / length;
  const double projected = 0.5 * (length + y[2]);
  const double tau = projected / length;
  const Eigen::Vector3d f(r[0] - projected * ex, r[1] - projected * ey, r[2] - projected);
  const double along = ex * f[0] + ey * f[1];
  const double f1 = (along + f[2]) * half_root;
  const double f2 = (f[2] - along) * half_root;
  const double f3 = -ey * f[0] + ex * f[1];
  const Eigen::Vector3d w = rho_ * w_.segment<3>(3 * i);
  const double slip = tangential_norm<3>(w);
  const double wx = slip > 0.0 ? w[0] / slip : 0.0;
  const double wy = slip > 0.0 ? w[1] / slip : 0.0;

  Block& left = system_.left[at(i)];
  Block& right = system_.right[at(i)];
  left << (ex + wx) * half_root, (ey + wy) * half_root, half_root,  //
      0.0, 0.0, 0.0,                                                //
      -ey * tau, ex * tau, 0.0;
  right << ex * half_root, 0.0, -ey,  //
      ey * half_root, 0.0, ex,        //
      half_root, 0.0, 0.0;
  system_.left_out[at(i)] = problem_.planar() ? Left::middle_and_last : Left::middle;  // z_2 = 0
  system_.diagonal[at(i)] = Eigen::Vector3d(0.0, 1.0, 1.0 - tau).asDiagonal();
  const Eigen::Vector3d known = Eigen::Vector3d(-ex, -ey, 1.0) * (-f2 * half_root);
  known_.segment<3>(3 * i) = known;
  right_side_.segment<3>(3 * i) = Eigen::Vector3d(-f1, 0.0, -f3);
}

void SemismoothNewton::linearise(const Vector& r) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d ri = r.segment<3>(3 * i);
    const Eigen::Vector3d wi = rho_ * w_.segment<3>(3 * i);
    Eigen::Vector3d y = ri - wi;
    y[2] -= tangential_norm<3>(wi);
    const double length = tangential_norm<3>(y);
    system_.left_out[at(i)] = problem_.planar() ? Left::middle : Left::nothing;
    if (length <= y[2]) {
      system_.left[at(i)].setIdentity();
      system_.right[at(i)].setIdentity();
      system_.diagonal[at(i)].setZero();
      known_.segment<3>(3 * i).setZero();
      right_side_.segment<3>(3 * i) = -wi;
    } else if (length <= -y[2]) {
      system_.left_out[at(i)] = Left::everything;
      system_.left[at(i)].setZero();
      system_.right[at(i)].setZero();
      system_.diagonal[at(i)].setIdentity();
      known_.segment<3>(3 * i) = -ri;
      right_side_.segment<3>(3 * i).setZero();
    } else {
      linearise_slip(i, ri, y);
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
  constexpr std::array<double, 4> scales{1.0, 3.0, 1.0, 1.0 / 3.0};
  constexpr double far_scale = 10.0;
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
      without_progress = residual < budget.progress * best_to_beat ? 0 : without_progress + 1;
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
        rho_ = far_scale * budget.scale;
      }
      previous_ = r;
    }
    linearise(r);
    const bool trusted = budget.trusts_modes && factored_ == system_.left_out && residual < std::min(1e-2, 0.1 * last);
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
