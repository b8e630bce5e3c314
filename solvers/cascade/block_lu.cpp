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

std::unique_ptr<BodyLu> BlockLu::bodies_of(const ScaledProblem& problem, double most_flops) {
  auto known = problem.bodies();
  if (!known) return nullptr;
  auto bodies = std::make_unique<BodyLu>(std::move(known));
  return bodies->flops() <= most_flops && bodies->represents(problem) ? std::move(bodies) : nullptr;
}

void BlockLu::analyse(const ScaledProblem& problem, Space space) {
  bodies_.reset();
  in_bodies_ = false;
  most_flops_ = std::numeric_limits<double>::infinity();
  contacts_.analyse(problem.matrix());
  if (space == Space::automatic) most_flops_ = contacts_.flops() > look_from ? worth * contacts_.flops() : 0.0;
  if (space != Space::contacts && most_flops_ > 0.0) bodies_ = bodies_of(problem, most_flops_);
  estimate_ = {flops(), bytes()};
}

bool BlockLu::factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
                     const std::vector<Block>& diagonal, const std::vector<char>& dropped) {
  ++factorizations_;
  if (bodies_ && bodies_->bodies() != problem.bodies()) bodies_ = bodies_of(problem, most_flops_);
  in_bodies_ = bodies_ && bodies_->factor(problem, left, right, diagonal, dropped);
  return in_bodies_ || contacts_.factor(problem.matrix(), left, right, diagonal, dropped);
}

void BlockLu::solve(const Vector& right_side, Vector& solution) {
  if (in_bodies_) return bodies_->solve(right_side, solution);
  contacts_.solve(right_side, solution);
}

}  // namespace conebench::cascade
