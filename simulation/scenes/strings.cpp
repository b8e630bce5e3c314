#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

struct HoistOptions {
  long joints = 25;
  double link_length = 0.1;
  double link_mass = 0.05;
  double mass_ratio = 100.0;
  double counterweight = 0.25;
  double friction = 0.2;

  static void declare(OptionBinder& bind, HoistOptions& o) {
    bind.integer("joints", o.joints, {.minimum = 9, .maximum = 400, .doc = "of the string, balls"});
    bind.real("link_length", o.link_length, {.minimum = 0.01, .maximum = 10, .unit = "m", .doc = "of each link"});
    bind.real("link_mass", o.link_mass, {.minimum = 1e-6, .maximum = 1e3, .unit = "kg", .doc = "of each link"});
    declare_mass_ratio(bind, o.mass_ratio, "of the load to a link");
    bind.real("counterweight", o.counterweight, {.minimum = 1e-3, .maximum = 1, .doc = "as a share of the load"});
    declare_friction(bind, o.friction);
  }
};

/// Yamane's hoist: a string of 25 joints runs over a rod, a load on one end, a lighter one on the other.
Result<SimulatedModel> make_hoist(const HoistOptions& o, std::uint64_t) {
  const double dt = 0.001;
  const double length = o.link_length;
  const double half_thickness = 0.1 * length;
  const double gap = 0.002 * length;
  const long links = o.joints + 1;
  const long straight = links / 4;
  const long wrapped = links - 2 * straight;
  // The links touch the rod with their middles: a polygon about a circle, straight up, over and down.
  const double bend = std::numbers::pi / double(wrapped + 1);
  const double apothem = length / 2 / std::tan(bend / 2);
  const double height = double(straight + 4) * length;
  mjcf::Model model({.name = "hoist", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.01 * length}});
  model.scenery(Geom::plane());
  const Vec3 centre(0.0, 0.0, height);
  const Vec3 half_rod(0.0, 5.0 * length, 0.0);
  model.scenery(Geom::capsule(centre - half_rod, centre + half_rod, apothem - half_thickness - gap));
  const double load = o.mass_ratio * o.link_mass;
  for (long i = 0; i < links; ++i) {
    const bool curved = i >= straight && i <= straight + wrapped;
    mjcf::Pose pose{.position = {length, 0.0, 0.0}, .orientation = mjcf::turn(curved ? bend : 0.0, Vec3::UnitY())};
    if (i == 0) {
      pose = {.position = {-apothem, 0.0, height - (double(straight) - 0.5) * length},
              .orientation = mjcf::turn(-std::numbers::pi / 2, Vec3::UnitY())};
    }
    model.open_body("link" + std::to_string(i + 1), pose);
    if (i == 0) {
      model.free();
    } else {
      model.joint({.type = "ball", .damping = 0.01 * o.link_mass});
    }
    model.geom(Geom::box({0.45 * length, 0.3 * length, half_thickness}).at({length / 2, 0.0, 0.0}).mass(o.link_mass));
    if (i == 0) model.geom(Geom::sphere(0.4 * length).mass(o.counterweight * load));
    if (i == links - 1) model.geom(Geom::sphere(0.5 * length).at({length, 0.0, 0.0}).mass(load));
  }
  for (long i = 0; i < links; ++i) model.close_body();
  return simulated(model, dt, 1500, "none");
}

struct NetOptions {
  long joints = 16;
  long cylinders = 5;
  double link_mass = 0.2;
  double mass_ratio = 5.0;
  double friction = 0.5;

  static void declare(OptionBinder& bind, NetOptions& o) {
    bind.integer("joints", o.joints, {.minimum = 6, .maximum = 200, .doc = "of each of the four strings, universal"});
    declare_count(bind, "cylinders", o.cylinders, 200, "that fall on the net");
    bind.real("link_mass", o.link_mass, {.minimum = 1e-6, .maximum = 1e3, .unit = "kg", .doc = "of each link"});
    declare_mass_ratio(bind, o.mass_ratio, "of a cylinder to a link");
    declare_friction(bind, o.friction);
  }
};

/// One string of the net: from `start` along `heading` (turned about z), sagging by an arc that begins `slope` [rad]
/// below the horizontal; its last point is fixed to the world, which closes a loop.
void add_string(mjcf::Model& model, const std::string& name, long links, double length, double mass, const Vec3& start,
                double heading, double slope) {
  const double bend = 2.0 * slope / double(links - 1);
  for (long i = 0; i < links; ++i) {
    mjcf::Pose pose{.position = {length, 0.0, 0.0}, .orientation = mjcf::turn(-bend, Vec3::UnitY())};
    if (i == 0) {
      pose = {.position = start, .orientation = mjcf::turn(heading, Vec3::UnitZ()) * mjcf::turn(slope, Vec3::UnitY())};
    }
    model.open_body(name + std::to_string(i + 1), pose);
    // Universal joints: friction on a link so thin would spin it about its own axis at hundreds of rad/s.
    for (const Vec3 axis : {Vec3::UnitY(), Vec3::UnitZ()}) model.joint({.axis = axis, .damping = 0.02 * mass});
    model.geom(Geom::capsule({0.22 * length, 0.0, 0.0}, {0.78 * length, 0.0, 0.0}, 0.18 * length).mass(mass));
  }
  for (long i = 0; i < links; ++i) model.close_body();
  model.connect(name + std::to_string(links), "world", {length, 0.0, 0.0});
}

/// Yamane's net: four strings of sixteen joints, both ends fixed, two across two; five cylinders fall on it.
Result<SimulatedModel> make_net(const NetOptions& o, std::uint64_t seed) {
  const double dt = 0.001;
  const double span = 1.5;
  const double slope = 0.6;
  const long links = o.joints - 1;
  const double length = span / double(links);
  double chord = 0.0;
  double sag = 0.0;
  for (long i = 0; i < links; ++i) {
    const double angle = slope - 2.0 * slope * double(i) / double(links - 1);
    chord += length * std::cos(angle);
    sag += length * std::max(0.0, std::sin(angle));
  }
  mjcf::Model model({.name = "net", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  const double height = 1.5;
  const double apart = 0.15;
  for (const double side : {-1.0, 1.0}) {
    const std::string which = side < 0 ? "1_" : "2_";
    add_string(model, "lower" + which, links, length, o.link_mass, {-chord / 2, side * apart, height}, 0.0, slope);
    add_string(model, "upper" + which, links, length, o.link_mass, {side * apart, -chord / 2, height + 0.4 * length},
               std::numbers::pi / 2, slope);
  }
  RandomSource random(seed);
  for (long i = 0; i < o.cylinders; ++i) {
    const double x = random.uniform(-0.1, 0.1);
    const double y = random.uniform(-0.1, 0.1);
    const auto level = mjcf::turn(random.uniform(0.0, std::numbers::pi), Vec3::UnitZ()) *
                       mjcf::turn(std::numbers::pi / 2, Vec3::UnitY());
    model.open_body("cylinder" + std::to_string(i + 1),
                    {.position = {x, y, height - sag + length + 0.14 * double(i + 1)}, .orientation = level});
    model.free();
    model.geom(Geom::cylinder(0.06, 0.2).mass(o.mass_ratio * o.link_mass));
    model.close_body();
  }
  return simulated(model, dt, 1500, "none");
}

struct RingOptions {
  long wires = 3;
  double link_mass = 0.05;
  double mass_ratio = 20.0;
  double spin = 12.0;
  double friction = 0.3;

  static void declare(OptionBinder& bind, RingOptions& o) {
    bind.integer("wires", o.wires, {.minimum = 2, .maximum = 12, .doc = "of five ball joints each"});
    bind.real("link_mass", o.link_mass, {.minimum = 1e-6, .maximum = 1e3, .unit = "kg", .doc = "of a wire's link"});
    declare_mass_ratio(bind, o.mass_ratio, "of the lower ring to a link");
    bind.real("spin", o.spin,
              {.minimum = -1e3, .maximum = 1e3, .unit = "rad/s", .doc = "of the lower ring at the start"});
    declare_friction(bind, o.friction);
  }
};

/// The capsules of a ring about z, which no convex shape could be.
std::vector<Geom> ring_of_capsules(double radius, double thickness, const Vec3& centre) {
  constexpr int sides = 12;
  std::vector<Geom> capsules;
  const auto corner = [&](int k) {
    const double angle = 2.0 * std::numbers::pi * k / sides;
    return Vec3(centre + radius * Vec3(std::cos(angle), std::sin(angle), 0.0));
  };
  for (int k = 0; k < sides; ++k) capsules.push_back(Geom::capsule(corner(k), corner(k + 1), thickness));
  return capsules;
}

/// A stand-in for Yamane's ring: wires of five ball joints between two rings. The lower one hangs about a post, spins,
/// and winds the wires round it.
Result<SimulatedModel> make_ring(const RingOptions& o, std::uint64_t) {
  const double dt = 0.001, radius = 0.15, thickness = 0.012, length = 0.12, height = 1.0, post = 0.1;
  constexpr int links = 4;
  mjcf::Model model({.name = "ring", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  for (const Geom& side : ring_of_capsules(radius, thickness, {0.0, 0.0, height})) model.scenery(side);
  model.scenery(Geom::capsule({0.0, 0.0, 0.0}, {0.0, 0.0, height + 0.2}, post));
  for (long w = 0; w < o.wires; ++w) {
    const double angle = 2.0 * std::numbers::pi * double(w) / double(o.wires);
    const std::string name = "wire" + std::to_string(w + 1) + "_";
    for (int i = 0; i < links; ++i) {
      const Vec3 top(radius * std::cos(angle), radius * std::sin(angle), height);
      model.open_body(name + std::to_string(i + 1), {.position = i == 0 ? top : Vec3(0.0, 0.0, -length)});
      model.joint({.type = "ball", .damping = 0.01 * o.link_mass});
      model.geom(Geom::capsule({0.0, 0.0, -0.3 * length}, {0.0, 0.0, -0.7 * length}, thickness).mass(o.link_mass));
    }
    for (int i = 0; i < links; ++i) model.close_body();
  }
  const double mass = o.mass_ratio * o.link_mass;
  model.open_body("ring", {.position = {0.0, 0.0, height - links * length}});
  model.free({.angular = {0.0, 0.0, o.spin}});
  for (Geom& side : ring_of_capsules(radius, thickness, Vec3::Zero())) model.geom(side.mass(mass / 12.0));
  model.close_body();
  for (long w = 0; w < o.wires; ++w) {
    const std::string last = "wire" + std::to_string(w + 1) + "_" + std::to_string(links);
    model.connect(last, "ring", {0.0, 0.0, -length});
    model.exclude(last, "ring");
  }
  return simulated(model, dt, 2000, "none");
}

}  // namespace

SimulatedSceneRow hoist_scene() {
  return make_simulated_scene<HoistOptions>("hoist", "string of 25 joints over a rod, with a load (Yamane)",
                                            make_hoist);
}

SimulatedSceneRow ring_scene() {
  return make_simulated_scene<RingOptions>("ring", "ring that hangs by wires and winds them round a post (Yamane)",
                                           make_ring);
}

SimulatedSceneRow net_scene() {
  return make_simulated_scene<NetOptions>("net", "net of four strings that catches cylinders (Yamane)", make_net);
}

}  // namespace conebench
