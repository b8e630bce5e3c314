#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "reports/batches.hpp"
#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/ranking_columns.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::reports {

namespace {

/// Lines of cells that are not solved, where not all are asked for.
constexpr std::size_t max_groups = 10;

/// `share` of ten columns in eighths.
std::string bar(double share) {
  constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 80.0));
  std::string out;
  for (int i = 0; i < filled / 8; ++i) out += "█";
  out += eighths[static_cast<std::size_t>(filled % 8)];
  while (display_width(out) < 10) out += ' ';
  return out;
}

Cell count(long n, Tone tone) { return n == 0 ? Cell("·", Tone::dim) : Cell(n, tone); }

std::vector<std::string> column_labels(const Analysis& analysis) {
  constexpr std::size_t usual = 34;
  std::vector<std::string> labels;
  for (const Column& column : analysis.columns) labels.push_back(one_line(column.label));
  labels = short_labels(labels, usual);
  for (std::size_t c = 0; c < labels.size(); ++c) {
    if (is_own(*analysis.columns[c].configuration)) labels[c] += std::string(" ") + own_mark;
  }
  return labels;
}

constexpr std::array<std::string_view, 10> usual_columns = {
    "solved",     "solved_share",      "time_at_limit", "time_cold", "time_common",
    "times_best", "median_iterations", "rho_1",         "rho_inf",   "false_claim"};

/// "family mean" for "{} mean".
std::string with_group(const Analysis& analysis, std::string_view heading) {
  const std::string& group = analysis.contents->group;
  return fmt::format(fmt::runtime(heading), group.substr(0, group.find(' ')));
}

Cell on_terminal(const RankingColumn& column, const Ranking& ranking, const RankingRow& row, Cell cell) {
  if (column.id == "solved") return Cell(fmt::format("{}/{}", row.tally.solved, ranking.problems), Tone::dim);
  if (column.id == "false_claim") return count(row.tally.false_claim, Tone::bad);
  if (column.id == "unsupported") return count(row.tally.unsupported, Tone::plain);
  if (!std::holds_alternative<std::monostate>(cell.value)) cell.tone = Tone::plain;
  return cell;
}

Table ranking_table(const Analysis& analysis, const Ranking& ranking) {
  const auto labels = column_labels(analysis);
  std::vector<std::string_view> usual(usual_columns.begin(), usual_columns.end());
  usual.push_back("unsupported");
  if (analysis.times_shown) std::erase(usual, "median_iterations");
  const bool is_usual = analysis.view.columns.empty();
  TableOf<RankingRow> table;
  table.add({"#", Format::count}, [&](const auto& row) { return Cell(rank_of(ranking, row), Tone::dim); });
  table.add({.heading = "solver", .breaks = TableColumn::Breaks::in_column}, [&](const auto& row) {
    return Cell(labels[row.column] + (row.doubts.empty() ? "" : std::string(" ") + doubt_mark), Tone::strong);
  });
  if (is_usual) {
    table.add({.heading = "", .leaves = 1}, [](const auto& row) {
      const double share = row.solved_share;
      return Cell(bar(share), share > 0.9 ? Tone::good : share > 0.5 ? Tone::warning : Tone::bad);
    });
  }
  for (const RankingColumn* const column : shown_columns(analysis, usual)) {
    const int leaves = is_usual ? column->leaves : 0;
    table.add({.heading = with_group(analysis, column->narrow), .format = column->format, .leaves = leaves},
              [&analysis, &ranking, column](const auto& row) {
                return on_terminal(*column, ranking, row, column->cell(analysis, ranking, row));
              });
  }
  return table.of(shown_rows(analysis, ranking));
}

/// On all problems of the slice, by what is counted and how good the answers are.
bool same_work(const Slice& slice, std::size_t a, std::size_t b) {
  const auto work = [](const CellRecord* cell) {
    return cell == nullptr ? std::tuple(false, -1L, -1L, -1L, std::optional<double>())
                           : std::tuple(cell->solved, long{cell->iterations}, long{cell->factorizations},
                                        long{cell->operator_products}, cell->verdict_value);
  };
  return std::all_of(slice.grid.begin(), slice.grid.end(),
                     [&](const auto& row) { return work(row[a]) == work(row[b]); });
}

/// Whether something is gained over the default configuration, or where that is the best, over the next best.
bool choice_matters(const Analysis& analysis, const OptionStudy& study) {
  constexpr double min_gain = 1.05;
  const auto& configurations = study.configurations;
  const auto& best = configurations[study.recommended];
  const OptionStudy::Configuration *usual = nullptr, *next = nullptr;
  for (const OptionStudy::Configuration& configuration : configurations) {
    if (analysis.columns[configuration.column].configuration->label == study.solver) usual = &configuration;
    if (&configuration != &best && (next == nullptr || configuration.times_best < next->times_best))
      next = &configuration;
  }
  const OptionStudy::Configuration* const other = usual == &best ? next : usual;
  if (other == nullptr) return true;
  return other->times_best >= min_gain * best.times_best &&
         !same_work(analysis.slices[study.slice], best.column, other->column);
}

/// A line for each solver that has several configurations of which one is worth choosing, or of which a search has
/// dropped some: which one to take for problems not yet seen.
std::vector<std::string> advice(const Analysis& analysis, std::size_t slice) {
  std::vector<std::string> lines;
  for (const OptionStudy& study : analysis.option_studies) {
    if (study.slice != slice || (study.dropped == 0 && !choice_matters(analysis, study))) continue;
    std::string text =
        fmt::format("{}: best configuration: {}", one_line(study.solver), one_line(study.values(study.recommended)));
    if (study.unseen_times_best) text += ". " + study.unseen_text(analysis.contents->group);
    if (study.dropped > 0) text += "; " + study.chosen_among();
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string footer(const Ranking& ranking, bool common_shown) {
  std::string text =
      fmt::format("{} of {} solved by at least one solver", ranking.solved_by_any, plural(ranking.problems, "problem"));
  if (ranking.best_of_all) {
    text += fmt::format("; the fastest configuration for each problem: time {}", human_time(*ranking.best_of_all));
  }
  if (common_shown && ranking.common_columns > 0) {
    text += fmt::format(
        " · common: {} that {}", plural(ranking.common_problems, "problem"),
        ranking.common_columns == 1 ? "1 solver solves" : fmt::format("{} solvers all solve", ranking.common_columns));
  }
  return text;
}

/// Of the columns that some table shows.
std::vector<std::string> legend(const Analysis& analysis, const std::set<std::string>& shown) {
  std::vector<std::string> lines;
  std::string text = "solved: problems, counted one by one";
  const auto add = [&](const std::string& heading, const std::string& meaning) {
    if (shown.contains(heading)) text += fmt::format("; {}: {}", heading, meaning);
  };
  add(with_group(analysis, "{} mean"),
      fmt::format("share solved, {} weigh the same", many_groups(analysis.contents->group)));
  add("false", "claims that the judge refutes");
  add("unsup.", "problems a solver can't run on");
  lines.push_back(text + ".");
  if (const std::string own = own_legend(analysis); !own.empty()) lines.push_back(own + ".");
  if (!analysis.times_shown) return lines;
  text = fmt::format("{}, geometric means shifted by {}. time: unsolved problems count with their limit",
                     analysis.condensation_shown ? "Set-up + solve, with and without condensation" : "Set-up + solve",
                     human_time(analysis.shift_s));
  add("cold", "the same of first runs");
  add("common", "problems that all solvers with at least half solved solve");
  add("×best", "ratio to the best, over what a solver solves (not shifted)");
  add("ρ(1)", "share of the problems on which it is the fastest");
  add("ρ(∞)", "share that it solves at any ratio to the fastest");
  lines.push_back(text + ".");
  return lines;
}

/// A cell that ran and is not solved.
struct Unsolved {
  std::size_t slice = 0, problem = 0, column = 0;
  const CellRecord* cell = nullptr;
};

/// Order of unsolved cells: broken ones, false claims, solvers that gave up, limits.
int urgency(const CellRecord& cell) {
  using enum StatusClass;
  if (class_of(cell.status) != answer && class_of(cell.status) != clock) return 0;
  if (outcome(&cell) == Outcome::false_claim) return 1;
  const bool at_limit = class_of(cell.status) == clock || cell.status == CellStatus::max_iterations;
  return at_limit ? 3 : 2;
}

std::vector<Unsolved> unsolved_of(const Analysis& analysis) {
  std::vector<Unsolved> cells;
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const auto& grid = analysis.slices[s].grid;
    for (std::size_t p = 0; p < grid.size(); ++p) {
      for (std::size_t c = 0; c < grid[p].size(); ++c) {
        const Outcome what = outcome(grid[p][c]);
        if (what == Outcome::failed || what == Outcome::false_claim) cells.push_back({s, p, c, grid[p][c]});
      }
    }
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Unsolved& a, const Unsolved& b) { return urgency(*a.cell) < urgency(*b.cell); });
  return cells;
}

/// Why no solver's answer counts on this cell's problem.
enum class LeftOut { no, infeasible, noise_level };

LeftOut left_out_of(const Analysis& analysis, const Unsolved& one) {
  const ProblemRecord& problem = *analysis.problems[one.problem].record;
  if (problem.infeasible_at(one.cell->verdict, one.cell->tolerance)) return LeftOut::infeasible;
  return problem.noise_level() ? LeftOut::noise_level : LeftOut::no;
}

/// Whether nothing could solve it, the reason, and how far the answer is from the tolerance.
std::string why_unsolved(const CellRecord& cell, LeftOut left_out) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (left_out == LeftOut::infeasible) add("the problem has no solution (certified)");
  if (left_out == LeftOut::noise_level) add("the problem is at noise level");
  if (const std::string reason = one_line(whole_reason(cell)); !reason.empty()) add(reason);
  if (outcome(&cell) == Outcome::false_claim) add("claims it");
  if (cell.iterations > 0) add(plural(static_cast<long>(cell.iterations), "iteration"));
  if (cell.verdict_value) add(fmt::format("{} {}", one_line(cell.verdict), human_residual(cell.verdict_value)));
  return text;
}

/// A line for each solver and reason.
std::string unsupported_cells(const Analysis& analysis, const std::vector<std::string>& labels, const Paint& paint) {
  std::map<std::pair<std::size_t, std::string>, long> counts;
  for (const Slice& slice : analysis.slices) {
    for (const auto& row : slice.grid) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (outcome(row[c]) == Outcome::unsupported) ++counts[{c, one_line(row[c]->reason)}];
      }
    }
  }
  std::string out;
  for (const auto& [key, count] : counts) {
    out += paint(Tone::dim,
                 fmt::format(" unsupported: {} of {}: {}\n", plural(count, "cell"), labels[key.first], key.second));
  }
  return out;
}

}  // namespace

std::string unsolved_cells(const Analysis& analysis, const UnsolvedList& list) {
  const Paint paint{list.colour};
  const auto cells = unsolved_of(analysis);
  const auto labels = column_labels(analysis);
  const std::string unsupported = list.every_cell ? unsupported_cells(analysis, labels, paint) : std::string();
  if (cells.empty()) return unsupported.empty() ? unsupported : "\n all cells that ran are solved\n" + unsupported;
  const auto problem = [&](const Unsolved& one) {
    const std::size_t widest = std::clamp<std::size_t>(list.columns / 3, 16, 40);
    const std::string name = one_line(analysis.problems[one.problem].name);
    return list.every_cell ? name : shorten(name, list.columns > 0 ? widest : 40);
  };
  // Of each solver's cells that ended alike the first stands for all, where not every one is asked for.
  std::map<std::tuple<CellStatus, bool, std::size_t, LeftOut>, std::size_t> group_of;
  using Group = std::pair<const Unsolved*, long>;
  std::vector<Group> groups;
  for (const Unsolved& one : cells) {
    const std::tuple key{one.cell->status, outcome(one.cell) == Outcome::false_claim, one.column,
                         left_out_of(analysis, one)};
    const auto [known, is_new] = group_of.emplace(key, groups.size());
    if (is_new || list.every_cell) {
      groups.emplace_back(&one, 1);
    } else {
      ++groups[known->second].second;
    }
  }
  TableOf<Group> table;
  table.add({"ended as"}, [](const Group& group) {
    const CellRecord& cell = *group.first->cell;
    return Cell(to_string(cell.status), urgency(cell) < 2 ? Tone::bad : Tone::plain);
  });
  table.add({.heading = "solver", .breaks = TableColumn::Breaks::in_column},
            [&](const Group& group) { return Cell(labels[group.first->column], Tone::strong); });
  if (!list.every_cell) table.add({"cells", Format::count}, &Group::second);
  table.add({list.every_cell ? "problem" : "the first"}, [&](const Group& group) { return problem(*group.first); });
  table.add({"at"}, [&](const Group& group) { return analysis.slices[group.first->slice].label; });
  table.add({.heading = "why", .breaks = TableColumn::Breaks::below}, [&](const Group& group) {
    return Cell(why_unsolved(*group.first->cell, left_out_of(analysis, *group.first)), Tone::dim);
  });
  const std::size_t shown = list.every_cell ? groups.size() : std::min(groups.size(), max_groups);
  const TerminalLayout layout{.indent = 1, .paint = paint, .headings = Tone::dim, .columns = list.columns};
  const auto left_out =
      std::ranges::count_if(cells, [&](const Unsolved& one) { return left_out_of(analysis, one) != LeftOut::no; });
  const std::string uncounted =
      left_out > 0 ? fmt::format(", {} of them of problems that count for no solver", left_out) : std::string();
  std::string out = fmt::format("\n {} not solved{}\n", plural(static_cast<long>(cells.size()), "cell"), uncounted) +
                    terminal_text(table.of(std::span(groups).first(shown)), layout);
  if (shown < groups.size()) {
    out += paint(Tone::dim, fmt::format(" and {} more such lines\n", groups.size() - shown));
  }
  if (!list.command.empty()) {
    out += paint(Tone::dim, " each cell: " + list.command + "; how to repeat it: its command in cells.csv") + "\n";
  }
  if (!list.every_cell) return out;
  const Unsolved& first = *groups.front().first;
  const std::string again =
      repeat_command(*analysis.problems[first.problem].record, *analysis.columns[first.column].configuration,
                     *first.cell, repeat_locations(*analysis.contents));
  if (!again.empty()) out += paint(Tone::dim, " the first again: " + one_line(again)) + "\n";
  if (!list.explain.empty()) out += paint(Tone::dim, fmt::format(" why: {} {}\n", list.explain, first.cell->key));
  return out + unsupported;
}

std::string terminal(const Analysis& analysis, bool colour, std::size_t columns) {
  const Paint paint{colour};
  const TerminalLayout layout{.indent = 1, .paint = paint, .headings = Tone::dim, .columns = columns};
  std::string out;
  std::set<std::string> shown;  // headings
  const auto add_line = [&](Tone tone, const std::string& mark, const std::string& text) {
    const std::size_t indent = display_width(mark);
    out += paint(tone, mark + (columns > 0 ? wrapped(text, indent, columns) : text)) + "\n";
  };
  const auto add_table = [&](const Ranking& ranking) {
    const Table table = ranking_table(analysis, ranking);
    const std::set<std::string> headings = shown_headings(table, layout);
    shown.insert(headings.begin(), headings.end());
    out += terminal_text(table, layout);
    return headings.contains("common");
  };
  for (const auto& note : analysis.notes) {
    const bool warning = note.level == Note::Level::warning;
    add_line(warning ? Tone::warning : Tone::dim, warning ? " ! " : " · ", one_line(note.text));
  }
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Ranking& ranking = analysis.ranking(s);
    const Slice& slice = analysis.slices[s];
    out += "\n " + paint(Tone::strong, fmt::format("{} at {}", one_line(analysis.title), slice.label)) + "\n";
    add_line(Tone::dim, " ",
             fmt::format("{}, {} start · {} in {}", slice.verdict, slice.start, plural(ranking.problems, "problem"),
                         count_groups(ranking.families, analysis.contents->group)));
    add_line(Tone::dim, " ", one_line(stop_by_text(analysis, slice)));
    if (ranking.problems == 0) {
      out += " nothing to rank: every problem is left out\n";
      continue;
    }
    const bool common_shown = add_table(ranking);
    if (const std::string doubts = doubt_text(analysis, ranking); !doubts.empty()) {
      add_line(Tone::warning, fmt::format(" {} ", doubt_mark), one_line(doubts));
    }
    add_line(Tone::dim, " ", footer(ranking, common_shown));
    if (const std::string view = view_text(analysis, ranking); !view.empty()) add_line(Tone::dim, " ", view);
    for (const Ranking* const other : analysis.rankings_of(s)) {
      if (other == &ranking) continue;
      add_line(Tone::dim, " ", fmt::format("the same by {} (above: {})", title(other->cost), title(ranking.cost)));
      add_table(*other);
    }
    const auto labels = column_labels(analysis);
    const Table batches = batch_table(analysis, s, [&](std::size_t column) { return labels[column]; });
    if (!batches.rows.empty()) {
      if (analysis.times_shown) add_line(Tone::dim, " ", batch_legend);
      out += terminal_text(batches, layout);
    }
    for (const std::string& line : advice(analysis, s)) add_line(Tone::dim, " ", line);
    for (const auto& remark : ranking.remarks) add_line(Tone::dim, " ", one_line(remark));
  }
  if (analysis.slices.empty()) return out;
  out += "\n";
  for (const std::string& line : legend(analysis, shown)) add_line(Tone::dim, " ", line);
  return out;
}

}  // namespace conebench::reports
