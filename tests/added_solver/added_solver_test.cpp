#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/conebench_process.hpp"

/// The executable under test is Conebench with the solver of docs/add_a_solver.md in its registry.
namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

TEST(AddedSolver, IsListedWithItsOption) {
  const auto listed = conebench({"list", "solvers", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto json = listed.json();
  std::vector<std::string> options;
  for (const auto& solver : json["solvers"]) {
    if (solver["id"] != "EXAMPLE-JACOBI") continue;
    for (const auto& option : solver["options"]) options.push_back(option["name"]);
  }
  EXPECT_THAT(options, ::testing::ElementsAre("relaxation"));
}

TEST(AddedSolver, SolvesFromTheCommandLineAndRefusesAnOptionOutOfItsBounds) {
  const ScratchFolder folder;
  const std::string problem = generate(folder, {"box-stack", "--set", "boxes=1"});
  const auto solved = conebench(
      {"solve", problem, "--solver", "EXAMPLE-JACOBI", "--set", "relaxation=0.7", "--tolerance", "1e-8", "--json"});
  ASSERT_EQ(solved.code, 0) << solved.err;
  EXPECT_TRUE(solved.json()["solved"].get<bool>()) << solved.out;
  expect_failure(conebench({"solve", problem, "--solver", "EXAMPLE-JACOBI", "--set", "relaxation=3"}), 2,
                 {"relaxation", "3"});
}

TEST(AddedSolver, TakesPartInASweepOfAllSolversAndInItsReport) {
  const ScratchFolder folder;
  std::ofstream(folder / "all.json") << R"({
    "name": "all", "problems": [{"scene": "box-stack", "options": {"boxes": 1}}],
    "solvers": ["all"], "tolerances": [1e-6],
    "limits": {"iterations": 2000, "seconds": 5, "memory_mb": 2000},
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})";
  const auto run = conebench({"run", folder / "all.json", "--db", folder / "all.sqlite"});
  ASSERT_THAT(run.code, ::testing::AnyOf(0, 4)) << run.err;
  const auto report = conebench({"report", folder / "all.sqlite", "--out", folder / "report", "--format", "csv"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("EXAMPLE-JACOBI"));
  EXPECT_THAT(text_of(folder / "report/ranking.csv"), HasSubstr("EXAMPLE-JACOBI"));
}

}  // namespace
}  // namespace conebench::testing
