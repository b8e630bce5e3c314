// Printed lines of the papers that fail, against what is done instead (see docs/errata.md).

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"
#include "solvers/gauss_seidel/sweep.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::gauss_seidel {
namespace {

using namespace conebench::testing;

Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {}) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return testing::solve(*solver, problem, {.tolerance = 1e-10, .max_iterations = 2000}, silent);
}

TEST(Errata, PrintedRelaxationDecayFakesConvergence) {
  // Tsounis Alg. 5 line 25: ω ← min(ω_min, γ ω).
  const ContactProblem problem = cube_on_corners(4, 0.02, 0.5);
  OwnResiduals residuals(problem, OwnModel::ncp);
  for (const bool printed : {true, false}) {
    Sweep<CoulombBlock, CoulombSpace> sweep(problem, {}, contact_order(problem, "given", 1).contacts,
                                            velocity_weights(problem));
    Vector impulse = Vector::Zero(problem.rows());
    sweep.start(impulse.data());
    double omega = 1.0;
    double change = 0.0;
    for (int k = 0; k < 400; ++k) {
      change = sweep(omega).largest;
      omega = printed ? std::min(0.02, 0.9 * omega) : std::max(0.5, 0.9 * omega);
    }
    sweep.write(impulse.data());
    EXPECT_LE(change, 1e-10) << "it looks settled in both";
    if (printed) {
      EXPECT_GE(residuals.natural_map(impulse), 1e-3);
    } else {
      EXPECT_LE(residuals.natural_map(impulse), 1e-9);
    }
  }
}

TEST(Errata, PrintedOverRelaxationWeightsStandStillAtOne) {
  // LeLidec24 (25): λ ← α λ⁻ + (1 − α) λ, where α = 1 is to be the plain sweep and α > 1 to extrapolate.
  const double old = 0.0;
  const double swept = 1.0;
  const auto printed = [&](double alpha) { return alpha * old + (1.0 - alpha) * swept; };
  EXPECT_EQ(printed(1.0), old);
  EXPECT_LT(printed(1.2), old) << "away from the new impulse";
  // One contact that sticks after one plain sweep; ours lands on (1 − ω) λ⁻ + ω λ.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), vector({0, 0, -1}), cones(0, 0, {0.5}));
  const auto solver = prepared(*find_solver("NSGS"), problem, {{"relaxation", 1.2}});
  SilentMonitor silent;
  EXPECT_DOUBLE_EQ(testing::solve(*solver, problem, {.max_iterations = 1}, silent).impulse[2], 1.2);
}

TEST(Errata, PrintedTangentialStepIsUnstableWhereTheTangentsDiffer) {
  // LeLidec24 Alg. 1, 6 and Tsounis Alg. 3: 1/min(G_tt) is the largest step; stable only while λ_max(G_TT) < 2
  // min(G_tt).
  for (const double ratio : {1.5, 3.0}) {
    const ContactProblem problem =
        micro(vector({1, ratio, 1}).asDiagonal(), vector({0.1, 0.2, -1}), cones(0, 0, {1.0}));
    for (const auto& [id, residual] :
         {std::pair{"PGS-NCP", "natural_map_scaled"}, std::pair{"PGS-LCP", "natural_map_box_scaled"}}) {
      SCOPED_TRACE(id);
      const Answer printed = run(id, problem);
      const Answer safe = run(std::string(id) + "-SAFE", problem);
      EXPECT_EQ(safe.summary.status, SolveStatus::converged);
      if (ratio < 2.0) {
        EXPECT_EQ(printed.summary.status, SolveStatus::converged);
      } else {
        EXPECT_NE(printed.summary.status, SolveStatus::converged);
        EXPECT_GE((judge(problem, printed.impulse)[residual].value), 1e-2);
      }
    }
  }
}

TEST(Errata, PyramidOfThePrintedClampReachesOutOfCoulombsCone) {
  // LeLidec24 Sec. III-A: K̃ = {‖λ_T‖∞ ≤ μ λ_N} stands around K_μ, not in it: a contact that slides obliquely has √2
  // times the friction of Coulomb's law, in a direction that turns with the tangent axes.
  const double mu = 0.5;
  const double speed = 3.0;
  for (const double angle : {0.0, 0.25 * std::numbers::pi}) {
    const Vector slide = vector({speed * std::cos(angle), speed * std::sin(angle), -1});
    const ContactProblem problem = micro(Matrix::Identity(3, 3), slide, cones(0, 0, {mu}));
    const Answer answer = run("PGS-LCP", problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_box_scaled"].value), 1e-12);
    const double friction = answer.impulse.head<2>().norm();
    EXPECT_NEAR(friction, (angle == 0.0 ? 1.0 : std::numbers::sqrt2) * mu, 1e-12);
    const double verdict = judge(problem, answer.impulse)["natural_map_scaled"].value;
    EXPECT_EQ(verdict <= 1e-12, angle == 0.0) << verdict;
  }
}

TEST(Errata, PgsCcpHasNoDeSaxceTermAndPgsCcpDsHas) {
  // Tsounis Table I says yes for PGS-CCP, its text and LeLidec24 Alg. 2 say no. A sliding contact decides: LeLidec24
  // Sec. III-B.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), vector({3, 0, -1}), cones(0, 0, {0.5}));
  Vector velocity(3);
  problem.velocity(run("PGS-CCP", problem).impulse, velocity);
  EXPECT_NEAR(velocity[2], 0.5 * velocity[0], 1e-8);
  EXPECT_GT(velocity[2], 0.1);
  problem.velocity(run("PGS-CCP-DS", problem).impulse, velocity);
  EXPECT_NEAR(velocity[2], 0.0, 1e-8);
}

TEST(PgsNcp, TakesTheStepsOfBothPapers) {
  // One sweep from zero by hand. G couples normal and tangent, so the two readings of the tangential velocity differ.
  Matrix matrix(3, 3);
  matrix << 2, 0, 0.5, 0, 2, 0, 0.5, 0, 1;
  const ContactProblem problem = micro(matrix, vector({0.4, 0, -1}), cones(0, 0, {10}));
  SilentMonitor silent;
  const auto first_sweep = [&](const char* velocity) {
    const auto solver = prepared(*find_solver("PGS-NCP"), problem, {{"tangent_velocity", std::string(velocity)}});
    return testing::solve(*solver, problem, {.max_iterations = 1}, silent).impulse;
  };
  // λ_N = 1. LeLidec24 Alg. 6: σ_T = 0.4 + 0.5 · 1, λ_T = −0.45; Tsounis Alg. 3: z_T = 0.4, λ_T = −0.2.
  EXPECT_TRUE(first_sweep("updated").isApprox(Eigen::Vector3d(-0.45, 0, 1), 1e-14));
  EXPECT_TRUE(first_sweep("initial").isApprox(Eigen::Vector3d(-0.2, 0, 1), 1e-14));
}

TEST(PgsLcp, TakesTheStepsOfThePaper) {
  // LeLidec24 Alg. 1 by hand: λ_N = 1; λ_T = −(0.9, 0.1 + 0.5)/min(2, 4), clamped to ±0.4 axis by axis.
  Matrix matrix = vector({2, 4, 1}).asDiagonal();
  matrix(1, 2) = matrix(2, 1) = 0.5;
  const ContactProblem problem = micro(matrix, vector({0.9, 0.1, -1}), cones(0, 0, {0.4}));
  SilentMonitor silent;
  const auto solver = prepared(*find_solver("PGS-LCP"), problem);
  EXPECT_TRUE(testing::solve(*solver, problem, {.max_iterations = 1}, silent)
                  .impulse.isApprox(Eigen::Vector3d(-0.4, -0.3, 1), 1e-14));
}

TEST(PgsLcp, ClaimsOnlyWhatTheJudgeOfItsModelAccepts) {
  const ContactProblem problem = make_problem("random", {{"contacts", 8L}, {"joints", 2L}, {"limits", 2L}}, 2);
  const Answer answer = run("PGS-LCP-SAFE", problem);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE((judge(problem, answer.impulse)["natural_map_box_scaled"].value), 1e-8);
  EXPECT_GE((judge(problem, answer.impulse)["natural_map_scaled"].value), 1e-3);
  OwnResiduals own(problem, OwnModel::box);
  const Vector half = 0.5 * answer.impulse;
  EXPECT_LE(own.complementarity(answer.impulse), 1e-9);
  EXPECT_GE(own.complementarity(half), 1e-3);
}

TEST(PgsCcp, TakesTheStepOfBothPapers) {
  const ContactProblem problem = micro(vector({1, 2, 3}).asDiagonal(), vector({0.1, 0, -1}), cones(0, 0, {0.5}));
  SilentMonitor silent;
  const auto solver = prepared(*find_solver("PGS-CCP"), problem);
  // LeLidec24 Alg. 2: λ = −3/(1 + 2 + 3) g, inside the cone.
  EXPECT_TRUE(testing::solve(*solver, problem, {.max_iterations = 1}, silent)
                  .impulse.isApprox(Eigen::Vector3d(-0.05, 0, 0.5), 1e-14));
}

}  // namespace
}  // namespace conebench::gauss_seidel
