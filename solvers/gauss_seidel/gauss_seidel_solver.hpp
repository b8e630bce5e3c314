#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "problems/cone_product.hpp"
#include "solvers/acceleration/accelerator.hpp"
#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/options.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/relaxation.hpp"
#include "solvers/gauss_seidel/sweep.hpp"
#include "solvers/progress.hpp"
#include "solvers/solver.hpp"

namespace conebench::gauss_seidel {

/// The stop test under StopBy::solver.
enum class OwnTest {
  /// NSGS: the sweep's change (SweepChange::largest) ≤ tolerance and then, where that holds, the scaled natural map
  /// ≤ tolerance. A failed second test waits a tenth more sweeps before the next.
  natural_map,
  /// PGS, NBGS, RAISIM: Tsounis (156)–(158), every `check_period` sweeps.
  complementarity,
  /// NBGS, RAISIM: SweepChange::largest / ω ≤ tolerance, how far a whole sweep would move (LeLidec24 Sec. III-C's other
  /// choice).
  fixed_point,
  /// RAISIM-DS-ES: Tsounis (160), |f(λ) − f(λ⁻)| / I_total ≤ tolerance with f of (17a), every `check_period` sweeps.
  objective,
};

struct Settings {
  SweepOptions sweep;
  OwnTest own_test = OwnTest::complementarity;
  OwnModel own_model = OwnModel::ncp;
  long check_period = 1;     ///< sweeps between two own tests
  bool damp_cycles = false;  ///< see Relaxation
  Decay decay = Decay::to_minimum;
  ProxOptions prox = {};                  ///< for a one-contact solver that adapts
  double total_inertia = 0.0;             ///< I_total of OwnTest::objective [kg]; 0: from the problem
  AccelerationOptions acceleration = {};  ///< of the sweep, for contacts whose impulses lie in the cones of K
};

/// Sweeps until the stop_by in force is met: paper Tsounis Alg. 5.
///
/// Starts from the guess projected onto K. The first iterate is checked after the first sweep. `diverged`: the
/// iterate is not finite or moves by more than 1e12 of the free velocity. `stalled`: the iterate has moved by less
/// than rounding for 20 sweeps on end. Accelerated, a sweep begins at an extrapolated point projected onto K, and its
/// result is the iterate.
template <class Local, Splitting S = Splitting::gauss_seidel>
class GaussSeidelSolver final : public Solver {
 public:
  GaussSeidelSolver(SolverInfo info, Settings settings, Local local)
      : info_(std::move(info)), settings_(std::move(settings)), local_(std::move(local)) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    const Vector weights = velocity_weights(problem);
    const auto order =
        contact_order(problem, settings_.sweep.order.name, static_cast<std::uint64_t>(settings_.sweep.order.seed));
    sweep_ = with_contact_cone(problem.cones(), [&]<class Cone>() -> std::unique_ptr<AnySweep> {
      // Where the one-contact solver does not know the contacts' class, there is none.
      using Known = std::conditional_t<Solves<Local, Cone>, Cone, CoulombSpace>;
      return std::make_unique<Sweep<Local, Known, S>>(problem, local_, order.contacts, weights);
    });
    if (const long threads = settings_.sweep.order.threads; threads > 1) {
      sweep_->share(order.colour_ends, static_cast<int>(threads));
    }
    residuals_ = std::make_unique<OwnResiduals>(problem, settings_.own_model);
    total_inertia_ = settings_.total_inertia > 0.0 ? settings_.total_inertia : total_inertia(problem);
    problem_ = problem;
    if (settings_.acceleration.any()) prepare_acceleration(weights);
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    const ConeProduct& cones = problem_->cones();
    SolveSummary summary;
    if (cones.rows() == 0) {
      summary.status = SolveStatus::converged;
      summary.own_residual = 0.0;
      return summary;
    }
    double divergence = 1e12;
    const SolveProgress progress(stop, monitor);
    StallWindow window;
    long next_check = 1;
    Relaxation relaxation(settings_.sweep, settings_.damp_cycles, settings_.decay, cones.contacts());
    StepFactor factor(settings_.prox);
    objective_ = unknown;

    project_cone(cones, guess, impulse);
    sweep_->start(impulse.data());
    start_acceleration(impulse);
    if constexpr (Adapting<Local>) sweep_->set_factor(factor.rho());
    const auto end_with = [&](SolveStatus status) {
      sweep_->write(impulse.data());
      summary.status = status;
      return summary;
    };
    const auto iterate = [&]() -> ConstVectorRef {
      sweep_->write(impulse.data());
      return impulse;
    };
    for (long k = 1; k <= stop.max_iterations; ++k) {
      const SweepChange change = (*sweep_)(relaxation.omega(), relaxation.within_sweep());
      relaxation.next(k, change.largest);
      summary.iterations = k;
      ++summary.operator_products;
      summary.own_residual = settings_.own_test == OwnTest::natural_map   ? change.largest
                             : settings_.own_test == OwnTest::fixed_point ? change.largest / change.relaxation
                                                                          : unknown;
      // A guess can be far away where the free velocity is rounding.
      if (k == 1) divergence = std::max(divergence, 1e3 * change.largest);
      if (!std::isfinite(change.sum_of_squares) || change.largest > divergence) return end_with(SolveStatus::diverged);
      if constexpr (Adapting<Local>) {
        if (!factor.accepts(change.largest)) {
          sweep_->step_back();
          sweep_->set_factor(factor.rho());
        }
      }
      if (stop.stop_by == StopBy::solver && k >= next_check &&
          own_test_met(stop.tolerance, impulse, k, next_check, summary)) {
        return end_with(SolveStatus::converged);
      }
      const bool stalled = window.after(change.largest, change.largest_impulse);
      const bool last = stalled || k == stop.max_iterations;
      if (const auto status = progress.check(k, summary.own_residual, iterate, last)) return end_with(*status);
      if (stalled) {
        summary.stall = Stall::rounding;
        return end_with(SolveStatus::stalled);
      }
      if (accelerator_.active() && !last) extrapolate(impulse);
    }
    return end_with(SolveStatus::max_iterations);
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  /// The residual in units of √energy: an impulse times the root of what turns it into a velocity.
  void prepare_acceleration(const Vector& weights) {
    const ConeProduct& cones = problem_->cones();
    Vector by_row(cones.rows());
    std::vector<Index> first_rows;
    for (Index b = 0; b < cones.blocks(); ++b) {
      first_rows.push_back(cones.block_row(b));
      by_row.segment(cones.block_row(b), cones.block_size(b)).setConstant(std::sqrt(weights[b]));
    }
    energy_ = by_row.cwiseAbs2();
    point_.resize(cones.rows());
    step_.resize(cones.rows());
    accelerator_ = Accelerator(settings_.acceleration, std::move(by_row), std::move(first_rows));
  }
  void start_acceleration(ConstVectorRef impulse) {
    accelerator_.restart();
    if (accelerator_.active()) point_ = impulse;
  }
  /// Where the next sweep starts, after one from `point_`. Writes the iterate to `impulse`. Of a point that lies
  /// behind, seen along the sweep's own step, the sweep's result takes the place: an extrapolation that K cuts off can
  /// lead back to where the sweeps started, for ever.
  void extrapolate(VectorRef impulse) {
    sweep_->write(impulse.data());
    step_ = energy_.cwiseProduct(impulse - point_);
    const double start = step_.dot(point_);
    accelerator_.next(point_, impulse, point_);
    project_cone(problem_->cones(), point_, point_);
    if (!(step_.dot(point_) >= start)) point_ = impulse;
    sweep_->start(point_.data());
  }

  /// Brings `impulse` up to date where it checks it.
  bool own_test_met(double tolerance, VectorRef impulse, long iteration, long& next_check, SolveSummary& summary) {
    double& residual = summary.own_residual;
    if (settings_.own_test == OwnTest::fixed_point) return residual <= tolerance;
    if (settings_.own_test == OwnTest::natural_map) {
      if (!(residual <= tolerance)) return false;
      next_check = iteration + 1 + iteration / 10;
    } else {
      next_check = iteration + settings_.check_period;
    }
    sweep_->write(impulse.data());
    ++summary.operator_products;
    if (settings_.own_test == OwnTest::natural_map) {
      residual = residuals_->natural_map(impulse);
    } else if (settings_.own_test == OwnTest::complementarity) {
      residual = residuals_->complementarity(impulse);
    } else {
      const double before = std::exchange(objective_, residuals_->objective(impulse));
      residual = std::abs(objective_ - before) / total_inertia_;
    }
    return residual <= tolerance;
  }

  SolverInfo info_;
  Settings settings_;
  Local local_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<AnySweep> sweep_;
  std::unique_ptr<OwnResiduals> residuals_;
  double total_inertia_ = 1.0;
  Accelerator accelerator_;
  Vector point_;                ///< where the last sweep started; accelerated
  Vector energy_, step_;        ///< the weights of a step's energy, and a step times them
  double objective_ = unknown;  ///< of the iterate that OwnTest::objective saw last
};

}  // namespace conebench::gauss_seidel
