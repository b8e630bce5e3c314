#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "problems/cone_product.hpp"
#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/options.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/sweep.hpp"
#include "solvers/solver.hpp"

namespace conebench::gauss_seidel {

/// The stop test under Criterion::own.
enum class OwnTest {
  /// NSGS: the sweep's change (SweepChange::largest) ≤ tolerance and then, where that holds, the scaled natural map
  /// ≤ tolerance. A failed second test waits a tenth more sweeps before the next.
  natural_map,
  /// PGS: 004 (156)–(158), every `check_period` sweeps.
  complementarity,
};

/// Sweeps until the criterion in force is met: paper 004 Alg. 5 with the relaxation rule of its text (as printed,
/// ω ← min(ω_min, γ ω), it decays to 0).
///
/// Starts from the guess projected onto K. The first look at an iterate is after the first sweep. `diverged`: the
/// iterate is not finite or moves by more than 1e12 of the free velocity. `stalled`: the iterate has moved by less
/// than rounding for 20 sweeps on end.
template <class Local>
class GaussSeidelSolver final : public Solver {
 public:
  GaussSeidelSolver(SolverInfo info, SweepOptions options, OwnTest own_test, long check_period, Local local)
      : info_(std::move(info)),
        options_(std::move(options)),
        own_test_(own_test),
        check_period_(check_period),
        local_(std::move(local)) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  std::optional<Error> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    const Vector weights = velocity_weights(problem);
    const auto order = contact_order(problem, options_.order, static_cast<std::uint64_t>(options_.order_seed));
    planar_.reset();
    spatial_.reset();
    if (problem.cones().contact_dimension() == 2) {
      planar_ = std::make_unique<Sweep<Local, 2>>(problem, local_, order, weights);
    } else {
      spatial_ = std::make_unique<Sweep<Local, 3>>(problem, local_, order, weights);
    }
    residuals_ = std::make_unique<OwnResiduals>(problem, info_.formulation == Formulation::ncp);
    cones_ = problem.cones();
    return std::nullopt;
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    if (cones_.rows() == 0) {
      summary.status = SolveStatus::converged;
      summary.own_residual = 0.0;
      return summary;
    }
    constexpr double divergence = 1e12;
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    constexpr int patience = 20;
    int still = 0;
    long next_check = 1;
    double relaxation = options_.relaxation;
    const double relaxation_min = std::min(options_.relaxation_min, options_.relaxation);

    project_cone(cones_, guess, impulse);
    for (long k = 1; k <= stop.max_iterations; ++k) {
      const SweepChange change = sweep(relaxation, impulse.data());
      relaxation = std::max(relaxation_min, options_.relaxation_decay * relaxation);
      summary.iterations = k;
      ++summary.operator_products;
      summary.own_residual = own_test_ == OwnTest::natural_map ? change.largest : unknown;
      if (!std::isfinite(change.sum_of_squares) || change.largest > divergence) {
        summary.status = SolveStatus::diverged;
        return summary;
      }
      if (stop.criterion == Criterion::own && k >= next_check) {
        if (own_test_met(stop.tolerance, impulse, k, next_check, summary)) {
          summary.status = SolveStatus::converged;
          return summary;
        }
      }
      still = change.largest <= 4.0 * rounding * change.largest_impulse ? still + 1 : 0;
      const bool stalled = still >= patience;
      if (monitor.due(k) || stalled || k == stop.max_iterations) {
        const Decision decision = monitor.observe(k, impulse, summary.own_residual);
        if (decision == Decision::accept) {
          summary.status = SolveStatus::converged;
          return summary;
        }
        if (decision == Decision::out_of_time) {
          summary.status = SolveStatus::time_limit;
          return summary;
        }
      }
      if (stalled) {
        summary.status = SolveStatus::stalled;
        return summary;
      }
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  SweepChange sweep(double relaxation, double* impulse) {
    return spatial_ ? (*spatial_)(relaxation, impulse) : (*planar_)(relaxation, impulse);
  }

  bool own_test_met(double tolerance, ConstVectorRef impulse, long iteration, long& next_check, SolveSummary& summary) {
    if (own_test_ == OwnTest::natural_map) {
      if (!(summary.own_residual <= tolerance)) return false;
      summary.own_residual = residuals_->natural_map(impulse);
      next_check = iteration + 1 + iteration / 10;
    } else {
      summary.own_residual = residuals_->complementarity(impulse);
      next_check = iteration + check_period_;
    }
    ++summary.operator_products;
    return summary.own_residual <= tolerance;
  }

  SolverInfo info_;
  SweepOptions options_;
  OwnTest own_test_;
  long check_period_;
  Local local_;
  ConeProduct cones_;
  std::unique_ptr<Sweep<Local, 2>> planar_;
  std::unique_ptr<Sweep<Local, 3>> spatial_;
  std::unique_ptr<OwnResiduals> residuals_;
};

}  // namespace conebench::gauss_seidel
