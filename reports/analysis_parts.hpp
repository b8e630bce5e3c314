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

/// What a reader must know before trusting a figure: several machines, builds, modes or limits; noise; gaps.
/// `superseded`: cells left out because a later run repeats them under other limits.
std::vector<Note> make_notes(const Analysis& analysis, long superseded);

/// Headline problems with a cell in the slice, and each one's weight: families weigh the same, problems of a family
/// too. The weights add up to one.
struct Scope {
  std::vector<std::size_t> problems;
  std::vector<double> weights;
  long families = 0;
};
Scope make_scope(const Analysis& analysis, std::size_t slice, const std::string& family);
CostTable cost_table(const Analysis& analysis, std::size_t slice, const Scope& scope, Cost kind);

std::vector<Cost> shown_costs(const Analysis& analysis);
void add_profiles(Analysis& analysis);

/// The performance profiles of pairs of columns, made when asked: all at once they are larger than the cells.
class PairCurves {
 public:
  explicit PairCurves(const Analysis& analysis) : analysis_(analysis) {}
  /// Of its first and its second column. Fast where the pair before was of the same slice and cost.
  std::array<Curve, 2> operator()(const Pair& pair);

 private:
  const Analysis& analysis_;
  std::optional<std::pair<std::size_t, Cost>> known_;  ///< what the table and its weights are of
  CostTable table_;
  std::vector<double> weights_;
};
void add_rankings(Analysis& analysis);
/// After add_rankings().
void add_option_studies(Analysis& analysis);

}  // namespace conebench::reports
