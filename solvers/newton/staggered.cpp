#include "solvers/newton/staggered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "problems/cones/contact_cones.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/common_options.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/newton/convex_qp_solvers.hpp"
#include "solvers/progress.hpp"
#include "solvers/pyramids.hpp"
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
// The box has contacts alone. Here the normal problem also holds limits (as normals), joints (free) and intervals
// (within their bounds), and the tangential problem holds joints and intervals once more, so that they keep up with
// friction. Each group of a contact's tangential rows has a disk of its own.

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
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    return pyramids_refused(info_, problem, "its tangential sets are disks");
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = problem;
    if (problem.rows() == 0) return {};
    residual_ = std::make_unique<gauss_seidel::OwnResiduals>(problem, gauss_seidel::OwnModel::ncp);
    velocity_scale_ = reference_velocity(problem.cones(), problem.free_term());
    make_normal(problem.cones());
    make_tangential(problem.cones());
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
  /// The rows of an inner problem and the set of each block.
  struct Choice {
    std::vector<Index> rows;
    std::vector<std::optional<Interval>> bounds;  ///< one a block, nothing for a disk

    void add_row(Index row, const Interval& interval) {
      rows.push_back(row);
      bounds.emplace_back(interval);
    }
  };
  /// A group of a contact's tangential rows.
  struct Group {
    Index row = 0, normal_row = 0;
    int size = 0;
    double coefficient = 0.0;
  };

  void make_part(Part& part, const Choice& choice, const ConeProduct& blocks) const {
    part.qp = ConvexQp(problem_->blocks(), problem_->compliance(), choice.rows, blocks, choice.bounds);
    for (Vector* buffer : {&part.x, &part.q, &part.own}) buffer->setZero(part.qp.rows());
  }

  void make_normal(const ConeProduct& cones) {
    Choice choice;
    for (Index row = 0; row < cones.first_contact_row(); ++row) choice.add_row(row, cones.bounds(row));
    for (Index b = cones.first_contact_row(); b < cones.blocks(); ++b) {
      choice.add_row(cones.normal_row_of(b), {.lower = 0.0});
    }
    make_part(normal_, choice, ConeProduct::create(cones.joints(), cones.blocks() - cones.joints(), {}).value());
  }

  void make_tangential(const ConeProduct& cones) {
    groups_.clear();
    for_each_contact(cones, [&]<class Cone>(Index, Index row, const Cone& cone) {
      cone.for_each_group([&]<int Size>(int first, int size, double mu) {
        groups_.push_back({row + first, row + cone.normal, size, mu});
      });
    });
    const auto single = [](const Group& group) { return group.size == 1; };
    std::ranges::stable_partition(groups_, single);  // the blocks of a ConeProduct begin with those of one row

    Choice choice;
    for (Index row = 0; row < cones.joints(); ++row) choice.add_row(row, {});
    for (Index row = cones.first_interval_row(); row < cones.first_contact_row(); ++row) {
      choice.add_row(row, cones.bounds(row));
    }
    first_group_ = choice.bounds.size();
    // Only the sizes of these contacts count.
    std::vector<FrictionLaw> blocks;
    for (const Group& group : groups_) {
      for (int k = 0; k < group.size; ++k) choice.rows.push_back(group.row + k);
      choice.bounds.emplace_back();
      if (!single(group)) blocks.push_back(FrictionLaw::coulomb(0.0, group.size - 1));
    }
    const auto singles = static_cast<Index>(choice.bounds.size() - blocks.size()) - cones.joints();
    make_part(tangential_, choice, ConeProduct::create(cones.joints(), singles, {}, blocks).value());
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

  /// μ_g λ_N,i, and λ_g brought inside, so that a solver may start there.
  void update_radii() {
    ConvexSet& set = tangential_.qp.set();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto& [row, normal_row, size, mu] = groups_[i];
      set.radii[first_group_ + i] = mu * std::max(0.0, lambda_[normal_row]);
      set.project(first_group_ + i, lambda_.segment(row, size));
    }
  }

  SolverInfo info_;
  StaggeredOptions options_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<gauss_seidel::OwnResiduals> residual_;
  double velocity_scale_ = 1.0;
  long next_look_ = 1;  ///< turn at which the verdict is asked for
  Part normal_, tangential_;
  std::vector<Group> groups_;    ///< in the order of the tangential problem's disks
  std::size_t first_group_ = 0;  ///< block of the first
  Vector lambda_, sigma_;
};

}  // namespace
}  // namespace newton

std::vector<SolverRow> staggered_rows() {
  using namespace newton;
  SolverInfo info;
  info.id = "STAGGERED";
  info.version = 5;
  info.intervals = true;
  info.friction_cones = true;
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
