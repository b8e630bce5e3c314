#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "metrics/residuals.hpp"
#include "reports/analysis_parts.hpp"
#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"
#include "store/store_load.hpp"
#include "store/time_doubts.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

/// Texts that repeat, each kept once and named by its index.
class Pool {
 public:
  std::size_t operator()(const std::string& text) {
    const auto [location, is_new] = locations_.emplace(text, list_.size());
    if (is_new) list_.push_back(text);
    return location->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> locations_;
  Json list_ = Json::array();
};

/// An object or a list that is written as it grows, in the bytes of Json::dump().
class Growing {
 public:
  Growing(const ByteSink& sink, char open, char close) : sink_(sink), close_(close) { sink_({&open, 1}); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  void add(const Json& value) {
    next();
    put(value);
  }
  void add(const char* key, const Json& value) {
    name(key);
    put(value);
  }
  /// A member that `write` fills.
  template <class Write>
  void add_list(const char* key, Write write) {
    name(key);
    Growing list(sink_, '[', ']');
    write(list);
    list.end();
  }
  template <class Write>
  void add_object(const char* key, Write write) {
    name(key);
    Growing object(sink_, '{', '}');
    write(object);
    object.end();
  }
  void end() { sink_({&close_, 1}); }

 private:
  void next() {
    if (!first_) sink_(",");
    first_ = false;
  }
  void name(const char* key) {
    next();
    put(key);
    sink_(":");
  }
  void put(const Json& value) { sink_(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

  const ByteSink& sink_;
  char close_;
  bool first_ = true;
};

class Writer {
 public:
  Writer(const Analysis& analysis, const JsonDetail& detail) : analysis_(analysis), detail_(detail) {}

  void write(const ByteSink& sink) {
    Growing out(sink, '{', '}');
    out.add("schema", "conebench.report/2");
    out.add("title", analysis_.title);
    out.add("filter", analysis_.contents->filter);
    out.add("times_shown", analysis_.times_shown);
    out.add("time_doubts", doubts());
    out.add("shift_s", analysis_.shift_s);
    out.add("penalty_factor", analysis_.penalty_factor);
    out.add("notes", notes());
    out.add("runs", runs());
    out.add("group", {{"one", analysis_.contents->group}, {"many", many_groups(analysis_.contents->group)}});
    out.add("families", analysis_.families);
    out.add("residuals", residual_infos());
    out.add("costs", costs());
    out.add("solvers", solvers());
    out.add_list("problems", [&](Growing& list) { problems(list); });
    out.add("slices", slices());
    out.add_object("cells", [&](Growing& object) {
      object.add("names", cell_names());
      object.add_list("rows", [&](Growing& list) { cells(list); });
    });
    out.add("commands", commands_.list());
    out.add_list("traces", [&](Growing& list) { traces(list); });
    out.add("rankings", rankings());
    out.add_list("budgets", [&](Growing& list) { budgets(list); });
    if (detail_.curves) {
      out.add_list("profiles", [&](Growing& list) { profiles(list); });
      out.add_list("pairs", [&](Growing& list) { pairs(list); });
    }
    out.add("status_text", status_texts());
    out.add("statuses", statuses());
    out.add("option_studies", option_studies());
    out.add_list("problem_results", [&](Growing& list) { problem_results(list); });
    out.end();
  }

 private:
  Json number(double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (detail_.digits >= 17) return value;
    return std::strtod(fmt::format("{:.{}g}", value, detail_.digits).c_str(), nullptr);
  }
  template <class T>
  Json number(const std::optional<T>& value) const {
    return value ? number(static_cast<double>(*value)) : Json(nullptr);
  }
  static Json index(const std::optional<std::size_t>& value) { return value ? Json(*value) : Json(nullptr); }

  /// What the codes of cells' doubts mean.
  static Json doubts() {
    Json sentences = Json::object();
    for (const TimeDoubt& doubt : time_doubts) sentences[std::string(doubt.code)] = std::string(doubt.sentence);
    return sentences;
  }

  Json notes() const {
    Json list = Json::array();
    for (const auto& note : analysis_.notes) {
      list.push_back({{"level", note.level == Note::Level::warning ? "warning" : "info"}, {"text", note.text}});
      if (note.of_noise) list.back()["of_noise"] = true;
    }
    return list;
  }

  Json runs() const {
    Json list = Json::array();
    for (const auto& run : analysis_.contents->runs) {
      list.push_back({{"id", run.id},
                      {"suite", run.suite_name},
                      {"suite_text", run.suite_text},
                      {"seed", run.seed},
                      {"started", run.started_utc},
                      {"finished", run.finished_utc},
                      {"mode", run.mode},
                      {"jobs", run.jobs},
                      {"machine",
                       {{"host", run.machine.host},
                        {"cpu", run.machine.cpu},
                        {"cores", run.machine.cores},
                        {"memory_mb", run.machine.memory_mb},
                        {"kernel", run.machine.kernel},
                        {"governor", run.machine.governor}}},
                      {"build",
                       {{"version", run.build.version},
                        {"commit", run.build.commit},
                        {"compiler", run.build.compiler},
                        {"flags", run.build.flags},
                        {"build_type", run.build.build_type},
                        {"native", run.build.native},
                        {"libraries", run.build.libraries}}},
                      {"load_before", number(run.load_before)},
                      {"load_after", number(run.load_after)},
                      {"steal_share", number(run.steal_share)},
                      {"load_known", load_is_known(run, analysis_.contents->cells)},
                      {"noise", noise_texts(run.noise)}});
    }
    return list;
  }

  Json costs() const {
    Json list = Json::array();
    for (const Cost cost : shown_costs(analysis_)) {
      list.push_back({{"id", id(cost)}, {"title", title(cost)}});
    }
    return list;
  }

  Json residual_infos() const {
    Json list = Json::array();
    for (const auto& name : analysis_.residuals) {
      Json entry = {{"name", name}};
      for (const auto& row : residual_table()) {
        if (row.name != name) continue;
        entry.update({{"formula", row.formula}, {"unit", row.unit}, {"verdict", row.usable_as_verdict}});
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  Json solvers() const {
    const RepeatLocations locations = repeat_locations(*analysis_.contents);
    Json list = Json::array();
    for (const auto& column : analysis_.columns) {
      const ConfigurationRecord& configuration = *column.configuration;
      Json options = Json::parse(configuration.options_json, nullptr, false);
      if (!options.is_object()) options = Json::object();
      list.push_back({{"label", column.label},
                      {"solver", configuration.solver},
                      {"version", configuration.solver_version},
                      {"formulation", configuration.formulation},
                      {"options", std::move(options)},
                      {"hash", configuration.hash},
                      {"origin", configuration.origin},
                      {"peer_version", configuration.peer_version},
                      {"peer_released", configuration.peer_released},
                      {"peer_build", configuration.peer_build},
                      {"checks", configuration.checks},
                      {"arguments", solver_arguments(configuration, locations)}});
    }
    return list;
  }

  void problems(Growing& list) const {
    const auto folders = repeat_locations(*analysis_.contents).folders;
    std::map<std::string, std::string> folder_of;  // by problem
    for (const CellRecord& cell : analysis_.contents->cells) {
      if (const auto found = folders.find(cell.run_id); found != folders.end()) folder_of[cell.problem] = found->second;
    }
    for (const auto& problem : analysis_.problems) {
      const ProblemRecord& record = *problem.record;
      list.add({{"name", problem.name},
                {"family", record.family},
                {"source", record.source},
                {"kind", record.kind},
                {"space_dimension", record.space_dimension},
                {"contacts", record.contacts},
                {"joints", record.joints},
                {"limits", record.limits},
                {"intervals", record.intervals},
                {"rows", record.rows},
                {"nonzeros", record.nonzeros},
                {"mu_min", number(record.mu_min)},
                {"mu_max", number(record.mu_max)},
                {"symmetry_error", number(record.symmetry_error)},
                {"rank", number(record.rank)},
                {"conditioning", number(record.conditioning)},
                {"features_estimated", record.features_estimated},
                {"category", record.category},
                {"sequence", record.sequence},
                {"step", number(record.step)},
                {"given", record.given},
                {"factor_s", number(record.factor_s)},
                {"assemble_s", number(record.assemble_s)},
                {"diagonal_s", number(record.diagonal_s)},
                {"headline", problem.headline},
                {"counted", problem.counted},
                {"left_out", problem.left_out},
                {"error", record.error},
                {"hash", record.hash},
                {"zero_impulse", zero_impulse(record)},
                {"arguments", problem_arguments(record, folder_of[record.hash])},
                {"whole_command", fails_before_a_solve(record)}});
    }
  }

  Json slices() const {
    Json list = Json::array();
    for (const auto& slice : analysis_.slices) {
      list.push_back({{"label", slice.label},
                      {"tolerance", number(slice.tolerance)},
                      {"stop_by", slice.stop_by},
                      {"stop_by_text", stop_by_text(analysis_, slice)},
                      {"paying_alone", paying_alone(analysis_, slice)},
                      {"verdict", slice.verdict},
                      {"start", slice.start}});
    }
    return list;
  }

  static Json counter(std::int64_t count) { return count < 0 ? Json(nullptr) : Json(count); }

  Json seconds(const CellRecord& cell, double value) const {
    return analysis_.times_shown && cell.repeats > 0 ? number(value) : Json(nullptr);
  }

  /// Values, worst blocks and reasons why there is none, in the order of `residuals`. A value that is not finite:
  /// "inf".
  Json residuals(const CellRecord& cell) const {
    Json list = Json::array();
    for (const auto& name : analysis_.residuals) {
      const auto found = cell.residuals.find(name);
      if (!found) {
        list.push_back(nullptr);
      } else if (!found->missing.empty()) {
        list.push_back({nullptr, -1, found->missing});
      } else if (!found->value) {
        list.push_back({"inf", found->worst_block});
      } else {
        list.push_back({number(found->value), found->worst_block});
      }
    }
    return list;
  }

  Json cell_row(std::size_t slice, std::size_t problem, std::size_t column, const CellRecord& cell) {
    return {slice,
            problem,
            column,
            id(outcome(&cell)),
            cell.status,
            whole_reason(cell),
            cell.start_used == cell.start ? Json(nullptr) : Json(cell.start_used),
            cell.claimed,
            cell.stage,
            number(cell.verdict_value),
            counter(cell.iterations),
            counter(cell.factorizations),
            counter(cell.operator_products),
            seconds(cell, cell.total.median),
            seconds(cell, cell.total.deviation),
            seconds(cell, cell.total.minimum),
            seconds(cell, cell.total.cold),
            seconds(cell, cell.setup.median),
            seconds(cell, cell.solve.median),
            cell.repeats,
            cell.rounds,
            cell.doubts.empty() ? Json(nullptr) : Json(cell.doubts),
            number(cell.judge_s),
            cell.peak_memory_kb,
            cell.open,
            cell.stick,
            cell.slip,
            cell.own_residual_known ? number(cell.own_residual) : Json(nullptr),
            cell.solved_symmetrised ? Json(true) : Json(nullptr),
            number(cell.verdict_symmetrised),
            cell.compliance_share > 0.0 ? number(cell.compliance_share) : Json(nullptr),
            number(cell.verdict_compliant),
            number(cell.ccp_compliant),
            number(cell.limit_s),
            cell.limit_mb,
            to_string(cell.used),
            number(cell.condensation_s),
            number(cell.wall_s),
            number(cell.own_setup_s),
            number(cell.own_solve_s),
            cell.run_id,
            commands_(request_arguments(cell)),
            residuals(cell),
            cell.key};
  }

  void cells(Growing& rows) {
    for (std::size_t s = 0; s < analysis_.slices.size(); ++s) {
      for (std::size_t p = 0; p < analysis_.problems.size(); ++p) {
        for (std::size_t c = 0; c < analysis_.columns.size(); ++c) {
          const CellRecord* cell = analysis_.slices[s].grid[p][c];
          if (cell == nullptr) continue;
          row_of_.emplace(cell, row_of_.size());
          rows.add(cell_row(s, p, c, *cell));
        }
      }
    }
  }

  /// Those of the verdicts in use.
  Json zero_impulse(const ProblemRecord& problem) const {
    Json values = Json::object();
    for (const Slice& slice : analysis_.slices) {
      const auto found = problem.zero_impulse.find(slice.verdict);
      if (found != problem.zero_impulse.end()) values[slice.verdict] = number(found->second);
    }
    return values;
  }

  /// To the three digits that a curve shows; traces are of single precision anyway.
  Json rounded(double value) const {
    if (!std::isfinite(value)) return nullptr;
    if (detail_.digits >= 17) return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
    return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr);
  }
  Json rounded(const std::optional<double>& value) const { return value ? rounded(*value) : Json(nullptr); }

  /// After cells(), by the row of the cell.
  void traces(Growing& list) const {
    const auto traced = traced_cells(analysis_);
    const bool all = detail_.max_traces < 0;
    const std::size_t count = all ? traced.size() : std::min(traced.size(), std::size_t(detail_.max_traces));
    for (std::size_t i = 0; i < count; ++i) {
      const Trace& trace = traced[i]->trace;
      const std::size_t points = all ? trace.size() : std::min(trace.size(), detail_.max_points);
      Json iterations = Json::array(), seconds = Json::array(), own = Json::array(), residuals = Json::array();
      for (std::size_t k = 0; k < points; ++k) {
        // The first and the last are among them.
        const TracePoint& point = trace[points == trace.size() ? k : k * (trace.size() - 1) / (points - 1)];
        iterations.push_back(point.iteration);
        seconds.push_back(rounded(point.seconds));
        own.push_back(rounded(point.own_residual));
        residuals.push_back(rounded(point.residual));
      }
      Json entry = {{"cell", row_of_.at(traced[i])}, {"iteration", std::move(iterations)}};
      if (analysis_.times_shown) entry["seconds"] = std::move(seconds);
      entry["own_residual"] = std::move(own);
      entry["residual"] = std::move(residuals);
      list.add(entry);
    }
  }

  void budgets(Growing& list) const {
    for (const BudgetErrors& table : analysis_.budgets) {
      Json rows = Json::array();
      for (const BudgetErrors::Row& row : table.rows) {
        Json median = Json::array(), high = Json::array();
        for (const auto& value : row.median) median.push_back(rounded(value));
        for (const auto& value : row.high) high.push_back(rounded(value));
        Json entry = {{"solver", row.column}, {"median", std::move(median)}};
        if (detail_.curves || table.family.empty()) entry["high"] = std::move(high);
        rows.push_back(std::move(entry));
      }
      list.add({{"slice", table.slice},
                {"family", table.family},
                {"cost", id(table.cost)},
                {"problems", table.problems},
                {"budgets", table.budgets},
                {"rows", std::move(rows)}});
    }
  }

  static Json cell_names() {
    return {"slice",
            "problem",
            "solver",
            "outcome",
            "status",
            "reason",
            "start_used",
            "claimed",
            "stage",
            "verdict_value",
            "iterations",
            "factorizations",
            "operator_products",
            "total_median_s",
            "total_deviation_s",
            "total_minimum_s",
            "total_cold_s",
            "setup_median_s",
            "solve_median_s",
            "repeats",
            "rounds",
            "doubts",
            "judge_s",
            "peak_memory_kb",
            "open",
            "stick",
            "slip",
            "own_residual",
            "symmetrised",
            "verdict_symmetrised",
            "compliance_share",
            "verdict_compliant",
            "ccp_compliant",
            "limit_s",
            "limit_mb",
            "used",
            "condensation_s",
            "wall_s",
            "own_setup_s",
            "own_solve_s",
            "run",
            "command",
            "residuals",
            "key"};
  }

  Json ranking_row(const RankingRow& row) const {
    return {{"solver", row.column},
            {"solved", row.tally.solved},
            {"false_claim", row.tally.false_claim},
            {"failed", row.tally.failed},
            {"unsupported", row.tally.unsupported},
            {"not_run", row.tally.not_run},
            {"solved_share", number(row.solved_share)},
            {"supported_share", number(row.supported_share)},
            {"claimed_solved", row.claims.claimed_solved},
            {"claimed_unsolved", row.claims.claimed_unsolved},
            {"silent_solved", row.claims.silent_solved},
            {"silent_unsolved", row.claims.silent_unsolved},
            {"passes_relative_only", row.passes_relative_only},
            {"with_compliance", row.added_compliance.cells},
            {"verdict_compliant_solved", row.added_compliance.verdict_solved},
            {"ccp_compliant_solved", row.added_compliance.ccp_solved},
            {"time_at_limit_s", number(row.means.at_limit)},
            {"time_cold_s", number(row.means.cold)},
            {"time_penalised_s", number(row.means.penalised)},
            {"time_common_s", number(row.means.common)},
            {"times_best", number(row.times_best)},
            {"time_mean_s", number(row.time_mean)},
            {"time_std_s", number(row.time_deviation)},
            {"rho_1", number(row.rho_one)},
            {"rho_inf", number(row.rho_infinity)},
            {"median_iterations", number(row.median_iterations)},
            {"mean_factorizations", number(row.mean_factorizations)},
            {"mean_operator_products", number(row.mean_products)},
            {"doubts", row.doubts}};
  }

  Json rankings() const {
    Json list = Json::array();
    for (const auto& ranking : analysis_.rankings) {
      Json rows = Json::array();
      for (const auto& row : ranking.rows) rows.push_back(ranking_row(row));
      list.push_back({{"slice", ranking.slice},
                      {"family", ranking.family},
                      {"problems", ranking.problems},
                      {"families", ranking.families},
                      {"common_problems", ranking.common_problems},
                      {"common_solvers", ranking.common_columns},
                      {"cost", id(ranking.cost)},
                      {"solved_by_any", ranking.solved_by_any},
                      {"best_of_all_s", number(ranking.best_of_all)},
                      {"remarks", ranking.remarks},
                      {"doubt_text", doubt_text(analysis_, ranking)},
                      {"rows", std::move(rows)}});
    }
    return list;
  }

  Json curve(const Curve& curve) const {
    Json x = Json::array();
    Json y = Json::array();
    for (const double value : curve.x) x.push_back(number(value));
    for (const double value : curve.y) y.push_back(number(value));
    return {{"solver", curve.column}, {"x", std::move(x)}, {"y", std::move(y)}};
  }

  void profiles(Growing& list) const {
    for (const auto& profile : analysis_.profiles) {
      Json performance = Json::array();
      Json data = Json::array();
      for (const auto& one : profile.performance) performance.push_back(curve(one));
      for (const auto& one : profile.data) data.push_back(curve(one));
      list.add({{"slice", profile.slice},
                {"family", profile.family},
                {"cost", id(profile.cost)},
                {"problems", profile.problems},
                {"performance", std::move(performance)},
                {"data", std::move(data)}});
    }
  }

  void pairs(Growing& list) const {
    PairCurves curves(analysis_);
    for (const auto& pair : analysis_.pairs) {
      const auto both = curves(pair);
      list.add({{"slice", pair.slice},
                {"cost", id(pair.cost)},
                {"first", pair.first},
                {"second", pair.second},
                {"first_better", pair.first_better},
                {"ties", pair.ties},
                {"second_better", pair.second_better},
                {"neither", pair.neither},
                {"curves", {curve(both[0]), curve(both[1])}}});
    }
  }

  static Json status_texts() {
    Json list = Json::array();
    for (const CellStatusRow& row : cell_status_table()) {
      list.push_back({{"status", row.name}, {"brief", row.brief}, {"text", row.meaning}});
    }
    return list;
  }

  Json statuses() const {
    Json list = Json::array();
    for (const auto& row : analysis_.statuses) {
      list.push_back({{"slice", row.slice},
                      {"solver", row.column},
                      {"status", row.status},
                      {"reason", row.reason},
                      {"cells", row.cells}});
    }
    return list;
  }

  Json numbers(std::span<const double> values) const {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
  }

  Json option_study(const OptionStudy& study) const {
    Json axes = Json::array();
    Json configurations = Json::array();
    Json families = Json::array();
    for (const auto& axis : study.axes) {
      Json values = Json::array();
      for (const auto& value : axis.values) values.push_back(Json::parse(value));
      axes.push_back({{"option", axis.option}, {"numeric", axis.numeric}, {"values", std::move(values)}});
    }
    for (const auto& configuration : study.configurations) {
      configurations.push_back({{"solver", configuration.column},
                                {"indices", configuration.indices},
                                {"times_best", number(configuration.times_best)},
                                {"quartiles", numbers(configuration.quartiles)},
                                {"by_family", numbers(configuration.by_family)},
                                {"solved", configuration.solved}});
    }
    for (const auto& family : study.families) {
      families.push_back({{"family", family.name},
                          {"problems", family.problems},
                          {"best", family.best},
                          {"chosen", index(family.chosen)},
                          {"chosen_times_best", number(family.chosen_times_best)},
                          {"chosen_lost", family.chosen_lost}});
    }
    return {{"slice", study.slice},
            {"solver", study.solver},
            {"cost", id(study.cost)},
            {"axes", std::move(axes)},
            {"configurations", std::move(configurations)},
            {"families", std::move(families)},
            {"problems", study.problems},
            {"unsolved", study.unsolved},
            {"recommended", study.recommended},
            {"unseen_times_best", number(study.unseen_times_best)},
            {"unseen_lost", study.unseen_lost},
            {"dropped", study.dropped}};
  }

  Json option_studies() const {
    Json list = Json::array();
    for (const auto& study : analysis_.option_studies) list.push_back(option_study(study));
    return list;
  }

  void problem_results(Growing& list) const {
    for (const auto& row : analysis_.problem_rows) {
      list.add({{"slice", row.slice},
                {"problem", row.problem},
                {"tried_by", row.tried_by},
                {"solved_by", row.solved_by},
                {"fastest", index(row.fastest)},
                {"fastest_cost", number(row.fastest_cost)},
                {"best_verdict", number(row.best_verdict)},
                {"best_verdict_by", index(row.best_verdict_by)}});
    }
  }

  const Analysis& analysis_;
  JsonDetail detail_;
  Pool commands_;
  std::map<const CellRecord*, std::size_t> row_of_;
};

}  // namespace

void json_report(const Analysis& analysis, const JsonDetail& detail, const ByteSink& sink) {
  Writer(analysis, detail).write(sink);
}

}  // namespace conebench::reports
