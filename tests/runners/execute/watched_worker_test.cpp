#include "runners/execute/watched_worker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/descendants.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

int spin() {
  for (volatile bool forever = true; forever;) continue;
  return 0;
}

int wait_for_ever() {
  for (;;) ::pause();
}

void start(WatchedWorker& worker, const std::function<int()>& body, double seconds, bool with_children = false) {
  worker.start([&](const OutputCatcher& output) -> std::optional<Worker> {
    auto channel = make_channel();
    Worker started;
    started.process = fork_process({channel->second.number(), output.descriptor()}, body);
    started.channel = std::move(channel->first);
    return started;
  });
  worker.limit_processor(seconds, "its time is up", with_children);
}

/// How a worker that does `body` ends under a limit of processor time.
WorkerEnd end_of(const std::function<int()>& body, double seconds, bool with_children = false) {
  WatchedWorker worker;
  start(worker, body, seconds, with_children);
  while (worker.read() && !worker.enforce(monotonic_seconds(), 0)) wait_for_any({&worker});
  return worker.reap();
}

TEST(WatchedWorker, ThatComputesForEverIsEndedInItsProcessorTime) {
  const WorkerEnd end = end_of(spin, 0.2);
  EXPECT_TRUE(end.by_us);
  EXPECT_FALSE(end.starved);
  EXPECT_EQ(end.why, "its time is up");
}

TEST(WatchedWorker, IsGoneOnceItWasEndedThoughWhatItStartedKeepsItsChannel) {
  WatchedWorker worker;
  void* const shared = ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& started = *static_cast<volatile pid_t*>(shared);
  const auto body = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setsid();
      ::alarm(600);  // longer than CTest waits for this test
      return wait_for_ever();
    }
    started = child;
    return spin();
  };
  start(worker, body, 0.1);
  while (worker.read()) {
    worker.enforce(monotonic_seconds(), 0);
    wait_for_any({&worker});
  }
  ASSERT_GT(started, 0);
  EXPECT_EQ(::kill(started, SIGKILL), 0) << "it has not ended by itself";
  EXPECT_EQ(worker.reap().why, "its time is up");
}

TEST(WatchedWorker, WhoseChildComputesForEverIsEndedWhereItsChildrenCount) {
  const auto body = [] {
    if (::fork() == 0) return spin();
    return wait_for_ever();
  };
  const WorkerEnd end = end_of(body, 0.2, true);
  EXPECT_FALSE(end.starved);
  EXPECT_EQ(end.why, "its time is up");
}

/// Stopped is as good as never given the processor.
TEST(WatchedWorker, ThatTheMachineKeepsWaitingIsEndedAsStarved) {
  const WorkerEnd end = end_of([] { return ::raise(SIGSTOP); }, 0.05);
  EXPECT_TRUE(end.by_us);
  EXPECT_TRUE(end.starved);
}

TEST(Descendants, AProcessWhoseFirstThreadWaitsForAnotherIsNotAsleep) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread(spin).detach();
    wait_for_ever();
  }
  // As proc(5) has it, of its first thread.
  char state = '?';
  const ProcessorLimit limit(::getpid(), 60.0);
  while (state != 'S' && !limit.used_up()) {
    std::ifstream(fmt::format("/proc/{0}/task/{0}/stat", child)).ignore(100, ')') >> state;
  }
  EXPECT_EQ(state, 'S') << "it waits";
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(all_asleep(child));
  ::kill(child, SIGKILL);
  wait_for_end(child);
}

TEST(Descendants, ThatEndWhileTheyAreLookedAtAreGone) {
  const pid_t worker = fork_process({}, [] {
    for (;;) wait_for_end(fork_process({}, [] { return 0; }));
    return 0;
  });
  for (int look = 0; look < 2000; ++look) {
    EXPECT_NO_THROW(process_tree_seconds(worker));
    EXPECT_NO_THROW(all_asleep(worker));
    EXPECT_NO_THROW(memory_mb(with_descendants({worker})));
  }
  ::kill(-worker, SIGKILL);
  ::kill(worker, SIGKILL);
  wait_for_end(worker);
}

TEST(WatchedWorker, ThatSleepsForEverIsEndedForThat) {
  const auto with_a_child = [] {
    ::fork();
    return wait_for_ever();
  };
  for (const auto& body : {std::function<int()>(wait_for_ever), std::function<int()>(with_a_child)}) {
    const WorkerEnd end = end_of(body, 0.05);
    EXPECT_TRUE(end.by_us);
    EXPECT_FALSE(end.starved);
    EXPECT_THAT(end.why, HasSubstr(", and slept"));
  }
}

/// A worker's reader computes while the worker waits.
TEST(WatchedWorker, HasTheTimeOfWhatItStartedAndWaitedFor) {
  auto channel = make_channel();
  const pid_t worker = fork_process({channel->second.number()}, [] {
    const pid_t reader = fork_process({}, [] {
      const ProcessorLimit limit(::getpid(), 0.1);
      while (!limit.used_up()) continue;
      return 0;
    });
    wait_for_end(reader);
    write_all(child_channel, "read");
    return wait_for_ever();
  });
  channel->second.close();
  char read = 0;
  ASSERT_EQ(::read(channel->first.number(), &read, 1), 1);
  EXPECT_GE(process_tree_seconds(worker), 0.08) << "reported in hundredths";
  ::kill(worker, SIGKILL);
  wait_for_end(worker);
  EXPECT_EQ(process_tree_seconds(worker), 0.0);
}

TEST(WatchedWorker, HasTheTimeOfWhatStillRunsBelowIt) {
  const pid_t worker = fork_process({}, [] {
    fork_process({}, spin);
    return wait_for_ever();
  });
  const ProcessorLimit limit(::getpid(), 60.0);
  while (process_tree_seconds(worker) < 0.1 && !limit.used_up()) continue;
  EXPECT_GE(process_tree_seconds(worker), 0.1);
  ::kill(-worker, SIGKILL);
  ::kill(worker, SIGKILL);
  wait_for_end(worker);
}

}  // namespace
}  // namespace conebench
