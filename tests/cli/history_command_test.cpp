#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two stores of one small suite in DIR/nights.
class HistoryCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder / "small.json") << R"({"name": "small", "problems": [{"scene": "sliding-box"}],
      "solvers": ["NSGS", "PGS-NCP"], "tolerances": [1e-4], "repeats": {"min": 2, "min_ms": 0, "max": 2}})";
    std::filesystem::create_directory(folder / "nights");
    for (const char* night : {"nights/1.sqlite", "nights/2.sqlite"}) {
      const auto run = conebench({"run", folder / "small.json", "--db", folder / night});
      ASSERT_EQ(run.code, 0) << run.err;
    }
  }

  const ScratchFolder folder;
};

TEST_F(HistoryCommand, ReadsAFolderOrStoresAndWritesItsFiles) {
  const auto outcome = conebench({"history", folder / "nights", "--out", folder / "out"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("## small: 2 nights"), HasSubstr("| NSGS \\* | 1e-4 | 1 of 1 | 1 of 1 |")));
  for (const char* file : {"index.html", "history.md", "history.json"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder / "out") / file)) << file;
  }
  const auto json = conebench({"history", folder / "nights/1.sqlite", folder / "nights/2.sqlite", "--json"}).json();
  EXPECT_EQ(json["schema"], "conebench.history/2");
  EXPECT_EQ(json["suites"][0]["nights"].size(), 2U);
  EXPECT_FALSE(json["suites"][0]["nights"][0]["executable"].get<std::string>().empty());
}

TEST_F(HistoryCommand, AStoreOfAFolderThatCannotBeReadIsReported) {
  std::ofstream(folder / "nights/3.sqlite") << "no store";
  const auto outcome = conebench({"history", folder / "nights"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("3.sqlite"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 nights"), HasSubstr("3.sqlite")));
}

TEST_F(HistoryCommand, NothingToReadIsAnErrorInOneLine) {
  std::ofstream(folder / "bad.sqlite") << "no store";
  expect_failure(conebench({"history", folder / "bad.sqlite"}), 3, {"bad.sqlite"});
  expect_failure(conebench({"history", folder / "none.sqlite"}), 3, {"none.sqlite"});
  std::filesystem::create_directory(folder / "empty");
  expect_failure(conebench({"history", folder / "empty"}), 3, {"empty", "no store"});
  expect_failure(conebench({"history", folder / "nights/1.sqlite", folder / "nights/1.sqlite"}), 3, {"1.sqlite"});
}

}  // namespace
}  // namespace conebench::testing
