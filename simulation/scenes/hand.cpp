#include <cmath>

#include "simulation/scenes/robot_scenes.hpp"
#include "simulation/scenes/scene_parts.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

namespace {

struct HandOptions {
  std::string object = "cubes";
  long cubes = 3;
  double edge = 0.035;
  double diameter = 0.07;
  double mass = 0.05;
  double mass_ratio = 1.0;
  double friction = 0.5;
  double curl = 0.5;
  double amplitude = 0.4;

  static void declare(OptionBinder& bind, HandOptions& o) {
    bind.choice("object", o.object, {"cubes", "ball"}, "what falls into the hand");
    declare_count(bind, "cubes", o.cubes, 20, "stacked on the palm");
    bind.real("edge", o.edge, {.minimum = 0.01, .maximum = 0.08, .unit = "m", .doc = "of a cube"});
    bind.real("diameter", o.diameter, {.minimum = 0.01, .maximum = 0.09, .unit = "m", .doc = "of the ball"});
    bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e3, .unit = "kg", .doc = "of the lowest cube or the ball"});
    declare_mass_ratio(bind, o.mass_ratio, "of the top cube to the lowest; geometric between");
    declare_friction(bind, o.friction);
    bind.real("curl", o.curl,
              {.minimum = 0, .maximum = 1.2, .unit = "rad", .doc = "of each flexing joint at the start"});
    bind.real("amplitude", o.amplitude, {.minimum = 0, .maximum = 1, .unit = "rad", .doc = "of the fingers' sines"});
  }
};

/// Four fingers of four hinges about a palm that looks up.
Figure hand(double curl, double amplitude) {
  Figure figure;
  figure.fixed = true;
  figure.half_sizes = {0.05, 0.05, 0.012};
  figure.lightest = 0.02;
  figure.base_weight = 20.0;
  figure.carried = 8.0;
  figure.rate = 25.0;
  figure.frequency = 1.0;
  const auto finger = [&](const std::string& name, const Vec3& root, double away) {
    Limb limb{.name = name, .root = root, .direction = {away, 0.0, 0.0}};
    limb.segments.push_back(
        {.axis = Vec3::UnitZ(), .length = 0.012, .radius = 0.009, .touches = false, .lower = -0.4, .upper = 0.4});
    for (const double length : {0.045, 0.035, 0.03}) {
      limb.segments.push_back({.axis = {0.0, -away, 0.0},
                               .length = length,
                               .radius = 0.009,
                               .weight = 40.0 * length,
                               .start = curl,
                               .press = 0.8,
                               .amplitude = amplitude,
                               .phase = 50.0 * root.y(),
                               .lower = -0.2,
                               .upper = 1.7});
    }
    figure.limbs.push_back(limb);
  };
  finger("index", {0.055, 0.032, 0.0}, 1.0);
  finger("middle", {0.055, 0.0, 0.0}, 1.0);
  finger("ring", {0.055, -0.032, 0.0}, 1.0);
  finger("thumb", {-0.055, 0.0, 0.0}, -1.0);
  return figure;
}

/// Carpentier24's and LeLidec24's hand with 16 joints (of the Allegro's kind), holding a stack of cubes or catching a
/// ball.
Result<SimulatedModel> make_hand(const HandOptions& o, std::uint64_t) {
  const double dt = 0.001;
  const Figure figure = hand(o.curl, o.amplitude);
  mjcf::Model model({.name = "hand", .time_step = dt, .surface = {.friction = o.friction, .margin = 0.0005}});
  add_figure(model, figure, {.position = {0.0, 0.0, 0.3}});
  const double palm = 0.3 + figure.half_sizes.z();
  const bool ball = o.object == "ball";
  const long objects = ball ? 1 : o.cubes;
  const double size = ball ? o.diameter : o.edge;
  for (long i = 0; i < objects; ++i) {
    const double gap = ball ? 0.03 : 0.0005 * double(i + 1);
    model.open_body(o.object + std::to_string(i + 1), {.position = {0.0, 0.0, palm + gap + (double(i) + 0.5) * size}});
    model.free();
    const Geom shape = ball ? Geom::sphere(size / 2) : Geom::box(Vec3::Constant(size / 2));
    model.geom(Geom(shape).mass(o.mass * geometric_mass(o.mass_ratio, i, objects)));
    model.close_body();
  }
  return simulated(model, dt, 1000, "sine");
}

}  // namespace

SimulatedSceneRow hand_scene() {
  return make_simulated_scene<HandOptions>(
      "hand", "16-joint hand holding cubes or catching a ball (Carpentier24, LeLidec24)", make_hand);
}

}  // namespace conebench
