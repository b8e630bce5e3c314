#include "runners/execute/watched_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "runners/execute/descendants.hpp"
#include "runners/execute/sweep_monitor.hpp"

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
  const auto body = [] {
    if (::fork() == 0) {
      ::setsid();
      ::alarm(20);
      return wait_for_ever();
    }
    return spin();
  };
  start(worker, body, 0.1);
  const double latest = monotonic_seconds() + 10.0;
  while (worker.read() && monotonic_seconds() < latest) {
    worker.enforce(monotonic_seconds(), 0);
    wait_for_any({&worker});
  }
  EXPECT_LT(monotonic_seconds(), latest);
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
  EXPECT_THAT(end.why, HasSubstr("on a busy machine"));
}

TEST(Descendants, AProcessWhoseFirstThreadWaitsForAnotherIsNotAsleep) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread(spin).detach();
    wait_for_ever();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
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
    EXPECT_NO_THROW(family_seconds(worker));
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
  EXPECT_GE(family_seconds(worker), 0.08) << "told in hundredths";
  ::kill(worker, SIGKILL);
  wait_for_end(worker);
  EXPECT_EQ(family_seconds(worker), 0.0);
}

TEST(WatchedWorker, HasTheTimeOfWhatStillRunsBelowIt) {
  const pid_t worker = fork_process({}, [] {
    fork_process({}, spin);
    return wait_for_ever();
  });
  while (family_seconds(worker) < 0.1) continue;
  ::kill(-worker, SIGKILL);
  ::kill(worker, SIGKILL);
  wait_for_end(worker);
}

}  // namespace
}  // namespace conebench
