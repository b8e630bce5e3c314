#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/formats.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// A pipe table; fields are escaped by the caller. The first column and texts align left, numbers right.
class Table {
 public:
  explicit Table(const std::vector<std::string>& headings, std::size_t left_columns = 1) {
    add(headings);
    std::vector<std::string> rules;
    for (std::size_t c = 0; c < headings.size(); ++c) rules.emplace_back(c < left_columns ? ":--" : "--:");
    add(rules);
  }
  void add(const std::vector<std::string>& fields) {
    for (const auto& field : fields) text_ += "| " + field + " ";
    text_ += "|\n";
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

std::string share(const std::optional<double>& value) { return value ? human_share(*value) : "–"; }
std::string number(const std::optional<double>& value) { return value ? human_number(*value) : "–"; }

std::string label(const Analysis& analysis, std::size_t column) {
  const Column& shown = analysis.columns[column];
  return markdown(is_own(*shown.setting) ? fmt::format("{} {}", shown.label, own_mark) : shown.label);
}

std::string ranking_table(const Analysis& analysis, const Ranking& ranking) {
  std::vector<std::string> headings{"#", "solver", "problems solved",
                                    fmt::format("share ({} equal)", many_groups(analysis.contents->group)),
                                    "of supported"};
  if (analysis.times_shown)
    headings.insert(headings.end(), {"at limit", "penalised", "common", "× best", "mean ± std (common)"});
  headings.insert(headings.end(), {"ρ(1)", "ρ(∞)", "iterations (median)", "factorizations (mean)"});
  Table table(headings, 2);
  long rank = 0;
  for (const auto& row : ranking.rows) {
    std::vector<std::string> fields{std::to_string(++rank), label(analysis, row.column),
                                    fmt::format("{}/{}", row.tally.solved, row.tally.total()),
                                    human_share(row.solved_share), share(row.supported_share)};
    if (analysis.times_shown) {
      const std::string spread = row.time_deviation ? " ± " + human_time(row.time_deviation) : "";
      fields.insert(fields.end(),
                    {human_time(row.means.at_limit), human_time(row.means.penalised), human_time(row.means.common),
                     number(row.times_best), human_time(row.time_mean) + spread});
    }
    fields.insert(fields.end(), {share(row.rho_one), share(row.rho_infinity), number(row.median_iterations),
                                 number(row.mean_factorizations)});
    table.add(fields);
  }
  return table.take();
}

std::string claim_table(const Analysis& analysis, const Ranking& ranking) {
  Table table({"solver", "claims, solved", "claims, not solved", "silent, solved", "silent, not solved", "unsupported",
               "not run", "relative passes, scaled fails"});
  for (const auto& row : ranking.rows) {
    const auto text = [](long n) { return std::to_string(n); };
    table.add({label(analysis, row.column), text(row.claims.claimed_solved), text(row.claims.claimed_unsolved),
               text(row.claims.silent_solved), text(row.claims.silent_unsolved), text(row.tally.unsupported),
               text(row.tally.not_run), text(row.passes_relative_only)});
  }
  return table.take();
}

std::string family_table(const Analysis& analysis, std::size_t slice) {
  std::vector<std::string> headings{"solver"};
  for (const auto& family : analysis.families) {
    const std::string name = family.empty() ? "(none)" : markdown(family);
    headings.push_back(fmt::format("{} ({})", name, analysis.ranking(slice, family).problems));
  }
  Table table(headings);
  for (const auto& row : analysis.ranking(slice).rows) {
    std::vector<std::string> fields{label(analysis, row.column)};
    for (const auto& family : analysis.families) {
      const auto& rows = analysis.ranking(slice, family).rows;
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.column == row.column; });
      const std::string time = found->means.common ? " · " + human_time(found->means.common) : "";
      fields.push_back(human_share(found->solved_share) + time);
    }
    table.add(fields);
  }
  return table.take();
}

std::string status_table(const Analysis& analysis, std::size_t slice) {
  Table table({"solver", "status", "reason", "cells"}, 3);
  for (const auto& row : analysis.statuses) {
    if (row.slice != slice || row.status == CellStatus::converged) continue;
    table.add({label(analysis, row.column), markdown(to_string(row.status)), markdown(row.reason),
               std::to_string(row.cells)});
  }
  return table.take();
}

/// How many headline problems each stage of a solver solved; empty where no solver has stages.
std::string stage_table(const Analysis& analysis, std::size_t s) {
  const Slice& slice = analysis.slices[s];
  Table table({"solver", analysis.contents->group, "solved by its stages"}, 2);
  bool any = false;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    std::map<std::string, std::map<std::string, long>> solved;  // by family and stage
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      const CellRecord* cell = slice.grid[p][c];
      if (cell == nullptr || !analysis.problems[p].counted[s] || !cell->solved || cell->stage.empty()) continue;
      ++solved[analysis.problems[p].record->family][cell->stage];
    }
    for (const auto& [family, stages] : solved) {
      std::string text;
      for (const auto& [stage, count] : stages) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", markdown(stage), count);
      }
      table.add({label(analysis, c), family.empty() ? "(none)" : markdown(family), text});
      any = true;
    }
  }
  return any ? table.take() : "";
}

std::string option_section(const Analysis& analysis, const OptionStudy& study) {
  std::string out = fmt::format("### Options of {}\n\n", markdown(study.solver));
  out += fmt::format(
      "Over {} that some setting solves{}. *× best*: {} against the best setting of each problem, families "
      "weighing the same; an unsolved problem counts with {} times its limit.\n\n",
      plural(study.problems, "problem"),
      study.unsolved > 0 ? fmt::format(" and without {} that none does", study.unsolved) : "", title(study.cost),
      exact(analysis.penalty_factor));
  std::vector<std::string> headings{"setting", "solved", "× best", "quartiles"};
  for (const auto& family : study.families) headings.push_back(family.name.empty() ? "(none)" : markdown(family.name));
  Table table(headings);
  for (std::size_t k = 0; k < study.settings.size(); ++k) {
    const auto& setting = study.settings[k];
    std::vector<std::string> fields{
        markdown(study.values(k)), std::to_string(setting.solved), human_number(setting.times_best),
        fmt::format("{} / {} / {}", human_number(setting.quartiles[0]), human_number(setting.quartiles[1]),
                    human_number(setting.quartiles[2]))};
    if (k == study.recommended) fields[0] = "**" + fields[0] + "**";
    for (std::size_t f = 0; f < study.families.size(); ++f) {
      const std::string ratio = human_number(setting.by_family[f]);
      fields.push_back(study.families[f].best == k ? "**" + ratio + "**" : ratio);
    }
    table.add(fields);
  }
  out += table.take();
  if (study.dropped > 0) {
    return out + fmt::format("Best over all: {}, {}. What it costs on problems not yet seen is not known.\n\n",
                             markdown(study.values(study.recommended)), study.chosen_among());
  }
  if (!study.unseen_times_best) {
    return out + fmt::format("Best over all: {}. One {} alone cannot say what holds for problems of another.\n\n",
                             markdown(study.values(study.recommended)), analysis.contents->group);
  }
  Table unseen({analysis.contents->group, "best here", "chosen on the others", "costs here, × best", "lost"}, 3);
  for (const auto& family : study.families) {
    unseen.add({family.name.empty() ? "(none)" : markdown(family.name), markdown(study.values(family.best)),
                markdown(study.values(*family.chosen)), human_number(*family.chosen_times_best),
                std::to_string(family.chosen_lost)});
  }
  return out + unseen.take() +
         fmt::format(
             "For unseen problems: **{}**. On a {} that it was not chosen on, such a choice costs {} times the "
             "best setting of each problem, and {} {} lost that another setting solves.\n\n",
             markdown(study.values(study.recommended)), analysis.contents->group,
             human_number(*study.unseen_times_best), plural(study.unseen_lost, "problem"),
             study.unseen_lost == 1 ? "is" : "are");
}

/// Who is best on each headline problem; where nobody solves it, who comes closest.
std::string problem_table(const Analysis& analysis, std::size_t slice) {
  const std::string cost_title = title(shown_cost(analysis));
  Table table({"problem", analysis.contents->group, "contacts", "solved by", "best", cost_title, "least verdict", "by"},
              2);
  const auto name = [&](const std::optional<std::size_t>& column) { return column ? label(analysis, *column) : "–"; };
  long unsolved = 0;
  for (const auto& row : analysis.problem_rows) {
    const Problem& problem = analysis.problems[row.problem];
    if (row.slice != slice || !problem.counted[slice]) continue;
    unsolved += row.solved_by == 0;
    std::string spent = "–";
    if (row.fastest) {
      const CellRecord& cell = *analysis.slices[slice].grid[row.problem][*row.fastest];
      spent = analysis.times_shown ? human_time(cell.total.median) : std::to_string(cell.iterations);
    }
    table.add({markdown(problem.name), markdown(problem.record->family), std::to_string(problem.record->contacts),
               fmt::format("{} of {}", row.solved_by, row.tried_by), name(row.fastest), spent,
               human_residual(row.best_verdict), name(row.best_verdict_by)});
  }
  const std::string lead = unsolved == 0 ? std::string("Every problem is solved by some solver.")
                                         : fmt::format("No solver solves {}.", plural(unsolved, "problem"));
  return lead + "\n\n" + table.take();
}

std::string slice_section(const Analysis& analysis, std::size_t s) {
  const Slice& slice = analysis.slices[s];
  const Ranking& ranking = analysis.ranking(s);
  std::string out = fmt::format("## Tolerance {}\n\n", markdown(slice.label));
  out += fmt::format("Verdict {}, {}, {} start; {}, {} solved by at least one solver", markdown(slice.verdict),
                     markdown(criterion_text(analysis, slice)), markdown(slice.start),
                     plural(ranking.problems, "problem"), ranking.solved_by_any);
  if (ranking.best_of_all) {
    out += fmt::format("; the best solver of each problem takes {} (at limit)", human_time(ranking.best_of_all));
  }
  out += ".\n\n" + ranking_table(analysis, ranking);
  if (analysis.times_shown) {
    out += fmt::format(
        "Geometric means of {}, shifted by {}; unsolved problems count with their limit (*at limit*), "
        "{} times that (*penalised*), or only the {} {} that all {} with at least half solved solve (*common*). *× "
        "best*: "
        "geometric mean ratio to the best solver of each problem, over what a solver solves.\n\n",
        title(ranking.cost), human_time(analysis.shift_s), exact(analysis.penalty_factor),
        plural(ranking.common_problems, "problem"), ranking.common_problems == 1 ? "counts" : "count",
        plural(ranking.common_columns, "solver"));
  }
  out += fmt::format("ρ is the performance profile over {}. {} weigh the same.\n\n", title(ranking.cost),
                     capital(many_groups(analysis.contents->group)));
  if (const std::string legend = own_legend(analysis); !legend.empty()) out += markdown(legend) + ".\n\n";
  for (const auto& remark : ranking.remarks) out += markdown(remark) + "\n\n";
  for (const Ranking* const other : analysis.rankings_of(s)) {
    if (other == &ranking) continue;
    out += fmt::format("### The same by {}\n\nAbove: {}.\n\n", title(other->cost), title(ranking.cost)) +
           ranking_table(analysis, *other);
  }
  out += "### Claim against verdict\n\n" + claim_table(analysis, ranking);
  if (analysis.families.size() > 1) {
    out += fmt::format("### Solved share{} per {}\n\n", analysis.times_shown ? " and mean time (common)" : "",
                       analysis.contents->group) +
           family_table(analysis, s);
  }
  if (const std::string stages = stage_table(analysis, s); !stages.empty()) out += "### Stages\n\n" + stages;
  for (const auto& study : analysis.option_studies) {
    if (study.slice == s) out += option_section(analysis, study);
  }
  out += "### Statuses other than converged\n\n" + status_table(analysis, s);
  return out + "### Problems\n\n" + problem_table(analysis, s);
}

std::string run_section(const Analysis& analysis) {
  std::string out = "## Runs\n\n";
  Table table({"run", "suite", "started", "finished", "mode", "machine", "governor", "load", "build"}, 9);
  for (const auto& run : analysis.contents->runs) {
    const MachineRecord& machine = run.machine;
    table.add(
        {std::to_string(run.id), markdown(run.suite_name), markdown(run.started_utc),
         run.finished_utc.empty() ? "unfinished" : markdown(run.finished_utc), markdown(run.mode),
         markdown(fmt::format("{}, {}, {} cores, {} MB", machine.host, machine.cpu, machine.cores, machine.memory_mb)),
         markdown(machine.governor), fmt::format("{:.2f} → {:.2f}", run.load_before, run.load_after),
         markdown(
             fmt::format("{} {}, {} {}", run.build.version, run.build.commit, run.build.compiler, run.build.flags))});
  }
  return out + table.take();
}

}  // namespace

std::string markdown_report(const Analysis& analysis) {
  std::string out = fmt::format("# {}\n\n", analysis.title.empty() ? "Conebench report" : markdown(analysis.title));
  for (const auto& note : analysis.notes) {
    out += fmt::format("- {}{}\n", note.level == Note::Level::warning ? "**Warning:** " : "", markdown(note.text));
  }
  for (const auto& problem : analysis.problems) {
    if (!problem.left_out.empty())
      out += fmt::format("  - {}: {}\n", markdown(problem.name), markdown(problem.left_out));
  }
  if (!analysis.notes.empty()) out += "\n";
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) out += slice_section(analysis, s);
  return out + run_section(analysis);
}

}  // namespace conebench::reports
