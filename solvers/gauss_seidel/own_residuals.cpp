#include "solvers/gauss_seidel/own_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace conebench::gauss_seidel {

namespace {

/// V = max ‖g_i‖, 1 where it is 0.
double reference_velocity(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  double largest = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    largest = std::max(largest, problem.free_term().segment(cones.block_row(b), cones.block_size(b)).norm());
  }
  return largest > 0.0 ? largest : 1.0;
}

}  // namespace

Vector velocity_weights(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  const BlockSparseMatrix& matrix = problem.blocks();
  Vector weights(cones.blocks());
  double sum = 0.0;
  Index positive = 0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const int size = cones.block_size(b);
    weights[b] =
        (matrix.block(b, matrix.diagonal(b)).trace() + problem.compliance().segment(cones.block_row(b), size).sum()) /
        size;
    if (weights[b] > 0.0) {
      sum += weights[b];
      ++positive;
    }
  }
  const double mean = positive > 0 ? sum / static_cast<double>(positive) : 1.0;
  const double velocity = reference_velocity(problem);
  for (double& weight : weights) weight = (weight > 0.0 ? weight : mean) / velocity;
  return weights;
}

OwnResiduals::OwnResiduals(ContactProblem problem, bool de_saxce)
    : problem_(std::move(problem)),
      de_saxce_(de_saxce),
      weights_(velocity_weights(problem_)),
      reference_velocity_(reference_velocity(problem_)),
      velocity_(problem_.rows()),
      scratch_(problem_.rows()) {}

void OwnResiduals::update_velocity(ConstVectorRef impulse) {
  problem_.blocks().apply(impulse, velocity_);
  velocity_ += problem_.compliance().cwiseProduct(impulse) + problem_.free_term();
  if (de_saxce_) add_de_saxce(problem_.cones(), velocity_, velocity_);
}

double OwnResiduals::complementarity(ConstVectorRef impulse) {
  update_velocity(impulse);
  const ConeProduct& cones = problem_.cones();
  project_cone(cones, impulse, scratch_);
  const double primal = (impulse - scratch_).lpNorm<Eigen::Infinity>();
  project_dual_cone(cones, velocity_, scratch_);
  const double dual = (velocity_ - scratch_).lpNorm<Eigen::Infinity>();
  double complementarity = 0.0;
  for (Index b = cones.first_limit_row(); b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    complementarity = std::max(complementarity, std::abs(impulse.segment(row, size).dot(velocity_.segment(row, size))));
  }
  return std::max({primal, dual, complementarity});
}

double OwnResiduals::natural_map(ConstVectorRef impulse) {
  update_velocity(impulse);
  const ConeProduct& cones = problem_.cones();
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    const double step = 1.0 / (weights_[b] * reference_velocity_);
    scratch_.segment(row, size) = impulse.segment(row, size) - step * velocity_.segment(row, size);
  }
  project_cone(cones, scratch_, scratch_);
  double largest = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    largest = std::max(largest, weights_[b] * (impulse.segment(row, size) - scratch_.segment(row, size)).norm());
  }
  return largest;
}

}  // namespace conebench::gauss_seidel
