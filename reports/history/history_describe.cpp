#include "reports/history/history_describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "metrics/change/nights.hpp"
#include "metrics/statistics.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

std::string short_build(const std::string& text) {
  constexpr std::size_t digits = 8;
  return text.substr(0, digits);
}

}  // namespace

std::string describe_day(const SuiteHistory& suite, std::size_t night) {
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

std::string describe_night(const SuiteHistory& suite, std::size_t number) {
  const NightSummary& night = suite.nights[number].summary;
  std::string text = describe_day(suite, number) + " " + short_build(one_line(night.commit));
  if (night.commit.ends_with("-dirty")) text += "-dirty";
  if (!night.executable.empty()) text += " (" + short_build(one_line(night.executable)) + ")";
  return text;
}

std::string describe_slice(const SuiteHistory& suite, std::size_t slice) {
  const HistorySlice& one = suite.slices[slice];
  std::string text = human_tolerance(one.tolerance);
  std::set<std::string> stopped_by, verdicts, starts;
  for (const HistorySlice& other : suite.slices) {
    stopped_by.insert(other.stop_by);
    verdicts.insert(other.verdict);
    starts.insert(other.start);
  }
  if (stopped_by.size() > 1) text += " " + one.stop_by;
  if (verdicts.size() > 1) text += " " + one.verdict;
  if (starts.size() > 1) text += " " + one.start;
  return text;
}

std::vector<std::string> terms_lines(const SuiteHistory& suite) {
  std::vector<std::string> lines;
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    lines.push_back(fmt::format("{}: {}", describe_slice(suite, slice),
                                stop_by_text(suite.slices[slice].stop_by, suite.checks[slice])));
  }
  return lines;
}

std::vector<std::string> doubt_lines(const SuiteHistory& suite) {
  std::vector<std::string> lines;
  for (std::size_t slice = 0; slice < suite.slices.size(); ++slice) {
    for (std::size_t s = 0; s < suite.configurations.size(); ++s) {
      const long cells = whole_series(suite, s, slice).points.back().doubtful;
      if (cells == 0) continue;
      lines.push_back(fmt::format("{}: doubtful times in {} of {}", describe_slice(suite, slice), plural(cells, "cell"),
                                  suite.configurations[s]));
    }
  }
  return lines;
}

std::string describe_code(const std::vector<CodeChange>& changes) {
  std::string text;
  for (const CodeChange& change : changes) {
    text += fmt::format("{}code of {} {} → {}", text.empty() ? "" : ", ", one_line(change.solver),
                        one_line(describe_hash(change.before)), one_line(describe_hash(change.after)));
  }
  return text;
}

std::string describe_change(const SuiteHistory& suite, const TimeChange& change) {
  const ChangePoint& point = change.change;
  const std::string code = describe_code(changed_code(suite, point.last_before, point.first_after));
  return fmt::format("{} at {} became {} by {:.1f} % between {} and {} (seen on {} by {}){}",
                     one_line(suite.configurations[change.configuration]), describe_slice(suite, change.slice),
                     point.effect > 0.0 ? "slower" : "faster", 100.0 * std::abs(std::expm1(point.effect)),
                     describe_night(suite, point.last_before), describe_night(suite, point.first_after),
                     describe_day(suite, point.seen_at), to_string(point.rule), code.empty() ? code : ", " + code);
}

const HistorySeries& whole_series(const SuiteHistory& suite, std::size_t configuration, std::size_t slice) {
  return suite.series[slice * suite.configurations.size() * (1 + suite.families.size()) + configuration];
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

}  // namespace conebench::reports
