#include <array>
#include <cmath>
#include <numbers>

#include "problems/scenes/simulated/scene_parts.hpp"
#include "problems/scenes/simulated/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

struct ChainOptions {
  long links = 11;
  double mass = 1.0;
  double speed = 3.0;
  double friction = 0.3;

  static void declare(OptionBinder& bind, ChainOptions& o) {
    declare_count(bind, "links", o.links, 500, "the first one is fixed to the world");
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of each link"});
    declare_speed(bind, "speed", o.speed, "of the last link along x at the start");
    declare_friction(bind, o.friction);
  }
};

/// The four sides of a link, a rectangle in the xz plane about the origin.
std::array<Geom, 4> link_sides(double half_length, double half_width, double radius, double mass) {
  const Vec3 a(half_width, 0.0, half_length);
  const Vec3 b(-half_width, 0.0, half_length);
  const double perimeter = 4.0 * (half_length + half_width);
  const auto side = [&](const Vec3& from, const Vec3& to) {
    Geom geom = Geom::capsule(from, to, radius);
    return mass > 0.0 ? geom.mass(mass * (to - from).norm() / perimeter) : geom;
  };
  return {side(a, b), side(b, -a), side(-a, -b), side(-b, a)};
}

/// FCLIB's Chain: eleven interlocking links of 1 kg hang from the first, the tip is given a velocity; no joints,
/// contacts hold the chain: 48 to 60 dofs, 8 to 28 contacts (000 Table II).
Result<SimulatedModel> make_chain(const ChainOptions& o, std::uint64_t) {
  const double dt = 0.001;
  const double radius = 0.02;
  const double half_length = 0.15;
  const double half_width = 0.08;
  const double gap = 1e-4;
  // The inside of one link rests on the inside of the next, which is turned by a right angle.
  const double pitch = 2.0 * (half_length - radius) - gap;
  mjcf::Model model({.name = "fclib-chain", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  for (const Geom& side : link_sides(half_length, half_width, radius, 0.0)) model.scenery(side);
  for (long i = 1; i < o.links; ++i) {
    const auto orientation = mjcf::turn(double(i % 2) * std::numbers::pi / 2, Vec3::UnitZ());
    model.open_body("link" + std::to_string(i + 1),
                    {.position = {0.0, 0.0, -double(i) * pitch}, .orientation = orientation});
    // The speed grows linearly down the chain, as of a rigid pendulum.
    const double share = double(i) / double(o.links - 1);
    const Vec3 angular(0.0, -o.speed / (pitch * double(o.links - 1)), 0.0);
    model.free({.linear = {o.speed * share, 0.0, 0.0}, .angular = orientation.conjugate() * angular});
    for (const Geom& side : link_sides(half_length, half_width, radius, o.mass)) model.geom(side);
    model.close_body();
  }
  return simulated(model, dt, 1000, "none");
}

struct KaplaOptions {
  long floors = 11;
  long per_floor = 12;
  double gap = 0.001;
  double shake = 0.1;
  double friction = 0.7;

  static void declare(OptionBinder& bind, KaplaOptions& o) {
    declare_count(bind, "floors", o.floors, 200, "of the round tower");
    bind.integer("per_floor", o.per_floor, {.minimum = 8, .maximum = 100, .doc = "planks around the tower"});
    declare_length(bind, "gap", o.gap, "under each floor at the start");
    bind.real(
        "shake", o.shake,
        {.minimum = 0, .maximum = 10, .unit = "m/s", .doc = "random level speed of each plank at the start, at most"});
    declare_friction(bind, o.friction);
  }
};

/// FCLIB's Kapla tower: 132 planks in eleven round floors of twelve, each plank across a gap of the floor below; 72
/// dofs and 48 contacts with one floor down, 792 dofs and up to 933 contacts in the end.
Result<SimulatedModel> make_kapla(const KaplaOptions& o, std::uint64_t seed) {
  const double dt = 0.002;
  const Vec3 half(0.0589, 0.0118, 0.0039);  // a real plank: 117.8 × 23.6 × 7.8 mm, 13 g
  const double mass = 0.013;
  RandomSource random(seed);
  mjcf::Model model({.name = "fclib-kapla-tower",
                     .time_step = dt,
                     .surface = {.friction = o.friction, .margin = 0.0002},
                     .contacts = 20 * o.floors * o.per_floor});
  model.scenery(Geom::plane());
  const double pitch = 2.0 * std::numbers::pi / double(o.per_floor);
  // So wide that the inner corners of neighbours in a floor stay 1 cm apart.
  const double radius = half.y() + (half.x() + 0.005) / std::tan(pitch / 2);
  for (long floor = 0; floor < o.floors; ++floor) {
    for (long i = 0; i < o.per_floor; ++i) {
      const double angle = pitch * (double(i) + 0.5 * double(floor % 2));
      const auto turned = mjcf::turn(angle, Vec3::UnitZ());
      const Vec3 position =
          turned * Vec3(0.0, radius, (2.0 * double(floor) + 1.0) * half.z() + double(floor + 1) * o.gap);
      const double vx = random.uniform(-o.shake, o.shake);
      const double vy = random.uniform(-o.shake, o.shake);
      model.open_body("plank" + std::to_string(floor * o.per_floor + i + 1),
                      {.position = position, .orientation = turned});
      model.free({.linear = {vx, vy, 0.0}});
      model.geom(Geom::box(half).mass(mass));
      model.close_body();
    }
  }
  return simulated(model, dt, 400, "none");
}

}  // namespace

SimulatedSceneRow fclib_chain_scene() {
  return make_simulated_scene<ChainOptions>("fclib-chain", "interlocking links, held by contacts alone (FCLIB)",
                                            make_chain);
}

SimulatedSceneRow fclib_kapla_tower_scene() {
  return make_simulated_scene<KaplaOptions>("fclib-kapla-tower", "round tower of planks (FCLIB)", make_kapla);
}

}  // namespace conebench
