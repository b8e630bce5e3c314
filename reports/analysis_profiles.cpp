#include <algorithm>
#include <map>

#include "reports/analysis_parts.hpp"

namespace conebench::reports {

Scope make_scope(const Analysis& analysis, std::size_t slice, const std::string& family) {
  Scope scope;
  std::map<std::string, double> count;
  for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
    const Problem& problem = analysis.problems[p];
    if (!problem.headline || (!family.empty() && problem.record->family != family)) continue;
    const auto& row = analysis.slices[slice].grid[p];
    if (std::none_of(row.begin(), row.end(), [](const auto* cell) { return cell != nullptr; })) continue;
    scope.problems.push_back(p);
    count[problem.record->family] += 1.0;
  }
  const auto families = static_cast<double>(count.size());
  for (const std::size_t p : scope.problems) {
    scope.weights.push_back(1.0 / (families * count[analysis.problems[p].record->family]));
  }
  scope.families = static_cast<long>(count.size());
  return scope;
}

std::vector<Cost> shown_costs(const Analysis& analysis) {
  std::vector<Cost> costs;
  for (const Cost kind : all_costs) {
    if (analysis.times_shown || !is_time(kind)) costs.push_back(kind);
  }
  return costs;
}

namespace {

using CostTable = std::vector<std::vector<std::optional<double>>>;  // [problem of the scope][column]

CostTable cost_table(const Analysis& analysis, std::size_t slice, const Scope& scope, Cost kind) {
  CostTable table;
  for (const std::size_t p : scope.problems) {
    auto& row = table.emplace_back();
    for (const auto* cell : analysis.slices[slice].grid[p]) row.push_back(cost(cell, kind));
  }
  return table;
}

/// Least cost of solved cells; nothing where no column solved the problem.
std::optional<double> best_of(const std::vector<std::optional<double>>& row) {
  std::optional<double> best;
  for (const auto& value : row) {
    if (value && (!best || *value < *best)) best = value;
  }
  return best;
}

/// The cumulated weight of `points` (place, weight), one step a distinct place.
Curve step_curve(std::size_t column, std::vector<std::pair<double, double>> points) {
  std::sort(points.begin(), points.end());
  Curve curve;
  curve.column = column;
  double sum = 0.0;
  for (const auto& [place, weight] : points) {
    sum += weight;
    if (!curve.x.empty() && curve.x.back() == place) {
      curve.y.back() = sum;
    } else {
      curve.x.push_back(place);
      curve.y.push_back(sum);
    }
  }
  return curve;
}

Curve performance_curve(const CostTable& table, const std::vector<double>& weights, std::size_t column) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i][column]) points.emplace_back(*table[i][column] / *best_of(table[i]), weights[i]);
  }
  return step_curve(column, std::move(points));
}

Curve data_curve(const CostTable& table, const std::vector<double>& weights, std::size_t column) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i][column]) points.emplace_back(*table[i][column], weights[i]);
  }
  return step_curve(column, std::move(points));
}

Pair make_pair(const CostTable& table, const std::vector<double>& weights, std::size_t first, std::size_t second) {
  Pair pair;
  pair.first = first;
  pair.second = second;
  CostTable two;
  for (const auto& row : table) {
    two.push_back({row[first], row[second]});
    const auto& a = two.back()[0];
    const auto& b = two.back()[1];
    if (!a && !b) {
      ++pair.neither;
    } else if (!b || (a && *a < *b)) {
      ++pair.first_better;
    } else if (!a || *b < *a) {
      ++pair.second_better;
    } else {
      ++pair.ties;
    }
  }
  pair.first_curve = performance_curve(two, weights, 0);
  pair.second_curve = performance_curve(two, weights, 1);
  pair.first_curve.column = first;
  pair.second_curve.column = second;
  return pair;
}

}  // namespace

void add_profiles(Analysis& analysis) {
  std::vector<std::string> scopes{""};
  scopes.insert(scopes.end(), analysis.families.begin(), analysis.families.end());
  const std::size_t columns = analysis.columns.size();
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (const auto& family : scopes) {
      const Scope scope = make_scope(analysis, s, family);
      for (const Cost kind : shown_costs(analysis)) {
        const CostTable table = cost_table(analysis, s, scope, kind);
        Profile profile{s, family, kind, static_cast<long>(scope.problems.size()), {}, {}};
        for (std::size_t c = 0; c < columns; ++c) {
          profile.performance.push_back(performance_curve(table, scope.weights, c));
          profile.data.push_back(data_curve(table, scope.weights, c));
        }
        analysis.profiles.push_back(std::move(profile));
        if (!family.empty() || columns <= 2) continue;
        for (std::size_t first = 0; first < columns; ++first) {
          for (std::size_t second = first + 1; second < columns; ++second) {
            Pair pair = make_pair(table, scope.weights, first, second);
            pair.slice = s;
            pair.cost = kind;
            analysis.pairs.push_back(std::move(pair));
          }
        }
      }
    }
  }
}

}  // namespace conebench::reports
