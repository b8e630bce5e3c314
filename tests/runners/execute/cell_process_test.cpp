#include "runners/execute/cell_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/runners/execute/no_more_descriptors.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

// The table of solvers is made on its first use, after this.
const bool with_test_solvers = setenv("CONEBENCH_TEST_SOLVERS", "1", 1) == 0;

std::vector<pid_t> children() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> found;
  for (pid_t child = 0; file >> child;) found.push_back(child);
  return found;
}

/// Repeated for long enough that the next one's process is asked for.
CellRequest long_request(double tolerance) {
  CellRequest request;
  request.solver = "MISBEHAVE";
  request.tolerance = tolerance;
  request.repeats = {1, 100.0, 100000};
  return request;
}

class CellProcesses : public ::testing::Test {
 protected:
  const ContactProblem problem = testing::make_problem("box-stack", {{"boxes", 2L}});
  const CellRequest first = long_request(1e-3), second = long_request(1e-5);
  CellProcess process{problem, {}};
};

TEST_F(CellProcesses, TheNextCellsProcessIsReadyBeforeItIsAskedForAndRunsThatCell) {
  int asked = 0;
  const CellRun one = process.run(first, [&] {
    ++asked;
    return std::optional(second);
  });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(children().size(), 1U);
  const CellRun two = process.run(second);
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(one.record.tolerance, 1e-3);
  EXPECT_EQ(two.record.tolerance, 1e-5);
  EXPECT_TRUE(one.record.solved);
  EXPECT_TRUE(two.record.solved);
}

TEST_F(CellProcesses, ACellThatIsStartedAgainLeavesTheNextOnesProcessAlone) {
  bool killed = false;
  const CellRun one = process.run(first, [&] {
    if (!killed) {
      for (const pid_t child : children()) kill(child, SIGKILL);
    }
    killed = true;
    return std::optional(second);
  });
  EXPECT_TRUE(killed);
  EXPECT_TRUE(one.record.solved) << one.record.status << " " << one.record.reason;
  EXPECT_EQ(one.record.tolerance, 1e-3);
  EXPECT_EQ(process.run(second).record.tolerance, 1e-5);
}

TEST_F(CellProcesses, ASignalFromOutsideIsNoVerdictWhicheverItIs) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    int kills_left = 1;
    const auto killing = [&] {
      for (const pid_t child : children()) {
        if (kills_left > 0) kill(child, signal);
      }
      --kills_left;
      return std::optional<CellRequest>();
    };
    const CellRun once = process.run(first, killing);
    EXPECT_LE(kills_left, 0);
    EXPECT_EQ(once.record.status, CellStatus::converged) << signal << ": " << once.record.reason;
    EXPECT_TRUE(once.record.solved);
    EXPECT_FALSE(once.terminated_externally);
    kills_left = 1000;
    EXPECT_TRUE(process.run(first, killing).terminated_externally) << signal;
  }
}

TEST_F(CellProcesses, AProcessThatTheSystemRefusesIsNoVerdict) {
  const testing::NoMoreDescriptors refused;
  const CellRun run = process.run(first);
  EXPECT_TRUE(run.terminated_externally);
  EXPECT_EQ(run.record.reason, "the system gave no channel to a new process");
}

TEST_F(CellProcesses, AWaitingProcessThatIsKilledIsReplaced) {
  process.run(first, [&] { return std::optional(second); });
  ASSERT_EQ(children().size(), 1U);
  kill(children().front(), SIGKILL);
  const CellRun two = process.run(second);
  EXPECT_TRUE(two.record.solved) << two.record.status << " " << two.record.reason;
  EXPECT_EQ(two.record.tolerance, 1e-5);
}

TEST_F(CellProcesses, AWaitingProcessEndsWithItsOwner) {
  {
    CellProcess other(problem, {});
    other.run(first, [&] { return std::optional(second); });
    EXPECT_EQ(children().size(), 1U);
  }
  EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace conebench
