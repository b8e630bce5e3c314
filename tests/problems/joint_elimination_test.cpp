#include "problems/joint_elimination.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

TEST(JointElimination, LeavesJointsAtRestAndTheOthersTheirVelocity) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const ContactProblem problem = testing::make_problem(
        "random", {{"contacts", 5L}, {"joints", 6L}, {"limits", 2L}, {"compliance", seed == 3 ? 0.01 : 0.0}}, seed);
    const JointElimination reduced = eliminate_joints(problem);
    const Index others = problem.rows() - 6;
    Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 2.0);
    reduced.complete(impulse);
    Vector sigma(problem.rows());
    problem.velocity(impulse, sigma);
    EXPECT_LE(sigma.head(6).lpNorm<Eigen::Infinity>(), 1e-10);
    const Vector expected = reduced.matrix * impulse.tail(others) + reduced.free_term;
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
  const JointElimination reduced = eliminate_joints(problem);
  Vector impulse = Vector::Zero(5);
  reduced.complete(impulse);
  EXPECT_NEAR(impulse[0], -0.2, 1e-14);
  EXPECT_NEAR(impulse[1], -0.2, 1e-14);
  EXPECT_NEAR(reduced.matrix(0, 0), 1.0 - 0.25, 1e-14);
}

TEST(JointElimination, JointsThatContradictEachOtherKeepAVelocity) {
  const ContactProblem problem = redundant(0.4, -0.4);
  Vector impulse = Vector::Zero(5);
  eliminate_joints(problem).complete(impulse);
  Vector sigma(5);
  problem.velocity(impulse, sigma);
  EXPECT_NEAR(sigma[0], 0.4, 1e-14);
  EXPECT_NEAR(sigma[1], -0.4, 1e-14);
}

}  // namespace
}  // namespace conebench
