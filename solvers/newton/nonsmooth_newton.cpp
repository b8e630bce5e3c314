#include "solvers/newton/nonsmooth_newton.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "solvers/newton/line_search.hpp"
#include "solvers/newton/newton_matrix.hpp"
#include "solvers/newton/nonsmooth_equation.hpp"
#include "solvers/progress.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace newton {
namespace {

// Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods, 1991;
// Acary, Brémond, Huber, On solving contact problems with Coulomb friction: formulations and numerical comparisons,
// 2018, Sec. 5.
//
//     symbol  meaning                                                      unit
//     λ, σ    impulse; velocity (G + R) λ + g                              N s, m/s
//     F       contact_function.hpp's, over V                               1
//     X, Y    element of the generalised Jacobian: J = X + Y (G + R)       1 / N s, 1 / (m/s)
//     d       direction: (X + Y (G + R + ε E)) d = −F                      N s
//     φ       merit ½ ‖F‖²                                                 1

struct NonsmoothOptions {
  LineSearchOptions line_search{.memory = 10};
  std::string steps = "trace";
  std::string storage = "auto";
  bool plain_steps = true;
  double regularisation = 1.0;
  double max_regularisation = 1e-2;
};

/// For functions with one step a contact.
struct OneStepOptions : NonsmoothOptions {};

void declare(OptionBinder& bind, NonsmoothOptions& o, std::vector<std::string> steps) {
  declare_options(bind, o.line_search, {"armijo", "goldstein-price", "none"});
  bind.real("curvature", o.line_search.curvature,
            {.minimum = 0.5, .maximum = 2.0, .doc = "m of Goldstein and Price's second test"});
  bind.integer(
      "memory", o.line_search.memory,
      {.minimum = 1,
       .maximum = LineSearch::max_memory,
       .doc = "merits of which the largest is to be undercut (Grippo, Lampariello, Lucidi 1986); 1: monotone"});
  bind.choice("steps", o.steps, std::move(steps),
              "r of a contact: d / trace(D), 1 / lambda_max(D), or 1 / D_NN and 1 / lambda_max(D_TT) apart");
  bind.choice("storage", o.storage, {"auto", "dense", "sparse"}, "of the matrix that is factored");
  bind.flag("plain_steps", o.plain_steps, "full steps with epsilon = 0 until one of them does not halve |F|");
  bind.real("regularisation", o.regularisation,
            {.minimum = 0.0,
             .maximum = 1e6,
             .scale = OptionScale::logarithmic,
             .doc = "epsilon of G + R + epsilon E in the direction's matrix, over the largest |F_i|"});
  bind.real("max_regularisation", o.max_regularisation,
            {.minimum = 0.0, .maximum = 1e6, .scale = OptionScale::logarithmic, .doc = "largest epsilon"});
}

void declare_options(OptionBinder& bind, NonsmoothOptions& o) { declare(bind, o, {"trace", "spectral", "split"}); }
void declare_options(OptionBinder& bind, OneStepOptions& o) { declare(bind, o, {"trace", "spectral"}); }

class NonsmoothNewton final : public Solver {
 public:
  NonsmoothNewton(SolverInfo info, ContactFunction function, const NonsmoothOptions& options)
      : info_(std::move(info)), function_(function), options_(options), line_search_(options.line_search) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = problem;
    equation_ = std::make_unique<NonsmoothEquation>(problem, function_, options_.steps);
    matrix_ = NewtonMatrix(problem.blocks(), problem.compliance(),
                           options_.storage == "dense"    ? Storage::dense
                           : options_.storage == "sparse" ? Storage::sparse
                                                          : Storage::automatic);
    for (Vector* buffer : {&sigma_, &f_, &d_, &ad_, &trial_, &trial_sigma_, &trial_f_}) buffer->setZero(problem.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    project_cone(problem_->cones(), guess, impulse);
    if (impulse.size() == 0) return ended(summary, SolveStatus::converged, 0.0);
    lambda_ = impulse;
    line_search_.reset();
    plain_ = options_.plain_steps;
    update_velocity(summary);
    equation_->linearise(lambda_, sigma_, f_);
    summary.own_residual = equation_->residual(f_);
    const SolveProgress progress(stop, monitor);
    StallWindow window;
    for (long k = 1; k <= stop.max_iterations; ++k) {
      plain_ = plain_ && take_plain_step(summary);
      if (!plain_) {
        if (!find_direction(summary)) return ended(summary, SolveStatus::breakdown, summary.own_residual);
        take_step(summary);
      }
      update_velocity(summary);
      equation_->linearise(lambda_, sigma_, f_);
      impulse = lambda_;
      summary.iterations = k;
      summary.own_residual = equation_->residual(f_);
      if (const auto status = progress.after(k, summary.own_residual, impulse)) {
        return ended(summary, *status, summary.own_residual);
      }
      if (window.after(moved_, lambda_.lpNorm<Eigen::Infinity>()))
        return stalled_as(summary, Stall::rounding, summary.own_residual);
    }
    return ended(summary, SolveStatus::max_iterations, summary.own_residual);
  }

 private:
  static SolveSummary ended(SolveSummary& summary, SolveStatus status, double residual) {
    summary.status = status;
    summary.own_residual = residual;
    if (status == SolveStatus::breakdown) summary.breakdown = Breakdown::singular;
    return summary;
  }

  void update_velocity(SolveSummary& summary) {
    multiply(lambda_, sigma_, summary);
    sigma_ += problem_->free_term();
  }

  /// out = (G + R) x.
  void multiply(const Vector& x, Vector& out, SolveSummary& summary) const {
    problem_->blocks().apply(x, out);
    out += problem_->compliance().cwiseProduct(x);
    ++summary.operator_products;
  }

  /// (X + Y (G + R + ε E)) d = −F, with ε raised where that matrix is singular.
  bool find_direction(SolveSummary& summary) {
    double epsilon = std::min(options_.max_regularisation, options_.regularisation * summary.own_residual);
    for (int attempt = 0; attempt < 6; ++attempt) {
      if (solve_for_direction(epsilon, summary)) return true;
      epsilon = std::max(1e-12, 100.0 * epsilon);
    }
    summary.message = "the generalised Jacobian is singular, also when regularised";
    return false;
  }

  /// False where the matrix is singular to working precision.
  bool solve_for_direction(double epsilon, SolveSummary& summary) {
    ++summary.factorizations;
    if (!matrix_.factor(equation_->by_impulse(), equation_->by_velocity(), epsilon)) return false;
    trial_f_ = -f_;
    matrix_.solve(trial_f_, d_);
    return d_.allFinite();
  }

  /// λ ← λ + d with ε = 0. False, and λ as before, where that matrix is singular or the step does not halve ‖F‖.
  bool take_plain_step(SolveSummary& summary) {
    const double merit = 0.5 * f_.squaredNorm();
    if (!solve_for_direction(0.0, summary)) return false;
    multiply(d_, ad_, summary);
    if (!(merit_at(1.0) <= 0.25 * merit)) return false;
    step_along_direction(1.0);
    return true;
  }

  /// λ ← λ + t d; the full step where no trial passes, which leaves a point that is stationary for φ alone.
  void take_step(SolveSummary& summary) {
    multiply(d_, ad_, summary);
    const double merit = 0.5 * f_.squaredNorm();
    const double slope = slope_along_direction();
    const LineSearchStep step = line_search_.search(merit, slope, [this](double t) { return merit_at(t); });
    step_along_direction(step.found ? step.t : 1.0);
  }

  /// φ at λ + t d.
  double merit_at(double t) {
    trial_ = lambda_ + t * d_;
    trial_sigma_ = sigma_ + t * ad_;
    equation_->evaluate(trial_, trial_sigma_, trial_f_);
    return 0.5 * trial_f_.squaredNorm();
  }

  void step_along_direction(double t) {
    lambda_ += t * d_;
    moved_ = t * d_.lpNorm<Eigen::Infinity>();
  }

  /// Fᵀ J d, J without the regularisation.
  double slope_along_direction() const {
    const ConeProduct& cones = problem_->cones();
    double slope = 0.0;
    for (Index i = 0; i < cones.blocks(); ++i) {
      const Index row = cones.block_row(i);
      const int size = cones.block_size(i);
      const auto by_impulse = equation_->by_impulse().padded(i);
      const auto by_velocity = equation_->by_velocity().padded(i);
      slope += f_.segment(row, size).dot(by_impulse.topLeftCorner(size, size).lazyProduct(d_.segment(row, size)) +
                                         by_velocity.topLeftCorner(size, size).lazyProduct(ad_.segment(row, size)));
    }
    return slope;
  }

  SolverInfo info_;
  ContactFunction function_;
  NonsmoothOptions options_;
  LineSearch line_search_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<NonsmoothEquation> equation_;
  NewtonMatrix matrix_;
  bool plain_ = true;   ///< every step so far had ε = 0 and halved ‖F‖
  double moved_ = 0.0;  ///< max |λ_i − λ_i⁻| of the last step
  Vector lambda_, sigma_, f_, d_, ad_, trial_, trial_sigma_, trial_f_;
};

template <class Options>
SolverRow row(const char* id, const char* name, ContactFunction function, const std::string& citation,
              const char* summary) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.version = function == ContactFunction::fischer_burmeister ? 1 : 2;
  info.allocates = Allocation::refactorization;
  info.origin = Origin::paper;
  info.citation = citation +
                  "; Acary, Bremond, Huber, On solving contact problems with Coulomb friction: formulations and "
                  "numerical comparisons, 2018";
  info.summary = summary;
  return make_row<Options>(info, [function](const SolverInfo& i, const Options& options) {
    return std::make_unique<NonsmoothNewton>(i, function, options);
  });
}

}  // namespace
}  // namespace newton

std::vector<SolverRow> nonsmooth_newton_rows() {
  using namespace newton;
  const std::string alart =
      "Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods, "
      "1991";
  const std::string fukushima =
      "Fukushima, Luo, Tseng, Smoothing functions for second-order-cone complementarity problems, SIAM J. Optim. "
      "12(2), 2002";
  return {
      row<NonsmoothOptions>(
          "NSN-AC", "Semi-smooth Newton on Alart and Curnier's function", ContactFunction::alart_curnier, alart,
          "A dozen iterations to full accuracy where it converges; may cycle or stop at a stationary point of the "
          "merit far from a solution, more often the more contacts are redundant."),
      row<OneStepOptions>(
          "NSN-NM", "Semi-smooth Newton on the natural map", ContactFunction::natural_map, alart,
          "NSN-AC with the cone's projection and De Saxce's term in place of Alart and Curnier's function."),
      row<OneStepOptions>(
          "NSN-FB", "Semi-smooth Newton on Fischer and Burmeister's function", ContactFunction::fischer_burmeister,
          fukushima,
          "NSN-NM with the second-order cone's Fischer-Burmeister function of the impulse and De Saxce's velocity.")};
}

}  // namespace conebench
