#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reports/formats.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr std::size_t families_a_table = 5;

enum class Better { lower, higher };

/// A column of figures: its values decide which one stands in bold, its texts are shown.
struct Figures {
  std::string heading;
  Better better = Better::lower;
  std::vector<std::optional<double>> values;
  std::vector<std::string> texts;  ///< math mode
  std::vector<bool> competes;      ///< rows that may be the best

  void add(const std::optional<double>& value, const std::string& text, bool may_be_best = true) {
    values.push_back(value);
    competes.push_back(may_be_best);
    texts.push_back(value ? text : "");
  }
  std::string field(std::size_t row) const {
    if (!values[row]) return "--";
    const auto beats = [&](double a, double b) { return better == Better::lower ? a < b : a > b; };
    const bool all_tie = std::all_of(values.begin(), values.end(), [&](const auto& v) { return v == values[row]; });
    bool best = competes[row] && !all_tie;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] && competes[i] && beats(*values[i], *values[row])) best = false;
    }
    return best ? "{\\boldmath$" + texts[row] + "$}" : "$" + texts[row] + "$";
  }
};

std::string table(const std::string& caption, const std::string& label, const std::vector<std::string>& names,
                  const std::vector<Figures>& columns) {
  std::string out = "\\begin{table}\n\\centering\\small\n\\caption{" + caption + "}\n\\label{" + label + "}\n";
  out += "\\begin{tabular}{l" + std::string(columns.size(), 'r') + "}\n\\toprule\nSolver";
  for (const auto& column : columns) out += " & " + column.heading;
  out += " \\\\\n\\midrule\n";
  for (std::size_t row = 0; row < names.size(); ++row) {
    out += names[row];
    for (const auto& column : columns) out += " & " + column.field(row);
    out += " \\\\\n";
  }
  return out + "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n";
}

/// In ms; `mean` and `deviation` share one power of ten.
std::string milliseconds(double mean, const std::optional<double>& deviation = std::nullopt) {
  const double ms = 1e3 * mean;
  const bool fits = ms == 0.0 || (ms >= 1e-3 && ms < 1e5);
  const int power = fits ? 0 : static_cast<int>(std::floor(std::log10(ms)));
  const double unit = std::pow(10.0, power);
  std::string text = fits ? human_number(ms) : fmt::format("{:.2f}", ms / unit);
  if (deviation) {
    const double spread = 1e3 * *deviation / unit;
    text += " \\pm " + (spread >= 1e-3 || spread == 0.0 ? human_number(spread) : std::string("{<}0.001"));
  }
  if (fits) return text;
  if (deviation) text = "(" + text + ")";
  return fmt::format("{} \\cdot 10^{{{}}}", text, power);
}

std::string percent(double value) {
  const std::string text = human_share(value);
  return text.substr(0, text.find(' '));
}

/// Beside a table, where they stay with it in another document and out of its caption.
std::string warnings(const Analysis& analysis) {
  std::string text;
  for (const auto& note : analysis.notes) {
    if (note.level == Note::Level::warning) text += "% Warning: " + one_line(note.text) + "\n";
  }
  return text;
}

/// Whose the solvers are, to end a caption.
std::string origin_sentences(const Analysis& analysis) {
  std::string text = own_legend(analysis).empty() ? "" : " $^{*}$: by Conebench's authors.";
  const std::vector<std::string> peers = peer_lines(analysis);
  if (!peers.empty()) text += " Other projects' code: " + latex(fmt::format("{}", fmt::join(peers, "; "))) + ".";
  return text;
}

std::vector<std::string> row_names(const Analysis& analysis, const Ranking& ranking) {
  std::vector<std::string> names;
  for (const auto& row : ranking.rows) {
    const Column& column = analysis.columns[row.column];
    names.push_back(latex(column.label) + (is_own(*column.setting) ? "$^{*}$" : ""));
  }
  return names;
}

std::string ranking_table(const Analysis& analysis, const Ranking& ranking, const std::string& number) {
  const Slice& slice = analysis.slices[ranking.slice];
  std::vector<Figures> columns;
  const auto add = [&](const std::string& heading, Better better,
                       const std::function<std::optional<double>(const RankingRow&)>& value,
                       const std::function<std::string(double)>& text, bool half_must_be_solved = false) {
    Figures figures{heading, better, {}, {}, {}};
    for (const auto& row : ranking.rows) {
      const auto found = value(row);
      const bool may_be_best = !half_must_be_solved || 2 * row.tally.solved >= ranking.problems;
      figures.add(found, found ? text(*found) : "", may_be_best);
    }
    columns.push_back(std::move(figures));
  };
  add(
      "Solved [\\%]", Better::higher, [](const auto& r) { return std::optional(r.solved_share); }, percent);
  if (analysis.times_shown) {
    const auto in_milliseconds = [](double seconds) { return milliseconds(seconds); };
    add(
        "At limit [ms]", Better::lower, [](const auto& r) { return r.means.at_limit; }, in_milliseconds);
    add(
        "Penalised [ms]", Better::lower, [](const auto& r) { return r.means.penalised; }, in_milliseconds);
    add(
        "Common [ms]", Better::lower, [](const auto& r) { return r.means.common; }, in_milliseconds);
    add(
        "$\\times$ best", Better::lower, [](const auto& r) { return r.times_best; }, human_number, true);
  }
  add(
      "$\\rho(1)$ [\\%]", Better::higher, [](const auto& r) { return r.rho_one; }, percent);
  add(
      "$\\rho(\\infty)$ [\\%]", Better::higher, [](const auto& r) { return r.rho_infinity; }, percent);
  add(
      "False claims", Better::lower,
      [](const auto& r) { return std::optional(static_cast<double>(r.tally.false_claim)); },
      [](double n) { return fmt::format("{:.0f}", n); });
  std::string caption =
      fmt::format("{} at tolerance {} ({}, {}, {} start): {} in {} of equal weight.", latex(analysis.title),
                  latex(slice.label), latex(slice.verdict), latex(criterion_text(analysis, slice)), latex(slice.start),
                  plural(ranking.problems, "problem"), count_groups(ranking.families, analysis.contents->group));
  if (analysis.times_shown) {
    caption += fmt::format(
        " Geometric means of {}, shifted by {}; unsolved problems count with the limit, with {} "
        "times "
        "the limit, or only the {} of the common subset count. $\\times$ best: geometric mean ratio to each problem's "
        "best solver, over what a solver "
        "solves. $\\rho$: performance profile over that time.",
        title(ranking.cost), latex(human_time(analysis.shift_s)), exact(analysis.penalty_factor),
        plural(ranking.common_problems, "problem"));
  } else {
    caption += " $\\rho$: performance profile over iterations.";
  }
  caption += origin_sentences(analysis);
  for (const auto& remark : ranking.remarks) caption += " " + latex(remark);
  return warnings(analysis) +
         table(caption, fmt::format("tab:ranking-{}", number), row_names(analysis, ranking), columns);
}

/// Mean ± standard deviation of the time per family, over each family's common subset.
std::string family_tables(const Analysis& analysis, std::size_t slice, std::size_t number) {
  const Ranking& all = analysis.ranking(slice);
  std::string out;
  for (std::size_t begin = 0; begin < analysis.families.size(); begin += families_a_table) {
    std::vector<Figures> columns;
    const std::size_t end = std::min(begin + families_a_table, analysis.families.size());
    for (std::size_t f = begin; f < end; ++f) {
      const Ranking& ranking = analysis.ranking(slice, analysis.families[f]);
      Figures figures{
          fmt::format("{} ({})", latex(analysis.families[f]), ranking.common_problems), Better::lower, {}, {}, {}};
      for (const auto& row : all.rows) {
        const auto found = std::find_if(ranking.rows.begin(), ranking.rows.end(),
                                        [&](const auto& candidate) { return candidate.column == row.column; });
        const auto mean = found->time_mean;
        figures.add(mean, mean ? milliseconds(*mean, found->time_deviation) : "");
      }
      columns.push_back(std::move(figures));
    }
    const std::string caption = fmt::format(
        "{} at tolerance {} ({}): mean $\\pm$ standard deviation of set-up and solve time [ms] over the problems of "
        "a {} (their number in brackets) that every solver solves which solves at least half of it.{}",
        latex(analysis.title), latex(analysis.slices[slice].label),
        latex(criterion_text(analysis, analysis.slices[slice])), analysis.contents->group, origin_sentences(analysis));
    out += warnings(analysis) + table(caption, fmt::format("tab:times-{}-{}", number, begin / families_a_table + 1),
                                      row_names(analysis, all), columns);
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
