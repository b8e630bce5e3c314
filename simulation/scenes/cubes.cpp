#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

void add_cube(mjcf::Model& model, const std::string& name, const Vec3& position, double edge, double mass,
              const mjcf::Twist& velocity = {}) {
  model.open_body(name, {.position = position});
  model.free(velocity);
  model.geom(Geom::box(Vec3::Constant(edge / 2)).mass(mass));
  model.close_body();
}

struct CubeStackHitOptions {
  long cubes = 15;
  double mass_ratio = 1e4;
  std::string order = "heavy_up";
  std::string layout = "column";
  double edge = 0.2;
  double ball_mass = 1e3;
  double speed = 5.0;
  double friction = 0.5;

  static void declare(OptionBinder& bind, CubeStackHitOptions& o) {
    declare_count(bind, "cubes", o.cubes, 200, "in the stack");
    declare_mass_ratio(bind, o.mass_ratio, "of the heaviest cube to the lightest, which has 1 kg; geometric between");
    bind.choice("order", o.order, {"heavy_up", "heavy_down", "shuffled"}, "masses in the stack; shuffled by the seed");
    bind.choice("layout", o.layout, {"column", "wall"}, "one on the other, or a wall of rows, each a cube shorter");
    bind.real("edge", o.edge, {.minimum = 0.01, .maximum = 10, .unit = "m", .doc = "of the cubes"});
    bind.real("ball_mass", o.ball_mass, {.minimum = 1e-3, .maximum = 1e6, .unit = "kg", .doc = "of the ball"});
    declare_speed(bind, "speed", o.speed, "of the ball at the start");
    declare_friction(bind, o.friction);
  }
};

/// Where each cube's centre is, from the bottom up: in a column, or in a wall across the ball's way (15 cubes: rows of
/// 5, 4, 3, 2, 1) whose neighbours stand a twentieth of an edge apart.
std::vector<Vec3> stacked(long cubes, const std::string& layout, double edge) {
  std::vector<Vec3> centres;
  long in_row = 1;
  while (layout == "wall" && in_row * (in_row + 1) / 2 < cubes) ++in_row;
  for (long row = 0; std::ssize(centres) < cubes; ++row) {
    const long wide = std::min(in_row, cubes - std::ssize(centres));
    for (long k = 0; k < wide; ++k) {
      centres.emplace_back(0.0, 1.05 * edge * (double(k) - 0.5 * double(in_row - 1)), (double(row) + 0.5) * edge);
    }
    in_row = std::max(1L, in_row - 1);
  }
  return centres;
}

/// Carpentier24 Fig. 1 and Sec. V-A: a stack of cubes of 1 to 1e4 kg is hit by a ball of 1e3 kg, around 60 contacts.
Result<SimulatedModel> make_cube_stack_hit(const CubeStackHitOptions& o, std::uint64_t seed) {
  const double dt = 0.001;
  const auto count = static_cast<std::size_t>(o.cubes);
  std::vector<std::size_t> rank(count);
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  if (o.order == "heavy_down") rank.assign(rank.rbegin(), rank.rend());
  if (o.order == "shuffled") RandomSource(seed).shuffle(rank);
  mjcf::Model model({.name = "cube-stack-hit", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  const std::vector<Vec3> centres = stacked(o.cubes, o.layout, o.edge);
  for (std::size_t i = 0; i < count; ++i) {
    const double mass = geometric_mass(o.mass_ratio, static_cast<long>(rank[i]), o.cubes);
    add_cube(model, "cube" + std::to_string(i + 1), centres[i], o.edge, mass);
  }
  const double radius = 0.75 * o.edge;
  const double height = 0.5 * (centres.back()[2] + 0.5 * o.edge);
  model.open_body("ball", {.position = {-(o.edge / 2 + radius + 0.05 * std::abs(o.speed)), 0.0, height}});
  model.free({.linear = {o.speed, 0.0, 0.5}});
  model.geom(Geom::sphere(radius).mass(o.ball_mass));
  model.close_body();
  return simulated(model, dt, 500, "none");
}

struct TwoCubesOptions {
  double mass = 1.0;
  double mass_ratio = 1e3;
  double edge = 0.2;
  double friction = 0.4;
  double speed = 0.5;

  static void declare(OptionBinder& bind, TwoCubesOptions& o) {
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of the lower cube"});
    declare_mass_ratio(bind, o.mass_ratio, "of the upper cube to the lower");
    bind.real("edge", o.edge, {.minimum = 0.01, .maximum = 10, .unit = "m", .doc = "of the cubes"});
    declare_friction(bind, o.friction);
    declare_speed(bind, "speed", o.speed, "of the upper cube along x at the start");
  }
};

/// LeLidec24 Fig. 13: a heavy cube on a light one. The upper one slides at first.
Result<SimulatedModel> make_two_cubes(const TwoCubesOptions& o, std::uint64_t) {
  const double dt = 0.001;
  mjcf::Model model({.name = "two-cubes", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  add_cube(model, "lower", {0.0, 0.0, 0.5 * o.edge}, o.edge, o.mass);
  add_cube(model, "upper", {0.0, 0.0, 1.5 * o.edge}, o.edge, o.mass * o.mass_ratio, {.linear = {o.speed, 0.0, 0.0}});
  return simulated(model, dt, 500, "none");
}

struct CubeOptions {
  double mass = 1.0;
  double edge = 0.2;
  double friction = 0.4;
  double speed = 0.0;
  double force_rate = 0.0;
  double direction = 0.0;

  static void declare_common(OptionBinder& bind, CubeOptions& o) {
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of the cube"});
    bind.real("edge", o.edge, {.minimum = 0.01, .maximum = 10, .unit = "m", .doc = "of the cube"});
    declare_friction(bind, o.friction);
  }
  static void declare_direction(OptionBinder& bind, CubeOptions& o, const std::string& of) {
    bind.real(
        "direction", o.direction,
        {.minimum = -360, .maximum = 360, .unit = "deg", .doc = of + ", from the x axis; the cube is not turned"});
  }
};

struct CubeSlidingOptions : CubeOptions {
  static void declare(OptionBinder& bind, CubeSlidingOptions& o) {
    declare_common(bind, o);
    o.speed = 2.0;
    declare_speed(bind, "speed", o.speed, "along the direction at the start");
    declare_direction(bind, o, "of the speed");
  }
};

struct CubeDraggedOptions : CubeOptions {
  static void declare(OptionBinder& bind, CubeDraggedOptions& o) {
    declare_common(bind, o);
    o.force_rate = 20.0;
    bind.real("force_rate", o.force_rate, {.minimum = 0, .maximum = 1e6, .unit = "N/s", .doc = "growth of the force"});
    declare_direction(bind, o, "of the force");
  }
};

Result<SimulatedModel> cube_on_plane(const std::string& name, const CubeOptions& o) {
  const double dt = 0.001;
  const double angle = o.direction * std::numbers::pi / 180.0;
  const Vec3 along(std::cos(angle), std::sin(angle), 0.0);
  mjcf::Model model({.name = name, .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001}});
  model.scenery(Geom::plane());
  model.open_body("cube", {.position = {0.0, 0.0, o.edge / 2}});
  model.free({.linear = o.speed * along});
  model.geom(Geom::box(Vec3::Constant(o.edge / 2)).mass(o.mass));
  if (o.force_rate > 0.0) model.push(o.force_rate, true, along);
  model.close_body();
  return simulated(model, dt, 1000, o.force_rate > 0.0 ? "hold" : "none");
}

/// LeLidec24 Figs. 9 and 10: the cube stops after v²/(2 μ g), on a straight line.
Result<SimulatedModel> make_cube_sliding(const CubeSlidingOptions& o, std::uint64_t) {
  return cube_on_plane("cube-sliding", o);
}

/// LeLidec24 Figs. 11 and 12: a force that grows by 20 N/s drags 1 kg with friction 0.4; it sticks until μ m g / rate.
Result<SimulatedModel> make_cube_dragged(const CubeDraggedOptions& o, std::uint64_t) {
  return cube_on_plane("cube-dragged", o);
}

}  // namespace

SimulatedSceneRow cube_stack_hit_scene() {
  return make_simulated_scene<CubeStackHitOptions>(
      "cube-stack-hit", "stack of cubes of very different masses, hit by a ball (Carpentier24)", make_cube_stack_hit);
}

SimulatedSceneRow two_cubes_scene() {
  return make_simulated_scene<TwoCubesOptions>("two-cubes", "a cube on a lighter or heavier one (LeLidec24)",
                                               make_two_cubes);
}

SimulatedSceneRow cube_sliding_scene() {
  return make_simulated_scene<CubeSlidingOptions>("cube-sliding", "cube that slides to a stop (LeLidec24)",
                                                  make_cube_sliding);
}

SimulatedSceneRow cube_dragged_scene() {
  return make_simulated_scene<CubeDraggedOptions>("cube-dragged", "cube dragged by a growing force (LeLidec24)",
                                                  make_cube_dragged);
}

}  // namespace conebench
