#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void declare_step(OptionBinder& bind, double& time_step, std::string& form) {
  bind.real("time_step", time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
  declare_form(bind, form);
}

void declare_inertia(OptionBinder& bind, const char* name, double& inertia, const char* doc) {
  bind.real(name, inertia,
            {.minimum = 1e-9, .maximum = 1e9, .unit = "kg m^2", .scale = OptionScale::logarithmic, .doc = doc});
}

void declare_mass(OptionBinder& bind, double& mass) {
  bind.real("mass", mass,
            {.minimum = 1e-9, .maximum = 1e9, .unit = "kg", .scale = OptionScale::logarithmic, .doc = "that moves"});
}

void declare_torque(OptionBinder& bind, const char* name, double& torque, const char* doc) {
  bind.real(name, torque, {.minimum = -1e6, .maximum = 1e6, .unit = "N m", .doc = doc});
}

/// Masses or inertias on a diagonal, velocities at the end of a step without constraints, and what each row measures.
PrimalForm diagonal_form(const Vector& masses, Vector free_velocity, const Matrix& jacobian) {
  return {SparseMatrix(Matrix(masses.asDiagonal()).sparseView()), SparseMatrix(jacobian.sparseView()),
          std::move(free_velocity)};
}

Vector one(double value) { return Vector::Constant(1, value); }

/// The joint of a pendulum with dry friction c. Gravity's torque is τ = −m g l sin θ, its inertia I = m l². One row,
/// the joint's speed, with |λ| ≤ c Δt and G = 1/I. Closed form, from rest: for |τ| ≤ c it stands with λ = −τ Δt, σ = 0;
/// else λ = −sign(τ) c Δt and σ = sign(τ) (|τ| − c) Δt / I. With a speed ω before the step, τ is τ + I ω / Δt.
struct JointFrictionPendulum {
  double mass = 1.0;
  double length = 0.5;
  double angle = 20.0;
  double friction = 1.0;
  double speed = 0.0;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, JointFrictionPendulum& o) {
    declare_mass(bind, o.mass);
    bind.real("length", o.length, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "from the joint to the mass"});
    bind.real("angle", o.angle, {.minimum = -180, .maximum = 180, .unit = "deg", .doc = "from hanging"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e6, .unit = "N m", .doc = "of the joint"});
    bind.real("speed", o.speed, {.minimum = -1e6, .maximum = 1e6, .unit = "rad/s", .doc = "before the step"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    declare_step(bind, o.time_step, o.form);
  }
};

Result<ContactProblem> make_joint_friction_pendulum(const JointFrictionPendulum& o, std::uint64_t) {
  const double inertia = o.mass * o.length * o.length;
  const double torque = -o.mass * o.gravity * o.length * std::sin(o.angle * std::numbers::pi / 180.0);
  const double free_speed = o.speed + o.time_step * torque / inertia;
  const Interval friction{-o.friction * o.time_step, o.friction * o.time_step};
  Mechanism step{diagonal_form(one(inertia), one(free_speed), Matrix::Ones(1, 1))};
  CONEBENCH_TRY(step.cones, ConeProduct::create(0, 0, {friction}, {}));
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), o.time_step, o.form, "pendulum with a dry joint"));
  return with_reference(problem, one(friction.project(-inertia * free_speed)), "closed form: stands or slips");
}

/// An implicit PD drive τ = −k_p (q⁺ − q_d) − k_d (q̇⁺ − q̇_d), q⁺ = q + Δt q̇⁺, as one row with the compliance
/// R = 1 / (k_p Δt² + k_d Δt) and the bias b = (k_p (q − q_d) − k_d q̇_d) / (k_p Δt + k_d), so that q̇⁺ + b + R λ = 0 is
/// λ = Δt τ. Its effort is limited: |λ| ≤ τ_max Δt. Closed form: λ = −(v_free + b) / (1/I + R) where that is in the
/// bounds, else the bound.
struct DriveEffortLimit {
  double inertia = 1.0;
  double stiffness = 100.0;
  double damping = 10.0;
  double position = 0.0;
  double target = 0.5;
  double target_speed = 0.0;
  double speed = 0.0;
  double torque = 0.0;
  double effort = 20.0;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, DriveEffortLimit& o) {
    const auto angle = [](const char* doc) {
      return OptionBinder::Details{.minimum = -1e6, .maximum = 1e6, .unit = "rad", .doc = doc};
    };
    const auto speed = [](const char* doc) {
      return OptionBinder::Details{.minimum = -1e6, .maximum = 1e6, .unit = "rad/s", .doc = doc};
    };
    declare_inertia(bind, "inertia", o.inertia, "that is driven");
    bind.real("stiffness", o.stiffness, {.minimum = 0, .maximum = 1e9, .unit = "N m/rad", .doc = "k_p"});
    bind.real("damping", o.damping, {.minimum = 1e-9, .maximum = 1e9, .unit = "N m s/rad", .doc = "k_d"});
    bind.real("position", o.position, angle("before the step"));
    bind.real("target", o.target, angle("of the position"));
    bind.real("target_speed", o.target_speed, speed("of the speed"));
    bind.real("speed", o.speed, speed("before the step"));
    declare_torque(bind, "torque", o.torque, "from outside");
    bind.real("effort", o.effort, {.minimum = 0, .maximum = 1e6, .unit = "N m", .doc = "the most of the drive"});
    declare_step(bind, o.time_step, o.form);
  }
};

Result<ContactProblem> make_drive_effort_limit(const DriveEffortLimit& o, std::uint64_t) {
  const double dt = o.time_step;
  const double compliance = 1.0 / (o.stiffness * dt * dt + o.damping * dt);
  const double bias =
      (o.stiffness * (o.position - o.target) - o.damping * o.target_speed) / (o.stiffness * dt + o.damping);
  const double free_speed = o.speed + dt * o.torque / o.inertia;
  const Interval effort{-o.effort * dt, o.effort * dt};
  Mechanism step{.primal = diagonal_form(one(o.inertia), one(free_speed), Matrix::Ones(1, 1)),
                 .bias = one(bias),
                 .compliance = one(compliance)};
  CONEBENCH_TRY(step.cones, ConeProduct::create(0, 0, {effort}, {}));
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), dt, o.form, "implicit PD drive with limited effort"));
  const double impulse = -(free_speed + bias) / (1.0 / o.inertia + compliance);
  return with_reference(problem, one(effort.project(impulse)), "closed form: the drive's law, or its limit");
}

/// Two joints that a gear couples 1:1, dry friction c in the first. Rows: q̇_1 − q̇_2, bilateral, and q̇_1, |λ| ≤ c Δt.
/// Closed form, from rest: the friction holds the sum of the torques. For |τ_1 + τ_2| ≤ c both stand, λ_f =
/// −(τ_1 + τ_2) Δt, else λ_f = ∓c Δt; both turn at w = ((τ_1 + τ_2) Δt + λ_f) / (I_1 + I_2), and the gear carries
/// λ = τ_2 Δt − I_2 w.
struct CoupledJoints {
  double inertia_1 = 1.0;
  double inertia_2 = 2.0;
  double torque_1 = 3.0;
  double torque_2 = -2.5;
  double friction = 1.0;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, CoupledJoints& o) {
    declare_inertia(bind, "inertia_1", o.inertia_1, "of the joint with friction");
    declare_inertia(bind, "inertia_2", o.inertia_2, "of the other");
    declare_torque(bind, "torque_1", o.torque_1, "on the joint with friction");
    declare_torque(bind, "torque_2", o.torque_2, "on the other");
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e6, .unit = "N m", .doc = "of the first joint"});
    declare_step(bind, o.time_step, o.form);
  }
};

Result<ContactProblem> make_coupled_joints(const CoupledJoints& o, std::uint64_t) {
  const double dt = o.time_step;
  const Interval friction{-o.friction * dt, o.friction * dt};
  const Eigen::Vector2d inertia(o.inertia_1, o.inertia_2);
  const Eigen::Vector2d torque(o.torque_1, o.torque_2);
  Matrix jacobian(2, 2);
  jacobian << 1.0, -1.0, 1.0, 0.0;
  Mechanism step{diagonal_form(inertia, dt * torque.cwiseQuotient(inertia), jacobian)};
  CONEBENCH_TRY(step.cones, ConeProduct::create(1, 0, {friction}, {}));
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), dt, o.form, "two joints coupled 1:1, friction in one"));
  const double held = friction.project(-dt * torque.sum());
  const double speed = (dt * torque.sum() + held) / inertia.sum();
  return with_reference(problem, Eigen::Vector2d(dt * torque[1] - inertia[1] * speed, held),
                        "closed form: friction of one joint holds the sum");
}

/// A mass that hangs on a tendon, which can only pull: one row, the speed at which the tendon grows, with −∞ ≤ λ ≤ 0.
/// Closed form with v the speed after gravity alone: taut where v > 0, λ = −m v, σ = 0; else slack, λ = 0, σ = v.
struct Tendon {
  double mass = 1.0;
  double speed = 0.0;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, Tendon& o) {
    declare_mass(bind, o.mass);
    bind.real("speed", o.speed, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "downwards, before the step"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    declare_step(bind, o.time_step, o.form);
  }
};

Result<ContactProblem> make_tendon(const Tendon& o, std::uint64_t) {
  const double free_speed = o.speed + o.time_step * o.gravity;
  Mechanism step{diagonal_form(one(o.mass), one(free_speed), Matrix::Ones(1, 1))};
  CONEBENCH_TRY(step.cones, ConeProduct::create(0, 0, {Interval{-infinity, 0.0}}, {}));
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), o.time_step, o.form, "mass on a tendon"));
  return with_reference(problem, one(std::min(0.0, -o.mass * free_speed)), "closed form: taut or slack");
}

/// A mass at a stop, and a motor that gives it the impulse p: rows are its speed away from the stop, λ ≥ 0, and the
/// same speed with the bounds p = p. Closed form: the motor's λ is p whatever its speed, the stop's is max(0, −m v −
/// p).
struct GivenImpulse {
  double mass = 1.0;
  double speed = -1.0;
  double impulse = 0.4;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, GivenImpulse& o) {
    declare_mass(bind, o.mass);
    bind.real("speed", o.speed, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "away from the stop"});
    bind.real("impulse", o.impulse, {.minimum = -1e6, .maximum = 1e6, .unit = "N s", .doc = "of the motor"});
    declare_step(bind, o.time_step, o.form);
  }
};

Result<ContactProblem> make_given_impulse(const GivenImpulse& o, std::uint64_t) {
  Mechanism step{diagonal_form(one(o.mass), one(o.speed), Matrix::Ones(2, 1))};
  CONEBENCH_TRY(step.cones, ConeProduct::create(0, 1, {Interval{o.impulse, o.impulse}}, {}));
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), o.time_step, o.form, "mass at a stop, driven by a motor"));
  return with_reference(problem, Eigen::Vector2d(std::max(0.0, -o.mass * o.speed - o.impulse), o.impulse),
                        "closed form: the motor's impulse, and what the stop adds");
}

}  // namespace

SceneRow joint_friction_pendulum_scene() {
  return make_scene<JointFrictionPendulum>("joint-friction-pendulum", "pendulum whose joint has dry friction",
                                           Seeding::none, make_joint_friction_pendulum);
}

SceneRow drive_effort_limit_scene() {
  return make_scene<DriveEffortLimit>("drive-effort-limit", "joint with an implicit PD drive of limited effort",
                                      Seeding::none, make_drive_effort_limit);
}

SceneRow coupled_joints_scene() {
  return make_scene<CoupledJoints>("coupled-joints", "two joints coupled 1:1, dry friction in one", Seeding::none,
                                   make_coupled_joints);
}

SceneRow tendon_scene() {
  return make_scene<Tendon>("tendon", "mass on a tendon that can only pull", Seeding::none, make_tendon);
}

SceneRow given_impulse_scene() {
  return make_scene<GivenImpulse>("given-impulse", "mass at a stop, with a motor whose impulse is given", Seeding::none,
                                  make_given_impulse);
}

}  // namespace conebench
