#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "reports/analysis_parts.hpp"

namespace conebench::reports {

namespace {

constexpr double unknown_error = std::numeric_limits<double>::infinity();
/// Steps of half a decade: 1, 3, 10, 30, …
constexpr std::size_t max_budgets = 20;
constexpr double high_quantile = 0.9;

struct Step {
  double spent = 0.0;
  double error = unknown_error;
};

/// What a cell had spent in all; nullopt: a counter that is not kept, or no run.
std::optional<double> spent_in_all(const CellRecord& cell, Cost kind) {
  if (cell.repeats == 0) return std::nullopt;
  if (kind == Cost::time) return cell.total.cold;
  const std::int64_t count = kind == Cost::iterations ? cell.iterations : cell.operator_products;
  return count < 0 ? std::nullopt : std::optional(static_cast<double>(count));
}

double error_of(double value) { return std::isfinite(value) ? value : unknown_error; }

/// The error of λ = 0, by the slice's verdict, of what starts there.
double error_at_start(const Slice& slice, const ProblemRecord& problem, const CellRecord* cell) {
  if (cell != nullptr && cell->start_used != "cold") return unknown_error;
  const auto found = problem.zero_impulse.find(slice.verdict);
  return found == problem.zero_impulse.end() ? unknown_error : found->second;
}

/// How a cell's error fell, by what it had spent. Without a trace it is that of the start until the end.
std::vector<Step> steps_of(const Slice& slice, const ProblemRecord& problem, const CellRecord* cell, Cost kind) {
  std::vector<Step> steps = {{0.0, error_at_start(slice, problem, cell)}};
  const auto all = cell == nullptr ? std::nullopt : spent_in_all(*cell, kind);
  if (!all) return steps;
  for (const TracePoint& point : cell->trace) {
    steps.push_back({spent_at(*cell, point, kind), error_of(error_at(point))});
  }
  if (cell->verdict_value) steps.push_back({*all, error_of(*cell->verdict_value)});
  return steps;
}

/// Half decades from the first one at which something is known up to the first one at which all have ended.
std::vector<double> budgets_of(const Slice& slice, const Scope& scope, Cost kind) {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const std::size_t p : scope.problems) {
    for (const CellRecord* cell : slice.grid[p]) {
      const auto all = cell == nullptr ? std::nullopt : spent_in_all(*cell, kind);
      if (!all || !(*all > 0.0)) continue;
      const double first = cell->trace.empty() ? *all : spent_at(*cell, cell->trace.front(), kind);
      if (first > 0.0) least = std::min(least, first);
      most = std::max(most, *all);
    }
  }
  std::vector<double> budgets;
  if (!(least <= most)) return budgets;
  for (int k = static_cast<int>(std::floor(2.0 * std::log10(least))); budgets.empty() || budgets.back() < most; ++k) {
    // By its digits: 3 times 1e-5 is 3.0000000000000004e-5.
    const std::string digits = fmt::format("{}e{}", k % 2 == 0 ? 1 : 3, static_cast<int>(std::floor(0.5 * k)));
    budgets.push_back(std::strtod(digits.c_str(), nullptr));
  }
  if (budgets.size() > max_budgets) budgets.erase(budgets.begin(), budgets.end() - max_budgets);
  return budgets;
}

/// The least value that at least `share` of the weight does not exceed.
std::optional<double> weighted_quantile(std::vector<std::pair<double, double>>& values, double share) {
  std::sort(values.begin(), values.end());
  double below = 0.0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= share - 1e-12) return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

BudgetErrors::Row errors_of(const Analysis& analysis, const Scope& scope, const BudgetErrors& table,
                            std::size_t column) {
  const Slice& slice = analysis.slices[table.slice];
  std::vector<std::vector<std::pair<double, double>>> left(table.budgets.size());  // by budget: error and weight
  for (std::size_t i = 0; i < scope.problems.size(); ++i) {
    const std::size_t p = scope.problems[i];
    const auto steps = steps_of(slice, *analysis.problems[p].record, slice.grid[p][column], table.cost);
    std::size_t at = 0;
    for (std::size_t b = 0; b < table.budgets.size(); ++b) {
      while (at + 1 < steps.size() && steps[at + 1].spent <= table.budgets[b]) ++at;
      left[b].emplace_back(steps[at].error, scope.weights[i]);
    }
  }
  BudgetErrors::Row row;
  row.column = column;
  for (auto& errors : left) {
    row.median.push_back(weighted_quantile(errors, 0.5));
    row.high.push_back(weighted_quantile(errors, high_quantile));
  }
  return row;
}

}  // namespace

double spent_at(const CellRecord& cell, const TracePoint& point, Cost kind) {
  if (kind == Cost::time) return point.seconds;
  if (kind == Cost::iterations || cell.iterations <= 0) return point.iteration;
  return point.iteration * static_cast<double>(cell.operator_products) / static_cast<double>(cell.iterations);
}

double error_at(const TracePoint& point) { return std::isnan(point.residual) ? point.own_residual : point.residual; }

std::vector<const CellRecord*> traced_cells(const Analysis& analysis) {
  std::vector<const CellRecord*> cells;
  for (const Slice& slice : analysis.slices) {
    for (const auto& row : slice.grid) {
      for (const CellRecord* cell : row) {
        if (cell != nullptr && !cell->trace.empty()) cells.push_back(cell);
      }
    }
  }
  std::stable_sort(cells.begin(), cells.end(), [](const CellRecord* a, const CellRecord* b) {
    return std::pair(a->solved, -a->total.cold) < std::pair(b->solved, -b->total.cold);
  });
  return cells;
}

void add_budgets(Analysis& analysis) {
  std::vector<std::string> scopes{""};
  if (analysis.families.size() > 1) scopes.insert(scopes.end(), analysis.families.begin(), analysis.families.end());
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Slice& slice = analysis.slices[s];
    const bool traced = std::ranges::any_of(slice.grid, [](const auto& row) {
      return std::ranges::any_of(row, [](const auto* cell) { return cell != nullptr && !cell->trace.empty(); });
    });
    if (!traced) continue;
    for (const Cost kind : {Cost::time, Cost::iterations, Cost::operator_products}) {
      if (kind == Cost::time && !analysis.times_shown) continue;
      const auto budgets = budgets_of(slice, make_scope(analysis, s, ""), kind);
      if (budgets.empty()) continue;
      for (const std::string& family : scopes) {
        const Scope scope = make_scope(analysis, s, family);
        if (scope.problems.empty()) continue;
        BudgetErrors table{s, family, kind, static_cast<long>(scope.problems.size()), budgets, {}};
        for (const std::size_t column : counting_columns(analysis, s, kind)) {
          table.rows.push_back(errors_of(analysis, scope, table, column));
        }
        analysis.budgets.push_back(std::move(table));
      }
    }
  }
}

}  // namespace conebench::reports
