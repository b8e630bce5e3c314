#include "simulation/scenes/scene_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace conebench {

using mjcf::Geom;
using mjcf::Vec3;

void declare_friction(OptionBinder& bind, double& friction) {
  bind.real("friction", friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
}

void declare_restitution(OptionBinder& bind, double& restitution) {
  bind.real("restitution", restitution, {.minimum = 0, .maximum = 1, .doc = "of all contacts, Newton's"});
}

void declare_mass_ratio(OptionBinder& bind, double& ratio, const std::string& doc) {
  bind.real("mass_ratio", ratio, {.minimum = 1e-9, .maximum = 1e9, .scale = OptionScale::logarithmic, .doc = doc});
}

void declare_speed(OptionBinder& bind, const std::string& name, double& speed, const std::string& doc) {
  bind.real(name, speed, {.minimum = -1e3, .maximum = 1e3, .unit = "m/s", .doc = doc});
}

void declare_length(OptionBinder& bind, const std::string& name, double& length, const std::string& doc) {
  bind.real(name, length, {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = doc});
}

void declare_count(OptionBinder& bind, const std::string& name, long& count, long maximum, const std::string& doc) {
  bind.integer(name, count, {.minimum = 1, .maximum = double(maximum), .doc = doc});
}

OptionValues fclib_loop(double tolerance, long every) {
  return {{"solver", std::string("CASCADE")}, {"tolerance", tolerance}, {"max_iterations", 5000L}, {"every", every}};
}

Result<SimulatedModel> simulated(const mjcf::Model& model, double time_step, Index steps, const std::string& control) {
  SimulatedModel scene;
  scene.mjcf = model.text();
  scene.files = model.files();
  scene.time_step = time_step;
  scene.steps = steps;
  scene.control = control;
  return scene;
}

mjcf::Quat random_orientation(RandomSource& random) {
  // Four normal numbers have no preferred direction; the order of evaluation is fixed by the statements.
  const double w = random.normal();
  const double x = random.normal();
  const double y = random.normal();
  const double z = random.normal();
  return mjcf::Quat(w, x, y, z).normalized();
}

void add_container(mjcf::Model& model, double half_width) {
  model.scenery(Geom::plane());
  for (const double side : {-1.0, 1.0}) {
    // A plane's normal is its z axis; it must look inwards.
    model.scenery(Geom::plane()
                      .at({side * half_width, 0.0, 0.0})
                      .turned(mjcf::turn(-side * std::numbers::pi / 2, Vec3::UnitY())));
    model.scenery(
        Geom::plane().at({0.0, side * half_width, 0.0}).turned(mjcf::turn(side * std::numbers::pi / 2, Vec3::UnitX())));
  }
}

void add_bumpy_ground(mjcf::Model& model, int cells, double cell, double roughness, RandomSource& random) {
  constexpr double flat = 1e-6;           // [m]
  constexpr double below_valleys = 0.05;  // [m]
  if (roughness < flat) {
    model.scenery(Geom::plane());
    return;
  }
  model.scenery(Geom::plane().at({0.0, 0.0, -roughness - below_valleys}));
  const int points = cells + 1;
  const double half = 0.5 * cells * cell;
  // Deep: MuJoCo looks from a prism's centre towards a foot, and that way must leave through the top, not a side.
  mjcf::HeightField field{
      .rows = points, .columns = points, .half_width_x = half, .half_width_y = half, .base = 2.0 * half};
  for (int i = 0; i < points * points; ++i) field.elevations.push_back(float(random.uniform(-roughness, 0.0)));
  const double lowest = *std::min_element(field.elevations.begin(), field.elevations.end());
  model.scenery(Geom::height_field(model.height_field(field)).at({0.0, 0.0, lowest}));
}

double geometric_mass(double mass_ratio, long i, long count) {
  return count > 1 ? std::pow(mass_ratio, double(i) / double(count - 1)) : 1.0;
}

}  // namespace conebench
