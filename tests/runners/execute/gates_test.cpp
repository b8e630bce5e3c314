#include "runners/execute/gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace conebench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Cells of two solvers; every cell has a problem of its own, "p0", "p1", …
struct Cells {
  StoreContents contents;
  std::set<std::string> keys;

  Cells() {
    for (const std::string solver : {"CASCADE", "NSGS"}) {
      ConfigurationRecord configuration;
      configuration.hash = configuration.solver = configuration.label = solver;
      contents.configurations.push_back(configuration);
    }
  }
  Cells& add(const std::string& solver, const std::string& status, int times = 1) {
    for (int i = 0; i < times; ++i) {
      CellRecord cell;
      cell.problem = "p" + std::to_string(contents.cells.size());
      cell.configuration = solver;
      cell.key = cell.problem + solver;
      cell.tolerance = 1e-6;
      cell.status = cell_status(status);
      cell.solved = status == "converged";
      cell.repeats = cell.solved || status == "stalled" ? 3 : 0;
      keys.insert(cell.key);
      contents.cells.push_back(cell);
    }
    return *this;
  }
};

std::vector<SolvedGate> gates(const std::string& text) { return {*parse_gate(text)}; }

std::string failure(const Cells& cells, const std::string& gate, const StoreContents* baseline = nullptr) {
  return judge_sweep(cells.contents, cells.keys, gates(gate), baseline).gates.at(0).failure();
}

TEST(Gates, AreAShareOfAllOfASolverOrOfWhatItSupports) {
  const SolvedGate all = *parse_gate("0.9");
  EXPECT_EQ(all.solver, "");
  EXPECT_EQ(all.share, 0.9);
  EXPECT_FALSE(all.supported_only);
  const SolvedGate one = *parse_gate("CASCADE:0.99@supported");
  EXPECT_EQ(one.solver, "CASCADE");
  EXPECT_EQ(one.share, 0.99);
  EXPECT_TRUE(one.supported_only);
  EXPECT_TRUE(parse_gate("1@supported")->supported_only);
  for (const std::string wrong : {"", "2", "-0.1", "nan", "0.9x", "CASCADE:", ":0.9", "0.9@all", "0.9@", "CASCADE"}) {
    const auto gate = parse_gate(wrong);
    ASSERT_FALSE(gate) << wrong;
    EXPECT_EQ(gate.error().code, ErrorCode::wrong_usage);
    EXPECT_THAT(gate.error().message, HasSubstr("CASCADE:0.99@supported"));
  }
}

TEST(Gates, WhatNoSolverTakesCountsInAllCellsAndNotInSupportedOnes) {
  Cells cells;
  cells.add("CASCADE", "converged", 9).add("CASCADE", "unsupported", 1).add("NSGS", "stalled", 10);
  EXPECT_THAT(failure(cells, "CASCADE:1@supported"), IsEmpty());
  EXPECT_THAT(failure(cells, "CASCADE:0.95"), HasSubstr("9 of 10 cells of CASCADE solved, a share of 0.9 where"));
  EXPECT_THAT(failure(cells, "0.45"), IsEmpty());
  EXPECT_THAT(failure(cells, "0.5"), HasSubstr("9 of 20 cells solved"));
  EXPECT_THAT(failure(cells, "0.5@supported"), HasSubstr("9 of 19 supported cells solved"));
}

TEST(Gates, LeaveOutProblemsThatHaveNoSolutionOrAreNoise) {
  Cells cells;
  cells.add("CASCADE", "converged", 8).add("CASCADE", "stalled", 2);
  EXPECT_THAT(failure(cells, "0.9"), HasSubstr("8 of 10 cells"));
  ProblemRecord impossible;
  impossible.hash = "p8";
  impossible.feasibility.state = "infeasible";
  ProblemRecord noise;
  noise.hash = "p9";
  noise.noise_ratio = 0.5;
  StoreContents baseline = cells.contents;  // from before they were known
  cells.contents.problems = {impossible, noise};
  EXPECT_THAT(failure(cells, "1"), IsEmpty());
  EXPECT_THAT(failure(cells, "1", &baseline), IsEmpty());
  const SweepVerdict verdict = judge_sweep(cells.contents, cells.keys, gates("1"));
  EXPECT_EQ(verdict.infeasible, 1);
  EXPECT_EQ(verdict.noise_level, 1);
  EXPECT_EQ(verdict.gates.at(0).cells, 8);
}

TEST(Gates, ACertificateHidesNoCellThatTheBaselineSolved) {
  Cells baseline, now;
  baseline.add("CASCADE", "converged", 10);
  now.add("CASCADE", "converged", 9).add("CASCADE", "stalled");
  ProblemRecord marked;
  marked.hash = "p9";
  marked.feasibility = {"infeasible", -1.0, 0, {1.0}, 1e-3};
  now.contents.problems = {marked};
  baseline.contents.cells[9].verdict_version = 1;
  EXPECT_THAT(failure(now, "1", &baseline.contents), IsEmpty()) << "by a judge with fewer digits";
  baseline.contents.cells[9].verdict_version = 2;
  EXPECT_THAT(failure(now, "1", &baseline.contents), HasSubstr("9 of 10 cells"));
  EXPECT_EQ(judge_sweep(now.contents, now.keys, {}, &baseline.contents).infeasible, 0);
}

TEST(Gates, ACertificateLeavesOutCellsBelowItsBoundAlone) {
  Cells cells;
  cells.add("CASCADE", "converged", 9).add("CASCADE", "stalled");
  ProblemRecord marked;
  marked.hash = "p9";
  marked.feasibility = {"infeasible", -1.0, 0, {1.0}, 1e-3};
  cells.contents.problems = {marked};
  cells.contents.cells[9].verdict = "natural_map_scaled";
  EXPECT_THAT(failure(cells, "1"), IsEmpty());
  cells.contents.problems[0].feasibility.verdict_bound = 1e-7;  // the cells are asked for at 1e-6
  EXPECT_THAT(failure(cells, "1"), HasSubstr("9 of 10 cells"));
  EXPECT_EQ(judge_sweep(cells.contents, cells.keys, {}).infeasible, 0);
}

TEST(Gates, AProblemThatIsInfeasibleAtOneToleranceIsReportedApart) {
  Cells cells;
  cells.add("CASCADE", "converged").add("CASCADE", "stalled").add("NSGS", "stalled");
  for (CellRecord& cell : cells.contents.cells) cell.verdict = "natural_map_scaled";
  cells.contents.cells[0].tolerance = 1e-4;
  cells.contents.cells[0].verdict_value = 5e-5;
  cells.contents.cells[1].problem = "p0";
  ProblemRecord partly, wholly;
  partly.hash = "p0";
  partly.feasibility = {"infeasible", -1.0, 0, {1.0}, 1e-5};
  wholly.hash = "p2";
  wholly.feasibility = {"infeasible", -1.0, 0, {1.0}, 1e-5};
  cells.contents.problems = {partly, wholly};
  const SweepVerdict verdict = judge_sweep(cells.contents, cells.keys, {});
  EXPECT_EQ(verdict.infeasible, 2);
  EXPECT_EQ(verdict.infeasible_in_part, (std::map<std::set<double>, long>{{{1e-6}, 1}}));
}

TEST(Gates, ASolverWithoutCellsHasNotPassed) {
  Cells cells;
  cells.add("NSGS", "converged").add("CASCADE", "unsupported");
  EXPECT_THAT(failure(cells, "IPM:0"), HasSubstr("there are no cells of IPM"));
  EXPECT_THAT(failure(cells, "CASCADE:0@supported"), HasSubstr("there are no supported cells of CASCADE"));
}

TEST(Gates, FailWhereFewerCellsAreSupportedThanInTheBaseline) {
  Cells baseline, now;
  baseline.add("CASCADE", "converged", 10).add("NSGS", "converged", 5);
  now.add("CASCADE", "converged", 9).add("CASCADE", "unsupported", 1).add("NSGS", "converged", 5);
  EXPECT_THAT(failure(now, "CASCADE:0.99@supported"), IsEmpty());
  EXPECT_THAT(failure(now, "CASCADE:0.99@supported", &baseline.contents),
              HasSubstr("9 cells of CASCADE are supported, 10 in the baseline"));
  EXPECT_THAT(failure(now, "NSGS:0.99@supported", &baseline.contents), IsEmpty());
}

TEST(SweepVerdict, UnsupportedAndUnsolvedCellsAreDataAndUnreadableFilesAreNot) {
  Cells cells;
  cells.add("CASCADE", "converged").add("CASCADE", "unsupported", 3).add("NSGS", "stalled").add("NSGS", "timeout");
  const SweepVerdict data = judge_sweep(cells.contents, cells.keys, {});
  EXPECT_FALSE(data.broke());
  EXPECT_EQ(data.cells, 6);
  EXPECT_EQ(data.supported, 3);
  EXPECT_EQ(data.answered, 3);
  EXPECT_EQ(data.statuses.at("unsupported"), 3);
  cells.add("CASCADE", "bad_problem");
  const SweepVerdict broken = judge_sweep(cells.contents, cells.keys, {});
  EXPECT_TRUE(broken.broke());
  EXPECT_EQ(broken.unreadable, 1);
}

TEST(SweepVerdict, CellsThatEndedInTheBaselineTooHaveNotBroken) {
  Cells baseline, now;
  baseline.add("CASCADE", "crashed").add("CASCADE", "converged").add("NSGS", "out_of_memory");
  now.add("CASCADE", "out_of_memory").add("CASCADE", "crashed").add("NSGS", "crashed");
  EXPECT_EQ(judge_sweep(now.contents, now.keys, {}).ended, 3);
  const SweepVerdict verdict = judge_sweep(now.contents, now.keys, {}, &baseline.contents);
  EXPECT_EQ(verdict.ended, 1);
  EXPECT_EQ(verdict.ended_before, 2);
}

TEST(SweepVerdict, ACellThatRanToItsLimitIsMeasuredAndOneThatCrashedIsNot) {
  const auto answered = [](const Cells& cells) { return judge_sweep(cells.contents, cells.keys, {}).answered; };
  EXPECT_EQ(answered(Cells().add("NSGS", "timeout", 3)), 3);
  EXPECT_EQ(answered(Cells().add("NSGS", "crashed").add("NSGS", "unsupported").add("NSGS", "out_of_memory")), 0);
}

TEST(SweepVerdict, OnlyCellsOfTheRunCount) {
  Cells cells;
  cells.add("CASCADE", "converged", 2).add("NSGS", "crashed");
  cells.keys.erase(cells.contents.cells.back().key);
  const SweepVerdict verdict = judge_sweep(cells.contents, cells.keys, {});
  EXPECT_EQ(verdict.cells, 2);
  EXPECT_FALSE(verdict.broke());
}

TEST(SweepVerdict, AShardIsComparedWithItsPartOfTheBaseline) {
  Cells baseline, shard;
  baseline.add("CASCADE", "converged", 4);
  shard.add("CASCADE", "converged", 2);
  const StoreContents part = with_partners(baseline.contents, shard.contents, shard.keys);
  EXPECT_EQ(part.cells.size(), 2U);
  EXPECT_THAT(failure(shard, "1@supported", &part), IsEmpty());
  EXPECT_THAT(failure(shard, "1@supported", &baseline.contents), HasSubstr("2 cells are supported, 4 in the baseline"));
}

}  // namespace
}  // namespace conebench
