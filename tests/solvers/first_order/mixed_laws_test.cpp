// First-order methods on intervals and on contacts of different laws.

#include <gtest/gtest.h>

#include "tests/solvers/newton/mixed_problems.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

const std::vector<std::string> ids = {"APGD-CCP", "APGD-NCP", "BB-CCP", "BB-NCP", "FP-DS", "FP-VI", "FP-EG", "FP-FBF"};

TEST(FirstOrderMixedLaws, JointFrictionHoldsUpToItsBoundAndBrakesBeyond) {
  for (const std::string& id : ids) {
    for (const double torque : {0.0, 0.2, -0.29, 0.5, -3.0}) {
      const JointFriction joint{torque};
      const Solved answer = solved(id, joint.problem(), 1e-10);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " " << torque;
      EXPECT_NEAR(answer.impulse[0], joint.impulse(), 1e-10) << id << " " << torque;
      EXPECT_NEAR(answer.impulse[0] / joint.inertia + joint.problem().free_term()[0], joint.velocity(), 1e-10)
          << id << " " << torque;
    }
  }
}

TEST(FirstOrderMixedLaws, EveryIdSolvesMixedProblems) {
  const ContactProblem problem = mixed_laws();
  for (const std::string& id : ids) {
    const Solved answer = solved(id, problem, 1e-9);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE(dense_natural_map(problem, answer.impulse, !id.ends_with("-CCP")), 1e-7) << id;
  }
}

}  // namespace
}  // namespace conebench
