#include "solvers/first_order/fixed_point.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "problems/scaled_natural_map.hpp"
#include "solvers/acceleration/accelerator.hpp"
#include "solvers/first_order/velocity_map.hpp"
#include "solvers/progress.hpp"

namespace conebench {

namespace {

// Acary, Brémond, Huber, On solving contact problems with Coulomb friction: formulations and numerical comparisons, in:
// Advanced Topics in Nonsmooth Dynamics, 2018, Sec. 4: projections for the variational inequality
//     find λ ∈ K:  F(λ)ᵀ (κ − λ) ≥ 0 for all κ ∈ K,   F(λ) = σ + Γ(σ).
//
//     symbol  meaning                                        unit
//     λ       impulse, in K after every iteration            N s
//     F       velocity with De Saxcé's term                  m/s
//     ρ       step                                           N s per m/s
//     ℓ       ρ ‖F(λ̄) − F(λ)‖ / ‖λ̄ − λ‖, to stay below L     1
//
// FP-FBF is Tseng, A modified forward-backward splitting method for maximal monotone mappings, 2000, on 0 ∈ F(λ) +
// N_K(λ): F with De Saxcé's term is the forward step, P_K = (I + ρ N_K)⁻¹ the backward step. Its X is the whole space:
// λ may leave K, and λ̄, which is in K, is the answer.

enum class Scheme {
  fixed_step,                ///< FP-DS: λ ← P_K(λ − ρ F(λ)), ρ fixed
  adaptive_step,             ///< FP-VI: the same, ρ adapted so that ℓ < L
  extragradient,             ///< FP-EG: λ̄ = P_K(λ − ρ F(λ)), ℓ < L; λ ← P_K(λ − ρ F(λ̄))
  forward_backward_forward,  ///< FP-FBF: λ̄ = P_K(λ − ρ F(λ)), ℓ < L; λ ← λ̄ − ρ (F(λ̄) − F(λ))
};

struct FixedPointOptions {
  double step = 1.0;
  AccelerationOptions acceleration{.safeguard = 100.0};  ///< as measured in docs/solvers/first_order.md
  ProductOptions product;
};

struct AdaptiveOptions {
  double step = 1.0;
  double shrink = 2.0 / 3.0;                             ///< τ
  double max_ratio = 0.9;                                ///< L
  double min_ratio = 0.3;                                ///< L_min
  AccelerationOptions acceleration{.safeguard = 100.0};  ///< as measured in docs/solvers/first_order.md
  ProductOptions product;
};

void declare_options(OptionBinder& bind, FixedPointOptions& o) {
  bind.real("step", o.step,
            {.minimum = 1e-6,
             .maximum = 1e6,
             .unit = "1/lambda_max(G+R)",
             .scale = OptionScale::logarithmic,
             .doc = "rho; above 2 it diverges also without friction"});
  declare_acceleration(bind, o.acceleration);
  declare_product(bind, o.product);
}

void declare_options(OptionBinder& bind, AdaptiveOptions& o) {
  bind.real("step", o.step,
            {.minimum = 1e-6,
             .maximum = 1e6,
             .unit = "1/lambda_max(G+R)",
             .scale = OptionScale::logarithmic,
             .doc = "first rho"});
  bind.real("shrink", o.shrink, {.minimum = 0.01, .maximum = 0.99, .doc = "tau: rho <- tau rho while l >= L"});
  bind.real("max_ratio", o.max_ratio,
            {.minimum = 0.01, .maximum = 0.999, .doc = "L: l = rho |dF| / |dlambda| stays below"});
  bind.real("min_ratio", o.min_ratio,
            {.minimum = 0.0, .maximum = 0.99, .doc = "L_min: rho <- rho / tau where l is below"});
  declare_acceleration(bind, o.acceleration);
  declare_product(bind, o.product);
}

class FixedPoint final : public VelocityMapSolver {
 public:
  FixedPoint(SolverInfo info, Scheme scheme, AdaptiveOptions options)
      : VelocityMapSolver(std::move(info), options.product), scheme_(scheme), options_(options) {}

  Result<void> prepare(const ContactProblem& problem) override {
    CONEBENCH_CHECK(prepare_map(problem, true, {&lambda_, &trial_, &force_, &trial_force_, &scratch_}));
    const double largest = problem.rows() > 0 ? map_.largest_eigenvalue() : 0.0;
    first_step_ = largest > 0.0 ? options_.step / largest : options_.step;
    prepared_products_ = map_.products();
    if (options_.acceleration.any()) prepare_acceleration(problem);
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    project_cone(map_.cones(), guess, lambda_);
    impulse = lambda_;
    if (lambda_.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    map_.reset_products(prepared_products_);
    const SolveProgress progress(stop, monitor);
    rho_ = first_step_;
    accelerator_.restart();
    map_(lambda_, force_);
    const bool predicted = scheme_ == Scheme::forward_backward_forward;  // λ̄ is the answer
    for (long k = 1; k <= stop.max_iterations; ++k) {
      iterate();
      const Vector& answer = predicted ? trial_ : lambda_;
      impulse = answer;
      summary.iterations = k;
      summary.operator_products = map_.products();
      summary.own_residual = map_.residual(answer, rho_, predicted ? trial_force_ : force_, scratch_);
      if (const auto status = progress.after(k, summary.own_residual, impulse)) {
        summary.status = *status;
        return summary;
      }
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  /// Blocks of several rows take the step of one, so that residuals are in one unit.
  void prepare_acceleration(const ContactProblem& problem) {
    const ConeProduct& cones = problem.cones();
    Vector inverse_steps(cones.blocks());
    natural_map_scaling(problem, inverse_steps);
    Vector weights(cones.rows());
    for (Index b = 0; b < cones.blocks(); ++b) {
      weights.segment(cones.block_row(b), cones.block_size(b)).setConstant(std::sqrt(inverse_steps[b]));
    }
    accelerator_ = Accelerator(options_.acceleration, weights);
    start_.setZero(cones.rows());
  }

  /// From λ and F(λ) to the next two.
  void iterate() {
    const double ratio = predict();
    const bool accelerated = accelerator_.active();
    const double merit = accelerated ? map_.residual(lambda_, rho_, force_, scratch_) : 0.0;
    if (accelerated) start_ = lambda_;
    if (scheme_ == Scheme::extragradient) {
      map_.project_step(lambda_, rho_, trial_force_, lambda_);
    } else if (scheme_ == Scheme::forward_backward_forward) {
      lambda_ = trial_ - rho_ * (trial_force_ - force_);
    } else {
      lambda_.swap(trial_);
    }
    if (accelerated) extrapolate(merit);
    if (accelerated || two_steps()) {
      map_(lambda_, force_);
    } else {
      force_.swap(trial_force_);
    }
    if (scheme_ != Scheme::fixed_step && ratio < options_.min_ratio) rho_ /= options_.shrink;
  }

  bool two_steps() const { return scheme_ == Scheme::extragradient || scheme_ == Scheme::forward_backward_forward; }

  /// λ: from the iteration's image to the next point, in K where the iteration stays there.
  void extrapolate(double merit) {
    accelerator_.next(start_, lambda_, merit, lambda_);
    if (scheme_ != Scheme::forward_backward_forward) project_cone(map_.cones(), lambda_, lambda_);
  }

  /// λ̄ and F(λ̄), with ρ shrunk until ℓ < L; returns ℓ.
  double predict() {
    constexpr int max_trials = 100;
    for (int trial = 0;; ++trial) {
      map_.project_step(lambda_, rho_, force_, trial_);
      if (scheme_ == Scheme::fixed_step && accelerator_.active()) return options_.min_ratio;  // F(λ̄) is not needed
      map_(trial_, trial_force_);
      const double moved = (trial_ - lambda_).norm();
      const double ratio = moved > 0.0 ? rho_ * (trial_force_ - force_).norm() / moved : options_.min_ratio;
      if (scheme_ == Scheme::fixed_step || !(ratio >= options_.max_ratio) || trial == max_trials) return ratio;
      rho_ *= options_.shrink;
    }
  }

  Scheme scheme_;
  AdaptiveOptions options_;
  Accelerator accelerator_;
  double first_step_ = 1.0;
  long prepared_products_ = 0;
  double rho_ = 1.0;
  Vector lambda_, trial_, force_, trial_force_, scratch_, start_;
};

constexpr const char* acary =
    "Acary, Bremond, Huber, On solving contact problems with Coulomb friction: formulations and numerical "
    "comparisons, 2018";
constexpr const char* tseng =
    "Tseng, A modified forward-backward splitting method for maximal monotone mappings, SIAM J. Control Optim. 38(2), "
    "2000";

SolverInfo described(const char* id, const char* name, const char* summary, const char* citation = acary) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.origin = Origin::paper;
  info.citation = citation;
  info.summary = summary;
  info.rotation_invariant = false;  // the first step comes from a power iteration that starts somewhere
  return info;
}

}  // namespace

std::vector<SolverRow> fixed_point_rows() {
  const auto adaptive = [](Scheme scheme) {
    return [scheme](const SolverInfo& info, const AdaptiveOptions& options) {
      return std::make_unique<FixedPoint>(info, scheme, options);
    };
  };
  const auto configurations_of_before = [](SolverRow row) {
    return with_acceleration_left_out(with_product_left_out(std::move(row)));
  };
  return {
      configurations_of_before(make_row<FixedPointOptions>(
          described("FP-DS", "Fixed point on De Saxce's formulation",
                    "Simple and cheap an iteration; slow in proportion to the conditioning of G on its range."),
          [](const SolverInfo& info, const FixedPointOptions& options) {
            return std::make_unique<FixedPoint>(
                info, Scheme::fixed_step,
                AdaptiveOptions{
                    .step = options.step, .acceleration = options.acceleration, .product = options.product});
          })),
      configurations_of_before(make_row<AdaptiveOptions>(
          described("FP-VI", "Fixed point for the variational inequality, self-adaptive step",
                    "FP-DS with a step found on the way; takes longer steps than 1/lambda_max(G) where it may."),
          adaptive(Scheme::adaptive_step))),
      configurations_of_before(make_row<AdaptiveOptions>(
          described("FP-EG", "Extragradient for the variational inequality, self-adaptive step",
                    "Two products an iteration; holds where FP-VI cycles. Slow but hard to break."),
          adaptive(Scheme::extragradient))),
      configurations_of_before(make_row<AdaptiveOptions>(
          described("FP-FBF", "Tseng's splitting (FBF), self-adaptive step",
                    "FP-EG with its second projection replaced by a correction: as robust, two products and one "
                    "projection an iteration.",
                    tseng),
          adaptive(Scheme::forward_backward_forward))),
  };
}

}  // namespace conebench
