#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "reports/formats.hpp"
#include "reports/latex_table.hpp"
#include "reports/line_chart.hpp"
#include "reports/ranking_columns.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// Letters of the headings of families that fit the width of a page in small type.
constexpr std::size_t family_headings_a_table = 90;
/// Curves that can be distinguished, where the view chooses none.
constexpr std::size_t usual_curves = 8;
/// Of one statement below a table, so that a table stays on its page.
constexpr std::size_t longest_print = 300;
constexpr double ms = 1e3;

constexpr std::array<std::string_view, 8> usual_latex_columns = {
    "solved",     "solved_share", "time_at_limit",     "time_common",
    "times_best", "rho_1",        "median_iterations", "false_claim"};

/// Beside a table, where they stay with it in another document and out of its caption.
std::string latex_warnings(const Analysis& analysis) {
  std::string text;
  for (const auto& note : analysis.notes) {
    if (note.level == Note::Level::warning) text += "% Warning: " + one_line(note.text) + "\n";
  }
  return text;
}

/// Of the runs that a cell is of.
struct Provenance {
  std::set<std::string> builds, days, machines;
};
Provenance provenance(const Analysis& analysis) {
  constexpr std::size_t length_of_day = 10;
  std::set<std::int64_t> used;
  for (const CellRecord& cell : analysis.contents->cells) used.insert(cell.run_id);
  Provenance made;
  for (const RunRecord& run : analysis.contents->runs) {
    if (!used.contains(run.id)) continue;
    made.builds.insert(fmt::format("{} ({})", run.build.version, run.build.commit));
    if (!run.started_utc.empty()) made.days.insert(run.started_utc.substr(0, length_of_day));
    if (!run.machine.cpu.empty()) {
      made.machines.insert(fmt::format("{}; {} {}", run.machine.cpu, run.build.compiler, run.build.flags));
    }
  }
  return made;
}

/// "Conebench 0.3.0 (4f1c2d3), 2026-11-27 to 2026-11-28".
std::string made_text(const Provenance& made) {
  std::string text = fmt::format("Conebench {}", fmt::join(made.builds, ", "));
  if (!made.days.empty()) text += ", " + *made.days.begin();
  if (made.days.size() > 1) text += " to " + *made.days.rbegin();
  return text;
}

/// The slice, its criterion and how it was measured: the end of each caption.
std::string criterion(const Analysis& analysis, const Ranking& ranking) {
  const Slice& slice = analysis.slices[ranking.slice];
  return fmt::format("{} in {} of equal weight, tolerance {} by {}, {}, {} start; {}",
                     plural(ranking.problems, "problem"), count_groups(ranking.families, analysis.contents->group),
                     human_tolerance(slice.tolerance), slice.verdict, stop_by_text(analysis, slice), slice.start,
                     made_text(provenance(analysis)));
}

/// Whose the solvers are, which of their times are doubtful, and what is not shown.
std::vector<std::string> small_print(const Analysis& analysis, const Ranking& ranking) {
  std::vector<std::string> print;
  if (!own_legend(analysis).empty()) print.emplace_back("$^{*}$ by Conebench's authors");
  if (const std::string doubts = doubt_text(analysis, ranking); !doubts.empty()) {
    print.push_back(fmt::format("$^{{{}}}$ {}", doubt_mark, latex_breakable(shorten(doubts, longest_print))));
  }
  if (const std::string view = view_text(analysis, ranking); !view.empty()) print.push_back(latex(view));
  const std::vector<std::string> peers = peer_lines(analysis);
  if (!peers.empty())
    print.push_back("Other projects' code: " +
                    latex_breakable(shorten(fmt::format("{}", fmt::join(peers, "; ")), longest_print)));
  for (const std::string& machine : provenance(analysis).machines) print.push_back(latex_breakable(machine));
  return print;
}

std::string sentences(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text + (text.ends_with('.') ? "" : ".");
  return all;
}

std::string short_title(const Analysis& analysis) {
  constexpr std::size_t longest = 60;
  return shorten(analysis.title, longest);
}

TableOf<RankingRow> latex_solvers(const Analysis& analysis) {
  constexpr std::size_t label_width = 34;
  std::vector<std::string> labels;
  for (const Column& column : analysis.columns) labels.push_back(one_line(column.label));
  TableOf<RankingRow> table;
  table.add({.heading = "Solver", .markup = true},
            [&analysis, labels = short_labels(labels, label_width)](const auto& row) {
              const Column& column = analysis.columns[row.column];
              return latex(labels[row.column]) + (is_own(*column.configuration) ? "$^{*}$" : "") +
                     (row.doubts.empty() ? "" : fmt::format("$^{{{}}}$", doubt_mark));
            });
  return table;
}

/// A ranking, the tables by family and the profiles of one slice, each a file.
class SliceFiles {
 public:
  SliceFiles(const Analysis& analysis, std::size_t slice, std::vector<ReportFile>& files, std::set<std::string>& names)
      : analysis_(analysis), slice_(slice), files_(files), names_(names) {}

  void add_all() {
    const std::string word = file_word(analysis_.slices[slice_].label);
    for (const Ranking* const ranking : analysis_.rankings_of(slice_)) {
      if (ranking->problems > 0) add_ranking(*ranking, "ranking-" + word);
    }
    const Ranking& all = analysis_.ranking(slice_);
    if (all.problems == 0) return;
    if (analysis_.families.size() > 1) {
      add_families(all, "solved-" + word, false);
      if (analysis_.times_shown) add_families(all, "times-" + word, true);
    }
    add_profiles_of("", word);
    if (analysis_.view.families.empty()) return;
    for (const std::string& family : shown_families(analysis_)) {
      const std::string of_family = word + "-" + file_word(family);
      add_ranking(analysis_.ranking(slice_, family), "ranking-" + of_family);
      add_profiles_of(family, of_family);
    }
  }

 private:
  /// A name that no other file has.
  std::string unique(const std::string& name) {
    std::string one = name;
    for (int other = 2; !names_.insert(one).second; ++other) one = fmt::format("{}-{}", name, other);
    return one;
  }
  std::string of_family(const std::string& family) const {
    return family.empty() ? std::string() : fmt::format(", {} {}", analysis_.contents->group, family);
  }

  void add_ranking(const Ranking& ranking, const std::string& wanted) {
    const std::string name = unique(wanted + (ranking.cost == Cost::condensed_time ? "-with-condensation" : ""));
    TableOf<RankingRow> table = latex_solvers(analysis_);
    std::vector<std::string> print;
    std::vector<std::string_view> usual(usual_latex_columns.begin(), usual_latex_columns.end());
    if (analysis_.times_shown) std::erase(usual, "median_iterations");
    if (ranking.families == 1) std::erase(usual, "solved_share");
    const std::string& group = analysis_.contents->group;
    bool shows_means = false;
    for (const RankingColumn* const column : shown_columns(analysis_, usual)) {
      const std::string heading = fmt::format(fmt::runtime(column->latex), capital(group.substr(0, group.find(' '))));
      table.add({heading, column->format, column->best, true},
                [this, &ranking, column](const auto& row) { return column->cell(analysis_, ranking, row); });
      print.push_back(fmt::format("\\emph{{{}}}: {}", heading, fmt::format(fmt::runtime(column->meaning), group)));
      shows_means = shows_means || (column->format == Format::time && column->id != "time_mean");
    }
    if (shows_means) {
      print.push_back(fmt::format("Mean times are geometric, shifted by {}", latex(human_time(analysis_.shift_s))));
    }
    for (std::string& text : small_print(analysis_, ranking)) print.push_back(std::move(text));
    for (const std::string& remark : ranking.remarks) print.push_back(latex_breakable(shorten(remark, longest_print)));
    const bool has_times = analysis_.times_shown;
    const std::string what = fmt::format("{}{}", short_title(analysis_), of_family(ranking.family));
    files_.push_back({name + ".tex",
                      latex_table(table.of(shown_rows(analysis_, ranking)),
                                  {.short_caption = latex("Ranking: " + what),
                                   .caption = fmt::format(
                                       "{}: ranking by share solved{}; {}", latex_breakable(what),
                                       has_times ? fmt::format(", {} in {}", latex(title(ranking.cost)), time_unit_mark)
                                                 : std::string(),
                                       latex_breakable(criterion(analysis_, ranking))),
                                   .label = "tab:" + name,
                                   .note = sentences(print),
                                   .comments = latex_warnings(analysis_)})});
  }

  /// Problems solved of each family, or the mean and deviation of the time over each family's common subset; as many
  /// families a table as fit.
  void add_families(const Ranking& all, const std::string& wanted, bool times) {
    const std::vector<std::string> families = shown_families(analysis_);
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t begin = 0, end = 0; begin < families.size(); begin = end) {
      for (std::size_t width = 0; end < families.size(); ++end) {
        width += std::max<std::size_t>(times ? 14 : 6, display_width(families[end]) + 5);
        if (end > begin && width > family_headings_a_table) break;
      }
      parts.emplace_back(begin, end);
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::string name = unique(parts.size() > 1 ? fmt::format("{}-{}", wanted, part + 1) : wanted);
      TableOf<RankingRow> table = latex_solvers(analysis_);
      for (std::size_t f = parts[part].first; f < parts[part].second; ++f) {
        const Ranking* const ranking = &analysis_.ranking(slice_, families[f]);
        const long problems = times ? ranking->common_problems : ranking->problems;
        table.add({fmt::format("{} ({})", families[f], problems), times ? Format::time : Format::count,
                   times ? Best::lowest : Best::highest},
                  [ranking, times](const auto& row) {
                    const RankingRow& found = ranking->row(row.column);
                    return times ? Cell::mean(found.time_mean, found.time_deviation) : Cell(found.tally.solved);
                  });
      }
      const std::string& group = analysis_.contents->group;
      const std::string what =
          times ? fmt::format(
                      "mean $\\pm$ standard deviation of {} in {} over the problems of a {} (their number in brackets) "
                      "that every solver solves which solves at least half of it",
                      title(Cost::time), time_unit_mark, group)
                : fmt::format("problems solved of each {} (their number in brackets)", group);
      files_.push_back(
          {name + ".tex", latex_table(table.of(shown_rows(analysis_, all)),
                                      {.short_caption = latex(fmt::format("{} by {}: {}", times ? "Times" : "Solved",
                                                                          group, short_title(analysis_))),
                                       .caption = fmt::format("{}: {}; {}", latex_breakable(short_title(analysis_)),
                                                              what, latex_breakable(criterion(analysis_, all))),
                                       .label = "tab:" + name,
                                       .note = sentences(small_print(analysis_, all)),
                                       .comments = latex_warnings(analysis_)})});
    }
  }

  void add_profiles_of(const std::string& family, const std::string& word) {
    const Cost cost = shown_cost(analysis_);
    for (const Profile& profile : analysis_.profiles) {
      if (profile.slice != slice_ || profile.family != family || profile.cost != cost) continue;
      const std::string within = fmt::format("share of problems solved within a multiple of the least {}", title(cost));
      add_chart(profile, profile.performance, "performance-" + word, "Performance profile", within, "ratio to the best",
                1.0);
      const double unit = is_time(cost) ? ms : 1.0;
      add_chart(profile, profile.data, "data-profile-" + word, "Data profile",
                fmt::format("share of problems solved within a budget of {}", title(cost)),
                is_time(cost) ? title(cost) + " [ms]" : title(cost), unit);
    }
  }

  /// Steps end at the frame: goes on to some way beyond the last one, so that its rise is seen.
  static void extend(LineChart& chart) {
    constexpr double beyond = 1.2;
    double first = HUGE_VAL, last = 0.0;
    for (const LineChart::Line& line : chart.lines) {
      for (const double x : line.x) {
        if (!std::isfinite(x) || x <= 0.0) continue;
        first = std::min(first, x);
        last = std::max(last, x);
      }
    }
    if (!(first < last)) return;
    for (LineChart::Line& line : chart.lines) {
      if (line.x.empty()) continue;
      line.x.push_back(beyond * last);
      line.y.push_back(line.y.back());
    }
  }

  void add_chart(const Profile& profile, const std::vector<Curve>& curves, const std::string& wanted,
                 const std::string& kind, const std::string& meaning, const std::string& x_label, double unit) {
    const Ranking& ranking = analysis_.ranking(slice_, profile.family);
    const std::vector<RankingRow> rows = shown_rows(analysis_, ranking, usual_curves);
    const std::string what = short_title(analysis_) + of_family(profile.family);
    LineChart chart;
    chart.stem = unique(wanted);
    chart.form = LineChart::Lines::steps;
    chart.x_label = x_label;
    chart.y_label = "share of problems";
    chart.x_log = true;
    for (const RankingRow& row : rows) {
      const Column& column = analysis_.columns[row.column];
      const auto curve = std::ranges::find(curves, row.column, &Curve::column);
      if (curve == curves.end()) continue;
      LineChart::Line& line = chart.lines.emplace_back();
      line.name = one_line(column.label) + (is_own(*column.configuration) ? std::string(" ") + own_mark : "");
      for (const double x : curve->x) line.x.push_back(unit * x);
      line.y = curve->y;
    }
    extend(chart);
    std::vector<std::string> print = small_print(analysis_, ranking);
    if (rows.size() < ranking.rows.size() && view_text(analysis_, ranking).empty()) {
      print.insert(print.begin(),
                   fmt::format("The first {} of {} configurations of the ranking; the best is that of all", rows.size(),
                               ranking.rows.size()));
    }
    chart.around = {.short_caption = latex(fmt::format("{}: {}", kind, what)),
                    .caption = fmt::format("{}, {}: {}; {}", kind, latex_breakable(what), latex(meaning),
                                           latex_breakable(criterion(analysis_, ranking))),
                    .label = "fig:" + chart.stem,
                    .note = sentences(print),
                    .comments = latex_warnings(analysis_)};
    for (ReportFile& file : chart_files(chart)) {
      if (file.path.extension() != ".csv") files_.push_back(std::move(file));  // performance_profiles.csv has them all
    }
  }

  const Analysis& analysis_;
  std::size_t slice_;
  std::vector<ReportFile>& files_;
  std::set<std::string>& names_;
};

/// "1.20e-5" of human_number(); "--" for nothing.
std::string macro_number(const std::optional<double>& value, double unit = 1.0) {
  if (!value) return "--";
  const std::string text = human_number(unit * *value);
  const std::size_t e = text.find('e');
  return e == std::string::npos ? latex(text) : fmt::format("{}e{}", text.substr(0, e), std::stol(text.substr(e + 1)));
}

/// Every number that a text about the report may need.
std::string macros(const Analysis& analysis) {
  LatexMacros list;
  const Provenance made = provenance(analysis);
  list.add({"conebench"}, latex(fmt::format("{}", fmt::join(made.builds, ", "))), "version and commit of Conebench");
  if (!made.days.empty()) {
    list.add({"first", "day"}, latex(*made.days.begin()), "day of the first run");
    list.add({"last", "day"}, latex(*made.days.rbegin()), "day of the last run");
  }
  for (const Column& column : analysis.columns) {
    const ConfigurationRecord& configuration = *column.configuration;
    if (!configuration.peer_version.empty()) {
      list.add({"version", column.label}, latex(configuration.peer_version),
               fmt::format("{}: version of its project's code", column.label));
    }
  }
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Ranking& ranking = analysis.ranking(s);
    const std::string label = analysis.slices[s].label;
    const auto add = [&](const std::string& what, const std::string& value, const std::string& meaning) {
      list.add({what, "at", label}, value, fmt::format("tolerance {}: {}", label, meaning));
    };
    add("problems", std::to_string(ranking.problems), "problems that count");
    add(many_groups(analysis.contents->group), std::to_string(ranking.families), many_groups(analysis.contents->group));
    add("configurations", std::to_string(ranking.rows.size()), "configurations ranked");
    add("solved by any", std::to_string(ranking.solved_by_any), "problems that some configuration solves");
    add("common", std::to_string(ranking.common_problems), "problems of the common subset");
    for (const RankingRow& row : ranking.rows) {
      const std::string& name = analysis.columns[row.column].label;
      const auto add_row = [&](const std::string& what, const std::string& value, const std::string& meaning) {
        list.add({what, name, "at", label}, value, fmt::format("{}, tolerance {}: {}", name, label, meaning));
      };
      const std::string percent = human_share(row.solved_share);
      add_row("rank", std::to_string(rank_of(ranking, row)), "rank");
      add_row("solved", std::to_string(row.tally.solved), "problems solved");
      add_row("share", percent.substr(0, percent.find(' ')),
              fmt::format("share solved, {} of equal weight, percent", many_groups(analysis.contents->group)));
      add_row("false claims", std::to_string(row.tally.false_claim), "claims that the judge refutes");
      add_row("iterations", macro_number(row.median_iterations), "median iterations of solved problems");
      if (!analysis.times_shown) continue;
      add_row("at limit", macro_number(row.means.at_limit, ms), "geometric mean time, unsolved at their limit, ms");
      add_row("time on common", macro_number(row.means.common, ms), "the same over the common subset, ms");
      add_row("times best", macro_number(row.times_best), "geometric mean ratio to the best of each problem");
    }
  }
  return "% Every number of the report's headlines. In text: \\num{\\cbSolved…} needs siunitx.\n" + list.text();
}

}  // namespace

std::vector<ReportFile> latex_files(const Analysis& analysis) {
  std::vector<ReportFile> files;
  std::set<std::string> names = {"report", "preamble", "numbers"};
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) SliceFiles(analysis, s, files, names).add_all();
  std::vector<std::string> floats = {"numbers"}, notes;
  for (const ReportFile& file : files) {
    if (file.path.extension() == ".tex") floats.push_back(file.path.stem().string());
  }
  for (const auto& note : analysis.notes) notes.push_back(latex_breakable(note.text));
  if (notes.empty() && files.empty()) notes.emplace_back("Nothing was ranked.");
  files.push_back({"preamble.tex", std::string(latex_preamble)});
  files.push_back({"numbers.tex", macros(analysis)});
  files.insert(files.begin(), {"report.tex", latex_document(floats, notes)});
  for (ReportFile& file : files) file.path = latex_folder_name / file.path;
  return files;
}

}  // namespace conebench::reports
