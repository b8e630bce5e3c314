#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Joint;
using mjcf::Vec3;

namespace {

/// "middle", "middle2", "middle3", …
std::string numbered(const char* name, long number) {
  return number == 1 ? std::string(name) : fmt::format("{}{}", name, number);
}

struct BoxesFixedOptions {
  double mass = 1.0;
  double mass_ratio = 1000.0;
  double half_width = 0.1;
  double friction = 0.5;
  double height = 0.05;
  double speed = 1.0;

  static void declare(OptionBinder& bind, BoxesFixedOptions& o) {
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of the lower box"});
    declare_mass_ratio(bind, o.mass_ratio, "mass of the upper box over that of the lower");
    declare_length(bind, "half_width", o.half_width, "of the boxes, all three");
    declare_friction(bind, o.friction);
    declare_length(bind, "height", o.height, "under the lower box at the start");
    declare_speed(bind, "speed", o.speed, "along x at the start");
  }
};

/// Tsounis's Boxes-Fixed: two boxes on each other with a fixed joint of six rows.
Result<SimulatedModel> make_boxes_fixed(const BoxesFixedOptions& o, std::uint64_t) {
  const double dt = 0.005;
  const double a = o.half_width;
  mjcf::Model model({.name = "boxes-fixed", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.02 * a}});
  model.scenery(Geom::plane());
  model.open_body("lower", {.position = {0.0, 0.0, o.height + a}});
  model.free({.linear = {o.speed, 0.0, 0.0}});
  model.geom(Geom::box({a, a, a}).mass(o.mass));
  model.open_body("upper", {.position = {0.0, 0.0, 2.0 * a}});
  model.geom(Geom::box({a, a, a}).mass(o.mass * o.mass_ratio));
  model.close_body();
  model.close_body();
  return simulated(model, dt, 200, "none");
}

struct NunchukOptions {
  long links = 3;
  double mass = 1.0;
  double friction = 0.5;
  double height = 0.4;
  double spin = 3.0;

  static void declare(OptionBinder& bind, NunchukOptions& o) {
    bind.integer("links", o.links, {.minimum = 2, .maximum = 1000, .doc = "bodies, the two handles included"});
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of each body"});
    declare_friction(bind, o.friction);
    declare_length(bind, "height", o.height, "under the axis at the start");
    bind.real("spin", o.spin, {.minimum = -1e3, .maximum = 1e3, .unit = "rad/s", .doc = "of the first handle about z"});
  }
};

/// Tsounis's Nunchuk: two handles and the piece between them, on two ball joints; or more pieces, or none.
Result<SimulatedModel> make_nunchuk(const NunchukOptions& o, std::uint64_t) {
  const double dt = 0.005;
  const double radius = 0.02;
  const double handle = 0.3;
  const double middle = 0.1;
  mjcf::Model model({.name = "nunchuk", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  const auto rod = [&](double length) {
    return Geom::capsule({radius, 0.0, 0.0}, {length - radius, 0.0, 0.0}, radius).mass(o.mass);
  };
  const Joint ball{.type = "ball"};
  model.open_body("handle", {.position = {-handle, 0.0, o.height}});
  model.free({.linear = {0.5, 0.0, 0.0}, .angular = {0.0, 1.0, o.spin}});
  model.geom(rod(handle));
  double end = handle;
  for (long piece = 1; piece <= o.links - 2; ++piece) {
    model.open_body(numbered("middle", piece), {.position = {end, 0.0, 0.0}});
    model.joint(ball);
    model.geom(rod(middle));
    end = middle;
  }
  model.open_body("other_handle", {.position = {end, 0.0, 0.0}});
  model.joint(ball);
  model.geom(rod(handle));
  for (long body = 0; body < o.links; ++body) model.close_body();
  return simulated(model, dt, 300, "none");
}

struct FourbarOptions {
  std::string base = "fixed";
  long loops = 1;
  double mass = 1.0;
  double length = 0.5;
  double angle = 0.8;
  double clearance = 0.02;
  double torque = 5.0;
  double friction = 0.5;

  static void declare(OptionBinder& bind, FourbarOptions& o) {
    bind.choice("base", o.base, {"fixed", "free"}, "the base bar is fixed to the world, or falls");
    bind.integer("loops", o.loops,
                 {.minimum = 1, .maximum = 300, .doc = "parallelograms side by side on one base bar"});
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of each bar"});
    bind.real("length", o.length, {.minimum = 0.05, .maximum = 1e3, .unit = "m", .doc = "of each bar"});
    bind.real("angle", o.angle, {.minimum = 0.3, .maximum = 1.4, .unit = "rad", .doc = "of the crank at the start"});
    bind.real("clearance", o.clearance,
              {.minimum = -1e3,
               .maximum = 1e3,
               .unit = "m",
               .doc = "by which the hanging coupler would reach into the floor; below 0 it swings clear of it"});
    bind.real("torque", o.torque,
              {.minimum = -1e6, .maximum = 1e6, .unit = "N m", .doc = "of the crank's motor, amplitude of a sine"});
    declare_friction(bind, o.friction);
  }
};

/// Tsounis's Fourbar: a parallelogram of equal bars, the loop closed by a hinge of five rows. The crank has a motor.
/// More loops move as one: each adds a coupler and a rocker, and no freedom.
Result<SimulatedModel> make_fourbar(const FourbarOptions& o, std::uint64_t) {
  const double dt = 0.005;
  const double radius = 0.04 * o.length;
  const Vec3 hinge_axis = Vec3::UnitY();
  mjcf::Model model(
      {.name = "fourbar", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.002 * o.length}});
  model.scenery(Geom::plane());
  const Vec3 along(o.length, 0.0, 0.0);
  const Vec3 down(0.0, 0.0, -o.length);
  const auto bar = [&](const Vec3& to) {
    return Geom::capsule(2.0 * radius * to.normalized(), to - 2.0 * radius * to.normalized(), radius).mass(o.mass);
  };
  const bool fixed = o.base == "fixed";
  const double height = fixed ? o.length + radius - o.clearance : 1.5 * o.length;
  model.open_body("bar", {.position = {0.0, 0.0, height}});
  if (!fixed) model.free({.angular = {0.5, 0.0, 0.0}});
  model.geom(bar(static_cast<double>(o.loops) * along));
  // Short of the right angle at which the bars are in line and the parallelogram may fold over.
  Joint crank{.axis = hinge_axis, .lower = -1.45, .upper = 1.45, .start = o.angle};
  crank.drive = {.kind = mjcf::Drive::Kind::motor, .amplitude = o.torque, .frequency = 1.0};
  model.open_body("crank", {});
  model.joint(crank);
  model.geom(bar(down));
  for (long loop = 1; loop <= o.loops; ++loop) {
    model.open_body(numbered("coupler", loop), {.position = down});
    model.joint({.axis = hinge_axis, .start = -o.angle});
    model.geom(bar(along));
    model.close_body();
    model.close_body();
    model.open_body(numbered("rocker", loop), {.position = static_cast<double>(loop) * along});
    model.joint({.axis = hinge_axis, .start = o.angle});
    model.geom(bar(down));
  }
  model.close_body();
  model.close_body();
  for (long loop = 1; loop <= o.loops; ++loop) {
    model.connect_hinge(numbered("coupler", loop), numbered("rocker", loop), along, hinge_axis, 0.2 * o.length);
    model.exclude(numbered("coupler", loop), numbered("rocker", loop));
  }
  return simulated(model, dt, 400, "sine");
}

}  // namespace

SimulatedSceneRow boxes_fixed_scene() {
  return make_simulated_scene<BoxesFixedOptions>(
      "boxes-fixed", "two boxes on each other, fixed together, mass ratio 1000 (Tsounis)", make_boxes_fixed);
}

SimulatedSceneRow nunchuk_scene() {
  return make_simulated_scene<NunchukOptions>("nunchuk", "three rods on two ball joints fall on a plane (Tsounis)",
                                              make_nunchuk);
}

SimulatedSceneRow fourbar_scene() {
  return make_simulated_scene<FourbarOptions>("fourbar", "four-bar linkage, a closed loop, fixed or free (Tsounis)",
                                              make_fourbar);
}

}  // namespace conebench
