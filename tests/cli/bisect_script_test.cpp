#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string script = (fs::path(CONEBENCH_SOURCE_DIR) / "scripts/bisect_slower.sh").string();

/// scripts/bisect_slower.sh with a compiler and an executable that are played. A commit's file `state` says what they
/// find of it: "fast", "slower", "undecided", "late" (undecided until 12 rounds, then slower), "lost", "crashes",
/// "no build".
class BisectSlower : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_program({"git", "--version"}).code != 0) GTEST_SKIP() << "no git";
    fs::create_directories(folder / "tools");
    fs::create_directories(folder / "tree/build/bin");
    write_program(folder / "tools/cmake", "[ \"$(cat state)\" != 'no build' ]");
    // compare: 1 where it is worse; with `--fail-on undecided` also where that is what it is.
    write_program(folder / "tree/build/bin/conebench", R"sh(state=$(cat state); words="$*"
case "$1" in
  run)
    [ "$state" = crashes ] && exit 70
    while [ $# -gt 1 ]; do [ "$1" = --rounds ] && echo "$2" >rounds; shift; done
    echo "$state: $words" >>ran ;;
  compare)
    [ "$state" = late ] && { state=undecided; [ "$(cat rounds)" -ge 12 ] && state=slower;
  }
    case "$state" in slower | lost) exit 1 ;; esac
    case "$words" in *'--fail-on undecided'*) [ "$state" = undecided ] && exit 1 ;; esac
    exit 0 ;;
esac)sh");
    const char* const path = std::getenv("PATH");
    options.folder = folder / "tree";
    options.environment = {"PATH=" + (folder / "tools") + ":" + (path == nullptr ? "/usr/bin:/bin" : path),
                           "GOOD=/fast/conebench", "FILTER=solver=NSGS && problem~\"a b\"", "MIN_CHANGE=4%"};
  }

  static void write_program(const std::string& file, const std::string& text) {
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }

  void write_state(const std::string& state) const { std::ofstream(folder / "tree/state") << state << "\n"; }

  int code_of(const std::string& state) const {
    write_state(state);
    return run_program({"sh", script}, options).code;
  }

  Outcome git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@example.org"});
    return run_program(words, options);
  }

  /// One commit a state, oldest first.
  void commit(const std::vector<std::string>& states) const {
    ASSERT_EQ(git({"init", "-q"}).code, 0);
    std::ofstream(folder / "tree/.gitignore") << "build/\nran\nrounds\n";
    for (const std::string& state : states) {
      write_state(state);
      ASSERT_EQ(git({"add", "-A"}).code, 0);
      ASSERT_EQ(git({"commit", "-q", "--allow-empty", "-m", state}).code, 0);
    }
  }

  /// From the last commit to the one `back` before it, which was fast.
  Outcome bisect(int back) const {
    EXPECT_EQ(git({"bisect", "start", "HEAD", "HEAD~" + std::to_string(back)}).code, 0);
    Outcome found = git({"bisect", "run", "sh", script});
    EXPECT_EQ(git({"bisect", "reset"}).code, 0);
    return found;
  }

  const ScratchFolder folder;
  RunOptions options;
};

TEST_F(BisectSlower, JudgesACommitByItsExitCodeAndContinuesOnlyWhileItIsUndecided) {
  EXPECT_EQ(code_of("fast"), 0);
  EXPECT_EQ(code_of("slower"), 1);
  EXPECT_EQ(code_of("lost"), 1);
  EXPECT_EQ(code_of("no build"), 125);
  EXPECT_EQ(code_of("crashes"), 125);
  EXPECT_THAT(text_of(folder / "tree/ran"), HasSubstr("--filter solver=NSGS && problem~\"a b\" --ab /fast/conebench"));
  fs::remove(folder / "tree/ran");
  EXPECT_EQ(code_of("late"), 1);
  EXPECT_THAT(text_of(folder / "tree/ran"), HasSubstr("--rounds 12 "));
  EXPECT_THAT(text_of(folder / "tree/ran"), Not(HasSubstr("--rounds 24 ")));
  EXPECT_EQ(code_of("undecided"), 125);
  EXPECT_THAT(text_of(folder / "tree/ran"), HasSubstr("--rounds 24 "));
}

TEST_F(BisectSlower, GitFindsTheCommitAlthoughOneIsUndecidedAndOneDoesNotBuild) {
  commit({"fast", "fast", "fast", "undecided", "fast", "slower", "no build", "slower"});
  const Outcome found = bisect(7);
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr(git({"rev-parse", "HEAD~2"}).out.substr(0, 40) + " is the first bad commit"));
  EXPECT_THAT(text_of(folder / "tree/ran"), HasSubstr("undecided: "));
}

TEST_F(BisectSlower, WhereTheCommitBeforeTheFirstSlowOneIsSkippedGitNamesBoth) {
  commit({"fast", "fast", "fast", "undecided", "slower", "slower", "slower", "slower"});
  const std::string undecided = git({"rev-parse", "HEAD~4"}).out, slower = git({"rev-parse", "HEAD~3"}).out;
  const Outcome found = bisect(7);
  EXPECT_EQ(found.code, 2) << found.out << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("The first bad commit could be any of"), HasSubstr(undecided.substr(0, 40)),
                               HasSubstr(slower.substr(0, 40))));
}

}  // namespace
}  // namespace conebench::testing
