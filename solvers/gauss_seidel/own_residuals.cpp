#include "solvers/gauss_seidel/own_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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
      projected_(problem_.cones()),
      inverse_steps_(problem_.cones().blocks()),
      reference_velocity_(natural_map_scaling(problem_, inverse_steps_)),
      velocity_(problem_.rows()),
      scratch_(problem_.rows()) {
  if (model != OwnModel::box) return;
  const ConeProduct& all = problem_.cones();
  projected_ = ConeProduct::create(all.joints(), all.limits(), {all.intervals().begin(), all.intervals().end()},
                                   std::vector<FrictionLaw>{})
                   .value();
}

void OwnResiduals::update_velocity(ConstVectorRef impulse) {
  problem_.multiply(impulse, velocity_);
  velocity_ += problem_.compliance().cwiseProduct(impulse) + problem_.free_term();
  if (model_ == OwnModel::ncp) add_de_saxce(problem_.cones(), velocity_, velocity_);
}

double OwnResiduals::complementarity(ConstVectorRef all_impulses) {
  update_velocity(all_impulses);
  const ConstVectorRef impulse = all_impulses.head(projected_.rows());
  const ConstVectorRef velocity = velocity_.head(projected_.rows());
  auto scratch = scratch_.head(projected_.rows());
  project_cone(projected_, impulse, scratch);
  const double primal = (impulse - scratch).lpNorm<Eigen::Infinity>();
  project_dual_cone(projected_, velocity, scratch);
  const double dual = (velocity - scratch).lpNorm<Eigen::Infinity>();
  const double largest = std::max({primal, dual, largest_complementarity(projected_, impulse, velocity)});
  return model_ == OwnModel::box ? std::max(largest, box_complementarity(all_impulses)) : largest;
}

double OwnResiduals::box_complementarity(ConstVectorRef impulse) {
  const ConeProduct& cones = problem_.cones();
  double largest = 0.0;
  const auto add = [&](double violation) { largest = std::max(largest, violation); };
  for (Index contact = 0; contact < cones.contacts(); ++contact) {
    const Index first = cones.contact_row(contact);
    const Index last = first + cones.normal_of(contact);
    const double mu = cones.friction()[static_cast<std::size_t>(contact)];
    const double normal = impulse[last];
    const double speed = velocity_[last];
    add(-normal);
    add(-speed);
    double power = normal * speed;
    for (Index t = first; t < last; ++t) {
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
