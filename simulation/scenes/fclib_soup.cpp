#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

struct PrimitiveSoupOptions {
  long bodies = 100;
  double size = 0.1;
  double half_width = 0.0;
  double density = 1000.0;
  double friction = 0.7;

  static void declare(OptionBinder& bind, PrimitiveSoupOptions& o) {
    declare_count(bind, "bodies", o.bodies, 10000, "dropped; FCLIB's PrimitiveSoup has 1000");
    bind.real("size", o.size,
              {.minimum = 1e-3, .maximum = 1e2, .unit = "m", .doc = "radius of the sphere that a body fits in"});
    bind.real("half_width", o.half_width,
              {.minimum = 0,
               .maximum = 1e3,
               .unit = "m",
               .doc = "of the box they fall into; 0: as wide as the heap is high"});
    bind.real("density", o.density, {.minimum = 1e-3, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the bodies"});
    declare_friction(bind, o.friction);
  }
};

/// A sphere, capsule, cylinder or block that fits in a sphere of this radius, with its mass.
Geom random_primitive(RandomSource& random, double size, double density) {
  const std::size_t kind = random.below(4);
  const double slim = random.uniform(0.4, 0.7);
  const double pi = std::numbers::pi;
  if (kind == 0) {
    const double radius = size * slim;
    return Geom::sphere(radius).mass(density * 4.0 / 3.0 * pi * std::pow(radius, 3));
  }
  if (kind == 1) {
    const double radius = size * 0.6 * slim;
    const double half = size - radius;
    return Geom::capsule({0.0, 0.0, -half}, {0.0, 0.0, half}, radius)
        .mass(density * pi * radius * radius * (2.0 * half + 4.0 / 3.0 * radius));
  }
  if (kind == 2) {
    const double radius = size * slim;
    const double half = std::sqrt(size * size - radius * radius);
    return Geom::cylinder(radius, half).mass(density * pi * radius * radius * 2.0 * half);
  }
  Vec3 half(1.0, random.uniform(0.5, 1.0), 0.0);
  half[2] = random.uniform(0.5, 1.0);
  half *= size / half.norm();
  return Geom::box(half).mass(density * 8.0 * half.prod());
}

/// FCLIB's PrimitiveSoup: 1,000 spheres, capsules, cylinders and blocks fall into a box, up to 3,282 contacts.
Result<SimulatedModel> make_primitive_soup(const PrimitiveSoupOptions& o, std::uint64_t seed) {
  const double dt = 0.002;
  const double cell = 2.02 * o.size;
  // A cubic heap: what falls takes about half of its cells.
  const double wide = o.half_width > 0.0 ? o.half_width : 0.5 * cell * std::cbrt(0.5 * double(o.bodies));
  const long across =
      o.half_width > 0.0 ? static_cast<long>(2.0 * wide / cell) : std::max(1L, std::lround(2.0 * wide / cell));
  if (across < 1) return Error{ErrorCode::wrong_usage, "no body fits: half_width must be at least 1.01 size"};
  RandomSource random(seed);
  const double half_width = o.half_width > 0.0 ? o.half_width : 0.5 * cell * double(across);
  mjcf::Model model(
      {.name = "fclib-primitive-soup", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.02 * o.size}});
  add_container(model, half_width);
  const double step = 2.0 * half_width / double(across);
  for (long i = 0; i < o.bodies; ++i) {
    const long in_layer = i % (across * across);
    const Vec3 position((double(in_layer % across) + 0.5) * step - half_width,
                        (double(in_layer / across) + 0.5) * step - half_width,
                        cell * (0.55 + double(i / (across * across))));
    model.open_body("body" + std::to_string(i + 1), {.position = position, .orientation = random_orientation(random)});
    model.free();
    model.geom(random_primitive(random, o.size, o.density));
    model.close_body();
  }
  return simulated(model, dt, 400, "none");
}

}  // namespace

SimulatedSceneRow fclib_primitive_soup_scene() {
  return make_simulated_scene<PrimitiveSoupOptions>(
      "fclib-primitive-soup", "spheres, capsules, cylinders and blocks dropped into a box (FCLIB)", make_primitive_soup,
      fclib_loop(1e-6, 8));
}

}  // namespace conebench
