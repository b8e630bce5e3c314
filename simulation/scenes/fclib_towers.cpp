#include <array>
#include <cmath>
#include <numbers>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

struct ChainOptions {
  long links = 11;
  double mass = 1.0;
  double speed = 3.0;
  double slack = 0.002;
  std::string bars = "square";
  double friction = 0.3;

  static void declare(OptionBinder& bind, ChainOptions& o) {
    declare_count(bind, "links", o.links, 500, "the first one is fixed to the world");
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of each link"});
    declare_speed(bind, "speed", o.speed, "of the last link along x at the start");
    bind.real("slack", o.slack,
              {.minimum = 0, .maximum = 0.1, .unit = "m", .doc = "in each pair of links at the start"});
    bind.choice("bars", o.bars, {"square", "round"}, "of the links: patches of four contacts, or single ones");
    declare_friction(bind, o.friction);
  }
};

/// The four sides of a link about a rectangle in the xz plane, the outer one of this half length and width.
std::array<Geom, 4> link_sides(bool square, double half_length, double half_width, double half_bar, double mass) {
  const Vec3 upright(half_bar, half_bar, half_length);
  const Vec3 level(half_width - 2.0 * half_bar, half_bar, half_bar);
  const double share = upright.z() / (2.0 * (upright.z() + level.x()));  // of the mass, by length
  const Vec3 aside(half_width - half_bar, 0.0, 0.0);
  const Vec3 above(0.0, 0.0, half_length - half_bar);
  const auto bar = [&](const Vec3& half, const Vec3& position, double part) {
    const Vec3 reach = half.z() > half.x() ? Vec3(above) : Vec3(aside);  // round bars meet in their ends
    Geom geom = square ? Geom::box(half).at(position) : Geom::capsule(position - reach, position + reach, half_bar);
    return geom.mass(part * mass);
  };
  return {bar(upright, aside, share), bar(upright, -aside, share), bar(level, above, 0.5 - share),
          bar(level, -above, 0.5 - share)};
}

/// FCLIB's Chain: eleven interlocking links of 1 kg hang from the first, the tip is given a velocity; no joints,
/// contacts hold the chain: 48 to 60 dofs, 8 to 28 contacts (Carpentier24 Table II).
Result<SimulatedModel> make_chain(const ChainOptions& o, std::uint64_t) {
  const double dt = 0.001;
  const double half_bar = 0.015;
  const double half_length = 0.15;
  const double half_width = 0.08;
  const bool square = o.bars == "square";
  // The inside of one link's end rests on that of the next, which is turned by a right angle.
  const double pitch = 2.0 * half_length - 4.0 * half_bar - o.slack;
  mjcf::Model model({.name = "fclib-chain", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.0003}});
  for (const Geom& side : link_sides(square, half_length, half_width, half_bar, 0.0)) model.scenery(side);
  for (long i = 1; i < o.links; ++i) {
    const auto orientation = mjcf::turn(double(i % 2) * std::numbers::pi / 2, Vec3::UnitZ());
    model.open_body("link" + std::to_string(i + 1),
                    {.position = {0.0, 0.0, -double(i) * pitch}, .orientation = orientation});
    // The speed grows linearly down the chain, as of a rigid pendulum.
    const double share = double(i) / double(o.links - 1);
    const Vec3 angular(0.0, -o.speed / (pitch * double(o.links - 1)), 0.0);
    model.free({.linear = {o.speed * share, 0.0, 0.0}, .angular = orientation.conjugate() * angular});
    for (const Geom& side : link_sides(square, half_length, half_width, half_bar, o.mass)) model.geom(side);
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
  mjcf::Model model(
      {.name = "fclib-kapla-tower", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.0002}});
  model.scenery(Geom::plane());
  const double pitch = 2.0 * std::numbers::pi / double(o.per_floor);
  // So wide that the inner corners of neighbours in a floor stay 1 cm apart.
  const double outer = half.y() + (half.x() + 0.005) / std::tan(pitch / 2);
  for (long floor = 0; floor < o.floors; ++floor) {
    // Every other floor stands nearly half a plank's width further out: two planks that cross touch in a quadrilateral,
    // also when they have moved by 3 mm.
    const double radius = outer + (floor % 2 == 0 ? 0.0 : 0.9 * half.y());
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
  return simulated(model, dt, 200, "none");
}

}  // namespace

SimulatedSceneRow fclib_chain_scene() {
  return make_simulated_scene<ChainOptions>("fclib-chain", "interlocking links, held by contacts alone (FCLIB)",
                                            make_chain, fclib_loop(1e-6, 10));
}

SimulatedSceneRow fclib_kapla_tower_scene() {
  return make_simulated_scene<KaplaOptions>("fclib-kapla-tower", "round tower of planks (FCLIB)", make_kapla,
                                            fclib_loop(1e-4, 2));
}

}  // namespace conebench
