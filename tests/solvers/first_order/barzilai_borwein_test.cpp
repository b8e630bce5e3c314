#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

class BarzilaiBorwein : public ::testing::Test {
 protected:
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 6L}, {"rank_share", 0.6}}, 3);
  const Matrix n = problem.blocks().dense();

  Vector gradient(const Vector& x) const { return n * x + problem.free_term(); }
  double objective(const Vector& x) const { return 0.5 * x.dot(n * x) + problem.free_term().dot(x); }
  Vector projected(const Vector& x) const {
    Vector point(x.size());
    project_cone(problem.cones(), x, point);
    return point;
  }
  /// Every iterate of the first k iterations from zero.
  std::vector<Vector> iterates(long k, const OptionValues& options) const {
    const auto solver = prepared(*find_solver("BB-CCP"), problem, options);
    std::vector<Vector> all{Vector::Zero(problem.rows())};
    // The best is shown, so that each is asked for where the objective is to fall at once.
    for (long i = 1; i <= k; ++i) {
      StoppingMonitor monitor(i + 1);
      all.push_back(solve(*solver, problem, {.tolerance = 0.0, .max_iterations = i}, monitor).impulse);
    }
    return all;
  }
};

TEST_F(BarzilaiBorwein, StepsAreThoseOfThePapersFormulas) {
  for (const std::string rule : {"bb1", "bb2", "alternate"}) {
    Vector x = Vector::Zero(problem.rows());
    const Vector g = gradient(x);
    double alpha = g.squaredNorm() / g.dot(n * g);  // steepest descent at first
    const std::vector<Vector> shown = iterates(6, {{"rule", rule}});
    int matched = 0;
    for (long k = 1; k <= 6; ++k) {
      const Vector d = projected(x - alpha * gradient(x)) - x;
      const double slope = gradient(x).dot(d), curvature = d.dot(n * d);
      ASSERT_LT(slope, 0.0);
      // Every step here is below the last maxima of the objective, so that t = 1.
      x += d;
      matched += (shown[static_cast<std::size_t>(k)] - x).norm() <= 1e-12 * x.norm() ? 1 : 0;
      const bool second = rule == "bb2" || (rule == "alternate" && k % 2 == 0);
      alpha = second ? curvature / (n * d).squaredNorm() : d.squaredNorm() / curvature;
    }
    EXPECT_GE(matched, 4) << rule << ": those that are the best so far";
  }
}

TEST_F(BarzilaiBorwein, WithAMemoryOfOneTheObjectiveFallsInEveryIteration) {
  const auto rises = [&](long memory) {
    const std::vector<Vector> all = iterates(30, {{"memory", memory}});
    int count = 0;
    for (std::size_t k = 1; k < all.size(); ++k) count += objective(all[k]) > objective(all[k - 1]) + 1e-15 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(rises(1), 0);
}

TEST_F(BarzilaiBorwein, ReachesTheVelocityAndTheObjectiveOfTheAcceleratedGradient) {
  const Answer apgd = solve_to_verdict(*find_solver("APGD-CCP"), problem, 1e-11);
  ASSERT_EQ(apgd.summary.status, SolveStatus::converged);
  for (const std::string rule : {"bb1", "bb2", "alternate", "adaptive"}) {
    const auto solver = prepared(*find_solver("BB-CCP"), problem, {{"rule", rule}});
    JudgingMonitor monitor(problem, "natural_map_ccp_scaled", 1e-11);
    const Answer answer = solve(*solver, problem, {.max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << rule;
    EXPECT_LE((n * (answer.impulse - apgd.impulse)).lpNorm<Eigen::Infinity>(), 1e-8) << rule;
    EXPECT_NEAR(objective(answer.impulse), objective(apgd.impulse), 1e-9 * std::abs(objective(apgd.impulse))) << rule;
  }
}

TEST_F(BarzilaiBorwein, AnIterationTakesOneProduct) {
  SilentMonitor silent;
  const auto solver = prepared(*find_solver("BB-CCP"), problem);
  const Answer answer = solve(*solver, problem, {.tolerance = 0.0, .max_iterations = 100}, silent);
  EXPECT_EQ(answer.summary.operator_products, 2 + 100 + 2) << "two at the start, and σ anew every fifty";
}

TEST(HeldTerm, TheAnswersOfMethodsThatHoldItObeyCoulombsLaw) {
  const ContactProblem problem = make_problem("random", {{"contacts", 10L}}, 6);
  const Answer exact = solve_to_verdict(*find_solver("CASCADE"), problem, 1e-12);
  ASSERT_EQ(exact.summary.status, SolveStatus::converged);
  for (const std::string id : {"BB-NCP", "APGD-NCP"}) {
    for (const long held : {1L, 3L}) {
      const auto solver = prepared(*find_solver(id), problem, {{"held", held}});
      JudgingMonitor monitor(problem, "natural_map_scaled", 1e-10);
      const Answer answer = solve(*solver, problem, {.max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " " << held;
      EXPECT_LE((answer.impulse - exact.impulse).norm(), 1e-7 * exact.impulse.norm()) << id << " " << held;
    }
  }
}

}  // namespace
}  // namespace conebench
