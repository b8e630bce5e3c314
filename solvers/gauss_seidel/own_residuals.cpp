#include "solvers/gauss_seidel/own_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/scaled_natural_map.hpp"

namespace conebench::gauss_seidel {

double total_inertia(const ContactProblem& problem) {
  if (problem.primal()) return problem.primal()->mass.diagonal().sum();
  const ConeProduct& cones = problem.cones();
  const BlockSparseMatrix& matrix = problem.blocks();
  double sum = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const int size = cones.block_size(b);
    const double trace =
        matrix.block(b, matrix.diagonal(b)).trace() + problem.compliance().segment(cones.block_row(b), size).sum();
    if (trace > 0.0) sum += size / trace;
  }
  return sum > 0.0 ? sum : 1.0;
}

Vector velocity_weights(const ContactProblem& problem) {
  Vector weights(problem.cones().blocks());
  const double velocity = natural_map_scaling(problem, weights);
  weights /= velocity;
  return weights;
}

OwnResiduals::OwnResiduals(ContactProblem problem, OwnModel model)
    : problem_(std::move(problem)),
      model_(model),
      inverse_steps_(problem_.cones().blocks()),
      reference_velocity_(natural_map_scaling(problem_, inverse_steps_)),
      velocity_(problem_.rows()),
      scratch_(problem_.rows()) {}

void OwnResiduals::update_velocity(ConstVectorRef impulse) {
  problem_.multiply(impulse, velocity_);
  velocity_ += problem_.compliance().cwiseProduct(impulse) + problem_.free_term();
  if (model_ == OwnModel::ncp) add_de_saxce(problem_.cones(), velocity_, velocity_);
}

double OwnResiduals::complementarity(ConstVectorRef impulse) {
  update_velocity(impulse);
  if (model_ == OwnModel::box) return box_complementarity(impulse);
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

double OwnResiduals::box_complementarity(ConstVectorRef impulse) {
  const ConeProduct& cones = problem_.cones();
  const int dimension = cones.contact_dimension();
  double largest = 0.0;
  const auto add = [&](double violation) { largest = std::max(largest, violation); };
  for (Index row = 0; row < cones.first_contact_row(); ++row) {
    const double velocity = velocity_[row];
    if (cones.block_kind(row) == BlockKind::joint) {
      add(std::abs(velocity));
    } else {
      add(-impulse[row]);
      add(-velocity);
      add(std::abs(impulse[row] * velocity));
    }
  }
  for (Index contact = 0; contact < cones.contacts(); ++contact) {
    const Index row = cones.contact_row(contact);
    const double mu = cones.friction()[static_cast<std::size_t>(contact)];
    const double normal = impulse[row + dimension - 1];
    const double speed = velocity_[row + dimension - 1];
    add(-normal);
    add(-speed);
    double power = normal * speed;
    for (Index t = row; t < row + dimension - 1; ++t) {
      add(std::abs(impulse[t]) - mu * std::max(0.0, normal));
      power += impulse[t] * velocity_[t] + mu * normal * std::abs(velocity_[t]);
    }
    add(std::abs(power));
  }
  return largest;
}

double OwnResiduals::objective(ConstVectorRef impulse) {
  problem_.multiply(impulse, velocity_);
  velocity_ += problem_.compliance().cwiseProduct(impulse);
  return impulse.dot(0.5 * velocity_ + problem_.free_term());
}

double OwnResiduals::natural_map(ConstVectorRef impulse) {
  update_velocity(impulse);
  return scaled_natural_map(problem_.cones(), impulse, velocity_, inverse_steps_, reference_velocity_, scratch_);
}

}  // namespace conebench::gauss_seidel
