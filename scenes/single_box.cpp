#include <cmath>
#include <numbers>

#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

/// A box on a plane with a contact at each lower corner, in the plane's frame (x, y along it, z its normal).
struct PlaneBox {
  double mass = 1.0;
  double half_length = 0.5;
  double half_width = 0.5;
  double half_height = 0.25;
  double friction = 0.5;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string form = "block_sparse";
};

void declare_box(OptionBinder& bind, PlaneBox& o) {
  const auto length = [](const char* doc) {
    return OptionBinder::Details{.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = doc};
  };
  bind.real("mass", o.mass,
            {.minimum = 1e-9, .maximum = 1e9, .unit = "kg", .scale = OptionScale::logarithmic, .doc = "of the box"});
  bind.real("half_length", o.half_length, length("along x"));
  bind.real("half_width", o.half_width, length("along y"));
  bind.real("half_height", o.half_height, length("along the plane's normal"));
  bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
  bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
  bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
  declare_form(bind, o.form);
}

/// Closed form, with u the free tangential velocity and N the speed at which gravity closes the contacts, both at the
/// end of the step: the box sticks (σ = 0) where ‖u‖ ≤ mu N, else it slips with σ_T = u (1 − mu N / ‖u‖), σ_N = 0.
/// The friction impulse f = m min(‖u‖, mu N) at the height of the plane moves the centre of pressure forward by
/// h f / (m N) along u. Where that stays below the box, every corner takes a share of the normal impulse m N and of the
/// friction in the same proportion, and the box does not turn; where it leaves the box, the box tips and there is no
/// reference.
Result<ContactProblem> box_on_plane(const PlaneBox& o, const Eigen::Vector2d& tangential, double closing,
                                    const std::string& description) {
  RigidBodies bodies;
  const Eigen::Vector3d half(o.half_length, o.half_width, o.half_height);
  bodies.add_body(o.mass, box_inertia(o.mass, half), {0.0, 0.0, o.half_height},
                  {tangential[0], tangential[1], -closing});
  const auto frame = RigidBodies::frame_of(Eigen::Vector3d::UnitZ());
  const double speed = tangential.norm();
  const double friction_speed = std::min(speed, o.friction * closing);
  const Eigen::Vector2d direction = speed > 0.0 ? Eigen::Vector2d(tangential / speed) : Eigen::Vector2d::Zero();
  const double lever = closing > 0.0 ? o.half_height * friction_speed / closing : 0.0;
  const Eigen::Vector2d pressure = (lever * direction).cwiseQuotient(half.head<2>());

  Vector impulse(12);
  Index contact = 0;
  for (const double y : {-1.0, 1.0}) {
    for (const double x : {-1.0, 1.0}) {
      bodies.add_contact(RigidBodies::ground, 0, {x * o.half_length, y * o.half_width, 0.0}, frame, o.friction);
      const double share = o.mass * (1.0 + x * pressure[0]) * (1.0 + y * pressure[1]) / 4.0;
      const Eigen::Vector3d velocity_change =
          closing * frame.normal -
          friction_speed * (direction[0] * Eigen::Vector3d::UnitX() + direction[1] * Eigen::Vector3d::UnitY());
      impulse.segment<3>(3 * contact++) =
          share * Eigen::Vector3d(frame.tangent_1.dot(velocity_change), frame.tangent_2.dot(velocity_change),
                                  frame.normal.dot(velocity_change));
    }
  }
  const bool tips = pressure.cwiseAbs().maxCoeff() > 1.0;
  auto problem = bodies.problem(o.time_step, o.form, description + (tips ? "; tips, so no closed form" : ""));
  if (!problem || tips) return problem;
  return with_reference(*problem, std::move(impulse), "closed form: Coulomb's law for the whole box");
}

struct SlidingBoxOptions {
  PlaneBox box;
  double speed = 1.0;
  double direction = 0.0;

  static void declare(OptionBinder& bind, SlidingBoxOptions& o) {
    declare_box(bind, o.box);
    bind.real("speed", o.speed, {.minimum = 0, .maximum = 1e6, .unit = "m/s", .doc = "before the step"});
    bind.real("direction", o.direction,
              {.minimum = -360, .maximum = 360, .unit = "deg", .doc = "of the speed, from the box's x axis"});
  }
};

Result<ContactProblem> make_sliding_box(const SlidingBoxOptions& o, std::uint64_t) {
  const double angle = o.direction * std::numbers::pi / 180.0;
  return box_on_plane(o.box, o.speed * Eigen::Vector2d(std::cos(angle), std::sin(angle)),
                      o.box.time_step * o.box.gravity, "box that slides on level ground until friction stops it");
}

struct BoxOnSlopeOptions {
  PlaneBox box;
  double angle = 20.0;
  double speed = 0.0;

  static void declare(OptionBinder& bind, BoxOnSlopeOptions& o) {
    declare_box(bind, o.box);
    bind.real(
        "angle", o.angle,
        {.minimum = 0, .maximum = 89, .unit = "deg", .doc = "of the slope; at rest it sticks up to atan(friction)"});
    bind.real("speed", o.speed, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "downhill, before the step"});
  }
};

Result<ContactProblem> make_box_on_slope(const BoxOnSlopeOptions& o, std::uint64_t) {
  const double angle = o.angle * std::numbers::pi / 180.0;
  const double fall = o.box.time_step * o.box.gravity;
  return box_on_plane(o.box, {o.speed + fall * std::sin(angle), 0.0}, fall * std::cos(angle),
                      "box on a slope, x downhill");
}

}  // namespace

SceneRow sliding_box_scene() {
  return make_scene<SlidingBoxOptions>("sliding-box", "box that slides on level ground, four contacts", Seeding::none,
                                       make_sliding_box);
}

SceneRow box_on_slope_scene() {
  return make_scene<BoxOnSlopeOptions>("box-on-slope", "box on a slope that sticks or slips, four contacts",
                                       Seeding::none, make_box_on_slope);
}

}  // namespace conebench
