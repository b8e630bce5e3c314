#include <cmath>
#include <numbers>

#include "simulation/scenes/robot_scenes.hpp"
#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Vec3;

namespace {

constexpr double robot_step = 0.001;  // Carpentier24 Sec. V-A and Yamane Sec. V

struct HumanoidOptions {
  std::string pose = "falling";
  double mass_ratio = 60.0;
  double friction = 0.6;
  double push = 80.0;
  double height = 0.05;
  double tilt = 0.4;

  static void declare(OptionBinder& bind, HumanoidOptions& o) {
    bind.choice("pose", o.pose, {"falling", "standing"}, "limp and dropped, or held upright by servos and pushed");
    declare_mass_ratio(bind, o.mass_ratio, "of the trunk to a housing");
    declare_friction(bind, o.friction);
    bind.real("push", o.push, {.minimum = -1e4, .maximum = 1e4, .unit = "N", .doc = "on the pelvis while standing"});
    declare_length(bind, "height", o.height, "under the feet when dropped");
    bind.real("tilt", o.tilt, {.minimum = -3.2, .maximum = 3.2, .unit = "rad", .doc = "forwards when dropped"});
  }
};

/// Legs with six hinges, arms with seven and a gripper, trunk and head with two each.
Figure humanoid(double mass_ratio) {
  Figure robot;
  robot.half_sizes = {0.09, 0.12, 0.08};
  robot.lightest = 0.25;
  robot.base_weight = 0.6 * mass_ratio;
  robot.carried = mass_ratio;
  robot.rate = 15.0;
  const LimbSizes leg{.upper_weight = 20.0, .lower_weight = 12.0, .end_weight = 3.0, .housing_weight = 3.0};
  const LimbSizes arm{.upper = 0.3,
                      .lower = 0.28,
                      .radius = 0.045,
                      .upper_weight = 8.0,
                      .lower_weight = 5.0,
                      .end_weight = 1.5,
                      .housing_weight = 3.0};
  for (const double left : {1.0, -1.0}) {
    const std::string side = left > 0 ? "left_" : "right_";
    Limb limb = humanoid_leg(side + "leg", {0.0, left * 0.09, -0.1}, leg, 0.3);
    add_foot(limb, 4, 0.11, 0.05);
    robot.limbs.push_back(limb);
  }
  // Waist and head: the chest carries nothing but the head, the arms hang from the base's own shoulders.
  Limb spine{.name = "spine", .root = {0.0, 0.0, 0.1}, .direction = Vec3::UnitZ()};
  spine.segments = {{.axis = Vec3::UnitZ(), .length = 0.06, .radius = 0.06, .weight = 3.0, .touches = false},
                    {.length = 0.34, .radius = 0.11, .weight = mass_ratio},
                    {.axis = Vec3::UnitZ(), .length = 0.05, .radius = 0.03, .weight = 1.0, .touches = false},
                    {.length = 0.22, .radius = 0.08, .weight = 12.0}};
  robot.limbs.push_back(spine);
  for (const double left : {1.0, -1.0}) {
    const std::string side = left > 0 ? "left_" : "right_";
    Limb limb = humanoid_arm(side + "arm", {0.0, left * 0.24, 0.42}, arm, 7);
    limb.segments.push_back({.length = 0.08, .radius = 0.012, .weight = 1.0, .lower = -0.7, .upper = 0.7});
    limb.on = "spine2";
    limb.root.z() = 0.3;
    robot.limbs.push_back(limb);
  }
  return robot;
}

/// Carpentier24's and LeLidec24's humanoid, of Talos' kind: 32 hinges.
Result<SimulatedModel> make_humanoid(const HumanoidOptions& o, std::uint64_t) {
  Figure robot = humanoid(o.mass_ratio);
  const bool standing = o.pose == "standing";
  if (!standing) {
    for (Limb& limb : robot.limbs) {
      for (Segment& s : limb.segments) s.driven = false;
    }
  }
  mjcf::Model model(
      {.name = "humanoid", .time_step = robot_step, .surface = {.friction = o.friction, .margin = 0.002}});
  model.scenery(mjcf::Geom::plane());
  mjcf::Pose pose{.position = {0.0, 0.0, depth(robot) + 0.001}};
  if (!standing) {
    pose.position.z() += o.height;
    pose.orientation = mjcf::turn(o.tilt, Vec3::UnitY());
  }
  add_figure(model, robot, pose, {}, standing ? o.push : 0.0);
  return simulated(model, robot_step, standing ? 1000 : 1500, "hold");
}

/// Yamane's small humanoid with 20 hinges, under high-gain control; each leg swings with its own phase.
struct Steps {
  double bend = 0.45;      ///< of the knees at the start, half of it
  double lift = 0.0;       ///< amplitude of the hips' bend [rad]
  double yaw = 0.0;        ///< amplitude of the hips' turn, a quarter of a period later [rad]
  double frequency = 1.0;  ///< [Hz]
  double apart = 0.0;      ///< phase of the right leg less that of the left [rad]
  int corners = 8;         ///< of each sole
};

Figure small_humanoid(const Steps& steps) {
  Figure robot;
  robot.half_sizes = {0.05, 0.06, 0.1};
  robot.lightest = 0.1;
  robot.base_weight = 25.0;
  robot.carried = 40.0;
  robot.rate = 60.0;
  robot.frequency = steps.frequency;
  const LimbSizes leg{.upper = 0.12,
                      .lower = 0.12,
                      .radius = 0.025,
                      .upper_weight = 6.0,
                      .lower_weight = 4.0,
                      .end_weight = 2.0,
                      .housing_weight = 1.5};
  const LimbSizes arm{
      .upper = 0.11, .lower = 0.12, .radius = 0.02, .upper_weight = 3.0, .lower_weight = 2.0, .housing_weight = 1.0};
  for (const double left : {1.0, -1.0}) {
    const std::string side = left > 0 ? "left_" : "right_";
    Limb limb = humanoid_leg(side + "leg", {0.0, left * 0.045, -0.11}, leg, steps.bend);
    // Hip, knee and ankle swing by −a, 2a, −a, so that the soles stay level.
    limb.segments[0].amplitude = steps.yaw;
    limb.segments[2].amplitude = -steps.lift;
    limb.segments[3].amplitude = 2.0 * steps.lift;
    limb.segments[4].amplitude = -steps.lift;
    for (Segment& segment : limb.segments) segment.phase = left > 0 ? 0.0 : steps.apart;
    if (steps.yaw > 0.0) limb.segments[0].phase = std::numbers::pi / 2;
    add_foot(limb, steps.corners, 0.07, 0.035, 0.004);
    robot.limbs.push_back(limb);
  }
  for (const double left : {1.0, -1.0}) {
    const std::string side = left > 0 ? "left_" : "right_";
    robot.limbs.push_back(humanoid_arm(side + "arm", {0.0, left * 0.09, 0.08}, arm, 4));
  }
  return robot;
}

Result<SimulatedModel> on_its_feet(const std::string& name, const Figure& robot, double friction, Index steps) {
  mjcf::Model model({.name = name, .time_step = robot_step, .surface = {.friction = friction, .margin = 0.002}});
  model.scenery(mjcf::Geom::plane());
  add_figure(model, robot, {.position = {0.0, 0.0, depth(robot) + 0.0005}});
  return simulated(model, robot_step, steps, "sine");
}

struct SquatOptions {
  long corners = 8;
  double depth = 0.25;
  double frequency = 0.5;
  double friction = 0.8;

  static void declare(OptionBinder& bind, SquatOptions& o) {
    declare_corners(bind, o.corners);
    bind.real("depth", o.depth, {.minimum = 0, .maximum = 0.6, .unit = "rad", .doc = "amplitude of the hips' bend"});
    bind.real("frequency", o.frequency, {.minimum = 0, .maximum = 10, .unit = "Hz", .doc = "of the squats"});
    declare_friction(bind, o.friction);
  }
  static void declare_corners(OptionBinder& bind, long& corners) {
    bind.integer("corners", corners, {.minimum = 3, .maximum = 32, .doc = "of each foot, all on the floor"});
  }
};

/// Yamane Sec. V-A: it squats. 12 to 16 contacts were found in a step there and 2 to 3 needed; here they are the
/// corners of the soles.
Result<SimulatedModel> make_humanoid_squat(const SquatOptions& o, std::uint64_t) {
  const Steps squats{.lift = o.depth, .frequency = o.frequency, .corners = static_cast<int>(o.corners)};
  return on_its_feet("humanoid-squat", small_humanoid(squats), o.friction, 1500);
}

struct TapOptions {
  long corners = 8;
  double lift = 0.05;
  double yaw = 0.1;
  double frequency = 4.0;
  double friction = 0.8;

  static void declare(OptionBinder& bind, TapOptions& o) {
    SquatOptions::declare_corners(bind, o.corners);
    bind.real("lift", o.lift, {.minimum = 0, .maximum = 0.4, .unit = "rad", .doc = "amplitude of the hips' bend"});
    bind.real("yaw", o.yaw, {.minimum = 0, .maximum = 0.9, .unit = "rad", .doc = "amplitude of the hips' turn"});
    bind.real("frequency", o.frequency, {.minimum = 0, .maximum = 10, .unit = "Hz", .doc = "of the steps"});
    declare_friction(bind, o.friction);
  }
};

/// A stand-in for Yamane's tap dance, whose captured motion is not to be had: feet lifted and set down in turn by
/// sines.
Result<SimulatedModel> make_humanoid_tap(const TapOptions& o, std::uint64_t) {
  const Steps taps{.lift = o.lift,
                   .yaw = o.yaw,
                   .frequency = o.frequency,
                   .apart = std::numbers::pi,
                   .corners = static_cast<int>(o.corners)};
  return on_its_feet("humanoid-tap", small_humanoid(taps), o.friction, 2000);
}

}  // namespace

SimulatedSceneRow humanoid_scene() {
  return make_simulated_scene<HumanoidOptions>(
      "humanoid", "humanoid with 32 joints, falling or standing pushed (Carpentier24, LeLidec24)", make_humanoid);
}

SimulatedSceneRow humanoid_squat_scene() {
  return make_simulated_scene<SquatOptions>("humanoid-squat", "20-joint humanoid squatting on polygonal feet (Yamane)",
                                            make_humanoid_squat);
}

SimulatedSceneRow humanoid_tap_scene() {
  return make_simulated_scene<TapOptions>("humanoid-tap", "20-joint humanoid lifting its feet in turn (Yamane)",
                                          make_humanoid_tap);
}

}  // namespace conebench
