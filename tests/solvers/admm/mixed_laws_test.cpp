// ADMM on intervals and on contacts of different laws.

#include <gtest/gtest.h>

#include "solvers/admm/admm.hpp"
#include "tests/solvers/admm/admm_fixtures.hpp"
#include "tests/solvers/admm/literal_admm.hpp"
#include "tests/solvers/newton/mixed_problems.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

TEST(AdmmMixedLaws, JointFrictionHoldsUpToItsBoundAndBrakesBeyond) {
  for (const SolverRow& row : admm_rows()) {
    for (const double torque : {0.0, 0.2, -0.29, 0.5, -3.0}) {
      const JointFriction joint{torque};
      const Solved answer = solved(row.info.id, joint.problem(), 1e-10);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << row.info.id << " " << torque;
      EXPECT_NEAR(answer.impulse[0], joint.impulse(), 1e-8) << row.info.id << " " << torque;
      EXPECT_NEAR(answer.impulse[0] / joint.inertia + joint.problem().free_term()[0], joint.velocity(), 1e-8)
          << row.info.id << " " << torque;
    }
  }
}

TEST(AdmmMixedLaws, EveryIdSolvesMixedProblems) {
  const ContactProblem problem = mixed_laws();
  for (const SolverRow& row : admm_rows()) {
    const Solved answer = solved(row.info.id, problem, 1e-9);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << row.info.id;
    EXPECT_LE(dense_natural_map(problem, answer.impulse, row.info.formulation == Formulation::ncp), 1e-6)
        << row.info.id;
  }
}

TEST(AdmmMixedLaws, BoundsFollowTheUnitsOfTheScaledId) {
  // A thousand times the mass: impulses and bounds grow, iterates in the solver's own units stay.
  const ContactProblem light = JointFriction{0.5}.problem();
  const Interval bounds = light.cones().bounds(0);
  const ContactProblem heavy = problem_of(light.delassus().dense() / 1000.0, light.free_term(),
                                          {{1000.0 * bounds.lower, 1000.0 * bounds.upper}}, {});
  for (const char* id : {"ADMM-NCP-SA-S", "ADMM-NCP-ST-S", "ADMM-NCP-AA-S"}) {
    const Solved small = solved(id, light);
    const Solved large = solved(id, heavy);
    EXPECT_EQ(small.summary.iterations, large.summary.iterations) << id;
    EXPECT_NEAR(large.impulse[0], 1000.0 * small.impulse[0], 1e-9 * std::abs(large.impulse[0])) << id;
  }
}

TEST(AdmmMixedLaws, IteratesAreThoseOfTheAlgorithmBox) {
  const auto three = [](double mu) { return FrictionLaw{ConeShape::discs, {3}, {mu, mu, mu}}; };
  const Matrix root = Matrix::NullaryExpr(13, 13, [](Index i, Index j) {
    return std::sin(static_cast<double>(3 * i + 5 * j + i * j)) + (i == j ? 1.0 : 0.0);
  });
  const Vector free_term = Vector::LinSpaced(13, 1.0, -2.0);
  const ContactProblem problem = problem_of(root * root.transpose(), free_term, {{-0.2, 0.1}, {-0.5, 0.5}, {0.3, 0.3}},
                                            {FrictionLaw::coulomb(0.4), three(0.3)}, 1, 2);
  const Vector guess = Vector::LinSpaced(13, -0.5, 1.0);
  admm_test::LiteralAdmm expected(problem, guess);
  for (int k = 0; k < 40; ++k) expected.step();
  const auto answer = admm_test::run("ADMM-NCP-FP", problem, {}, {.tolerance = 0.0, .max_iterations = 40}, guess);
  EXPECT_LE((answer.impulse - expected.y).lpNorm<Eigen::Infinity>(), 1e-10);
  EXPECT_NEAR(answer.summary.own_residual, std::max({expected.primal, expected.dual, expected.complementarity}), 1e-9);
}

}  // namespace
}  // namespace conebench
