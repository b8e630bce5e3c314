#include <Eigen/Eigenvalues>

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "problems/cones/coulomb.hpp"
#include "problems/used_parts.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

class FirstOrder : public ::testing::Test {
 protected:
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 6L}, {"rank_share", 0.6}}, 3);
  const Matrix g = problem.blocks().dense();

  /// F(λ) = σ + Γ(σ), and its projected step, from the dense matrix.
  Vector velocity(const Vector& lambda) const {
    const Vector sigma = g * lambda + problem.compliance().cwiseProduct(lambda) + problem.free_term();
    Vector f(sigma.size());
    add_de_saxce(problem.cones(), sigma, f);
    return f;
  }
  Vector step(const Vector& lambda, double rho, const Vector& f) const {
    Vector point = lambda - rho * f;
    Vector projected(point.size());
    project_cone(problem.cones(), point, projected);
    return projected;
  }
  /// The iterate after k iterations from zero with the step `step` (in 1/λ_max).
  Vector after(const std::string& id, long k, double step) const {
    const auto solver = prepared(*find_solver(id), problem, {{"step", step}});
    StoppingMonitor monitor(k + 1);
    return solve(*solver, problem, {.tolerance = 0.0, .max_iterations = k}, monitor).impulse;
  }
};

TEST_F(FirstOrder, FixedPointStepsAreProjectionsAlongMinusF) {
  // ρ λ_max = 1e-3: the power iteration's λ_max is within its 1 % and the map is the same for the same ρ.
  const Vector zero = Vector::Zero(problem.rows());
  const Vector first = after("FP-DS", 1, 1e-3);
  const Vector unit = step(zero, 1.0, velocity(zero));
  const double rho = first.norm() / unit.norm();  // K is a cone: P_K(ρ x) = ρ P_K(x)
  const double largest = Eigen::SelfAdjointEigenSolver<Matrix>(g).eigenvalues().maxCoeff();
  EXPECT_NEAR(rho * largest, 1e-3, 2e-5);
  EXPECT_LE((first - step(zero, rho, velocity(zero))).norm(), 1e-14 * first.norm());
  const Vector second = step(first, rho, velocity(first));
  EXPECT_LE((after("FP-DS", 2, 1e-3) - second).norm(), 1e-13 * second.norm());
}

TEST_F(FirstOrder, ExtragradientStepsAlongTheVelocityOfThePrediction) {
  // So short a first step that ℓ < L_min: it is kept, and grows by 1/τ = 1.5 afterwards.
  const Vector zero = Vector::Zero(problem.rows());
  const double rho = after("FP-DS", 1, 1e-2).norm() / step(zero, 1.0, velocity(zero)).norm();
  const auto extragradient = [&](const Vector& lambda, double r) {
    return step(lambda, r, velocity(step(lambda, r, velocity(lambda))));
  };
  const Vector first = extragradient(zero, rho);
  EXPECT_LE((after("FP-EG", 1, 1e-2) - first).norm(), 1e-13 * first.norm());
  const Vector second = extragradient(first, 1.5 * rho);
  EXPECT_LE((after("FP-EG", 2, 1e-2) - second).norm(), 1e-12 * second.norm());
  EXPECT_GT((second - extragradient(first, rho)).norm(), 1e-3 * second.norm());
}

TEST_F(FirstOrder, ForwardBackwardForwardShowsThePredictionAndGoesOnFromTheCorrection) {
  const Vector zero = Vector::Zero(problem.rows());
  const double rho = after("FP-DS", 1, 1e-2).norm() / step(zero, 1.0, velocity(zero)).norm();
  const Vector shown = step(zero, rho, velocity(zero));
  EXPECT_LE((after("FP-FBF", 1, 1e-2) - shown).norm(), 1e-13 * shown.norm());
  const Vector corrected =
      shown - rho * (velocity(shown) - velocity(zero));  // out of K; the first rho is kept, as above
  const Vector second = step(corrected, 1.5 * rho, velocity(corrected));
  EXPECT_LE((after("FP-FBF", 2, 1e-2) - second).norm(), 1e-12 * second.norm());
  EXPECT_GT((second - step(shown, 1.5 * rho, velocity(shown))).norm(), 1e-5 * second.norm());
}

TEST_F(FirstOrder, AdaptiveStepRecoversFromAnyFirstStep) {
  for (const double first_step : {1e-5, 1.0, 1e5}) {
    const auto solver = prepared(*find_solver("FP-VI"), problem, {{"step", first_step}});
    JudgingMonitor monitor(problem, "natural_map_scaled", 1e-8);
    const Answer answer =
        solve(*solver, problem, {.tolerance = 1e-8, .max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << "from step " << first_step;
  }
  const auto fixed = prepared(*find_solver("FP-DS"), problem, {{"step", 1e5}});
  JudgingMonitor monitor(problem, "natural_map_scaled", 1e-8);
  const Answer answer =
      solve(*fixed, problem, {.tolerance = 1e-8, .max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
  EXPECT_NE(answer.summary.status, SolveStatus::converged) << "no step is too long, so the adaptive one shows nothing";
}

TEST_F(FirstOrder, AndersonsPointsAreThoseOfTheDenseLeastSquaresProjected) {
  // FP-DS with one difference kept: x₂ = P(F₁ − γ (F₁ − F₀)), γ = Δfᵀ f₁ / ‖Δf‖², f weighted by 1 / √r.
  const auto points = [&](long k) {
    const auto solver = prepared(*find_solver("FP-DS"), problem,
                                 {{"step", 0.1}, {"acceleration", "anderson"}, {"capacity", 1L}, {"safeguard", 1e12}});
    StoppingMonitor monitor(k + 1);
    return solve(*solver, problem, {.tolerance = 0.0, .max_iterations = k}, monitor).impulse;
  };
  Vector weights(problem.rows());
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    const Index row = problem.cones().block_row(i), size = problem.cones().block_size(i);
    weights.segment(row, size).setConstant(std::sqrt(g.diagonal().segment(row, size).mean()));
  }
  const Vector zero = Vector::Zero(problem.rows());
  const Vector first = points(1);  // F(0)
  const double rho = first.norm() / step(zero, 1.0, velocity(zero)).norm();
  const Vector image = step(first, rho, velocity(first));
  const Vector f0 = weights.cwiseProduct(first), f1 = weights.cwiseProduct(image - first);
  const double gamma = (f1 - f0).dot(f1) / (f1 - f0).squaredNorm();
  const Vector expected = step(image - gamma * (image - first), 0.0, zero);
  EXPECT_LE((points(2) - expected).norm(), 1e-12 * expected.norm());
  EXPECT_GE((points(2) - image).norm(), 1e-3 * image.norm());
}

TEST_F(FirstOrder, AccelerationTakesFewerProducts) {
  for (const std::string id : {"FP-DS", "FP-VI", "FP-EG", "FP-FBF"}) {
    const auto products = [&](const std::string& acceleration) {
      const auto solver = prepared(*find_solver(id), problem, {{"acceleration", acceleration}});
      JudgingMonitor monitor(problem, "natural_map_scaled", 1e-8);
      const Answer answer = solve(*solver, problem, {.max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " " << acceleration;
      return answer.summary.operator_products;
    };
    const long plain = products("none");
    EXPECT_LE(2 * products("anderson"), plain) << id;
    EXPECT_FALSE(find_solver(id)->effective_options({})->contains("acceleration")) << id;
  }
}

TEST_F(FirstOrder, AcceleratedGradientKeepsToNesterovsBound) {
  // Without restart and relaxation: f(γ_k) − f* ≤ 2 L ‖γ_0 − γ*‖² / (k + 1)², L the largest that backtracking reached,
  // at most growth · λ_max or the first estimate (Beck and Teboulle 2009, Theorem 4.4).
  const Answer reference = solve_to_verdict(*find_solver("APGD-CCP"), problem, 1e-12);
  ASSERT_EQ(reference.summary.status, SolveStatus::converged);
  const auto objective = [&](const Vector& x) { return 0.5 * x.dot(g * x) + problem.free_term().dot(x); };
  const double least = objective(reference.impulse);
  const double bound = 2.0 * Eigen::SelfAdjointEigenSolver<Matrix>(g).eigenvalues().maxCoeff();
  for (const long k : {1L, 2L, 5L, 10L, 30L, 100L}) {
    const auto solver = prepared(*find_solver("APGD-CCP"), problem, {{"restart", false}, {"relaxation", 1.0}});
    StoppingMonitor monitor(k + 1);
    const Answer answer = solve(*solver, problem, {.tolerance = 0.0, .max_iterations = k}, monitor);
    const double steps = static_cast<double>(k + 1);
    EXPECT_LE(objective(answer.impulse) - least, 2.0 * bound * reference.impulse.squaredNorm() / (steps * steps)) << k;
  }
}

TEST_F(FirstOrder, ConeProblemHasOneVelocityAndObjectiveForAllItsSolvers) {
  const auto objective = [&](const Vector& x) { return 0.5 * x.dot(g * x) + problem.free_term().dot(x); };
  const Answer apgd = solve_to_verdict(*find_solver("APGD-CCP"), problem, 1e-11);
  for (const std::string id : {"PGS-CCP", "ADMM-CCP"}) {
    const Answer other = solve_to_verdict(*find_solver(id), problem, 1e-11);
    ASSERT_EQ(other.summary.status, SolveStatus::converged) << id;
    EXPECT_LE((g * (apgd.impulse - other.impulse)).lpNorm<Eigen::Infinity>(), 1e-8) << id;
    EXPECT_NEAR(objective(apgd.impulse), objective(other.impulse), 1e-9 * std::abs(objective(apgd.impulse))) << id;
  }
}

TEST(ProductsAlone, GiveTheAnswerOfTheAssembledMatrix) {
  const ContactProblem block = make_problem("soft-block", {{"push", 0.1}});
  ASSERT_FALSE(block.condenses_sparsely());
  for (const std::string id : {"APGD-CCP", "FP-DS", "FP-VI", "FP-EG", "FP-FBF", "BB-CCP", "BB-NCP", "APGD-NCP"}) {
    const auto answer_by = [&](const std::string& product, std::string& used) {
      const auto use = std::make_shared<ProblemUse>();
      const ContactProblem seen = block.watched(use);
      const auto solver = prepared(*find_solver(id), seen, {{"product", product}});
      EXPECT_EQ(solver->needs_matrix(block), product == "matrix") << id;
      JudgingMonitor monitor(block, id.ends_with("-CCP") ? "natural_map_ccp_scaled" : "natural_map_scaled", 1e-10);
      const Answer answer =
          solve(*solver, seen, {.tolerance = 1e-10, .max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " " << product;
      used = to_string(used_parts(*use));
      return answer.impulse;
    };
    std::string used;
    const Vector by_matrix = answer_by("matrix", used);
    EXPECT_EQ(used, "delassus") << id;
    for (const std::string product : {"auto", "solves"}) {
      EXPECT_LT((answer_by(product, used) - by_matrix).norm(), 1e-8 * by_matrix.norm()) << id;
      EXPECT_EQ(used, "products") << id;
    }
  }
}

TEST(ProductsAlone, AreNotTakenWhereTheMatrixIsSparse) {
  const ContactProblem bodies = make_problem("sphere-lattice", {{"form", std::string("factored")}});
  const auto use = std::make_shared<ProblemUse>();
  const auto solver = prepared(*find_solver("APGD-CCP"), bodies.watched(use));
  EXPECT_TRUE(solver->needs_matrix(bodies));
  StoppingMonitor monitor(3);
  solve(*solver, bodies, {.max_iterations = 3}, monitor);
  EXPECT_EQ(to_string(used_parts(*use)), "delassus");
}

TEST(ProductsAlone, TheirChoiceIsPartOfAConfigurationOnlyWhereItIsMade) {
  const SolverRow& row = *find_solver("APGD-CCP");
  EXPECT_FALSE(row.effective_options({})->contains("product"));
  EXPECT_FALSE(row.effective_options({{"product", std::string("auto")}})->contains("product"));
  EXPECT_EQ(row.effective_options({{"product", std::string("solves")}})->at("product"),
            OptionValue(std::string("solves")));
}

TEST(ProductsAlone, WhoDoesNotAskForTheMatrixDoesNotTouchIt) {
  const ContactProblem block = make_problem("soft-block", {{"nx", 4L}, {"ny", 4L}});
  ASSERT_FALSE(block.condenses_sparsely());
  for (const SolverRow& row : solver_table()) {
    if (row.info.own_process) continue;
    const auto solver = row.make({}).value();
    if (solver->unsupported_reason(block) || solver->needs_matrix(block)) continue;
    const auto use = std::make_shared<ProblemUse>();
    const ContactProblem seen = block.watched(use);
    ASSERT_TRUE(solver->prepare(seen)) << row.info.id;
    StoppingMonitor monitor(5);
    solve(*solver, seen, {.max_iterations = 5}, monitor);
    EXPECT_FALSE(use->delassus) << row.info.id;
  }
}

}  // namespace
}  // namespace conebench
