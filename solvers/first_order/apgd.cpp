#include "solvers/first_order/apgd.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "solvers/common_options.hpp"
#include "solvers/first_order/velocity_map.hpp"
#include "solvers/progress.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace {

// Mazhar, Heyn, Negrut, Tasora, Using Nesterov's method to accelerate multibody dynamics with friction and contact, ACM
// Transactions on Graphics 34(3), 2015, Algorithm "APGD": min ½ γᵀ N γ − γᵀ r over γ ∈ K, with N = G + R and r = −g.
//
//     symbol  meaning                                            unit
//     γ, y    impulse, and the point that momentum leads to      N s
//     σ       N γ + g, the gradient at γ; σ_y at y               m/s
//     L, t    estimate of N's largest eigenvalue, t = 1/L        m/s per N s
//     θ, β    Nesterov's sequence and the momentum's weight      1
//
// Deviations: N y follows from N γ by linearity instead of a product of its own; the residual is the natural map with
// step t in velocities over V instead of the paper's with g_d = 1e-6, which has units. As in the paper, the best of all
// iterates is what is returned.

struct ApgdOptions {
  double growth = 2.0;      ///< L ← growth L where the step is too long
  double relaxation = 0.9;  ///< L ← relaxation L after every iteration
  bool restart = true;
  double stall = 0.0;
  std::string product = "auto";
};

void declare_options(OptionBinder& bind, ApgdOptions& o) {
  bind.real("growth", o.growth, {.minimum = 1.01, .maximum = 100.0, .doc = "L <- growth L where the step is too long"});
  bind.real("relaxation", o.relaxation,
            {.minimum = 0.1, .maximum = 1.0, .doc = "L <- relaxation L after every iteration"});
  bind.flag("restart", o.restart, "drop the momentum where it points uphill (O'Donoghue and Candes' gradient rule)");
  declare_stall(bind, o.stall);
  declare_product(bind, o.product);
}

class Apgd final : public Solver {
 public:
  Apgd(SolverInfo info, ApgdOptions options) : info_(std::move(info)), options_(options) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override {
    return multiplies_by_matrix(problem, product_of(options_.product));
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    map_ = VelocityMap(problem, false, product_of(options_.product));
    for (Vector* buffer : {&gamma_, &next_, &y_, &sigma_, &next_sigma_, &sigma_y_, &scratch_}) {
      buffer->setZero(problem.rows());
    }
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    project_cone(map_.cones(), guess, gamma_);
    impulse = gamma_;
    if (gamma_.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    const SolveProgress progress(stop, monitor);
    start();
    double best = std::numeric_limits<double>::infinity();
    for (long k = 1; k <= stop.max_iterations; ++k) {
      step_along_gradient();
      const double now = map_.residual(next_, 1.0 / lipschitz_, next_sigma_, scratch_);
      if (!(now >= best)) {  // NaN too, for the sake of an honest end
        best = now;
        impulse = next_;
      }
      add_momentum();
      summary.iterations = k;
      summary.operator_products = map_.products();
      summary.own_residual = best;
      if (const auto status = progress.after(k, best, impulse)) {
        summary.status = *status;
        return summary;
      }
      const bool still = (gamma_ - next_).norm() < options_.stall * gamma_.norm();  // next_: γ of the iteration before
      if (still) return stalled_as(summary, Stall::option, best);
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  /// L = ‖N (γ − 1)‖ / ‖γ − 1‖.
  void start() {
    map_.reset_products(0);
    scratch_.setOnes();
    map_(scratch_, next_sigma_);
    map_(gamma_, sigma_);
    const double distance = (gamma_ - scratch_).norm();
    lipschitz_ = distance > 0.0 ? (sigma_ - next_sigma_).norm() / distance : 0.0;
    if (!(lipschitz_ > 0.0)) lipschitz_ = 1.0;
    y_ = gamma_;
    sigma_y_ = sigma_;
    theta_ = 1.0;
  }

  /// γ₊ = P_K(y − t σ_y), with L raised until ½ dᵀ N d ≤ ½ L ‖d‖² along d = γ₊ − y: the paper's test on the objective,
  /// without the cancellation of its values.
  void step_along_gradient() {
    constexpr int max_trials = 60;
    for (int trial = 0; trial < max_trials; ++trial) {
      map_.project_step(y_, 1.0 / lipschitz_, sigma_y_, next_);
      map_(next_, next_sigma_);
      scratch_ = next_ - y_;
      const double curvature = scratch_.dot(next_sigma_ - sigma_y_);
      if (!(curvature > lipschitz_ * scratch_.squaredNorm() * (1.0 + 1e-12))) return;
      lipschitz_ *= options_.growth;
    }
  }

  /// y₊ = γ₊ + β (γ₊ − γ), or γ₊ with the momentum dropped; L relaxes.
  void add_momentum() {
    const double theta = 0.5 * theta_ * (std::sqrt(theta_ * theta_ + 4.0) - theta_);
    double beta = theta_ * (1.0 - theta_) / (theta_ * theta_ + theta);
    theta_ = theta;
    if (options_.restart && sigma_y_.dot(next_ - gamma_) > 0.0) {
      beta = 0.0;
      theta_ = 1.0;
    }
    y_ = next_ + beta * (next_ - gamma_);
    sigma_y_ = next_sigma_ + beta * (next_sigma_ - sigma_);
    gamma_.swap(next_);
    sigma_.swap(next_sigma_);
    lipschitz_ *= options_.relaxation;
  }

  SolverInfo info_;
  ApgdOptions options_;
  VelocityMap map_;
  double lipschitz_ = 1.0;
  double theta_ = 1.0;
  Vector gamma_, next_, y_, sigma_, next_sigma_, sigma_y_, scratch_;
};

}  // namespace

std::vector<SolverRow> apgd_rows() {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = "APGD-CCP";
  info.name = "Accelerated projected gradient on the cone problem";
  info.formulation = Formulation::ccp;
  info.rotation_invariant = false;  // the first L comes from the vector of ones
  info.scale_invariant = false;
  info.origin = Origin::paper;
  info.citation =
      "Mazhar, Heyn, Negrut, Tasora, Using Nesterov's method to accelerate multibody dynamics with friction and "
      "contact, 2015";
  info.summary =
      "Solves the convex relaxation as Chrono does: sliding contacts open by mu times their speed. One or two products "
      "an iteration, slow where G is badly conditioned on its range.";
  return {with_product_left_out(make_row<ApgdOptions>(
      info, [](const SolverInfo& i, const ApgdOptions& options) { return std::make_unique<Apgd>(i, options); }))};
}

}  // namespace conebench
