#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

Search::Search(const StopRule& stop, Monitor& monitor, VectorRef impulse)
    : tolerance_(stop.tolerance),
      stop_by_(stop.stop_by),
      monitor_(&monitor),
      impulse_(impulse.data(), impulse.size()),
      max_iterations_(stop.max_iterations) {}

Search::Search(const ScaledProblem& problem, double tolerance, Search& outer) : tolerance_(tolerance), outer_(&outer) {
  take_points_of(problem);
}

void Search::take_points_of(const ScaledProblem& problem) {
  problem_ = &problem;
  products_ -= problem.products();
  best_point_ = Vector::Zero(problem.size());
}

void Search::follow(Decision decision, double residual) {
  accepted_ = decision == Decision::accept;
  out_of_time_ = decision == Decision::out_of_time;
  if (decision != Decision::keep_going) best_ = residual;
}

bool Search::propose(ConstVectorRef impulse, double residual) {
  ++offers_;
  if (ended() || !(residual <= tolerance_)) return accepted_;
  impulse_ = impulse;
  follow(stop_by_ == StopBy::solver ? Decision::accept : monitor_->propose(offers_, impulse_, residual), residual);
  return accepted_;
}

bool Search::check() {
  if (outer_ != nullptr) return outer_->check();
  ++offers_;
  if (ended() || !monitor_->should_check(offers_)) return accepted_;
  problem_->to_impulse(best_point_, impulse_);
  follow(monitor_->observe(offers_, impulse_, best_), best_);
  return accepted_;
}

double Search::residual_of(ConstVectorRef impulse) {
  if (!all_rows_) all_rows_.emplace(problem_->given(), gauss_seidel::OwnModel::ncp);
  count_product();
  return all_rows_->natural_map(impulse);
}

void Search::keep_best(const Vector& r, double residual) {
  if (!(residual < best_)) return;
  best_ = residual;
  best_point_ = r;
}

bool Search::offer(const Vector& r, double residual, bool proposed) {
  if (outer_ != nullptr) {
    keep_best(r, residual);
    return accepted_ = check() || residual <= tolerance_;
  }
  if (ended()) return accepted_;
  if (problem_->given().cones().joints() > 0 && (residual <= tolerance_ || residual < best_)) {
    problem_->to_impulse(r, impulse_);
    const double all_rows = residual_of(impulse_);
    if (!(all_rows <= residual)) residual = all_rows;
  }
  keep_best(r, residual);
  if (proposed || !(residual <= tolerance_)) return check();
  problem_->to_impulse(r, impulse_);
  return propose(impulse_, residual);
}

SolveSummary Search::finish() {
  if (problem_ != nullptr && !ended()) problem_->to_impulse(best_point_, impulse_);
  SolveSummary summary;
  summary.status = accepted_      ? SolveStatus::converged
                   : out_of_time_ ? SolveStatus::time_limit
                   : halted()     ? SolveStatus::max_iterations
                                  : SolveStatus::stalled;
  if (summary.status == SolveStatus::stalled) summary.stall = Stall::stages;
  if (accepted_) summary.stage = stage_;
  summary.iterations = iterations();
  summary.factorizations = newton_steps_;
  summary.operator_products = products_ + sweeps_ + (problem_ != nullptr ? problem_->products() : 0);
  summary.own_residual = best_;
  return summary;
}

}  // namespace conebench::cascade
