#include "metrics/answer_residuals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace conebench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Of unit masses: a drive (bilateral), a joint's friction, and a contact (n, t) in the plane, each with R and b.
GivenProblem step_of_all_kinds() {
  GivenProblem given;
  given.blocks.first_row = {0, 1, 2, 4};
  given.blocks.cone = {BlockCone::none, BlockCone::none, BlockCone::discs};
  given.blocks.lower = Eigen::Vector4d(-infinity, -1.0, nan, nan);
  given.blocks.upper = Eigen::Vector4d(infinity, 1.0, nan, nan);
  given.blocks.mu = Eigen::Vector4d(0.0, 0.0, 0.0, 0.5);
  SparseMatrix identity(4, 4);
  identity.setIdentity();
  given.primal = PrimalForm{identity, identity, Eigen::Vector4d(0.5, -0.25, -1.0, 0.125)};
  given.bias = Eigen::Vector4d(-0.5, 0.25, 3.0, 0.75);
  given.compliance = Eigen::Vector4d(1.0, 2.0, 0.5, 0.5);
  given.gaps = Eigen::Vector3d(nan, nan, 0.002);
  given.configuration.time_step = 0.01;
  return given;
}

TEST(RigidProblem, HasRigidContactsAndDrivesAsTheyAre) {
  const auto rigid = rigid_problem(step_of_all_kinds());
  ASSERT_TRUE(rigid && *rigid);
  // In the plane a contact's tangent comes before its normal.
  EXPECT_EQ((*rigid)->compliance(), Vector(Eigen::Vector4d(1.0, 2.0, 0.0, 0.0)));
  EXPECT_EQ((*rigid)->free_term(), Vector(Eigen::Vector4d(0.0, 0.0, 0.125, -1.0 + 0.2)));
}

TEST(RigidProblem, OfAContactWithoutComplianceIsTheStepItself) {
  GivenProblem given = step_of_all_kinds();
  given.compliance.tail<2>().setZero();
  given.gaps = Vector();  // not needed
  const auto rigid = rigid_problem(given);
  ASSERT_TRUE(rigid && *rigid);
  EXPECT_EQ((*rigid)->free_term(), Vector(Eigen::Vector4d(0.0, 0.0, 0.875, 2.0)));
}

TEST(RigidProblem, IsNotKnownWithoutAGapInPenetrationItIsNotPushedOut) {
  GivenProblem given = step_of_all_kinds();
  given.gaps[2] = -0.01;
  EXPECT_EQ((*rigid_problem(given))->free_term()[3], -1.0);
  given.gaps[2] = nan;
  EXPECT_FALSE(*rigid_problem(given));
  given.gaps[2] = 0.0;
  given.configuration.time_step.reset();
  EXPECT_FALSE(*rigid_problem(given));
}

TEST(AnswerJudge, JudgesAnswersOnTheirOwnLawAndSaysWhere) {
  const GivenProblem given = step_of_all_kinds();
  const auto problem = problem_from_blocks(given);
  ASSERT_TRUE(problem);
  const auto judge = AnswerJudge::create(*problem, given);
  ASSERT_TRUE(judge);
  EXPECT_EQ(judge->law(), "ncp");
  // Nothing pushes: the contact opens at 2 m/s and slips, which is none of the CCP's dual cone's business.
  const AnswerResiduals open = (*judge)(Vector::Zero(4), "ccp");
  EXPECT_EQ(open.own.scaled, 0.0);
  EXPECT_EQ(open.modes.open, 1);
  // Between rigid bodies it closes at 0.8 m/s.
  ASSERT_TRUE(open.rigid);
  EXPECT_EQ(open.rigid->block, 2);
  EXPECT_NEAR(open.rigid->speed, std::hypot(0.8 - 0.5 * 0.125, 0.125), 1e-15);
}

}  // namespace
}  // namespace conebench
