#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenes/mesh_options.hpp"
#include "simulation/scenes/soft_support.hpp"

namespace conebench {

namespace {

/// A body on the ground.
Result<SimulatedModel> soft_scene(const SoftOptions& o, Result<TetrahedralMesh> mesh) {
  CONEBENCH_CHECK(mesh);
  SimulatedModel model = model_with(o);
  CONEBENCH_TRY(auto body, body_of(o, std::move(*mesh)));
  model.soft->bodies.push_back(std::move(body));
  model.soft->shapes.push_back(ground_of(o.friction));
  return model;
}

struct SoftDropOptions : SoftOptions, MeshOptions {
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
    MeshOptions::declare(bind, o);
    SoftOptions::declare(bind, o);
  }
};

/// An elastic cube that falls on an edge or a corner, slides, and comes to rest.
Result<SimulatedModel> make_soft_drop(const SoftDropOptions& o, std::uint64_t) {
  const auto cube = [&] { return block_of({}, o.nx, o.ny, o.nz, Eigen::Vector3d::Constant(o.edge)); };
  CONEBENCH_TRY(auto model, soft_scene(o, mesh_of(o, cube)));
  SoftBody& soft = model.soft->bodies[0];
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
  model.steps = 100;
  return model;
}

struct SoftMatOptions : SoftOptions, MeshOptions {
  long nx = 20, ny = 34, nz = 1;
  double width = 0.2;
  double length = 0.34;
  double thickness = 0.01;
  double grip_stiffness = 1e3;
  double grip_radius = 0.17;
  double grip_duration = 3.0;
  bool random = false;

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
    declare_random(bind, o.random);
    MeshOptions::declare(bind, o);
    SoftOptions::declare(bind, o);
  }
};

/// Lee23 V-C2: a mat one edge of which, the one with the largest y, is led over to the other, which folds it. Its size,
/// density and path are not published.
Result<SimulatedModel> make_soft_mat(const SoftMatOptions& options, std::uint64_t seed) {
  SoftMatOptions o = options;
  if (o.random) draw(o, {.young = {5e4, 1e5}, .poisson = {0.3, 0.4}, .friction = {0.1, 0.5}}, seed);
  CONEBENCH_TRY(auto model, soft_scene(o, block_of(o, o.nx, o.ny, o.nz, {o.width, o.length, o.thickness})));
  SoftModel& soft = *model.soft;
  const auto& nodes = soft.bodies[0].mesh.nodes;
  const Eigen::Vector3d size = box_of(soft.bodies[0].mesh).size();
  Tie tie;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k][1] > size[1] * (1.0 - 1e-9)) tie.nodes.push_back(Index(k));
  }
  tie.stiffness = o.grip_stiffness / double(tie.nodes.size());
  tie.until = o.grip_duration;
  Guide hand;
  hand.name = "hand";
  hand.pose.position = {0.5 * size[0], size[1], 0.0};
  hand.moves.push_back({.until = o.grip_duration,
                        .angle = std::numbers::pi,
                        .axis = Eigen::Vector3d::UnitX(),
                        .centre = {0.5 * size[0], size[1] - o.grip_radius, 0.0},
                        .turns = false});
  soft.guides.push_back(hand);
  soft.ties.push_back(tie);
  model.steps = 350;
  return model;
}

}  // namespace

SimulatedSceneRow soft_drop_scene() {
  return elastic(make_simulated_scene<SoftDropOptions>(
      "soft-drop", "elastic cube, or a mesh from a file, that falls on the ground, slides and stops", make_soft_drop));
}

SimulatedSceneRow soft_mat_scene() {
  return elastic(make_simulated_scene<SoftMatOptions>("soft-mat", "elastic mat that is folded by one edge (Lee23)",
                                                      make_soft_mat));
}

}  // namespace conebench
