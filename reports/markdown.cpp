#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

#include "reports/batches.hpp"
#include "reports/formats.hpp"
#include "reports/ranking_columns.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

std::string laid_out(const Table& table) { return markdown_text(table, MarkdownRules::aligned) + "\n"; }

std::string label(const Analysis& analysis, std::size_t column) {
  const Column& shown = analysis.columns[column];
  return is_own(*shown.configuration) ? fmt::format("{} {}", shown.label, own_mark) : shown.label;
}

std::string label(const Analysis& analysis, const RankingRow& row) {
  return label(analysis, row.column) + (row.doubts.empty() ? "" : std::string(" ") + doubt_mark);
}

std::string group_name(const std::string& family) { return family.empty() ? "(none)" : family; }

std::string ranking_table(const Analysis& analysis, const Ranking& ranking) {
  constexpr std::array<std::string_view, 13> usual = {
      "solved",         "solved_share",      "supported_share",    "time_at_limit", "time_cold",
      "time_penalised", "time_common",       "times_best",         "time_mean",     "rho_1",
      "rho_inf",        "median_iterations", "mean_factorizations"};
  TableOf<RankingRow> table;
  table.add({.heading = "#", .markup = true}, [&](const auto& row) { return rank_of(ranking, row); });
  table.add({"solver"}, [&](const auto& row) { return label(analysis, row); });
  for (const RankingColumn* const column : shown_columns(analysis, usual)) {
    const std::string heading = fmt::format(fmt::runtime(column->heading), many_groups(analysis.contents->group));
    table.add({heading, column->format}, [&analysis, &ranking, column](const auto& row) {
      return column->id == "solved" ? Cell(fmt::format("{}/{}", row.tally.solved, ranking.problems))
                                    : column->cell(analysis, ranking, row);
    });
  }
  return laid_out(table.of(shown_rows(analysis, ranking)));
}

std::string claim_table(const Analysis& analysis, const Ranking& ranking) {
  TableOf<RankingRow> table;
  table.add({"solver"}, [&](const auto& row) { return label(analysis, row.column); });
  table.add({"claims, solved", Format::count}, [](const auto& row) { return row.claims.claimed_solved; });
  table.add({"claims, not solved", Format::count}, [](const auto& row) { return row.claims.claimed_unsolved; });
  table.add({"silent, solved", Format::count}, [](const auto& row) { return row.claims.silent_solved; });
  table.add({"silent, not solved", Format::count}, [](const auto& row) { return row.claims.silent_unsolved; });
  table.add({"unsupported", Format::count}, [](const auto& row) { return row.tally.unsupported; });
  table.add({"not run", Format::count}, [](const auto& row) { return row.tally.not_run; });
  table.add({"relative passes, scaled fails", Format::count}, &RankingRow::passes_relative_only);
  return laid_out(table.of(shown_rows(analysis, ranking)));
}

std::string family_table(const Analysis& analysis, std::size_t slice) {
  TableOf<RankingRow> table;
  table.add({"solver"}, [&](const auto& row) { return label(analysis, row); });
  for (const auto& family : shown_families(analysis)) {
    const Ranking* const ranking = &analysis.ranking(slice, family);
    table.add({fmt::format("{} ({})", group_name(family), ranking->problems), Format::text_right},
              [ranking](const auto& row) {
                const RankingRow& found = ranking->row(row.column);
                const std::string time = found.means.common ? " · " + human_time(found.means.common) : "";
                return human_share(found.solved_share) + time;
              });
  }
  return laid_out(table.of(shown_rows(analysis, analysis.ranking(slice))));
}

std::string status_table(const Analysis& analysis, std::size_t slice) {
  Table table{{{"solver"}, {"status"}, {"reason"}, {"cells", Format::count}}};
  for (const auto& row : analysis.statuses) {
    if (row.slice != slice || row.status == CellStatus::converged || !is_shown(analysis, row.column)) continue;
    table.rows.push_back({label(analysis, row.column), to_string(row.status), row.reason, row.cells});
  }
  return laid_out(table);
}

/// How many headline problems each stage of a solver solved; empty where no solver has stages.
std::string stage_table(const Analysis& analysis, std::size_t s) {
  const Slice& slice = analysis.slices[s];
  Table table{{{"solver"}, {analysis.contents->group}, {"solved by its stages", Format::text_right}}};
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
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stage, count);
      }
      table.rows.push_back({label(analysis, c), group_name(family), text});
    }
  }
  return table.rows.empty() ? "" : laid_out(table);
}

std::string option_section(const Analysis& analysis, const OptionStudy& study) {
  std::string out = fmt::format("### Options of {}\n\n", markdown(study.solver));
  out += fmt::format(
      "Over {} that some configuration solves{}. *× best*: {} against the best configuration of each problem, families "
      "weighing the same; an unsolved problem counts with {} times its limit.\n\n",
      plural(study.problems, "problem"),
      study.unsolved > 0 ? fmt::format(" and without {} that none does", study.unsolved) : "", title(study.cost),
      exact(analysis.penalty_factor));
  Table table{
      {{"configuration"}, {"solved", Format::count}, {"× best", Format::number}, {"quartiles", Format::text_right}}};
  for (const auto& family : study.families) table.columns.push_back({group_name(family.name), Format::number});
  const auto strong_if = [](bool chosen) { return chosen ? Tone::strong : Tone::plain; };
  for (std::size_t k = 0; k < study.configurations.size(); ++k) {
    const auto& configuration = study.configurations[k];
    auto& row = table.rows.emplace_back();
    row = {{study.values(k), strong_if(k == study.recommended)},
           configuration.solved,
           configuration.times_best,
           fmt::format("{} / {} / {}", human_number(configuration.quartiles[0]),
                       human_number(configuration.quartiles[1]), human_number(configuration.quartiles[2]))};
    for (std::size_t f = 0; f < study.families.size(); ++f) {
      row.emplace_back(configuration.by_family[f], strong_if(study.families[f].best == k));
    }
  }
  out += laid_out(table);
  if (study.dropped > 0) {
    return out +
           fmt::format(
               "Best configuration: {}, {}. How a choice does on problems that it was not made on is not known.\n\n",
               markdown(study.values(study.recommended)), study.chosen_among());
  }
  if (!study.unseen_times_best) {
    return out + fmt::format("Best configuration: {}. One {} alone cannot say what holds for problems of another.\n\n",
                             markdown(study.values(study.recommended)), analysis.contents->group);
  }
  Table unseen = text_columns(analysis.contents->group, "best here", "chosen on the others");
  unseen.columns.insert(unseen.columns.end(), {{"costs here, × best", Format::number}, {"lost", Format::count}});
  for (const auto& family : study.families) {
    unseen.rows.push_back({group_name(family.name), study.values(family.best), study.values(*family.chosen),
                           *family.chosen_times_best, family.chosen_lost});
  }
  return out + laid_out(unseen) +
         fmt::format("Best configuration: **{}**. {}.\n\n", markdown(study.values(study.recommended)),
                     study.unseen_text(analysis.contents->group));
}

/// Who is best on each headline problem; where nobody solves it, who comes closest.
std::string problem_table(const Analysis& analysis, std::size_t slice) {
  Table table{{{"problem"},
               {analysis.contents->group},
               {"contacts", Format::count},
               {"solved by", Format::count},
               {"best", Format::text_right},
               {title(shown_cost(analysis)), Format::time},
               {"least verdict", Format::residual},
               {"by", Format::text_right}}};
  const auto name = [&](const std::optional<std::size_t>& column) {
    return column ? Cell(label(analysis, *column)) : Cell();
  };
  long unsolved = 0;
  for (const auto& row : analysis.problem_rows) {
    const Problem& problem = analysis.problems[row.problem];
    if (row.slice != slice || !problem.counted[slice]) continue;
    unsolved += row.solved_by == 0;
    Cell spent;
    if (row.fastest) {
      const CellRecord& cell = *analysis.slices[slice].grid[row.problem][*row.fastest];
      spent = analysis.times_shown ? Cell(cell.total.median) : cell.iterations < 0 ? Cell() : Cell(cell.iterations);
    }
    table.rows.push_back({problem.name, problem.record->family, problem.record->contacts,
                          fmt::format("{} of {}", row.solved_by, row.tried_by), name(row.fastest), spent,
                          row.best_verdict, name(row.best_verdict_by)});
  }
  const std::string lead = unsolved == 0 ? std::string("Every problem is solved by some solver.")
                                         : fmt::format("No solver solves {}.", plural(unsolved, "problem"));
  return lead + "\n\n" + laid_out(table);
}

std::string slice_section(const Analysis& analysis, std::size_t s) {
  const Slice& slice = analysis.slices[s];
  const Ranking& ranking = analysis.ranking(s);
  std::string out = fmt::format("## Tolerance {}\n\n", markdown(slice.label));
  out += fmt::format("Verdict {}, {}, {} start; {}, {} solved by at least one solver", markdown(slice.verdict),
                     markdown(stop_by_text(analysis, slice)), markdown(slice.start),
                     plural(ranking.problems, "problem"), ranking.solved_by_any);
  if (ranking.best_of_all) {
    out += fmt::format("; the best solver of each problem takes {} (at limit)", human_time(ranking.best_of_all));
  }
  out += ".\n\n" + ranking_table(analysis, ranking);
  if (analysis.times_shown) {
    out += fmt::format(
        "Geometric means of {}, shifted by {}; unsolved problems count with their limit (*at limit*; *cold*: "
        "the same of first runs), {} times that (*penalised*), or only the {} {} that all {} with at least half solved "
        "solve (*common*). *× best*: geometric mean ratio to the best solver of each problem, over what a solver "
        "solves.\n\n",
        title(ranking.cost), human_time(analysis.shift_s), exact(analysis.penalty_factor),
        plural(ranking.common_problems, "problem"), ranking.common_problems == 1 ? "counts" : "count",
        plural(ranking.common_columns, "solver"));
  }
  out += fmt::format("ρ is the performance profile over {}. {} weigh the same.\n\n", title(ranking.cost),
                     capital(many_groups(analysis.contents->group)));
  if (const std::string view = view_text(analysis, ranking); !view.empty()) out += markdown(view) + ".\n\n";
  if (const std::string legend = own_legend(analysis); !legend.empty()) out += markdown(legend) + ".\n\n";
  if (const std::string doubts = doubt_text(analysis, ranking); !doubts.empty()) {
    out += fmt::format("{} {}.\n\n", doubt_mark, markdown(doubts));
  }
  for (const auto& remark : ranking.remarks) out += markdown(remark) + "\n\n";
  for (const Ranking* const other : analysis.rankings_of(s)) {
    if (other == &ranking) continue;
    out += fmt::format("### The same by {}\n\nAbove: {}.\n\n", title(other->cost), title(ranking.cost)) +
           ranking_table(analysis, *other);
  }
  const Table batches = batch_table(analysis, s, [&](std::size_t column) { return label(analysis, column); });
  if (!batches.rows.empty()) {
    out += "### Batches\n\n" + laid_out(batches);
    if (analysis.times_shown) out += capital(batch_legend) + ".\n\n";
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
  Table table = text_columns("run", "suite", "started", "finished", "mode", "machine", "governor", "load", "build");
  for (const auto& run : analysis.contents->runs) {
    const MachineRecord& machine = run.machine;
    table.rows.push_back(
        {run.id, run.suite_name, run.started_utc, run.finished_utc.empty() ? "unfinished" : run.finished_utc, run.mode,
         fmt::format("{}, {}, {} cores, {} MB", machine.host, machine.cpu, machine.cores, machine.memory_mb),
         machine.governor, fmt::format("{:.2f} → {:.2f}", run.load_before, run.load_after),
         fmt::format("{} {}, {} {}", run.build.version, run.build.commit, run.build.compiler, run.build.flags)});
  }
  return "## Runs\n\n" + laid_out(table);
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
