#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

namespace {

struct BoxOnPlaneOptions {
  double mass = 1.0;
  double half_length = 0.2;
  double half_width = 0.2;
  double half_height = 0.1;
  double friction = 0.5;
  double restitution = 0.0;
  double slope = 0.0;
  double speed = 1.0;
  double height = 0.0;
  double gravity = 9.81;

  static void declare(OptionBinder& bind, BoxOnPlaneOptions& o) {
    const auto length = [](const char* doc) {
      return OptionBinder::Details{.minimum = 1e-3, .maximum = 1e3, .unit = "m", .doc = doc};
    };
    bind.real("mass", o.mass,
              {.minimum = 1e-6, .maximum = 1e9, .unit = "kg", .scale = OptionScale::logarithmic, .doc = "of the box"});
    bind.real("half_length", o.half_length, length("along x"));
    bind.real("half_width", o.half_width, length("along y"));
    bind.real("half_height", o.half_height, length("along the plane's normal"));
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of the pair"});
    bind.real("restitution", o.restitution, {.minimum = 0, .maximum = 1, .doc = "of the pair, Newton's"});
    bind.real("slope", o.slope, {.minimum = 0, .maximum = 89, .unit = "deg", .doc = "of the plane, downhill along x"});
    bind.real("speed", o.speed, {.minimum = -1e3, .maximum = 1e3, .unit = "m/s", .doc = "along x at the start"});
    bind.real("height", o.height, {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "under the box at the start"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e3, .unit = "m/s^2", .doc = "downwards"});
  }
};

/// Tsounis's Box-on-Plane: one free body. The plane stays level and gravity leans where there is a slope.
Result<SimulatedModel> make_box_on_plane(const BoxOnPlaneOptions& o, std::uint64_t) {
  const double angle = o.slope * std::numbers::pi / 180.0;
  SimulatedModel model;
  model.mjcf = fmt::format(R"(<mujoco model="box-on-plane">
  <size nuser_geom="1"/>
  <option gravity="{} 0 {}" cone="elliptic"/>
  <worldbody>
    <geom name="plane" type="plane" size="10 10 1" friction="{} 0 0" user="{}"/>
    <body name="box" pos="0 0 {}">
      <freejoint/>
      <geom name="box" type="box" size="{} {} {}" mass="{}" friction="0 0 0"/>
    </body>
  </worldbody>
  <keyframe>
    <key qpos="0 0 {} 1 0 0 0" qvel="{} 0 0 0 0 0"/>
  </keyframe>
</mujoco>
)",
                           o.gravity * std::sin(angle), -o.gravity * std::cos(angle), o.friction, o.restitution,
                           o.half_height + o.height, o.half_length, o.half_width, o.half_height, o.mass,
                           o.half_height + o.height, o.speed);
  model.steps = 100;
  model.control = "none";
  return model;
}

}  // namespace

SimulatedSceneRow box_on_plane_scene() {
  return make_simulated_scene<BoxOnPlaneOptions>("box-on-plane", "box that slides, tips or falls on a plane (Tsounis)",
                                                 make_box_on_plane);
}

}  // namespace conebench
