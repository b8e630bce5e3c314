#include "solvers/cascade/search.hpp"

#include <cmath>

#include "problems/cone_projection.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/stalled.hpp"

namespace conebench::cascade {

Search::Search(const ScaledProblem& problem, const StopRule& stop, Monitor& monitor, VectorRef impulse_workspace)
    : problem_(&problem),
      products_before_(problem.products()),
      tolerance_(stop.tolerance),
      criterion_(stop.criterion),
      monitor_(&monitor),
      impulse_(impulse_workspace.data(), impulse_workspace.size()),
      max_iterations_(stop.max_iterations),
      best_point_(Vector::Zero(problem.size())) {
  hold_to_limit();
}

Search::Search(const ScaledProblem& problem, double tolerance, Search& outer)
    : problem_(&problem),
      products_before_(problem.products()),
      tolerance_(tolerance),
      outer_(&outer),
      best_point_(Vector::Zero(problem.size())) {}

void Search::go_on_after(long sweeps, long products) {
  products_before_ -= products;
  sweeps_ += sweeps;
  hold_to_limit();
}

void Search::resume(const Vector& r, double residual) {
  if (accepted_) return;
  ++offers_;
  if (residual < best_) {
    best_ = residual;
    best_point_ = r;
  }
  // What passes was proposed already.
  accepted_ = best_ > tolerance_ && monitor_->due(offers_) && observe();
}

void Search::measure_joints(const ContactProblem& problem) { joints_ = &problem; }

double Search::with_joints(const Vector& r, double residual) {
  problem_->to_impulse(r, impulse_);
  const double left = joint_velocity_left(*joints_, impulse_) / problem_->reference_velocity();
  if (left <= tuned.fallen * residual && residual > tolerance_) return residual;
  if (std::isnan(left)) return left;
  if (!whole_) whole_.emplace(*joints_, gauss_seidel::OwnModel::ncp);
  const double whole = whole_->natural_map(impulse_);
  return whole <= residual ? residual : whole;
}

bool Search::follow(Decision decision) {
  if (decision == Decision::out_of_time) halted_ = out_of_time_ = true;
  return decision == Decision::accept;
}

bool Search::observe() {
  const double residual = write_answer(impulse_);
  return follow(monitor_->observe(offers_, impulse_, residual));
}

bool Search::look_meanwhile() {
  if (outer_ != nullptr) return outer_->look_meanwhile();
  if (accepted_ || halted_) return accepted_;
  ++offers_;
  accepted_ = monitor_->due(offers_) && observe();
  return accepted_;
}

bool Search::offer(const Vector& r, double residual) {
  if (!projects_ || accepted_ || residual > tolerance_) return take(r, residual);
  projected_ = r;
  problem_->project(projected_);
  velocity_.resize(r.size());
  problem_->velocity(projected_, velocity_);
  return take(projected_, problem_->residual(projected_, velocity_));
}

bool Search::take(const Vector& r, double residual) {
  if (accepted_) return true;
  if (joints_ != nullptr && (residual <= tolerance_ || residual < best_)) residual = with_joints(r, residual);
  return weigh(best_point_, r, residual);
}

bool Search::offer_impulse(Vector& impulse) {
  if (accepted_) return true;
  if (projects_) project_cone(joints_->cones(), impulse, impulse);
  if (!whole_) whole_.emplace(*joints_, gauss_seidel::OwnModel::ncp);
  return weigh(best_impulse_, impulse, whole_->natural_map(impulse));
}

bool Search::weigh(Vector& best, const Vector& found, double residual) {
  const auto keep = [&] {
    best_ = residual;
    best_impulse_.resize(0);
    best = found;
  };
  ++offers_;
  if (residual < best_) keep();
  const bool good = residual <= tolerance_;
  if (outer_ != nullptr) {
    const bool ended = outer_->look_meanwhile();
    accepted_ = good || ended;
    return accepted_;
  }
  accepted_ = good && criterion_ == Criterion::own;
  // The point asked about is the one that is returned if the answer is yes.
  if (good && !accepted_) {
    &best == &best_impulse_ ? void(impulse_ = found) : problem_->to_impulse(found, impulse_);
    accepted_ = follow(monitor_->propose(offers_, impulse_, residual));
  } else if (!good && monitor_->due(offers_)) {
    accepted_ = observe();
  }
  if (accepted_ && good) keep();
  return accepted_;
}

double Search::write_answer(VectorRef impulse) {
  if (best_impulse_.size() > 0) {
    impulse = best_impulse_;
    return best_;
  }
  problem_->to_impulse(best_point_, impulse);
  // What is within the tolerance is projected already.
  if (!projects_ || best_ <= tolerance_) return best_;
  projected_ = best_point_;
  problem_->project(projected_);
  problem_->to_impulse(projected_, impulse);
  velocity_.resize(projected_.size());
  problem_->multiply_uncounted(projected_, velocity_);
  velocity_ += problem_->free_term();
  const double residual = problem_->residual(projected_, velocity_);
  return joints_ != nullptr ? with_joints(projected_, residual) : residual;
}

void Search::hold_to_limit() {
  if (iterations() >= max_iterations_) halted_ = true;
}

void Search::count_newton() {
  ++newton_steps_;
  hold_to_limit();
  if (outer_ != nullptr) outer_->count_newton();
}

void Search::count_sweep() {
  ++sweeps_;
  hold_to_limit();
  if (outer_ != nullptr) outer_->count_sweep();
}

SolveStatus Search::status() const {
  if (accepted_) return SolveStatus::converged;
  if (out_of_time_) return SolveStatus::time_limit;
  return halted_ ? SolveStatus::max_iterations : SolveStatus::stalled;
}

SolveSummary Search::finish(VectorRef impulse) {
  SolveSummary summary;
  summary.status = status();
  if (summary.status == SolveStatus::stalled) summary.message = stalled_by::stages;
  if (accepted_) summary.stage = stage_;
  summary.iterations = iterations();
  summary.factorizations = newton_steps_;
  summary.operator_products = problem_->products() - products_before_ + sweeps_;
  summary.own_residual = write_answer(impulse);
  return summary;
}

}  // namespace conebench::cascade
