#include "simulation/scenes/figure.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

using mjcf::Drive;
using mjcf::Geom;
using mjcf::Joint;
using mjcf::Pose;
using mjcf::Vec3;

namespace {

/// What a servo has to move: moment of inertia of `limb` from its segment `from` on, stretched out [kg m²].
double inertia_beyond(const Figure& figure, const Limb& limb, std::size_t from) {
  double reach = 0.0;
  double inertia = 0.0;
  for (std::size_t i = from; i < limb.segments.size(); ++i) {
    const Segment& s = limb.segments[i];
    const double mass = figure.lightest * (s.weight + figure.carried / double(limb.segments.size()));
    inertia +=
        mass * ((reach + s.length / 2) * (reach + s.length / 2) + s.length * s.length / 12 + s.radius * s.radius);
    reach += s.length;
  }
  return inertia;
}

/// Critically damped at the figure's rate.
Servo servo_for(const Figure& figure, double inertia) {
  return {.stiffness = inertia * figure.rate * figure.rate, .damping = 2.0 * inertia * figure.rate};
}

void drive(Joint& joint, const Figure& figure, const Segment& segment, double inertia) {
  const Servo servo = servo_for(figure, inertia);
  joint.drive.kind = Drive::Kind::servo;
  joint.drive.stiffness = servo.stiffness;
  joint.drive.control = segment.start + segment.press;
  joint.drive.amplitude = segment.amplitude;
  joint.drive.frequency = figure.frequency;
  joint.drive.phase = segment.phase;
  joint.damping = servo.damping;
}

/// The capsule of a segment; a ball where there is no room for one between the hinges.
Geom shape_of(const Segment& s, const Vec3& direction) {
  Geom geom = s.length > 2.0 * s.radius
                  ? Geom::capsule(s.radius * direction, (s.length - s.radius) * direction, s.radius)
                  : Geom::sphere(s.radius).at(s.length / 2 * direction);
  if (!s.touches) geom.untouchable();
  return geom;
}

/// The crank and rod that drive segment `link` from the open body, where the segment's hinge is at `hinge`.
void add_linkage(mjcf::Model& model, const Figure& figure, const Limb& limb, const Segment& s, const std::string& link,
                 const std::string& parent, const Vec3& hinge, double inertia) {
  const bool spatial = s.linkage != Linkage::planar;
  const Vec3 lever = s.axis.cross(limb.direction).normalized() * std::max(3.0 * s.radius, 0.25 * s.length);
  // Spatial rods lean out of the plane of the lever and the limb.
  const Vec3 aside = spatial ? Vec3(0.3 * lever.norm() * s.axis) : Vec3(Vec3::Zero());
  const Vec3 crank_hinge = hinge - 0.35 * s.length * limb.direction;
  const Vec3 rod_start = lever - aside;  // from the crank's hinge
  const Vec3 rod = hinge + lever + aside - crank_hinge - rod_start;
  const double thin = 0.3 * s.radius;
  const std::string crank_name = link + ".crank";
  const std::string rod_name = link + ".rod";

  model.open_body(crank_name, {.position = crank_hinge});
  model.geom(Geom::capsule(Vec3::Zero(), rod_start, thin).mass(figure.crank_weight * figure.lightest));
  // Only the segment has limits: a second pair in the same loop would fight with it by rounding errors.
  Joint crank{.axis = s.axis};
  drive(crank, figure, s, inertia);
  crank.drive.bound = std::max(-s.lower, s.upper);
  model.joint(crank);
  model.open_body(rod_name, {.position = rod_start});
  model.geom(Geom::capsule(Vec3::Zero(), rod, thin).mass(figure.rod_weight * figure.lightest));
  // Passive joints creep with a hundredth of the servo's damping of a body of the rod's size.
  const double damping = 0.02 * figure.rate * figure.rod_weight * figure.lightest * rod.squaredNorm() / 3;
  if (s.linkage == Linkage::balls) {
    model.joint({.type = "ball", .damping = damping});
  } else {
    model.joint({.axis = s.axis, .damping = damping});
    if (spatial) model.joint({.axis = lever.normalized(), .damping = damping});
  }
  model.close_body();
  model.close_body();

  if (spatial) {
    model.connect(rod_name, link, rod);
  } else {
    model.connect_hinge(rod_name, link, rod, s.axis);
  }
  for (const auto& name : {crank_name, rod_name}) model.exclude(name, link);
  model.exclude(rod_name, parent);
}

void add_limbs_on(mjcf::Model& model, const Figure& figure, const std::string& body);

void add_limb(mjcf::Model& model, const Figure& figure, const Limb& limb) {
  Vec3 hinge = limb.root;
  std::string parent = limb.on;
  for (std::size_t i = 0; i < limb.segments.size(); ++i) {
    const Segment& s = limb.segments[i];
    const std::string name = limb.name + std::to_string(i + 1);
    const double inertia = inertia_beyond(figure, limb, i);
    if (s.linkage != Linkage::direct) add_linkage(model, figure, limb, s, name, parent, hinge, inertia);
    model.open_body(name, {.position = hinge});
    model.geom(shape_of(s, limb.direction).mass(s.weight * figure.lightest));
    Joint joint{.axis = s.axis, .lower = s.lower, .upper = s.upper, .start = s.start};
    if (s.driven) {
      drive(joint, figure, s, inertia);
    } else {
      joint.damping = 0.02 * inertia * figure.rate;
    }
    model.joint(joint);
    add_limbs_on(model, figure, name);
    hinge = s.length * limb.direction;
    parent = name;
  }
  for (const Geom& shape : limb.tip) model.geom(shape);
  for (std::size_t i = 0; i < limb.segments.size(); ++i) model.close_body();
}

void add_limbs_on(mjcf::Model& model, const Figure& figure, const std::string& body) {
  for (const Limb& limb : figure.limbs) {
    if (limb.on == body) add_limb(model, figure, limb);
  }
}

}  // namespace

Servo servo_of(const Figure& figure, const Limb& limb, std::size_t segment) {
  return servo_for(figure, inertia_beyond(figure, limb, segment));
}

double depth(const Figure& figure) {
  double lowest = -figure.half_sizes.z();
  for (const Limb& limb : figure.limbs) {
    if (limb.on != "base") continue;
    Vec3 position = limb.root;
    mjcf::Quat orientation = mjcf::Quat::Identity();
    for (const Segment& s : limb.segments) {
      orientation = orientation * mjcf::turn(s.start, s.axis);
      const Vec3 along = orientation * limb.direction;
      position += s.length * along;
      // The round end of its capsule.
      if (s.touches) lowest = std::min(lowest, position.z() - s.radius * (along.z() + 1.0));
    }
    lowest = std::min(lowest, position.z() - limb.tip_depth);
  }
  return -lowest;
}

void add_figure(mjcf::Model& model, const Figure& figure, const Pose& pose, const mjcf::Twist& velocity, double push) {
  model.open_body("base", pose);
  if (!figure.fixed) model.free(velocity);
  model.geom(Geom::box(figure.half_sizes).mass(figure.base_weight * figure.lightest));
  if (push != 0.0) model.push(push, false);
  add_limbs_on(model, figure, "base");
  model.close_body();
}

}  // namespace conebench
