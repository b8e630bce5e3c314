#include <fmt/format.h>

#include <algorithm>

#include "metrics/change/nights.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/history/history_describe.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr std::size_t max_listed = 20;
constexpr std::size_t max_names = 3;

std::string names(const std::vector<std::string>& list) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), max_names); ++i) text += (i > 0 ? ", " : "") + markdown(list[i]);
  if (list.size() > max_names) text += fmt::format(" and {} more", list.size() - max_names);
  return text;
}

std::string cell_change_line(const SuiteHistory& suite, const CellChanges& changes) {
  std::string what;
  const auto add = [&](const std::string& part) { what += (what.empty() ? "" : "; ") + part; };
  if (!changes.lost.empty()) add(fmt::format("**lost {}**: {}", changes.lost.size(), names(changes.lost)));
  if (!changes.won.empty()) add(fmt::format("won {}: {}", changes.won.size(), names(changes.won)));
  if (changes.hit_limit > 0) add(plural(changes.hit_limit, "cell") + " at the limit");
  if (changes.flaky > 0) add(plural(changes.flaky, "flaky cell"));
  if (changes.other_work > 0) add("other work on " + plural(changes.other_work, "cell"));
  if (const auto code = describe_code(changed_code(suite, changes.before, changes.night)); !code.empty()) {
    add(markdown(code));
  }
  return fmt::format("- {} at {}, {} → {}: {}\n", markdown(suite.configurations[changes.configuration]),
                     markdown(describe_slice(suite, changes.slice)), markdown(describe_night(suite, changes.before)),
                     markdown(describe_night(suite, changes.night)), what);
}

/// "slower +10.2 %", "not yet decidable"; "–" where there is nothing to compare with.
std::string describe_last_state(const SuiteHistory& suite, std::size_t configuration, std::size_t slice) {
  for (const ConfigurationState& state : suite.last.states) {
    if (state.configuration != configuration || state.slice != slice) continue;
    std::string text = state.state == ChangeState::undecided ? "not yet decidable" : to_string(state.state);
    const bool of_time = state.state == ChangeState::slower || state.state == ChangeState::faster;
    if (of_time && state.evidence) text += " " + per_cent(state.evidence->estimate);
    return text;
  }
  return "–";
}

std::string describe_undecidable(const SuiteHistory& suite) {
  return fmt::format(
      "Whether a time changed between two nights is not yet decidable: {} of {} nights that can be judged.",
      suite.judged_nights, SuiteHistory::nights_needed);
}

Table configurations_table(const SuiteHistory& suite) {
  Table table = text_columns("configuration", "tolerance", "solved", "night before",
                             fmt::format("time against the last {}, corrected", recent_nights), "raw", "last night");
  const std::size_t last = suite.nights.size() - 1;
  const auto solved = [](const HistoryPoint& point) { return fmt::format("{} of {}", point.solved, point.problems); };
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    for (std::size_t s = 0; s < suite.configurations.size(); ++s) {
      const HistorySeries& series = whole_series(suite, s, slice);
      if (series.points[last].problems == 0) continue;
      const bool both = last > 0 && series.points[last - 1].problems > 0;
      const auto corrected = against_last_nights(suite, series, last, &HistoryPoint::corrected);
      const auto raw = against_last_nights(suite, series, last, &HistoryPoint::raw);
      table.rows.push_back({suite.origins[s] == "own" ? fmt::format("{} {}", suite.configurations[s], own_mark)
                                                      : suite.configurations[s],
                            describe_slice(suite, slice), solved(series.points[last]),
                            both ? solved(series.points[last - 1]) : "–", corrected ? per_cent(*corrected) : "–",
                            raw ? per_cent(*raw) : "–", describe_last_state(suite, s, slice)});
    }
  }
  return table;
}

/// The newest entries of a list, each a line.
template <class List, class Line>
std::string newest(const List& list, const char* heading, Line line) {
  if (list.empty()) return {};
  std::string text = fmt::format("\n### {}\n\n", heading);
  const std::size_t shown = std::min<std::size_t>(list.size(), max_listed);
  for (std::size_t i = 0; i < shown; ++i) text += line(list[list.size() - 1 - i]);
  if (shown < list.size()) text += fmt::format("- … {} older\n", list.size() - shown);
  return text;
}

std::string suite_markdown(const SuiteHistory& suite) {
  const std::size_t last_night = suite.nights.size() - 1;
  const NightSummary& last = suite.nights[last_night].summary;
  std::string text = fmt::format("## {}: {}, {} to {}\n\n", markdown(suite.suite),
                                 plural(static_cast<long>(suite.nights.size()), "night"),
                                 markdown(describe_night(suite, 0)), markdown(describe_night(suite, last_night)));
  if (const auto& result = suite.nights.back().result) {
    text += fmt::format("Last night: {} (exit code {}).\n\n", markdown(result->headline), result->exit_code);
  }
  if (!last.complete()) text += "The last night is not complete.\n\n";
  if (const auto& why = suite.nights.back().not_judged; !why.empty()) {
    text += "The last night's times are not judged: " + markdown(why) + ".\n\n";
  }
  if (!suite.last.baseline.empty()) {
    text += fmt::format("States are against {}.\n\n", markdown(suite.last.baseline.filename().string()));
  }
  for (const std::string& line : terms_lines(suite)) text += "- " + markdown(line) + "\n";
  for (const std::string& line : doubt_lines(suite)) text += "- **Warning:** " + markdown(line) + "\n";
  text += "\n" + markdown_text(configurations_table(suite));
  if (std::ranges::find(suite.origins, "own") != suite.origins.end()) text += "\n" + markdown(own_legend_text) + "\n";
  if (!suite.last.alarms.empty()) text += "\n### Alarms\n\n";
  for (const Alarm& alarm : suite.last.alarms) text += "- " + markdown(describe_alarm(alarm)) + "\n";
  if (!suite.decidable()) text += "\n" + describe_undecidable(suite) + "\n";
  text += newest(suite.time_changes, "Times that changed",
                 [&](const TimeChange& change) { return "- " + markdown(describe_change(suite, change)) + "\n"; });
  std::vector<std::size_t> nights;
  for (std::size_t n = 0; n <= last_night; ++n) {
    if (!suite.nights[n].code_changes.empty()) nights.push_back(n);
  }
  text += newest(nights, "Plug-ins and programs that changed", [&](std::size_t n) {
    return fmt::format("- {}: {}\n", markdown(describe_night(suite, n)),
                       markdown(describe_code(suite.nights[n].code_changes)));
  });
  text += newest(suite.cell_changes, "Cells that changed",
                 [&](const CellChanges& changes) { return cell_change_line(suite, changes); });
  return text;
}

}  // namespace

std::string history_markdown(const History& history) {
  std::string text;
  for (const SuiteHistory& suite : history.suites) text += (text.empty() ? "" : "\n") + suite_markdown(suite);
  for (const std::string& note : history.notes) text += "\n> " + markdown(one_line(note)) + "\n";
  return text;
}

}  // namespace conebench::reports
