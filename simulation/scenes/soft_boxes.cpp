#include "simulation/scenes/soft_support.hpp"

namespace conebench {

namespace {

struct BoxOptions {
  double mass = 0.5;
  double edge = 0.2;
  double height = 0.2;
  double friction = 0.2;
  double across = -1.0;
  double push = 0.0;
  double speed_x = 0.0, speed_y = 0.0;
  double gravity = 9.81;
};

void declare_box(OptionBinder& bind, BoxOptions& o) {
  bind.real("mass", o.mass, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg", .doc = "of the box"});
  declare_size(bind, "edge", o.edge, "of the face it stands on");
  declare_size(bind, "height", o.height, "of the box");
  bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e3, .unit = "m/s^2", .doc = "downwards"});
}

/// A rigid box that touches the ground with its four lowest corners.
SimulatedModel box_on_corners(const BoxOptions& o) {
  SoftOptions options;
  options.gravity = o.gravity;
  SimulatedModel model = model_with(options);
  RigidBody box;
  box.name = "box";
  box.mass = o.mass;
  box.inertia = inertia_of_box(o.mass, {o.edge, o.edge, o.height});
  box.pose.position = {0.0, 0.0, 0.5 * o.height};
  box.velocity = {o.speed_x, o.speed_y, 0.0};
  box.force = {0.0, o.push, 0.0};
  for (const double x : {-0.5, 0.5}) {
    for (const double y : {-0.5, 0.5}) box.points.push_back({x * o.edge, y * o.edge, -0.5 * o.height});
  }
  model.soft->rigid.push_back(box);
  Shape ground = ground_of(o.friction);
  if (o.across >= 0.0) ground.across = o.across;
  model.soft->shapes.push_back(ground);
  // The box's sides are only drawn.
  Shape sides;
  sides.name = "box";
  sides.kind = Shape::Kind::box;
  sides.size = 0.5 * Eigen::Vector3d(o.edge, o.edge, o.height);
  sides.carrier = model.soft->rigid_number(0);
  model.soft->shapes.push_back(sides);
  model.steps = 100;
  return model;
}

struct BoxPenaltyOptions : BoxOptions {
  BoxPenaltyOptions() { push = 2.0; }
  static void declare(OptionBinder& bind, BoxPenaltyOptions& o) {
    declare_box(bind, o);
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "with the ground"});
    bind.real("push", o.push, {.minimum = -1e6, .maximum = 1e6, .unit = "N", .doc = "along y at its centre"});
  }
};

struct BoxAnisotropicOptions : BoxOptions {
  BoxAnisotropicOptions() {
    friction = 0.1;
    across = 0.4;
    speed_x = speed_y = 1.0;
  }
  static void declare(OptionBinder& bind, BoxAnisotropicOptions& o) {
    declare_box(bind, o);
    bind.real("friction_x", o.friction, {.minimum = 1e-6, .maximum = 1e3, .doc = "with the ground along x"});
    bind.real("friction_y", o.across, {.minimum = 1e-6, .maximum = 1e3, .doc = "along y: an ellipse of friction"});
    bind.real("speed_x", o.speed_x, {.minimum = -1e3, .maximum = 1e3, .unit = "m/s", .doc = "along x at the start"});
    bind.real("speed_y", o.speed_y, {.minimum = -1e3, .maximum = 1e3, .unit = "m/s", .doc = "along y at the start"});
  }
};

Result<SimulatedModel> make_box_penalty(const BoxPenaltyOptions& o, std::uint64_t) { return box_on_corners(o); }
Result<SimulatedModel> make_box_anisotropic(const BoxAnisotropicOptions& o, std::uint64_t) { return box_on_corners(o); }

}  // namespace

SimulatedSceneRow box_penalty_scene() {
  return elastic(make_simulated_scene<BoxPenaltyOptions>(
      "box-penalty", "rigid box on four corners that a force pushes over the ground (Lee23 V-B)", make_box_penalty,
      {{"baumgarte_contacts", 0.0}, {"solver", std::string("CASCADE")}}));
}

SimulatedSceneRow box_anisotropic_scene() {
  return elastic(make_simulated_scene<BoxAnisotropicOptions>(
      "box-anisotropic", "rigid box that slides on ground with an ellipse of friction (Lee23 V-G)",
      make_box_anisotropic, {{"solver", std::string("CASCADE")}}));
}

}  // namespace conebench
