#include "solvers/newton/staggered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "problems/scaled_natural_map.hpp"
#include "solvers/common_options.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/newton/convex_qp_solvers.hpp"
#include "solvers/progress.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace newton {
namespace {

// Paper LeLidec24 (Le Lidec et al., Contact Models in Robotics), Alg. 7.
//
//     symbol    meaning                                                unit
//     λ_N, λ_T  normal and tangential parts of the contacts' impulses  N s
//     g̃_N, g̃_T  velocities of the rows with their own impulses at 0    m/s
//
// The box has contacts alone. Here the normal problem also holds limits (as normals) and joints (free), and the
// tangential problem holds the joints once more, so that they keep up with friction.

struct StaggeredOptions {
  std::string normal = "admm";
  std::string tangential = "admm";
  double inner_tolerance = 0.01;
  long inner_iterations = 1000;
  double stall = 0.0;  ///< of a turn
};

void declare_options(OptionBinder& bind, StaggeredOptions& o) {
  bind.choice("normal", o.normal, convex_qp_solver_names(), "solver of the normal problem");
  bind.choice("tangential", o.tangential, convex_qp_solver_names(), "solver of the tangential problem");
  bind.real("inner_tolerance", o.inner_tolerance,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "accuracy of the inner problems over the last scaled natural map of the whole; 0: to the end"});
  bind.integer("inner_iterations", o.inner_iterations,
               {.minimum = 1, .maximum = 1e7, .doc = "most iterations of an inner solve"});
  declare_stall(bind, o.stall);
}

/// One of the two inner problems with its solver and vectors.
struct Part {
  ConvexQp qp;
  std::unique_ptr<ConvexQpSolver> solver;
  Vector x, q, own;

  /// g̃: σ − A x, where σ is the whole problem's velocity of these rows.
  void update_linear_term(const Vector& lambda, const Vector& sigma) {
    qp.gather(lambda, x);
    qp.gather(sigma, q);
    qp.multiply(x, own);
    q -= own;
  }
};

class Staggered final : public Solver {
 public:
  Staggered(SolverInfo info, const StaggeredOptions& options) : info_(std::move(info)), options_(options) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = problem;
    if (problem.rows() == 0) return {};
    residual_ = std::make_unique<gauss_seidel::OwnResiduals>(problem, gauss_seidel::OwnModel::ncp);
    velocity_scale_ = reference_velocity(problem.cones(), problem.free_term());
    make_normal(problem);
    make_tangential(problem);
    lambda_.setZero(problem.rows());
    sigma_.setZero(problem.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    project_cone(problem_->cones(), guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    // New solvers, so that a repeat starts with their first penalties.
    normal_.solver = make_convex_qp_solver(options_.normal, normal_.qp);
    tangential_.solver = make_convex_qp_solver(options_.tangential, tangential_.qp);
    lambda_ = impulse;
    next_look_ = 1;
    Watch watch{.progress = SolveProgress(stop, monitor), .impulse = impulse};
    for (long k = 1; k <= stop.max_iterations; ++k) {
      solve_part(normal_, watch, summary);  // LeLidec24 Alg. 7 lines 2, 3; line 2 is printed with g_T for g_N
      update_radii();
      solve_part(tangential_, watch, summary);  // lines 4, 5
      if (watch.ended) {
        summary.status = *watch.ended;
        return summary;
      }
      const bool still = (lambda_ - impulse).norm() < options_.stall * lambda_.norm();
      impulse = lambda_;
      summary.iterations = k;
      summary.own_residual =
          lambda_.allFinite() ? residual_->natural_map(lambda_) : std::numeric_limits<double>::quiet_NaN();
      ++summary.operator_products;
      if (const auto status = after_turn(k, watch, summary.own_residual)) {
        summary.status = *status;
        return summary;
      }
      if (still) return stalled_as(summary, Stall::option, summary.own_residual);
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  using Kind = ConvexSet::Kind;

  void add_joints(std::vector<Index>& rows, std::vector<Kind>& kinds) const {
    for (Index row = 0; row < problem_->cones().joints(); ++row) {
      rows.push_back(row);
      kinds.push_back(Kind::line);
    }
  }

  void make_part(Part& part, const std::vector<Index>& rows, const ConeProduct& blocks, std::vector<Kind> kinds) const {
    part.qp = ConvexQp(problem_->blocks(), problem_->compliance(), rows, blocks, std::move(kinds));
    for (Vector* buffer : {&part.x, &part.q, &part.own}) buffer->setZero(part.qp.rows());
  }

  void make_normal(const ContactProblem& problem) {
    const ConeProduct& cones = problem.cones();
    std::vector<Index> rows;
    std::vector<Kind> kinds;
    add_joints(rows, kinds);
    for (Index row = cones.first_limit_row(); row < cones.first_contact_row(); ++row) rows.push_back(row);
    for (Index i = 0; i < cones.contacts(); ++i) rows.push_back(cones.contact_row(i) + cones.contact_dimension() - 1);
    kinds.resize(rows.size(), Kind::half_line);
    make_part(normal_, rows, ConeProduct::create(cones.joints(), cones.limits() + cones.contacts(), {}).value(), kinds);
  }

  void make_tangential(const ContactProblem& problem) {
    const ConeProduct& cones = problem.cones();
    std::vector<Index> rows;
    std::vector<Kind> kinds;
    add_joints(rows, kinds);
    for (Index i = 0; i < cones.contacts(); ++i) {
      for (int t = 0; t + 1 < cones.contact_dimension(); ++t) rows.push_back(cones.contact_row(i) + t);
      kinds.push_back(Kind::disk);
    }
    // Blocks of two rows in 3D, of one in 2D; the friction coefficients are not used.
    const bool spatial = cones.contact_type() == ConeType::coulomb_space;
    const auto count = static_cast<std::size_t>(cones.contacts());
    make_part(tangential_, rows,
              spatial ? ConeProduct::create(cones.joints(), 0, std::vector<double>(count, 0.0), 2).value()
                      : ConeProduct::create(cones.joints(), cones.contacts(), {}).value(),
              kinds);
  }

  /// The monitor also counts checks within turns, so that turns keep its schedule here.
  std::optional<SolveStatus> after_turn(long k, Watch& watch, double own_residual) {
    watch.own_residual = own_residual;
    const bool scheduled = k >= next_look_ || k == watch.progress.stop().max_iterations;
    if (scheduled) next_look_ = k + std::max(1L, k / 10);
    return watch.progress.after(++watch.checks, own_residual, watch.impulse, scheduled);
  }

  void solve_part(Part& part, Watch& watch, SolveSummary& summary) {
    if (part.qp.rows() == 0 || watch.ended) return;
    problem_->velocity(lambda_, sigma_);
    part.update_linear_term(lambda_, sigma_);
    const double tolerance = options_.inner_tolerance *
                             (std::isnan(summary.own_residual) ? 1.0 : std::min(1.0, summary.own_residual)) *
                             velocity_scale_;
    const InnerCount count = part.solver->solve(part.q, part.x, tolerance, options_.inner_iterations, watch);
    part.qp.scatter(part.x, lambda_);
    summary.factorizations += count.factorizations;
    summary.operator_products += 1 + count.products;
  }

  /// μ_i λ_N,i, and λ_T brought inside, so that a solver may start there.
  void update_radii() {
    const ConeProduct& cones = problem_->cones();
    ConvexSet& set = tangential_.qp.set();
    const int tangents = cones.contact_dimension() - 1;
    for (Index i = 0; i < cones.contacts(); ++i) {
      const auto at = static_cast<std::size_t>(cones.joints() + i);
      const Index row = cones.contact_row(i);
      set.radii[at] = cones.friction()[static_cast<std::size_t>(i)] * std::max(0.0, lambda_[row + tangents]);
      set.project(at, lambda_.segment(row, tangents));
    }
  }

  SolverInfo info_;
  StaggeredOptions options_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<gauss_seidel::OwnResiduals> residual_;
  double velocity_scale_ = 1.0;
  long next_look_ = 1;  ///< turn at which the verdict is asked for
  Part normal_, tangential_;
  Vector lambda_, sigma_;
};

}  // namespace
}  // namespace newton

std::vector<SolverRow> staggered_rows() {
  using namespace newton;
  SolverInfo info;
  info.id = "STAGGERED";
  info.version = 5;
  info.name = "Staggered projections";
  info.allocates = Allocation::refactorization;
  info.observed_every_iteration = false;
  info.origin = Origin::paper;
  info.citation =
      "Le Lidec et al., Contact Models in Robotics: a Comparative Analysis, Alg. 7; Kaufman, Sueda, James, Pai, "
      "Staggered "
      "projections for frictional contact in multibody systems, 2008";
  info.summary =
      "Normal impulses and friction in turns, each a convex problem: a few turns where the two are weakly coupled; "
      "cycles "
      "or creeps where friction carries the normal load.";
  return {make_row<StaggeredOptions>(info, [](const SolverInfo& i, const StaggeredOptions& options) {
    return std::make_unique<Staggered>(i, options);
  })};
}

}  // namespace conebench
