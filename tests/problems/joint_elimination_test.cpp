#include "problems/joint_elimination.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

TEST(JointElimination, LeavesJointsAtRestAndTheOthersTheirVelocity) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const ContactProblem problem = testing::make_problem(
        "random", {{"contacts", 5L}, {"joints", 6L}, {"limits", 2L}, {"compliance", seed == 3 ? 0.01 : 0.0}}, seed);
    const JointElimination reduced = eliminate_joints(problem).value();
    const Index others = problem.rows() - 6;
    Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 2.0);
    reduced.complete(impulse);
    Vector sigma(problem.rows());
    problem.velocity(impulse, sigma);
    EXPECT_LE(sigma.head(6).lpNorm<Eigen::Infinity>(), 1e-10);
    const Vector expected = reduced.matrix.dense() * impulse.tail(others) + reduced.free_term;
    EXPECT_LE((sigma.tail(others) - expected).lpNorm<Eigen::Infinity>(), 1e-10);
  }
}

/// Two equal joint rows and a contact; the joints' free velocities as given.
ContactProblem redundant(double first, double second) {
  Matrix g = Matrix::Identity(5, 5);
  g.topLeftCorner(2, 2).setOnes();
  g(2, 0) = g(2, 1) = g(0, 2) = g(1, 2) = 0.5;
  ContactProblemData data;
  data.cones = ConeProduct::create(2, 0, {0.5}).value();
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Zero(5);
  data.free_term << first, second, 0.1, 0.0, -1.0;
  return ContactProblem::create(std::move(data)).value();
}

TEST(JointElimination, RedundantJointsShareTheLeastImpulse) {
  const ContactProblem problem = redundant(0.4, 0.4);
  const JointElimination reduced = eliminate_joints(problem).value();
  Vector impulse = Vector::Zero(5);
  reduced.complete(impulse);
  EXPECT_NEAR(impulse[0], -0.2, 1e-14);
  EXPECT_NEAR(impulse[1], -0.2, 1e-14);
  EXPECT_NEAR(reduced.matrix.dense()(0, 0), 1.0 - 0.25, 1e-14);
}

TEST(JointElimination, JointsThatContradictEachOtherKeepAVelocity) {
  const ContactProblem problem = redundant(0.4, -0.4);
  Vector impulse = Vector::Zero(5);
  eliminate_joints(problem).value().complete(impulse);
  Vector sigma(5);
  problem.velocity(impulse, sigma);
  EXPECT_NEAR(sigma[0], 0.4, 1e-14);
  EXPECT_NEAR(sigma[1], -0.4, 1e-14);
}

/// A_cc − A_cj (D A_jj D)⁺ … by dense products, everything at once.
Matrix dense_complement(const ContactProblem& problem) {
  const Index joints = problem.cones().joints();
  const Index others = problem.rows() - joints;
  Matrix full = problem.blocks().dense();
  full.diagonal() += problem.compliance();
  const Vector d = inverse_roots(full.diagonal().head(joints));
  Eigen::CompleteOrthogonalDecomposition<Matrix> block;
  block.setThreshold(1e-12);
  block.compute(d.asDiagonal() * full.topLeftCorner(joints, joints) * d.asDiagonal());
  const Matrix map = d.asDiagonal() * block.solve(d.asDiagonal() * full.topRightCorner(joints, others));
  return full.bottomRightCorner(others, others) - full.bottomLeftCorner(others, joints) * map;
}

/// `pairs` bodies' joints of `rows` rows each, of which every second one repeats the one before; pair p touches
/// contacts p and p + 1 of pairs + 2, the last of which no joint touches. G is not symmetric.
ContactProblem chain(Index pairs, Index rows, double compliance) {
  const Index joints = pairs * rows;
  const Index contacts = pairs + 2;
  Matrix jacobian = Matrix::Zero(joints + 3 * contacts, 3 * contacts);
  jacobian.bottomRows(3 * contacts).setIdentity();
  for (Index j = 0; j < joints; ++j) {
    const Index p = j / rows;
    for (Index k = 0; k < 6; ++k)
      jacobian(j, 3 * p + k) =
          std::sin(1.0 + static_cast<double>(j % 2 == 1 ? j - 1 : j) + 2.5 * static_cast<double>(k));
  }
  Matrix g = jacobian * jacobian.transpose();
  for (Index p = 0; p + 1 < pairs; ++p)
    g.block(p * rows, (p + 1) * rows, rows, rows).setZero(), g.block((p + 1) * rows, p * rows, rows, rows).setZero();
  g.topRightCorner(joints, 3 * contacts) *= 0.9;
  ContactProblemData data;
  data.cones = ConeProduct::create(joints, 0, std::vector<double>(static_cast<std::size_t>(contacts), 0.5)).value();
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::LinSpaced(g.rows(), -1.0, 1.0);
  data.compliance = Vector::Constant(g.rows(), compliance);
  return ContactProblem::create(std::move(data)).value();
}

TEST(JointElimination, GroupsOfJointsGiveWhatAllJointsAtOnceGive) {
  for (const double compliance : {0.0, 0.01}) {
    const ContactProblem problem = chain(4, 3, compliance);
    const JointElimination reduced = eliminate_joints(problem).value();
    EXPECT_EQ(reduced.groups.size(), 4U);
    EXPECT_LE((reduced.matrix.dense() - dense_complement(problem)).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

TEST(JointElimination, FillsOnlyBetweenContactsThatAGroupTouches) {
  const JointElimination reduced = eliminate_joints(chain(4, 3, 0.0)).value();
  for (Index i = 0; i < 6; ++i) {
    for (Index k = 0; k < 6; ++k) {
      const bool neighbours = i == k || (std::abs(i - k) == 1 && std::max(i, k) < 5);
      EXPECT_EQ(reduced.matrix.find(i, k) >= 0, neighbours) << i << ' ' << k;
    }
  }
}

TEST(JointElimination, ThousandsOfContactsTakeNoDenseMatrix) {
  Index touched = 0;
  for (const long contacts : {1000L, 4000L}) {
    const ContactProblem problem =
        testing::make_problem("random", {{"contacts", contacts}, {"coupling", 2L}, {"joints", 6L}}, 1);
    const Index stored = problem.blocks().stored_blocks();
    const JointElimination reduced = eliminate_joints(problem, 1e6).value();
    const Index filled = reduced.matrix.stored_blocks();
    EXPECT_LE(filled, stored + 2000);
    touched = std::max(touched, filled - stored);
  }
  EXPECT_LE(touched, 2000);
}

TEST(JointElimination, RefusesWhatTakesMoreThanAllowed) {
  const ContactProblem problem = testing::make_problem("random", {{"contacts", 20L}, {"joints", 6L}}, 1);
  EXPECT_TRUE(eliminate_joints(problem, 1e6).ok());
  const auto refused = eliminate_joints(problem, 1e3);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

/// A joint row of rounding (1e-18, and a negative diagonal) beside a sound one that nothing couples with it.
TEST(JointElimination, ARowOfRoundingIsRedundantThoughItIsAGroupOfItsOwn) {
  Matrix g = Matrix::Identity(5, 5);
  g(1, 1) = -1e-18;
  g(1, 2) = g(2, 1) = 1e-9;
  ContactProblemData data;
  data.cones = ConeProduct::create(2, 0, {0.5}).value();
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Ones(5);
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const JointElimination reduced = eliminate_joints(problem).value();
  EXPECT_EQ(reduced.offset[1], 0.0);
  EXPECT_EQ(reduced.matrix.dense()(0, 0), 1.0);
}

}  // namespace
}  // namespace conebench
