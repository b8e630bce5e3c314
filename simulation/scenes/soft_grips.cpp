#include <cmath>
#include <numbers>

#include "scenes/mesh_options.hpp"
#include "simulation/scenes/soft_support.hpp"

namespace conebench {

namespace {

struct SoftBallGripOptions : SoftOptions, MeshOptions {
  long cells = 10;
  double radius = 0.04;
  double force = 10.0;
  double closing_speed = 0.05;
  double close_duration = 0.5;
  double lift = 0.1;
  double lift_duration = 1.0;
  bool random = false;

  SoftBallGripOptions() {
    young = 1e6;
    friction = 0.5;
  }
  static void declare(OptionBinder& bind, SoftBallGripOptions& o) {
    declare_cells(bind, "cells", o.cells, "across the ball, six tetrahedra each");
    declare_size(bind, "radius", o.radius, "of the ball");
    bind.real("force", o.force, {.minimum = 0, .maximum = 1e6, .unit = "N", .doc = "that closes each jaw"});
    bind.real("closing_speed", o.closing_speed,
              {.minimum = 1e-6, .maximum = 1e3, .unit = "m/s", .doc = "of a jaw that touches nothing: its damper's"});
    declare_seconds(bind, "close_duration", o.close_duration, "before the gripper rises");
    bind.real("lift", o.lift, {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "how far it rises"});
    declare_seconds(bind, "lift_duration", o.lift_duration, "of the rise");
    declare_random(bind, o.random);
    MeshOptions::declare(bind, o);
    SoftOptions::declare(bind, o);
  }
};

/// Lee23 V-D: a gripper of six velocities, with two jaws that slide, lifts an elastic ball. Sizes are not published.
Result<SimulatedModel> make_soft_ball_grip(const SoftBallGripOptions& options, std::uint64_t seed) {
  SoftBallGripOptions o = options;
  if (o.random) draw(o, {.young = {5e5, 2e6}, .poisson = {0.3, 0.4}, .friction = {0.4, 0.6}}, seed);
  SimulatedModel model = model_with(o);
  SoftModel& soft = *model.soft;
  CONEBENCH_TRY(auto mesh, mesh_of(o, [&]() -> Result<TetrahedralMesh> { return ball_mesh(o.cells, o.radius); }));
  if (!o.mesh.empty()) {
    const MeshBox box = box_of(mesh);
    o.radius = 0.5 * box.size()[0];
    const Eigen::Vector3d centre(box.middle()[0], box.middle()[1], box.min[2] + o.radius);
    for (Eigen::Vector3d& node : mesh.nodes) node -= centre;
  }
  CONEBENCH_TRY(auto ball, body_of(o, std::move(mesh)));
  ball.name = "ball";
  const double base_height = 2.5 * o.radius;
  for (Index k = 2; k < ball.position.size(); k += 3) ball.position[k] += o.radius;
  soft.bodies.push_back(std::move(ball));

  RigidBody base;
  base.name = "gripper";
  base.mass = 0.5;
  base.inertia = inertia_of_box(base.mass, {0.1, 0.06, 0.04});
  base.pose.position = {0.0, 0.0, base_height};
  soft.rigid.push_back(base);
  const Eigen::Vector3d pad(0.01, 0.75 * o.radius, 0.75 * o.radius);
  constexpr double play = 0.02;
  for (const double side : {-1.0, 1.0}) {
    RigidBody jaw;
    jaw.name = side < 0.0 ? "left" : "right";
    jaw.mass = 0.1;
    jaw.inertia = inertia_of_box(jaw.mass, 2.0 * pad);
    jaw.pose.position = {side * (o.radius + play + pad[0]), 0.0, o.radius};
    jaw.slide = Slide{.parent = 0, .axis = {-side, 0.0, 0.0}, .force = o.force, .damping = o.force / o.closing_speed};
    soft.rigid.push_back(jaw);
    Shape shape;
    shape.name = jaw.name + " pad";
    shape.kind = Shape::Kind::box;
    shape.size = pad;
    shape.carrier = soft.rigid_number(soft.rigid.size() - 1);
    shape.friction = o.friction;
    soft.shapes.push_back(shape);
  }
  Guide hand{.name = "hand", .pose = base.pose};
  hand.moves.push_back(
      {.from = o.close_duration, .until = o.close_duration + o.lift_duration, .by = {0.0, 0.0, o.lift}});
  soft.guides.push_back(hand);
  SpringJoint joint;
  joint.a = soft.guide_number(0);
  joint.b = soft.rigid_number(0);
  joint.at_a = joint.at_b = Eigen::Vector3d::Zero();
  joint.gain << 1e5, 1e5, 1e5, 1e3, 1e3, 1e3;
  soft.joints.push_back(joint);
  soft.shapes.push_back(ground_of(o.friction));
  model.steps = static_cast<Index>(std::lround((o.close_duration + o.lift_duration) / 0.01)) + 20;
  return model;
}

struct SoftGripperOptions : SoftOptions, MeshOptions {
  long nx = 8, ny = 12, nz = 20;
  double squeeze = 0.02;
  double lift = 0.1;
  double object_mass = 0.05;
  bool random = false;

  SoftGripperOptions() {
    density = 1070.0;
    young = 8.3e4;
    poisson = 0.42;
    friction = 2.1;
  }
  static void declare(OptionBinder& bind, SoftGripperOptions& o) {
    declare_cells(bind, "nx", o.nx, "through a finger, six tetrahedra each");
    declare_cells(bind, "ny", o.ny, "across it");
    declare_cells(bind, "nz", o.nz, "along it");
    bind.real("squeeze", o.squeeze,
              {.minimum = 0, .maximum = 1, .unit = "m", .doc = "how far the roots go on once the fingers touch"});
    bind.real("lift", o.lift, {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "how far they rise"});
    bind.real("object_mass", o.object_mass, {.minimum = 1e-6, .maximum = 1e3, .unit = "kg", .doc = "of the cylinder"});
    declare_random(bind, o.random);
    MeshOptions::declare(bind, o);
    SoftOptions::declare(bind, o);
  }
};

/// Lee23 V-F: two elastic fingers lift a rigid cylinder. Only the material and the numbers of nodes are published.
Result<SimulatedModel> make_soft_gripper(const SoftGripperOptions& options, std::uint64_t seed) {
  SoftGripperOptions o = options;
  if (o.random) draw(o, {.young = {5e4, 1e5}, .poisson = {0.4, 0.49}, .friction = {0.5, 2.1}}, seed);
  SimulatedModel model = model_with(o);
  SoftModel& soft = *model.soft;
  const double radius = 0.02, half_height = 0.03, play = 0.01, close = 0.5, lift_duration = 1.0;
  CONEBENCH_TRY(const auto mesh, block_of(o, o.nx, o.ny, o.nz, {0.02, 0.03, 0.1}));
  const Eigen::Vector3d finger = box_of(mesh).size();
  for (const double side : {-1.0, 1.0}) {
    CONEBENCH_TRY(auto body, body_of(o, mesh));
    body.name = side < 0.0 ? "left" : "right";
    Eigen::Vector3d corner(radius + play, -0.5 * finger[1], 0.01);
    if (side < 0.0) corner[0] = -corner[0] - finger[0];
    Tie tie;
    tie.body = static_cast<int>(soft.bodies.size());
    for (Index k = 0; k < body.position.size(); k += 3) {
      if (body.position[k + 2] > finger[2] * (1.0 - 1e-9)) tie.nodes.push_back(k / 3);
      body.position.segment<3>(k) += corner;
    }
    tie.guide = tie.body;
    tie.stiffness = 2e4 / double(tie.nodes.size());
    soft.bodies.push_back(std::move(body));
    soft.ties.push_back(tie);
    Guide root;
    root.name = side < 0.0 ? "left root" : "right root";
    root.pose.position = corner + Eigen::Vector3d(0.0, 0.0, finger[2]);
    root.moves.push_back({.until = close, .by = {-side * (play + o.squeeze), 0.0, 0.0}});
    root.moves.push_back({.from = close, .until = close + lift_duration, .by = {0.0, 0.0, o.lift}});
    soft.guides.push_back(root);
  }
  RigidBody object;
  object.name = "object";
  object.mass = o.object_mass;
  const double across = object.mass * (3.0 * radius * radius + 4.0 * half_height * half_height) / 12.0;
  object.inertia = {across, across, 0.5 * object.mass * radius * radius};
  object.pose.position = {0.0, 0.0, half_height};
  constexpr int rim = 8;
  for (int k = 0; k < rim; ++k) {
    const double a = 2.0 * std::numbers::pi * k / rim;
    object.points.push_back({radius * std::cos(a), radius * std::sin(a), -half_height});
  }
  soft.rigid.push_back(object);
  Shape shape;
  shape.name = "cylinder";
  shape.kind = Shape::Kind::cylinder;
  shape.size = {radius, half_height, 0.0};
  shape.carrier = soft.rigid_number(0);
  shape.friction = o.friction;
  soft.shapes.push_back(shape);
  soft.shapes.push_back(ground_of(0.5));
  model.steps = 170;
  return model;
}

}  // namespace

SimulatedSceneRow soft_ball_grip_scene() {
  return elastic(make_simulated_scene<SoftBallGripOptions>(
      "soft-ball-grip", "gripper with two sliding jaws that lifts an elastic ball (Lee23)", make_soft_ball_grip));
}

SimulatedSceneRow soft_gripper_scene() {
  return elastic(make_simulated_scene<SoftGripperOptions>(
      "soft-gripper", "two elastic fingers that lift a rigid cylinder (Lee23)", make_soft_gripper));
}

}  // namespace conebench
