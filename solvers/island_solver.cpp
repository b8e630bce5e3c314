#include "solvers/island_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "problems/islands.hpp"
#include "problems/scaled_natural_map.hpp"
#include "problems/scaled_rows.hpp"
#include "solvers/velocity_solver.hpp"

namespace conebench {

namespace {

/// Shows an island's impulse as a part of the whole's.
class IslandMonitor final : public Monitor {
 public:
  IslandMonitor(Monitor& monitor, std::span<const Index> rows, VectorRef whole, long begun)
      : monitor_(monitor), rows_(rows), whole_(whole), begun_(begun) {
    next_ = due();
  }
  /// The last iteration that was shown.
  long last() const { return last_; }

  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override {
    return passed_on(monitor_.propose(number_of(iteration), shown(impulse), own_residual));
  }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override {
    return passed_on(monitor_.observe(number_of(iteration), shown(impulse), own_residual));
  }
  long number_of(long iteration) {
    last_ = std::max(last_, iteration);
    return begun_ + iteration;
  }
  ConstVectorRef shown(ConstVectorRef impulse) {
    scatter(impulse, rows_, whole_);
    return whole_;
  }
  Decision passed_on(Decision decision) {
    next_ = due();
    return decision;
  }
  long due() const { return monitor_.next() - begun_; }

  Monitor& monitor_;
  std::span<const Index> rows_;
  VectorRef whole_;
  long begun_, last_ = 0;
};

/// How bad an ending is.
int rank_of(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return 0;
    case SolveStatus::max_iterations: return 1;
    case SolveStatus::stalled: return 2;
    case SolveStatus::unsupported: return 3;
    case SolveStatus::breakdown: return 4;
    case SolveStatus::diverged: return 5;
    case SolveStatus::time_limit: return 6;
  }
  return 7;
}

long sum_of_counts(long a, long b) { return a == not_counted || b == not_counted ? not_counted : a + b; }

/// Of all islands together, `one` taken into `all`.
void add_island(SolveSummary& all, const SolveSummary& one, const std::string& name) {
  if (rank_of(one.status) > rank_of(all.status)) {
    all.status = one.status;
    all.breakdown = one.breakdown;
    all.stall = one.stall;
    all.message = name + (one.message.empty() ? "" : ": " + one.message);
  }
  if (one.iterations >= all.iterations) all.stage = one.stage;
  all.iterations = std::max(all.iterations, one.iterations);
  all.factorizations = sum_of_counts(all.factorizations, one.factorizations);
  all.operator_products = sum_of_counts(all.operator_products, one.operator_products);
  const bool known = !std::isnan(all.own_residual) && !(one.own_residual <= all.own_residual);
  if (known) all.own_residual = one.own_residual;
  all.solved_symmetrised = all.solved_symmetrised || one.solved_symmetrised;
  all.compliance_share = std::max(all.compliance_share, one.compliance_share);
}

/// V, in the rows in which solvers measure.
double velocity_scale(const ContactProblem& problem) {
  if (!problem.cones().scales()) return reference_velocity(problem.cones(), problem.free_term());
  return reference_velocity(problem.cones(), row_units_of(problem).cwiseProduct(problem.free_term()));
}

class IslandSolver final : public Solver, public VelocitySolver {
 public:
  IslandSolver(SolverMaker make, std::unique_ptr<Solver> first, Index min_blocks, bool measures)
      : make_(std::move(make)), first_(std::move(first)), min_blocks_(min_blocks), measures_(measures) {}
  const SolverInfo& info() const override { return first_->info(); }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return first_->unsupported_reason(problem);
  }
  bool needs_matrix(const ContactProblem& problem) const override { return first_->needs_matrix(problem); }
  const VelocitySolver* velocities() const override {
    return parts_.empty() || first_->velocities() == nullptr ? first_->velocities() : this;
  }

  Result<void> prepare(const ContactProblem& problem) override {
    parts_.clear();
    islands_.emplace(problem, min_blocks_);
    if (islands_->count() <= 1) return first_->prepare(problem);
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    const double whole_velocity = velocity_scale(problem);
    Index largest = 0;
    for (Index i = 0; i < islands_->count(); ++i) {
      CONEBENCH_TRY(ContactProblem own, islands_->problem(i).within(name_of(i)));
      CONEBENCH_TRY(auto solver, make_());
      CONEBENCH_CHECK(solver->prepare(own).within(name_of(i)));
      largest = std::max(largest, own.rows());
      const double share = whole_velocity / velocity_scale(own);
      parts_.push_back({{std::move(own), islands_->rows(i)}, std::move(solver), share});
    }
    guess_.setZero(largest);
    impulse_ = guess_;
    free_velocity_ = problem.primal() ? problem.primal()->free_velocity : Vector();
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    if (parts_.empty()) return first_->solve(guess, stop, monitor, impulse);
    const bool judged = stop.stop_by != StopBy::solver;
    SolveSummary all;
    all.status = SolveStatus::converged;
    all.own_residual = 0.0;
    impulse = guess;
    long begun = 0;
    for (std::size_t i = 0; i < parts_.size() && all.status != SolveStatus::time_limit; ++i) {
      Part& own = parts_[i];
      const Index rows = own.part.problem.rows();
      monitor.turn_to(&own.part, begun);
      IslandMonitor watch(monitor, own.part.rows, impulse, begun);
      StopRule rule = stop;
      if (judged && measures_) rule.tolerance *= own.velocity_share;
      gather(guess, own.part.rows, guess_.head(rows));
      const SolveSummary summary = own.solver->solve(guess_.head(rows), rule, watch, impulse_.head(rows));
      scatter(impulse_.head(rows), own.part.rows, impulse);
      begun += std::max(watch.last(), summary.iterations);
      add_island(all, summary, name_of(static_cast<Index>(i)));
    }
    monitor.turn_to(nullptr, begun);
    if (!judged || all.status == SolveStatus::time_limit) return all;
    return judge_whole(all, monitor, begun + 1, impulse);
  }

  Vector velocity() const override {
    Vector all = free_velocity_;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      scatter(parts_[i].solver->velocities()->velocity(), islands_->velocities(static_cast<Index>(i)), all);
    }
    return all;
  }

 private:
  struct Part {
    ProblemPart part;
    std::unique_ptr<Solver> solver;
    double velocity_share;  ///< V of the whole over that of the part
  };

  std::string name_of(Index island) const {
    return "island " + std::to_string(island + 1) + " of " + std::to_string(islands_->count());
  }

  static SolveSummary judge_whole(SolveSummary all, Monitor& monitor, long iteration, ConstVectorRef impulse) {
    switch (monitor.propose(iteration, impulse, all.own_residual)) {
      case Decision::accept: all.status = SolveStatus::converged; break;
      case Decision::out_of_time: all.status = SolveStatus::time_limit; break;
      case Decision::keep_going:
        // Rounding, a residual that is no largest one over blocks, or a monitor that does not know of parts.
        if (all.status != SolveStatus::converged) return all;
        all.status = SolveStatus::stalled;
        all.message = "every island passes, the whole does not";
        return all;
    }
    all.breakdown = Breakdown::none;
    all.stall = Stall::unstated;
    all.message.clear();
    return all;
  }

  SolverMaker make_;
  std::unique_ptr<Solver> first_;
  Index min_blocks_;
  bool measures_;
  std::optional<Islands> islands_;
  std::vector<Part> parts_;
  Vector guess_, impulse_;  ///< of the island at hand
  Vector free_velocity_;    ///< v_free of the whole; empty where it is not known
};

}  // namespace

std::unique_ptr<Solver> make_island_solver(SolverMaker make, std::unique_ptr<Solver> first, Index min_blocks,
                                           bool measures) {
  return std::make_unique<IslandSolver>(std::move(make), std::move(first), min_blocks, measures);
}

}  // namespace conebench
