#include "store/store_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using conebench::testing::ScratchFolder;
using conebench::testing::write_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nlohmann::json content(const fs::path& lock) {
  std::ifstream stream(lock);
  return nlohmann::json::parse(stream, nullptr, false);
}

/// A child that holds the lock of `path` until it is killed.
class HoldingChild {
 public:
  explicit HoldingChild(const fs::path& path) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    process_ = fork();
    if (process_ == 0) {
      const auto lock = StoreLock::acquire(path);
      const char answer = lock ? 'y' : 'n';
      if (write(ends[1], &answer, 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char answer = 0;
    holds_ = read(ends[0], &answer, 1) == 1 && answer == 'y';
    close(ends[0]);
  }
  ~HoldingChild() { end(); }
  HoldingChild(const HoldingChild&) = delete;
  HoldingChild& operator=(const HoldingChild&) = delete;
  bool holds() const { return holds_; }
  pid_t process() const { return process_; }
  /// As a kill -9 from outside; `reap`: else it stays a zombie.
  void end(bool reap = true) {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | (reap ? 0 : WNOWAIT));
    if (reap) process_ = 0;
  }

 private:
  pid_t process_ = 0;
  bool holds_ = false;
};

TEST(StoreLock, TheSecondWriterHearsWhoHoldsItAndSinceWhen) {
  const ScratchFolder folder;
  const fs::path file = folder / "a.sqlite";
  HoldingChild first(file);
  ASSERT_TRUE(first.holds());
  for (const bool break_lock : {false, true}) {
    const auto second = StoreLock::acquire(file, {.break_lock = break_lock});
    ASSERT_FALSE(second) << "nobody breaks the lock of a living process";
    EXPECT_EQ(second.error().code, ErrorCode::bad_input);
    const std::string since = content(folder / "a.sqlite.lock").at("since");
    EXPECT_THAT(
        second.error().message,
        AllOf(HasSubstr("a.sqlite"), HasSubstr("process " + std::to_string(first.process())), HasSubstr(since)));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(StoreLock, GoesWithItsHolder) {
  const ScratchFolder folder;
  const fs::path file = folder / "a.sqlite";
  for (int i = 0; i < 2; ++i) {
    auto lock = StoreLock::acquire(file);
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_THAT(lock->note(), IsEmpty());
    EXPECT_FALSE(StoreLock::acquire(file)) << "also for the same process";
    const StoreLock moved = std::move(*lock);
    EXPECT_TRUE(fs::exists(folder / "a.sqlite.lock"));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(StoreLock, OfAKilledProcessIsTakenOverWithANote) {
  for (const bool reaped : {true, false}) {
    const ScratchFolder folder;
    const fs::path file = folder / "a.sqlite";
    HoldingChild first(file);
    const std::string process = std::to_string(first.process());
    first.end(reaped);
    const auto second = StoreLock::acquire(file);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_THAT(second->note(), AllOf(HasSubstr("taken over"), HasSubstr("process " + process)));
    EXPECT_EQ(content(folder / "a.sqlite.lock").at("process"), getpid());
  }
}

TEST(StoreLock, AProcessNumberThatIsInUseAgainHoldsNothing) {
  const ScratchFolder folder;
  const fs::path file = folder / "a.sqlite";
  { HoldingChild(file).end(); }
  auto left = content(folder / "a.sqlite.lock");
  left["process"] = getpid();  // alive, but it did not start then
  left["started"] = 1;
  write_text(folder / "a.sqlite.lock", left.dump());
  EXPECT_TRUE(StoreLock::acquire(file));
}

TEST(StoreLock, OfAnotherHostOrBootIsTakenOverOnlyOnRequest) {
  for (const char* const key : {"host", "boot", "processes"}) {
    const ScratchFolder folder;
    const fs::path file = folder / "a.sqlite";
    { HoldingChild(file).end(); }
    auto left = content(folder / "a.sqlite.lock");
    left[key] = "another";
    write_text(folder / "a.sqlite.lock", left.dump());
    const auto refused = StoreLock::acquire(file);
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("may be"), HasSubstr("--break-lock")));
    const auto broken = StoreLock::acquire(file, {.break_lock = true});
    ASSERT_TRUE(broken) << broken.error().message;
    EXPECT_THAT(broken->note(), HasSubstr("taken over"));
  }
}

TEST(StoreLock, WithoutReadableContentOnlyBreakLockHelps) {
  const ScratchFolder folder;
  for (const char* const text : {"", "{", "[]", R"({"process": "x"})", R"({"process": 1})"}) {
    write_text(folder / "a.sqlite.lock", text);
    EXPECT_FALSE(StoreLock::acquire(folder / "a.sqlite")) << text;
    EXPECT_TRUE(StoreLock::acquire(folder / "a.sqlite", {.break_lock = true})) << text;
  }
}

TEST(StoreLock, OfManyThatFindADeadOneExactlyOneTakesItOver) {
  for (int round = 0; round < 20; ++round) {
    const ScratchFolder folder;
    const fs::path file = folder / "a.sqlite";
    { HoldingChild(file).end(); }
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const auto lock = StoreLock::acquire(file);
        const char answer = lock ? 'y' : 'n';
        if (write(ends[1], &answer, 1) != 1) _exit(1);
        for (;;) pause();
      }
      children.push_back(child);
    }
    close(ends[1]);
    int holders = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      char answer = 0;
      ASSERT_EQ(read(ends[0], &answer, 1), 1);
      holders += answer == 'y' ? 1 : 0;
    }
    close(ends[0]);
    EXPECT_EQ(holders, 1);
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
}

TEST(StoreLock, AForkedChildThatEndsLeavesItsParentsLock) {
  const ScratchFolder folder;
  const fs::path file = folder / "a.sqlite";
  auto lock = StoreLock::acquire(file);
  ASSERT_TRUE(lock);
  const pid_t child = fork();
  if (child == 0) {
    { const StoreLock copy = std::move(*lock); }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder / "a.sqlite.lock"));
  HoldingChild second(file);
  EXPECT_FALSE(second.holds());
}

TEST(StoreLock, WhereNothingCanBeWrittenItSaysWhatToDo) {
  const ScratchFolder folder;
  const auto lock = StoreLock::acquire(folder.path() / "none" / "a.sqlite");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::bad_input);
  EXPECT_THAT(lock.error().message, AllOf(HasSubstr("a.sqlite"), HasSubstr("no folder"), HasSubstr("give another")));
}

TEST(StoreLock, AFullDiskIsOneLineAndLeavesNothing) {
  const ScratchFolder folder;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &none);
  const auto lock = StoreLock::acquire(folder / "a.sqlite");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::bad_input);
  EXPECT_THAT(lock.error().message, AllOf(HasSubstr("a.sqlite"), HasSubstr("No space left")));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_TRUE(StoreLock::acquire(folder / "a.sqlite"));
}

}  // namespace
}  // namespace conebench
