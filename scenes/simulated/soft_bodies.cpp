#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenes/simulated/simulated_scenes.hpp"

namespace conebench {

namespace {

/// What both scenes have.
struct SoftOptions {
  double density = 1000.0;
  double young = 7.5e4;
  double poisson = 0.35;
  double mass_damping = 0.0;
  double stiffness_damping = 1e-3;
  double friction = 0.5;
  double gravity = 9.81;

  static void declare(OptionBinder& bind, SoftOptions& o) {
    bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the material"});
    bind.real("young", o.young,
              {.minimum = 1e-3,
               .maximum = 1e13,
               .unit = "N/m^2",
               .scale = OptionScale::logarithmic,
               .doc = "Young's modulus"});
    bind.real("poisson", o.poisson, {.minimum = 0, .maximum = 0.499, .doc = "Poisson's ratio"});
    bind.real("mass_damping", o.mass_damping,
              {.minimum = 0, .maximum = 1e6, .unit = "1/s", .doc = "alpha of D = alpha M + beta K"});
    bind.real("stiffness_damping", o.stiffness_damping,
              {.minimum = 0, .maximum = 1e3, .unit = "s", .doc = "beta of D = alpha M + beta K"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "with the ground"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e3, .unit = "m/s^2", .doc = "downwards"});
  }
};

void declare_cells(OptionBinder& bind, const char* name, long& field, const char* doc) {
  bind.integer(name, field, {.minimum = 1, .maximum = 500, .doc = doc});
}

void declare_size(OptionBinder& bind, const char* name, double& field, const char* doc) {
  bind.real(name, field, {.minimum = 1e-6, .maximum = 1e3, .unit = "m", .doc = doc});
}

constexpr double most_nodes = 2e5;

Result<SimulatedModel> soft_scene(const SoftOptions& o, long nx, long ny, long nz, const Eigen::Vector3d& size) {
  if (double(nx + 1) * double(ny + 1) * double(nz + 1) > most_nodes) {
    return Error{ErrorCode::wrong_usage, "options nx, ny, nz: more than 200000 nodes"};
  }
  SimulatedModel model;
  model.control = "none";
  SoftModel& soft = model.soft.emplace();
  soft.mesh = block_mesh(nx, ny, nz, size);
  soft.density = o.density;
  soft.young = o.young;
  soft.poisson = o.poisson;
  soft.mass_damping = o.mass_damping;
  soft.stiffness_damping = o.stiffness_damping;
  soft.friction = o.friction;
  soft.gravity = o.gravity;
  soft.position.resize(3 * Index(soft.mesh.nodes.size()));
  for (std::size_t k = 0; k < soft.mesh.nodes.size(); ++k) soft.position.segment<3>(3 * Index(k)) = soft.mesh.nodes[k];
  soft.velocity = Vector::Zero(soft.position.size());
  return model;
}

struct SoftDropOptions : SoftOptions {
  long nx = 4, ny = 4, nz = 4;
  double edge = 0.1;
  double height = 0.02;
  double tilt = 10.0;
  double speed = 0.5;

  static void declare(OptionBinder& bind, SoftDropOptions& o) {
    declare_cells(bind, "nx", o.nx, "cells along x, six tetrahedra each");
    declare_cells(bind, "ny", o.ny, "cells along y");
    declare_cells(bind, "nz", o.nz, "cells along z");
    declare_size(bind, "edge", o.edge, "of the cube");
    bind.real("height", o.height,
              {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "of its lowest point at the start"});
    bind.real("tilt", o.tilt, {.minimum = -180, .maximum = 180, .unit = "deg", .doc = "about (1, 1, 0)"});
    bind.real("speed", o.speed, {.minimum = -1e3, .maximum = 1e3, .unit = "m/s", .doc = "along x at the start"});
    SoftOptions::declare(bind, o);
  }
};

/// An elastic cube that falls on an edge or a corner, slides, and comes to rest.
Result<SimulatedModel> make_soft_drop(const SoftDropOptions& o, std::uint64_t) {
  auto model = soft_scene(o, o.nx, o.ny, o.nz, Eigen::Vector3d::Constant(o.edge));
  if (!model) return model;
  SoftModel& soft = *model->soft;
  const double angle = o.tilt * std::numbers::pi / 180.0, c = std::cos(angle), s = std::sin(angle) / std::sqrt(2.0);
  Eigen::Matrix3d turn;  // about (1, 1, 0)/√2
  turn << 0.5 * (1 + c), 0.5 * (1 - c), s, 0.5 * (1 - c), 0.5 * (1 + c), -s, -s, s, c;
  double lowest = 1e300;
  for (Index k = 0; k < soft.position.size(); k += 3) {
    soft.position.segment<3>(k) = (turn * soft.position.segment<3>(k)).eval();
    lowest = std::min(lowest, soft.position[k + 2]);
  }
  for (Index k = 0; k < soft.position.size(); k += 3) {
    soft.position[k + 2] += o.height - lowest;
    soft.velocity[k] = o.speed;
  }
  model->steps = 100;
  return model;
}

struct SoftMatOptions : SoftOptions {
  long nx = 20, ny = 34, nz = 1;
  double width = 0.2;
  double length = 0.34;
  double thickness = 0.01;
  double grip_stiffness = 1e3;
  double grip_radius = 0.17;
  double grip_duration = 3.0;

  static void declare(OptionBinder& bind, SoftMatOptions& o) {
    declare_cells(bind, "nx", o.nx, "cells along x, six tetrahedra each");
    declare_cells(bind, "ny", o.ny, "cells along y");
    declare_cells(bind, "nz", o.nz, "layers of cells");
    declare_size(bind, "width", o.width, "along x");
    declare_size(bind, "length", o.length, "along y");
    declare_size(bind, "thickness", o.thickness, "along z");
    bind.real("grip_stiffness", o.grip_stiffness,
              {.minimum = 0, .maximum = 1e9, .unit = "N/m", .doc = "of the springs between hand and held nodes"});
    declare_size(bind, "grip_radius", o.grip_radius, "of the half circle on which the edge is led over");
    bind.real("grip_duration", o.grip_duration,
              {.minimum = 1e-3, .maximum = 1e3, .unit = "s", .doc = "of the half circle; then the hand lets go"});
    SoftOptions::declare(bind, o);
  }
};

/// 003 V-C2: a mat one edge of which is led over to the other, which folds it. Its size, density and path are not
/// published.
Result<SimulatedModel> make_soft_mat(const SoftMatOptions& o, std::uint64_t) {
  auto model = soft_scene(o, o.nx, o.ny, o.nz, {o.width, o.length, o.thickness});
  if (!model) return model;
  SoftModel& soft = *model->soft;
  SoftGrip& grip = soft.grip.emplace();
  for (std::size_t k = 0; k < soft.mesh.nodes.size(); ++k) {
    if (soft.mesh.nodes[k][1] > o.length * (1.0 - 1e-9)) grip.nodes.push_back(Index(k));
  }
  grip.stiffness = o.grip_stiffness / double(grip.nodes.size());
  grip.radius = o.grip_radius;
  grip.duration = o.grip_duration;
  model->steps = 350;
  return model;
}

/// G of an elastic body is dense; a solver that works on nodes does without.
SimulatedSceneRow elastic(SimulatedSceneRow row) {
  row.elastic = true;
  row.loop = {{"form", std::string("factored")}, {"integrator", std::string("midpoint")},
              {"baumgarte_contacts", 1.0},       {"solver", std::string("COND-STRICT-S")},
              {"start", std::string("cold")},  // from the velocity before the step
              {"max_iterations", 20000L}};
  return row;
}

}  // namespace

SimulatedSceneRow soft_drop_scene() {
  return elastic(make_simulated_scene<SoftDropOptions>(
      "soft-drop", "elastic cube that falls on the ground, slides and stops", make_soft_drop));
}

SimulatedSceneRow soft_mat_scene() {
  return elastic(
      make_simulated_scene<SoftMatOptions>("soft-mat", "elastic mat that is folded by one edge (003)", make_soft_mat));
}

}  // namespace conebench
