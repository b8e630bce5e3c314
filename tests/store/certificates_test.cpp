#include "store/certificates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

/// One problem with a certificate, and one cell that solves it at 1e-4.
StoreContents contradiction(double verdict, std::optional<double> bound) {
  StoreContents contents;
  ProblemRecord problem = testing::sample_problem("p1");
  problem.feasibility = {"infeasible", -0.5, 3, {0.0, 1.0}, bound};
  contents.problems = {problem};
  CellRecord cell = testing::sample_cell("k1");
  cell.tolerance = 1e-4;
  cell.verdict_value = verdict;
  contents.cells = {cell};
  return contents;
}

std::string state(StoreContents contents) {
  resolve_certificates(contents);
  return contents.problems.at(0).feasibility.state;
}

TEST(Certificates, LeaveAProblemOutAtTolerancesBelowTheirBound) {
  ProblemRecord problem = testing::sample_problem("p1");
  problem.feasibility = {"infeasible", -0.5, 3, {0.0, 1.0}, 1e-6};
  EXPECT_FALSE(problem.counts("natural_map_scaled", 1e-8));
  EXPECT_TRUE(problem.counts("natural_map_scaled", 1e-6));
  EXPECT_TRUE(problem.counts("natural_map_scaled", 1e-4));
  EXPECT_FALSE(problem.counts("natural_map_relative", 1e-4)) << "the bound is of another residual";
  problem.feasibility.verdict_bound.reset();
  EXPECT_FALSE(problem.counts("natural_map_scaled", 1e-4)) << "of an older Conebench";
  problem.feasibility.state = "not_excluded";
  EXPECT_TRUE(problem.counts("natural_map_scaled", 1e-8));
}

TEST(Certificates, ACellSolvedBelowTheBoundRefutesIt) {
  EXPECT_EQ(state(contradiction(9e-5, 1e-6)), "infeasible") << "solved, at a looser tolerance";
  EXPECT_EQ(state(contradiction(1e-7, 1e-6)), "refuted");
  EXPECT_EQ(state(contradiction(9e-5, 1e-3)), "refuted");
  EXPECT_EQ(state(contradiction(9e-5, std::nullopt)), "refuted");
  StoreContents unsolved = contradiction(1e-7, 1e-6);
  unsolved.cells[0].solved = false;
  EXPECT_EQ(state(unsolved), "infeasible");
  unsolved.problems[0].feasibility.state = "refuted";
  EXPECT_EQ(state(unsolved), "infeasible") << "nothing refutes it any more";
  unsolved.problems[0].feasibility = {"not_excluded", {}, {}, {}};
  EXPECT_EQ(state(unsolved), "not_excluded");
}

TEST(Certificates, ACellSolvedByAnotherVerdictCountsByThatOneAlone) {
  const auto solved_by_another = [](int verdict_version) {
    StoreContents contents = contradiction(9e-5, 1e-3);
    contents.cells[0].verdict = "natural_map";
    contents.cells[0].verdict_version = verdict_version;
    resolve_certificates(contents);
    EXPECT_EQ(contents.problems[0].feasibility.state, "infeasible");
    EXPECT_FALSE(contents.problems[0].counts("natural_map_scaled", 1e-4));
    EXPECT_FALSE(contents.problems[0].counts("natural_map_relative", 1e-4));
    return contents;
  };
  EXPECT_FALSE(solved_by_another(1).problems[0].counts("natural_map", 1e-4));
  StoreContents contents = solved_by_another(2);
  EXPECT_TRUE(contents.problems[0].counts("natural_map", 1e-4));

  FeasibilityRecord unsettled = contents.problems[0].feasibility;
  unsettled.solved_by.clear();
  JoinedMarks marks;
  marks.add(unsettled);
  EXPECT_TRUE(marks.exclude("natural_map", 1e-4));
  marks.take(contents.cells[0], "natural_map", 1e-4);
  EXPECT_FALSE(marks.exclude("natural_map", 1e-4)) << "a store beside it solved it";
  EXPECT_TRUE(marks.exclude("natural_map_scaled", 1e-4));

  contents.cells[0].solved = false;
  resolve_certificates(contents);
  EXPECT_FALSE(contents.problems[0].counts("natural_map", 1e-4)) << "no cell solves it any more";
}

TEST(Certificates, ACellThatAnOlderJudgeCalledSolvedRefutesNone) {
  for (const int version : {0, 1}) {
    StoreContents contents = contradiction(0.0, 1.0);
    contents.cells[0].verdict_version = version;
    EXPECT_EQ(state(contents), "infeasible") << version;
  }
}

}  // namespace
}  // namespace conebench
