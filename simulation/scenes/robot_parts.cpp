#include <cmath>
#include <numbers>

#include "simulation/scenes/robot_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

/// From the last segment's origin to its end.
Vec3 end_of(const Limb& limb) { return limb.segments.back().length * limb.direction; }

}  // namespace

Limb humanoid_leg(const std::string& name, const Vec3& root, const LimbSizes& s, double crouch) {
  const double housing = 0.02;
  const double thin = 0.6 * s.radius;
  Limb leg{.name = name, .root = root};
  const Segment house{.length = housing, .radius = thin, .weight = s.housing_weight, .touches = false};
  Segment yaw = house;
  yaw.axis = Vec3::UnitZ();
  Segment roll = house;
  roll.axis = Vec3::UnitX();
  const Segment thigh{
      .length = s.upper, .radius = s.radius, .weight = s.upper_weight, .start = -crouch, .lower = -2.0, .upper = 1.0};
  const Segment shank{.length = s.lower,
                      .radius = 0.8 * s.radius,
                      .weight = s.lower_weight,
                      .start = 2.0 * crouch,
                      .lower = -0.1,
                      .upper = 2.5};
  Segment ankle = house;
  ankle.weight = s.end_weight;
  ankle.start = -crouch;
  ankle.lower = -1.5;
  Segment foot = roll;
  foot.length = 0.06;
  foot.radius = 0.03;
  foot.weight = s.end_weight;
  leg.segments = {yaw, roll, thigh, shank, ankle, foot};
  return leg;
}

Limb humanoid_arm(const std::string& name, const Vec3& root, const LimbSizes& s, int hinges) {
  const double thin = 0.7 * s.radius;
  Limb arm{.name = name, .root = root};
  const Segment house{
      .length = 0.03, .radius = thin, .weight = s.housing_weight, .touches = false, .lower = -2.0, .upper = 2.0};
  const auto about = [](Segment segment, const Vec3& axis) {
    segment.axis = axis;
    return segment;
  };
  const Segment upper{.axis = Vec3::UnitZ(), .length = s.upper, .radius = thin, .weight = s.upper_weight};
  const Segment lower{
      .length = s.lower, .radius = thin, .weight = s.lower_weight, .start = -0.5, .lower = -2.2, .upper = 0.1};
  const Segment hand{.axis = Vec3::UnitX(), .length = 0.12, .radius = thin, .weight = s.end_weight};
  Segment wrist = about(house, Vec3::UnitZ());
  wrist.weight = s.end_weight;
  arm.segments = {
      about(house, Vec3::UnitY()), about(house, Vec3::UnitX()), upper, lower, wrist, about(wrist, Vec3::UnitY()), hand};
  if (hinges == 3) arm.segments = {about(house, Vec3::UnitY()), about(upper, Vec3::UnitX()), lower};
  if (hinges == 4) arm.segments.resize(4);
  return arm;
}

void add_foot(Limb& limb, int corners, double half_length, double half_width, double radius) {
  // Four corners make a rectangle of the half sizes, more an inscribed polygon.
  const double stretch = corners == 4 ? std::numbers::sqrt2 : 1.0;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + 0.5) / corners;
    const Vec3 corner((0.3 + stretch * std::cos(angle)) * half_length, stretch * std::sin(angle) * half_width, -radius);
    limb.tip.push_back(Geom::sphere(radius).at(end_of(limb) + corner));
  }
  limb.tip_depth = 2.0 * radius;
}

Figure quadruped_figure(double lightest, double trunk_weight) {
  Figure robot;
  robot.half_sizes = {0.25, 0.08, 0.05};
  robot.lightest = lightest;
  robot.base_weight = trunk_weight;
  robot.carried = trunk_weight / 4.0;
  robot.rate = 45.0;
  robot.frequency = 2.0;
  for (const double front : {1.0, -1.0}) {
    for (const double left : {1.0, -1.0}) {
      Limb leg{.name = std::string(front > 0 ? "front_" : "hind_") + (left > 0 ? "left" : "right"),
               .root = {front * 0.2, left * 0.14, 0.0}};
      leg.segments = {
          {.axis = Vec3::UnitX(), .length = 0.02, .radius = 0.03, .weight = 2.0, .touches = false},
          {.length = 0.2, .radius = 0.02, .weight = 3.0, .start = 0.7, .lower = -1.5, .upper = 1.9},
          {.length = 0.2, .radius = 0.012, .weight = 1.0, .start = -1.4, .lower = -2.6, .upper = 0.0},
      };
      leg.tip = {Geom::sphere(0.02).at({0.0, 0.0, -0.2})};
      leg.tip_depth = 0.02;
      robot.limbs.push_back(leg);
    }
  }
  return robot;
}

}  // namespace conebench
