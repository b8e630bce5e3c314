#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/formats.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr std::size_t families_a_table = 5;

/// Beside a table, where they stay with it in another document and out of its caption.
std::string warnings(const Analysis& analysis) {
  std::string text;
  for (const auto& note : analysis.notes) {
    if (note.level == Note::Level::warning) text += "% Warning: " + one_line(note.text) + "\n";
  }
  return text;
}

/// Whose the solvers are, and which of their times are doubtful, to end a caption.
std::string marks(const Analysis& analysis, const Ranking& ranking) {
  std::string text = own_legend(analysis).empty() ? "" : " $^{*}$: by Conebench's authors.";
  const std::vector<std::string> peers = peer_lines(analysis);
  if (!peers.empty()) text += " Other projects' code: " + latex(fmt::format("{}", fmt::join(peers, "; "))) + ".";
  const std::string doubts = doubt_text(analysis, ranking);
  return text + (doubts.empty() ? "" : fmt::format(" $^{{{}}}$: {}.", doubt_mark, latex(doubts)));
}

TableOf<RankingRow> solver_table(const Analysis& analysis) {
  TableOf<RankingRow> table;
  table.add({.heading = "Solver", .markup = true}, [&](const auto& row) {
    const Column& column = analysis.columns[row.column];
    return latex(column.label) + (is_own(*column.configuration) ? "$^{*}$" : "") +
           (row.doubts.empty() ? "" : fmt::format("$^{{{}}}$", doubt_mark));
  });
  return table;
}

std::string ranking_table(const Analysis& analysis, const Ranking& ranking, const std::string& number) {
  const Slice& slice = analysis.slices[ranking.slice];
  TableOf<RankingRow> table = solver_table(analysis);
  table.add({"Solved [%]", Format::share, Best::highest}, &RankingRow::solved_share);
  if (analysis.times_shown) {
    table.add({"At limit [ms]", Format::time, Best::lowest}, [](const auto& row) { return row.means.at_limit; });
    table.add({"Cold [ms]", Format::time, Best::lowest}, [](const auto& row) { return row.means.cold; });
    table.add({"Penalised [ms]", Format::time, Best::lowest}, [](const auto& row) { return row.means.penalised; });
    table.add({"Common [ms]", Format::time, Best::lowest}, [](const auto& row) { return row.means.common; });
    table.add({"$\\times$ best", Format::number, Best::lowest, true}, [&](const auto& row) {
      Cell cell(row.times_best);
      cell.competes = 2 * row.tally.solved >= ranking.problems;
      return cell;
    });
  }
  table.add({"$\\rho(1)$ [\\%]", Format::share, Best::highest, true}, &RankingRow::rho_one);
  table.add({"$\\rho(\\infty)$ [\\%]", Format::share, Best::highest, true}, &RankingRow::rho_infinity);
  table.add({"False claims", Format::count, Best::lowest}, [](const auto& row) { return row.tally.false_claim; });
  std::string caption =
      fmt::format("{} at tolerance {} ({}, {}, {} start): {} in {} of equal weight.", latex(analysis.title),
                  latex(slice.label), latex(slice.verdict), latex(stop_by_text(analysis, slice)), latex(slice.start),
                  plural(ranking.problems, "problem"), count_groups(ranking.families, analysis.contents->group));
  if (analysis.times_shown) {
    caption += fmt::format(
        " Geometric means of {}, shifted by {}; unsolved problems count with the limit (cold: the same of "
        "first runs), with {} times the limit, or only the {} of the common subset count. $\\times$ best: geometric "
        "mean ratio to each problem's best solver, over what a solver solves. $\\rho$: performance profile over that "
        "time.",
        title(ranking.cost), latex(human_time(analysis.shift_s)), exact(analysis.penalty_factor),
        plural(ranking.common_problems, "problem"));
  } else {
    caption += " $\\rho$: performance profile over iterations.";
  }
  caption += marks(analysis, ranking);
  for (const auto& remark : ranking.remarks) caption += " " + latex(remark);
  return warnings(analysis) + latex_text(table.of(ranking.rows), caption, "tab:ranking-" + number);
}

/// Mean ± standard deviation of the time per family, over each family's common subset.
std::string family_tables(const Analysis& analysis, std::size_t slice, std::size_t number) {
  const Ranking& all = analysis.ranking(slice);
  std::string out;
  for (std::size_t begin = 0; begin < analysis.families.size(); begin += families_a_table) {
    TableOf<RankingRow> table = solver_table(analysis);
    const std::size_t end = std::min(begin + families_a_table, analysis.families.size());
    for (std::size_t f = begin; f < end; ++f) {
      const Ranking* const ranking = &analysis.ranking(slice, analysis.families[f]);
      table.add({fmt::format("{} ({})", analysis.families[f], ranking->common_problems), Format::time, Best::lowest},
                [ranking](const auto& row) {
                  const RankingRow& found = ranking->row(row.column);
                  return Cell::mean(found.time_mean, found.time_deviation);
                });
    }
    const std::string caption = fmt::format(
        "{} at tolerance {} ({}): mean $\\pm$ standard deviation of set-up and solve time [ms] over the problems of "
        "a {} (their number in brackets) that every solver solves which solves at least half of it.{}",
        latex(analysis.title), latex(analysis.slices[slice].label),
        latex(stop_by_text(analysis, analysis.slices[slice])), analysis.contents->group, marks(analysis, all));
    out += warnings(analysis) + latex_text(table.of(all.rows), caption,
                                           fmt::format("tab:times-{}-{}", number, begin / families_a_table + 1));
  }
  return out;
}

}  // namespace

std::vector<ReportFile> latex_files(const Analysis& analysis) {
  std::string tables = "% Needs \\usepackage{booktabs,textcomp}\n";
  for (const auto& note : analysis.notes) tables += "% " + one_line(note.text) + "\n";
  tables += "\n";
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const auto rankings = analysis.rankings_of(s);
    for (std::size_t k = 0; k < rankings.size(); ++k) {
      tables += ranking_table(analysis, *rankings[k], std::to_string(s + 1) + (k > 0 ? "-second" : ""));
    }
    if (analysis.times_shown) tables += family_tables(analysis, s, s + 1);
  }
  std::string document =
      "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
      "\\usepackage{booktabs,textcomp}\n\\usepackage[a4paper,margin=2cm,landscape]{geometry}\n\\begin{document}\n";
  if (!analysis.notes.empty()) {
    document += "\\begin{itemize}\n";
    for (const auto& note : analysis.notes) document += "\\item " + latex(note.text) + "\n";
    document += "\\end{itemize}\n";
  }
  document += "\\input{tables}\n\\end{document}\n";
  std::vector<ReportFile> files;
  files.push_back({"report.tex", std::move(document)});
  files.push_back({"tables.tex", std::move(tables)});
  return files;
}

}  // namespace conebench::reports
