#include <algorithm>

#include "metrics/profiles.hpp"
#include "reports/analysis_parts.hpp"

namespace conebench::reports {

Scope make_scope(const Analysis& analysis, std::size_t slice, const std::string& family) {
  Scope scope;
  std::vector<std::string> families;
  for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
    const Problem& problem = analysis.problems[p];
    if (!problem.counted[slice] || (!family.empty() && problem.record->family != family)) continue;
    const auto& row = analysis.slices[slice].grid[p];
    if (std::none_of(row.begin(), row.end(), [](const auto* cell) { return cell != nullptr; })) continue;
    scope.problems.push_back(p);
    families.push_back(problem.record->family);
  }
  scope.weights = family_weights(families);
  std::sort(families.begin(), families.end());
  scope.families = std::unique(families.begin(), families.end()) - families.begin();
  return scope;
}

CostTable cost_table(const Analysis& analysis, std::size_t slice, const Scope& scope, Cost kind) {
  CostTable table;
  for (const std::size_t p : scope.problems) {
    auto& row = table.emplace_back();
    for (const auto* cell : analysis.slices[slice].grid[p]) row.push_back(cost(cell, kind));
  }
  return table;
}

std::vector<Cost> shown_costs(const Analysis& analysis) {
  std::vector<Cost> costs;
  for (const Cost kind : all_costs) {
    if (kind == Cost::condensed_time && !analysis.condensation_shown) continue;
    if (analysis.times_shown || !is_time(kind)) costs.push_back(kind);
  }
  return costs;
}

std::vector<std::size_t> counting_columns(const Analysis& analysis, std::size_t slice, Cost kind) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    const auto& grid = analysis.slices[slice].grid;
    const bool counts = std::all_of(grid.begin(), grid.end(), [&](const auto& row) {
      return is_time(kind) || outcome(row[c]) != Outcome::solved || cost(row[c], kind).has_value();
    });
    if (counts && analysis.slices[slice].ranked[c]) columns.push_back(c);
  }
  return columns;
}

namespace {

Curve curve_of(std::size_t column, StepFunction steps) { return {column, std::move(steps.x), std::move(steps.y)}; }

/// Every pair where there are more than two columns: of two the profile itself says it all.
void add_pairs(Analysis& analysis, std::size_t slice, Cost kind, const CostTable& table,
               const std::vector<std::size_t>& columns) {
  if (columns.size() <= 2) return;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i + 1; j < columns.size(); ++j) {
      const PairProfile pair = pair_counts(table, i, j);
      analysis.pairs.push_back({slice, kind, columns[i], columns[j], static_cast<long>(pair.first_better),
                                static_cast<long>(pair.ties), static_cast<long>(pair.second_better),
                                static_cast<long>(pair.neither)});
    }
  }
}

}  // namespace

std::array<Curve, 2> PairCurves::operator()(const Pair& pair) {
  if (const std::pair wanted{pair.slice, pair.cost}; known_ != wanted) {
    Scope scope = make_scope(analysis_, pair.slice, "");
    table_ = cost_table(analysis_, pair.slice, scope, pair.cost);
    weights_ = std::move(scope.weights);
    known_ = wanted;
  }
  auto curves = pair_profile(table_, pair.first, pair.second, weights_).profile.curves;
  return {curve_of(pair.first, std::move(curves[0])), curve_of(pair.second, std::move(curves[1]))};
}

void add_profiles(Analysis& analysis) {
  std::vector<std::string> scopes{""};
  scopes.insert(scopes.end(), analysis.families.begin(), analysis.families.end());
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (const auto& family : scopes) {
      const Scope scope = make_scope(analysis, s, family);
      for (const Cost kind : shown_costs(analysis)) {
        Profile profile{s, family, kind, static_cast<long>(scope.problems.size()), {}, {}, {}, {}};
        const auto columns = counting_columns(analysis, s, kind);
        CostTable table;
        for (const auto& row : cost_table(analysis, s, scope, kind)) {
          auto& kept = table.emplace_back();
          for (const std::size_t c : columns) kept.push_back(row[c]);
        }
        if (!table.empty() && !columns.empty()) {
          PerformanceProfile performance = performance_profile(table, scope.weights);
          auto data = data_profile(table, {}, scope.weights);
          profile.rho_one.resize(analysis.columns.size());
          profile.rho_infinity.resize(analysis.columns.size());
          for (std::size_t k = 0; k < columns.size(); ++k) {
            profile.performance.push_back(curve_of(columns[k], std::move(performance.curves[k])));
            profile.data.push_back(curve_of(columns[k], std::move(data[k])));
            profile.rho_one[columns[k]] = performance.rho_one[k];
            profile.rho_infinity[columns[k]] = performance.rho_infinity[k];
          }
          if (family.empty()) add_pairs(analysis, s, kind, table, columns);
        }
        analysis.profiles.push_back(std::move(profile));
      }
    }
  }
}

}  // namespace conebench::reports
