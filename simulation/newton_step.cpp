#include "simulation/newton_step.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <limits>

namespace conebench::simulation {

namespace {

bool positive_definite(const SparseMatrix& symmetric) {
  const Eigen::SimplicialLDLT<SparseMatrix> factor(symmetric);
  return factor.info() == Eigen::Success && (factor.vectorD().array() > 0.0).all();
}

}  // namespace

double NewtonStep::linearise(const Vector& velocity) {
  Mechanics& m = *mechanics_;
  Vector promised = m.force;
  if (ahead_.size() > 0) {
    promised -= time_step_ * (m.stiffness * velocity);
    m.force -= ahead_;
  }
  engine_->linearise(velocity, time_step_, Engine::Tangent::whole, m);
  SparseMatrix a = m.mass + time_step_ * time_step_ * m.stiffness;
  if (damped_) a += time_step_ * m.damping;
  if (!positive_definite(a)) {
    engine_->linearise(velocity, time_step_, Engine::Tangent::positive, m);
  }
  const double error = time_step_ * (m.force - promised).norm();
  const double scale = (m.mass * before_).norm() + time_step_ * m.force.norm();
  ahead_ = time_step_ * (m.stiffness * velocity);
  m.force += ahead_;
  return error == 0.0 ? 0.0 : error / std::max(scale, std::numeric_limits<double>::min());
}

}  // namespace conebench::simulation
