#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "scenes/articulation.hpp"
#include "scenes/random_source.hpp"
#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct StiffMechanismOptions {
  std::string kind = "mixed";
  double mu_min = 0.2;
  double mu_max = 2.0;
  double penetration = 1e-3;
  double open_share = 0.2;
  double push_out = 0.2;
  double rigid_share = 0.1;
  double soft_share = 0.3;
  double gravity = 9.81;
  double time_step = 0.002;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, StiffMechanismOptions& o) {
    const auto share = [](const char* doc) { return OptionBinder::Details{.minimum = 0, .maximum = 1, .doc = doc}; };
    bind.choice(
        "kind", o.kind, {"mixed", "hand", "legged", "pinch"},
        "a palm with 2 to 5 fingers that hold a box; a trunk on 2 to 6 legs; a row of boxes between two fingers; "
        "mixed: one of these by chance");
    bind.real("mu_min", o.mu_min, {.minimum = 0, .maximum = 1e3, .doc = "smallest coefficient of a contact"});
    bind.real("mu_max", o.mu_max, {.minimum = 0, .maximum = 1e3, .doc = "largest coefficient of a contact"});
    bind.real("penetration", o.penetration, {.minimum = 0, .maximum = 1, .unit = "m", .doc = "largest of a contact"});
    bind.real("open_share", o.open_share, share("share of contacts that are open by up to as much"));
    bind.real("push_out", o.push_out, share("share of a penetration that the step has to undo"));
    bind.real("rigid_share", o.rigid_share,
              share("share of hands and pinches whose fingers stand still, whatever acts: steps without a solution are "
                    "among these"));
    bind.real("soft_share", o.soft_share, share("share of steps whose contacts have R > 0; 0: R = 0 in all contacts"));
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    declare_form(bind, o.form);
  }
};

double log_uniform(RandomSource& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

Eigen::Vector3d normal_vector(RandomSource& random, double deviation) {
  Eigen::Vector3d v;
  for (double& entry : v) entry = deviation * random.normal();
  return v;
}

/// A random mechanism and one step of it.
///
///     rows        J                        b                       R
///     joints      a joint that stands      0                       0
///     limits      ± a joint's speed        push(gap)               0
///     drives      a joint's speed          see drive()             1/(k_p Δt² + k_d Δt)
///     contacts    of a point               push(gap) on normals    0, or a share of G's diagonal
///
/// push(gap) is gap/Δt where it is open: it may close, no more; else push_out · gap/Δt.
class MechanismStep {
 public:
  MechanismStep(const StiffMechanismOptions& o, RandomSource& random) : o_(o), random_(random) {}

  void build() {
    std::string kind = o_.kind;
    if (kind == "mixed") kind = std::vector<std::string>{"hand", "legged", "pinch"}[random_.below(3)];
    if (kind == "hand") hand();
    if (kind == "legged") legged();
    if (kind == "pinch") pinch();
  }

  Result<ContactProblem> problem(const std::string& description);

 private:
  using Link = Articulation::Link;
  using Joint = Articulation::Joint;
  struct Touch {
    int first, second;
    Eigen::Vector3d point;
    RigidBodies::Frame frame;
    double friction, gap;
  };
  struct Limit {
    Index joint;
    double sign, gap;
  };
  struct Drive {
    Index joint = 0;
    double stiffness = 0.0, damping = 0.0, error = 0.0, effort = 0.0;
  };

  bool chance(double share) { return random_.uniform() < share; }
  long between(long low, long high) { return low + static_cast<long>(random_.below(std::size_t(high - low + 1))); }

  static Link box(const Eigen::Vector3d& half, double density, const Eigen::Vector3d& centre) {
    const double mass = 8.0 * density * half.prod();
    return {.mass = mass, .centre = centre, .inertia = box_inertia(mass, half).asDiagonal()};
  }
  /// A slender limb from a to b.
  Link limb(int parent, const Eigen::Vector3d& a, const Eigen::Vector3d& b, double mass) {
    const Eigen::Vector3d along = b - a;
    const double length = along.squaredNorm();
    const Eigen::Matrix3d inertia =
        mass / 12.0 * (1.1 * length * Eigen::Matrix3d::Identity() - along * along.transpose());
    return {.parent = parent, .mass = mass, .centre = (a + b) / 2, .inertia = inertia};
  }

  /// One to four points, from `first` to `second` along a unit normal, within `reach` of `centre`.
  void touch(int first, int second, const Eigen::Vector3d& centre, const Eigen::Vector3d& normal, double reach) {
    const auto frame = RigidBodies::frame_of(normal);
    const double friction = random_.uniform(o_.mu_min, o_.mu_max);
    const double depth = o_.penetration * random_.uniform();
    // Corners of a pad: two on an edge, four on a face, which are redundant.
    static constexpr double corners[4][2] = {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    static constexpr long sizes[] = {1, 2, 4, 4};
    const long points = sizes[random_.below(4)];
    for (long k = 0; k < points; ++k) {
      const double shift = points == 1 ? 0.0 : reach;
      const Eigen::Vector3d point =
          centre + shift * (corners[k][0] * frame.tangent_1 + corners[k][1] * frame.tangent_2);
      const double gap =
          chance(o_.open_share) ? o_.penetration * random_.uniform() : -depth * (1.0 + 0.1 * random_.uniform());
      touches_.push_back({first, second, point, frame, friction, gap});
    }
  }

  /// Limits and a drive of a joint, some of them.
  void furnish(Index joint, bool stands, double strength) {
    if (stands) {
      standing_.push_back(joint);
      return;
    }
    if (chance(0.25)) limits_.push_back({joint, chance(0.5) ? 1.0 : -1.0, 0.005 * random_.uniform(-1.0, 1.0)});
    if (!chance(0.7)) return;
    Drive drive;
    drive.joint = joint;
    drive.stiffness = strength * log_uniform(random_, 1.0, 1e3);
    drive.damping = drive.stiffness * log_uniform(random_, 0.01, 0.1);
    drive.error = 0.1 * random_.normal();
    drive.effort = strength * log_uniform(random_, 0.3, 30.0);
    drives_.push_back(drive);
  }

  /// A chain of `links` limbs from `base` to `tip` that bend in one plane. Returns the last link.
  int chain(int parent, const Eigen::Vector3d& base, const Eigen::Vector3d& tip, long links, double mass, bool stands,
            double strength, double speed) {
    const Eigen::Vector3d along = tip - base;
    const Eigen::Vector3d side = RigidBodies::frame_of(along.normalized()).tangent_1;
    const Eigen::Vector3d bend = along.normalized().cross(side);
    // A stretched chain is singular: all its anchors stand in a line.
    const double bow = chance(0.3) ? 0.0 : 0.3 * along.norm() * random_.uniform();
    const bool abducts = chance(0.4);
    Eigen::Vector3d anchor = base;
    for (long k = 0; k < links; ++k) {
      const double share = double(k + 1) / double(links);
      const Eigen::Vector3d end = base + share * along + bow * std::sin(std::numbers::pi * share) * bend;
      std::vector<Joint> joints;
      const auto add = [&](const Eigen::Vector3d& axis) {
        const double rate = speed * random_.normal();
        joints.push_back({true, axis, anchor, rate, log_uniform(random_, 1e-4, 1e-1) * mass * along.squaredNorm()});
      };
      if (k == 0 && abducts) add(bend);
      add(side);
      parent = tree_.add_link(limb(parent, anchor, end, mass * random_.uniform(0.5, 1.5)), joints);
      const auto& own = tree_.joints_of(parent);
      for (std::size_t j = own.size() - joints.size(); j < own.size(); ++j) furnish(own[j], stands, strength);
      anchor = end;
    }
    return parent;
  }

  Eigen::Vector3d random_half(double size) {
    Eigen::Vector3d half;
    for (double& h : half) h = size * random_.uniform(0.5, 1.2);
    return half;
  }
  int free_box(const Eigen::Vector3d& half, const Eigen::Vector3d& centre, double density, double speed) {
    const Eigen::Vector3d velocity = normal_vector(random_, speed);
    const Eigen::Vector3d spin = normal_vector(random_, speed / half.norm());
    return tree_.add_free_body(box(half, density, centre), velocity, spin);
  }

  void hand();
  void legged();
  void pinch();

  double push(double gap) const { return (gap < 0.0 ? o_.push_out : 1.0) * gap / o_.time_step; }

  const StiffMechanismOptions& o_;
  RandomSource& random_;
  Articulation tree_;
  std::vector<Touch> touches_;
  std::vector<Index> standing_;
  std::vector<Limit> limits_;
  std::vector<Drive> drives_;
};

/// A box on a palm, which is fixed or on a wrist, and fingers on its sides.
void MechanismStep::hand() {
  const bool stands = chance(o_.rigid_share);
  const double size = log_uniform(random_, 0.02, 0.08);
  const Eigen::Vector3d half = random_half(size);
  const int object = free_box(half, Eigen::Vector3d::Zero(), log_uniform(random_, 100.0, 5000.0), 0.05);
  const double limb_mass = log_uniform(random_, 0.01, 0.2);
  int palm = Articulation::ground;
  if (!stands && chance(0.5)) {
    const Eigen::Vector3d elbow(-8.0 * size, 0.0, -half[2] - size);
    palm = chain(palm, elbow, {0.0, 0.0, -half[2] - size}, between(1, 3), 10.0 * limb_mass, false, 30.0, 0.1);
  }
  if (chance(0.6)) touch(palm, object, {0.0, 0.0, -half[2]}, Eigen::Vector3d::UnitZ(), 0.5 * half.head<2>().minCoeff());
  const long fingers = between(2, 5);
  const double turn = random_.uniform(0.0, 2.0 * std::numbers::pi);
  for (long k = 0; k < fingers; ++k) {
    const double angle =
        turn + 2.0 * std::numbers::pi * (double(k) + 0.3 * random_.uniform(-1.0, 1.0)) / double(fingers);
    const Eigen::Vector2d toward(std::cos(angle), std::sin(angle));
    const int face = std::abs(toward[0]) / half[0] > std::abs(toward[1]) / half[1] ? 0 : 1;
    Eigen::Vector3d outward = Eigen::Vector3d::Zero();
    outward[face] = toward[face] < 0.0 ? -1.0 : 1.0;
    Eigen::Vector3d tip = half[face] * outward;
    tip[1 - face] = 0.6 * half[1 - face] * random_.uniform(-1.0, 1.0);
    tip[2] = 0.6 * half[2] * random_.uniform(-1.0, 1.0);
    const double away = random_.uniform(1.5, 3.0) * size;
    const Eigen::Vector3d base(away * toward[0], away * toward[1], -half[2] - size);
    const int last = chain(palm, base, tip, between(1, 4), limb_mass, stands, 1.0, 0.5);
    touch(last, object, tip, -outward, 0.2 * size);
  }
}

/// A trunk on legs whose feet stand on the ground.
void MechanismStep::legged() {
  const double size = log_uniform(random_, 0.1, 0.5);
  const Eigen::Vector3d half(size, 0.5 * size, 0.25 * size);
  const double height = random_.uniform(1.2, 2.0) * size;
  const int trunk = free_box(half, {0.0, 0.0, height}, log_uniform(random_, 100.0, 2000.0), 0.3);
  const double trunk_mass = tree_.mass()(0, 0);
  const long legs = between(2, 6);
  for (long k = 0; k < legs; ++k) {
    const double y = (k % 2 == 0 ? 1.0 : -1.0) * half[1];
    const double x = legs < 3 ? 0.0 : half[0] * (1.0 - 2.0 * double(k / 2) / double((legs - 1) / 2));
    const Eigen::Vector3d hip(x, y, height - half[2]);
    const Eigen::Vector3d shift = normal_vector(random_, 0.2 * size);
    const Eigen::Vector3d foot(x + shift[0], y + shift[1], 0.0);
    const double mass = trunk_mass * log_uniform(random_, 0.005, 0.1);
    const double strength = trunk_mass * o_.gravity * size;
    const int last = chain(trunk, hip, foot, between(2, 4), mass, false, strength, 1.0);
    touch(Articulation::ground, last, foot, Eigen::Vector3d::UnitZ(), 0.1 * size);
  }
}

/// Boxes in a row along x between two fingers, each of which slides, turns on a chain, or stands.
void MechanismStep::pinch() {
  const bool stands = chance(o_.rigid_share);
  const double size = log_uniform(random_, 0.01, 0.1);
  const long boxes = between(1, 3);
  double x = 0.0;
  std::vector<int> row{Articulation::ground};
  std::vector<double> faces{0.0};
  for (long k = 0; k < boxes; ++k) {
    const Eigen::Vector3d half = random_half(size);
    row.push_back(free_box(half, {x + half[0], 0.0, 0.0}, log_uniform(random_, 100.0, 5000.0), 0.05));
    x += 2.0 * half[0];
    faces.push_back(x);
  }
  row.push_back(Articulation::ground);
  const double mass = log_uniform(random_, 0.01, 1.0);
  for (const std::size_t end : {std::size_t(0), row.size() - 1}) {
    const double out = end == 0 ? -1.0 : 1.0;
    const Eigen::Vector3d face(end == 0 ? 0.0 : x, 0.0, 0.0);
    if (stands || chance(0.3)) continue;
    if (chance(0.5)) {
      const Joint slide{false, Eigen::Vector3d::UnitX(), face, 0.1 * random_.normal(), mass * random_.uniform()};
      row[end] =
          tree_.add_link(limb(Articulation::ground, face, face + out * Eigen::Vector3d(size, 0.0, 0.0), mass), {slide});
      furnish(tree_.joints_of(row[end]).back(), false, 100.0);
    } else {
      const Eigen::Vector3d base = face + size * Eigen::Vector3d(2.0 * out, 0.0, random_.uniform(1.0, 4.0));
      row[end] = chain(Articulation::ground, base, face, between(1, 3), mass, false, 10.0, 0.5);
    }
  }
  for (std::size_t k = 0; k + 1 < row.size(); ++k) {
    touch(row[k], row[k + 1], {faces[k], 0.0, 0.0}, Eigen::Vector3d::UnitX(), 0.4 * size);
  }
}

Result<ContactProblem> MechanismStep::problem(const std::string& description) {
  // A joint that stands needs neither limit nor drive; contacts between two parts of the ground say nothing.
  std::erase_if(touches_,
                [](const Touch& t) { return t.first == Articulation::ground && t.second == Articulation::ground; });
  const auto joints = static_cast<Index>(standing_.size());
  const auto limits = static_cast<Index>(limits_.size());
  const auto drives = static_cast<Index>(drives_.size());
  const Index first_contact = joints + limits + drives;
  const Index rows = first_contact + 3 * static_cast<Index>(touches_.size());
  Matrix jacobian = Matrix::Zero(rows, tree_.velocities());
  Mechanism step;
  step.bias = Vector::Zero(rows);
  step.compliance = Vector::Zero(rows);
  std::vector<Interval> efforts;
  Index row = 0;
  for (const Index joint : standing_) jacobian(row++, joint) = 1.0;
  for (const Limit& limit : limits_) {
    jacobian(row, limit.joint) = limit.sign;
    step.bias[row++] = push(limit.gap);
  }
  const double dt = o_.time_step;
  for (const Drive& drive : drives_) {
    // λ = −Δt (k_p (e + Δt q̇) + k_d q̇), an implicit servo, within ±effort Δt.
    const double gain = drive.stiffness * dt + drive.damping;
    jacobian(row, drive.joint) = 1.0;
    step.bias[row] = drive.stiffness * drive.error / gain;
    step.compliance[row++] = 1.0 / (dt * gain);
    efforts.push_back({-drive.effort * dt, drive.effort * dt});
  }
  std::vector<FrictionLaw> laws;
  std::vector<double> gaps;
  for (const Touch& t : touches_) {
    const Eigen::Vector3d* const directions[] = {&t.frame.tangent_1, &t.frame.tangent_2, &t.frame.normal};
    for (int d = 0; d < 3; ++d) {
      jacobian.row(row + d) =
          tree_.point_row(t.second, t.point, *directions[d]) - tree_.point_row(t.first, t.point, *directions[d]);
    }
    step.bias[row + 2] = push(t.gap);
    row += 3;
    laws.push_back(FrictionLaw::coulomb(t.friction));
    gaps.push_back(t.gap);
  }

  const Matrix mass = tree_.mass();
  const Eigen::LLT<Matrix> factor(mass);
  if (chance(o_.soft_share)) {
    const double share = log_uniform(random_, 1e-6, 1e-1);
    for (Index i = first_contact; i < rows; i += 3) {
      const Matrix block = jacobian.middleRows(i, 3);
      step.compliance.segment(i, 3).setConstant(share * (block * factor.solve(block.transpose())).trace() / 3.0);
    }
  }
  step.primal.mass = mass.sparseView();
  step.primal.jacobian = jacobian.sparseView();
  step.primal.free_velocity = tree_.speed() + dt * factor.solve(tree_.weight({0.0, 0.0, -o_.gravity}));
  CONEBENCH_TRY(step.cones, ConeProduct::create(joints, limits, efforts, laws));
  step.configuration.gaps = Eigen::Map<const Vector>(gaps.data(), static_cast<Index>(gaps.size()));
  return step_of(std::move(step), dt, o_.form, description);
}

/// One step of a random mechanism: small, stiff, with redundant contacts, μ up to 2, limits and strong drives.
///
/// Steps without a solution are possible where fingers stand still: check_feasibility proves it.
Result<ContactProblem> make_stiff_mechanism(const StiffMechanismOptions& o, std::uint64_t seed) {
  if (o.mu_min > o.mu_max) {
    return Error{ErrorCode::wrong_usage,
                 "options 'mu_min' = " + to_text(o.mu_min) + " is above 'mu_max' = " + to_text(o.mu_max)};
  }
  RandomSource random(seed);
  MechanismStep step(o, random);
  step.build();
  return step.problem("one step of a random stiff mechanism");
}

}  // namespace

SceneRow stiff_mechanism_scene() {
  return make_scene<StiffMechanismOptions>(
      "stiff-mechanism",
      "one step of a random hand, legged robot or pinched body: redundant contacts, "
      "mu up to 2, limits, drives, push-out",
      Seeding::seeded, make_stiff_mechanism);
}

}  // namespace conebench
