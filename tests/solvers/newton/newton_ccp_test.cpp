#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems/conversions.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

const OptionValues factored = {{"primal", "factor"}};

Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
           double tolerance = 1e-11) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return solve(*solver, problem, {.tolerance = tolerance, .max_iterations = 500, .stop_by = StopBy::solver}, silent);
}

/// ½ λᵀ (G + R) λ + gᵀ λ.
double objective(const ContactProblem& problem, const Vector& impulse) {
  return 0.5 * impulse.dot(velocity(problem, impulse) + problem.free_term());
}

ContactProblem mixed_problem(long dimension, double share) {
  return with_compliance(
      make_problem("known-solution",
                   {{"contacts", 12L}, {"joints", 2L}, {"limits", 2L}, {"rank_share", 0.6}, {"dimension", dimension}}),
      share);
}

TEST(NewtonCcp, SlidingContactMatchesTheClosedForm) {
  // G = I, R = r I, g = (3, 0, −1), mu = 1/2: λ = P_K(−g) / (1 + r), and P_K(−g) = a (−mu, 0, 1), a = 2.5 / 1.25 = 2.
  const double r = 0.25;
  const ContactProblem problem =
      micro(Matrix::Identity(3, 3), vector({3, 0, -1}), cones(0, 0, {0.5}), vector({r, r, r}));
  const Answer answer = run("NEWTON-CCP", problem, factored, 1e-13);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE((answer.impulse - vector({-1.0, 0.0, 2.0}) / (1.0 + r)).norm(), 1e-12) << answer.impulse.transpose();
}

TEST(NewtonCcp, AgreesWithEveryOtherConeSolverOnOneCompliance) {
  for (const long dimension : {2L, 3L}) {
    const ContactProblem problem = mixed_problem(dimension, 0.02);
    const Answer newton = run("NEWTON-CCP", problem, factored);
    ASSERT_EQ(newton.summary.status, SolveStatus::converged);
    for (const char* other : {"PGS-CCP", "ADMM-CCP", "APGD-CCP"}) {
      SCOPED_TRACE(other);
      const Answer answer = solve_to_verdict(*find_solver(other), problem, 1e-9);
      ASSERT_EQ(answer.summary.status, SolveStatus::converged);
      EXPECT_LE((velocity(problem, answer.impulse) - velocity(problem, newton.impulse)).norm(), 1e-6);
      EXPECT_NEAR(objective(problem, answer.impulse), objective(problem, newton.impulse), 1e-7);
    }
  }
}

TEST(NewtonCcp, GivenAndFactoredPrimalAgree) {
  const ContactProblem given = with_compliance_and_primal(mixed_problem(3, 0.02));
  ASSERT_TRUE(given.primal().has_value());
  const Answer by_given = run("NEWTON-CCP", given);
  const Answer by_factor = run("NEWTON-CCP", mixed_problem(3, 0.02), factored);
  EXPECT_EQ(by_given.summary.status, SolveStatus::converged);
  EXPECT_LE((by_given.impulse - by_factor.impulse).norm(), 1e-8 * by_factor.impulse.norm());
}

TEST(NewtonCcp, LineSearchesAndStoragesReachOneAnswer) {
  const ContactProblem problem = mixed_problem(3, 1e-3);
  const Vector expected = run("NEWTON-CCP", problem, factored).impulse;
  for (const char* rule : {"armijo", "exact"}) {
    for (const char* storage : {"dense", "sparse"}) {
      const Answer answer =
          run("NEWTON-CCP", problem, {{"primal", "factor"}, {"line_search", rule}, {"storage", storage}});
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << rule << " " << storage;
      EXPECT_LE((answer.impulse - expected).norm(), 1e-7 * expected.norm()) << rule << " " << storage;
    }
  }
}

TEST(NewtonCcp, TakesFewSteps) {
  const Answer answer =
      run("NEWTON-CCP", mixed_problem(3, 1e-4), {{"primal", "factor"}, {"line_search", "exact"}}, 1e-9);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.summary.iterations, 40);
}

TEST(NewtonCcp, AddedComplianceIsReportedAndItsProblemIsTheOneSolved) {
  const ContactProblem rigid = make_problem("known-solution", {{"contacts", 6L}});
  const Answer answer = run("NEWTON-CCP", rigid, {{"primal", "factor"}, {"r_alpha", 0.01}});
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_EQ(answer.summary.compliance_share, 0.01);
  EXPECT_LE(judge(with_compliance(rigid, 0.01), answer.impulse)["natural_map_ccp_scaled"].value, 1e-10);
  EXPECT_GE(judge(rigid, answer.impulse)["natural_map_ccp_scaled"].value, 1e-4);
  const ContactProblem compliant = with_compliance(rigid, 0.01);
  EXPECT_EQ(run("NEWTON-CCP", compliant, {{"primal", "factor"}, {"r_alpha", 0.01}}).summary.compliance_share, 0.0);
}

TEST(NewtonCcp, SaysWhatItIsMissing) {
  const auto reason = [](const ContactProblem& problem, const OptionValues& options) {
    return find_solver("NEWTON-CCP")->make(options).value()->unsupported_reason(problem).value_or("");
  };
  const ContactProblem rigid = make_problem("known-solution", {{"contacts", 2L}});
  EXPECT_THAT(reason(rigid, {}), ::testing::HasSubstr("primal=factor"));
  EXPECT_THAT(reason(rigid, factored), ::testing::HasSubstr("r_alpha"));
  EXPECT_EQ(reason(rigid, {{"primal", "factor"}, {"r_alpha", 1e-6}}), "");
  const ContactProblem uneven =
      micro(Matrix::Identity(3, 3), vector({3, 0, -1}), cones(0, 0, {0.5}), vector({0.1, 0.2, 0.1}));
  EXPECT_THAT(reason(uneven, factored), ::testing::HasSubstr("contact 0"));
}

TEST(NewtonCcp, NoMassBelongsToAZeroMatrix) {
  const ContactProblem problem = micro(Matrix::Zero(3, 3), vector({1, 0, -1}), cones(0, 0, {0.5}));
  const Answer answer = run("NEWTON-CCP", problem, {{"primal", "factor"}, {"r_alpha", 1e-6}});
  EXPECT_EQ(answer.summary.status, SolveStatus::breakdown);
  EXPECT_EQ(answer.summary.breakdown, Breakdown::singular);
  EXPECT_EQ(answer.summary.iterations, 0);
}

TEST(NewtonCcp, UnsymmetricMatrixIsSolvedSymmetrised) {
  const ContactProblem problem =
      with_compliance(make_problem("random", {{"contacts", 5L}, {"rank_share", 1.0}, {"asymmetry", 0.01}}), 0.1);
  const Answer answer = run("NEWTON-CCP", problem, factored);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_TRUE(answer.summary.solved_symmetrised);
  EXPECT_LE(judge(symmetrised(problem), answer.impulse)["natural_map_ccp_scaled"].value, 1e-10);
}

}  // namespace
}  // namespace conebench
