#include "solvers/cascade/block_lu.hpp"

#include <limits>
#include <utility>

namespace conebench::cascade {

namespace {

/// Operations in contact space from which bodies are looked at: below, that costs as much as it can save.
constexpr double look_from = 1e6;
/// The share of them that the bodies may take: operations of assembly are slow ones, and open contacts, which only the
/// contacts' matrix leaves out, are not counted.
constexpr double worth = 0.3;

}  // namespace

void BlockLu::make_bodies(const ScaledProblem& problem) {
  bodies_.reset();
  if (!(most_flops_ > 0.0)) return;
  auto known = problem.bodies();
  if (!known) return;
  auto bodies = std::make_unique<BodyLu>(std::move(known));
  bodies_estimate_ = {bodies->flops(), bodies->bytes()};
  if (!(bodies_estimate_.flops <= most_flops_ && bodies_estimate_.bytes <= most_bytes_)) return;
  if (bodies->represents(problem)) bodies_ = std::move(bodies);
}

void BlockLu::analyse(const ScaledProblem& problem, Space space, double most_bytes) {
  most_bytes_ = most_bytes;
  most_flops_ = space == Space::contacts ? 0.0 : std::numeric_limits<double>::infinity();
  contacts_.analyse(problem.matrix());
  contacts_estimate_ = {contacts_.flops(), contacts_.bytes()};
  if (space == Space::automatic) most_flops_ = contacts_.flops() > look_from ? worth * contacts_.flops() : 0.0;
  bodies_.reset();
  take(problem);
}

void BlockLu::take(const ScaledProblem& problem) {
  in_bodies_ = refused_ = false;
  if (!bodies_ || bodies_->bodies() != problem.bodies()) make_bodies(problem);
}

bool BlockLu::factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
                     const std::vector<Block>& diagonal, const std::vector<char>& left_out) {
  ++factorizations_;
  if (bodies_ && bodies_->bodies() != problem.bodies()) take(problem);
  bool regular = false;
  in_bodies_ = false;
  if (bodies_) {
    // What the contacts' factor cannot take over is perturbed.
    const auto singular = contacts_fit() ? BodyLu::Singular::fails : BodyLu::Singular::perturbed;
    regular = bodies_->factor(problem, left, right, diagonal, left_out, singular);
    in_bodies_ = regular || !contacts_fit();
  }
  refused_ = !in_bodies_ && !contacts_fit();
  if (in_bodies_ || refused_) return regular;
  return contacts_.factor(problem.matrix(), left, right, diagonal, left_out);
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
