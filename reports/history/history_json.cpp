#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "reports/comparison/alarms.hpp"
#include "reports/history/history_describe.hpp"
#include "reports/page_shell.hpp"
#include "reports/write_files.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<PageSection, 5> sections{{{"headline", "Overview"},
                                               {"chart", "Chart"},
                                               {"configurations", "Configurations"},
                                               {"changes", "Changes"},
                                               {"nights", "Nights"}}};
constexpr std::array<std::string_view, 7> scripts{"format.js",  "looks.js",  "widgets.js", "theme.js",
                                                  "figures.js", "charts.js", "history.js"};

/// A log ratio as the change in percent with five digits; null where there is none.
Json change(const std::optional<double>& log_ratio) {
  if (!log_ratio || !std::isfinite(*log_ratio)) return nullptr;
  return std::strtod(fmt::format("{:.5g}", 100.0 * std::expm1(*log_ratio)).c_str(), nullptr);
}

/// As a link in `folder`.
std::string page_of(const HistoryNight& night, const std::filesystem::path& folder) {
  if (night.page.empty() || folder.empty()) return night.page.generic_string();
  std::error_code failure;
  const auto relative = std::filesystem::relative(night.page, folder, failure);
  return (failure ? night.page : relative).generic_string();
}

Json code_json(const std::vector<CodeChange>& changes) {
  Json list = Json::array();
  for (const CodeChange& change : changes) {
    list.push_back({{"solver", change.solver}, {"before", change.before}, {"after", change.after}});
  }
  return list;
}

Json night_json(const HistoryNight& night, const std::filesystem::path& folder) {
  const NightSummary& summary = night.summary;
  return {{"store", summary.store.filename().string()},
          {"started_utc", summary.started_utc},
          {"version", summary.version},
          {"commit", summary.commit},
          {"executable", summary.executable},
          {"code_hashes", summary.code_hashes},
          {"code_changes", code_json(night.code_changes)},
          {"cpu", summary.cpu},
          {"cores", summary.cores},
          {"compiler", summary.compiler},
          {"flags", summary.flags},
          {"suite_hash", summary.suite_hash},
          {"complete", summary.complete()},
          {"missing", summary.missing},
          {"loaded", summary.loaded},
          {"loaded_share", summary.loaded_share},
          {"several_builds", summary.several_builds},
          {"segment", night.segment},
          {"not_judged", night.not_judged},
          {"exit_code", night.result ? Json(night.result->exit_code) : Json(nullptr)},
          {"headline", night.result ? night.result->headline : ""},
          {"page", page_of(night, folder)}};
}

Json series_json(const SuiteHistory& suite, const HistorySeries& series) {
  Json solved = Json::array(), problems = Json::array(), corrected = Json::array(), raw = Json::array();
  Json doubtful = Json::array();
  bool any_raw = false;
  for (const HistoryPoint& point : series.points) {
    solved.push_back(point.solved);
    problems.push_back(point.problems);
    doubtful.push_back(point.doubtful);
    corrected.push_back(change(point.corrected));
    raw.push_back(change(point.raw));
    any_raw = any_raw || point.raw.has_value();
  }
  Json json = {{"configuration", series.configuration},
               {"slice", series.slice},
               {"family", series.family.empty() ? Json(nullptr) : Json(series.family)},
               {"solved", std::move(solved)},
               {"problems", std::move(problems)},
               {"doubtful", std::move(doubtful)},
               {"corrected_percent", std::move(corrected)}};
  if (any_raw) json["raw_percent"] = std::move(raw);
  const std::size_t last = suite.nights.size() - 1;
  json["against_last_percent"] = change(against_last_nights(suite, series, last, &HistoryPoint::corrected));
  json["raw_against_last_percent"] = change(against_last_nights(suite, series, last, &HistoryPoint::raw));
  return json;
}

Json time_change_json(const SuiteHistory& suite, const TimeChange& found) {
  const ChangePoint& point = found.change;
  return {{"configuration", found.configuration},
          {"slice", found.slice},
          {"last_before", point.last_before},
          {"first_after", point.first_after},
          {"seen_at", point.seen_at},
          {"effect_percent", change(point.effect)},
          {"sigma", point.sigma},
          {"rule", to_string(point.rule)},
          {"code_changes", code_json(changed_code(suite, point.last_before, point.first_after))},
          {"text", describe_change(suite, found)}};
}

Json last_night_json(const SuiteHistory& suite) {
  Json configurations = Json::array(), alarms = Json::array();
  for (const ConfigurationState& state : suite.last.states) {
    Json row = {{"configuration", state.configuration}, {"slice", state.slice}, {"state", to_string(state.state)}};
    if (const auto& evidence = state.evidence) {
      row["evidence"] = {{"source", to_string(evidence->source)},
                         {"cells", evidence->cells},
                         {"change_percent", change(evidence->estimate)},
                         {"low_percent", change(evidence->low)},
                         {"high_percent", change(evidence->high)},
                         {"could_have_seen_percent", change(evidence->could_have_seen)}};
    }
    configurations.push_back(std::move(row));
  }
  for (const Alarm& alarm : suite.last.alarms) {
    Json row = to_json(alarm);
    row["text"] = describe_alarm(alarm);
    alarms.push_back(std::move(row));
  }
  return {
      {"baseline", suite.last.baseline.filename().string()}, {"configurations", configurations}, {"alarms", alarms}};
}

Json suite_json(const SuiteHistory& suite, const std::filesystem::path& folder) {
  Json json = {{"suite", suite.suite},        {"configurations", suite.configurations}, {"origins", suite.origins},
               {"terms", terms_lines(suite)}, {"doubts", doubt_lines(suite)},           {"families", suite.families}};
  for (const char* list : {"nights", "slices", "series", "together_percent", "time_changes", "cell_changes"}) {
    json[list] = Json::array();
  }
  json["judged_nights"] = suite.judged_nights;
  json["nights_needed"] = SuiteHistory::nights_needed;
  json["last_night"] = last_night_json(suite);
  for (const HistoryNight& night : suite.nights) json["nights"].push_back(night_json(night, folder));
  for (std::size_t i = 0; i < suite.slices.size(); ++i) {
    const HistorySlice& slice = suite.slices[i];
    json["slices"].push_back({{"label", describe_slice(suite, i)},
                              {"tolerance", slice.tolerance},
                              {"stop_by", slice.stop_by},
                              {"verdict", slice.verdict},
                              {"start", slice.start}});
  }
  for (const HistorySeries& series : suite.series) {
    // A family has configurations that never ran on it; all families are complete, for readers by index.
    bool any = series.family.empty();
    for (const HistoryPoint& point : series.points) any = any || point.problems > 0;
    if (any) json["series"].push_back(series_json(suite, series));
  }
  for (const auto& nights : suite.together) {
    Json list = Json::array();
    for (const auto& together : nights) list.push_back(change(together));
    json["together_percent"].push_back(std::move(list));
  }
  for (const TimeChange& found : suite.time_changes) json["time_changes"].push_back(time_change_json(suite, found));
  for (const CellChanges& changes : suite.cell_changes) {
    json["cell_changes"].push_back({{"configuration", changes.configuration},
                                    {"slice", changes.slice},
                                    {"before", changes.before},
                                    {"night", changes.night},
                                    {"lost", changes.lost},
                                    {"won", changes.won},
                                    {"at_limit", changes.hit_limit},
                                    {"flaky", changes.flaky},
                                    {"other_work", changes.other_work},
                                    {"code_changes", code_json(changed_code(suite, changes.before, changes.night))}});
  }
  return json;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string history_json(const History& history, const std::filesystem::path& folder) {
  Json json = {{"schema", "conebench.history/2"}, {"suites", Json::array()}, {"notes", history.notes}};
  for (const SuiteHistory& suite : history.suites) json["suites"].push_back(suite_json(suite, folder));
  return dump(json) + "\n";
}

std::string history_page(const History& history, const std::filesystem::path& folder, const std::string& home) {
  const bool one = history.suites.size() == 1;
  return html_shell({.title = one ? "Conebench history: " + history.suites.front().suite : "Conebench history",
                     .sections = sections,
                     .text_files = "history.md and history.json",
                     .data = history_json(history, folder),
                     .pictures = {},
                     .scripts = scripts,
                     .home = home});
}

Result<std::vector<std::filesystem::path>> write_history(const History& history, const std::filesystem::path& folder) {
  const std::vector<ReportFile> files = {{"index.html", history_page(history, folder)},
                                         {"history.md", history_markdown(history)},
                                         {"history.json", history_json(history, folder)}};
  if (auto written = write_files(folder, files); !written) return written.error();
  std::vector<std::filesystem::path> paths;
  for (const ReportFile& file : files) paths.push_back(folder / file.path);
  return paths;
}

}  // namespace conebench::reports
