#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <unordered_map>

#include "reports/analysis_parts.hpp"
#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::reports {

namespace {

/// One CSV file as it grows. A missing number is an empty field.
class Csv {
 public:
  Csv(const ByteSink& sink, const std::vector<std::string>& header) : sink_(sink) {
    for (const auto& name : header) text(name);
    end();
  }
  Csv& text(const std::string& value) { return field(csv_field(value)); }
  Csv& number(double value) { return field(exact(value)); }
  Csv& number(const std::optional<double>& value) { return field(value ? exact(*value) : ""); }
  Csv& whole(long value) { return field(std::to_string(value)); }
  Csv& counter(long value) { return field(value < 0 ? "" : std::to_string(value)); }
  Csv& flag(bool value) { return field(value ? "1" : "0"); }
  void end() {
    line_ += '\n';
    sink_(line_);
    line_.clear();
    first_ = true;
  }

 private:
  Csv& field(const std::string& written) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += written;
    return *this;
  }

  const ByteSink& sink_;
  std::string line_;
  bool first_ = true;
};

/// Whose a solver is: origin, peer_version, peer_released, peer_build, looks.
Csv& add_origin(Csv& csv, const SettingRecord& setting) {
  csv.text(setting.origin).text(setting.peer_version).text(setting.peer_released).text(setting.peer_build);
  return csv.text(setting.looks);
}

Csv& begin_slice(Csv& csv, const Slice& slice) {
  return csv.number(slice.tolerance).text(slice.criterion).text(slice.verdict).text(slice.start);
}

std::string family_name(const std::string& family) { return family.empty() ? "(all)" : family; }

void cells_csv(const Analysis& analysis, const ByteSink& sink) {
  std::vector<std::string> header{"tolerance",
                                  "criterion",
                                  "verdict",
                                  "start",
                                  "problem",
                                  "family",
                                  "contacts",
                                  "headline",
                                  "solver",
                                  "label",
                                  "origin",
                                  "peer_version",
                                  "peer_released",
                                  "peer_build",
                                  "looks",
                                  "outcome",
                                  "status",
                                  "reason",
                                  "claimed",
                                  "stage",
                                  "solved",
                                  "verdict_value",
                                  "iterations",
                                  "factorizations",
                                  "operator_products",
                                  "setup_s",
                                  "solve_s",
                                  "total_s",
                                  "total_cold_s",
                                  "total_min_s",
                                  "total_mad_s",
                                  "condensation_s",
                                  "wall_s",
                                  "own_setup_s",
                                  "own_solve_s",
                                  "repeats",
                                  "rounds",
                                  "doubts",
                                  "judge_s",
                                  "peak_memory_kb",
                                  "open",
                                  "stick",
                                  "slip",
                                  "own_residual",
                                  "solved_symmetrised",
                                  "verdict_symmetrised",
                                  "compliance_share",
                                  "verdict_compliant",
                                  "ccp_compliant",
                                  "max_iterations",
                                  "limit_s",
                                  "limit_mb",
                                  "run",
                                  "key"};
  for (const auto& name : analysis.residuals) header.push_back(name);
  header.push_back("command");
  Csv csv(sink, header);
  const RepeatPlaces places = repeat_places(*analysis.contents);
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const Slice& slice = analysis.slices[s];
    for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
      const Problem& problem = analysis.problems[p];
      for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
        const CellRecord* found = slice.grid[p][c];
        if (found == nullptr) continue;
        const CellRecord& cell = *found;
        const Column& column = analysis.columns[c];
        begin_slice(csv, slice).text(problem.name).text(problem.record->family).whole(problem.record->contacts);
        csv.flag(problem.counted[s]).text(column.setting->solver).text(column.label);
        add_origin(csv, *column.setting).text(id(outcome(found)));
        csv.text(to_string(cell.status))
            .text(whole_reason(cell))
            .flag(cell.claimed)
            .text(cell.stage)
            .flag(cell.solved)
            .number(cell.verdict_value);
        csv.whole(cell.iterations).counter(cell.factorizations).counter(cell.operator_products);
        const bool timed = analysis.times_shown && cell.repeats > 0;
        const auto seconds = [&](double value) { return timed ? std::optional(value) : std::nullopt; };
        csv.number(seconds(cell.setup.median)).number(seconds(cell.solve.median)).number(seconds(cell.total.median));
        csv.number(seconds(cell.total.cold)).number(seconds(cell.total.minimum)).number(seconds(cell.total.deviation));
        for (const auto& more : {cell.condensation_s, cell.wall_s, cell.own_setup_s, cell.own_solve_s}) {
          csv.number(timed ? more : std::nullopt);
        }
        csv.whole(cell.repeats).whole(cell.rounds).text(fmt::format("{}", fmt::join(cell.doubts, " ")));
        csv.number(cell.judge_s).whole(cell.peak_memory_kb);
        csv.whole(cell.open).whole(cell.stick).whole(cell.slip);
        csv.number(cell.own_residual_known ? std::optional(cell.own_residual) : std::nullopt);
        csv.flag(cell.solved_symmetrised).number(cell.verdict_symmetrised).number(cell.compliance_share);
        csv.number(cell.verdict_compliant).number(cell.ccp_compliant);
        csv.whole(cell.max_iterations).number(cell.limit_s).whole(cell.limit_mb).whole(cell.run_id).text(cell.key);
        for (const auto& name : analysis.residuals) {
          const auto residual = cell.residuals.find(name);
          const bool known = residual && residual->missing.empty();
          constexpr double infinity = std::numeric_limits<double>::infinity();
          csv.number(known ? std::optional(residual->value.value_or(infinity)) : std::nullopt);
        }
        csv.text(repeat_command(*problem.record, *column.setting, cell, places)).end();
      }
    }
  }
}

void ranking_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance",
                 "criterion",
                 "verdict",
                 "start",
                 "family",
                 "rank",
                 "label",
                 "origin",
                 "peer_version",
                 "peer_released",
                 "peer_build",
                 "looks",
                 "problems",
                 "solved",
                 "false_claim",
                 "failed",
                 "unsupported",
                 "not_run",
                 "solved_share",
                 "supported_share",
                 "claimed_solved",
                 "claimed_unsolved",
                 "silent_solved",
                 "silent_unsolved",
                 "passes_relative_only",
                 "with_compliance",
                 "verdict_compliant_solved",
                 "ccp_compliant_solved",
                 "time_at_limit_s",
                 "time_penalised_s",
                 "time_common_s",
                 "times_best",
                 "shift_s",
                 "common_problems",
                 "time_mean_s",
                 "time_std_s",
                 "rho_cost",
                 "rho_1",
                 "rho_inf",
                 "median_iterations",
                 "mean_factorizations",
                 "mean_operator_products"});
  for (const auto& ranking : analysis.rankings) {
    long rank = 0;
    for (const auto& row : ranking.rows) {
      begin_slice(csv, analysis.slices[ranking.slice]).text(family_name(ranking.family)).whole(++rank);
      add_origin(csv.text(analysis.columns[row.column].label), *analysis.columns[row.column].setting);
      csv.whole(ranking.problems).whole(row.tally.solved);
      csv.whole(row.tally.false_claim).whole(row.tally.failed).whole(row.tally.unsupported).whole(row.tally.not_run);
      csv.number(row.solved_share).number(row.supported_share).whole(row.claims.claimed_solved);
      csv.whole(row.claims.claimed_unsolved).whole(row.claims.silent_solved).whole(row.claims.silent_unsolved);
      csv.whole(row.passes_relative_only).whole(row.added_compliance.cells);
      csv.whole(row.added_compliance.verdict_solved).whole(row.added_compliance.ccp_solved);
      csv.number(row.means.at_limit).number(row.means.penalised);
      csv.number(row.means.common)
          .number(row.times_best)
          .number(analysis.shift_s)
          .whole(ranking.common_problems)
          .number(row.time_mean);
      csv.number(row.time_deviation).text(id(ranking.cost)).number(row.rho_one).number(row.rho_infinity);
      csv.number(row.median_iterations).number(row.mean_factorizations).number(row.mean_products).end();
    }
  }
}

void add_curve(Csv& csv, const Analysis& analysis, const Profile& profile, const Curve& curve) {
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    begin_slice(csv, analysis.slices[profile.slice]).text(family_name(profile.family)).text(id(profile.cost));
    csv.text(analysis.columns[curve.column].label).number(curve.x[i]).number(curve.y[i]).end();
  }
}

void performance_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance", "criterion", "verdict", "start", "family", "cost", "label", "tau", "rho"});
  for (const auto& profile : analysis.profiles) {
    for (const auto& curve : profile.performance) add_curve(csv, analysis, profile, curve);
  }
}

void data_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance", "criterion", "verdict", "start", "family", "cost", "label", "budget", "share"});
  for (const auto& profile : analysis.profiles) {
    for (const auto& curve : profile.data) add_curve(csv, analysis, profile, curve);
  }
}

void pairs_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance", "criterion", "verdict", "start", "cost", "first", "second", "first_better", "ties",
                 "second_better", "neither"});
  for (const auto& pair : analysis.pairs) {
    begin_slice(csv, analysis.slices[pair.slice]).text(id(pair.cost)).text(analysis.columns[pair.first].label);
    csv.text(analysis.columns[pair.second].label).whole(pair.first_better);
    csv.whole(pair.ties).whole(pair.second_better).whole(pair.neither).end();
  }
}

void pair_curves_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance", "criterion", "verdict", "start", "cost", "first", "second", "label", "tau", "rho"});
  PairCurves curves(analysis);
  for (const auto& pair : analysis.pairs) {
    if (pair.cost != shown_cost(analysis)) continue;  // the others follow from cells.csv, and would be many
    for (const Curve& curve : curves(pair)) {
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        begin_slice(csv, analysis.slices[pair.slice]).text(id(pair.cost)).text(analysis.columns[pair.first].label);
        csv.text(analysis.columns[pair.second].label).text(analysis.columns[curve.column].label);
        csv.number(curve.x[i]).number(curve.y[i]).end();
      }
    }
  }
}

void problems_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance",
                 "criterion",
                 "verdict",
                 "start",
                 "problem",
                 "family",
                 "source",
                 "kind",
                 "space_dimension",
                 "contacts",
                 "joints",
                 "limits",
                 "rows",
                 "nonzeros",
                 "mu_min",
                 "mu_max",
                 "symmetry_error",
                 "rank",
                 "conditioning",
                 "features_estimated",
                 "category",
                 "headline",
                 "left_out",
                 "hash",
                 "tried_by",
                 "solved_by",
                 "fastest",
                 "fastest_cost",
                 "cost",
                 "best_verdict",
                 "best_verdict_by"});
  const auto label = [&](const std::optional<std::size_t>& c) {
    return c ? analysis.columns[*c].label : std::string();
  };
  for (const auto& row : analysis.problem_rows) {
    const Problem& problem = analysis.problems[row.problem];
    const ProblemRecord& record = *problem.record;
    begin_slice(csv, analysis.slices[row.slice]).text(problem.name).text(record.family).text(record.source);
    csv.text(record.kind).whole(record.space_dimension).whole(record.contacts).whole(record.joints);
    csv.whole(record.limits).whole(record.rows).whole(record.nonzeros).number(record.mu_min).number(record.mu_max);
    csv.number(record.symmetry_error).counter(record.rank ? *record.rank : -1);
    csv.number(record.conditioning)
        .flag(record.features_estimated)
        .text(record.category)
        .flag(problem.counted[row.slice]);
    csv.text(problem.left_out).text(record.hash).whole(row.tried_by).whole(row.solved_by).text(label(row.fastest));
    csv.number(row.fastest_cost).text(id(shown_cost(analysis))).number(row.best_verdict);
    csv.text(label(row.best_verdict_by)).end();
  }
}

void statuses_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, {"tolerance", "criterion", "verdict", "start", "label", "status", "reason", "cells"});
  for (const auto& row : analysis.statuses) {
    begin_slice(csv, analysis.slices[row.slice]).text(analysis.columns[row.column].label).text(to_string(row.status));
    csv.text(row.reason).whole(row.cells).end();
  }
}

}  // namespace

std::vector<StreamedFile> csv_files(const Analysis& analysis) {
  std::vector<StreamedFile> files;
  const auto add = [&](const char* name, auto write) {
    files.push_back({name, [&analysis, write](const ByteSink& sink) { write(analysis, sink); }});
  };
  add("cells.csv", cells_csv);
  add("ranking.csv", ranking_csv);
  add("performance_profiles.csv", performance_csv);
  add("data_profiles.csv", data_csv);
  add("pairs.csv", pairs_csv);
  add("pair_profiles.csv", pair_curves_csv);
  add("problems.csv", problems_csv);
  add("statuses.csv", statuses_csv);
  return files;
}

}  // namespace conebench::reports
