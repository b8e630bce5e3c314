#include <gtest/gtest.h>

#include "solvers/newton/convex_qp_solvers.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

Answer run(const ContactProblem& problem, const OptionValues& options = {}, double tolerance = 1e-9) {
  const auto solver = prepared(*find_solver("STAGGERED"), problem, options);
  SilentMonitor silent;
  return solve(*solver, problem, {.tolerance = tolerance, .max_iterations = 500, .stop_by = StopBy::solver}, silent);
}

/// A disk, a half-line and a line, strongly coupled.
newton::ConvexQp small_qp() {
  const Matrix root =
      Matrix::NullaryExpr(6, 6, [](Index i, Index j) { return std::sin(double(3 * i + 5 * j + i * j)); });
  const auto blocks = ConeProduct::create(1, 1, {0.0, 0.0}, 2).value();
  const BlockSparseMatrix matrix = BlockSparseMatrix::from_dense(root * root.transpose(), blocks);
  std::vector<Index> rows(6);
  for (std::size_t i = 0; i < 6; ++i) rows[i] = static_cast<Index>(i);
  newton::ConvexQp qp(matrix, Vector::Constant(6, 0.05), rows, blocks,
                      {Interval{}, Interval{.lower = 0.0}, std::nullopt, std::nullopt});
  qp.set().radii = {0.0, 0.0, 0.4, 0.0};
  return qp;
}

TEST(ConvexQp, EverySolverFindsTheMinimum) {
  const newton::ConvexQp qp = small_qp();
  const Vector q = vector({0.3, -1.0, 2.0, -0.5, 0.4, 0.1});
  Vector first;
  for (const std::string& name : newton::convex_qp_solver_names()) {
    SCOPED_TRACE(name);
    Vector x = Vector::Zero(6);
    SilentMonitor silent;
    const StopRule stop;
    newton::Watch watch{.progress = SolveProgress(stop, silent), .impulse = x};
    const auto count = newton::make_convex_qp_solver(name, qp)->solve(q, x, 1e-12, 20000, watch);
    EXPECT_GT(count.iterations, 0);
    Vector w(6);
    qp.multiply(x, w);
    w += q;
    EXPECT_LE(qp.residual(x, w), 1e-11);
    EXPECT_LE(x.segment(2, 2).norm(), 0.4 + 1e-12);
    EXPECT_LE(x.segment(4, 2).norm(), 1e-12) << "a disk of radius 0";
    if (first.size() == 0) first = x;
    EXPECT_LE((x - first).norm(), 1e-9);
  }
}

TEST(Staggered, SlidingBoxIsSolvedInAFewTurns) {
  // Uncoupled: λ_N = 1 at once, then friction on the disk's rim.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), vector({3, 0, -1}), cones(0, 0, {0.5}));
  const Answer answer = run(problem);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.summary.iterations, 5) << "one but for the inner tolerance";
  EXPECT_LE((answer.impulse - vector({-0.5, 0, 1})).norm(), 1e-8);
}

TEST(Staggered, EveryChoiceOfInnerSolversGivesOneAnswer) {
  const ContactProblem problem = make_problem(
      "known-solution", {{"contacts", 6L}, {"joints", 2L}, {"limits", 2L}, {"mu_min", 0.2}, {"mu_max", 0.3}});
  const Answer expected = solve_to_verdict(*find_solver("NSGS"), problem, 1e-11);
  ASSERT_EQ(expected.summary.status, SolveStatus::converged);
  for (const std::string& normal : newton::convex_qp_solver_names()) {
    for (const std::string& tangential : newton::convex_qp_solver_names()) {
      SCOPED_TRACE(normal + " " + tangential);
      const Answer answer = run(problem, {{"normal", normal}, {"tangential", tangential}});
      EXPECT_EQ(answer.summary.status, SolveStatus::converged);
      EXPECT_LE((velocity(problem, answer.impulse) - velocity(problem, expected.impulse)).norm(), 1e-6);
    }
  }
}

TEST(Staggered, StopsWithinATurnWhereTheMonitorAccepts) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 6L}, {"mass_ratio", 1000.0}});
  for (const std::string& inner : newton::convex_qp_solver_names()) {
    SCOPED_TRACE(inner);
    const auto solver =
        prepared(*find_solver("STAGGERED"), problem,
                 {{"normal", inner}, {"tangential", inner}, {"inner_tolerance", 0.0}, {"inner_iterations", 10'000L}});
    StoppingMonitor monitor(2, Decision::out_of_time);
    const Answer answer = solve(*solver, problem, {.stop_by = StopBy::judge}, monitor);
    EXPECT_EQ(answer.summary.status, SolveStatus::time_limit);
    EXPECT_EQ(answer.summary.iterations, 0) << "no turn is whole";
    EXPECT_EQ(answer.impulse, monitor.seen) << "the last whole iterate";
    EXPECT_LE(answer.summary.operator_products, 45) << "some twenty inner iterations, not 10,000";
  }
}

TEST(Staggered, ChecksWithinTurnsDoNotMoveTheVerdict) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 6L}, {"mu_max", 0.3}});
  JudgingMonitor every(problem, "natural_map_scaled", 1e-8);
  const auto solver = prepared(*find_solver("STAGGERED"), problem);
  const Answer answer = solve(*solver, problem, {.stop_by = StopBy::judge}, every);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(every.last, 1e-8);
  const Answer turns = run(problem, {}, 1e-8);
  EXPECT_LE(answer.summary.iterations, turns.summary.iterations + 1);
}

/// LeLidec24 Alg. 7 with exact inner solutions of one contact; `printed`: line 2 starts from g_T.
Eigen::Vector2d staggered_in_2d(const Eigen::Matrix2d& g_matrix, const Eigen::Vector2d& g, double mu, bool printed) {
  Eigen::Vector2d lambda(0.0, 0.0);  // (t, n)
  for (int k = 0; k < 200; ++k) {
    const double normal_velocity = (printed ? g[0] : g[1]) + g_matrix(1, 0) * lambda[0];             // line 2
    lambda[1] = std::max(0.0, -normal_velocity / g_matrix(1, 1));                                    // line 3
    const double tangential_velocity = g[0] + g_matrix(0, 1) * lambda[1];                            // line 4
    lambda[0] = std::clamp(-tangential_velocity / g_matrix(0, 0), -mu * lambda[1], mu * lambda[1]);  // line 5
  }
  return lambda;
}

TEST(StaggeredErrata, PrintedNormalProblemStartsFromTheTangentialVelocity) {
  const Eigen::Matrix2d matrix{{2.0, 0.3}, {0.3, 1.0}};
  const Eigen::Vector2d g(-3.0, -1.0);
  const ContactProblem problem = micro(matrix, g, cones(0, 0, {0.5}, 2));
  const auto residual = [&](const Eigen::Vector2d& lambda) {
    return judge(problem, lambda)["natural_map_scaled"].value;
  };
  EXPECT_LE(residual(staggered_in_2d(matrix, g, 0.5, false)), 1e-12);
  EXPECT_GE(residual(staggered_in_2d(matrix, g, 0.5, true)), 0.1);
  EXPECT_LE((run(problem).impulse - staggered_in_2d(matrix, g, 0.5, false)).norm(), 1e-8);
}

}  // namespace
}  // namespace conebench
