#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/cost_table.hpp"
#include "reports/analysis.hpp"

/// Steps of analyse(), apart for their size.
namespace conebench::reports {

/// Warnings for the reader: several machines, builds, modes or limits; noise; gaps. `superseded`: number of cells left
/// out because a later run repeats them under other limits.
std::vector<Note> make_notes(const Analysis& analysis, long superseded);

/// Headline problems with a cell in the slice, and their weights, which sum to 1. All families have the same weight,
/// and so have all problems of one family.
struct Scope {
  std::vector<std::size_t> problems;
  std::vector<double> weights;
  long families = 0;
};
Scope make_scope(const Analysis& analysis, std::size_t slice, const std::string& family);
CostTable cost_table(const Analysis& analysis, std::size_t slice, const Scope& scope, Cost kind);

std::vector<Cost> shown_costs(const Analysis& analysis);
/// Ranked columns whose solved cells of this slice all have the cost: a counter that a solver's library does not keep
/// would otherwise read as unsolved.
std::vector<std::size_t> counting_columns(const Analysis& analysis, std::size_t slice, Cost kind);
void add_budgets(Analysis& analysis);
void add_profiles(Analysis& analysis);

/// Performance profiles of pairs of columns. They are computed on request, because all of them are larger than the
/// cells.
class PairCurves {
 public:
  explicit PairCurves(const Analysis& analysis) : analysis_(analysis) {}
  /// The curves of the first and the second column. Fast if the previous pair had the same slice and cost.
  std::array<Curve, 2> operator()(const Pair& pair);

 private:
  const Analysis& analysis_;
  std::optional<std::pair<std::size_t, Cost>> known_;  ///< slice and cost of table_ and weights_
  CostTable table_;
  std::vector<double> weights_;
};
void add_rankings(Analysis& analysis);
/// After add_rankings().
void add_option_studies(Analysis& analysis);

}  // namespace conebench::reports
