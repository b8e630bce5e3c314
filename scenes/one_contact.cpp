#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

/// Friction of one elliptic group at a contact whose normal impulse N is known, because G couples no tangential row to
/// the normal. With D = diag(mu_k), A = D G D and b = D g, x = D⁻¹ λ_g is −A⁻¹ b where that is in the ball of radius N.
/// Else maximum dissipation, λ_g = −N D² σ_g / ‖D σ_g‖, is σ' = D σ_g = −s x with s = ‖σ'‖ / N, so that
///     x = −(A + s)⁻¹ b  with  ‖x‖ = N:
/// one equation for s, whose left side falls. Newton's steps on 1/N − 1/‖x‖ rise to its root from s = 0.
Vector friction_of_group(const Matrix& delassus, const Vector& free_term, const Vector& mu, double normal) {
  if (!(normal > 0.0)) return Vector::Zero(mu.size());
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(mu.asDiagonal() * delassus * mu.asDiagonal());
  const Vector values = eigen.eigenvalues();
  const Vector along = eigen.eigenvectors().transpose() * mu.cwiseProduct(free_term);
  const auto x_at = [&](double s) -> Vector { return -along.array() / (values.array() + s); };
  double s = 0.0;
  for (double length = x_at(s).norm(); length > normal; length = x_at(s).norm()) {
    const double slope = (x_at(s).array().square() / (values.array() + s)).sum() / length;
    const double next = s + (length / normal - 1.0) * length / slope;
    if (!(next > s)) break;
    s = next;
  }
  Vector x = x_at(s);
  if (s > 0.0) x *= normal / x.norm();
  return mu.cwiseProduct(eigen.eigenvectors() * x);
}

void declare_body(OptionBinder& bind, double& mass, double& gravity, double& time_step, std::string& form) {
  bind.real("mass", mass,
            {.minimum = 1e-9, .maximum = 1e9, .unit = "kg", .scale = OptionScale::logarithmic, .doc = "of the body"});
  bind.real("gravity", gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
  bind.real("time_step", time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
  declare_form(bind, form);
}

void declare_coefficient(OptionBinder& bind, const char* name, double& mu, const char* unit, const char* doc) {
  bind.real(name, mu, {.minimum = 1e-9, .maximum = 1e3, .unit = unit, .doc = doc});
}

void declare_radius(OptionBinder& bind, double& radius) {
  bind.real("radius", radius, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "of the body"});
}

void declare_law(OptionBinder& bind, std::string& law) {
  bind.choice("law", law, {"ellipsoid", "discs"}, "whether sliding and turning share one bound, or each has its own");
}

/// One contact of a body with diagonal M. The rows are those of `jacobian` whatever the law: the tangential rows first,
/// then the normal; a law of several groups has the normal behind its first one.
struct OneContact {
  Vector masses, free_velocity;
  Matrix jacobian;  ///< tangential rows, then the normal
  FrictionLaw law;
};

/// `friction`: one a tangential row. The normal row has no coupling and closes, so that its impulse is −m v_n.
Result<ContactProblem> with_friction(const OneContact& contact, const Vector& friction, double normal, double time_step,
                                     const std::string& form, const std::string& description,
                                     const std::string& source) {
  const Index rows = contact.jacobian.rows();
  const Index first = contact.law.groups[0];
  Matrix jacobian = contact.jacobian;
  jacobian.row(first) = contact.jacobian.row(rows - 1);
  jacobian.bottomRows(rows - 1 - first) = contact.jacobian.middleRows(first, rows - 1 - first);
  Vector impulse(rows);
  impulse << friction.head(first), normal, friction.tail(rows - 1 - first);
  Mechanism step{{SparseMatrix(Matrix(contact.masses.asDiagonal()).sparseView()), SparseMatrix(jacobian.sparseView()),
                  contact.free_velocity}};
  CONEBENCH_TRY(step.cones, ConeProduct::create(0, 0, {}, {contact.law}));
  step.configuration.gaps = Vector::Zero(1);
  step.configuration.bodies = 1;
  CONEBENCH_TRY(const auto problem, step_of(std::move(step), time_step, form, description));
  return with_reference(problem, std::move(impulse), source);
}

/// The same with the friction of one elliptic group.
Result<ContactProblem> with_elliptic_friction(const OneContact& contact, double normal, double time_step,
                                              const std::string& form, const std::string& description) {
  const Matrix tangential = contact.jacobian.topRows(contact.jacobian.rows() - 1);
  const Vector mu = Eigen::Map<const Vector>(contact.law.coefficients.data(), tangential.rows());
  const Matrix delassus = tangential * contact.masses.cwiseInverse().asDiagonal() * tangential.transpose();
  const Vector friction = friction_of_group(delassus, tangential * contact.free_velocity, mu, normal);
  return with_friction(contact, friction, normal, time_step, form, description,
                       "closed form: maximum dissipation on the ellipsoid");
}

/// A flat disc on a plane that touches it at its centre, spinning about the normal and perhaps sliding: rows t1, t2,
/// the spin m_n, n. G is diagonal, and the normal impulse is N = m g Δt.
///
/// Closed forms. Of pure spin, by either law: ω falls by mu_t N / I a step, so that it stops after I ω / (mu_t m g). By
/// discs apart, sliding and spin are independent. On one ellipsoid they are coupled, λ_g ∝ −D² σ_g: see
/// friction_of_group(); a disc that slides spins on for longer, and the other way round.
struct SpinningDisc {
  double mass = 1.0;
  double radius = 0.1;
  double friction = 0.5;
  double torsion = 0.03;
  double speed = 0.0;
  double spin = 10.0;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string law = "ellipsoid";
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, SpinningDisc& o) {
    declare_radius(bind, o.radius);
    declare_coefficient(bind, "friction", o.friction, "", "of sliding");
    declare_coefficient(bind, "torsion", o.torsion, "m", "of spinning, mu_t");
    bind.real("speed", o.speed, {.minimum = 0, .maximum = 1e6, .unit = "m/s", .doc = "along x, before the step"});
    bind.real("spin", o.spin, {.minimum = -1e6, .maximum = 1e6, .unit = "rad/s", .doc = "before the step"});
    declare_law(bind, o.law);
    declare_body(bind, o.mass, o.gravity, o.time_step, o.form);
  }
};

Result<ContactProblem> make_spinning_disc(const SpinningDisc& o, std::uint64_t) {
  const double inertia = 0.5 * o.mass * o.radius * o.radius;
  const double normal = o.mass * o.gravity * o.time_step;
  const std::string description = "disc that spins and slides on one contact";
  OneContact contact;
  contact.masses = Eigen::Vector4d(o.mass, o.mass, inertia, o.mass);
  contact.free_velocity = Eigen::Vector4d(o.speed, 0.0, o.spin, -o.time_step * o.gravity);
  contact.jacobian = Matrix::Identity(4, 4);
  contact.law = {ConeShape::discs, {3}, {o.friction, o.friction, o.torsion}};
  if (o.law == "ellipsoid") return with_elliptic_friction(contact, normal, o.time_step, o.form, description);
  contact.law.groups = {2, 1};
  const double slide = std::min(o.mass * o.speed, o.friction * normal);
  const double spin = std::clamp(inertia * o.spin, -o.torsion * normal, o.torsion * normal);
  return with_friction(contact, Eigen::Vector3d(-slide, 0.0, -spin), normal, o.time_step, o.form, description,
                       "closed form: sliding and spin each on their own");
}

/// A ball of radius r on a slope of angle α, from rest. Rows t1 downhill, t2, then with discs apart n and the moments
/// m1, m2 about t1, t2; on one ellipsoid the spin, m1, m2, n. N = m g Δt cos α; gravity gives the speed u = g Δt sin α.
///
/// Closed form with discs apart, f the uphill friction impulse, M the moment against rolling: m v = m u − f and
/// I ω = r f − M.
///     rest           f = m u, M = r m u       for tan α ≤ mu and tan α ≤ mu_r / r
///     rolls          M = mu_r N, v = r ω = (m u − mu_r N / r) / (m + I/r²)   where f = m (u − v) ≤ mu N
///     else slides    f = mu N, M = min(r f, mu_r N)
/// On one ellipsoid both share the bound: the ball rests for tan α √(1/mu² + r²/mu_r²) ≤ 1, less than mu_r / r; else
/// see friction_of_group().
struct BallOnSlope {
  double mass = 1.0;
  double radius = 0.1;
  double friction = 0.5;
  double rolling = 0.01;
  double torsion = 0.01;
  double angle = 4.0;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string law = "discs";
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, BallOnSlope& o) {
    declare_radius(bind, o.radius);
    declare_coefficient(bind, "friction", o.friction, "", "of sliding");
    declare_coefficient(bind, "rolling", o.rolling, "m", "of rolling, mu_r");
    declare_coefficient(bind, "torsion", o.torsion, "m", "of spinning; of the ellipsoid alone");
    bind.real("angle", o.angle, {.minimum = 0, .maximum = 89, .unit = "deg", .doc = "of the slope"});
    declare_law(bind, o.law);
    declare_body(bind, o.mass, o.gravity, o.time_step, o.form);
  }
};

Result<ContactProblem> make_ball_on_slope(const BallOnSlope& o, std::uint64_t) {
  const double angle = o.angle * std::numbers::pi / 180.0;
  const double inertia = sphere_inertia(o.mass, o.radius)[0];
  const double fall = o.gravity * o.time_step;
  const double normal = o.mass * fall * std::cos(angle);
  const double push = o.mass * fall * std::sin(angle);
  const bool elliptic = o.law == "ellipsoid";
  const std::string description = "ball on a slope with rolling friction, x downhill";
  // Velocities v, ω; the contact is r below the centre.
  OneContact contact;
  contact.masses = Vector(6);
  contact.masses << o.mass, o.mass, o.mass, inertia, inertia, inertia;
  contact.free_velocity = Vector::Zero(6);
  contact.free_velocity.head(3) << fall * std::sin(angle), 0.0, -fall * std::cos(angle);
  Matrix jacobian = Matrix::Identity(6, 6);
  jacobian(0, 4) = -o.radius;
  jacobian(1, 3) = o.radius;
  if (elliptic) {
    contact.law = {ConeShape::discs, {5}, {o.friction, o.friction, o.torsion, o.rolling, o.rolling}};
    contact.jacobian = Matrix(6, 6);
    contact.jacobian << jacobian.topRows(2), jacobian.row(5), jacobian.middleRows(3, 2), jacobian.row(2);
    return with_elliptic_friction(contact, normal, o.time_step, o.form, description);
  }
  contact.law = FrictionLaw::rolling(o.friction, o.rolling);
  contact.jacobian = Matrix(5, 6);
  contact.jacobian << jacobian.topRows(2), jacobian.middleRows(3, 2), jacobian.row(2);
  double friction = std::min(push, o.friction * normal);
  double moment = std::min(o.radius * friction, o.rolling * normal);
  if (moment < o.radius * friction) {
    const double turned = inertia / (o.radius * o.radius);  // I / r²
    const double rolls = (turned * push + o.mass * moment / o.radius) / (o.mass + turned);
    friction = std::min(rolls, o.friction * normal);
  }
  return with_friction(contact, Eigen::Vector4d(-friction, 0.0, 0.0, -moment), normal, o.time_step, o.form, description,
                       "closed form: rests, rolls or slides");
}

/// A block, kept upright, on ground with the coefficients mu_x and mu_y, and a force F on it at an angle. From rest it
/// stays for √((F_x/mu_x)² + (F_y/mu_y)²) ≤ m g. Else maximum dissipation turns friction from the direction of slip:
/// λ_k = −N mu_k² σ_k / ‖D σ‖. With G = 1/m this is λ_k = −v_k / (1/m + s/mu_k²), v the speed without friction, and s =
/// ‖D σ‖ / N from one equation: see friction_of_group().
struct OrthotropicBlock {
  double mass = 1.0;
  double friction_x = 0.3;
  double friction_y = 0.6;
  double push = 10.0;
  double direction = 45.0;
  double speed_x = 0.0;
  double speed_y = 0.0;
  double gravity = 9.81;
  double time_step = 0.01;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, OrthotropicBlock& o) {
    declare_coefficient(bind, "friction_x", o.friction_x, "", "along x");
    declare_coefficient(bind, "friction_y", o.friction_y, "", "along y");
    bind.real("push", o.push, {.minimum = 0, .maximum = 1e6, .unit = "N", .doc = "force along the ground"});
    bind.real("direction", o.direction, {.minimum = -360, .maximum = 360, .unit = "deg", .doc = "of the push, from x"});
    bind.real("speed_x", o.speed_x, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "before the step"});
    bind.real("speed_y", o.speed_y, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "before the step"});
    declare_body(bind, o.mass, o.gravity, o.time_step, o.form);
  }
};

Result<ContactProblem> make_orthotropic_block(const OrthotropicBlock& o, std::uint64_t) {
  const double angle = o.direction * std::numbers::pi / 180.0;
  const double pushed = o.time_step * o.push / o.mass;
  OneContact contact;
  contact.masses = Vector::Constant(3, o.mass);
  contact.free_velocity = Eigen::Vector3d(o.speed_x + pushed * std::cos(angle), o.speed_y + pushed * std::sin(angle),
                                          -o.time_step * o.gravity);
  contact.jacobian = Matrix::Identity(3, 3);
  contact.law = {ConeShape::discs, {2}, {o.friction_x, o.friction_y}};
  return with_elliptic_friction(contact, o.mass * o.gravity * o.time_step, o.time_step, o.form,
                                "block on ground with an ellipse of friction");
}

}  // namespace

SceneRow spinning_disc_scene() {
  return make_scene<SpinningDisc>("spinning-disc", "disc that spins and slides on one contact with torsional friction",
                                  Seeding::none, make_spinning_disc);
}

SceneRow ball_on_slope_scene() {
  return make_scene<BallOnSlope>("ball-on-slope", "ball on a slope that rests, rolls or slides by rolling friction",
                                 Seeding::none, make_ball_on_slope);
}

SceneRow orthotropic_block_scene() {
  return make_scene<OrthotropicBlock>("orthotropic-block", "block pushed over ground with an ellipse of friction",
                                      Seeding::none, make_orthotropic_block);
}

}  // namespace conebench
