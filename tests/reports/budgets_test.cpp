#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reports/analysis.hpp"
#include "reports/formats.hpp"
#include "store/run_mode.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench::reports {
namespace {

/// Two problems of two families, and a solver that is traced, one that shows its answer alone, and one that can't run.
StoreContents three_solvers() {
  StoreContents store = testing::small_store();
  std::erase_if(store.problems,
                [](const ProblemRecord& problem) { return problem.name != "stack-2" && problem.name != "chain-10"; });
  std::erase_if(store.configurations, [](const ConfigurationRecord& one) { return one.solver == "LIAR"; });
  const CellRecord like = store.cells.front();
  store.cells.clear();
  for (ProblemRecord& problem : store.problems) {
    problem.zero_impulse = {{"natural_map_scaled", 1.0}};
    for (std::size_t s = 0; s < store.configurations.size(); ++s) {
      CellRecord cell = like;
      cell.problem = problem.hash;
      cell.configuration = store.configurations[s].hash;
      cell.key = problem.hash + cell.configuration;
      cell.tolerance = 1e-4;
      cell.status = s == 2 ? CellStatus::unsupported : CellStatus::converged;
      cell.solved = cell.claimed = s < 2;
      cell.verdict_value = s < 2 ? std::optional(1e-5) : std::nullopt;
      cell.iterations = 100;
      cell.operator_products = s == 1 ? -1 : 200;
      cell.setup = {1e-4, 1e-4, 1e-4, 0.0};
      cell.solve = {1e-3, 1e-3, 1e-3, 0.0};
      cell.total = {1.1e-3, 1.1e-3, 1.1e-3, 0.0};
      cell.repeats = s < 2 ? 5 : 0;
      if (s == 0) cell.trace = {{1.0, 1.1e-4, 0.3, 0.5}, {10.0, 2e-4, 0.2, 0.1}, {100.0, 1.1e-3, 1e-5, 1e-5}};
      store.cells.push_back(cell);
    }
  }
  return store;
}

const BudgetErrors* table_of(const Analysis& analysis, Cost cost, const std::string& family = {}) {
  const auto found = std::ranges::find_if(
      analysis.budgets, [&](const BudgetErrors& one) { return one.cost == cost && one.family == family; });
  return found == analysis.budgets.end() ? nullptr : &*found;
}

const BudgetErrors::Row* row_of(const Analysis& analysis, const BudgetErrors& table, const std::string& solver) {
  const auto found = std::ranges::find_if(table.rows, [&](const BudgetErrors::Row& row) {
    return analysis.columns[row.column].configuration->solver == solver;
  });
  return found == table.rows.end() ? nullptr : &*found;
}

std::vector<double> values(const std::vector<std::optional<double>>& list) {
  std::vector<double> numbers;
  for (const auto& value : list) numbers.push_back(value.value_or(-1.0));
  return numbers;
}

TEST(Budgets, ErrorsAreThoseOfTheLastCheckedIterate) {
  const StoreContents store = three_solvers();
  const Analysis analysis = analyse(store, false);
  const BudgetErrors* const table = table_of(analysis, Cost::iterations);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->budgets, (std::vector<double>{1, 3, 10, 30, 100}));
  EXPECT_EQ(values(row_of(analysis, *table, "NSGS")->median), (std::vector<double>{0.5, 0.5, 0.1, 0.1, 1e-5}));
  EXPECT_EQ(values(row_of(analysis, *table, "PGS-NCP")->median), (std::vector<double>{1, 1, 1, 1, 1e-5}))
      << "that of λ = 0 until its end";
  EXPECT_EQ(values(row_of(analysis, *table, "ADMM-NCP-SA")->median), (std::vector<double>{1, 1, 1, 1, 1}))
      << "it never ran";
}

TEST(Budgets, ProductsAreInProportionAndOfThoseThatCount) {
  const StoreContents store = three_solvers();
  const Analysis analysis = analyse(store, false);
  const BudgetErrors* const table = table_of(analysis, Cost::operator_products);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->budgets, (std::vector<double>{1, 3, 10, 30, 100, 300}));
  EXPECT_EQ(values(row_of(analysis, *table, "NSGS")->median), (std::vector<double>{1, 0.5, 0.5, 0.1, 0.1, 1e-5}));
  EXPECT_EQ(row_of(analysis, *table, "PGS-NCP"), nullptr);
}

TEST(Budgets, TimesAreOfTheFirstRunAndOnlyWhereTimesAreShown) {
  StoreContents store = three_solvers();
  Analysis analysis = analyse(store, false);
  const BudgetErrors* table = table_of(analysis, Cost::time);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->budgets.size(), 4U);  // 0.1, 0.3, 1 and 3 ms
  EXPECT_EQ(values(row_of(analysis, *table, "NSGS")->median), (std::vector<double>{1, 0.1, 0.1, 1e-5}));
  store.runs[0].mode = throughput_mode;
  analysis = analyse(store, false);
  EXPECT_EQ(table_of(analysis, Cost::time), nullptr);
  EXPECT_NE(table_of(analysis, Cost::iterations), nullptr);
}

TEST(Budgets, QuantilesWeighFamiliesTheSame) {
  StoreContents store = three_solvers();
  for (CellRecord& cell : store.cells) {
    if (cell.problem == "p-chain-10" && !cell.trace.empty()) cell.trace[0].residual = 0.9;
  }
  const Analysis analysis = analyse(store, false);
  const auto* const all = row_of(analysis, *table_of(analysis, Cost::iterations), "NSGS");
  EXPECT_EQ(all->median[0], 0.5) << "half of the weight has no more";
  EXPECT_EQ(all->high[0], 0.9);
  const auto* const chain = row_of(analysis, *table_of(analysis, Cost::iterations, "Chain"), "NSGS");
  EXPECT_EQ(chain->median[0], 0.9);
}

TEST(Budgets, WithoutTracesThereAreNone) {
  StoreContents store = three_solvers();
  for (CellRecord& cell : store.cells) cell.trace.clear();
  const Analysis analysis = analyse(store, false);
  EXPECT_TRUE(analysis.budgets.empty());
  EXPECT_TRUE(traced_cells(analysis).empty());
}

TEST(Budgets, UnsolvedCellsAreTracedFirstThenTheSlowest) {
  StoreContents store = testing::large_store(30, 8);
  const Analysis analysis = analyse(store, false);
  const auto cells = traced_cells(analysis);
  ASSERT_GT(cells.size(), 100U);
  EXPECT_FALSE(cells.front()->solved);
  EXPECT_TRUE(cells.back()->solved);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    EXPECT_LE(cells[i - 1]->solved, cells[i]->solved);
    if (cells[i - 1]->solved == cells[i]->solved) {
      EXPECT_GE(cells[i - 1]->total.cold, cells[i]->total.cold);
    }
  }
}

}  // namespace
}  // namespace conebench::reports
