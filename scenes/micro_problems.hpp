#pragma once

#include <cmath>
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
  return all;
}

}  // namespace conebench::closed_form
