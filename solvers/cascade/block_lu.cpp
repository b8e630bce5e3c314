#include "solvers/cascade/block_lu.hpp"

#include <utility>

namespace conebench::cascade {

namespace {

/// The share of the contacts' operations that the bodies may take. In 2D the contacts' operations are slow ones, too.
double worth(const ScaledProblem& problem) { return problem.planar() ? 0.5 : tuned.bodies_worth; }

}  // namespace

void BlockLu::analyse(const ScaledProblem& problem, Space space, double most_bytes) {
  most_bytes_ = most_bytes;
  contacts_.analyse(problem.matrix());
  contacts_estimate_ = {contacts_.flops(), contacts_.bytes()};
  most_flops_ = std::numeric_limits<double>::infinity();
  if (space == Space::automatic)
    most_flops_ = contacts_.flops() > tuned.bodies_from ? worth(problem) * contacts_.flops() : 0.0;
  if (space == Space::contacts) most_flops_ = 0.0;
  source_.reset();
  take(problem);
}

void BlockLu::take(const ScaledProblem& problem) {
  in_bodies_ = refused_ = false;
  if (source_ && source_ == problem.source()) return;
  source_ = problem.source();
  bodies_.reset();
  if (!source_ || !(most_flops_ > 0.0)) return;
  auto bodies = std::make_unique<BodyLu>(problem);
  bodies_estimate_ = {bodies->flops(), bodies->bytes()};
  if (!(bodies_estimate_.flops <= most_flops_ && bodies_estimate_.bytes <= most_bytes_)) return;
  if (bodies->represents(problem)) bodies_ = std::move(bodies);
}

bool BlockLu::factor(const ScaledProblem& problem, const BlockSystem& system) {
  if (source_ != problem.source()) take(problem);
  bool regular = false;
  in_bodies_ = false;
  if (bodies_) {
    // What the contacts' factor cannot take over is perturbed.
    const auto singular = contacts_fit() ? BodyLu::Singular::fails : BodyLu::Singular::perturbed;
    regular = bodies_->factor(problem, system, singular);
    in_bodies_ = regular || !contacts_fit();
  }
  refused_ = !in_bodies_ && !contacts_fit();
  if (in_bodies_ || refused_) return regular;
  return contacts_.factor(problem.matrix(), system);
}

void BlockLu::solve(const Vector& right_side, Vector& solution) {
  if (refused_) {
    solution.setZero();
  } else if (in_bodies_) {
    bodies_->solve(right_side, solution);
  } else {
    contacts_.solve(right_side, solution);
  }
}

}  // namespace conebench::cascade
