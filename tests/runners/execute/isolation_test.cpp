#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>

#include "runners/execute/cell_process.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// One sweep in which everything goes wrong at once, with healthy cells between; the tests look at its cells.
class Isolation : public testing::SweepTest {
 protected:
  static void SetUpTestSuite() {
    struct Once : Isolation {
      void TestBody() override {}
    } once;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setenv("CONEBENCH_TEST_MARKER", (once.folder / "crashed-once").c_str(), 1);
    const Suite what = suite(R"({
      "name": "isolation", "problems": [{"scene": "box-stack", "options": {"boxes": 1}}],
      "solvers": [
        {"id": "MISBEHAVE", "grid": {"step": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]}},
        {"id": "MISBEHAVE", "grid": {"mode": [
          "hang", "hang_in_set_up", "abort", "segfault", "segfault_in_set_up", "stack", "heap", "leak", "huge", "nan",
          "lie", "random", "exit", "throw", "crash_once",
          "orphan", "orphan_session", "leak_in_child", "garbage"]}}],
      "tolerances": [1e-6], "limits": {"seconds": 0.2, "memory_mb": 80}, "repeats": {"min": 2, "min_ms": 0}
    })");
    once.options.jobs = 2;
    Store store = once.open_store();
    outcome = new SweepOutcome(once.sweep(what, store));
    cells = new std::map<std::string, CellRecord>(by_label(store));
    notes = new std::vector<std::string>(once.progress.notes);
  }
  static void TearDownTestSuite() {
    delete outcome;
    delete cells;
    delete notes;
  }

  static const CellRecord& cell(const std::string& mode) { return cells->at("MISBEHAVE mode=" + mode); }
  static void expect_crash(const std::string& mode, const std::string& why, const std::string& phase = "in solve") {
    EXPECT_EQ(cell(mode).status, CellStatus::crashed);
    EXPECT_THAT(cell(mode).reason, AllOf(HasSubstr(why), HasSubstr(phase)));
    EXPECT_FALSE(cell(mode).solved);
    EXPECT_FALSE(cell(mode).claimed);
    EXPECT_TRUE(cell(mode).reaction.empty());
  }

  static SweepOutcome* outcome;
  static std::map<std::string, CellRecord>* cells;
  static std::vector<std::string>* notes;
};
SweepOutcome* Isolation::outcome = nullptr;
std::map<std::string, CellRecord>* Isolation::cells = nullptr;
std::vector<std::string>* Isolation::notes = nullptr;

TEST_F(Isolation, EveryCellHasItsRecordAndTheHealthyOnesAreSolved) {
  EXPECT_EQ(outcome->cells, 25);
  EXPECT_EQ(outcome->run, 25);
  EXPECT_EQ(outcome->not_run(), 0);
  EXPECT_TRUE(notes->empty());
  EXPECT_FALSE(outcome->stopped);
  EXPECT_EQ(cells->size(), 25U);
  for (const char* const healthy : {"", " step=0.5", " step=0.6", " step=0.7", " step=0.8", " step=0.9"}) {
    const CellRecord& record = cells->at(std::string("MISBEHAVE") + healthy);
    EXPECT_TRUE(record.solved) << healthy << ": " << record.status << " " << record.reason;
  }
}

TEST_F(Isolation, AHangIsKilledThoughItIgnoresSigterm) {
  EXPECT_EQ(cell("hang").status, CellStatus::timeout);
  EXPECT_THAT(cell("hang").reason, AllOf(HasSubstr("killed after"), HasSubstr("in solve"), HasSubstr("SIGTERM")));
  EXPECT_EQ(cell("hang_in_set_up").status, CellStatus::timeout);
  EXPECT_THAT(cell("hang_in_set_up").reason, HasSubstr("in set-up"));
}

TEST(CellProcess, GivesTheWallClocksLimitToEachTryUpToFive) {
  const ContactProblem problem = testing::make_problem("box-stack", {{"boxes", 1L}});
  CellRequest request;
  request.solver = "MISBEHAVE";
  CellProcess process(problem, {.time = CellTime(10.0, 0.3, 0.05)});
  const auto seconds = [&](const char* mode) {
    request.options = {{"mode", mode}};
    const CellRun run = process.run(request);
    EXPECT_EQ(run.record.status, CellStatus::timeout) << run.record.reason;
    return run.busy_s;
  };
  EXPECT_GE(seconds("hang"), 0.3);
  EXPECT_GE(seconds("hang_in_second_try"), 2 * 0.3);
  EXPECT_GE(seconds("try_forever"), 5 * 0.3);
}

TEST_F(Isolation, ACrashTellsSignalAndPhase) {
  expect_crash("abort", "signal 6");
#if !defined(__SANITIZE_ADDRESS__)
  expect_crash("segfault", "signal 11");
  expect_crash("segfault_in_set_up", "signal 11", "in set-up");
  expect_crash("stack", "signal 11");
#endif
}

TEST_F(Isolation, ACorruptedHeapIsACrashWithItsLastWords) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer stops it first";
#endif
  expect_crash("heap", "signal 6");
  EXPECT_THAT(cell("heap").reason,
              AnyOf(HasSubstr("free"), HasSubstr("malloc"), HasSubstr("corrupt"), HasSubstr("invalid")));
}

TEST_F(Isolation, ALeakEndsAtTheMemoryLimit) {
  EXPECT_EQ(cell("leak").status, CellStatus::out_of_memory);
  EXPECT_THAT(cell("leak").reason, HasSubstr("limit 80 MB"));
  EXPECT_GT(cell("leak").peak_memory_kb, 64 * 1024);
  EXPECT_LT(cell("leak").peak_memory_kb, 400 * 1024);
}

TEST_F(Isolation, ALeakInAProcessThatASolverStartedCountsForTheSolver) {
  EXPECT_EQ(cell("leak_in_child").status, CellStatus::out_of_memory) << cell("leak_in_child").reason;
  EXPECT_THAT(cell("leak_in_child").reason, HasSubstr("limit 80 MB"));
}

TEST_F(Isolation, AnAllocationThatTheSystemRefusesIsOutOfMemory) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer stops it first";
#endif
  EXPECT_EQ(cell("huge").status, CellStatus::out_of_memory);
}

TEST_F(Isolation, ALeavingProcessAThrowAndGarbageAreCrashes) {
  expect_crash("exit", "exit code 1");
  expect_crash("throw", "thrown on request", "");
  expect_crash("garbage", "garbled");
}

TEST_F(Isolation, ACrashThatDoesNotComeBackIsFlakyAndNotSolved) {
  EXPECT_EQ(cell("crash_once").status, CellStatus::flaky);
  EXPECT_FALSE(cell("crash_once").solved);
}

TEST(CellProcess, ASolverThatSendsItselfWhatOthersSendIsTakenForKilledFromOutside) {
  const ContactProblem problem = testing::make_problem("box-stack", {{"boxes", 1L}});
  CellRequest request;
  request.solver = "MISBEHAVE";
  CellProcess process(problem, {});
  for (const char* mode : {"kill_itself", "terminate_itself"}) {
    request.options = {{"mode", mode}};
    EXPECT_TRUE(process.run(request).terminated_externally) << mode;
  }
  request.options = {};
  EXPECT_TRUE(process.run(request).record.solved) << "and the next cell is none the worse";
}

TEST_F(Isolation, AnswersThatAreWrongAreJudgedWrong) {
  EXPECT_EQ(cell("nan").status, CellStatus::converged);
  EXPECT_FALSE(cell("nan").solved);
  EXPECT_FALSE(cell("nan").verdict_value);
  EXPECT_TRUE(cell("lie").claimed);
  EXPECT_FALSE(cell("lie").solved);
  EXPECT_EQ(cell("random").status, CellStatus::flaky);
}

TEST_F(Isolation, AProcessLeftBehindByASolverIsEnded) {
  EXPECT_TRUE(cell("orphan").solved) << cell("orphan").status;
  EXPECT_TRUE(cell("orphan_session").solved) << cell("orphan_session").status;
  // As the subreaper, this process inherits whatever was left behind; only what lives would answer 0 here.
  while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

class BadProblems : public testing::SweepTest {};

TEST_F(BadProblems, AFileThatCannotBeReadEndsItselfAlone) {
  std::ofstream(folder / "bad.hdf5") << "not HDF5";
  Suite what = suite(R"({
    "name": "bad", "problems": [{"fclib": "*.hdf5"}, {"scene": "box-stack", "options": {"boxes": 1}}],
    "solvers": ["MISBEHAVE"], "tolerances": [1e-4, 1e-6], "repeats": {"min": 1, "min_ms": 0}})");
  what.folder = folder;
  Store store = open_store();
  const SweepOutcome outcome = sweep(what, store);
  EXPECT_EQ(outcome.problems, 2);
  EXPECT_EQ(outcome.bad_problems, 1);
  EXPECT_EQ(outcome.statuses.at("bad_problem"), 2);
  EXPECT_EQ(outcome.solved, 2);
  EXPECT_THAT(progress.notes, ::testing::UnorderedElementsAre(HasSubstr("bad.hdf5"), HasSubstr("--data is not given")));
  const auto contents = store.read();
  for (const auto& cell : contents->cells) {
    if (cell.status != CellStatus::bad_problem) continue;
    EXPECT_THAT(cell.reason, HasSubstr("bad.hdf5"));
  }
}

}  // namespace
}  // namespace conebench
