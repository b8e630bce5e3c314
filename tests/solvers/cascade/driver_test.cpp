#include "solvers/cascade/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "metrics/residuals.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/registry.hpp"
#include "tests/solvers/cascade/bench.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::Bench;
using testing::make_problem;

struct Answer {
  SolveSummary summary;
  double residual;
};

Answer run_cascade(const std::string& id, const OptionValues& values, const StopRule& stop, OptionValues options = {}) {
  const auto problem = (*require_scene(id))->make(values, 1);
  auto solver = find_solver("CASCADE")->make(options);
  EXPECT_TRUE((*solver)->prepare(*problem));
  Vector impulse = Vector::Zero(problem->rows());
  SilentMonitor monitor;
  Answer answer;
  answer.summary = (*solver)->solve(Vector::Zero(problem->rows()), stop, monitor, impulse);
  answer.residual = judge(*problem, impulse)["natural_map_scaled"].value;
  return answer;
}

TEST(CascadeStages, SweepsAloneSolveALatticeWhoseFactorWouldCostMore) {
  const Answer answer = run_cascade("sphere-lattice", {{"nx", 7L}, {"ny", 7L}, {"nz", 7L}},
                                    {.tolerance = 1e-8, .max_iterations = 10000, .stop_by = StopBy::solver});
  EXPECT_LE(answer.residual, 1e-8);
  EXPECT_EQ(answer.summary.factorizations, 0);
}

TEST(CascadeStages, NothingIsFactoredWhereTheFactorWouldTakeTooMuchMemory) {
  const StopRule stop{.tolerance = 1e-12, .max_iterations = 300, .stop_by = StopBy::solver};
  const auto expect_sweeps = [&](const std::string& scene, const OptionValues& values, OptionValues options) {
    EXPECT_GT(run_cascade(scene, values, stop, options).summary.factorizations, 0) << scene;
    options["memory"] = 0.0;
    const Answer answer = run_cascade(scene, values, stop, options);
    EXPECT_EQ(answer.summary.factorizations, 0) << scene;
    EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations) << scene;
    EXPECT_EQ(answer.summary.iterations, stop.max_iterations) << scene;
  };
  const OptionValues stack{{"boxes", 5L}, {"mass_ratio", 1e3}};
  expect_sweeps("box-stack", stack, {});
  expect_sweeps("box-stack", stack, {{"sweeps", 0L}});
  expect_sweeps("box-stack", {{"boxes", 2L}, {"mass_ratio", 1e6}}, {});
  const OptionValues three{{"contacts", 3L}, {"mu_min", 0.8}, {"mu_max", 1.5}, {"conditioning", 300.0}};
  EXPECT_GT(run_cascade("random", three, stop).summary.factorizations, 0);
  EXPECT_EQ(run_cascade("random", three, stop, {{"memory", 0.0}}).summary.factorizations, 0);
}

TEST(CascadeStages, AFactorThatFitsIsMade) {
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 300, .stop_by = StopBy::solver};
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 12L}, {"mass_ratio", 10.0}});
  cascade::Parts parts(problem);
  const double megabytes = 1e-6 * parts.lu().bytes();
  for (const double share : {1.01, 0.99}) {
    const Answer answer =
        run_cascade("box-stack", {{"boxes", 12L}, {"mass_ratio", 10.0}}, stop, {{"memory", share * megabytes}});
    EXPECT_EQ(answer.summary.factorizations > 0, share > 1.0);
  }
}

TEST(CascadeStages, TheSweepsAskedForComeBeforeTheFirstFactor) {
  const auto before_the_first_factor = [](const OptionValues& values, long sweeps) {
    long limit = 1;
    const auto factorizations = [&] {
      const StopRule stop{.tolerance = 1e-300, .max_iterations = limit, .stop_by = StopBy::solver};
      return run_cascade("random", values, stop, {{"sweeps", sweeps}}).summary.factorizations;
    };
    while (limit < 30 && factorizations() == 0) ++limit;
    return limit - 1;
  };
  for (long sweeps = 0; sweeps <= 3; ++sweeps) {
    EXPECT_EQ(before_the_first_factor({{"contacts", 6L}}, sweeps), sweeps);
    EXPECT_EQ(before_the_first_factor({{"contacts", 30L}}, sweeps), sweeps);
    EXPECT_EQ(before_the_first_factor({{"contacts", 60L}}, sweeps), sweeps);
    EXPECT_EQ(before_the_first_factor({{"contacts", 20L}, {"joints", 4L}}, sweeps), sweeps);
  }
}

TEST(CascadeStages, AStackWithAMassRatioOfAMillionIsSolvedToEightDigits) {
  for (const long boxes : {2L, 5L, 10L}) {
    const Answer answer = run_cascade("box-stack", {{"boxes", boxes}, {"mass_ratio", 1e6}},
                                      {.tolerance = 1e-8, .max_iterations = 2000, .stop_by = StopBy::solver});
    EXPECT_LE(answer.residual, 1e-8) << boxes;
  }
}

TEST(CascadeStages, APileAtRestIsSolvedFromTheImpulsesWithWhichAllStick) {
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 100, .stop_by = StopBy::solver};
  const OptionValues pile{{"boxes", 12L}, {"mass_ratio", 10.0}};
  const Answer answer = run_cascade("box-stack", pile, stop);
  EXPECT_LE(answer.residual, 1e-10);
  EXPECT_EQ(answer.summary.stage, "rest");
  const Answer without = run_cascade("box-stack", pile, stop, {{"skip", std::string("rest")}});
  EXPECT_LE(without.residual, 1e-10);
  EXPECT_NE(without.summary.stage, "rest");
  EXPECT_GT(without.summary.factorizations, answer.summary.factorizations);
}

TEST(CascadeStages, ASummaryNamesTheStageThatConvergedAndNoneThatIsSkipped) {
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 20000, .stop_by = StopBy::solver};
  const OptionValues problem{{"contacts", 40L}, {"rank_share", 0.6}, {"mu_min", 0.5}, {"mu_max", 1.2}};
  const std::vector<std::string> names = cascade::stage_names();
  std::string skip;
  // Each time the stage that solved the problem is left out, too.
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Answer answer = run_cascade("random", problem, stop, {{"skip", skip}});
    if (answer.summary.status != SolveStatus::converged) {
      EXPECT_EQ(answer.summary.stage, "");
      break;
    }
    EXPECT_LE(answer.residual, stop.tolerance) << skip;
    EXPECT_THAT(names, ::testing::Contains(answer.summary.stage));
    EXPECT_FALSE((cascade::DriverOptions{.skip = skip}).skips(answer.summary.stage)) << skip;
    skip += (skip.empty() ? "" : ",") + answer.summary.stage;
  }
  EXPECT_NE(skip.find(','), std::string::npos) << "several stages solve it";
  const Answer nothing = run_cascade("random", problem, {.tolerance = 1e-300, .max_iterations = 5});
  EXPECT_EQ(nothing.summary.stage, "") << "none converged";
}

TEST(CascadeStages, ASkippedWordThatNamesNoStageIsRefused) {
  const auto refused = find_solver("CASCADE")->make({{"skip", std::string("interior-point,newtom")}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("'newtom'; did you mean 'newton'?"));
  EXPECT_FALSE(find_solver("CASCADE")->effective_options({{"skip", std::string("newtom")}}).ok());
}

TEST(CascadeStages, LimitsOfIterationsHoldToTheEnd) {
  const auto iterations = [](const OptionValues& stack, long limit) {
    return run_cascade("box-stack", stack, {.tolerance = 1e-8, .max_iterations = limit, .stop_by = StopBy::solver})
        .summary.iterations;
  };
  for (const long limit : {0L, 1L, 2L, 5L}) {
    EXPECT_LE(iterations({{"boxes", 12L}, {"mass_ratio", 10.0}}, limit), limit);
  }
  for (long limit = 60; limit <= 150; limit += 5) {
    EXPECT_LE(iterations({{"boxes", 5L}, {"mass_ratio", 1e6}}, limit), limit);
  }
  for (long limit = 1900; limit < 2100; limit += 9) {
    EXPECT_LE(iterations({{"boxes", 2L}, {"mass_ratio", 1e8}}, limit), limit);
  }
}

TEST(CascadeStages, ASecondSolveRepeatsTheFirstToTheBit) {
  for (const long n : {3L, 6L}) {
    const ContactProblem problem = make_problem("sphere-lattice", {{"nx", n}, {"ny", n}, {"nz", 14L}});
    auto solver = find_solver("CASCADE")->make({});
    ASSERT_TRUE((*solver)->prepare(problem));
    SilentMonitor monitor;
    const StopRule stop{.tolerance = 1e-8, .max_iterations = 5000, .stop_by = StopBy::solver};
    Vector impulse[2];
    SolveSummary summary[2];
    for (int k : {0, 1}) {
      impulse[k].setZero(problem.rows());
      summary[k] = (*solver)->solve(Vector::Zero(problem.rows()), stop, monitor, impulse[k]);
    }
    EXPECT_EQ(impulse[0], impulse[1]);
    EXPECT_EQ(summary[0].iterations, summary[1].iterations);
    EXPECT_EQ(summary[0].factorizations, summary[1].factorizations);
  }
}

TEST(CascadeStages, AStartThatIsNearIsSweptNotThrownAway) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 12L}, {"mass_ratio", 10.0}});
  auto solver = find_solver("CASCADE")->make({});
  ASSERT_TRUE((*solver)->prepare(problem));
  SilentMonitor monitor;
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 5000, .stop_by = StopBy::solver};
  Vector answer(problem.rows());
  (*solver)->solve(Vector::Zero(problem.rows()), stop, monitor, answer);
  Vector again(problem.rows());
  const SolveSummary warm = (*solver)->solve(1.0001 * answer, stop, monitor, again);
  EXPECT_EQ(warm.status, SolveStatus::converged);
  EXPECT_GT(warm.iterations, warm.factorizations);
}

/// `skip` that leaves `stage` alone.
OptionValues only(const std::string& stage) {
  std::string skip;
  for (const std::string& name : cascade::stage_names()) {
    if (name != stage) skip += (skip.empty() ? "" : ",") + name;
  }
  return {{"skip", skip}};
}

TEST(CascadeStages, FromRestLeavesProblemsInMotionAlone) {
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 100, .stop_by = StopBy::solver};
  EXPECT_EQ(run_cascade("random", {{"contacts", 30L}}, stop, only("rest")).summary.iterations, 0);
}

TEST(CascadeStages, SweepsGiveUpWhereTheyAreSlow) {
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 10000, .stop_by = StopBy::solver};
  const SolveSummary summary =
      run_cascade("box-stack", {{"boxes", 10L}, {"mass_ratio", 1e5}}, stop, only("sweeps")).summary;
  EXPECT_EQ(summary.status, SolveStatus::stalled);
  EXPECT_GE(summary.iterations, 2);
  EXPECT_LE(summary.iterations, 20);
}

TEST(CascadeStages, AnInteriorPointIsFirstWhereManyContactsSayTheSame) {
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 100, .stop_by = StopBy::solver};
  const auto first = [&](const std::string& scene, const OptionValues& values) {
    return run_cascade(scene, values, stop, only("interior-point-first")).summary.factorizations > 0;
  };
  EXPECT_TRUE(first("random", {{"contacts", 60L}, {"rank_share", 0.1}}));
  EXPECT_FALSE(first("random", {{"contacts", 60L}, {"rank_share", 1.0}}));
  EXPECT_FALSE(first("random", {{"contacts", 16L}, {"rank_share", 0.1}}));
  EXPECT_FALSE(first("sphere-lattice", {{"nx", 5L}, {"ny", 5L}, {"nz", 5L}}));
}

TEST(CascadeStages, TheMonitorEndsInnerSearchesBetweenTheirPoints) {
  Bench bench(
      make_problem("random", {{"contacts", 2L}, {"mu_min", 0.8}, {"mu_max", 1.5}, {"conditioning", 300.0}}, 117));
  const StopRule stop{.tolerance = 1e-15, .max_iterations = 10000, .stop_by = StopBy::judge};
  for (const Decision decision : {Decision::out_of_time, Decision::accept}) {
    for (long look = 1; look <= 30; ++look) {
      testing::StoppingMonitor monitor(look, decision);
      cascade::Search search(stop, monitor, bench.impulse);
      search.take_points_of(bench.parts.problem());
      bench.parts.proximal_point().run(search, Vector::Zero(bench.parts.problem().size()), {.newton_steps = 800});
      // What an inner search was at when time was up is measured on the problem itself.
      EXPECT_LE(monitor.iterations.size(), static_cast<std::size_t>(decision == Decision::accept ? look : look + 1));
      EXPECT_LE(search.newton_steps(), look);
      const SolveSummary summary = search.finish();
      EXPECT_EQ(summary.status, decision == Decision::accept ? SolveStatus::converged : SolveStatus::time_limit);
      EXPECT_EQ(bench.impulse, monitor.seen) << "what was asked about is what is returned";
    }
  }
}

TEST(CascadeStages, HeavyStacksAreSolvedAlsoWhereNewtonsMethodIsLeftOut) {
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 20000, .stop_by = StopBy::solver};
  int solved = 0;
  for (const double mass_ratio : {2e5, 5e5, 1e6}) {
    for (const long boxes : {11L, 14L, 17L}) {
      const OptionValues values{{"boxes", boxes}, {"mass_ratio", mass_ratio}, {"friction", 0.4}};
      const SolveSummary summary =
          run_cascade("box-stack", values, stop, {{"skip", std::string("rest,newton")}}).summary;
      solved += summary.status == SolveStatus::converged ? 1 : 0;
    }
  }
  EXPECT_GE(solved, 8);
}

}  // namespace
}  // namespace conebench
