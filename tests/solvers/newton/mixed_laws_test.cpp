// Newton's methods and staggered projections on intervals and on contacts of different laws.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems/conversions.hpp"
#include "tests/solvers/newton/mixed_problems.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

const std::vector<std::string> ncp_ids = {"NSN-AC", "NSN-NM", "NSN-FB", "STAGGERED"};
const OptionValues factored = {{"primal", "factor"}};

TEST(NewtonMixedLaws, JointFrictionHoldsUpToItsBoundAndBrakesBeyond) {
  for (const std::string& id : ncp_ids) {
    for (const double torque : {0.0, 0.2, -0.29, 0.5, -3.0}) {
      const JointFriction joint{torque};
      const Solved answer = solved(id, joint.problem());
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " " << torque;
      EXPECT_NEAR(answer.impulse[0], joint.impulse(), 1e-12) << id << " " << torque;
      EXPECT_NEAR(answer.impulse[0] / joint.inertia + joint.problem().free_term()[0], joint.velocity(), 1e-12)
          << id << " " << torque;
    }
  }
}

TEST(NewtonMixedLaws, CompliantIntervalFollowsHubersLaw) {
  // G = 1, R = 1/4: λ = −g / 1.25 within the bounds, else the bound.
  for (const double g : {0.5, -0.5, 4.0, -4.0}) {
    const ContactProblem problem =
        problem_of(Matrix::Identity(1, 1), Vector::Constant(1, g), {{-1.0, 2.0}}, {}, 0, 0, Vector::Constant(1, 0.25));
    for (const char* rule : {"armijo", "exact"}) {
      const Solved answer = solved("NEWTON-CCP", problem, 1e-12, {{"primal", "factor"}, {"line_search", rule}});
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << g << " " << rule;
      EXPECT_NEAR(answer.impulse[0], std::clamp(-g / 1.25, -1.0, 2.0), 1e-12) << g << " " << rule;
    }
  }
}

TEST(NewtonMixedLaws, EveryIdSolvesMixedProblems) {
  const ContactProblem problem = mixed_laws();
  const Solved reference = solved("NSN-NM", problem);
  for (const std::string& id : ncp_ids) {
    const Solved answer = solved(id, problem, 1e-10);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE(dense_natural_map(problem, answer.impulse), 1e-7) << id;
    EXPECT_LE((answer.impulse - reference.impulse).norm(), 1e-6 * reference.impulse.norm()) << id;
  }
  const ConeProduct& cones = problem.cones();
  const Index first = cones.first_interval_row();
  int at_bound = 0;
  for (Index row = first; row < cones.first_contact_row(); ++row) {
    const auto [lower, upper] = cones.bounds(row);
    at_bound += reference.impulse[row] == lower || reference.impulse[row] == upper ? 1 : 0;
  }
  EXPECT_GE(at_bound, 2) << "some intervals are at a bound";
  EXPECT_LE(at_bound, 3) << "and some inside";
}

TEST(NewtonMixedLaws, StaggeredReachesOneAnswerWithEveryInnerSolver) {
  const ContactProblem problem = mixed_laws(0.2);
  const Solved reference = solved("NSN-NM", problem);
  for (const char* inner : {"admm", "pgs", "newton"}) {
    const Solved answer = solved("STAGGERED", problem, 1e-9, {{"normal", inner}, {"tangential", inner}});
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << inner;
    EXPECT_LE((answer.impulse - reference.impulse).norm(), 1e-6 * reference.impulse.norm()) << inner;
  }
}

TEST(NewtonMixedLaws, PrimalNewtonAgreesWithAcceleratedGradientOnTheConeProblem) {
  const ContactProblem problem = with_compliance(mixed_laws(), 0.05);
  const Solved expected = solved("APGD-CCP", problem, 1e-11);
  ASSERT_EQ(expected.summary.status, SolveStatus::converged);
  EXPECT_LE(dense_natural_map(problem, expected.impulse, false), 1e-9);
  for (const char* storage : {"dense", "sparse"}) {
    const Solved answer = solved("NEWTON-CCP", problem, 1e-11, {{"primal", "factor"}, {"storage", storage}});
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << storage;
    EXPECT_LE((answer.impulse - expected.impulse).norm(), 1e-8 * expected.impulse.norm()) << storage;
  }
}

TEST(NewtonMixedLaws, PyramidsAreSolvedOrRefusedWithTheReason) {
  const ContactProblem problem = problem_of(Matrix::Identity(3, 3), Vector(Eigen::Vector3d(3.0, 0.2, -1.0)), {},
                                            {{ConeShape::pyramid, {2}, {0.5, 0.5}}});
  for (const char* id : {"NSN-AC", "NSN-NM"}) {
    const Solved answer = solved(id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE(dense_natural_map(problem, answer.impulse), 1e-10) << id;
  }
  const auto reason = require_solver("STAGGERED").value()->make({}).value()->unsupported_reason(problem);
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(*reason, ::testing::HasSubstr("pyramids"));
}

}  // namespace
}  // namespace conebench
