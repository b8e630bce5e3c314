#include "base/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace conebench {
namespace {

using namespace std::chrono_literals;

constexpr auto long_enough = 60s;
std::chrono::milliseconds always() { return long_enough; }

int status_of(const std::function<int()>& body) { return wait_for_end(fork_process({}, body)); }

TEST(ChildProcess, EndsWithTheBodysValueOrTheSignal) {
  EXPECT_EQ(ending_text(status_of([] { return 3; })), "exit code 3");
  const int aborted = status_of([]() -> int { std::abort(); });
  EXPECT_EQ(WTERMSIG(aborted), SIGABRT);
  EXPECT_FALSE(is_terminated_externally(aborted));
  EXPECT_TRUE(is_terminated_externally(status_of([]() -> int {
    std::raise(SIGTERM);
    return 0;
  })));
}

TEST(ChildProcess, SendsOnItsChannelAndKeepsNoOtherDescriptor) {
  const Descriptor low(open("/dev/null", O_RDONLY));
  const Descriptor secret(fcntl(low.number(), F_DUPFD, 20));
  auto channel = make_channel();
  ASSERT_TRUE(channel);
  const int number = secret.number();
  const pid_t child = fork_process({.channel = channel->second.number()}, [number] {
    const bool closed = fcntl(number, F_GETFD) < 0 && fcntl(child_channel + 1, F_GETFD) < 0;
    return write_all(child_channel, closed ? "closed" : "open") ? 0 : 1;
  });
  channel->second.close();
  EXPECT_EQ(read_to_end(channel->first.number(), always), "closed");
  EXPECT_EQ(wait_for_end(child), 0);
}

TEST(ChildProcess, WhatItPrintsIsCaught) {
  OutputCatcher output;
  wait_for_end(fork_process({.channel = -1, .output = output.descriptor()}, [] {
    std::fputs("first\nsecond\n\x1b[31mthird\n", stderr);
    return 0;
  }));
  EXPECT_EQ(output.last_output(), "second /  [31mthird");
  output.clear();
  EXPECT_EQ(output.last_output(), "");
  wait_for_end(fork_process({.channel = -1, .output = output.descriptor()}, [] {
    std::fputs(
        "Traceback (most recent call last):\n  File \"/a/mine.py\", line 7, in solve\n    np.linalg.solve(a, b)\n"
        "  File \"/usr/lib/python3/numpy/linalg.py\", line 99, in solve\n    raise\nLinAlgError: singular\n",
        stderr);
    return 0;
  }));
  EXPECT_EQ(output.last_output(), "File \"/a/mine.py\", line 7, in solve /     raise / LinAlgError: singular");
}

TEST(ChildProcess, LimitsHold) {
  const int fat = status_of([] {
    limit_this_process({.address_mb = 64.0});
    return std::malloc(std::size_t{1} << 30) == nullptr ? 7 : 0;
  });
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(WEXITSTATUS(fat), 7);
#endif
  const int busy = status_of([]() -> int {
    limit_this_process({.cpu_s = 1.0});
    for (std::atomic<unsigned> i = 0;; ++i) continue;
  });
  EXPECT_EQ(WTERMSIG(busy), SIGXCPU);
}

TEST(ChildProcess, IsPinnedToAsManyProcessorsAsItHasThreads) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  if (!CPU_ISSET(0, &own) || !CPU_ISSET(1, &own)) GTEST_SKIP() << "not on processors 0 and 1";
  for (const int count : {1, 2, 9}) {
    const int status = status_of([count] {
      limit_this_process({.pinned_processor = 1, .pinned_count = count});
      cpu_set_t processors;
      if (sched_getaffinity(0, sizeof processors, &processors) != 0) return -1;
      return CPU_ISSET(1, &processors) ? CPU_COUNT(&processors) : -1;
    });
    EXPECT_EQ(WEXITSTATUS(status), std::min(count, 2));
  }
}

TEST(Channel, BytesOfAnySizeArriveWhole) {
  auto channel = make_channel();
  ASSERT_TRUE(channel);
  const std::string bytes(5'000'000, 'x');
  const pid_t child =
      fork_process({.channel = channel->second.number()}, [&] { return write_all(child_channel, bytes) ? 0 : 1; });
  channel->second.close();
  EXPECT_TRUE(read_to_end(channel->first.number(), always) == bytes);
  EXPECT_EQ(wait_for_end(child), 0);
}

TEST(Channel, AnEndThatDoesNotComeIsNotWaitedFor) {
  auto channel = make_channel();
  ASSERT_TRUE(channel);
  ASSERT_TRUE(write_all(channel->second.number(), "half"));
  EXPECT_EQ(read_to_end(channel->first.number(), [] { return 0ms; }), std::nullopt);
}

TEST(Channel, WritingToAClosedOneIsAnErrorAndNoSignal) {
  auto channel = make_channel();
  ASSERT_TRUE(channel);
  channel->first.close();
  EXPECT_FALSE(write_all(channel->second.number(), "anybody?"));
}

}  // namespace
}  // namespace conebench
