#include "solvers/first_order/fixed_point.hpp"

#include <algorithm>
#include <memory>
#include <utility>

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

enum class Scheme {
  fixed_step,     ///< FP-DS: λ ← P_K(λ − ρ F(λ)), ρ fixed
  adaptive_step,  ///< FP-VI: the same, ρ adapted so that ℓ < L
  extragradient,  ///< FP-EG: λ̄ = P_K(λ − ρ F(λ)), ℓ < L; λ ← P_K(λ − ρ F(λ̄))
};

struct FixedPointOptions {
  double step = 1.0;
  std::string product = "auto";
};

struct AdaptiveOptions {
  double step = 1.0;
  double shrink = 2.0 / 3.0;  ///< τ
  double max_ratio = 0.9;     ///< L
  double min_ratio = 0.3;     ///< L_min
  std::string product = "auto";
};

void declare_options(OptionBinder& bind, FixedPointOptions& o) {
  bind.real("step", o.step,
            {.minimum = 1e-6,
             .maximum = 1e6,
             .unit = "1/lambda_max(G+R)",
             .scale = OptionScale::logarithmic,
             .doc = "rho; above 2 it diverges also without friction"});
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
  declare_product(bind, o.product);
}

class FixedPoint final : public Solver {
 public:
  FixedPoint(SolverInfo info, Scheme scheme, AdaptiveOptions options)
      : info_(std::move(info)), scheme_(scheme), options_(options) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override {
    return multiplies_by_matrix(problem, product_of(options_.product));
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    map_ = VelocityMap(problem, true, product_of(options_.product));
    for (Vector* buffer : {&lambda_, &trial_, &force_, &trial_force_, &scratch_}) buffer->setZero(problem.rows());
    const double largest = problem.rows() > 0 ? map_.largest_eigenvalue() : 0.0;
    first_step_ = largest > 0.0 ? options_.step / largest : options_.step;
    prepared_products_ = map_.products();
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
    map_(lambda_, force_);
    for (long k = 1; k <= stop.max_iterations; ++k) {
      iterate();
      impulse = lambda_;
      summary.iterations = k;
      summary.operator_products = map_.products();
      summary.own_residual = map_.residual(lambda_, rho_, force_, scratch_);
      if (const auto status = progress.after(k, summary.own_residual, impulse)) {
        summary.status = *status;
        return summary;
      }
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  /// From λ and F(λ) to the next two.
  void iterate() {
    const double ratio = predict();
    if (scheme_ == Scheme::extragradient) {
      map_.project_step(lambda_, rho_, trial_force_, lambda_);
      map_(lambda_, force_);
    } else {
      lambda_.swap(trial_);
      force_.swap(trial_force_);
    }
    if (scheme_ != Scheme::fixed_step && ratio < options_.min_ratio) rho_ /= options_.shrink;
  }

  /// λ̄ and F(λ̄), with ρ shrunk until ℓ < L; returns ℓ.
  double predict() {
    constexpr int max_trials = 100;
    for (int trial = 0;; ++trial) {
      map_.project_step(lambda_, rho_, force_, trial_);
      map_(trial_, trial_force_);
      const double moved = (trial_ - lambda_).norm();
      const double ratio = moved > 0.0 ? rho_ * (trial_force_ - force_).norm() / moved : options_.min_ratio;
      if (scheme_ == Scheme::fixed_step || !(ratio >= options_.max_ratio) || trial == max_trials) return ratio;
      rho_ *= options_.shrink;
    }
  }

  SolverInfo info_;
  Scheme scheme_;
  AdaptiveOptions options_;
  VelocityMap map_;
  double first_step_ = 1.0;
  long prepared_products_ = 0;
  double rho_ = 1.0;
  Vector lambda_, trial_, force_, trial_force_, scratch_;
};

SolverInfo described(const char* id, const char* name, const char* summary) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.origin = Origin::paper;
  info.citation =
      "Acary, Bremond, Huber, On solving contact problems with Coulomb friction: formulations and numerical "
      "comparisons, 2018";
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
  return {
      with_product_left_out(make_row<FixedPointOptions>(
          described("FP-DS", "Fixed point on De Saxce's formulation",
                    "Simple and cheap an iteration; slow in proportion to the conditioning of G on its range."),
          [](const SolverInfo& info, const FixedPointOptions& options) {
            return std::make_unique<FixedPoint>(info, Scheme::fixed_step,
                                                AdaptiveOptions{.step = options.step, .product = options.product});
          })),
      with_product_left_out(make_row<AdaptiveOptions>(
          described("FP-VI", "Fixed point for the variational inequality, self-adaptive step",
                    "FP-DS with a step found on the way; takes longer steps than 1/lambda_max(G) where it may."),
          adaptive(Scheme::adaptive_step))),
      with_product_left_out(make_row<AdaptiveOptions>(
          described("FP-EG", "Extragradient for the variational inequality, self-adaptive step",
                    "Two products an iteration; holds where FP-VI cycles. Slow but hard to break."),
          adaptive(Scheme::extragradient))),
  };
}

}  // namespace conebench
