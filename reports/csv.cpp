#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <limits>

#include "reports/analysis_parts.hpp"
#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/table.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::reports {

namespace {

/// A file as it grows.
class Csv {
 public:
  Csv(const ByteSink& sink, const std::string& header) : sink_(sink) { sink_(header + "\n"); }
  template <class... Values>
  Csv& add(const Values&... values) {
    (cells_.emplace_back(values), ...);
    return *this;
  }
  Csv& add(const std::vector<Cell>& cells) {
    cells_.insert(cells_.end(), cells.begin(), cells.end());
    return *this;
  }
  void end() {
    sink_(csv_line(cells_));
    cells_.clear();
  }

 private:
  const ByteSink& sink_;
  std::vector<Cell> cells_;
};

constexpr const char* slice_header = "tolerance,criterion,verdict,start,";
Csv& begin_slice(Csv& csv, const Slice& slice) {
  return csv.add(slice.tolerance, slice.criterion, slice.verdict, slice.start);
}

/// Whose a solver is, and what its times have in them.
constexpr const char* origin_header = "origin,peer_version,peer_released,peer_build,looks,pays,";
Csv& add_origin(Csv& csv, const Slice& slice, const SettingRecord& setting) {
  return csv.add(setting.origin, setting.peer_version, setting.peer_released, setting.peer_build, setting.looks,
                 pays_for_tests(slice, setting));
}

/// "clock=1 kept_answers=3"
std::string doubt_counts(const RankingRow& row) {
  std::vector<std::string> counts;
  for (const auto& [code, cells] : row.doubts) counts.push_back(fmt::format("{}={}", code, cells));
  return fmt::format("{}", fmt::join(counts, " "));
}

/// A ranked column with its terms in a scope: label, origin, pays, doubts.
std::vector<Cell> ranked(const Analysis& analysis, std::size_t slice, const std::string& family, std::size_t column) {
  const auto& [setting, label] = analysis.columns[column];
  return {label, setting->origin, pays_for_tests(analysis.slices[slice], *setting),
          doubt_counts(analysis.ranking(slice, family).row(column))};
}

/// Nothing for -1.
Cell known_count(std::int64_t count) { return count < 0 ? Cell() : Cell(count); }

std::string family_name(const std::string& family) { return family.empty() ? "(all)" : family; }

void cells_csv(const Analysis& analysis, const ByteSink& sink) {
  std::string header = fmt::format(
      "{}problem,family,contacts,headline,solver,label,{}outcome,status,reason,claimed,stage,solved,verdict_value,"
      "iterations,factorizations,operator_products,setup_s,solve_s,total_s,total_cold_s,total_min_s,total_mad_s,"
      "condensation_s,wall_s,own_setup_s,own_solve_s,repeats,rounds,doubts,judge_s,peak_memory_kb,open,stick,slip,"
      "own_residual,solved_symmetrised,verdict_symmetrised,compliance_share,verdict_compliant,ccp_compliant,"
      "max_iterations,limit_s,limit_mb,run,key,",
      slice_header, origin_header);
  for (const std::string& name : analysis.residuals) header += csv_field(name) + ",";
  Csv csv(sink, header + "command");
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
        begin_slice(csv, slice).add(problem.name, problem.record->family, problem.record->contacts);
        csv.add(problem.counted[s], column.setting->solver, column.label);
        add_origin(csv, slice, *column.setting).add(id(outcome(found)), to_string(cell.status), whole_reason(cell));
        csv.add(cell.claimed, cell.stage, cell.solved, cell.verdict_value, cell.iterations);
        csv.add(known_count(cell.factorizations), known_count(cell.operator_products));
        const bool timed = analysis.times_shown && cell.repeats > 0;
        for (const auto& seconds : std::initializer_list<std::optional<double>>{
                 cell.setup.median, cell.solve.median, cell.total.median, cell.total.cold, cell.total.minimum,
                 cell.total.deviation, cell.condensation_s, cell.wall_s, cell.own_setup_s, cell.own_solve_s}) {
          csv.add(timed ? seconds : std::nullopt);
        }
        csv.add(cell.repeats, cell.rounds, fmt::format("{}", fmt::join(cell.doubts, " ")), cell.judge_s);
        csv.add(cell.peak_memory_kb, cell.open, cell.stick, cell.slip);
        csv.add(cell.own_residual_known ? Cell(cell.own_residual) : Cell(), cell.solved_symmetrised);
        csv.add(cell.verdict_symmetrised, cell.compliance_share, cell.verdict_compliant, cell.ccp_compliant);
        csv.add(cell.max_iterations, cell.limit_s, cell.limit_mb, cell.run_id, cell.key);
        for (const auto& name : analysis.residuals) {
          const auto residual = cell.residuals.find(name);
          const bool known = residual && residual->missing.empty();
          constexpr double infinity = std::numeric_limits<double>::infinity();
          csv.add(known ? Cell(residual->value.value_or(infinity)) : Cell());
        }
        csv.add(repeat_command(*problem.record, *column.setting, cell, places)).end();
      }
    }
  }
}

void ranking_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}family,rank,label,{}doubts,problems,solved,false_claim,failed,unsupported,not_run,"
                            "solved_share,supported_share,claimed_solved,claimed_unsolved,silent_solved,"
                            "silent_unsolved,passes_relative_only,with_compliance,verdict_compliant_solved,"
                            "ccp_compliant_solved,time_at_limit_s,time_cold_s,time_penalised_s,time_common_s,"
                            "times_best,shift_s,common_problems,time_mean_s,time_std_s,rho_cost,rho_1,rho_inf,"
                            "median_iterations,mean_factorizations,mean_operator_products",
                            slice_header, origin_header));
  for (const auto& ranking : analysis.rankings) {
    long rank = 0;
    for (const auto& row : ranking.rows) {
      const Column& column = analysis.columns[row.column];
      const Tally& tally = row.tally;
      const ClaimMatrix& claims = row.claims;
      const GeometricMeans& means = row.means;
      const Slice& slice = analysis.slices[ranking.slice];
      begin_slice(csv, slice).add(family_name(ranking.family), ++rank, column.label);
      add_origin(csv, slice, *column.setting).add(doubt_counts(row), ranking.problems);
      csv.add(tally.solved, tally.false_claim, tally.failed);
      csv.add(tally.unsupported, tally.not_run, row.solved_share, row.supported_share, claims.claimed_solved);
      csv.add(claims.claimed_unsolved, claims.silent_solved, claims.silent_unsolved, row.passes_relative_only);
      csv.add(row.added_compliance.cells, row.added_compliance.verdict_solved, row.added_compliance.ccp_solved);
      csv.add(means.at_limit, means.cold, means.penalised, means.common, row.times_best, analysis.shift_s);
      csv.add(ranking.common_problems, row.time_mean, row.time_deviation, id(ranking.cost), row.rho_one);
      csv.add(row.rho_infinity, row.median_iterations, row.mean_factorizations, row.mean_products).end();
    }
  }
}

void profiles_csv(const Analysis& analysis, std::vector<Curve> Profile::*curves, const char* x_and_y,
                  const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}family,cost,label,origin,pays,doubts,{}", slice_header, x_and_y));
  for (const auto& profile : analysis.profiles) {
    for (const Curve& curve : profile.*curves) {
      const auto column = ranked(analysis, profile.slice, profile.family, curve.column);
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        begin_slice(csv, analysis.slices[profile.slice]).add(family_name(profile.family), id(profile.cost));
        csv.add(column).add(curve.x[i], curve.y[i]).end();
      }
    }
  }
}

void performance_csv(const Analysis& analysis, const ByteSink& sink) {
  profiles_csv(analysis, &Profile::performance, "tau,rho", sink);
}

void data_csv(const Analysis& analysis, const ByteSink& sink) {
  profiles_csv(analysis, &Profile::data, "budget,share", sink);
}

void pairs_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}cost,first,first_origin,first_pays,first_doubts,second,second_origin,second_pays,"
                            "second_doubts,first_better,ties,second_better,neither",
                            slice_header));
  for (const auto& pair : analysis.pairs) {
    begin_slice(csv, analysis.slices[pair.slice]).add(id(pair.cost));
    csv.add(ranked(analysis, pair.slice, {}, pair.first)).add(ranked(analysis, pair.slice, {}, pair.second));
    csv.add(pair.first_better, pair.ties, pair.second_better, pair.neither).end();
  }
}

void pair_curves_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}cost,first,second,label,origin,pays,doubts,tau,rho", slice_header));
  PairCurves curves(analysis);
  for (const auto& pair : analysis.pairs) {
    if (pair.cost != shown_cost(analysis)) continue;  // the others follow from cells.csv, and would be many
    for (const Curve& curve : curves(pair)) {
      const auto column = ranked(analysis, pair.slice, {}, curve.column);
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        begin_slice(csv, analysis.slices[pair.slice]).add(id(pair.cost));
        csv.add(analysis.columns[pair.first].label, analysis.columns[pair.second].label);
        csv.add(column).add(curve.x[i], curve.y[i]).end();
      }
    }
  }
}

void problems_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}problem,family,source,kind,space_dimension,contacts,joints,limits,rows,nonzeros,mu_min,"
                            "mu_max,symmetry_error,rank,conditioning,features_estimated,category,headline,left_out,"
                            "hash,tried_by,solved_by,fastest,fastest_cost,cost,best_verdict,best_verdict_by",
                            slice_header));
  const auto label = [&](const std::optional<std::size_t>& c) {
    return c ? analysis.columns[*c].label : std::string();
  };
  for (const auto& row : analysis.problem_rows) {
    const Problem& problem = analysis.problems[row.problem];
    const ProblemRecord& record = *problem.record;
    begin_slice(csv, analysis.slices[row.slice]).add(problem.name, record.family, record.source, record.kind);
    csv.add(record.space_dimension, record.contacts, record.joints, record.limits, record.rows, record.nonzeros);
    csv.add(record.mu_min, record.mu_max, record.symmetry_error, known_count(record.rank.value_or(-1)));
    csv.add(record.conditioning, record.features_estimated, record.category, problem.counted[row.slice]);
    csv.add(problem.left_out, record.hash, row.tried_by, row.solved_by, label(row.fastest), row.fastest_cost);
    csv.add(id(shown_cost(analysis)), row.best_verdict, label(row.best_verdict_by)).end();
  }
}

void statuses_csv(const Analysis& analysis, const ByteSink& sink) {
  Csv csv(sink, fmt::format("{}label,status,reason,cells", slice_header));
  for (const auto& row : analysis.statuses) {
    begin_slice(csv, analysis.slices[row.slice]).add(analysis.columns[row.column].label, to_string(row.status));
    csv.add(row.reason, row.cells).end();
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
