#include <cmath>

#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct BoxStackOptions {
  long boxes = 5;
  double mass = 1.0;
  double mass_ratio = 1.0;
  double half_width = 0.5;
  double half_height = 0.5;
  double friction = 0.5;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, BoxStackOptions& o) {
    bind.integer("boxes", o.boxes, {.minimum = 1, .maximum = 10000, .doc = "boxes in the stack"});
    bind.real("mass", o.mass,
              {.minimum = 1e-9,
               .maximum = 1e9,
               .unit = "kg",
               .scale = OptionScale::logarithmic,
               .doc = "mass of the lowest box"});
    bind.real("mass_ratio", o.mass_ratio,
              {.minimum = 1e-9,
               .maximum = 1e9,
               .scale = OptionScale::logarithmic,
               .doc = "mass of the top box over that of the lowest; geometric between"});
    bind.real("half_width", o.half_width, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "in both directions"});
    bind.real("half_height", o.half_height, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "of each box"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    declare_form(bind, o.form);
  }
};

/// Boxes at rest on each other and on the ground, four contacts an interface (LeLidec24 Sec. IV; mass ratios of its
/// Fig. 13).
///
/// Closed form: everything stays at rest, σ = 0. The four normal impulses of an interface add up to Δt g times the mass
/// above, with no torque about either horizontal axis; the friction impulses of an interface add up to zero. λ is
/// therefore not unique; the reference is the symmetric answer, a quarter each and no friction.
Result<ContactProblem> make_box_stack(const BoxStackOptions& o, std::uint64_t) {
  RigidBodies bodies;
  const auto count = static_cast<int>(o.boxes);
  const Eigen::Vector3d half(o.half_width, o.half_width, o.half_height);
  const auto frame = RigidBodies::frame_of(Eigen::Vector3d::UnitZ());
  std::vector<double> masses;
  for (int i = 0; i < count; ++i) {
    const double share = count > 1 ? double(i) / double(count - 1) : 0.0;
    masses.push_back(o.mass * std::pow(o.mass_ratio, share));
    bodies.add_body(masses.back(), box_inertia(masses.back(), half), {0.0, 0.0, (2.0 * i + 1.0) * o.half_height},
                    {0.0, 0.0, -o.time_step * o.gravity});
  }
  Vector impulse = Vector::Zero(Index{12} * count);
  double mass_above = 0.0;
  for (int i = count - 1; i >= 0; --i) {
    mass_above += masses[static_cast<std::size_t>(i)];
    for (int corner = 0; corner < 4; ++corner) impulse[12 * i + 3 * corner + 2] = mass_above;
  }
  impulse *= o.time_step * o.gravity / 4.0;
  for (int i = 0; i < count; ++i) {
    for (const double y : {-1.0, 1.0}) {
      for (const double x : {-1.0, 1.0}) {
        // Box 0 stands on the ground, whose index is −1.
        bodies.add_contact(i - 1, i, {x * o.half_width, y * o.half_width, 2.0 * i * o.half_height}, frame, o.friction);
      }
    }
  }
  auto problem = bodies.problem(o.time_step, o.form, "stack of boxes at rest; sigma = 0 solves it");
  if (!problem) return problem;
  return with_reference(*problem, std::move(impulse), "closed form: each interface carries the weight above it");
}

}  // namespace

SceneRow box_stack_scene() {
  return make_scene<BoxStackOptions>("box-stack", "boxes at rest on each other, four contacts an interface",
                                     Seeding::none, make_box_stack);
}

}  // namespace conebench
