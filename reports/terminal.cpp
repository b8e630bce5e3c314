#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/table.hpp"
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
    if (is_own(*analysis.columns[c].setting)) labels[c] += std::string(" ") + own_mark;
  }
  return labels;
}

std::string ranking_table(const Analysis& analysis, const Ranking& ranking, const TerminalLayout& layout) {
  const auto labels = column_labels(analysis);
  long rank = 0;
  TableOf<RankingRow> table;
  table.add({"#", Format::count}, [&](const auto&) { return Cell(++rank, Tone::dim); });
  table.add({"solver"}, [&](const auto& row) {
    return Cell(labels[row.column] + (row.doubts.empty() ? "" : std::string(" ") + doubt_mark), Tone::strong);
  });
  table.add({"solved share"}, [](const auto& row) {
    const double share = row.solved_share;
    return Cell(bar(share), share > 0.9 ? Tone::good : share > 0.5 ? Tone::warning : Tone::bad);
  });
  table.add({"", Format::share}, &RankingRow::solved_share);
  table.add({"problems", Format::count},
            [](const auto& row) { return Cell(fmt::format("{}/{}", row.tally.solved, row.tally.total()), Tone::dim); });
  if (analysis.times_shown) {
    table.add({"time", Format::time}, [](const auto& row) { return row.means.at_limit; });
    table.add({.heading = "cold", .format = Format::time, .leaves = 1}, [](const auto& row) { return row.means.cold; });
    table.add({.heading = "common", .format = Format::time, .leaves = 4},
              [](const auto& row) { return row.means.common; });
    table.add({.heading = "×best", .format = Format::number, .leaves = 2}, &RankingRow::times_best);
  } else {
    table.add({"iterations", Format::number}, &RankingRow::median_iterations);
  }
  table.add({.heading = "ρ(1)", .format = Format::share, .leaves = 5},
            [](const auto& row) { return Cell(row.rho_one, Tone::plain); });
  table.add({.heading = "ρ(∞)", .format = Format::share, .leaves = 6},
            [](const auto& row) { return Cell(row.rho_infinity, Tone::plain); });
  table.add({"false", Format::count}, [](const auto& row) { return count(row.tally.false_claim, Tone::bad); });
  table.add({.heading = "unsup.", .format = Format::count, .leaves = 3},
            [](const auto& row) { return count(row.tally.unsupported, Tone::plain); });
  return terminal_text(table.of(ranking.rows), layout);
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

/// Whether something is gained over the default setting, or where that is the best, over the next best.
bool choice_matters(const Analysis& analysis, const OptionStudy& study) {
  constexpr double min_gain = 1.05;
  const auto& settings = study.settings;
  const auto& best = settings[study.recommended];
  const OptionStudy::Setting *usual = nullptr, *next = nullptr;
  for (const OptionStudy::Setting& setting : settings) {
    if (analysis.columns[setting.column].setting->label == study.solver) usual = &setting;
    if (&setting != &best && (next == nullptr || setting.times_best < next->times_best)) next = &setting;
  }
  const OptionStudy::Setting* const other = usual == &best ? next : usual;
  if (other == nullptr) return true;
  return other->times_best >= min_gain * best.times_best &&
         !same_work(analysis.slices[study.slice], best.column, other->column);
}

/// A line for each solver that has several settings of which one is worth choosing, or of which a search has dropped
/// some: which one to take for problems not yet seen.
std::string advice(const Analysis& analysis, std::size_t slice) {
  std::string text;
  for (const OptionStudy& study : analysis.option_studies) {
    if (study.slice != slice || (study.dropped == 0 && !choice_matters(analysis, study))) continue;
    text += fmt::format(" {}: {} {}", one_line(study.solver),
                        study.unseen_times_best ? "for problems not yet seen take" : "best over all is",
                        one_line(study.values(study.recommended)));
    if (study.unseen_times_best) {
      text +=
          fmt::format("; on a {} that it was not chosen on, such a choice costs {} × the best setting of each problem",
                      analysis.contents->group, human_number(*study.unseen_times_best));
      if (study.unseen_lost > 0) {
        text += fmt::format(", and loses {} that another setting solves", plural(study.unseen_lost, "problem"));
      }
    }
    text += (study.dropped > 0 ? "; " + study.chosen_among() : std::string()) + "\n";
  }
  return text;
}

std::string footer(const Analysis& analysis, const Ranking& ranking) {
  std::string text = fmt::format(" {} of {} solved by at least one solver", ranking.solved_by_any,
                                 plural(ranking.problems, "problem"));
  if (ranking.best_of_all) {
    text += fmt::format("; the fastest setting for each problem: time {}", human_time(*ranking.best_of_all));
  }
  if (analysis.times_shown && ranking.common_columns > 0) {
    text += fmt::format(
        " · common: {} that {}", plural(ranking.common_problems, "problem"),
        ranking.common_columns == 1 ? "1 solver solves" : fmt::format("{} solvers all solve", ranking.common_columns));
  }
  return text + "\n";
}

std::string legend(const Analysis& analysis) {
  std::string text = fmt::format(
      " solved share: {} weigh the same; problems: counted one by one; false: claims that the judge "
      "refutes;\n unsup.: problems a solver can't run on.\n",
      many_groups(analysis.contents->group));
  if (const std::string own = own_legend(analysis); !own.empty()) text += " " + own + ".\n";
  if (!analysis.times_shown) return text;
  return text +
         fmt::format(
             " {}, geometric means shifted by {}. time: unsolved problems count with their limit; "
             "cold: the same\n of first runs; common: problems that all solvers with at least half solved solve; "
             "×best: ratio to the best,\n over what a solver solves (not shifted).\n",
             analysis.condensation_shown ? "Set-up + solve, with and without condensation" : "Set-up + solve",
             human_time(analysis.shift_s));
}

/// A cell that ran and is not solved.
struct Unsolved {
  std::size_t slice = 0, problem = 0, column = 0;
  const CellRecord* cell = nullptr;
};

/// What broke stands first, then wrong claims, then who gave up, then who met a limit.
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

/// The reason, and how far the answer is from being one.
std::string why_unsolved(const CellRecord& cell) {
  std::string text = one_line(whole_reason(cell));
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
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
    constexpr std::size_t widest = 40;
    const std::string name = one_line(analysis.problems[one.problem].name);
    return list.every_cell ? name : shorten(name, widest);
  };
  // Of each solver's cells that ended alike the first stands for all, where not every one is asked for.
  std::map<std::tuple<CellStatus, bool, std::size_t>, std::size_t> group_of;
  using Group = std::pair<const Unsolved*, long>;
  std::vector<Group> groups;
  for (const Unsolved& one : cells) {
    const std::tuple key{one.cell->status, outcome(one.cell) == Outcome::false_claim, one.column};
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
  table.add({"solver"}, [&](const Group& group) { return Cell(labels[group.first->column], Tone::strong); });
  if (!list.every_cell) table.add({"cells", Format::count}, &Group::second);
  table.add({list.every_cell ? "problem" : "the first"}, [&](const Group& group) { return problem(*group.first); });
  table.add({"at"}, [&](const Group& group) { return analysis.slices[group.first->slice].label; });
  table.add({"why"}, [](const Group& group) { return Cell(why_unsolved(*group.first->cell), Tone::dim); });
  const std::size_t shown = list.every_cell ? groups.size() : std::min(groups.size(), max_groups);
  const TerminalLayout layout{
      .indent = 1, .paint = paint, .headings = Tone::dim, .columns = list.columns, .shorten = true, .least = 24};
  std::string out = fmt::format("\n {} not solved\n", plural(static_cast<long>(cells.size()), "cell")) +
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
      repeat_command(*analysis.problems[first.problem].record, *analysis.columns[first.column].setting, *first.cell,
                     repeat_places(*analysis.contents));
  if (!again.empty()) out += paint(Tone::dim, " the first again: " + one_line(again)) + "\n";
  return out + unsupported;
}

std::string terminal(const Analysis& analysis, bool colour, std::size_t columns) {
  const Paint paint{colour};
  const TerminalLayout layout{.indent = 1, .paint = paint, .headings = Tone::dim, .columns = columns};
  std::string out;
  for (const auto& note : analysis.notes) {
    const bool warning = note.level == Note::Level::warning;
    out += paint(warning ? Tone::warning : Tone::dim, warning ? " ! " : " · ") + one_line(note.text) + "\n";
  }
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Ranking& ranking = analysis.ranking(s);
    const Slice& slice = analysis.slices[s];
    out += "\n " + paint(Tone::strong, fmt::format("{} at {}", one_line(analysis.title), slice.label));
    out += paint(Tone::dim, fmt::format("  {}, {} start · {} in {}\n {}", slice.verdict, slice.start,
                                        plural(ranking.problems, "problem"),
                                        count_groups(ranking.families, analysis.contents->group),
                                        one_line(criterion_text(analysis, slice))));
    if (ranking.problems == 0) {
      out += "\n nothing to rank: every problem is left out\n";
      continue;
    }
    out += "\n" + ranking_table(analysis, ranking, layout);
    if (const std::string doubts = doubt_text(analysis, ranking); !doubts.empty()) {
      out += paint(Tone::warning, fmt::format(" {} {}", doubt_mark, one_line(doubts))) + "\n";
    }
    out += paint(Tone::dim, footer(analysis, ranking));
    for (const Ranking* const other : analysis.rankings_of(s)) {
      if (other == &ranking) continue;
      out += paint(Tone::dim, fmt::format(" the same by {} (above: {})\n", title(other->cost), title(ranking.cost)));
      out += ranking_table(analysis, *other, layout);
    }
    out += paint(Tone::dim, advice(analysis, s));
    for (const auto& remark : ranking.remarks) out += paint(Tone::dim, " " + one_line(remark)) + "\n";
  }
  if (!analysis.slices.empty()) out += "\n" + paint(Tone::dim, legend(analysis));
  return out;
}

}  // namespace conebench::reports
