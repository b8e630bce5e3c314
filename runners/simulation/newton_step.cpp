#include "runners/simulation/newton_step.hpp"

#include <algorithm>
#include <limits>

namespace conebench::simulation {

double NewtonStep::linearise(const Vector& velocity) {
  Mechanics& m = *mechanics_;
  Vector promised = m.force;
  if (ahead_.size() > 0) {
    promised -= time_step_ * (m.stiffness * velocity);
    m.force -= ahead_;
  }
  State moved = start_;
  engine_->advance_position(moved, velocity, time_step_);
  engine_->linearise(moved.position, time_step_, m);
  const double error = time_step_ * (m.force - promised).norm();
  const double scale = (m.mass * start_.velocity).norm() + time_step_ * m.force.norm();
  ahead_ = time_step_ * (m.stiffness * velocity);
  m.force += ahead_;
  return error == 0.0 ? 0.0 : error / std::max(scale, std::numeric_limits<double>::min());
}

}  // namespace conebench::simulation
