#include "reports/ranking_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/suggestion.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// A ratio over few problems is not the best one.
Cell times_best_cell(const Analysis&, const Ranking& ranking, const RankingRow& row) {
  Cell cell(row.times_best);
  cell.competes = 2 * row.tally.solved >= ranking.problems;
  return cell;
}

const std::array<RankingColumn, 18>& column_table() {
  using A = Analysis;
  using R = Ranking;
  using Row = RankingRow;
  constexpr auto count = Format::count, share = Format::share, time = Format::time, number = Format::number;
  constexpr auto low = Best::lowest, high = Best::highest;
  static const std::array<RankingColumn, 18> columns{{
      {"solved", "problems solved", "solved", "Solved", "problems solved, counted one by one", count, high, 0,
       [](const A&, const R&, const Row& row) { return Cell(row.tally.solved); }},
      {"solved_share", "share ({} equal)", "{} mean", "{} mean [\\%]", "share solved, every {} of equal weight", share,
       high, 0, [](const A&, const R&, const Row& row) { return Cell(row.solved_share); }},
      {"supported_share", "of supported", "of supp.", "Of supported [\\%]",
       "the same share, of the problems that the solver takes", share, high, 0,
       [](const A&, const R&, const Row& row) { return Cell(row.supported_share); }},
      {"time_at_limit", "at limit", "time", "At limit", "mean time; an unsolved problem counts with its time limit",
       time, low, 0, [](const A&, const R&, const Row& row) { return Cell(row.means.at_limit); }},
      {"time_cold", "cold", "cold", "Cold", "the same of first runs", time, low, 2,
       [](const A&, const R&, const Row& row) { return Cell(row.means.cold); }},
      {"time_penalised", "penalised", "penalised", "Penalised", "an unsolved problem counts with ten times the limit",
       time, low, 0, [](const A&, const R&, const Row& row) { return Cell(row.means.penalised); }},
      {"time_common", "common", "common", "Common",
       "mean time over the problems that all solvers solve which solve at least half", time, low, 5,
       [](const A&, const R&, const Row& row) { return Cell(row.means.common); }},
      {"times_best", "× best", "×best", "$\\times$ best",
       "mean ratio to the shortest time of the problem, over what a solver solves", number, low, 3, times_best_cell},
      {"time_mean", "mean ± std (common)", "mean ± sd", "Mean $\\pm$ sd",
       "plain mean and standard deviation over the common problems", time, low, 0,
       [](const A&, const R&, const Row& row) { return Cell::mean(row.time_mean, row.time_deviation); }},
      {"rho_1", "ρ(1)", "ρ(1)", "$\\rho(1)$ [\\%]", "share of problems on which it is the best", share, high, 6,
       [](const A&, const R&, const Row& row) { return Cell(row.rho_one); }},
      {"rho_inf", "ρ(∞)", "ρ(∞)", "$\\rho(\\infty)$ [\\%]", "share that it solves at all", share, high, 7,
       [](const A&, const R&, const Row& row) { return Cell(row.rho_infinity); }},
      {"false_claim", "false claims", "false", "False claims", "answers called converged that the judge refutes", count,
       low, 0, [](const A&, const R&, const Row& row) { return Cell(row.tally.false_claim); }},
      {"failed", "failed", "failed", "Failed", "problems neither solved nor claimed", count, low, 0,
       [](const A&, const R&, const Row& row) { return Cell(row.tally.failed); }},
      {"unsupported", "unsupported", "unsup.", "Unsupported", "problems that the solver does not take", count,
       Best::none, 4, [](const A&, const R&, const Row& row) { return Cell(row.tally.unsupported); }},
      {"not_run", "not run", "not run", "Not run", "problems not run", count, Best::none, 0,
       [](const A&, const R&, const Row& row) { return Cell(row.tally.not_run); }},
      {"median_iterations", "iterations (median)", "iterations", "Iterations", "median over solved problems", number,
       Best::none, 0, [](const A&, const R&, const Row& row) { return Cell(row.median_iterations); }},
      {"mean_factorizations", "factorizations (mean)", "factor.", "Factorizations", "mean over solved problems", number,
       Best::none, 0, [](const A&, const R&, const Row& row) { return Cell(row.mean_factorizations); }},
      {"mean_operator_products", "products (mean)", "products", "Products", "mean of products with $G$", number,
       Best::none, 0, [](const A&, const R&, const Row& row) { return Cell(row.mean_products); }},
  }};
  return columns;
}

/// '*' stands for any text; letters of either case.
bool fits_pattern(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return fits_pattern(text, pattern.substr(1)) || (!text.empty() && fits_pattern(text.substr(1), pattern));
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return !text.empty() && lower(text.front()) == lower(pattern.front()) &&
         fits_pattern(text.substr(1), pattern.substr(1));
}

bool fits_a_pattern(std::string_view text, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return fits_pattern(text, pattern); });
}

/// Nothing where each pattern fits a name.
Result<void> check_names(const char* option, const char* what, const std::vector<std::string>& patterns,
                         const std::vector<std::string>& names) {
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(names, [&](const std::string& name) { return fits_pattern(name, pattern); })) continue;
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: no {} of the store is called '{}'; {}known: {}", option, what, one_line(pattern),
                             did_you_mean(pattern, names), shorten(fmt::format("{}", fmt::join(names, ", ")), 400))};
  }
  return {};
}

}  // namespace

std::span<const RankingColumn> ranking_columns() { return column_table(); }

std::vector<const RankingColumn*> shown_columns(const Analysis& analysis, std::span<const std::string_view> usual) {
  std::vector<std::string_view> ids(usual.begin(), usual.end());
  if (!analysis.view.columns.empty()) ids.assign(analysis.view.columns.begin(), analysis.view.columns.end());
  std::vector<const RankingColumn*> columns;
  for (const std::string_view id : ids) {
    const auto found =
        std::ranges::find_if(column_table(), [id](const RankingColumn& column) { return column.id == id; });
    if (found == column_table().end() || (found->is_time() && !analysis.times_shown)) continue;
    columns.push_back(&*found);
  }
  return columns;
}

bool is_shown(const Analysis& analysis, std::size_t column) {
  const ReportView& view = analysis.view;
  const Column& one = analysis.columns[column];
  return (view.solvers.empty() || fits_a_pattern(one.configuration->solver, view.solvers)) &&
         (view.rows.empty() || fits_a_pattern(one.label, view.rows));
}

std::vector<RankingRow> shown_rows(const Analysis& analysis, const Ranking& ranking, std::size_t most) {
  const ReportView& view = analysis.view;
  std::vector<RankingRow> rows;
  const bool is_chosen = view.first_rows > 0 || !view.solvers.empty() || !view.rows.empty();
  const std::size_t limit = is_chosen ? view.first_rows : most;
  for (const RankingRow& row : ranking.rows) {
    if (limit > 0 && rows.size() == limit) break;
    if (is_shown(analysis, row.column)) rows.push_back(row);
  }
  return rows;
}

long rank_of(const Ranking& ranking, const RankingRow& row) {
  const auto found = std::ranges::find(ranking.rows, row.column, &RankingRow::column);
  return found - ranking.rows.begin() + 1;
}

std::vector<std::string> shown_families(const Analysis& analysis) {
  if (analysis.view.families.empty()) return analysis.families;
  std::vector<std::string> families;
  for (const std::string& pattern : analysis.view.families) {
    for (const std::string& family : analysis.families) {
      if (fits_pattern(family, pattern) && std::ranges::find(families, family) == families.end())
        families.push_back(family);
    }
  }
  return families;
}

std::string view_text(const Analysis& analysis, const Ranking& ranking) {
  const std::size_t shown = shown_rows(analysis, ranking).size(), all = ranking.rows.size();
  if (shown == all) return {};
  return fmt::format(
      "{} of {} configurations are shown; ranks, ratios to the best and the common subset are those of all {}", shown,
      all, all);
}

}  // namespace conebench::reports

namespace conebench {

Result<ReportView> parse_view(const ViewText& text) {
  ReportView view;
  const auto list = [](const std::string& words) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < words.size();) {
      const std::size_t end = std::min(words.find(',', begin), words.size());
      if (end > begin) parts.push_back(words.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  };
  view.columns = list(text.columns);
  view.solvers = list(text.solvers);
  view.families = list(text.families);
  const bool is_number = !text.rows.empty() && text.rows.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) {
    view.first_rows = text.rows.size() < 7 ? std::stoul(text.rows) : 1'000'000;
    if (view.first_rows == 0) return Error{ErrorCode::wrong_usage, "--rows: 0 rows would leave nothing to show"};
  } else {
    view.rows = list(text.rows);
  }
  std::vector<std::string> known;
  for (const reports::RankingColumn& column : reports::ranking_columns()) known.emplace_back(column.id);
  if (text.columns == "all") view.columns = known;
  for (const std::string& id : view.columns) {
    if (std::ranges::find(known, id) != known.end()) continue;
    return Error{ErrorCode::wrong_usage, fmt::format("--columns: no column is called '{}'; {}known: all, {}",
                                                     one_line(id), did_you_mean(id, known), fmt::join(known, ", "))};
  }
  return view;
}

Result<void> check_view(const ReportView& view, const StoreContents& contents) {
  if (view.rows.empty() && view.solvers.empty() && view.families.empty()) return {};
  const reports::Analysis analysis = reports::analyse(contents, false);
  std::vector<std::string> labels, solvers;
  for (const reports::Column& column : analysis.columns) {
    labels.push_back(column.label);
    solvers.push_back(column.configuration->solver);
  }
  std::ranges::sort(solvers);
  solvers.erase(std::unique(solvers.begin(), solvers.end()), solvers.end());
  CONEBENCH_CHECK(reports::check_names("--rows", "configuration", view.rows, labels));
  CONEBENCH_CHECK(reports::check_names("--solvers", "solver", view.solvers, solvers));
  return reports::check_names("--families", contents.group.c_str(), view.families, analysis.families);
}

}  // namespace conebench
