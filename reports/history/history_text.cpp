#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "metrics/change/nights.hpp"
#include "metrics/statistics.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/words.hpp"
#include "reports/history/history_words.hpp"
#include "reports/table.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr std::size_t max_listed = 20;
constexpr std::size_t max_names = 3;

std::string short_build(const std::string& text) {
  constexpr std::size_t digits = 8;
  return text.substr(0, digits);
}

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
  if (const auto code = code_words(changed_code(suite, changes.before, changes.night)); !code.empty()) {
    add(markdown(code));
  }
  return fmt::format("- {} at {}, {} → {}: {}\n", markdown(suite.settings[changes.setting]),
                     markdown(slice_words(suite, changes.slice)), markdown(night_words(suite, changes.before)),
                     markdown(night_words(suite, changes.night)), what);
}

/// "slower +10.2 %", "not yet decidable"; "–" where there is nothing to compare with.
std::string last_state_words(const SuiteHistory& suite, std::size_t setting, std::size_t slice) {
  for (const SettingState& state : suite.last.states) {
    if (state.setting != setting || state.slice != slice) continue;
    std::string text = state.state == ChangeState::undecided ? "not yet decidable" : to_string(state.state);
    const bool of_time = state.state == ChangeState::slower || state.state == ChangeState::faster;
    if (of_time && state.evidence) text += " " + per_cent(state.evidence->estimate);
    return text;
  }
  return "–";
}

std::string undecidable_words(const SuiteHistory& suite) {
  return fmt::format(
      "Whether a time changed between two nights is not yet decidable: {} of {} nights that can be judged.",
      suite.judged_nights, SuiteHistory::nights_needed);
}

Table settings_table(const SuiteHistory& suite) {
  Table table = text_columns("setting", "tolerance", "solved", "night before",
                             fmt::format("time against the last {}, corrected", recent_nights), "raw", "last night");
  const std::size_t last = suite.nights.size() - 1;
  const auto solved = [](const HistoryPoint& point) { return fmt::format("{} of {}", point.solved, point.problems); };
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    for (std::size_t s = 0; s < suite.settings.size(); ++s) {
      const HistorySeries& series = whole_series(suite, s, slice);
      if (series.points[last].problems == 0) continue;
      const bool both = last > 0 && series.points[last - 1].problems > 0;
      const auto corrected = against_last_nights(suite, series, last, &HistoryPoint::corrected);
      const auto raw = against_last_nights(suite, series, last, &HistoryPoint::raw);
      table.rows.push_back(
          {suite.origins[s] == "own" ? fmt::format("{} {}", suite.settings[s], own_mark) : suite.settings[s],
           slice_words(suite, slice), solved(series.points[last]), both ? solved(series.points[last - 1]) : "–",
           corrected ? per_cent(*corrected) : "–", raw ? per_cent(*raw) : "–", last_state_words(suite, s, slice)});
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
                                 markdown(night_words(suite, 0)), markdown(night_words(suite, last_night)));
  if (const auto& result = suite.nights.back().result) {
    text += fmt::format("Last night: {} (exit code {}).\n\n", markdown(result->headline), result->exit_code);
  }
  if (!last.complete()) text += "The last night is not complete.\n\n";
  if (const auto& why = suite.nights.back().not_judged; !why.empty()) {
    text += "The last night's times are not judged: " + markdown(why) + ".\n\n";
  }
  if (!suite.last.base.empty()) {
    text += fmt::format("States are against {}.\n\n", markdown(suite.last.base.filename().string()));
  }
  for (const std::string& line : terms_lines(suite)) text += "- " + markdown(line) + "\n";
  for (const std::string& line : doubt_lines(suite)) text += "- **Warning:** " + markdown(line) + "\n";
  text += "\n" + markdown_text(settings_table(suite));
  if (std::ranges::find(suite.origins, "own") != suite.origins.end()) text += "\n" + markdown(own_legend_text) + "\n";
  if (!suite.last.alarms.empty()) text += "\n### Alarms\n\n";
  for (const Alarm& alarm : suite.last.alarms) text += "- " + markdown(alarm_words(alarm)) + "\n";
  if (!suite.decidable()) text += "\n" + undecidable_words(suite) + "\n";
  text += newest(suite.time_changes, "Times that changed",
                 [&](const TimeChange& change) { return "- " + markdown(change_words(suite, change)) + "\n"; });
  std::vector<std::size_t> nights;
  for (std::size_t n = 0; n <= last_night; ++n) {
    if (!suite.nights[n].code_changes.empty()) nights.push_back(n);
  }
  text += newest(nights, "Plug-ins and programs that changed", [&](std::size_t n) {
    return fmt::format("- {}: {}\n", markdown(night_words(suite, n)),
                       markdown(code_words(suite.nights[n].code_changes)));
  });
  text += newest(suite.cell_changes, "Cells that changed",
                 [&](const CellChanges& changes) { return cell_change_line(suite, changes); });
  return text;
}

}  // namespace

std::string day_words(const SuiteHistory& suite, std::size_t night) {
  const std::string& started = suite.nights[night].summary.started_utc;
  std::size_t shown = 0;
  for (const std::size_t length : {std::string_view("2026-01-31").size(), std::string_view("2026-01-31T04:12").size(),
                                   std::string_view("2026-01-31T04:12:33").size()}) {
    shown = length;
    const auto alike = [&](const HistoryNight& other) {
      return other.summary.started_utc.compare(0, length, started, 0, length) == 0;
    };
    if (std::count_if(suite.nights.begin(), suite.nights.end(), alike) == 1) break;
  }
  std::string text = one_line(started.substr(0, shown));
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string night_words(const SuiteHistory& suite, std::size_t number) {
  const NightSummary& night = suite.nights[number].summary;
  std::string text = day_words(suite, number) + " " + short_build(one_line(night.commit));
  if (night.commit.ends_with("-dirty")) text += "-dirty";
  if (!night.executable.empty()) text += " (" + short_build(one_line(night.executable)) + ")";
  return text;
}

std::string slice_words(const SuiteHistory& suite, std::size_t slice) {
  const HistorySlice& one = suite.slices[slice];
  std::string text = human_tolerance(one.tolerance);
  std::set<std::string> criteria, verdicts, starts;
  for (const HistorySlice& other : suite.slices) {
    criteria.insert(other.criterion);
    verdicts.insert(other.verdict);
    starts.insert(other.start);
  }
  if (criteria.size() > 1) text += " " + one.criterion;
  if (verdicts.size() > 1) text += " " + one.verdict;
  if (starts.size() > 1) text += " " + one.start;
  return text;
}

std::vector<std::string> terms_lines(const SuiteHistory& suite) {
  std::vector<std::string> lines;
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    lines.push_back(fmt::format("{}: {}", slice_words(suite, slice),
                                criterion_text(suite.slices[slice].criterion, suite.looks[slice])));
  }
  return lines;
}

std::vector<std::string> doubt_lines(const SuiteHistory& suite) {
  std::vector<std::string> lines;
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    for (std::size_t s = 0; s < suite.settings.size(); ++s) {
      const long cells = whole_series(suite, s, slice).points.back().doubtful;
      if (cells == 0) continue;
      lines.push_back(fmt::format("{}: doubtful times in {} of {}", slice_words(suite, slice), plural(cells, "cell"),
                                  suite.settings[s]));
    }
  }
  return lines;
}

std::string code_words(const std::vector<CodeChange>& changes) {
  std::string text;
  for (const CodeChange& change : changes) {
    text += fmt::format("{}code of {} {} → {}", text.empty() ? "" : ", ", one_line(change.solver),
                        one_line(hash_words(change.before)), one_line(hash_words(change.after)));
  }
  return text;
}

std::string change_words(const SuiteHistory& suite, const TimeChange& change) {
  const ChangePoint& point = change.change;
  const std::string code = code_words(changed_code(suite, point.last_before, point.first_after));
  return fmt::format("{} at {} became {} by {:.1f} % between {} and {} (seen on {} by {}){}",
                     one_line(suite.settings[change.setting]), slice_words(suite, change.slice),
                     point.effect > 0.0 ? "slower" : "faster", 100.0 * std::abs(std::expm1(point.effect)),
                     night_words(suite, point.last_before), night_words(suite, point.first_after),
                     day_words(suite, point.seen_at), to_string(point.rule), code.empty() ? code : ", " + code);
}

const HistorySeries& whole_series(const SuiteHistory& suite, std::size_t setting, std::size_t slice) {
  return suite.series[slice * suite.settings.size() * (1 + suite.families.size()) + setting];
}

std::optional<double> against_last_nights(const SuiteHistory& suite, const HistorySeries& series, std::size_t night,
                                          std::optional<double> HistoryPoint::*time) {
  if (!(series.points[night].*time)) return std::nullopt;
  std::vector<double> before;
  for (std::size_t n = night; n-- > 0 && before.size() < recent_nights;) {
    const bool comparable =
        suite.nights[n].segment == suite.nights[night].segment && suite.nights[n].not_judged.empty();
    if (comparable && series.points[n].*time) before.push_back(*(series.points[n].*time));
  }
  const auto middle = median(before);
  if (!middle) return std::nullopt;
  return *(series.points[night].*time) - *middle;
}

std::string history_markdown(const History& history) {
  std::string text;
  for (const SuiteHistory& suite : history.suites) text += (text.empty() ? "" : "\n") + suite_markdown(suite);
  for (const std::string& note : history.notes) text += "\n> " + markdown(one_line(note)) + "\n";
  return text;
}

}  // namespace conebench::reports
