#include "problems/scenes/simulated/scene_parts.hpp"

#include <array>
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
  if (!model.start_fits()) {
    return Error{
        ErrorCode::wrong_usage,
        "too many bodies for a start with velocities: MuJoCo reads 1000 numbers; fewer bodies, or none moving"};
  }
  SimulatedModel scene;
  scene.mjcf = model.text();
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
  const int points = cells + 1;
  std::vector<double> height(static_cast<std::size_t>(points * points));
  for (double& h : height) h = random.uniform(-roughness, 0.0);
  const auto corner = [&](int i, int j) {
    return Vec3((i - cells / 2.0) * cell, (j - cells / 2.0) * cell, height[static_cast<std::size_t>(i * points + j)]);
  };
  const double bottom = -2.0 * roughness - cell;
  const auto prism = [&](const std::array<Vec3, 3>& top) {
    std::vector<Vec3> hull(top.begin(), top.end());
    for (const Vec3& p : top) hull.emplace_back(p.x(), p.y(), bottom);
    model.scenery(Geom::convex(model.convex_mesh(hull)));
  };
  for (int i = 0; i < cells; ++i) {
    for (int j = 0; j < cells; ++j) {
      prism({corner(i, j), corner(i + 1, j), corner(i, j + 1)});
      prism({corner(i + 1, j + 1), corner(i, j + 1), corner(i + 1, j)});
    }
  }
  model.scenery(Geom::plane().at({0.0, 0.0, -roughness}));
}

double geometric_mass(double mass_ratio, long i, long count) {
  return count > 1 ? std::pow(mass_ratio, double(i) / double(count - 1)) : 1.0;
}

}  // namespace conebench
