#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "metrics/statistics.hpp"
#include "reports/analysis_parts.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr double common_share = 0.5;  // of a scope's problems, that a column must solve to make the common subset

/// Share of `yes` among `counted`, with equal weights of families; nullopt: nothing is counted.
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
  if (!relative || !scaled) return false;
  if (!relative->value || *relative->value > cell.tolerance) return false;
  if (!scaled->missing.empty()) return false;  // not known, so not failed
  return !scaled->value || *scaled->value > cell.tolerance;
}

void add(AddedCompliance& added, const CellRecord& cell) {
  if (!(cell.compliance_share > 0.0)) return;
  const auto accepted = [&](const std::optional<double>& value) { return value && *value <= cell.tolerance; };
  added.min_alpha = added.cells == 0 ? cell.compliance_share : std::min(added.min_alpha, cell.compliance_share);
  added.max_alpha = std::max(added.max_alpha, cell.compliance_share);
  ++added.cells;
  added.verdict_solved += accepted(cell.verdict_compliant);
  added.ccp_solved += accepted(cell.ccp_compliant);
}

std::string remark(const std::string& label, const AddedCompliance& added) {
  const std::string range = added.min_alpha == added.max_alpha
                                ? human_tolerance(added.min_alpha)
                                : human_tolerance(added.min_alpha) + " … " + human_tolerance(added.max_alpha);
  return fmt::format(
      "{} answers {} with compliance added, R = {} diag(G), which is another problem: with it the verdict accepts {}, "
      "natural_map_ccp_scaled {}.",
      label, plural(added.cells, "problem"), range, added.verdict_solved, added.ccp_solved);
}

const Profile& profile_of(const Analysis& analysis, const Ranking& ranking) {
  for (const auto& profile : analysis.profiles) {
    if (profile.slice == ranking.slice && profile.family == ranking.family && profile.cost == ranking.cost) {
      return profile;
    }
  }
  throw std::out_of_range("no profile for a ranking");
}

class ScopeRanking {
 public:
  ScopeRanking(const Analysis& analysis, std::size_t slice, const std::string& family, Cost cost)
      : analysis_(analysis), scope_(make_scope(analysis, slice, family)), grid_(analysis.slices[slice].grid) {
    ranking_.slice = slice;
    ranking_.family = family;
    ranking_.problems = static_cast<long>(scope_.problems.size());
    ranking_.families = scope_.families;
    ranking_.cost = cost;
  }

  Ranking make() {
    for (std::size_t c = 0; c < analysis_.columns.size(); ++c) {
      if (analysis_.slices[ranking_.slice].ranked[c]) ranking_.rows.push_back(count_row(c));
    }
    for (const auto& row : ranking_.rows) {
      ranking_.common_columns += ranking_.problems > 0 && 2 * row.tally.solved >= ranking_.problems;
    }
    if (analysis_.times_shown && ranking_.problems > 0) add_times();
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
    for (const auto& row : ranking_.rows) {
      if (row.added_compliance.cells == 0) continue;
      ranking_.remarks.push_back(remark(analysis_.columns[row.column].label, row.added_compliance));
    }
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
      (claims(*cell) ? (solved ? row.claims.claimed_solved : row.claims.claimed_unsolved)
                     : (solved ? row.claims.silent_solved : row.claims.silent_unsolved)) += 1;
      row.passes_relative_only += passes_relative_only(*cell);
      for (const std::string& doubt : cell->doubts) ++row.doubts[doubt];
      reports::add(row.added_compliance, *cell);
      if (!solved) continue;
      if (cell->iterations >= 0) iterations.push_back(static_cast<double>(cell->iterations));
      if (cell->factorizations >= 0) factorizations.push_back(static_cast<double>(cell->factorizations));
      if (cell->operator_products >= 0) products.push_back(static_cast<double>(cell->operator_products));
    }
    row.solved_share = all.value().value_or(0.0);
    row.supported_share = supported.value();
    row.median_iterations = median(iterations);
    row.mean_factorizations = mean(factorizations);
    row.mean_products = mean(products);
    if (ranking_.problems > 0) {
      const Profile& profile = profile_of(analysis_, ranking_);
      if (profile.rho_one.empty()) return row;  // nobody keeps the counter
      row.rho_one = profile.rho_one[c];
      row.rho_infinity = profile.rho_infinity[c];
    }
    return row;
  }

  void add_times() {
    const CostTable times = cost_table(analysis_, ranking_.slice, scope_, ranking_.cost);
    const auto common = common_subset(times, common_share);
    ranking_.common_problems = static_cast<long>(common.size());
    MeanOptions options{FailureMode::at_limit, analysis_.shift_s, analysis_.penalty_factor, common_share};
    const std::vector<double> limits = time_limits();
    const auto at_limit = shifted_means(times, limits, options, scope_.weights);
    const auto cold = shifted_means(cold_times(times), limits, options, scope_.weights);
    options.mode = FailureMode::penalised;
    const auto penalised = shifted_means(times, limits, options, scope_.weights);
    options.mode = FailureMode::common_subset;
    const auto in_common = shifted_means(times, limits, options, weights_of(common));
    for (auto& row : ranking_.rows) {
      const std::size_t c = row.column;
      row.times_best = times_best(times, c);
      row.means = {at_limit[c].value, cold[c].value, penalised[c].value, in_common[c].value};
      if (!in_common[c].value) continue;
      std::vector<double> plain;
      plain.reserve(common.size());
      for (const std::size_t i : common) plain.push_back(*times[i][c]);
      row.time_mean = mean(plain);
      row.time_deviation = sample_deviation(plain);
    }
    CostTable best;
    for (std::size_t i = 0; i < times.size(); ++i) best.push_back({best_cost(times, i)});
    options.mode = FailureMode::at_limit;
    ranking_.best_of_all = shifted_means(best, limits, options, scope_.weights)[0].value;
  }

  /// `times` with the first run instead of the repeated ones.
  CostTable cold_times(CostTable times) const {
    for (std::size_t i = 0; i < times.size(); ++i) {
      for (std::size_t c = 0; c < times[i].size(); ++c) {
        if (times[i][c]) times[i][c] = cold_cost(grid_[scope_.problems[i]][c], ranking_.cost);
      }
    }
    return times;
  }

  std::optional<double> times_best(const CostTable& times, std::size_t c) const {
    std::vector<double> ratios;
    std::vector<std::string> families;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!times[i][c]) continue;
      ratios.push_back(*times[i][c] / *best_cost(times, i));
      families.push_back(family_of(i));
    }
    return geometric_mean(ratios, family_weights(families));
  }

  const std::string& family_of(std::size_t i) const { return analysis_.problems[scope_.problems[i]].record->family; }

  /// Weights of the scope's problems. Among those in `counted` all families have the same weight; the others have 0.
  std::vector<double> weights_of(const std::vector<std::size_t>& counted) const {
    std::vector<std::string> families;
    for (const std::size_t i : counted) families.push_back(family_of(i));
    const std::vector<double> known = family_weights(families);
    std::vector<double> weights(scope_.problems.size(), 0.0);
    for (std::size_t k = 0; k < counted.size(); ++k) weights[counted[k]] = known[k];
    return weights;
  }

  /// Time limit of each problem: the longest of its cells, if they differ (a note says so then).
  std::vector<double> time_limits() const {
    std::vector<double> limits;
    for (const std::size_t p : scope_.problems) {
      double& longest = limits.emplace_back(0.0);
      for (const auto* cell : grid_[p]) longest = std::max(longest, cell == nullptr ? 0.0 : cell->limit_s);
    }
    return limits;
  }

  const Analysis& analysis_;
  Scope scope_;
  const std::vector<std::vector<const CellRecord*>>& grid_;
  Ranking ranking_;
};

}  // namespace

void add_rankings(Analysis& analysis) {
  std::vector<std::string> families{""};
  families.insert(families.end(), analysis.families.begin(), analysis.families.end());
  std::vector<Cost> costs{shown_cost(analysis)};
  if (analysis.condensation_shown) costs.push_back(costs[0] == Cost::time ? Cost::condensed_time : Cost::time);
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (const auto& family : families) {
      for (const Cost cost : costs) analysis.rankings.push_back(ScopeRanking(analysis, s, family, cost).make());
    }
  }
}

}  // namespace conebench::reports
