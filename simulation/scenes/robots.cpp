#include <cmath>
#include <numbers>

#include "simulation/scenes/robot_scenes.hpp"
#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

constexpr double robot_step = 0.001;  // Carpentier24 Sec. V-A and Yamane Sec. V

/// Like mjcf::Vec3(0, 0, −9.81) on a plane that falls by `slope` [deg] along x.
Vec3 leaning_gravity(double slope) {
  const double angle = slope * std::numbers::pi / 180.0;
  return {9.81 * std::sin(angle), 0.0, -9.81 * std::cos(angle)};
}

struct QuadrupedOptions {
  std::string ground = "flat";
  std::string gait = "trot";
  double speed = 0.4;
  double slope = 20.0;
  double roughness = 0.1;
  double mass_ratio = 29.07;
  double friction = 0.6;
  double push = 10.0;
  double height = 0.01;

  static void declare(OptionBinder& bind, QuadrupedOptions& o) {
    bind.choice("ground", o.ground, {"flat", "steep", "bumpy"},
                "level plane, plane at `slope`, height field of random elevations");
    bind.choice("gait", o.gait, {"stand", "trot", "track", "limp"},
                "servos hold the pose, trot open-loop, trot at `speed`, or are off");
    declare_speed(bind, "speed", o.speed, "along x that gait=track is to have");
    bind.real("slope", o.slope, {.minimum = 0, .maximum = 60, .unit = "deg", .doc = "of the steep ground"});
    declare_length(bind, "roughness", o.roughness, "of the bumpy ground, peak to valley");
    declare_mass_ratio(bind, o.mass_ratio, "of the trunk to a shank");
    declare_friction(bind, o.friction);
    bind.real("push", o.push, {.minimum = -1e4, .maximum = 1e4, .unit = "N", .doc = "on the trunk along its x"});
    declare_length(bind, "height", o.height, "under the feet at the start");
  }
};

/// Tsounis's Quadruped (13 bodies, 12 hinges), in the situations of Carpentier24 (steep terrain) and LeLidec24 (flat
/// and bumpy terrain, perturbed by 10 N while standing).
Result<SimulatedModel> make_quadruped(const QuadrupedOptions& o, std::uint64_t seed) {
  Figure robot = quadruped_figure(0.3, o.mass_ratio);
  for (std::size_t leg = 0; leg < robot.limbs.size(); ++leg) {
    const bool first_pair = leg == 0 || leg == 3;  // diagonal legs swing together
    auto& segments = robot.limbs[leg].segments;
    for (Segment& s : segments) {
      if (o.gait == "limp") s.driven = false;
      s.phase = first_pair ? 0.0 : std::numbers::pi;
    }
    if (o.gait == "trot") {
      segments[1].amplitude = 0.3;
      segments[2].amplitude = 0.6;
      segments[2].phase += std::numbers::pi / 2;
    }
  }
  const Vec3 gravity = leaning_gravity(o.ground == "steep" ? o.slope : 0.0);
  mjcf::Model model({.name = "quadruped",
                     .time_step = robot_step,
                     .gravity = gravity,
                     .surface = {.friction = o.friction, .margin = 0.002}});
  if (o.ground == "bumpy") {
    RandomSource random(seed);
    add_bumpy_ground(model, 32, 0.15, o.roughness, random);
  } else {
    model.scenery(Geom::plane());
  }
  add_figure(model, robot, {.position = {0.0, 0.0, depth(robot) + o.height}}, {}, o.push);
  if (o.gait != "track") return simulated(model, robot_step, 1000, o.gait == "trot" ? "sine" : "hold");
  auto scene = simulated(model, robot_step, 3000, "trot");
  if (scene) scene->trot = trot_of(robot, o.speed, o.friction, gravity);
  return scene;
}

struct ArmOptions {
  double mass_ratio = 19.54;
  double friction = 0.5;
  double amplitude = 0.4;

  static void declare(OptionBinder& bind, ArmOptions& o) {
    declare_mass_ratio(bind, o.mass_ratio, "of the base to the last link");
    declare_friction(bind, o.friction);
    bind.real("amplitude", o.amplitude, {.minimum = 0, .maximum = 2, .unit = "rad", .doc = "of the servos' sines"});
  }
};

/// An arm that stands on a base at z = 0: hinges in turn about z and y, links lighter towards the tip.
Figure standing_arm(int links, double mass_ratio, double amplitude) {
  Figure arm;
  arm.fixed = true;
  arm.half_sizes = {0.1, 0.1, 0.05};
  arm.lightest = 0.5;
  arm.base_weight = mass_ratio;
  arm.frequency = 0.5;
  Limb limb{.name = "link", .root = {0.0, 0.0, 0.05}, .direction = Vec3::UnitZ()};
  for (int i = 0; i < links; ++i) {
    const bool twist = i % 2 == 0;
    limb.segments.push_back({.axis = twist ? Vec3::UnitZ() : Vec3::UnitY(),
                             .length = twist ? 0.12 : 0.25,
                             .radius = 0.04,
                             .weight = std::pow(mass_ratio, 0.6 * double(links - 1 - i) / (links - 1)),
                             .amplitude = amplitude,
                             .phase = 0.9 * i,
                             .lower = -2.5,
                             .upper = 2.5});
  }
  arm.limbs = {limb};
  return arm;
}

/// Tsounis's Arm7D: a base fixed to the world and seven links; the hand sweeps over a table at its base's height.
Result<SimulatedModel> make_arm7d(const ArmOptions& o, std::uint64_t) {
  Figure arm = standing_arm(7, o.mass_ratio, o.amplitude);
  auto& links = arm.limbs[0].segments;
  // Shoulder and elbow bend so far that the hand scratches the floor at the bottom of its sweep.
  links[1].start = 1.2;
  links[3].start = 1.0;
  links[5].start = 0.4;
  for (const int twist : {2, 4, 6}) links[std::size_t(twist)].amplitude = 0.0;
  mjcf::Model model({.name = "arm7d", .time_step = robot_step, .surface = {.friction = o.friction, .margin = 0.002}});
  const double above_table = 0.25;
  model.scenery(Geom::box({0.6, 0.6, 0.05}).at({0.75, 0.0, -0.05}));
  add_figure(model, arm, {.position = {0.0, 0.0, 0.051 + above_table}});
  return simulated(model, robot_step, 2000, "sine");
}

struct WallOptions {
  double friction = 0.4;
  double press = 0.3;
  double amplitude = 0.25;

  static void declare(OptionBinder& bind, WallOptions& o) {
    declare_friction(bind, o.friction);
    bind.real("press", o.press,
              {.minimum = 0, .maximum = 1, .unit = "rad", .doc = "by which the servos reach into the wall"});
    bind.real("amplitude", o.amplitude, {.minimum = 0, .maximum = 1, .unit = "rad", .doc = "of the sweep"});
  }
};

/// Carpentier24 Sec. V-D: a six-joint arm whose hand slides on a wall.
Result<SimulatedModel> make_arm_on_wall(const WallOptions& o, std::uint64_t) {
  Figure arm = standing_arm(6, 10.0, 0.0);
  auto& links = arm.limbs[0].segments;
  links[1].start = 0.9;
  links[3].start = 0.5;
  links[5].start = 0.2;
  // Reach of the stretched limb in its plane, from the segments themselves.
  double angle = 0.0;
  double reach = 0.0;
  for (const Segment& s : links) {
    if (s.axis.y() != 0.0) angle += s.start;
    reach += s.length * std::sin(angle);
  }
  links[0].amplitude = o.amplitude;
  links[1].amplitude = 0.5 * o.amplitude;
  links[1].phase = std::numbers::pi / 2;
  mjcf::Model model(
      {.name = "arm-on-wall", .time_step = robot_step, .surface = {.friction = o.friction, .margin = 0.002}});
  const double thickness = 0.1;
  model.scenery(Geom::box({thickness, 1.5, 1.5}).at({reach + 0.005 + thickness, 0.0, 0.8}));
  Figure pressing = arm;
  pressing.limbs[0].segments[1].press = o.press;
  add_figure(model, pressing, {.position = {0.0, 0.0, 0.05}});
  return simulated(model, robot_step, 2000, "sine");
}

}  // namespace

SimulatedSceneRow quadruped_scene() {
  return make_simulated_scene<QuadrupedOptions>(
      "quadruped", "quadruped on flat, steep or bumpy ground (Carpentier24, LeLidec24, Tsounis)", make_quadruped);
}

SimulatedSceneRow arm7d_scene() {
  return make_simulated_scene<ArmOptions>("arm7d", "seven-joint arm sweeping over a table (Tsounis)", make_arm7d);
}

SimulatedSceneRow arm_on_wall_scene() {
  return make_simulated_scene<WallOptions>("arm-on-wall", "arm whose hand slides on a wall (Carpentier24)",
                                           make_arm_on_wall);
}

}  // namespace conebench
