#pragma once

#include <Eigen/Geometry>
#include <utility>
#include <vector>

#include "scenes/random_source.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::testing {

inline Eigen::Matrix3d random_rotation(RandomSource& random) {
  const Eigen::Vector4d q = Eigen::Vector4d::NullaryExpr([&](Index) { return random.uniform(-1.0, 1.0); });
  return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

/// Rows D R (v_i − v_j) of contacts between nodes, by the nodes' first columns; j < 0: the static world.
struct NodeContact {
  int i = 0, j = -1;
  Eigen::Matrix3d entries = Eigen::Matrix3d::Identity();
};

inline SparseMatrix contact_jacobian(const std::vector<NodeContact>& contacts, Index velocities) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t m = 0; m < contacts.size(); ++m) {
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        const int row = 3 * static_cast<int>(m) + r;
        entries.emplace_back(row, contacts[m].i + c, contacts[m].entries(r, c));
        if (contacts[m].j >= 0) entries.emplace_back(row, contacts[m].j + c, -contacts[m].entries(r, c));
      }
    }
  }
  SparseMatrix jacobian(3 * static_cast<Index>(contacts.size()), velocities);
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return jacobian;
}

inline ContactProblem primal_problem(SparseMatrix mass, SparseMatrix jacobian, Vector velocity, const Vector& bias,
                                     std::vector<double> friction, const Vector& compliance = {}) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, std::move(friction)).value();
  data.free_term = jacobian * velocity + bias;
  data.bias = bias;
  data.compliance = compliance;
  data.primal = PrimalForm{std::move(mass), std::move(jacobian), std::move(velocity)};
  return ContactProblem::create(std::move(data)).value();
}

/// An elastic block whose bottom nodes touch surfaces of any direction: contacts open, stick and slide.
inline ContactProblem soft_mesh(std::uint64_t seed, double compliance = 0.0) {
  RandomSource random(seed);
  const ContactProblem block = make_problem("soft-block", {{"nx", 2L + static_cast<long>(seed % 3)},
                                                           {"ny", 2L + static_cast<long>(seed / 3 % 2)},
                                                           {"nz", 1L + static_cast<long>(seed % 2)},
                                                           {"young", 1e4 * static_cast<double>(1 + seed % 7)},
                                                           {"poisson", 0.3 + 0.02 * static_cast<double>(seed % 5)}});
  const SparseMatrix& mass = block.primal()->mass;
  std::vector<NodeContact> contacts;
  std::vector<double> friction;
  for (Index m = 0; m < block.cones().contacts(); ++m) {
    // The normal is within half a radian of the vertical.
    const Eigen::Vector3d axis(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(-3.0, 3.0));
    contacts.push_back(
        {static_cast<int>(3 * m), -1, Eigen::AngleAxisd(axis.norm(), axis.normalized()).toRotationMatrix()});
    friction.push_back(random.uniform(0.1, 0.8));
  }
  Vector velocity = Vector::NullaryExpr(mass.rows(), [&](Index k) {
    return (k % 3 == 0 ? 0.3 : k % 3 == 2 ? -0.1 : 0.0) + random.uniform(-0.1, 0.1);
  });
  Vector bias = Vector::Zero(block.rows());
  for (Index m = 0; m < block.cones().contacts(); ++m) bias[3 * m + 2] = random.uniform(-0.02, 0.08);
  return primal_problem(mass, contact_jacobian(contacts, mass.rows()), velocity, bias, friction,
                        compliance > 0.0 ? Vector::Constant(block.rows(), compliance) : Vector());
}

/// A block on another on the ground: contacts of pairs of nodes above those of nodes and world.
inline ContactProblem two_soft_blocks(std::uint64_t seed) {
  RandomSource random(seed);
  const auto block = [](double young) {
    return make_problem("soft-block", {{"nx", 2L}, {"ny", 2L}, {"nz", 1L}, {"young", young}});
  };
  const ContactProblem lower = block(2e4);
  const ContactProblem upper = block(5e4);
  const Index n = lower.primal()->mass.rows();
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [problem, at] : {std::pair{lower, Index{0}}, std::pair{upper, n}}) {
    const SparseMatrix& mass = problem.primal()->mass;
    for (Index c = 0; c < mass.outerSize(); ++c) {
      for (SparseMatrix::InnerIterator e(mass, c); e; ++e) {
        entries.emplace_back(static_cast<int>(at + e.row()), static_cast<int>(at + e.col()), e.value());
      }
    }
  }
  SparseMatrix mass(2 * n, 2 * n);
  mass.setFromTriplets(entries.begin(), entries.end());
  std::vector<NodeContact> contacts;
  const auto face = static_cast<int>(lower.cones().contacts());
  const int top = static_cast<int>(n) - 3 * face;
  for (int m = 0; m < face; ++m) {
    contacts.push_back({3 * m, -1});
    contacts.push_back({static_cast<int>(n) + 3 * m, top + 3 * m,
                        Eigen::AngleAxisd(random.uniform(-3.0, 3.0), Eigen::Vector3d::UnitZ()).toRotationMatrix()});
  }
  Vector velocity = Vector::NullaryExpr(2 * n, [&](Index k) {
    const double down = k < n ? -0.1 : -0.25;
    return (k % 3 == 2 ? down : k % 3 == 0 && k >= n ? 0.3 : 0.0) + random.uniform(-0.05, 0.05);
  });
  return primal_problem(mass, contact_jacobian(contacts, 2 * n), velocity, Vector::Zero(6 * face),
                        std::vector<double>(static_cast<std::size_t>(2 * face), 0.4));
}

/// A rigid box of 0.5 kg and edge 0.2 m on its four lower corners, pushed along x: no row is a node's.
inline ContactProblem box_on_corners(double push = 0.05, double mu = 0.3) {
  SparseMatrix mass(6, 6);
  for (int k = 0; k < 6; ++k) mass.insert(k, k) = k < 3 ? 0.5 : 0.5 * 0.04 / 6.0;
  Matrix jacobian = Matrix::Zero(12, 6);
  for (int k = 0; k < 4; ++k) {
    const Eigen::Vector3d arm((k & 1) != 0 ? 0.1 : -0.1, (k & 2) != 0 ? 0.1 : -0.1, -0.1);
    jacobian.block<3, 3>(3 * k, 0).setIdentity();
    jacobian.block<3, 3>(3 * k, 3) << 0, arm[2], -arm[1], -arm[2], 0, arm[0], arm[1], -arm[0], 0;
  }
  Vector velocity(6);
  velocity << push, 0, -0.0981, 0, 0, 0;
  return primal_problem(mass, jacobian.sparseView(), velocity, Vector::Zero(12), std::vector<double>(4, mu));
}

}  // namespace conebench::testing
