#include "solvers/cascade/friction_cascade.hpp"

#include <gtest/gtest.h>

#include "problems/scaled_natural_map.hpp"
#include "tests/solvers/cascade/mixed_problem.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;
using Laws = MixedProblem::Laws;

/// CASCADE's own test to 1e-10, judged by the scaled natural map.
SolveSummary solved(const ContactProblem& problem, const OptionValues& options = {}) {
  SilentMonitor silent;
  const auto solver = prepared(*find_solver("CASCADE"), problem, options);
  const Answer answer = solve(*solver, problem, {.tolerance = 1e-10, .max_iterations = 20000}, silent);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(scaled_natural_map(problem, answer.impulse), 2e-10);
  return answer.summary;
}

TEST(FrictionCascade, SolvesConesOfManySizesWithIntervals) {
  for (const double rank_share : {1.2, 0.6, 0.3}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(::testing::Message() << "rank share " << rank_share << ", seed " << seed);
      solved(mixed_problem({.blocks = 12, .rank_share = rank_share, .joints = seed % 3 == 0 ? 2 : 0}, seed));
    }
  }
}

TEST(FrictionCascade, SolvesHundredsOfRowsWithUnequalMasses) {
  solved(mixed_problem({.blocks = 90, .rank_share = 0.5, .mass_ratio = 1e3}, 1));
}

TEST(FrictionCascade, SolvesIntervalsWithCoulombsFrictionByItsStages) {
  for (const Laws laws : {Laws::coulomb, Laws::plane, Laws::orthotropic}) {
    for (const double rank_share : {1.2, 0.4}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(::testing::Message() << "rank share " << rank_share << ", seed " << seed);
        const SolveSummary summary =
            solved(mixed_problem({.blocks = 30, .rank_share = rank_share, .laws = laws}, seed));
        EXPECT_EQ(summary.stage.find("cones"), std::string::npos) << summary.stage;
      }
    }
  }
}

TEST(FrictionCascade, FollowsAPathToAnAnswerWhereNewtonFailsFirst) {
  for (const Laws laws : {Laws::coulomb, Laws::mixed}) {
    int by_path = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const SolveSummary summary =
          solved(mixed_problem({.blocks = 60, .rank_share = 0.2, .mass_ratio = 100.0, .laws = laws}, seed));
      by_path += summary.stage.find("proximal") != std::string::npos ? 1 : 0;
    }
    EXPECT_GE(by_path, 1);
  }
}

TEST(FrictionCascade, NewtonAndThePathAloneSolveIntervals) {
  for (const char* id : {"SSN", "PPA"}) {
    SCOPED_TRACE(id);
    SilentMonitor silent;
    const ContactProblem problem = mixed_problem({.blocks = 9, .rank_share = 1.2, .laws = Laws::coulomb}, 3);
    const Answer answer = solve(*prepared(*find_solver(id), problem), problem, {.tolerance = 1e-10}, silent);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE(scaled_natural_map(problem, answer.impulse), 2e-10);
  }
}

}  // namespace
}  // namespace conebench
