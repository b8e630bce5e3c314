#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis.hpp"
#include "reports/table_layout.hpp"

/// The columns that a ranking can have, and which of its rows and columns are shown.
namespace conebench::reports {

struct RankingColumn {
  std::string_view id;       ///< for --columns; of ranking.csv, without the unit
  std::string_view heading;  ///< in Markdown
  std::string_view narrow;   ///< on a terminal
  std::string_view latex;    ///< in LaTeX
  std::string_view meaning;  ///< for a caption or legend, in LaTeX
  Format format = Format::count;
  Best best = Best::none;
  int leaves = 0;  ///< as TableColumn::leaves
  Cell (*cell)(const Analysis&, const Ranking&, const RankingRow&) = nullptr;

  bool is_time() const { return format == Format::time || id == "times_best"; }
};

/// All of them, in the order in which they are shown.
std::span<const RankingColumn> ranking_columns();

/// Those that the view chooses, in its order, else those of `usual`. Columns of times are left out where times are.
std::vector<const RankingColumn*> shown_columns(const Analysis& analysis, std::span<const std::string_view> usual);

/// The rows that the view chooses, in the order of the ranking. At most `most`, where the view has no choice of rows or
/// solvers; 0: all.
std::vector<RankingRow> shown_rows(const Analysis& analysis, const Ranking& ranking, std::size_t most = 0);
/// From 1, among all rows of the ranking.
long rank_of(const Ranking& ranking, const RankingRow& row);
/// Whether the view shows the column somewhere.
bool is_shown(const Analysis& analysis, std::size_t column);

/// Families that the view chooses, in its order; else all.
std::vector<std::string> shown_families(const Analysis& analysis);

/// "10 of 43 configurations are shown; ranks, ratios to the best and the common subset are those of all 43"; empty
/// where all are.
std::string view_text(const Analysis& analysis, const Ranking& ranking);

}  // namespace conebench::reports
