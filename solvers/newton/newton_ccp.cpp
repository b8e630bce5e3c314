#include "solvers/newton/newton_ccp.hpp"

#include <Eigen/SparseLU>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "problems/conversions.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/newton/line_search.hpp"
#include "solvers/newton/primal_hessian.hpp"
#include "solvers/newton/primal_problem.hpp"
#include "solvers/progress.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace newton {
namespace {

// Paper LeLidec24 (Le Lidec et al., Contact Models in Robotics), Alg. 4 on its (22).
//
//     symbol  meaning                                             unit
//     v, v_f  velocity of the bodies; the same without contact    m/s, rad/s
//     M, J    mass; rows × velocities                             kg, kg m²; 1, m
//     c       J v + b (LeLidec24: c − c*, so that b = −c*)              m/s
//     R       compliance, > 0                                     m/s per N s
//     λ       P(−R⁻¹ c), P the projection onto K in the metric R  N s
//     ℓ       ½ ‖v − v_f‖²_M + ½ ‖λ‖²_R, (22); PrimalProblem      J
//     W       ∂P/∂y R⁻¹, block diagonal                           N s per m/s

struct CcpOptions {
  LineSearchOptions line_search{.shrink = 0.8, .trials = 60};
  std::string primal = "given";
  std::string storage = "auto";
  double r_alpha = 0.0;
};

void declare_options(OptionBinder& bind, CcpOptions& o) {
  declare_options(bind, o.line_search, {"armijo", "exact", "none"});
  bind.choice("primal", o.primal, {"given", "factor"},
              "M and J: the problem's own, or, where it has none, M = I and J a pivoted factor of G's symmetric part");
  bind.real("r_alpha", o.r_alpha,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "rows without compliance get R = r_alpha diag(G) (MuJoCo's choice); 0: the problem's R alone"});
  bind.choice("storage", o.storage, {"auto", "dense", "sparse"}, "of the Hessian that is factored");
}

class NewtonCcp final : public Solver {
 public:
  NewtonCcp(SolverInfo info, const CcpOptions& options)
      : info_(std::move(info)), options_(options), line_search_(options.line_search) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    if (problem.rows() == 0) return std::nullopt;
    if (!problem.primal() && options_.primal == "given") {
      return info_.id + " needs M, J and v_free; primal=factor makes them from G";
    }
    if (!problem.primal() && problem.rows() > max_factored_rows) {
      return info_.id + ": primal=factor makes a dense factor, of at most " + std::to_string(max_factored_rows) +
             " rows";
    }
    const Vector& compliance = problem.compliance();
    if (options_.r_alpha == 0.0 && !(compliance.minCoeff() > 0.0)) {
      return info_.id + " needs compliance R > 0 in every row; r_alpha = 1e-6, say, gives the others alpha diag(G)";
    }
    const Index uneven = contact_with_uneven_compliance(problem);
    if (uneven < 0) return std::nullopt;
    return info_.id + " needs one compliance for all rows of a contact's group, and contact " + std::to_string(uneven) +
           " has two";
  }

  /// Its own residual is that of the problem as given.
  bool needs_matrix(const ContactProblem& problem) const override {
    return !problem.primal() || problem.condenses_sparsely();
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    prepared_ = {};
    problem_ = problem;
    if (problem.rows() == 0) return {};
    const bool as_given = problem.primal().has_value();
    prepared_.solved_symmetrised = !as_given && problem.symmetry_error() > symmetry_tolerance;
    if (problem.compliance().minCoeff() == 0.0) prepared_.compliance_share = options_.r_alpha;
    problem_ = with_compliance(prepared_.solved_symmetrised ? symmetrised(problem) : problem, options_.r_alpha);
    residual_ = std::make_unique<gauss_seidel::OwnResiduals>(*problem_, gauss_seidel::OwnModel::ccp);

    auto data = as_given ? given_primal(problem) : factored_primal(problem);
    if (!data) return broken("G is indefinite, so no mass belongs to it");
    if (data->mass.rows() == 0) return broken("G is zero, so no mass belongs to it");
    mass_.compute(data->mass);
    if (mass_.info() != Eigen::Success) return broken("M is singular");
    primal_ = PrimalProblem(std::move(*data), problem.cones(), problem_->compliance());
    hessian_ = PrimalHessian(primal_.data(), problem.cones(),
                             options_.storage == "dense"    ? Storage::dense
                             : options_.storage == "sparse" ? Storage::sparse
                                                            : Storage::automatic);
    const ConeProduct& cones = problem.cones();
    weights_ = BlockDiagonal(cones.blocks(), [&](Index i) { return cones.block_size(i); });
    for (Vector* buffer : {&v_, &gradient_, &dv_, &momentum_, &momentum_change_}) {
      buffer->setZero(primal_.data().mass.rows());
    }
    for (Vector* buffer : {&c_, &dc_, &lambda_, &trial_c_, &trial_lambda_}) buffer->setZero(problem.rows());
    prepared_.factorizations = 1;
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary = prepared_;
    project_cone(problem_->cones(), guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    if (summary.breakdown != Breakdown::none) return summary;
    start_from(impulse);
    const SolveProgress progress(stop, monitor);
    StallWindow window;
    for (long k = 1; k <= stop.max_iterations; ++k) {
      update_gradient();  // LeLidec24 Alg. 4 line 2
      ++summary.factorizations;
      if (!hessian_.factor(weights_)) return singular(summary, "the Hessian is not positive definite");  // line 3
      hessian_.solve(-gradient_, dv_);                                                                   // line 4
      const double t = step_length();                                                                    // line 5
      v_ += t * dv_;                                                                                     // line 6
      update_impulse();
      impulse = lambda_;
      summary.iterations = k;
      summary.own_residual = lambda_.allFinite() ? residual_->natural_map(lambda_) : not_a_number;
      ++summary.operator_products;
      if (const auto status = progress.after(k, summary.own_residual, impulse)) {
        return ended_as(summary, *status, summary.own_residual);
      }
      if (window.after(t * dv_.lpNorm<Eigen::Infinity>(), v_.lpNorm<Eigen::Infinity>()))
        return stalled_as(summary, Stall::rounding, summary.own_residual);
    }
    return ended_as(summary, SolveStatus::max_iterations, summary.own_residual);
  }

 private:
  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  static constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  /// A dense factor of more takes gigabytes and minutes.
  static constexpr Index max_factored_rows = 6000;

  /// -1 where there is none. Row units round, so that equal compliances may differ in their last digits.
  static Index contact_with_uneven_compliance(const ContactProblem& problem) {
    Index found = -1;
    for_each_contact(problem.cones(), [&]<class Cone>(Index contact, Index row, const Cone& cone) {
      cone.for_each_group([&]<int Size>(int first, int size, double) {
        const auto own = problem.compliance().segment<Size>(row + first, size).array();
        if (found < 0 && !((own - own[0]).abs() <= 1e-12 * own[0]).all()) found = contact;
      });
    });
    return found;
  }

  static SolveSummary singular(SolveSummary& summary, const char* why) {
    summary.status = SolveStatus::breakdown;
    summary.breakdown = Breakdown::singular;
    summary.message = why;
    return summary;
  }

  Result<void> broken(const char* why) {
    singular(prepared_, why);
    return {};
  }

  /// v = v_f + M⁻¹ Jᵀ λ of the guess.
  void start_from(ConstVectorRef guess) {
    v_ = primal_.data().free_velocity;
    if (!guess.isZero(0.0)) {
      momentum_.noalias() = primal_.data().jacobian.transpose() * guess;
      v_ += mass_.solve(momentum_);
    }
    update_impulse();
  }

  void update_impulse() {
    primal_.constraint_velocity(v_, c_);
    compliant_energy_ = primal_.linearise(c_, lambda_, weights_);
  }

  /// ∇ℓ = M (v − v_f) − Jᵀ λ.
  void update_gradient() {
    dv_ = v_ - primal_.data().free_velocity;
    momentum_.noalias() = primal_.data().mass * dv_;
    kinetic_energy_ = 0.5 * dv_.dot(momentum_);
    gradient_ = momentum_;
    gradient_.noalias() -= primal_.data().jacobian.transpose() * lambda_;
  }

  /// The step along dv_. ℓ(v + t dv) costs no product: M dv and J dv are formed once.
  double step_length() {
    dc_.noalias() = primal_.data().jacobian * dv_;
    momentum_change_.noalias() = primal_.data().mass * dv_;
    const double slope = gradient_.dot(dv_);
    const double along = momentum_.dot(dv_);
    const double quadratic = momentum_change_.dot(dv_);
    if (options_.line_search.rule == "exact") {
      const auto derivatives = [&](double t) {
        trial_c_ = c_ + t * dc_;
        primal_.linearise(trial_c_, trial_lambda_, weights_);
        return MeritAlong{along + t * quadratic - trial_lambda_.dot(dc_), quadratic + curvature_of_compliance()};
      };
      return LineSearch::exact(slope, derivatives, options_.line_search.trials).t;
    }
    const double energy = kinetic_energy_ + compliant_energy_;
    const auto merit = [&](double t) {
      trial_c_ = c_ + t * dc_;
      return kinetic_energy_ + t * along + 0.5 * t * t * quadratic + primal_.impulse(trial_c_, trial_lambda_);
    };
    // Near the minimum ℓ changes by less than it is rounded; a full step must not fail on that.
    line_search_.reset();
    const double size = kinetic_energy_ + std::abs(compliant_energy_);  // given impulses make the latter negative
    return line_search_.search(energy + rounding * size, slope, merit).t;
  }

  /// dcᵀ W dc.
  double curvature_of_compliance() const {
    const ConeProduct& cones = primal_.cones();
    double sum = 0.0;
    for (Index i = 0; i < cones.blocks(); ++i) {
      const int size = cones.block_size(i);
      const auto dc = dc_.segment(cones.block_row(i), size);
      const auto weight = weights_.padded(i);
      sum += dc.dot(weight.topLeftCorner(size, size).lazyProduct(dc));
    }
    return sum;
  }

  SolverInfo info_;
  CcpOptions options_;
  LineSearch line_search_;
  std::optional<ContactProblem> problem_;  ///< with the R that is solved with
  std::unique_ptr<gauss_seidel::OwnResiduals> residual_;
  PrimalProblem primal_;
  PrimalHessian hessian_;
  Eigen::SparseLU<SparseMatrix> mass_;
  SolveSummary prepared_;
  double kinetic_energy_ = 0.0;
  double compliant_energy_ = 0.0;
  BlockDiagonal weights_;
  Vector v_, gradient_, dv_, momentum_, momentum_change_, c_, dc_, lambda_, trial_c_, trial_lambda_;
};

}  // namespace
}  // namespace newton

std::vector<SolverRow> newton_ccp_rows() {
  using namespace newton;
  SolverInfo info;
  info.id = "NEWTON-CCP";
  info.name = "Newton's method on the primal cone problem";
  info.formulation = Formulation::ccp;
  info.intervals = true;
  info.friction_cones = true;
  info.needs_symmetry = true;
  info.allocates = Allocation::refactorization;
  info.origin = Origin::paper;
  info.citation =
      "Le Lidec et al., Contact Models in Robotics: a Comparative Analysis, Alg. 4; Castro, Permenter, Han, An "
      "unconstrained convex formulation of compliant contact, 2022";
  info.summary =
      "Drake's and MuJoCo's method: a convex problem in the velocities, solved in a few steps. Needs M, J and R > 0; "
      "sliding "
      "contacts open by mu times their speed, and R shifts the rest.";
  return {make_row<CcpOptions>(
      info, [](const SolverInfo& i, const CcpOptions& options) { return std::make_unique<NewtonCcp>(i, options); })};
}

}  // namespace conebench
