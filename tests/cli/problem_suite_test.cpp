#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "store/store.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::set<std::string> keys_of(const std::string& file) {
  std::set<std::string> keys;
  const auto store = Store::open(file, Store::Mode::read_only);
  EXPECT_TRUE(store);
  if (!store) return keys;
  const auto states = store->cell_states();
  EXPECT_TRUE(states);
  if (!states) return keys;
  for (const auto& [key, status] : *states) keys.insert(key);
  return keys;
}

/// A folder with two problems, one of them deeper, and a file beside it.
class ProblemSuite : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, boxes] : {std::pair("problems", "2"), {"problems/deeper", "3"}, {"alone", "4"}}) {
      std::filesystem::create_directories(folder_ / name);
      ASSERT_EQ(
          conebench({"generate", "box-stack", "--set", std::string("boxes=") + boxes, "--out", folder_ / name}).code,
          0);
    }
  }
  ScratchFolder folder_;
};

TEST_F(ProblemSuite, MixesFilesFoldersAndScenesAndTheSavedSuiteMakesTheSameCells) {
  const std::string suite = folder_ / "made.json", first = folder_ / "first.sqlite", second = folder_ / "second.sqlite";
  const Outcome ran =
      conebench({"run", folder_ / "problems", folder_ / "alone/box-stack_boxes=4.hdf5", "sliding-box friction=0.4",
                 "--solvers", "NSGS,CASCADE", "--grid", "NSGS.relaxation=1,1.2", "--tolerance", "1e-6,1e-8",
                 "--max-iterations", "500", "--save-suite", suite, "--db", first});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("suite, written to " + suite));
  EXPECT_THAT(ran.out, HasSubstr("\"relaxation\""));
  EXPECT_EQ(keys_of(first).size(), 4U * 3U * 2U) << "4 problems, 3 configurations, 2 tolerances";
  const RunOptions elsewhere = {.folder = folder_ / "alone"};
  const Outcome again = conebench({"run", suite, "--db", second}, elsewhere);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(keys_of(second), keys_of(first));
  const json made = json::parse(text_of(suite));
  EXPECT_EQ(made["limits"]["iterations"], 500);
  EXPECT_EQ(made["solvers"][0]["grid"]["relaxation"], (json{1.0, 1.2}));
}

TEST_F(ProblemSuite, OneSolversGridNeedsNoName) {
  const Outcome dry = conebench({"run", folder_ / "problems", "--solvers", "PGS-NCP", "--grid", "relaxation=0.5,1,1.3",
                                 "--dry-run", "--json", "--db", folder_ / "none.sqlite"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(dry.json()["configurations"], 3);
  EXPECT_EQ(dry.json()["problems"], 2);
}

TEST_F(ProblemSuite, ANameOfAReportAndItsSceneAreOneProblem) {
  const Outcome dry = conebench({"run", "box-stack_boxes=2", "box-stack boxes=2", "--solvers", "NSGS", "--dry-run",
                                 "--json", "--db", folder_ / "none.sqlite"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(dry.json()["problems"], 1) << "the name of a report and the scene's text are one problem";
}

TEST_F(ProblemSuite, WrongArgumentsAreNamed) {
  const std::string problems = folder_ / "problems";
  expect_failure(conebench({"run", problems}), 2, {"a problem and no suite", "--solvers"});
  expect_failure(conebench({"run", "default", "fclib"}), 2, {"fclib", "one suite"});
  expect_failure(conebench({"run", "default", "--grid", "NSGS.relaxation=1"}), 2, {"go with --solvers"});
  expect_failure(conebench({"run", problems, "--solvers", "NSGS,CASCADE", "--grid", "relaxation=1"}), 2,
                 {"--grid relaxation=1", "SOLVER.option"});
  expect_failure(conebench({"run", problems, "--solvers", "NSGS", "--grid", "PGS.relaxation=1"}), 2, {"PGS"});
  expect_failure(conebench({"run", problems, "--solvers", "NSGS", "--grid", "relaxtion=1"}), 2, {"relaxation"});
  expect_failure(conebench({"run", problems, "--solvers", "NSGS", "--save-suite", folder_ / "no/made.json"}), 3,
                 {"no/made.json"});
  std::filesystem::create_directories(folder_ / "empty");
  expect_failure(conebench({"run", folder_ / "empty", "--solvers", "NSGS"}), 3, {"holds no .hdf5"});
  expect_failure(conebench({"run", "box-stak boxes=2", "--solvers", "NSGS"}), 3, {"no such file, folder or scene"});
}

TEST_F(ProblemSuite, InspectOfAFolderIsATableThatCanBeSorted) {
  const Outcome table = conebench({"inspect", folder_ / "problems", "box-stack boxes=1", "--sort", "contacts"});
  ASSERT_EQ(table.code, 0) << table.err;
  const auto at = [&](const std::string& text) { return table.out.find(text); };
  EXPECT_THAT(table.out, HasSubstr("islands"));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 4) << table.out;
  EXPECT_LT(at("boxes=1"), at("boxes=2"));
  EXPECT_LT(at("boxes=2"), at("boxes=3"));
  const json down = conebench({"inspect", folder_ / "problems", "--sort", "contacts", "--reverse", "--json"}).json();
  ASSERT_EQ(down["files"].size(), 2U);
  EXPECT_GT(down["files"][0]["contacts"], down["files"][1]["contacts"]);
  EXPECT_EQ(down["files"][0]["islands"], 1);
  expect_failure(conebench({"inspect", folder_ / "problems", "--sort", "contact"}), 2, {"contacts"});
}

}  // namespace
}  // namespace conebench::testing
