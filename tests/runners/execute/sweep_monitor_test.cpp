#include "runners/execute/sweep_monitor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "problems/islands.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/side_by_side.hpp"

namespace conebench {
namespace {

constexpr long many = 1'000'000'000;

double fake_time = 0.0;
double fake_clock() { return fake_time; }

/// Plays a solver whose iterations take `iteration_s`; answers the iterations at which the monitor was called.
std::vector<long> play(Monitor& monitor, const Vector& impulse, long iterations, double iteration_s,
                       Decision* last = nullptr) {
  std::vector<long> observed;
  for (long k = 1; k <= iterations; ++k) {
    fake_time += iteration_s;
    if (!monitor.should_check(k)) continue;
    observed.push_back(k);
    const Decision decision = monitor.observe(k, impulse, 0.0);
    if (last != nullptr) *last = decision;
    if (decision != Decision::keep_going) break;
  }
  return observed;
}

class SweepMonitorTest : public ::testing::Test {
 protected:
  ContactProblem problem = testing::make_problem("box-stack", {{"boxes", 1L}});
  Verdict verdict = *Verdict::create("natural_map_scaled", problem);
  Vector wrong = Vector::Zero(problem.rows());
  Vector right = problem.reference()->reaction;
};

TEST(LookSchedule, GoesOneByOneAndThenByTenPercent) {
  std::vector<long> checks;
  for (long k = 1; checks.size() < 24; k = next_check(k)) checks.push_back(k);
  const std::vector<long> expected = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28};
  EXPECT_EQ(checks, expected);
}

TEST(LookSchedule, IsCountedUpToAnIteration) {
  EXPECT_EQ(scheduled_checks(0), 0);
  EXPECT_EQ(scheduled_checks(20), 20);
  EXPECT_EQ(scheduled_checks(21), 20);
  EXPECT_EQ(scheduled_checks(28), 24);
  EXPECT_EQ(scheduled_checks(std::numeric_limits<long>::max()), scheduled_checks(std::numeric_limits<long>::max() / 2));
}

TEST_F(SweepMonitorTest, CountsTheLooksOfTheLastTry) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-8, 100.0, false, many, fake_clock);
  monitor.start();
  play(monitor, wrong, 100, 0.0);
  EXPECT_EQ(monitor.checks(), scheduled_checks(100));
  monitor.start_over();
  monitor.propose(101, right, 0.0);
  EXPECT_EQ(monitor.checks(), 1);
}

TEST_F(SweepMonitorTest, AcceptsTheFirstIterateThatPasses) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-8, 100.0, false, many, fake_clock);
  monitor.start();
  EXPECT_EQ(monitor.observe(1, wrong, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.observe(2, right, 0.0), Decision::accept);
  EXPECT_EQ(monitor.stopped_at(), 2);
  EXPECT_EQ(monitor.decision(), Decision::accept);
}

TEST_F(SweepMonitorTest, FollowsWhatItChecks) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-30, 1e9, false, many, fake_clock);
  monitor.follow();
  monitor.start();
  play(monitor, wrong, 30, 0.5);
  const Trace& trace = monitor.trace();
  ASSERT_EQ(trace.size(), 25U) << "the schedule up to 30";
  for (const TracePoint& point : trace) {
    EXPECT_EQ(point.residual, verdict(wrong));
    EXPECT_EQ(point.own_residual, 0.0);
    EXPECT_DOUBLE_EQ(point.seconds, 0.5 * point.iteration);
  }
  EXPECT_EQ(trace.back().iteration, 30.0);
  monitor.start_over();
  EXPECT_TRUE(monitor.trace().empty()) << "another attempt";
}

TEST_F(SweepMonitorTest, ThinsALongTraceAndKeepsItsEnds) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-30, 1e9, false, many, fake_clock);
  monitor.follow();
  monitor.start();
  const auto capacity = monitor.trace().capacity();
  for (long k = 1; k <= 5000; ++k) monitor.propose(k, wrong, 0.0);
  EXPECT_EQ(monitor.trace().capacity(), capacity) << "nothing is allocated while a solver runs";
  EXPECT_LE(monitor.trace().size(), 256U);
  EXPECT_GE(monitor.trace().size(), 128U);
  EXPECT_EQ(monitor.trace().front().iteration, 1.0);
  EXPECT_EQ(monitor.trace().back().iteration, 5000.0);
}

TEST_F(SweepMonitorTest, KeepsNothingUnlessItIsToFollow) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-30, 1e9, false, many, fake_clock);
  monitor.start();
  play(monitor, wrong, 30, 0.5);
  EXPECT_TRUE(monitor.trace().empty());
}

TEST_F(SweepMonitorTest, LooksAtTheLastIterationWhateverTheSchedule) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-8, 100.0, false, 1005, fake_clock);
  monitor.start();
  for (long k = 1; k <= 1005; ++k) {
    if (monitor.should_check(k)) monitor.observe(k, k == 1005 ? right : wrong, 0.0);
  }
  EXPECT_EQ(monitor.stopped_at(), 1005);
}

TEST_F(SweepMonitorTest, NeverAcceptsWithoutAVerdict) {
  fake_time = 0.0;
  SweepMonitor monitor(nullptr, 1e-8, 100.0, false, many, fake_clock);
  monitor.start();
  EXPECT_EQ(monitor.observe(1, right, 0.0), Decision::keep_going);
}

TEST_F(SweepMonitorTest, StopsSoonAfterTheDeadlineWhateverAnIterationTakes) {
  for (const double iteration_s : {1e-7, 1e-5, 1e-3, 0.1}) {
    fake_time = 0.0;
    SweepMonitor monitor(nullptr, 1e-8, 1.0, false, many, fake_clock);
    monitor.start();
    Decision last = Decision::keep_going;
    play(monitor, wrong, 100'000'000, iteration_s, &last);
    EXPECT_EQ(last, Decision::out_of_time);
    EXPECT_GE(fake_time, 1.0);
    EXPECT_LE(fake_time, 1.0 + 0.011 + iteration_s) << "iterations of " << iteration_s << " s";
  }
}

TEST_F(SweepMonitorTest, SeldomReadsTheClockWhereIterationsAreTiny) {
  fake_time = 0.0;
  SweepMonitor monitor(nullptr, 1e-8, 1.0, false, many, fake_clock);
  monitor.start();
  play(monitor, wrong, 1'000'000, 1e-7);
  EXPECT_LT(monitor.clock_reads(), 60);
}

TEST_F(SweepMonitorTest, AMachinesSpeedDoesNotMoveTheLooksAtTheVerdict) {
  // The verdict is passed from iteration 500 on; which iterate is accepted must not depend on the clock.
  std::vector<long> accepted;
  for (const double iteration_s : {1e-8, 1e-4, 7e-3}) {
    fake_time = 0.0;
    SweepMonitor monitor(&verdict, 1e-8, 1e9, false, many, fake_clock);
    monitor.start();
    for (long k = 1; monitor.decision() == Decision::keep_going; ++k) {
      fake_time += iteration_s;
      if (monitor.should_check(k)) monitor.observe(k, k >= 500 ? right : wrong, 0.0);
    }
    accepted.push_back(monitor.stopped_at());
  }
  EXPECT_EQ(accepted[0], accepted[1]);
  EXPECT_EQ(accepted[0], accepted[2]);
}

double costly_judge_clock() { return fake_time += 1.0; }

TEST_F(SweepMonitorTest, LooksAtTheVerdictCountTowardsTheDeadlineOnlyWherePaid) {
  // Every read of this clock takes a second, so a look at the verdict does, too.
  for (const bool paid : {false, true}) {
    fake_time = 0.0;
    SweepMonitor monitor(&verdict, 1e-8, 10.5, paid, many, costly_judge_clock);
    monitor.start();
    play(monitor, wrong, 1000, 0.0);
    EXPECT_EQ(monitor.stopped_at(), paid ? 6 : 11);
    EXPECT_EQ(monitor.judge_seconds(), static_cast<double>(monitor.stopped_at()));
  }
}

TEST_F(SweepMonitorTest, WhatPassesAfterTheDeadlineIsOutOfTime) {
  const auto decide = [&](double solve_s, bool paid, Clock clock) {
    fake_time = 0.0;
    SweepMonitor monitor(&verdict, 1e-8, 10.5, paid, many, clock);
    monitor.start();
    fake_time += solve_s;
    const Decision decision = monitor.propose(7, right, 0.0);
    EXPECT_EQ(monitor.decision(), decision);
    EXPECT_EQ(monitor.stopped_at(), 7);
    return decision;
  };
  EXPECT_EQ(decide(10.4, true, fake_clock), Decision::accept);
  EXPECT_EQ(decide(10.6, true, fake_clock), Decision::out_of_time);
  EXPECT_EQ(decide(10.6, false, fake_clock), Decision::out_of_time);
  // To read this clock takes a second, and to judge one more, by which alone the paid look is late.
  EXPECT_EQ(decide(9.0, false, costly_judge_clock), Decision::accept);
  EXPECT_EQ(decide(9.0, true, costly_judge_clock), Decision::out_of_time);
}

TEST_F(SweepMonitorTest, ATryThatIsThrownAwayCountsForNothing) {
  for (const bool paid : {false, true}) {
    fake_time = 0.0;
    SweepMonitor monitor(&verdict, 1e-8, 10.0, paid, many, fake_clock);
    monitor.start();
    fake_time += 8.0;
    EXPECT_EQ(monitor.propose(1, wrong, 0.0), Decision::keep_going);
    EXPECT_GT(monitor.verdict_ratio(), 1.0);
    monitor.start_over();
    fake_time += 9.0;
    EXPECT_EQ(monitor.propose(4, right, 0.0), Decision::accept) << "its budget is its own";
    EXPECT_EQ(monitor.untimed_seconds(), 8.0);
    EXPECT_EQ(monitor.attempts(), 2);
  }
}

TEST_F(SweepMonitorTest, APaidRepeatBeginsWhereTheFirstRunStopped) {
  SweepMonitor monitor(&verdict, 1e-8, 10.0, true, many, fake_clock);
  monitor.begin_at(4);
  monitor.start();
  EXPECT_EQ(play(monitor, right, 10, 0.0), std::vector<long>{4});
  EXPECT_EQ(monitor.decision(), Decision::accept);
}

TEST_F(SweepMonitorTest, ReplayLooksOnceWhereTheFirstRunStopped) {
  ReplayMonitor monitor({.at = 17, .decision = Decision::accept});
  EXPECT_EQ(play(monitor, wrong, 1000, 0.0), std::vector<long>{17});
  ReplayMonitor undecided(Stops{});
  EXPECT_TRUE(play(undecided, wrong, 1000, 0.0).empty());
}

TEST_F(SweepMonitorTest, AProposalIsLookedAtOffTheSchedule) {
  fake_time = 0.0;
  SweepMonitor monitor(&verdict, 1e-8, 100.0, false, many, fake_clock);
  monitor.start();
  for (long k = 1; k <= 40; ++k) {
    if (monitor.should_check(k)) monitor.observe(k, wrong, 0.0);
  }
  ASSERT_FALSE(monitor.should_check(41));
  EXPECT_EQ(monitor.observe(41, right, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.propose(42, wrong, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.propose(43, right, 0.0), Decision::accept);
  EXPECT_EQ(monitor.stopped_at(), 43);
}

TEST_F(SweepMonitorTest, AProposalCloseAboveTheToleranceIsResolvedOutsideAllTimes) {
  for (const bool paid : {false, true}) {
    fake_time = 0.0;
    SweepMonitor monitor(&verdict, 0.5 * verdict(wrong), 10.0, paid, many, fake_clock);
    int asked = 0;
    monitor.resolve_by([&](ConstVectorRef) {
      fake_time += 20.0;
      return ++asked == 2;
    });
    monitor.start();
    EXPECT_EQ(monitor.observe(1, wrong, 0.0), Decision::keep_going);
    EXPECT_EQ(asked, 0) << "not proposed";
    EXPECT_EQ(monitor.propose(2, wrong, 0.0), Decision::keep_going);
    EXPECT_EQ(monitor.propose(3, wrong, 0.0), Decision::accept);
    EXPECT_EQ(monitor.untimed_seconds(), 40.0);
    EXPECT_EQ(monitor.paid_seconds(), 0.0);
  }
  SweepMonitor monitor(&verdict, 0.05 * verdict(wrong), 10.0, false, many, fake_clock);
  monitor.resolve_by([](ConstVectorRef) { return true; });
  monitor.start();
  EXPECT_EQ(monitor.propose(1, wrong, 0.0), Decision::keep_going) << "too far for rounding";
}

TEST_F(SweepMonitorTest, ASolverThatMeasuresTheVerdictIsJudgedWhereItProposes) {
  SweepMonitor monitor(&verdict, 1e-8, 100.0, false, many, fake_clock);
  monitor.judge_proposals_only();
  monitor.start();
  EXPECT_EQ(monitor.observe(1, right, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.propose(2, wrong, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.observe(3, right, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.propose(4, right, 0.0), Decision::accept);
}

TEST_F(SweepMonitorTest, ReplayAcceptsOnlyTheProposalThatWasAccepted) {
  ReplayMonitor monitor({.at = 3, .decision = Decision::accept});
  EXPECT_EQ(monitor.propose(2, wrong, 0.0), Decision::keep_going);
  EXPECT_EQ(monitor.propose(3, wrong, 0.0), Decision::accept);
  ReplayMonitor undecided(Stops{});
  EXPECT_EQ(undecided.propose(3, wrong, 0.0), Decision::keep_going);
}

TEST_F(SweepMonitorTest, TraceWritesOneLineAnIterationAndStopsWhereTheFirstRunDid) {
  TraceMonitor monitor(problem, {.at = 3, .decision = Decision::accept});
  monitor.start();
  EXPECT_EQ(play(monitor, right, 1000, 0.0), (std::vector<long>{1, 2, 3}));
  const std::string& csv = monitor.csv();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_EQ(csv.substr(0, 31), "iteration,seconds,own_residual,");
}

TEST_F(SweepMonitorTest, APartsDearIterationsAreNoticedAfterAnothersCheapOnes) {
  fake_time = 0.0;
  const testing::SideBySide sides = testing::side_by_side({testing::bare(problem), testing::bare(problem)}, 1);
  const Islands islands(sides.whole);
  const Vector impulse = Vector::Zero(sides.whole.rows());
  SweepMonitor monitor(nullptr, 1e-8, 10.0, false, many, fake_clock);
  monitor.start();
  const ProblemPart first{islands.problem(0).value(), islands.rows(0)};
  const ProblemPart second{islands.problem(1).value(), islands.rows(1)};
  monitor.turn_to(&first, 0);
  play(monitor, impulse, 10'000, 1e-6);
  monitor.turn_to(&second, 10'000);
  Decision decision = Decision::keep_going;
  long k = 10'000;
  while (decision == Decision::keep_going && k < 20'000) {
    fake_time += 1.0;
    if (monitor.should_check(++k)) decision = monitor.observe(k, impulse, 0.0);
  }
  EXPECT_EQ(decision, Decision::out_of_time);
  EXPECT_LE(k, 10'012);
}

TEST_F(SweepMonitorTest, APartIsAcceptedByItsOwnRowsAndEndsNothing) {
  fake_time = 0.0;
  const testing::SideBySide sides = testing::side_by_side({testing::bare(problem), testing::bare(problem)}, 1);
  const Islands islands(sides.whole);
  Verdict both = *Verdict::create("natural_map_scaled", sides.whole);
  SweepMonitor monitor(&both, 1e-8, 100.0, false, 30, fake_clock);
  monitor.start();
  Vector impulse = Vector::Zero(sides.whole.rows());
  const ProblemPart first{islands.problem(0).value(), islands.rows(0)};
  const ProblemPart second{islands.problem(1).value(), islands.rows(1)};
  monitor.turn_to(&first, 0);
  EXPECT_EQ(play(monitor, impulse, 30, 0.0).back(), 30) << "its last iteration is checked";
  scatter(right, first.rows, impulse);
  EXPECT_EQ(monitor.propose(31, impulse, 0.0), Decision::accept) << "whatever the other does";
  EXPECT_EQ(monitor.decision(), Decision::keep_going);
  monitor.turn_to(&second, 31);
  ASSERT_TRUE(monitor.should_check(32)) << "a schedule of its own";
  EXPECT_EQ(monitor.observe(32, impulse, 0.0), Decision::keep_going);
  scatter(right, second.rows, impulse);
  EXPECT_EQ(monitor.observe(33, impulse, 0.0), Decision::accept);
  monitor.turn_to(nullptr, 33);
  EXPECT_EQ(monitor.propose(34, impulse, 0.0), Decision::accept);
  EXPECT_EQ(monitor.stops().accepted_parts, (std::vector<long>{31, 33}));
  EXPECT_EQ(monitor.stopped_at(), 34);

  ReplayMonitor replay(monitor.stops());
  std::vector<long> observed;
  for (long k = 1; k <= 40 && observed.size() < 3; ++k) {
    if (!replay.should_check(k)) continue;
    observed.push_back(k);
    EXPECT_EQ(replay.observe(k, wrong, 0.0), Decision::accept);
  }
  EXPECT_EQ(observed, (std::vector<long>{31, 33, 34}));
}

}  // namespace
}  // namespace conebench
