#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "reports/analysis_parts.hpp"

namespace conebench::reports {

namespace {

/// Share of `yes` among `counted`, families weighing the same; nothing where nothing is counted.
class FamilyShare {
 public:
  void add(const std::string& family, bool yes) {
    auto& [good, all] = counts_[family];
    good += yes;
    ++all;
  }
  std::optional<double> value() const {
    if (counts_.empty()) return std::nullopt;
    double sum = 0.0;
    for (const auto& [family, count] : counts_) {
      sum += static_cast<double>(count.first) / static_cast<double>(count.second);
    }
    return sum / static_cast<double>(counts_.size());
  }

 private:
  std::map<std::string, std::pair<long, long>> counts_;
};

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::optional<double> sample_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = *mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

void count(Tally& tally, Outcome what) {
  switch (what) {
    case Outcome::solved: ++tally.solved; break;
    case Outcome::false_claim: ++tally.false_claim; break;
    case Outcome::failed: ++tally.failed; break;
    case Outcome::unsupported: ++tally.unsupported; break;
    case Outcome::not_run: ++tally.not_run; break;
  }
}

bool passes_relative_only(const CellRecord& cell) {
  const auto relative = cell.residuals.find("natural_map_relative");
  const auto scaled = cell.residuals.find("natural_map_scaled");
  if (relative == cell.residuals.end() || scaled == cell.residuals.end()) return false;
  if (!relative->second.value || *relative->second.value > cell.tolerance) return false;
  if (!scaled->second.missing.empty()) return false;  // not known, so not failed
  return !scaled->second.value || *scaled->second.value > cell.tolerance;
}

const Curve& curve_of(const Analysis& analysis, const Ranking& ranking, std::size_t column) {
  for (const auto& profile : analysis.profiles) {
    if (profile.slice == ranking.slice && profile.family == ranking.family && profile.cost == ranking.cost) {
      return profile.performance[column];
    }
  }
  throw std::out_of_range("no profile for a ranking");
}

class ScopeRanking {
 public:
  ScopeRanking(const Analysis& analysis, std::size_t slice, const std::string& family)
      : analysis_(analysis), scope_(make_scope(analysis, slice, family)), grid_(analysis.slices[slice].grid) {
    ranking_.slice = slice;
    ranking_.family = family;
    ranking_.problems = static_cast<long>(scope_.problems.size());
    ranking_.families = scope_.families;
    ranking_.cost = shown_cost(analysis);
    for (const std::size_t p : scope_.problems) {
      for (const auto* cell : grid_[p]) {
        if (cell != nullptr) limit_s_ = std::max(limit_s_, cell->limit_s);
      }
    }
  }

  Ranking make() {
    for (std::size_t c = 0; c < analysis_.columns.size(); ++c) ranking_.rows.push_back(count_row(c));
    find_common_subset();
    if (analysis_.times_shown) {
      for (auto& row : ranking_.rows) add_times(row);
      add_best_of_all();
    }
    for (const std::size_t p : scope_.problems) {
      ranking_.solved_by_any += std::any_of(grid_[p].begin(), grid_[p].end(),
                                            [](const auto* cell) { return outcome(cell) == Outcome::solved; });
    }
    std::sort(ranking_.rows.begin(), ranking_.rows.end(), [&](const RankingRow& a, const RankingRow& b) {
      if (a.solved_share != b.solved_share) return a.solved_share > b.solved_share;
      const double infinite = std::numeric_limits<double>::infinity();
      const double time_a = a.means.at_limit.value_or(infinite);
      const double time_b = b.means.at_limit.value_or(infinite);
      return time_a != time_b ? time_a < time_b : a.column < b.column;
    });
    return std::move(ranking_);
  }

 private:
  RankingRow count_row(std::size_t c) const {
    RankingRow row;
    row.column = c;
    FamilyShare all;
    FamilyShare supported;
    std::vector<double> iterations;
    std::vector<double> factorizations;
    std::vector<double> products;
    for (const std::size_t p : scope_.problems) {
      const CellRecord* cell = grid_[p][c];
      const std::string& family = analysis_.problems[p].record->family;
      const Outcome what = outcome(cell);
      const bool solved = what == Outcome::solved;
      count(row.tally, what);
      all.add(family, solved);
      if (what == Outcome::unsupported || what == Outcome::not_run) continue;
      supported.add(family, solved);
      (cell->claimed ? (solved ? row.claims.claimed_solved : row.claims.claimed_unsolved)
                     : (solved ? row.claims.silent_solved : row.claims.silent_unsolved)) += 1;
      row.passes_relative_only += passes_relative_only(*cell);
      if (!solved) continue;
      iterations.push_back(static_cast<double>(cell->iterations));
      factorizations.push_back(static_cast<double>(cell->factorizations));
      products.push_back(static_cast<double>(cell->operator_products));
    }
    row.solved_share = all.value().value_or(0.0);
    row.supported_share = supported.value();
    if (!iterations.empty()) row.median_iterations = median(iterations);
    row.mean_factorizations = mean_of(factorizations);
    row.mean_products = mean_of(products);
    if (ranking_.problems > 0) {
      const Curve& curve = curve_of(analysis_, ranking_, c);
      row.rho_one = !curve.x.empty() && curve.x.front() <= 1.0 ? curve.y.front() : 0.0;
      row.rho_infinity = curve.y.empty() ? 0.0 : curve.y.back();
    }
    return row;
  }

  void find_common_subset() {
    std::vector<std::size_t> members;
    for (const auto& row : ranking_.rows) {
      if (ranking_.problems > 0 && 2 * row.tally.solved >= ranking_.problems) members.push_back(row.column);
    }
    ranking_.common_columns = static_cast<long>(members.size());
    common_.assign(scope_.problems.size(), false);
    for (std::size_t i = 0; i < scope_.problems.size() && !members.empty(); ++i) {
      common_[i] = std::all_of(members.begin(), members.end(),
                               [&](std::size_t c) { return outcome(grid_[scope_.problems[i]][c]) == Outcome::solved; });
      ranking_.common_problems += common_[i];
    }
  }

  /// The scope's mean of log(t + shift), families weighing the same; an unsolved problem counts with `unsolved_s`.
  double geometric_mean(const std::vector<std::optional<double>>& times, double unsolved_s) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      sum += scope_.weights[i] * std::log(times[i].value_or(unsolved_s) + analysis_.shift_s);
    }
    return std::exp(sum) - analysis_.shift_s;
  }

  void add_times(RankingRow& row) const {
    if (scope_.problems.empty()) return;
    std::vector<std::optional<double>> times;
    for (const std::size_t p : scope_.problems) times.push_back(cost(grid_[p][row.column], Cost::time));
    row.means.at_limit = geometric_mean(times, limit_s_);
    row.means.penalised = geometric_mean(times, analysis_.penalty_factor * limit_s_);
    std::vector<double> common;
    double weight = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!common_[i]) continue;
      if (!times[i]) return;  // not one of the columns that make the common subset
      common.push_back(*times[i]);
      weight += scope_.weights[i];
      sum += scope_.weights[i] * std::log(*times[i] + analysis_.shift_s);
    }
    if (common.empty()) return;
    row.means.common = std::exp(sum / weight) - analysis_.shift_s;
    row.time_mean = mean_of(common);
    row.time_deviation = sample_deviation(common);
  }

  void add_best_of_all() {
    if (scope_.problems.empty()) return;
    std::vector<std::optional<double>> best;
    for (const std::size_t p : scope_.problems) {
      auto& least = best.emplace_back();
      for (const auto* cell : grid_[p]) {
        const auto spent = cost(cell, Cost::time);
        if (spent && (!least || *spent < *least)) least = spent;
      }
    }
    ranking_.best_of_all = geometric_mean(best, limit_s_);
  }

  const Analysis& analysis_;
  Scope scope_;
  const std::vector<std::vector<const CellRecord*>>& grid_;
  Ranking ranking_;
  double limit_s_ = 0.0;
  std::vector<bool> common_;  // per problem of the scope
};

}  // namespace

void add_rankings(Analysis& analysis) {
  std::vector<std::string> families{""};
  families.insert(families.end(), analysis.families.begin(), analysis.families.end());
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (const auto& family : families) analysis.rankings.push_back(ScopeRanking(analysis, s, family).make());
  }
}

}  // namespace conebench::reports
