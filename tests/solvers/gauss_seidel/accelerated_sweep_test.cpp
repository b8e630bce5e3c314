// Accelerated sweeps: the map is one plain sweep, which the solver itself gives with max_iterations=1.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "solvers/acceleration/accelerator.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::gauss_seidel {
namespace {

using testing::make_problem;

const std::vector<std::string> sweep_accelerations = {"anderson", "nesterov", "block_nesterov", "nncg"};
const std::vector<std::string> accelerated_ids = {"NSGS", "NSGS-DAMPED", "PGS-NCP-SAFE", "PGS-CCP-DS"};

ContactProblem problem_of_all_blocks() {
  return make_problem("random", {{"contacts", 6L}, {"joints", 2L}, {"limits", 3L}, {"compliance", 0.1}}, 4);
}

testing::Answer sweeps(const std::string& id, const ContactProblem& problem, long count,
                       const OptionValues& options = {}, const Vector& guess = {}) {
  const auto solver = testing::prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return testing::solve(*solver, problem, {.max_iterations = count, .stop_by = StopBy::judge}, silent, guess);
}

TEST(AcceleratedSweep, StartsWhereTheAccelerationOfPlainSweepsPointsAndShowsTheSweepsResult) {
  const ContactProblem problem = problem_of_all_blocks();
  const ConeProduct& cones = problem.cones();
  const Vector weights = velocity_weights(problem);
  Vector by_row(problem.rows());
  std::vector<Index> first_rows;
  for (Index b = 0; b < cones.blocks(); ++b) {
    first_rows.push_back(cones.block_row(b));
    by_row.segment(cones.block_row(b), cones.block_size(b)).setConstant(std::sqrt(weights[b]));
  }
  for (const std::string& id : accelerated_ids) {
    for (const std::string& method : sweep_accelerations) {
      SCOPED_TRACE(id + " " + method);
      Accelerator accelerator({.method = method, .safeguard = 100.0}, by_row, first_rows);
      accelerator.restart();
      Vector point = Vector::Zero(problem.rows());
      Vector image;
      bool differs = false;
      for (long k = 1; k <= 12; ++k) {
        image = sweeps(id, problem, 1, {}, point).impulse;
        const Vector accelerated = sweeps(id, problem, k, {{"acceleration", method}}).impulse;
        EXPECT_LE((accelerated - image).norm(), 1e-9 * image.norm()) << k;
        accelerator.next(point, image, point);
        project_cone(cones, point, point);
        differs = differs || point != image;
      }
      EXPECT_TRUE(differs);
    }
  }
}

/// Bodies that part keep the last step's impulses as a guess, while the free velocity is rounding.
TEST(GaussSeidel, AGuessFarFromASolutionNearZeroIsNoDivergence) {
  ContactProblemData data = make_problem("random", {{"contacts", 4L}}, 2).data();
  data.primal.reset();
  data.bias.reset();
  data.reference.reset();
  data.free_term *= 1e-16;
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const Vector guess = Vector::Constant(problem.rows(), 0.4);
  for (const std::string& id : accelerated_ids) {
    SCOPED_TRACE(id);
    EXPECT_NE(sweeps(id, problem, 50, {}, guess).summary.status, SolveStatus::diverged);
  }
}

TEST(AcceleratedSweep, AllocatesNothing) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "allocations are not counted in this build";
  const ContactProblem problem = problem_of_all_blocks();
  for (const std::string& method : sweep_accelerations) {
    SCOPED_TRACE(method);
    const auto solver = testing::prepared(*find_solver("NSGS"), problem, {{"acceleration", method}});
    Vector impulse(problem.rows());
    const Vector start = Vector::Zero(problem.rows());
    SilentMonitor silent;
    const long before = testing::allocation_count();
    solver->solve(start, {.max_iterations = 30, .stop_by = StopBy::judge}, silent, impulse);
    EXPECT_EQ(testing::allocation_count(), before);
  }
}

TEST(AcceleratedSweep, SolvesTheHeavyBoxOnALightOneThatNsgsDoesNot) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 100.0}}, 1);
  const auto residual_after = [&](const std::string& id, const OptionValues& options) {
    const auto solver = testing::prepared(*find_solver(id), problem, options);
    testing::JudgingMonitor judge(problem, "natural_map_scaled", 1e-10);
    testing::solve(*solver, problem, {.max_iterations = 3000, .stop_by = StopBy::judge}, judge);
    return judge.last;
  };
  EXPECT_GT(residual_after("NSGS", {}), 1e-8);
  for (const char* method : {"anderson", "block_nesterov", "nncg"}) {
    EXPECT_LE(residual_after("NSGS", {{"acceleration", std::string(method)}}), 1e-10) << method;
  }
  EXPECT_LE(residual_after("NSGS-AA", {}), 1e-10);
}

TEST(AcceleratedSweep, WithoutAccelerationItIsNoPartOfAConfiguration) {
  for (const std::string& id : accelerated_ids) {
    const auto options = find_solver(id)->effective_options({});
    ASSERT_TRUE(options);
    EXPECT_FALSE(options->contains("acceleration")) << id;
    EXPECT_FALSE(options->contains("capacity")) << id;
  }
  EXPECT_TRUE(find_solver("NSGS-AA")->effective_options({})->contains("acceleration"));
}

}  // namespace
}  // namespace conebench::gauss_seidel
