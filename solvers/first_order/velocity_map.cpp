#include "solvers/first_order/velocity_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/scaled_natural_map.hpp"

namespace conebench {

namespace {

/// The largest Euclidean norm of a block; NaN where any entry is NaN, which a maximum forgets.
double largest_block_norm(const ConeProduct& cones, const Vector& x) {
  if (!x.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const Index first = cones.first_contact_row();
  const double scalars = first > 0 ? x.head(first).cwiseAbs().maxCoeff() : 0.0;
  if (cones.contacts() == 0) return scalars;
  const Eigen::Map<const Matrix> contacts(x.data() + first, cones.contact_dimension(), cones.contacts());
  return std::max(scalars, std::sqrt(contacts.colwise().squaredNorm().maxCoeff()));
}

}  // namespace

VelocityMap::VelocityMap(const ContactProblem& problem, bool de_saxce) : problem_(problem), de_saxce_(de_saxce) {
  velocity_scale_ = reference_velocity(problem.blocks(), problem.free_term());
}

void VelocityMap::operator()(const Vector& impulse, Vector& velocity) {
  problem_->blocks().apply(impulse, velocity);
  velocity += problem_->free_term();
  if (!problem_->rigid()) velocity += problem_->compliance().cwiseProduct(impulse);
  if (de_saxce_) add_de_saxce(problem_->cones(), velocity, velocity);
  ++products_;
}

void VelocityMap::project_step(const Vector& impulse, double rho, const Vector& velocity, Vector& point) const {
  point = impulse - rho * velocity;
  project_cone(problem_->cones(), point, point);
}

double VelocityMap::residual(const Vector& impulse, double rho, const Vector& velocity, Vector& scratch) const {
  project_step(impulse, rho, velocity, scratch);
  scratch -= impulse;
  return largest_block_norm(problem_->cones(), scratch) / (rho * velocity_scale_);
}

double VelocityMap::largest_eigenvalue(int most) {
  // Normals lead and differ a little, so that no symmetry of the scene hides the leading eigenvector.
  const ConeProduct& cones = problem_->cones();
  Vector x = Vector::Zero(cones.rows());
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index last = cones.block_row(block) + cones.block_size(block) - 1;
    x[last] = 1.0 + 0.1 * static_cast<double>(block % 7);
    if (cones.block_size(block) > 1) x[cones.block_row(block)] = 0.3;
  }
  Vector y(cones.rows());
  double largest = 0.0;
  for (int k = 0; k < most && x.norm() > 0.0; ++k) {
    x.normalize();
    problem_->blocks().apply(x, y);
    y += problem_->compliance().cwiseProduct(x);
    ++products_;
    const double before = std::exchange(largest, y.norm());
    if (std::abs(largest - before) <= 0.01 * largest) break;
    x = y;
  }
  return largest;
}

}  // namespace conebench
