#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/command.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Side& side) {
  Json runs = Json::array();
  for (const RunRecord& run : side.runs) {
    runs.push_back({{"suite", run.suite_name},
                    {"started_utc", run.started_utc},
                    {"finished_utc", run.finished_utc},
                    {"mode", run.mode},
                    {"version", run.build.version},
                    {"commit", run.build.commit},
                    {"executable", run.build.executable},
                    {"compiler", run.build.compiler},
                    {"flags", run.build.flags},
                    {"processor", run.machine.cpu},
                    {"data_sets", run.data_sets}});
  }
  return {{"name", side.name},
          {"cells", side.cells.size()},
          {"loaded", side.loaded},
          {"loaded_share", side.loaded_share},
          {"runs", runs}};
}

Json counts_json(const ConfigurationChange& change) {
  Json counts;
  for (std::size_t i = 0; i < cell_changes; ++i) counts[to_string(static_cast<CellChange>(i))] = change.counts[i];
  return counts;
}

/// Ratios of candidate to baseline and log deviations as plain numbers.
Json configuration_json(const Comparison& comparison, const ConfigurationChange& change) {
  const ComparedConfiguration& configuration = comparison.configurations[change.configuration];
  Json out = {{"configuration", configuration.label},
              {"solver", configuration.solver},
              {"origin", configuration.origin},
              {"checks", configuration.checks},
              {"doubtful_cells", change.doubtful},
              {"assessment", to_string(change.assessment)},
              {"state", to_string(state_of(change))},
              {"failed", change.failed},
              {"reasons", change.reasons},
              {"why", why(comparison, change)},
              {"cells", counts_json(change)}};
  out["work"] = {{"verdict", to_string(change.work.verdict)},
                 {"changed_cells", change.work.changed},
                 {"trivial_cells", change.work.trivial},
                 {"iterations_ratio", std::exp(change.work.iterations)},
                 {"factorizations_ratio", std::exp(change.work.factorizations)},
                 {"products_ratio", std::exp(change.work.products)},
                 {"changed_time_ratio", std::exp(change.work.time)},
                 {"changed_time_per_product_ratio", std::exp(change.work.time_per_product)}};
  out["accuracy"] = {{"less_accurate", change.less_accurate},
                     {"digits_lost", change.accuracy ? Json(*change.accuracy) : Json(nullptr)}};
  if (!times_shown(comparison, change)) {
    out["times"] = nullptr;
    return out;
  }
  const ConfigurationTimes& times = change.times;
  out["times"] = {{"verdict", to_string(times.verdict)},
                  {"reason", times.reason},
                  {"cells", times.cells},
                  {"raw", times.raw},
                  {"corrected", times.corrected},
                  {"median", times.median},
                  {"deviation", times.deviation},
                  {"bar", times.bar},
                  {"could_have_seen", times.could_have_seen}};
  return out;
}

Json slice_json(const Comparison& comparison, const TimeSlice& slice) {
  Json out = {{"tolerance", slice.request.tolerance},
              {"stop_by", slice.request.stop_by},
              {"text", describe_slice(comparison, slice)},
              {"verdict", slice.request.verdict},
              {"start", slice.request.start},
              {"cells", slice.cells},
              {"together", slice.times.together},
              {"z", slice.times.z}};
  out["configurations"] = Json::array();
  for (const ConfigurationChange& change : slice.configurations)
    out["configurations"].push_back(configuration_json(comparison, change));
  out["families"] = Json::array();
  for (const FamilyChange& family : slice.families) {
    out["families"].push_back({{"configuration", comparison.configurations[family.configuration].label},
                               {"family", family.family},
                               {"cells", family.times.cells},
                               {"median", family.times.median},
                               {"bar", family.times.bar},
                               {"verdict", to_string(family.times.verdict)}});
  }
  return out;
}

/// What repeats a cell of a side.
std::string command_of(const Side& side, std::size_t index) {
  const ComparedCell& cell = side.cells[index];
  const Request& request = side.requests[cell.request];
  CellRecord record;
  record.tolerance = request.tolerance;
  record.stop_by = request.stop_by;
  record.verdict = request.verdict;
  record.start = request.start;
  record.max_iterations = request.max_iterations;
  record.limit_s = request.limit_s;
  record.limit_mb = request.limit_mb;
  return repeat_command(side.problems[cell.problem], side.configurations[cell.configuration], record);
}

}  // namespace

Json comparison_object(const Comparison& comparison, std::size_t max_cells) {
  Json out;
  out["schema"] = "conebench.compare/2";
  out["headline"] = headline(comparison);
  out["failed"] = comparison.failed;
  out["alarms"] = Json::object();
  for (const auto& [kind, count] : comparison.alarms) out["alarms"][kind] = count;
  out["accepted"] = Json::array();
  for (const Alarm& alarm : comparison.accepted) {
    Json row = to_json(alarm);
    row["text"] = describe_alarm(alarm);
    out["accepted"].push_back(std::move(row));
  }
  out["baseline"] = side_json(comparison.baseline);
  out["candidate"] = side_json(comparison.candidate);
  out["compared"] = comparison.compared;
  out["times_compared"] = comparison.times_compared;
  out["times_refused"] = comparison.times_refused;
  out["minimum_effect"] = comparison.minimum_effect;
  out["differences"] = comparison.differences;
  out["code_changes"] = Json::array();
  for (const CodeChange& change : comparison.code_changes) {
    out["code_changes"].push_back(
        {{"solver", change.solver}, {"baseline", change.before}, {"candidate", change.after}});
  }
  out["notes"] = comparison.notes;
  out["slices"] = Json::array();
  for (const TimeSlice& slice : comparison.slices) out["slices"].push_back(slice_json(comparison, slice));
  const auto changed = changed_cells(comparison);
  out["changed_cells_left_out"] = changed.size() - std::min(changed.size(), max_cells);
  out["changed_cells"] = Json::array();
  for (const CellPair* pair : changed) {
    if (out["changed_cells"].size() == max_cells) break;
    const ChangedCell cell = describe_cell(comparison, *pair);
    out["changed_cells"].push_back(
        {{"change", cell.change},
         {"problem", cell.problem},
         {"family", cell.family},
         {"configuration", cell.configuration},
         {"tolerance", comparison.slices[pair->slice].request.tolerance},
         {"start", comparison.slices[pair->slice].request.start},
         {"baseline", cell.baseline},
         {"candidate", cell.candidate},
         {"baseline_key", pair->baseline ? comparison.baseline.cells[*pair->baseline].key : ""},
         {"candidate_key", pair->candidate ? comparison.candidate.cells[*pair->candidate].key : ""},
         {"command", pair->candidate ? command_of(comparison.candidate, *pair->candidate)
                                     : command_of(comparison.baseline, *pair->baseline)}});
  }
  const auto names = [&](const auto& list, bool in_baseline, const auto& name_of) {
    Json all = Json::array();
    for (const auto& one : list) {
      if (one.in_baseline == in_baseline && one.in_candidate != in_baseline) all.push_back(name_of(one));
    }
    return all;
  };
  const auto problem = [](const ComparedProblem& one) {
    return Json{{"name", one.name}, {"source", one.source}, {"note", one.note}};
  };
  const auto label = [](const ComparedConfiguration& one) { return Json(one.label); };
  out["problems"] = {{"missing", names(comparison.problems, true, problem)},
                     {"new", names(comparison.problems, false, problem)}};
  out["problems"]["unreadable"] = Json::array();
  for (const ComparedProblem& one : comparison.problems) {
    if (one.in_baseline && one.in_candidate && !one.note.empty()) out["problems"]["unreadable"].push_back(problem(one));
  }
  out["configurations"] = {{"missing", names(comparison.configurations, true, label)},
                           {"new", names(comparison.configurations, false, label)}};
  return out;
}

std::string comparison_json(const Comparison& comparison) {
  constexpr std::size_t max_cells = 50000;  // some 25 MB
  const Json out = comparison_object(comparison, max_cells);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace conebench::reports
