#include "simulation/scenes/trot.hpp"

namespace conebench {

Trot trot_of(const Figure& robot, double speed, double friction, const mjcf::Vec3& gravity) {
  Trot trot{.speed = speed,
            .mass = robot.base_weight * robot.lightest,
            .gravity = gravity,
            .friction = friction,
            .height = depth(robot),
            .legs = {}};
  for (const Limb& limb : robot.limbs) {
    const auto& segments = limb.segments;
    // Front and left, hind and right: the sign of x y.
    const bool first_pair = limb.root.x() * limb.root.y() > 0.0;
    TrotLeg leg{.foot_body = limb.name + std::to_string(segments.size()),
                .root = limb.root,
                .drop = segments[0].length,
                .thigh = segments[1].length,
                .shank = segments[2].length,
                .foot = limb.tip_depth,
                .offset = first_pair ? 0.0 : 0.5,
                .stiffness = {},
                .damping = {}};
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const Servo servo = servo_of(robot, limb, i);
      leg.stiffness[i] = servo.stiffness;
      leg.damping[i] = servo.damping;
      trot.mass += segments[i].weight * robot.lightest;
    }
    trot.legs.push_back(leg);
  }
  return trot;
}

}  // namespace conebench
