#include "solvers/first_order/apgd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "solvers/common_options.hpp"
#include "solvers/first_order/held_term.hpp"
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
//
// APGD-NCP (ours; as the APGD of Newton's Kamino, which solves each cone problem to the end): the same with g + s in
// place of g, s = Γ(σ) renewed after every iteration or held for some. σ below is with s. Momentum goes on where s is
// renewed. Nothing has to fall then, so that momentum is also dropped where the residual rises.

struct ApgdOptions {
  double growth = 2.0;      ///< L ← growth L where the step is too long
  double relaxation = 0.9;  ///< L ← relaxation L after every iteration
  bool restart = true;
  double stall = 0.0;
  ProductOptions product;
};

void declare_options(OptionBinder& bind, ApgdOptions& o) {
  bind.real("growth", o.growth, {.minimum = 1.01, .maximum = 100.0, .doc = "L <- growth L where the step is too long"});
  bind.real("relaxation", o.relaxation,
            {.minimum = 0.1, .maximum = 1.0, .doc = "L <- relaxation L after every iteration"});
  bind.flag("restart", o.restart, "drop the momentum where it points uphill (O'Donoghue and Candes' gradient rule)");
  declare_stall(bind, o.stall);
  declare_product(bind, o.product);
}

struct ApgdNcpOptions : ApgdOptions {
  long held = 1;
  double rise = 2.0;
};

void declare_options(OptionBinder& bind, ApgdNcpOptions& o) {
  HeldTerm::declare(bind, o.held);
  bind.real("rise", o.rise,
            {.minimum = 1.0,
             .maximum = 1e12,
             .scale = OptionScale::logarithmic,
             .doc = "drop the momentum where the residual is more than this times its least since that was done"});
  declare_options(bind, static_cast<ApgdOptions&>(o));
}

class Apgd final : public VelocityMapSolver {
 public:
  Apgd(SolverInfo info, const ApgdNcpOptions& options)
      : VelocityMapSolver(std::move(info), options.product),
        options_(options),
        ncp_(info_.formulation == Formulation::ncp),
        held_(options.held) {}

  Result<void> prepare(const ContactProblem& problem) override {
    CONEBENCH_CHECK(prepare_map(problem, false, {&gamma_, &next_, &y_, &sigma_, &next_sigma_, &sigma_y_, &scratch_}));
    if (ncp_) {
      held_.prepare(problem.rows());
      fresh_.setZero(problem.rows());
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
      const double now = residual();
      if (!(now >= best)) {  // NaN too, for the sake of an honest end
        best = now;
        impulse = next_;
      }
      add_momentum(now);
      if (ncp_ && held_.is_due()) renew_term();
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
  /// Of next_; of the NCP with s = Γ(σ) there.
  double residual() {
    if (!ncp_) return map_.residual(next_, 1.0 / lipschitz_, next_sigma_, scratch_);
    scratch_ = next_sigma_ - held_.term();
    add_de_saxce(map_.cones(), scratch_, fresh_);
    return map_.residual(next_, 1.0 / lipschitz_, fresh_, scratch_);
  }

  void renew_term() {
    scratch_ = sigma_ - held_.term();
    const Vector& change = held_.renew(map_.cones(), scratch_);
    sigma_ += change;
    sigma_y_ += change;
  }

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
    least_ = std::numeric_limits<double>::infinity();
    if (!ncp_) return;
    held_.reset();
    renew_term();
  }

  /// γ₊ = P_K(y − t σ_y), with L raised until ½ dᵀ N d ≤ ½ L ‖d‖² along d = γ₊ − y: the paper's test on the objective,
  /// without the cancellation of its values.
  void step_along_gradient() {
    constexpr int max_trials = 60;
    for (int trial = 0; trial < max_trials; ++trial) {
      map_.project_step(y_, 1.0 / lipschitz_, sigma_y_, next_);
      map_(next_, next_sigma_);
      if (ncp_) next_sigma_ += held_.term();
      scratch_ = next_ - y_;
      const double curvature = scratch_.dot(next_sigma_ - sigma_y_);
      if (!(curvature > lipschitz_ * scratch_.squaredNorm() * (1.0 + 1e-12))) return;
      lipschitz_ *= options_.growth;
    }
  }

  /// y₊ = γ₊ + β (γ₊ − γ), or γ₊ with the momentum dropped; L relaxes.
  void add_momentum(double residual) {
    const double theta = 0.5 * theta_ * (std::sqrt(theta_ * theta_ + 4.0) - theta_);
    double beta = theta_ * (1.0 - theta_) / (theta_ * theta_ + theta);
    theta_ = theta;
    least_ = std::min(least_, residual);
    const bool rises = ncp_ && residual > options_.rise * least_;
    if (options_.restart && (rises || sigma_y_.dot(next_ - gamma_) > 0.0)) {
      beta = 0.0;
      theta_ = 1.0;
      least_ = residual;
    }
    y_ = next_ + beta * (next_ - gamma_);
    sigma_y_ = next_sigma_ + beta * (next_sigma_ - sigma_);
    gamma_.swap(next_);
    sigma_.swap(next_sigma_);
    lipschitz_ *= options_.relaxation;
  }

  ApgdNcpOptions options_;
  bool ncp_;
  HeldTerm held_;
  double lipschitz_ = 1.0;
  double theta_ = 1.0;
  double least_ = 0.0;  ///< residual since momentum was dropped
  Vector gamma_, next_, y_, sigma_, next_sigma_, sigma_y_, scratch_, fresh_;
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
  SolverInfo ncp = info;
  ncp.id = "APGD-NCP";
  ncp.name = "Accelerated projected gradient with De Saxce's term held";
  ncp.formulation = Formulation::ncp;
  ncp.origin = Origin::own;
  ncp.summary =
      "APGD-CCP with De Saxce's term renewed on the way: a product or two an iteration, and the fewest products of the "
      "first-order methods where thousands of contacts are redundant. Not sure to converge.";
  return {with_product_left_out(make_row<ApgdOptions>(info,
                                                      [](const SolverInfo& i, const ApgdOptions& options) {
                                                        return std::make_unique<Apgd>(i, ApgdNcpOptions{options, {}});
                                                      })),
          with_product_left_out(make_row<ApgdNcpOptions>(ncp, [](const SolverInfo& i, const ApgdNcpOptions& options) {
            return std::make_unique<Apgd>(i, options);
          }))};
}

}  // namespace conebench
