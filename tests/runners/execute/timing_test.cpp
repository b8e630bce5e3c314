#include "runners/execute/timing.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/processor_probe.hpp"

namespace conebench {
namespace {

TEST(Timing, TheFirstTimeIsTheColdOne) {
  const TimingRecord timing = summarise_times({9.0, 1.0, 2.0});
  EXPECT_EQ(timing.cold, 9.0);
  EXPECT_EQ(timing.minimum, 1.0);
  EXPECT_EQ(timing.median, 2.0);
  EXPECT_EQ(timing.deviation, 1.0);
}

TEST(Timing, AnEvenCountTakesTheMiddleOfTwo) {
  const TimingRecord timing = summarise_times({4.0, 1.0, 2.0, 9.0});
  EXPECT_EQ(timing.median, 3.0);
  EXPECT_EQ(timing.deviation, 1.5);
}

TEST(Timing, OneTimeHasNoDeviation) {
  const TimingRecord timing = summarise_times({4.0});
  EXPECT_EQ(timing.median, 4.0);
  EXPECT_EQ(timing.deviation, 0.0);
}

/// Of a hundred runs of 0.2 ms, those that had their processor.
int runs_with_processor() {
  int whole = 0;
  for (int run = 0; run < 100; ++run) {
    const double used = processor_seconds();
    const double begin = monotonic_seconds();
    while (monotonic_seconds() - begin < 2e-4) continue;
    const double passed = monotonic_seconds() - begin;
    whole += had_its_processor(processor_seconds() - used, passed) ? 1 : 0;
  }
  return whole;
}

TEST(Timing, RunsOfAFractionOfAMillisecondCountWhereProcessorTimeIsLimited) {
  const pid_t child = fork();
  if (child == 0) {
    limit_this_process({.cpu_s = 60.0});
    _exit(runs_with_processor() >= 50 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

RunTimes runs_of(std::initializer_list<double> seconds, double probe_s = 0.0, double min_probe_s = 0.0) {
  RunTimes times(min_probe_s);
  for (const double solve_s : seconds) times.add({.solve_s = solve_s, .probe_s = probe_s});
  return times;
}

TEST(Repeats, GoOnUntilThereAreEnoughAndTheyTookLongEnough) {
  const CellRequest::Repeats repeats{3, 50.0, 100};
  EXPECT_TRUE(runs_of({0.040, 0.040}).another(repeats, 10.0, 1.0));
  EXPECT_FALSE(runs_of({0.040, 0.040, 0.040}).another(repeats, 10.0, 0.0));
  EXPECT_TRUE(runs_of({0.001, 0.001, 0.001}).another(repeats, 10.0, 1.0));
}

CellRequest::Repeats settling(double precision) {
  return {.minimum = 5, .minimum_ms = 50.0, .maximum = 2000, .precision = precision};
}

TEST(Repeats, EndWhereBothHalvesHaveTheSameMinimumAndMedian) {
  RunTimes times = runs_of({1.005e-3, 1e-3, 1e-3, 1.001e-3, 1.002e-3});
  EXPECT_TRUE(times.another(settling(0.0), 10.0, 5e-3)) << "no precision is stated";
  EXPECT_FALSE(times.another(settling(0.01), 10.0, 5e-3));
}

TEST(Repeats, GoOnWhileEachIsFasterThanTheOneBefore) {
  RunTimes times;
  double seconds = 2e-3;
  for (int run = 0; run < 20; ++run, seconds *= 0.98) {
    times.add({.solve_s = seconds});
    EXPECT_TRUE(times.another(settling(0.01), 10.0, 0.0)) << run;
  }
}

TEST(Repeats, GoOnWhereTheMedianMovesAndTheMinimumDoesNot) {
  EXPECT_TRUE(runs_of({1e-3, 1.4e-3, 1.4e-3, 1e-3, 1e-3, 1e-3}).another(settling(0.01), 10.0, 0.0));
  EXPECT_TRUE(runs_of({1.2e-3, 1.1e-3, 1.1e-3, 1e-3, 1.1e-3, 1.1e-3}).another(settling(0.01), 10.0, 0.0))
      << "nor the other way round";
}

TEST(Repeats, OfMicrosecondsTakeAFiftiethOfTheTimeAtLeast) {
  RunTimes times;
  for (int run = 0; run < 9; ++run) times.add({.solve_s = 0.1e-3});
  EXPECT_TRUE(times.another(settling(0.01), 10.0, 0.0));
  for (int run = 0; run < 2; ++run) times.add({.solve_s = 0.1e-3});
  EXPECT_FALSE(times.another(settling(0.01), 10.0, 0.0));
}

TEST(Repeats, AreLookedAtWhenThereAreAQuarterMore) {
  RunTimes times = runs_of({2e-3, 2e-3, 2e-3, 2e-3, 1e-3, 1e-3, 1e-3, 1e-3});  // the halves differ
  EXPECT_TRUE(times.another(settling(0.01), 10.0, 0.0));
  times.add({.solve_s = 1e-3});
  EXPECT_TRUE(times.another(settling(1.0), 10.0, 0.0)) << "9 of 8: no look, whatever the precision";
  times.add({.solve_s = 1e-3});
  EXPECT_FALSE(times.another(settling(1.0), 10.0, 0.0));
}

TEST(Repeats, SettleByThoseThatCountAlone) {
  RunTimes times = runs_of({1.5e-3, 1.5e-3, 1.5e-3, 1.5e-3, 1.5e-3}, 14e-6, 10e-6);
  EXPECT_TRUE(times.another(settling(0.01), 10.0, 0.01)) << "the core was shared";
  for (int run = 0; run < 5; ++run) times.add({.solve_s = 1e-3, .probe_s = 10e-6});
  EXPECT_FALSE(times.another(settling(0.01), 10.0, 0.02));
  EXPECT_EQ(times.total().median, 1e-3);
}

TEST(Repeats, NeverExceedTheMaximumOrTheBudget) {
  const CellRequest::Repeats repeats{5, 50.0, 4};
  EXPECT_FALSE(runs_of({1e-6, 1e-6, 1e-6, 1e-6}).another(repeats, 10.0, 0.0));
  EXPECT_FALSE(runs_of({6.0}).another(repeats, 10.0, 0.0));
  EXPECT_TRUE(runs_of({4.0}).another(repeats, 10.0, 0.0));
  EXPECT_FALSE(runs_of({4.0, 4.0}).another(repeats, 10.0, 0.0));
}

TEST(Repeats, EndWithTheBudgetByTheClockWhereTheProcessorWasElsewhere) {
  const CellRequest::Repeats repeats{3, 50.0, 100};
  RunTimes times = runs_of({5e-6, 5e-6});
  EXPECT_TRUE(times.another(repeats, 1.0, 0.9));
  EXPECT_FALSE(times.another(repeats, 1.0, 1.1));
}

TEST(Repeats, OfASharedCoreDoNotCountAndGoOnForTenTimesAsLong) {
  const CellRequest::Repeats repeats{3, 50.0, 4};
  RunTimes times = runs_of({0.030, 0.030, 0.030, 0.030, 0.030}, 14e-6, 10e-6);
  EXPECT_TRUE(times.another(repeats, 10.0, 0.49));
  EXPECT_FALSE(times.another(repeats, 10.0, 0.51));
  EXPECT_FALSE(times.another(repeats, 0.17, 0.15));
  for (int run = 0; run < 3; ++run) times.add({.solve_s = 0.020, .probe_s = 10.2e-6});
  EXPECT_FALSE(times.another(repeats, 10.0, 0.3));
  EXPECT_EQ(times.counted(), 3);
  EXPECT_EQ(times.total().minimum, 0.020);
  EXPECT_EQ(times.total().median, 0.020);
  EXPECT_EQ(times.total().cold, 0.030);
}

TEST(Repeats, OfASolverWithThreadsOfItsOwnEndAsEver) {
  const CellRequest::Repeats repeats{3, 50.0, 100};
  RunTimes times;
  for (int run = 0; run < 3; ++run) times.add({.solve_s = 0.020, .had_processor = false, .probe_s = 10e-6});
  EXPECT_FALSE(times.another(repeats, 10.0, 0.06));
  EXPECT_EQ(times.total().minimum, 0.020);
}

TEST(Repeats, AllCountWhereTheCoreWasSharedThroughout) {
  const RunTimes times = runs_of({0.030, 0.032, 0.034}, 14e-6, 10e-6);
  EXPECT_EQ(times.total().minimum, 0.030);
  EXPECT_EQ(times.total().median, 0.032);
}

TEST(Repeats, OnesThatCountedNoLongerDoWhereALesserProbeComes) {
  const CellRequest::Repeats repeats{2, 50.0, 100};
  RunTimes times = runs_of({0.030, 0.030}, 14e-6);
  EXPECT_FALSE(times.another(repeats, 10.0, 0.06));
  times.add({.solve_s = 0.020, .probe_s = 10e-6});
  EXPECT_EQ(times.min_probe(), 10e-6);
  EXPECT_TRUE(times.another(repeats, 10.0, 0.08));
  EXPECT_EQ(times.total().median, 0.020);
}

TEST(Probe, TheLeastIsForgottenAfterAMinute) {
  MinimumProbe probes;
  EXPECT_EQ(probes.min_s(), 0.0);
  probes.see(0.0, 100.0);
  EXPECT_EQ(probes.min_s(), 0.0);
  probes.see(10e-6, 100.0);
  probes.see(14e-6, 129.0);
  EXPECT_EQ(probes.min_s(), 10e-6);
  probes.see(14e-6, 131.0);
  EXPECT_EQ(probes.min_s(), 10e-6);
  probes.see(14e-6, 162.0);
  EXPECT_EQ(probes.min_s(), 14e-6);
  probes.see(20e-6, 1000.0);
  EXPECT_EQ(probes.min_s(), 20e-6);
}

TEST(Probe, IsWorkThatNoCompilerLeavesOut) {
  MinimumProbe probes;
  for (int i = 0; i < 1000; ++i) probes.see(probe_processor(), 0.0);
  EXPECT_GT(probes.min_s(), 1e-6) << "more than the clock's own time";
}

}  // namespace
}  // namespace conebench
