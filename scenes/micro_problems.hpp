#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::closed_form {

/// A problem small enough to be solved by hand. Impulses in N s, velocities in m/s.
struct MicroProblem {
  std::string name;
  std::string asks;  ///< what a right answer shows
  ContactProblem problem;
  /// σ of every solution of the NCP; nothing where it is not unique.
  std::optional<Vector> velocity;
  bool relaxed_differs = false;  ///< something slides, so that the CCP's answer is another
};

inline Vector vector(std::initializer_list<double> values) {
  Vector result(static_cast<Index>(values.size()));
  Index i = 0;
  for (const double value : values) result[i++] = value;
  return result;
}

inline ContactProblem micro(const Matrix& delassus, const Vector& free_term, ConeProduct cones,
                            const Vector& compliance = {}) {
  ContactProblemData data;
  data.cones = std::move(cones);
  data.delassus = make_dense_delassus(delassus);
  data.free_term = free_term;
  data.compliance = compliance;
  data.provenance.name = "micro";
  return ContactProblem::create(std::move(data)).value();
}

inline ConeProduct cones(Index joints, Index limits, std::vector<double> friction, int dimension = 3) {
  return ConeProduct::create(joints, limits, std::move(friction), dimension).value();
}

inline ConeProduct rolling_cones(std::vector<double> friction, std::vector<double> rolling, Index joints = 0,
                                 Index limits = 0) {
  return ConeProduct::create(joints, limits, std::move(friction), 5, std::move(rolling)).value();
}

/// Joints, limits, rows with bounds, contacts of any law.
inline ConeProduct general_cones(Index joints, Index limits, std::vector<Interval> intervals,
                                 const std::vector<FrictionLaw>& laws = {}) {
  return ConeProduct::create(joints, limits, std::move(intervals), laws).value();
}

inline FrictionLaw ellipsoid(std::vector<double> coefficients) {
  return {ConeShape::discs, {static_cast<int>(coefficients.size())}, std::move(coefficients)};
}
inline FrictionLaw pyramid(std::vector<double> coefficients) {
  return {ConeShape::pyramid, {static_cast<int>(coefficients.size())}, std::move(coefficients)};
}
inline FrictionLaw product_torsion(double mu, double mu_t) { return {ConeShape::discs, {2, 1}, {mu, mu, mu_t}}; }

/// `problem` with two rows between its limits and its contacts that nothing moves and that move nothing: one with the
/// bounds ±1, and one whose impulse is given, 0. Rows of the old problem keep their order.
inline ContactProblem with_idle_intervals(const ContactProblem& problem) {
  const ConeProduct& old = problem.cones();
  const Index at = old.first_contact_row();
  const Index behind = old.rows() - at;
  const auto wide = [&](const Vector& x) {
    Vector result = Vector::Zero(old.rows() + 2);
    result.head(at) = x.head(at);
    result.tail(behind) = x.tail(behind);
    return result;
  };
  std::vector<Interval> intervals(old.intervals().begin(), old.intervals().end());
  intervals.insert(intervals.end(), {Interval{-1.0, 1.0}, Interval{0.0, 0.0}});
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < old.contacts(); ++i) laws.push_back(old.law(i));
  const Matrix given = problem.delassus().dense();
  Matrix delassus = Matrix::Identity(old.rows() + 2, old.rows() + 2);
  delassus.topLeftCorner(at, at) = given.topLeftCorner(at, at);
  delassus.topRightCorner(at, behind) = given.topRightCorner(at, behind);
  delassus.bottomLeftCorner(behind, at) = given.bottomLeftCorner(behind, at);
  delassus.bottomRightCorner(behind, behind) = given.bottomRightCorner(behind, behind);
  return micro(delassus, wide(problem.free_term()), general_cones(old.joints(), old.limits(), intervals, laws),
               wide(problem.compliance()));
}

/// A cube of 1 kg and edge 1 on `corners` of its bottom and top corners, all pressed to fixed bodies: G = J M⁻¹ Jᵀ of
/// rank 6. `push`: speed along x that it has; gravity over 0.01 s.
inline ContactProblem cube_on_corners(int corners, double push, double mu) {
  Matrix jacobian = Matrix::Zero(3 * corners, 6);
  for (int k = 0; k < corners; ++k) {
    const Eigen::Vector3d arm((k & 1) != 0 ? 0.5 : -0.5, (k & 2) != 0 ? 0.5 : -0.5, (k & 4) != 0 ? 0.5 : -0.5);
    jacobian.block<3, 3>(3 * k, 0).setIdentity();
    jacobian.block<3, 3>(3 * k, 3) << 0, arm[2], -arm[1], -arm[2], 0, arm[0], arm[1], -arm[0], 0;
  }
  Vector inverse_mass(6);
  inverse_mass << 1, 1, 1, 6, 6, 6;
  Vector velocity(6);
  velocity << push, 0, -0.0981, 0, 0, 0;
  return micro(jacobian * inverse_mass.asDiagonal() * jacobian.transpose(), jacobian * velocity,
               cones(0, 0, std::vector<double>(static_cast<std::size_t>(corners), mu)));
}

inline std::vector<MicroProblem> micro_problems() {
  const Matrix identity = Matrix::Identity(3, 3);
  std::vector<MicroProblem> all;
  const auto add = [&](std::string name, std::string asks, ContactProblem problem, std::optional<Vector> velocity,
                       bool relaxed_differs = false) {
    all.push_back({std::move(name), std::move(asks), std::move(problem), std::move(velocity), relaxed_differs});
  };

  add("no constraint at all", "an empty problem is solved by nothing", micro(Matrix(0, 0), Vector(0), cones(0, 0, {})),
      Vector(0));
  add("nothing moves", "zero is seen to be an answer", micro(identity, vector({0, 0, 0}), cones(0, 0, {0.5})),
      vector({0, 0, 0}));
  add("stick", "friction below its limit holds",
      micro(vector({1, 1, 2}).asDiagonal(), vector({0.1, -0.1, -1}), cones(0, 0, {0.5})), vector({0, 0, 0}));
  add("slip", "at the limit friction opposes the slip, which stays in the tangent plane",
      micro(identity, vector({3, 0, -1}), cones(0, 0, {0.5})), vector({2.5, 0, 0}), true);
  add("take-off", "a contact that opens carries nothing", micro(identity, vector({1, 0, 0.2}), cones(0, 0, {0.5})),
      vector({1, 0, 0.2}), true);
  add("no friction", "mu = 0: a normal impulse alone", micro(identity, vector({1, 2, -3}), cones(0, 0, {0})),
      vector({1, 2, 0}));
  {
    Matrix coupled(3, 3);
    coupled << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 1;
    const Eigen::Vector3d impulse(-0.3, 0.4, 1.0);  // on the cone of mu = 0.5, against the slip below
    const Eigen::Vector3d slip(0.6, -0.8, 0.0);
    add("slip where normal and tangent are coupled", "the same where friction changes the normal velocity",
        micro(coupled, slip - coupled * impulse, cones(0, 0, {0.5})), slip, true);
  }
  add("the same contact twice", "redundant, sticking: G is singular, the velocity is unique",
      micro(identity.replicate(2, 2), vector({0.1, 0, -1, 0.1, 0, -1}), cones(0, 0, {0.5, 0.5})), Vector::Zero(6));
  add("the same sliding contact twice", "redundant, sliding",
      micro(identity.replicate(2, 2), vector({3, 0, -1, 3, 0, -1}), cones(0, 0, {0.5, 0.5})),
      vector({2.5, 0, 0, 2.5, 0, 0}), true);
  add("cube held at four corners", "12 rows of rank 6, many answers", cube_on_corners(4, 0.01, 0.8), Vector::Zero(12));
  add("cube held at eight corners", "24 rows of rank 6", cube_on_corners(8, 0.01, 0.8), Vector::Zero(24));
  {
    Matrix matrix(2, 2);
    matrix << 2, 1, 1, 3;
    add("joints only", "bilateral rows, a linear system", micro(matrix, vector({1, -1}), cones(2, 0, {})),
        vector({0, 0}));
    add("redundant joints", "a singular linear system that has solutions",
        micro(Matrix::Ones(2, 2), vector({1, 1}), cones(2, 0, {})), vector({0, 0}));
    add("limits only", "unilateral rows: one active, one open", micro(matrix, vector({-1, 2}), cones(0, 2, {})),
        vector({0, 2.5}));
  }
  {
    // λ = (0.4 | 1, 0 | 0.1, −0.2, 1), σ = (0 | 0, 0.7 | 0, 0, 0): a joint, an active and an open limit, a stuck
    // contact.
    const Eigen::Matrix<double, 6, 6> random = Eigen::Matrix<double, 6, 6>::NullaryExpr(
        [](Index i, Index j) { return 0.3 * std::sin(double(7 * i + 3 * j * j + 1)); });
    const Matrix matrix = random * random.transpose() + Matrix::Identity(6, 6);
    const Vector velocity = vector({0, 0, 0.7, 0, 0, 0});
    add("joint, limits and contact", "all kinds of rows coupled",
        micro(matrix, velocity - matrix * vector({0.4, 1, 0, 0.1, -0.2, 1}), cones(1, 2, {0.5})), velocity);
  }
  add("stick in 2D", "contacts of two rows (t, n)",
      micro(Matrix::Identity(2, 2), vector({0.2, -1}), cones(0, 0, {0.5}, 2)), vector({0, 0}));
  add("slip in 2D", "sliding in the plane", micro(Matrix::Identity(2, 2), vector({-3, -1}), cones(0, 0, {0.5}, 2)),
      vector({-2.5, 0}), true);
  add("compliant contact", "R counts beside G",
      micro(identity, vector({0.2, 0, -2}), cones(0, 0, {0.5}), vector({1, 1, 3})), vector({0, 0, 0}));
  add("compliance alone holds", "G = 0: R alone carries",
      micro(0.0 * identity, vector({0, 0, -1}), cones(0, 0, {0.5}), vector({1, 1, 1})), vector({0, 0, 0}));
  {
    Matrix matrix = Matrix::Zero(6, 6);
    matrix.topLeftCorner<3, 3>() = identity;
    add("a zero block that opens", "a contact that nothing can move, and that opens",
        micro(matrix, vector({0.1, 0, -1, 0.3, 0, 0.5}), cones(0, 0, {0.5, 0.5})), vector({0, 0, 0, 0.3, 0, 0.5}));
  }
  const Matrix identity5 = Matrix::Identity(5, 5);
  add("rolling friction that holds", "moments below their limit stop rolling",
      micro(identity5, vector({0.1, 0, -1, 0.05, 0.1}), rolling_cones({0.5}, {0.2})), Vector::Zero(5));
  add("rolling", "moments at the limit oppose the rolling",
      micro(identity5, vector({0.1, 0, -1, 1, 0}), rolling_cones({0.5}, {0.2})), vector({0, 0, 0, 0.8, 0}), true);
  add("sliding and rolling", "both limits at once",
      micro(identity5, vector({3, 0, -1, 0, -1}), rolling_cones({0.5}, {0.2})), vector({2.5, 0, 0, 0, -0.8}), true);
  add("take-off with spin", "an open contact carries no moment",
      micro(identity5, vector({1, 0, 0.2, 0, 3}), rolling_cones({0.5}, {0.2})), vector({1, 0, 0.2, 0, 3}), true);
  add("no rolling friction", "mu_r = 0: no moment",
      micro(identity5, vector({0.1, 0, -1, 2, 0}), rolling_cones({0.5}, {0.0})), vector({0, 0, 0, 2, 0}));
  {
    // In millimetres' worth of moments: a joint, an active limit, a contact that rolls and one that sticks.
    const Vector units = vector({1, 1, 1, 1, 1, 100, 100, 1, 1, 1, 100, 100});
    const Matrix random = Matrix::NullaryExpr(
        12, 12, [](Index i, Index j) { return 0.2 * std::sin(double(7 * i + 3 * j * j + i * j + 1)); });
    const Matrix matrix =
        units.asDiagonal() * (random * random.transpose() + Matrix::Identity(12, 12)) * units.asDiagonal();
    const Vector impulse = vector({0.4, 1, 0.1, -0.2, 1, 0.001, 0, 0.2, 0.1, 2, 0.0005, -0.0005});
    Vector velocity = Vector::Zero(12);
    velocity[5] = -70.0;
    add("joint, limit and contacts with rolling friction", "all kinds of rows, moments in small units",
        micro(matrix, velocity - matrix * impulse, rolling_cones({0.5, 0.5}, {0.001, 0.001}, 1, 1)), velocity, true);
  }
  const auto one = [](double value) { return Matrix::Constant(1, 1, value); };
  const double infinity = std::numeric_limits<double>::infinity();
  // A joint of inertia 2 with a torque that would give it the speed σ = g in a step.
  const auto row = [&](double speed, double lower, double upper, double compliance = 0.0) {
    return micro(one(0.5), vector({speed}), general_cones(0, 0, {{lower, upper}}), vector({compliance}));
  };
  add("joint friction that holds", "a torque below dry friction moves nothing", row(-0.4, -1, 1), vector({0}));
  add("joint friction that slips", "beyond it, friction is at its bound", row(-0.7, -1, 1), vector({-0.2}));
  add("joint friction that slips back", "the same at the other bound", row(0.7, -1, 1), vector({0.2}));
  add("drive below its effort limit", "a bounded row with compliance is a spring and damper", row(-0.6, -1, 1, 0.25),
      vector({0}));
  add("drive at its effort limit", "the bound counts, not the spring", row(-3, -1, 1, 0.25), vector({-2.25}));
  add("taut tendon", "a row that can only pull, pulled", row(0.5, -infinity, 0), vector({0}));
  add("slack tendon", "and left alone", row(-0.5, -infinity, 0), vector({-0.5}));
  add("given impulse", "equal bounds leave nothing to choose", row(0.5, 0.3, 0.3), vector({0.65}));
  add("bounds without zero", "an impulse between 1 and 2 that holds", row(-0.75, 1, 2), vector({0}));
  {
    Matrix coupled(2, 2);  // inertias 1 and 2, geared 1:1, friction in the first
    coupled << 1.5, 1, 1, 1;
    add("coupled joints that turn", "friction of one joint slows both",
        micro(coupled, vector({1.7, 2}), general_cones(1, 0, {{-1, 1}})), vector({0, 1.6 / 3.0}));
    add("coupled joints that stand", "and holds the sum of their torques",
        micro(coupled, vector({2.6, 2}), general_cones(1, 0, {{-1, 1}})), vector({0, 0}));
  }
  const Matrix identity4 = Matrix::Identity(4, 4);
  add("orthotropic friction that holds", "a push inside the ellipse moves nothing",
      micro(identity, vector({0.18, 0.6, -1}), general_cones(0, 0, {}, {ellipsoid({0.3, 0.9})})), vector({0, 0, 0}));
  {
    // Along x the force is 0.3 cos φ, along y 0.9 sin φ; the slip is −(cos φ / 0.3, sin φ / 0.9) times a speed.
    const Vector impulse = vector({0.3 * 0.6, 0.9 * 0.8, 1});
    const Vector slip = vector({-0.6 / 0.3, -0.8 / 0.9, 0});
    add("orthotropic slip", "friction dissipates most, and so is not against the slip",
        micro(identity, slip - impulse, general_cones(0, 0, {}, {ellipsoid({0.3, 0.9})})), slip, true);
    add("orthotropic take-off", "an open contact carries nothing, whatever its ellipse",
        micro(identity, vector({-2, 1, 0.3}), general_cones(0, 0, {}, {ellipsoid({0.3, 0.9})})), vector({-2, 1, 0.3}),
        true);
  }
  add("torsion that holds", "a spin below its bound stops",
      micro(identity4, vector({0.1, 0, 0.05, -1}), general_cones(0, 0, {}, {ellipsoid({0.5, 0.5, 0.1})})),
      Vector::Zero(4));
  add("spinning disc", "spin falls by mu_t times the normal impulse over the inertia",
      micro(identity4, vector({0, 0, 2, -1}), general_cones(0, 0, {}, {ellipsoid({0.5, 0.5, 0.1})})),
      vector({0, 0, 1.9, 0}), true);
  {
    // On the ellipsoid at (0.6, 0, 0.8): λ = (0.3, 0, 0.08, 1), slip −(1.2, 0, 8).
    const Vector impulse = vector({0.3, 0, 0.08, 1});
    const Vector slip = vector({-1.2, 0, -8, 0});
    add("disc that spins and slides", "sliding and spinning share one bound",
        micro(identity4, slip - impulse, general_cones(0, 0, {}, {ellipsoid({0.5, 0.5, 0.1})})), slip, true);
  }
  add("torsion on its own", "sliding and spinning with a bound each",
      micro(identity4, vector({3, 0, -1, 2}), general_cones(0, 0, {}, {product_torsion(0.5, 0.1)})),
      vector({2.5, 0, 0, 1.9}), true);
  add("torsion on its own that holds", "a contact that slides and does not spin",
      micro(identity4, vector({3, 0, -1, 0.05}), general_cones(0, 0, {}, {product_torsion(0.5, 0.1)})),
      vector({2.5, 0, 0, 0}), true);
  {
    const Matrix identity6 = Matrix::Identity(6, 6);
    const FrictionLaw law = ellipsoid({0.5, 0.5, 0.05, 0.2, 0.2});
    add("ball that rests", "six rows, all inside one ellipsoid",
        micro(identity6, vector({0.2, 0, 0, 0, 0.1, -1}), general_cones(0, 0, {}, {law})), Vector::Zero(6));
    const Vector impulse = vector({0.3, 0, 0, 0, -0.16, 1});
    const Vector slip = vector({-1.2, 0, 0, 0, 4, 0});
    add("ball that rolls and slides", "six rows, at the bound",
        micro(identity6, slip - impulse, general_cones(0, 0, {}, {law})), slip, true);
  }
  add("pyramid that holds", "a push inside the pyramid, outside of half its size",
      micro(identity, vector({0.2, -0.2, -1}), general_cones(0, 0, {}, {pyramid({0.5, 0.5})})), vector({0, 0, 0}));
  add("slip on a pyramid", "the force is on the row that dissipates most",
      micro(identity, vector({3, 1, -1}), general_cones(0, 0, {}, {pyramid({0.5, 0.5})})), vector({2.5, 1, 0}), true);
  {
    // A joint, a limit, friction of a joint at its bound, a tendon, and contacts of 3, 5, 4 and 3 rows: one sticks, one
    // rolls, one spins and slides, one slides on its ellipse; all coupled.
    const ConeProduct all_kinds = general_cones(
        1, 1, {{-0.5, 0.5}, {-infinity, 0}},
        {FrictionLaw::coulomb(0.5), FrictionLaw::rolling(0.5, 0.2), ellipsoid({0.5, 0.5, 0.1}), ellipsoid({0.3, 0.9})});
    const Index n = all_kinds.rows();
    const Matrix random = Matrix::NullaryExpr(
        n, n, [](Index i, Index j) { return 0.1 * std::sin(double(7 * i + 3 * j * j + i * j + 1)); });
    const Matrix matrix = random * random.transpose() + Matrix::Identity(n, n);
    const Vector impulse =
        vector({0.4, 1, 0.5, -0.3, 0.1, -0.2, 1, 0.1, 0, 1, 0, -0.2, 0.3, 0, 0.08, 1, 0.18, 0.72, 1});
    Vector velocity = Vector::Zero(n);
    velocity[2] = -0.4;
    velocity[11] = 0.8;
    velocity.segment<3>(12) << -0.12, 0, -0.8;
    velocity.segment<2>(16) << -0.2, -0.8 / 9.0;
    add("all kinds of rows and laws", "contacts of different sizes, coupled",
        micro(matrix, velocity - matrix * impulse, all_kinds), velocity, true);
  }
  return all;
}

}  // namespace conebench::closed_form
