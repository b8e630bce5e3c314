#include "runners/execute/sweep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <set>

#include "base/child_process.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "runners/execute/condensation_cost.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/execute/wire.hpp"
#include "runners/plan/filter.hpp"
#include "store/suite_scope.hpp"
#include "tests/runners/execute/stopped_children.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// 3 problems × 4 configurations × 2 tolerances; one of the configurations never gets there.
const char* const small_suite = R"({
  "name": "small", "seed": 3,
  "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2, 3]}, "as": "fclib"}],
  "solvers": [{"id": "MISBEHAVE", "grid": {"step": [0.0, 0.5, 0.75, 1.0]}}],
  "tolerances": [1e-3, 1e-6], "limits": {"iterations": 20000, "seconds": 60}, "repeats": {"min": 2, "min_ms": 0}
})";

/// Everything of the stored cells that a repetition must give again.
std::map<std::string, std::string> lasting(const Store& store) {
  std::map<std::string, std::string> cells;
  const auto contents = store.read(true);
  for (const CellRecord& cell : contents->cells)
    cells[cell.key] = encode(CellReport{0, testing::without_times(cell), 0});
  return cells;
}

class Sweep : public testing::SweepTest {
 protected:
  Suite small = suite(small_suite);
};

TEST_F(Sweep, StoresEveryCellWithItsProblemConfigurationAndRun) {
  Store store = open_store();
  const SweepOutcome outcome = sweep(small, store);
  EXPECT_EQ(outcome.problems, 3);
  EXPECT_EQ(outcome.cells, 24);
  EXPECT_EQ(outcome.run, 24);
  EXPECT_EQ(outcome.measured, 24);
  EXPECT_EQ(outcome.solved, 18);
  EXPECT_EQ(outcome.statuses.at("max_iterations"), 6);
  EXPECT_GT(outcome.busy_s, 0.0);
  EXPECT_GT(outcome.wall_s, outcome.busy_s);
  EXPECT_EQ(progress.order.size(), 24U);
  EXPECT_EQ(progress.surveyed_count, 3);
  EXPECT_EQ(progress.last.total, 24);

  const auto contents = store.read(true);
  ASSERT_EQ(contents->runs.size(), 1U);
  EXPECT_EQ(contents->runs[0].mode, "timed");
  EXPECT_EQ(contents->runs[0].suite_text, small_suite);
  EXPECT_EQ(contents->runs[0].build.commit, capture_build().commit);
  EXPECT_FALSE(contents->runs[0].finished_utc.empty());
  EXPECT_EQ(contents->problems.size(), 3U);
  EXPECT_EQ(contents->configurations.size(), 4U);
  for (const CellRecord& cell : contents->cells) {
    EXPECT_EQ(cell.run_id, contents->runs[0].id);
    EXPECT_EQ(cell.limit_mb, small.limits.memory_mb);
    EXPECT_EQ(cell.limit_s, 60.0);
    EXPECT_EQ(cell.max_iterations, 20000);
    EXPECT_EQ(cell.solved, cell.status == CellStatus::converged);
    EXPECT_EQ(cell.repeats, cell.solved ? 2 : 1);
    EXPECT_EQ(cell.reaction.size() % 12, 0U);
    EXPECT_FALSE(cell.reaction.empty());
    EXPECT_GT(cell.peak_memory_kb, 0);
  }
}

TEST_F(Sweep, ASecondRunFindsEverythingDone) {
  Store store = open_store();
  sweep(small, store);
  progress.order.clear();
  const SweepOutcome again = sweep(small, store);
  EXPECT_EQ(again.resumed, 24);
  EXPECT_EQ(again.run, 0);
  EXPECT_EQ(again.solved, 18);
  EXPECT_TRUE(progress.order.empty());
  EXPECT_EQ(store.read()->runs.size(), 1U);
}

TEST_F(Sweep, ASecondRunFindsCategoriesAnew) {
  Store store = open_store();
  sweep(small, store);
  const auto first = store.read();
  for (ProblemRecord problem : first->problems) {
    EXPECT_EQ(problem.category, "dense contacts");
    problem.category = "sparse contacts";  // by a build with another definition
    ASSERT_TRUE(store.put_problem(problem));
  }
  sweep(small, store);
  const auto second = store.read();
  for (const ProblemRecord& problem : second->problems) {
    EXPECT_EQ(problem.category, "dense contacts");
    EXPECT_TRUE(problem.rank);
  }
}

TEST_F(Sweep, TwoRunsGiveBitIdenticalAnswersInTheSameOrder) {
  Store first = open_store("first.sqlite");
  sweep(small, first);
  const auto order = std::move(progress.order);
  progress.order.clear();
  Store second = open_store("second.sqlite");
  sweep(small, second);
  EXPECT_EQ(lasting(first), lasting(second));
  EXPECT_EQ(order, progress.order);
}

TEST_F(Sweep, AnotherSeedGivesAnotherOrderAndTheSameCells) {
  Store first = open_store("first.sqlite");
  sweep(small, first);
  const auto order = std::move(progress.order);
  progress.order.clear();
  small.seed = 4;
  Store second = open_store("second.sqlite");
  sweep(small, second);
  EXPECT_EQ(lasting(first), lasting(second));
  EXPECT_NE(order, progress.order);
}

TEST_F(Sweep, TwoWorkersGiveTheSameAnswersAndAreMarked) {
  Store one = open_store("one.sqlite");
  sweep(small, one);
  options.jobs = 2;
  Store two = open_store("two.sqlite");
  sweep(small, two);
  EXPECT_EQ(lasting(one), lasting(two));
  EXPECT_EQ(two.read()->runs[0].mode, "throughput");
  EXPECT_THAT(two.read()->runs[0].noise, ::testing::Contains(NoiseRecord{NoiseKind::workers, 2.0}));
}

TEST_F(Sweep, OneWorkerServesAllProblems) {
  class Watch final : public Progress {
   public:
    void cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&, const SweepState&) override {
      for (const pid_t child : children_of(getpid())) workers.insert(child);
    }
    std::set<pid_t> workers;
  } watch;
  Store store = open_store();
  const auto outcome = run_sweep(small, store, options, watch);
  ASSERT_TRUE(outcome);
  EXPECT_GT(outcome->problems, 1);
  EXPECT_EQ(watch.workers.size(), 1U);
}

TEST_F(Sweep, AQuickOneRunsEachCellOnceToTheSameAnswersAndIsMarked) {
  Suite repeated = small;
  repeated.repeats.minimum = 3;
  Store timed = open_store("timed.sqlite");
  sweep(repeated, timed);
  small.repeats = quick_look;
  Store quick = open_store("quick.sqlite");
  EXPECT_EQ(sweep(small, quick).noise, std::vector<NoiseRecord>{});
  EXPECT_EQ(lasting(timed), lasting(quick));
  const auto contents = quick.read();
  EXPECT_EQ(contents->runs[0].mode, "quick");
  for (const CellRecord& cell : contents->cells) EXPECT_LE(cell.repeats, 1);
}

/// By key.
std::map<std::string, CellRecord> traced(const Store& store) {
  std::map<std::string, CellRecord> cells;
  const auto contents = store.read();
  for (const CellRecord& cell : contents->cells) {
    if (!cell.trace.empty()) cells[cell.key] = cell;
  }
  return cells;
}

TEST_F(Sweep, KeepsHowTheErrorOfEachCellFell) {
  Store store = open_store();
  sweep(small, store);
  const auto cells = traced(store);
  EXPECT_GT(cells.size(), 12U);
  for (const auto& [key, cell] : cells) {
    // A check in double at the scheduled iterates, the last of which is the answer.
    const TracePoint& last = cell.trace.back();
    EXPECT_EQ(last.iteration, cell.iterations);
    EXPECT_NEAR(last.residual, *cell.verdict_value, 1e-6 * *cell.verdict_value + 1e-15);
    EXPECT_EQ(cell.trace.size(), static_cast<std::size_t>(scheduled_checks(cell.iterations)) +
                                     (cell.iterations == cell.max_iterations ? 1 : 0));
    EXPECT_LE(last.seconds, 1.01 * cell.total.cold + 1e-4);
    EXPECT_GT(cell.trace.front().seconds, 0.0);
    EXPECT_LE(cell.trace.front().iteration, 1.0);
  }
}

TEST_F(Sweep, KeepsNoMoreTracesThanAsked) {
  small.traces = 8;
  Store store = open_store();
  EXPECT_EQ(sweep(small, store).solved, 18);
  const auto cells = traced(store);
  EXPECT_EQ(cells.size(), 8U);
  double fastest_kept = std::numeric_limits<double>::infinity();
  for (const auto& [key, cell] : cells) {
    if (cell.solved) fastest_kept = std::min(fastest_kept, cell.total.cold);
  }
  long unsolved = 0;
  const auto contents = store.read();
  for (const CellRecord& cell : contents->cells) {
    if (!cell.solved) {
      EXPECT_TRUE(cells.contains(cell.key)) << "not solved, and without a trace";
    }
    unsolved += cell.solved ? 0 : 1;
    if (cell.solved && !cells.contains(cell.key) && cell.iterations > 1) {
      EXPECT_LE(cell.total.cold, fastest_kept);
    }
  }
  EXPECT_EQ(unsolved, 6);
  // A resumed run counts those that are there.
  options.retry = {"converged"};
  sweep(small, store);
  EXPECT_EQ(traced(store).size(), 8U);
}

TEST_F(Sweep, KeepsNoTraceWhereNoneIsWanted) {
  small.traces = 0;
  Store without = open_store("without.sqlite");
  sweep(small, without);
  EXPECT_TRUE(traced(without).empty());
  Suite by_its_own_test = suite(small_suite);
  by_its_own_test.stop_by = StopBy::solver;
  Store unwatched = open_store("unwatched.sqlite");
  sweep(by_its_own_test, unwatched);
  EXPECT_TRUE(traced(unwatched).empty()) << "nobody checked its iterates";
  Suite quick_one = suite(small_suite);
  quick_one.repeats = quick_look;
  Store quick = open_store("quick.sqlite");
  sweep(quick_one, quick);
  EXPECT_TRUE(traced(quick).empty());
}

TEST_F(Sweep, QuickAndTimedCellsNeedPermissionToMix) {
  Store store = open_store();
  sweep(small, store);
  small.repeats = quick_look;
  const auto refused = run_sweep(small, store, options, progress);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--quick"));
  options.allow_mixed = true;
  EXPECT_TRUE(run_sweep(small, store, options, progress));
}

TEST_F(Sweep, AnInterruptedOneIsResumed) {
  Store whole = open_store("whole.sqlite");
  sweep(small, whole);

  std::atomic<bool> flag{false};
  options.interrupted = &flag;
  progress.order.clear();
  progress.interrupt = &flag;
  progress.interrupt_after = 7;
  Store store = open_store("parts.sqlite");
  const SweepOutcome first = sweep(small, store);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.run, 7);
  EXPECT_EQ(first.not_run(), 17);
  EXPECT_TRUE(store.read()->runs[0].finished_utc.empty());

  flag = false;
  progress.interrupt = nullptr;
  const SweepOutcome second = sweep(small, store);
  EXPECT_EQ(second.resumed, 7);
  EXPECT_EQ(second.run, 17);
  EXPECT_EQ(second.solved, 18);
  EXPECT_EQ(lasting(store), lasting(whole));
}

TEST_F(Sweep, SigintStopsItCleanly) {
  class Interrupter final : public Progress {
    void cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&,
                   const SweepState& state) override {
      if (state.done == 3) raise(SIGINT);
    }
  } interrupter;
  Store store = open_store();
  const InterruptGuard guard;
  options.interrupted = &guard.flag();
  const auto outcome = run_sweep(small, store, options, interrupter);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_EQ(outcome->run, 3);
  EXPECT_EQ(store.cell_states()->size(), 3U);
}

TEST_F(Sweep, RetryRunsTheNamedStatusesAgain) {
  Store store = open_store();
  sweep(small, store);
  options.retry = {"max_iterations"};
  const SweepOutcome again = sweep(small, store);
  EXPECT_EQ(again.run, 6);
  EXPECT_EQ(again.resumed, 18);
  EXPECT_EQ(again.solved, 18);
  options.retry = {"no-such-status"};
  const auto wrong = run_sweep(small, store, options, progress);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("out_of_memory"));
}

TEST_F(Sweep, ShardsMakeUpTheWhole) {
  Store whole = open_store("whole.sqlite");
  sweep(small, whole);
  Store parts = open_store("parts.sqlite");
  options.shards = 3;
  long run = 0;
  for (options.shard = 1; options.shard <= 3; ++options.shard) run += sweep(small, parts).run;
  EXPECT_EQ(run, 24);
  EXPECT_EQ(lasting(whole), lasting(parts));
  EXPECT_FALSE(run_sweep(small, parts, options, progress)) << "shard 4 of 3";
}

TEST_F(Sweep, AFilterKeepsTheRestOut) {
  Store store = open_store();
  options.filter = "contacts<=4 && tolerance<1e-4 && configuration!~step=0$";
  const SweepOutcome outcome = sweep(small, store);
  EXPECT_EQ(outcome.cells, 3);
  EXPECT_EQ(outcome.solved, 3);
  EXPECT_EQ(store.read()->problems.size(), 1U);
}

TEST_F(Sweep, AFilteredRunKnowsTheTwinsAndCopiesThatItDoesNotLookAt) {
  std::filesystem::create_directories(folder / "data");
  options.data = folder / "data";
  const auto stack = testing::make_problem("box-stack", {});
  ASSERT_TRUE(write_fclib(stack, options.data / "a.hdf5"));
  std::filesystem::copy_file(options.data / "a.hdf5", options.data / "copy.hdf5");
  ASSERT_TRUE(write_fclib(testing::permute_contacts(stack, testing::random_order(stack.cones().contacts(), 3)).problem,
                          options.data / "permuted.hdf5"));
  const Suite files = suite(R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS"]})");
  Store store = open_store();
  sweep(files, store);
  const auto records = [&] {
    std::map<std::string, ProblemRecord> by_name;
    const auto contents = store.read();
    for (const ProblemRecord& record : contents->problems) by_name[record.name] = record;
    return by_name;
  };
  const std::string original = records().at("permuted").duplicate_of;
  ASSERT_EQ(original, records().at("a").hash);
  for (const char* const filter : {"problem=permuted", "problem=a"}) {
    options.filter = filter;
    options.retry = {"converged", "stalled", "max_iterations"};
    EXPECT_EQ(sweep(files, store).run, 1) << filter;
  }
  EXPECT_EQ(records().at("permuted").duplicate_of, original);
  EXPECT_THAT(records().at("a").copies, ::testing::ElementsAre("copy.hdf5"));
}

TEST_F(Sweep, WhatCannotBeLoadedComesLast) {
  std::filesystem::create_directories(folder / "data");
  options.data = folder / "data";
  for (int i = 0; i < 5; ++i) std::ofstream(options.data / fmt::format("bad{}.hdf5", i)) << "no HDF5 " << i;
  const Suite mixed = suite(R"({"name": "mixed", "problems": [{"fclib": "*.hdf5"},
      {"scene": "box-stack", "grid": {"boxes": [1, 2, 3]}}], "solvers": ["NSGS"]})");
  std::atomic<bool> flag{false};
  options.interrupted = &flag;
  progress.interrupt = &flag;
  progress.interrupt_after = 3;
  Store store = open_store();
  const SweepOutcome outcome = sweep(mixed, store);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.measured, 3) << "an interrupted run has something to rank";
  flag = false;
  EXPECT_EQ(sweep(mixed, store).statuses.at("bad_problem"), 5);
}

TEST_F(Sweep, AnotherBuildNeedsPermission) {
  Store store = open_store();
  options.filter = "contacts=4";
  sweep(small, store);
  RunRecord foreign = store.read()->runs[0];
  foreign.build.flags += " -Ofast";
  ASSERT_TRUE(store.finish_run(foreign));
  options.filter = "";
  const auto refused = run_sweep(small, store, options, progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("flags -Ofast there, not here"), HasSubstr("new store"),
                                             HasSubstr("keep its 8 cells"), HasSubstr("--allow-mixed")));
  options.allow_mixed = true;
  EXPECT_EQ(sweep(small, store).run, 16);
}

TEST_F(Sweep, WhatAnEditedSuiteNoLongerAsksForIsLeftOutAndComesBack) {
  const auto edited = [](const std::string& boxes, const std::string& solvers) {
    return suite(R"({"name": "small", "problems": [{"scene": "box-stack", "grid": {"boxes": )" + boxes +
                 R"(}}], "solvers": )" + solvers + R"(, "repeats": {"min": 1, "min_ms": 0}})");
  };
  const std::string one = R"([{"id": "MISBEHAVE", "options": {"step": 1.0}}])";
  const std::string two = R"([{"id": "MISBEHAVE", "grid": {"step": [0.75, 1.0]}}])";
  Store store = open_store();
  sweep(edited("[1, 2, 3]", two), store);
  EXPECT_EQ(present_contents(*store.read()).cells.size(), 6U);

  EXPECT_EQ(sweep(edited("[1, 2]", one), store).run, 0) << "nothing new is asked for";
  const StoreContents now = present_contents(*store.read());
  EXPECT_EQ(now.cells.size(), 2U);
  EXPECT_EQ(now.outdated_cells, 4);
  ASSERT_EQ(now.suites.size(), 1U);
  EXPECT_EQ(now.suites[0].present.size(), 2U);
  EXPECT_TRUE(now.suites[0].missing.empty());

  options.filter = "contacts=4";
  EXPECT_EQ(sweep(edited("[1, 2, 3]", two), store).run, 0);
  EXPECT_EQ(present_contents(*store.read()).cells.size(), 6U) << "a filter takes nothing from the suite";
  sweep(edited("[1, 4]", one), store);
  const StoreContents waiting = present_contents(*store.read());
  EXPECT_EQ(waiting.suites[0].cells(), 2);
  EXPECT_EQ(waiting.suites[0].missing.size(), 1U) << "the stack of four has still to be run";
}

TEST_F(Sweep, APartOfTheSuiteThatAFilterLeavesIsComplete) {
  Store store = open_store();
  options.filter = "tolerance<1e-5 && contacts=4";
  sweep(small, store);
  const auto part = [&](const std::string& filter) {
    return filtered(present_contents(*store.read()), *CellFilter::parse(filter), filter).suites.at(0);
  };
  const SuiteState all = present_contents(*store.read()).suites.at(0);
  EXPECT_EQ(all.cells(), 4) << "what the filter leaves is all that was asked for";
  EXPECT_EQ(all.present.size(), 4U);
  EXPECT_TRUE(all.known_by_name.empty()) << "the filter's contacts are counted in every problem";
  const SuiteState fine = part("tolerance<1e-5");
  EXPECT_EQ(fine.filter, "tolerance<1e-5");
  EXPECT_EQ(fine.cells(), 4);
  EXPECT_TRUE(fine.missing.empty());
  EXPECT_TRUE(fine.known_by_name.empty());
  EXPECT_TRUE(part("tolerance<1e-5 && contacts=4").missing.empty());
  EXPECT_EQ(part("solver=NSGS").cells(), 0);
  EXPECT_EQ(part("family=chains").cells(), 0);
  EXPECT_EQ(part("problem=" + store.read()->problems.at(0).name).cells(), 4);
}

TEST_F(Sweep, AStoreHoldsOneSuite) {
  Store store = open_store();
  options.filter = "contacts=4";
  sweep(small, store);
  Suite other = small;
  other.name = "other";
  const auto refused = run_sweep(other, store, options, progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("'small'"), HasSubstr("'other'"), HasSubstr("--allow-mixed")));
  options.allow_mixed = true;
  EXPECT_EQ(sweep(other, store).resumed, 8);
  EXPECT_EQ(present_contents(*store.read()).suites.size(), 2U);
}

TEST_F(Sweep, CopiesOfAProblemAreOneProblem) {
  const Suite one = suite(R"({"name": "one", "problems": [{"scene": "box-stack", "as": "fclib"}],
                              "solvers": ["MISBEHAVE"], "repeats": {"min": 1, "min_ms": 0}})");
  Store store = open_store();
  sweep(one, store);
  const auto file = *std::filesystem::directory_iterator(options.cache);
  std::filesystem::create_directories(folder / "data");
  for (const char* const name : {"a.hdf5", "b.hdf5", "c.hdf5"}) {
    std::filesystem::copy_file(file, folder / "data" / name);
  }
  const Suite copies = suite(R"({"name": "copies", "problems": [{"fclib": "*.hdf5"}], "solvers": ["MISBEHAVE"],
                                 "repeats": {"min": 1, "min_ms": 0}})");
  options.data = folder / "data";
  Store other = open_store("other.sqlite");
  const SweepOutcome outcome = sweep(copies, other);
  EXPECT_EQ(outcome.problems, 1);
  EXPECT_EQ(outcome.duplicates, 2);
  EXPECT_EQ(outcome.cells, 1);
  const ProblemRecord record = other.read()->problems[0];
  EXPECT_EQ(record.source, "a.hdf5");
  EXPECT_THAT(record.copies, ::testing::ElementsAre("b.hdf5", "c.hdf5"));
}

TEST_F(Sweep, ADryRunCountsAndRunsNothing) {
  Store store = open_store();
  options.filter = "contacts=4";
  sweep(small, store);
  options.filter = "";
  const auto dry = dry_run(small, *store.read_outcomes(), options, progress);
  ASSERT_TRUE(dry) << dry.error().message;
  EXPECT_EQ(dry->problems, 3);
  EXPECT_EQ(dry->configurations, 4);
  EXPECT_EQ(dry->cells, 24);
  EXPECT_EQ(dry->resumed, 8);
  // 16 cells, killed at 1.5 times their 60 s and 2 s more.
  EXPECT_EQ(dry->solvable, 16);
  EXPECT_EQ(dry->worst_cell_s, 92.0);
  EXPECT_EQ(dry->worst_s, 16 * 92.0);
  EXPECT_EQ(store.cell_states()->size(), 8U);
}

TEST_F(Sweep, ASuiteWithNothingToRunMeasuresNothing) {
  Store store = open_store();
  options.filter = "family=nobody";
  const SweepOutcome outcome = sweep(small, store);
  EXPECT_EQ(outcome.cells, 0);
  EXPECT_EQ(outcome.measured, 0);
}

/// Answers of 1,200 rows, so that a few of them fill a small disk.
const char* const bulky_suite = R"({
  "name": "bulky", "problems": [{"scene": "random", "options": {"contacts": 400, "coupling": 2}}],
  "solvers": [{"id": "MISBEHAVE", "grid": {"step": [
    0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19,
    0.20, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.27, 0.28, 0.29, 0.30, 0.31, 0.32, 0.33, 0.34, 0.35, 0.36, 0.37, 0.38,
    0.39, 0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48, 0.49, 0.50, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57,
    0.58, 0.59, 0.60, 0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67, 0.68, 0.69, 0.70, 0.71, 0.72, 0.73, 0.74, 0.75, 0.76,
    0.77, 0.78, 0.79, 0.80]}}],
  "limits": {"iterations": 3}, "repeats": {"min": 1, "min_ms": 0}
})";

TEST_F(Sweep, AFullDiskStopsItWithAMessageAndItResumes) {
  const std::filesystem::path disk = folder / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=700k") != 0) GTEST_SKIP() << "may not mount a file system here";
  const Suite bulky = suite(bulky_suite);
  std::size_t stored = 0;
  {
    auto store = Store::open(disk / "out.sqlite", Store::Mode::read_write);
    ASSERT_TRUE(store);
    const auto outcome = run_sweep(bulky, *store, options, progress);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->stopped) << "80 answers fitted into 0.7 MB";
    if (outcome->stopped) {
      EXPECT_THAT(outcome->stopped->message, AllOf(HasSubstr("out.sqlite"), HasSubstr("resume")));
    }
    stored = store->cell_states()->size();
    EXPECT_EQ(static_cast<long>(stored), outcome->run);
    EXPECT_GT(stored, 5U);
    EXPECT_LT(stored, 80U);
  }
  EXPECT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=16m"), 0);
  {
    auto store = Store::open(disk / "out.sqlite", Store::Mode::read_write);
    ASSERT_TRUE(store);
    const auto outcome = run_sweep(bulky, *store, options, progress);
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->stopped);
    EXPECT_EQ(outcome->resumed, static_cast<long>(stored));
    EXPECT_EQ(outcome->run, 80 - static_cast<long>(stored));
  }
  umount(disk.c_str());
}

TEST_F(Sweep, AStoreThatASolverDeletesStopsItAndNothingIsSaidToBeStored) {
  class Deleter final : public Progress {
   public:
    explicit Deleter(std::filesystem::path file) : file_(std::move(file)) {}
    void cell_done(const CellRecord&, const ProblemRecord&, const ConfigurationRecord&,
                   const SweepState& state) override {
      if (state.done == 3) std::filesystem::remove(file_);
    }

   private:
    std::filesystem::path file_;
  } deleter(folder / "out.sqlite");
  Store store = open_store();
  const auto outcome = run_sweep(small, store, options, deleter);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->stopped->code, ErrorCode::bad_input);
  EXPECT_THAT(outcome->stopped->message, HasSubstr("was deleted, moved or replaced"));
  EXPECT_THAT(outcome->stopped->message, Not(HasSubstr("are stored")));
}

TEST_F(Sweep, AFileThatMayNotGrowStopsItLikeAFullDisk) {
  const Suite bulky = suite(bulky_suite);
  const pid_t child = fork();
  if (child == 0) {
    // For this process only: the limit is for all files that it writes.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600'000, 600'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto store = Store::open(folder / "out.sqlite", Store::Mode::read_write);
    const auto outcome = run_sweep(bulky, *store, options, progress);
    const bool as_wanted = outcome && outcome->stopped && outcome->run > 5 && outcome->run < 80;
    _exit(as_wanted ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Store store = open_store();
  const auto stored = static_cast<long>(store.cell_states()->size());
  EXPECT_GT(stored, 5);
  const SweepOutcome outcome = sweep(bulky, store);
  EXPECT_EQ(outcome.resumed, stored);
  EXPECT_EQ(outcome.run, 80 - stored);
}

TEST_F(Sweep, AProblemWhoseWorkerABusyMachineKeepsWaitingIsLeftForTheNextRun) {
  class Watch final : public Progress {
   public:
    void began(const SweepState&) override { loading = true; }
    std::atomic<bool> loading = false;
  } watch;
  Suite hurried = suite(R"({"name": "hurried", "problems": [{"scene": "box-stack", "options": {"boxes": 1}}],
                            "solvers": ["MISBEHAVE"], "limits": {"load_seconds": 0.1}})");
  Store store = open_store();
  {
    const testing::StoppedChildren stopped(watch.loading);
    const auto outcome = run_sweep(hurried, store, options, watch);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->left(), 1);
    EXPECT_EQ(outcome->bad_problems, 0);
  }
  EXPECT_TRUE(store.read()->cells.empty()) << "no verdict";
  EXPECT_EQ(sweep(hurried, store).solved, 1);
}

TEST_F(Sweep, WhatIsNotGivenIsMadeOnceAndItsCostKeptApart) {
  const Suite elastic = suite(R"({
    "name": "elastic", "seed": 1,
    "problems": [{"scene": "soft-block"}, {"scene": "soft-block", "options": {"form": "block_sparse"}},
                 {"scene": "box-stack", "options": {"form": "factored"}}],
    "solvers": ["APGD-CCP", "NSGS"], "tolerances": [1e-6], "verdict": "natural_map_ccp_scaled",
    "limits": {"iterations": 50, "seconds": 60}, "repeats": {"min": 1, "min_ms": 0}
  })");
  Store store = open_store();
  sweep(elastic, store);
  const auto contents = store.read(false);
  std::map<std::string, ProblemRecord> given;
  for (const ProblemRecord& problem : contents->problems) given[problem.given] = problem;
  ASSERT_EQ(given.size(), 3U);

  const ProblemRecord& block = given.at("deformable");
  ASSERT_TRUE(block.factor_s && block.assemble_s && block.diagonal_s);
  EXPECT_GT(*block.factor_s, 0.0);
  EXPECT_GT(*block.assemble_s, 0.0);
  EXPECT_TRUE(block.alias.empty()) << "no build could have made its G";
  const ProblemRecord& assembled = given.at("delassus");
  EXPECT_FALSE(assembled.factor_s || assembled.assemble_s || assembled.diagonal_s);
  EXPECT_EQ(assembled.duplicate_of, block.hash) << "one problem in two forms";
  const ProblemRecord& rigid = given.at("primal");
  EXPECT_TRUE(rigid.factor_s && rigid.assemble_s && rigid.diagonal_s);
  const auto aliases = testing::make_problem("box-stack", {{"form", std::string("factored")}}).aliases();
  EXPECT_EQ(rigid.alias, aliases->data_hash);

  std::map<std::string, std::string> solver;
  for (const auto& configuration : contents->configurations) solver[configuration.hash] = configuration.solver;
  for (const CellRecord& cell : contents->cells) {
    const bool products = cell.problem == block.hash && solver[cell.configuration] == "APGD-CCP";
    EXPECT_EQ(cell.used, products ? UsedParts::products : UsedParts::delassus) << solver[cell.configuration];
    if (cell.problem == assembled.hash) {
      EXPECT_FALSE(cell.condensation_s);
      continue;
    }
    const ProblemRecord& problem = cell.problem == block.hash ? block : rigid;
    ASSERT_TRUE(cell.condensation_s);
    EXPECT_EQ(*cell.condensation_s, *problem.factor_s + (products ? 0.0 : *problem.assemble_s));
  }

  // The diagonal blocks are kept: whoever finds them damaged makes them again.
  const auto kept = options.cache / ("diagonal-" + testing::make_problem("soft-block").content_hash() + ".bin");
  ASSERT_TRUE(std::filesystem::exists(kept));
  const ContactProblem again = testing::make_problem("soft-block");
  EXPECT_EQ(make_diagonal(again, options.cache), *block.diagonal_s);
  EXPECT_EQ(again.diagonal().values(), testing::make_problem("soft-block").diagonal().values());
  std::fstream(kept, std::ios::binary | std::ios::in | std::ios::out).seekp(100).put('x');
  const ContactProblem repaired = testing::make_problem("soft-block");
  EXPECT_NE(make_diagonal(repaired, options.cache), *block.diagonal_s);
  EXPECT_EQ(repaired.diagonal().values(), again.diagonal().values());
}

TEST_F(Sweep, AStoreThatKnowsAProblemByItsAliasGoesOnWithIt) {
  const Suite bodies = suite(R"({
    "name": "bodies", "seed": 1, "problems": [{"scene": "box-stack", "options": {"form": "factored"}}],
    "solvers": ["NSGS"], "tolerances": [1e-6], "limits": {"iterations": 5000, "seconds": 60},
    "repeats": {"min": 1, "min_ms": 0}
  })");
  const ContactProblem problem = testing::make_problem("box-stack", {{"form", std::string("factored")}});
  Store store = open_store();
  ProblemRecord old;
  old.hash = problem.aliases()->data_hash;
  old.name = old.source = "as an older build called it";
  old.rank = 3;
  ASSERT_TRUE(store.put_problem(old));
  sweep(bodies, store);
  const auto contents = store.read(false);
  ASSERT_EQ(contents->problems.size(), 1U);
  EXPECT_EQ(contents->problems[0].hash, old.hash);
  EXPECT_EQ(contents->problems[0].rank, 3);
  ASSERT_EQ(contents->cells.size(), 1U);
  EXPECT_EQ(contents->cells[0].problem, old.hash);
  EXPECT_TRUE(contents->cells[0].solved);
}

}  // namespace
}  // namespace conebench
