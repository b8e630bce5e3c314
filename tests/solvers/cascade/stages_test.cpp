#include "solvers/cascade/stages.hpp"

#include <gtest/gtest.h>

#include "metrics/residuals.hpp"
#include "problems/scenes/scene_table.hpp"
#include "solvers/registry.hpp"

namespace conebench {
namespace {

struct Answer {
  SolveSummary summary;
  double residual;
};

Answer run_cascade(const std::string& id, const OptionValues& values, const StopRule& stop, OptionValues options = {}) {
  const auto problem = (*require_scene(id))->make(values, 1);
  auto solver = find_solver("CASCADE")->make(options);
  EXPECT_FALSE((*solver)->prepare(*problem).has_value());
  Vector impulse = Vector::Zero(problem->rows());
  SilentMonitor monitor;
  Answer answer;
  answer.summary = (*solver)->solve(Vector::Zero(problem->rows()), stop, monitor, impulse);
  answer.residual = judge(*problem, impulse)["natural_map_scaled"].value;
  return answer;
}

TEST(CascadeStages, SweepsAloneSolveALatticeWhoseFactorWouldCostMore) {
  const Answer answer = run_cascade("sphere-lattice", {{"nx", 7L}, {"ny", 7L}, {"nz", 7L}},
                                    {.tolerance = 1e-8, .max_iterations = 10000, .criterion = Criterion::own});
  EXPECT_LE(answer.residual, 1e-8);
  EXPECT_EQ(answer.summary.factorizations, 0);
}

TEST(CascadeStages, NothingIsFactoredWhereTheFactorWouldTakeTooMuchMemory) {
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 300, .criterion = Criterion::own};
  const OptionValues stack{{"boxes", 5L}, {"mass_ratio", 1e3}};
  EXPECT_GT(run_cascade("box-stack", stack, stop).summary.factorizations, 0);
  const Answer answer = run_cascade("box-stack", stack, stop, {{"memory", 0.0}});
  EXPECT_EQ(answer.summary.factorizations, 0);
  EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
}

TEST(CascadeStages, AStackWithAMassRatioOfAMillionIsSolvedToEightDigits) {
  for (const long boxes : {2L, 5L, 10L}) {
    const Answer answer = run_cascade("box-stack", {{"boxes", boxes}, {"mass_ratio", 1e6}},
                                      {.tolerance = 1e-8, .max_iterations = 2000, .criterion = Criterion::own});
    EXPECT_LE(answer.residual, 1e-8) << boxes;
  }
}

}  // namespace
}  // namespace conebench
