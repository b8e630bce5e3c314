#include "runners/plan/cell_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace conebench {
namespace {

std::vector<PlannedCell> cells_of(std::size_t problems, std::size_t configurations) {
  std::vector<PlannedCell> cells;
  for (std::size_t p = 0; p < problems; ++p) {
    for (std::size_t s = 0; s < configurations; ++s) cells.push_back({{}, p, s, 1e-6, Start::cold, {}});
  }
  return cells;
}

std::vector<double> loads(const std::vector<int>& part_of, const std::vector<double>& costs, int parts) {
  std::vector<double> all(static_cast<std::size_t>(parts), 0.0);
  for (std::size_t i = 0; i < part_of.size(); ++i) all[static_cast<std::size_t>(part_of[i] - 1)] += costs[i];
  return all;
}

TEST(BalancedParts, NoneIsMoreThanAPieceAboveItsShare) {
  const auto cells = cells_of(300, 20);
  std::vector<double> costs;
  // A few problems are a thousand times as dear as most, as in FCLIB.
  for (const PlannedCell& cell : cells)
    costs.push_back(0.06 + 60.0 / std::pow(1.0 + static_cast<double>(cell.problem), 2.0));
  for (const int parts : {1, 2, 7, 40}) {
    const auto part_of = balanced_parts(cells, costs, parts);
    const double share = std::accumulate(costs.begin(), costs.end(), 0.0) / parts;
    const double dearest = *std::max_element(costs.begin(), costs.end());
    for (const double load : loads(part_of, costs, parts)) {
      EXPECT_LE(load, share + std::max(dearest, share / 8.0) + 1e-9) << parts;
    }
  }
}

TEST(BalancedParts, CheapProblemsAreNotTornApart) {
  const auto cells = cells_of(200, 15);
  const std::vector<double> costs(cells.size(), 0.1);
  const auto part_of = balanced_parts(cells, costs, 10);
  std::map<std::size_t, std::set<int>> parts_of;
  for (std::size_t i = 0; i < cells.size(); ++i) parts_of[cells[i].problem].insert(part_of[i]);
  for (const auto& [problem, parts] : parts_of) EXPECT_EQ(parts.size(), 1U) << problem;
}

TEST(BalancedParts, ASequenceStaysWhole) {
  auto cells = cells_of(50, 2);
  for (std::size_t i = 2; i < cells.size(); ++i) cells[i].previous = i - 2;
  const auto part_of = balanced_parts(cells, std::vector<double>(cells.size(), 1.0), 4);
  for (std::size_t i = 2; i < cells.size(); ++i) EXPECT_EQ(part_of[i], part_of[i - 2]);
  EXPECT_NE(part_of[0], part_of[1]);
}

class EstimatedCosts : public ::testing::Test {
 protected:
  EstimatedCosts() {
    const auto parsed = parse_suite(R"({"name": "plan", "problems": [{"scene": "box-stack"}],
      "solvers": ["NSGS", "PGS-NCP"], "tolerances": [1e-4, 1e-6], "limits": {"seconds": 10}})",
                                    "plan.json");
    if (!parsed) throw std::runtime_error(parsed.error().message);
    suite = *parsed;
    configurations = plan_configurations(suite);
    for (const std::int64_t nonzeros : {1000, 2000, 1000000000}) {
      SurveyedProblem surveyed;
      surveyed.loaded = true;
      surveyed.record.hash = std::to_string(nonzeros);
      surveyed.record.nonzeros = nonzeros;
      problems.push_back(surveyed);
    }
    cells = plan_cells(suite, problems, configurations, {});
    earlier.problems.push_back(problems[0].record);
    for (const auto& configuration : configurations) earlier.configurations.push_back(configuration.record);
  }

  void measure(std::size_t configuration, double tolerance, double median, int repeats, double judge_s) {
    CellRecord cell;
    cell.problem = problems[0].record.hash;
    cell.configuration = configurations[configuration].record.hash;
    cell.tolerance = tolerance;
    cell.start = "cold";
    cell.total.median = median;
    cell.repeats = repeats;
    cell.judge_s = judge_s;
    earlier.cells.push_back(cell);
  }
  double estimate(std::size_t problem, std::size_t configuration, double tolerance) const {
    const auto costs = estimated_costs(suite, problems, configurations, cells, earlier);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].problem == problem && cells[i].configuration == configuration && cells[i].tolerance == tolerance)
        return costs[i];
    }
    return -1.0;
  }

  Suite suite;
  std::vector<PlannedConfiguration> configurations;
  std::vector<SurveyedProblem> problems;
  std::vector<PlannedCell> cells;
  StoreContents earlier;
};

TEST_F(EstimatedCosts, WhatWasMeasuredCountsWithItsRepeats) {
  measure(0, 1e-4, 0.5, 3, 0.25);
  EXPECT_NEAR(estimate(0, 0, 1e-4), 1.75, 0.1);
}

TEST_F(EstimatedCosts, OfAnotherProblemTheNearestInSizeIsTaken) {
  measure(0, 1e-4, 0.5, 4, 0.0);
  EXPECT_NEAR(estimate(1, 0, 1e-4), 2.0, 0.1);
  EXPECT_LT(estimate(1, 0, 1e-6), 1.0) << "nothing was measured at this tolerance";
}

TEST_F(EstimatedCosts, SizeAloneTellsLargeFromSmallUpToTheLimit) {
  EXPECT_LT(estimate(0, 1, 1e-6), estimate(1, 1, 1e-6));
  EXPECT_EQ(estimate(2, 1, 1e-6), 10.0);
}

TEST(PlanCells, KeysCutThemAndBringWhatTheyStartFrom) {
  const auto suite = parse_suite(R"({"name": "plan", "problems": [{"scene": "box-stack"}], "solvers": ["NSGS"],
    "tolerances": [1e-4], "start": ["cold", "previous"]})",
                                 "plan.json");
  ASSERT_TRUE(suite.ok());
  std::vector<SurveyedProblem> problems(3);
  for (int step = 0; step < 3; ++step) {
    SurveyedProblem& problem = problems[static_cast<std::size_t>(step)];
    problem.loaded = true;
    problem.record.hash = "p" + std::to_string(step);
    problem.position = SequencePosition{"simulation", step};
  }
  const auto configurations = plan_configurations(*suite);
  const auto all = plan_cells(*suite, problems, configurations, {});
  ASSERT_EQ(all.size(), 6U);
  const auto warm = std::find_if(all.begin(), all.end(), [](const PlannedCell& cell) {
    return cell.start == Start::previous && cell.problem == 1;
  });
  PlanScope scope;
  scope.keys = std::set<std::string>{warm->key};
  const auto cut = plan_cells(*suite, problems, configurations, scope);
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[1].key, warm->key);
  EXPECT_EQ(cut[1].previous, std::optional<std::size_t>(0));
}

}  // namespace
}  // namespace conebench
