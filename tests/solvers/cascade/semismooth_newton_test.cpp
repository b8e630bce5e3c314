#include "solvers/cascade/semismooth_newton.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "problems/delassus_operator.hpp"
#include "tests/solvers/cascade/bench.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::Bench;
using testing::make_problem;

/// Two contacts; Newton's steps from zero cycle on one of six.
ContactProblem cycling_contacts(std::uint64_t seed) {
  return make_problem("random", {{"contacts", 2L}, {"mu_min", 0.8}, {"mu_max", 1.4}, {"conditioning", 300.0}}, seed);
}

TEST(SemismoothNewton, TheFirstNewtonRunForgivesItsFirstStepsAClimb) {
  // From zero the first step of this one climbs.
  Bench bench(make_problem("random", {{"contacts", 40L}, {"mu_min", 0.5}, {"mu_max", 1.2}, {"rank_share", 0.6}}));
  long steps[2];
  for (const bool start_counts : {true, false}) {
    cascade::Search search = bench.search(1e-10);
    Vector r = Vector::Zero(bench.parts.problem().size());
    cascade::NewtonBudget budget = cascade::first_newton;
    EXPECT_FALSE(budget.start_counts);
    budget.stall_window = 1;
    budget.start_counts = start_counts;
    bench.parts.newton().run(search, r, budget);
    steps[start_counts ? 0 : 1] = search.newton_steps();
  }
  EXPECT_LT(steps[0], steps[1]);
}

struct FirstRun {
  bool arrived;
  long steps;
};

/// The driver's first run from rest, in space, with one of its ways out of cycling at most.
FirstRun first_run(Bench& bench, bool changes_scale, bool leaves_cycles) {
  cascade::Search search = bench.search(1e-8);
  Vector r = Vector::Zero(bench.parts.problem().size());
  cascade::NewtonBudget budget = cascade::first_newton;
  EXPECT_TRUE(budget.changes_scale);
  EXPECT_TRUE(budget.leaves_cycles);
  budget.changes_scale = changes_scale;
  budget.leaves_cycles = leaves_cycles;
  const bool arrived = bench.parts.newton().run(search, r, budget);
  return {arrived, search.newton_steps()};
}

TEST(SemismoothNewton, AnotherScaleOfTheNaturalMapLeavesCircles) {
  int arrived[] = {0, 0};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Bench bench(cycling_contacts(seed));
    for (const bool changes_scale : {false, true})
      arrived[changes_scale ? 1 : 0] += first_run(bench, changes_scale, false).arrived ? 1 : 0;
  }
  EXPECT_GE(arrived[1], arrived[0] + 6);
}

TEST(SemismoothNewton, ACircleIsLeftOrEndsTheRun) {
  int cycles = 0;
  int left = 0;
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Bench bench(cycling_contacts(seed));
    const FirstRun around = first_run(bench, false, false);
    if (around.arrived) continue;
    ++cycles;
    const FirstRun out = first_run(bench, false, true);
    (out.arrived ? left : ended) += out.steps < around.steps ? 1 : 0;
  }
  EXPECT_GE(cycles, 20);
  EXPECT_GE(left, 3);
  EXPECT_GE(ended, 15);
}

TEST(SemismoothNewton, WhereTheModesStayALittleRegularisationSavesSteps) {
  long steps[] = {0, 0};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Bench bench(make_problem("random", {{"contacts", 12L}, {"mu_min", 0.3}, {"mu_max", 0.6}}, seed));
    for (const bool trusts_modes : {false, true}) {
      cascade::Search search = bench.search(1e-8);
      Vector r = Vector::Zero(bench.parts.problem().size());
      const cascade::NewtonBudget budget{.steps = 40, .stall_window = 40, .trusts_modes = trusts_modes};
      EXPECT_TRUE(bench.parts.newton().run(search, r, budget)) << seed;
      steps[trusts_modes ? 1 : 0] += search.newton_steps();
    }
  }
  EXPECT_LE(steps[1] + 10, steps[0]);
}

TEST(SemismoothNewton, TheLastDigitsTakeAFewNewtonStepsWithAnyScaleOfTheNaturalMap) {
  for (const OptionValues& values : std::vector<OptionValues>{{{"contacts", 12L}},
                                                              {{"contacts", 12L}, {"dimension", 2L}},
                                                              {{"contacts", 12L}, {"asymmetry", 0.02}},
                                                              {{"contacts", 12L}, {"joints", 6L}, {"limits", 3L}}}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Bench bench(make_problem("random", values, seed));
      cascade::Search search = bench.search(1e-3);
      Vector start = Vector::Zero(bench.parts.problem().size());
      EXPECT_TRUE(bench.parts.newton().run(search, start, {.steps = 60, .stall_window = 60}));
      for (const double scale : {1.0 / 3.0, 1.0, 3.0}) {
        cascade::Search last = bench.search(1e-12);
        Vector r = search.best_point();
        EXPECT_TRUE(bench.parts.newton().run(last, r, {.relative = 0.1, .scale = scale})) << seed;
        EXPECT_LE(last.newton_steps(), 6) << seed << ' ' << scale;
      }
    }
  }
}

TEST(SemismoothNewton, AStepOpensContactsThatAllPart) {
  const ContactProblem given = make_problem("random", {{"contacts", 3L}});
  ContactProblemData data;
  data.cones = given.cones();
  data.delassus = make_block_sparse_delassus(given.blocks());
  data.free_term = Vector::Zero(given.rows());
  for (Index row = 2; row < given.rows(); row += 3) data.free_term[row] = 1.0;
  Bench bench(ContactProblem::create(std::move(data)).value());
  cascade::Search search = bench.search(1e-12);
  Vector r = Vector::Zero(given.rows());
  for (Index row = 2; row < given.rows(); row += 3) r[row] = 1e-3;
  EXPECT_TRUE(bench.parts.newton().run(search, r, {}));
  EXPECT_EQ(search.newton_steps(), 1);
  EXPECT_EQ(search.best_point(), Vector::Zero(given.rows()));
}

TEST(SemismoothNewton, WhatWasMeasuredAtTheStartIsNotMeasuredAgain) {
  Bench bench(make_problem("random", {{"contacts", 20L}}));
  const cascade::ScaledProblem& problem = bench.parts.problem();
  const Vector zero = Vector::Zero(problem.size());
  cascade::Measured start;
  start.velocity.resize(problem.size());
  problem.velocity(zero, start.velocity);
  start.residual = problem.residual(zero, start.velocity);
  const auto run = [&](const cascade::Measured& known, Vector& answer) {
    cascade::Search search = bench.search(1e-10);
    const long before = problem.products();
    bench.parts.newton().run(search, zero, {}, known);
    answer = search.best_point();
    return problem.products() - before;
  };
  Vector unknown, known;
  EXPECT_EQ(run({}, unknown), run(start, known) + 1);
  EXPECT_EQ(unknown, known);
}

}  // namespace
}  // namespace conebench
