#include "base/processor_limit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/child_process.hpp"

namespace conebench {
namespace {

/// A child that lives until it is killed.
class Child {
 public:
  explicit Child(bool spins)
      : process_(fork_process({}, [spins] {
          for (volatile bool forever = true; forever;) {
            if (!spins) ::pause();
          }
          return 0;
        })) {}
  ~Child() {
    ::kill(process_, SIGKILL);
    wait_for_end(process_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

TEST(ProcessorLimit, OfAProcessThatComputesIsUsedUp) {
  const Child child(true);
  const ProcessorLimit limit(child.process(), 0.05);
  while (!limit.used_up()) continue;
  EXPECT_GE(limit.used_s(), 0.05);
  EXPECT_GE(limit.waited_s(), limit.used_s() / 2.0) << "one thread has no more than what passes";
  EXPECT_EQ(limit.left().count(), 0);
}

TEST(ProcessorLimit, OfAProcessThatWaitsIsOverdueAndNotUsedUp) {
  const Child child(false);
  const ProcessorLimit limit(child.process(), 0.01);
  while (!limit.overdue()) continue;
  EXPECT_FALSE(limit.used_up());
  EXPECT_GE(limit.waited_s(), 0.1);
  EXPECT_EQ(limit.left().count(), 0);
}

TEST(ProcessorLimit, OfAProcessThatIsGoneIsNotUsedUp) {
  const pid_t process = fork_process({}, [] { return 0; });
  const ProcessorLimit limit(process, 0.001);
  wait_for_end(process);
  while (!limit.overdue()) continue;
  EXPECT_FALSE(limit.used_up());
}

TEST(ProcessorLimit, LeavesAtLeastWhatIsNotUsed) {
  const ProcessorLimit limit(::getpid(), 1e6);
  EXPECT_FALSE(limit.used_up());
  EXPECT_FALSE(limit.overdue());
  EXPECT_GT(limit.left(), std::chrono::hours(1));
}

}  // namespace
}  // namespace conebench
