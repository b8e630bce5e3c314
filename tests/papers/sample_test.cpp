#include <gtest/gtest.h>

#include <cmath>

#include "papers/evaluate.hpp"

namespace conebench::papers {
namespace {

/// A store of CASCADE and NSGS on the problems of `times`; µs, 0: not solved.
struct Times {
  double cascade, nsgs;
};

StoreContents store(const std::vector<Times>& times) {
  StoreContents contents;
  for (const char* const solver : {"CASCADE", "NSGS"}) {
    contents.configurations.push_back({solver, solver, 1, "NCP", solver, "{}"});
  }
  for (std::size_t p = 0; p < times.size(); ++p) {
    const std::string name = "p" + std::to_string(p);
    ProblemRecord problem;
    problem.hash = problem.name = problem.source = name;
    contents.problems.push_back(problem);
    for (const auto& [solver, us] : {std::pair("CASCADE", times[p].cascade), std::pair("NSGS", times[p].nsgs)}) {
      CellRecord cell;
      cell.key = name + solver;
      cell.problem = name;
      cell.configuration = solver;
      cell.tolerance = 1e-4;
      cell.start = "cold";
      cell.verdict = "natural_map_scaled";
      cell.solved = us > 0.0;
      cell.repeats = 2;
      cell.total = {2e-6 * us, 1e-6 * us, 3e-6 * us, 0.0};
      contents.cells.push_back(cell);
    }
  }
  return contents;
}

double value(const std::vector<Sample>& samples, const std::string& text) {
  const auto parsed = parse_expression(text, Kind::number);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const Value found = evaluate(*parsed, select(samples)).value;
  EXPECT_TRUE(found.known()) << text << ": " << found.reason;
  return found.number.value_or(-12345.0);
}

TEST(PaperSample, TimesOverTheOthersAreOfTheLeastRepeats) {
  const auto samples = samples_of(store({{2.0, 4.0}, {2.8, 2.0}, {1.1, 1.0}}));
  EXPECT_DOUBLE_EQ(value(samples, "sum(minimum_ms){configuration=CASCADE}"), 5.9e-3);
  EXPECT_NEAR(value(samples, "geometric_mean(times_others){configuration=CASCADE}"), std::cbrt(0.5 * 1.4 * 1.1), 1e-14);
  EXPECT_DOUBLE_EQ(value(samples, "share(times_others <= 1.2){configuration=CASCADE}"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(value(samples, "max(times_fastest){configuration=NSGS}"), 2.0);
  EXPECT_DOUBLE_EQ(value(samples, "min(times_fastest){configuration=CASCADE}"), 1.0);
}

TEST(PaperSample, WhatOnlyOneSolvesHasNoOthers) {
  const auto samples = samples_of(store({{2.0, 4.0}, {0.0, 2.0}, {1.1, 0.0}}));
  EXPECT_EQ(value(samples, "count(others){configuration=CASCADE}"), 2);
  EXPECT_EQ(value(samples, "share(solved and times_others <= 2 where others){configuration=CASCADE}"), 0.5);
  EXPECT_EQ(value(samples, "count(solved and not others)"), 2);
  EXPECT_EQ(value(samples, "max(times_fastest where solved)"), 2.0);
}

TEST(PaperSample, ATrivialProblemIsSolvedByNothing) {
  auto contents = store({{2.0, 4.0}, {1.0, 1.0}});
  contents.problems[0].zero_impulse = {{"natural_map_scaled", 1e-5}, {"primal", 0.0}};
  contents.problems[1].zero_impulse = {{"natural_map_scaled", 1e-3}, {"primal", 0.0}};
  EXPECT_EQ(value(samples_of(contents), "count(trivial){source=p0}"), 2);
  EXPECT_EQ(value(samples_of(contents), "count(trivial){source=p1}"), 0);
}

TEST(PaperSample, ASolverIsJudgedOnItsOwnModel) {
  auto contents = store({{0.0, 0.0}});
  contents.configurations[1].formulation = "CCP";
  for (CellRecord& cell : contents.cells) {
    cell.residuals.set("natural_map_scaled", {0.1, "", 0});
    cell.residuals.set("natural_map_ccp_scaled", {1e-5, "", 0});
  }
  EXPECT_EQ(value(samples_of(contents), "count(model_solved){configuration=CASCADE}"), 0);
  EXPECT_EQ(value(samples_of(contents), "count(model_solved){configuration=NSGS}"), 1);
  contents.cells[1].ccp_compliant = 1.0;  // of the problem that it solved, with compliance added
  EXPECT_EQ(value(samples_of(contents), "count(model_solved){configuration=NSGS}"), 0);
}

TEST(PaperSample, TheFirstOfASequenceIsNotWarm) {
  auto contents = store({{2.0, 4.0}, {1.0, 1.0}});
  for (CellRecord& cell : contents.cells) cell.start = cell.start_used = "previous";
  contents.cells[0].start_used = "cold";
  EXPECT_EQ(value(samples_of(contents), "count(warm)"), 3);
  contents.cells[1].start = contents.cells[1].start_used = "cold";
  EXPECT_EQ(value(samples_of(contents), "count(warm)"), 2);
}

}  // namespace
}  // namespace conebench::papers
