#include "simulation/penalty.hpp"

#include <algorithm>

namespace conebench::simulation {

void PenaltyOptions::declare(OptionBinder& bind, PenaltyOptions& o) {
  bind.real("penalty_stiffness", o.stiffness,
            {.minimum = 0, .maximum = 1e12, .unit = "N/m", .doc = "of a contact's spring, integrator=penalty"});
  bind.real("penalty_damping", o.damping,
            {.minimum = 0, .maximum = 1e12, .unit = "N s/m", .doc = "of its damper along the normal"});
  bind.real("penalty_drag", o.drag,
            {.minimum = 0, .maximum = 1e12, .unit = "N s/m", .doc = "of its damper across, up to friction"});
}

Vector penalty_impulse(const Mechanics& mechanics, const Vector& velocity, double time_step, const PenaltyOptions& o) {
  Vector impulse = Vector::Zero(velocity.size());
  Index row = mechanics.first_contact_row();
  for (const ContactPoint& contact : mechanics.contacts) {
    if (contact.gap < 0.0) {
      const double closing = velocity[row + contact.normal()];
      const double normal = std::max(0.0, -o.stiffness * contact.gap - o.damping * closing);
      const Eigen::Vector2d slip = velocity.segment<2>(row);
      const double speed = slip.norm();
      const double held = std::min(o.drag * speed, contact.friction * normal);
      if (speed > 0.0) impulse.segment<2>(row) = -time_step * held / speed * slip;
      impulse[row + contact.normal()] = time_step * normal;
    }
    row += contact.rows();
  }
  return impulse;
}

}  // namespace conebench::simulation
