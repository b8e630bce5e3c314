#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

std::string numbered(const char* what, long i) { return what + std::to_string(i + 1); }

/// In (−1, 1)², by two statements: the order of evaluation is fixed.
Vec3 random_level(RandomSource& random) {
  const double x = random.uniform(-1.0, 1.0);
  const double y = random.uniform(-1.0, 1.0);
  return {x, y, 0.0};
}

struct BoxesStackOptions {
  long boxes = 50;
  double mass = 1.0;
  double edge = 2.0;
  double gap = 0.02;
  double jitter = 0.02;
  double friction = 0.7;

  static void declare(OptionBinder& bind, BoxesStackOptions& o) {
    declare_count(bind, "boxes", o.boxes, 1000, "one above the other");
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of each box"});
    bind.real("edge", o.edge, {.minimum = 0.01, .maximum = 1e3, .unit = "m", .doc = "of the boxes"});
    declare_length(bind, "gap", o.gap, "under each box at the start");
    declare_length(bind, "jitter", o.jitter, "random sideways shift of each box");
    declare_friction(bind, o.friction);
  }
};

/// FCLIB's BoxesStack: 50 boxes of 1 kg and 2 m land on each other, 6 to 300 dofs and up to 200 contacts (Carpentier24
/// Table II).
Result<SimulatedModel> make_boxes_stack(const BoxesStackOptions& o, std::uint64_t seed) {
  const double dt = 0.005;
  RandomSource random(seed);
  mjcf::Model model(
      {.name = "fclib-boxes-stack", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.001 * o.edge}});
  model.scenery(Geom::plane());
  const double half = o.edge / 2;
  for (long i = 0; i < o.boxes; ++i) {
    const Vec3 shift = o.jitter * random_level(random);
    model.open_body(numbered("box", i),
                    {.position = shift + Vec3(0.0, 0.0, (double(i) + 1.0) * o.gap + (2.0 * double(i) + 1.0) * half)});
    model.free();
    model.geom(Geom::box({half, half, half}).mass(o.mass));
    model.close_body();
  }
  return simulated(model, dt, 400, "none");
}

struct CapsulesOptions {
  long capsules = 100;
  double length = 5.0;
  double radius = 1.0;
  double half_width = 10.5;
  double friction = 0.7;

  static void declare(OptionBinder& bind, CapsulesOptions& o) {
    declare_count(bind, "capsules", o.capsules, 2000, "dropped");
    bind.real("length", o.length, {.minimum = 0.01, .maximum = 1e2, .unit = "m", .doc = "between the ends' centres"});
    bind.real("radius", o.radius, {.minimum = 0.001, .maximum = 1e2, .unit = "m", .doc = "of the capsules"});
    bind.real("half_width", o.half_width,
              {.minimum = 0.01, .maximum = 1e3, .unit = "m", .doc = "of the box they fall into"});
    declare_friction(bind, o.friction);
  }
};

/// FCLIB's Capsules: 100 capsules of 1 kg fall into a box, 300 and more contacts.
Result<SimulatedModel> make_capsules(const CapsulesOptions& o, std::uint64_t seed) {
  const double dt = 0.005;
  const double reach = o.length / 2 + o.radius;
  const long across = static_cast<long>(o.half_width / reach);
  if (across < 1)
    return Error{ErrorCode::wrong_usage, "no capsule fits: half_width must be at least length/2 + radius"};
  RandomSource random(seed);
  mjcf::Model model(
      {.name = "fclib-capsules", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.02 * o.radius}});
  add_container(model, o.half_width);
  const double cell = 2.0 * o.half_width / double(across);
  const double layer = 2.4 * o.radius;
  const double pitch = 0.15 * o.radius / (o.length / 2);  // leaves the layers apart
  for (long i = 0; i < o.capsules; ++i) {
    const long in_layer = i % (across * across);
    const Vec3 position((double(in_layer % across) + 0.5) * cell - o.half_width,
                        (double(in_layer / across) + 0.5) * cell - o.half_width,
                        1.2 * o.radius + layer * double(i / (across * across)));
    const double yaw = random.uniform(0.0, std::numbers::pi);
    const double lean = random.uniform(-pitch, pitch);
    model.open_body(
        numbered("capsule", i),
        {.position = position, .orientation = mjcf::turn(yaw, Vec3::UnitZ()) * mjcf::turn(lean, Vec3::UnitY())});
    model.free();
    model.geom(Geom::capsule({-o.length / 2, 0.0, 0.0}, {o.length / 2, 0.0, 0.0}, o.radius).mass(1.0));
    model.close_body();
  }
  return simulated(model, dt, 1600, "none");
}

struct SpheresOptions {
  long spheres = 150;
  double radius = 0.1;
  double spread = 0.2;
  double half_width = 0.5;
  double density = 1000.0;
  double friction = 0.5;
  double restitution = 0.0;

  static void declare(OptionBinder& bind, SpheresOptions& o) {
    declare_count(bind, "spheres", o.spheres, 5000, "dropped");
    bind.real("radius", o.radius, {.minimum = 1e-3, .maximum = 1e2, .unit = "m", .doc = "of the largest"});
    bind.real("spread", o.spread,
              {.minimum = 0, .maximum = 0.9, .doc = "radii are down to 1 − spread times the largest"});
    bind.real("half_width", o.half_width,
              {.minimum = 0.001, .maximum = 1e3, .unit = "m", .doc = "of the box they fall into"});
    bind.real("density", o.density, {.minimum = 1e-3, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the spheres"});
    declare_friction(bind, o.friction);
    declare_restitution(bind, o.restitution);
  }
};

/// FCLIB's spheres dropped into a box.
Result<SimulatedModel> make_spheres(const SpheresOptions& o, std::uint64_t seed) {
  const double dt = 0.002;
  const long across = static_cast<long>(o.half_width / (1.05 * o.radius));
  if (across < 1) return Error{ErrorCode::wrong_usage, "no sphere fits: half_width must be at least 1.05 radius"};
  RandomSource random(seed);
  mjcf::Model model({.name = "fclib-spheres",
                     .time_step = dt,
                     .surface = {.friction = o.friction, .restitution = o.restitution, .margin = 0.02 * o.radius}});
  add_container(model, o.half_width);
  const double cell = 2.0 * o.half_width / double(across);
  for (long i = 0; i < o.spheres; ++i) {
    const long in_layer = i % (across * across);
    const double radius = o.radius * random.uniform(1.0 - o.spread, 1.0);
    const Vec3 slack = (cell / 2 - radius) * random_level(random);
    const Vec3 position((double(in_layer % across) + 0.5) * cell - o.half_width,
                        (double(in_layer / across) + 0.5) * cell - o.half_width,
                        o.radius * (1.05 + 2.1 * double(i / (across * across))));
    model.open_body(numbered("sphere", i), {.position = position + slack});
    model.free();
    model.geom(Geom::sphere(radius).mass(o.density * 4.0 / 3.0 * std::numbers::pi * radius * radius * radius));
    model.close_body();
  }
  return simulated(model, dt, 800, "none");
}

struct ChuteOptions {
  long grains = 120;
  std::string shape = "blocks";
  double aspect = 5.0;
  double size = 0.1;
  double slope = 60.0;
  double half_width = 0.4;
  long layers = 4;
  double board = 0.4;
  double density = 2500.0;
  double friction = 1.0;

  static void declare(OptionBinder& bind, ChuteOptions& o) {
    declare_count(bind, "grains", o.grains, 20000, "polyhedra; 1000 make FCLIB's Chute_1000");
    bind.choice("shape", o.shape, {"blocks", "stones"},
                "square blocks, whose faces touch in up to 8 points, or random polyhedra of 20 faces");
    bind.real("aspect", o.aspect, {.minimum = 1, .maximum = 20, .doc = "length of the blocks over their width"});
    bind.real("size", o.size,
              {.minimum = 1e-3, .maximum = 1e2, .unit = "m", .doc = "radius of the sphere about a grain"});
    bind.real("slope", o.slope, {.minimum = 0, .maximum = 80, .unit = "deg", .doc = "of the chute"});
    bind.real("half_width", o.half_width, {.minimum = 1e-3, .maximum = 1e3, .unit = "m", .doc = "between its walls"});
    declare_count(bind, "layers", o.layers, 1000, "of the grains on the chute at the start");
    bind.real("board", o.board,
              {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "from the chute's foot to a stop board; 0: none"});
    bind.real("density", o.density,
              {.minimum = 1e-3,
               .maximum = 1e6,
               .unit = "kg/m^3",
               .doc = "of the grains; a stone has about half its sphere's volume"});
    declare_friction(bind, o.friction);
  }
};

/// Vertices of a random polyhedron: the corners of an icosahedron, each pulled in by up to a third, squeezed along z.
std::vector<Vec3> random_polyhedron(RandomSource& random, double radius) {
  const double golden = std::numbers::phi;
  std::vector<Vec3> vertices;
  for (const double a : {-1.0, 1.0}) {
    for (const double b : {-golden, golden}) {
      for (const Vec3& corner : {Vec3(0.0, a, b), Vec3(a, b, 0.0), Vec3(b, 0.0, a)}) {
        vertices.push_back(corner.normalized() * radius * random.uniform(0.67, 1.0));
      }
    }
  }
  for (Vec3& v : vertices) v.z() *= 0.75;
  return vertices;
}

/// Half the edges of a square block with its corners on a sphere, each edge varied by 5 %.
Vec3 random_block(RandomSource& random, double radius, double aspect) {
  Vec3 half(aspect, 1.0, 1.0);
  for (double& h : half) h *= random.uniform(0.95, 1.05);
  return half * radius / half.norm();
}

/// FCLIB's chute: polyhedra with friction 1 slide down a chute and pile up before a board; Chute_1000 has up to 5,000
/// contacts.
Result<SimulatedModel> make_chute(const ChuteOptions& o, std::uint64_t seed) {
  const double dt = 0.002;
  const double cell = 2.05 * o.size;
  const long across = static_cast<long>(2.0 * o.half_width / cell);
  if (across < 1) return Error{ErrorCode::wrong_usage, "no grain fits: half_width must be at least 1.025 size"};
  RandomSource random(seed);
  mjcf::Model model(
      {.name = "fclib-chute", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.02 * o.size}});
  const double slope = o.slope * std::numbers::pi / 180.0;
  const auto tilt = mjcf::turn(slope, Vec3::UnitY());
  model.scenery(Geom::plane());
  model.scenery(Geom::plane().turned(tilt));
  for (const double side : {-1.0, 1.0}) {
    model.scenery(Geom::plane()
                      .at({0.0, side * o.half_width, 0.0})
                      .turned(mjcf::turn(side * std::numbers::pi / 2, Vec3::UnitX())));
  }
  if (o.board > 0.0) {
    model.scenery(Geom::plane().at({o.board, 0.0, 0.0}).turned(mjcf::turn(-std::numbers::pi / 2, Vec3::UnitY())));
  }
  const bool blocks = o.shape == "blocks";
  std::vector<std::string> stones;
  for (int shape = 0; shape < 16 && !blocks; ++shape) {
    stones.push_back(model.convex_mesh(random_polyhedron(random, o.size)));
  }
  const double stone_volume = 0.5 * 4.0 / 3.0 * std::numbers::pi * o.size * o.size * o.size;
  // Layers along the chute, each begins further up than the one below: their lower ends stand above its foot.
  const double step = 2.0 * o.half_width / double(across);
  for (long i = 0; i < o.grains; ++i) {
    const long row = i / (across * o.layers);
    const double height = (double(i / across % o.layers) + 0.55) * cell;
    const Vec3 on_chute(-(double(row) + 1.0) * cell - height * std::tan(slope),
                        (double(i % across) + 0.5) * step - o.half_width, height);
    model.open_body(numbered("grain", i), {.position = tilt * on_chute, .orientation = random_orientation(random)});
    model.free();
    if (blocks) {
      const Vec3 half = random_block(random, o.size, o.aspect);
      model.geom(Geom::box(half).mass(o.density * 8.0 * half.prod()));
    } else {
      model.geom(Geom::convex(stones[random.below(stones.size())]).mass(o.density * stone_volume));
    }
    model.close_body();
  }
  return simulated(model, dt, 800, "none");
}

}  // namespace

SimulatedSceneRow fclib_boxes_stack_scene() {
  return make_simulated_scene<BoxesStackOptions>("fclib-boxes-stack",
                                                 "boxes that land on each other, one above the other (FCLIB)",
                                                 make_boxes_stack, fclib_loop(1e-6, 4));
}

SimulatedSceneRow fclib_capsules_scene() {
  return make_simulated_scene<CapsulesOptions>("fclib-capsules", "capsules dropped into a box (FCLIB)", make_capsules,
                                               fclib_loop(1e-6, 16));
}

SimulatedSceneRow fclib_spheres_scene() {
  return make_simulated_scene<SpheresOptions>("fclib-spheres", "spheres dropped into a box (FCLIB)", make_spheres,
                                              fclib_loop(1e-6, 8));
}

SimulatedSceneRow fclib_chute_scene() {
  return make_simulated_scene<ChuteOptions>("fclib-chute", "polyhedra sliding down a chute against a board (FCLIB)",
                                            make_chute, fclib_loop(1e-6, 8));
}

}  // namespace conebench
