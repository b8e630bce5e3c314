#include "reports/badge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// The row that the badge is about; nullptr: nothing was ranked.
const RankingRow* subject_of(const Analysis& analysis, const Ranking& ranking) {
  const auto is_foreign = [&](const RankingRow& row) {
    return analysis.columns[row.column].configuration->origin == "foreign";
  };
  const auto foreign = std::find_if(ranking.rows.begin(), ranking.rows.end(), is_foreign);
  if (foreign != ranking.rows.end()) return &*foreign;
  return ranking.rows.empty() ? nullptr : &ranking.rows.front();
}

/// "2026-11-28": the day on which the last run began.
std::string last_day(const StoreContents& contents) {
  constexpr std::size_t day = 10;
  std::string last;
  for (const RunRecord& run : contents.runs) last = std::max(last, run.started_utc.substr(0, day));
  return last;
}

const char* colour_of(double share, bool alarm) {
  if (alarm) return "#b3261e";
  if (share >= 0.95) return "#2e7d32";
  return share >= 0.7 ? "#8a6d00" : "#a65300";
}

/// Pixels of a text in 11 px Verdana; the SVG stretches the text to them, whatever the font is.
int width_of(const std::string& text) {
  constexpr double pixels_a_letter = 6.6;
  return static_cast<int>(std::ceil(pixels_a_letter * static_cast<double>(display_width(text))));
}

}  // namespace

std::string badge_svg(const Analysis& analysis, bool alarm) {
  constexpr std::size_t max_name = 40;
  std::string value = "no result", tooltip = "no configuration was ranked";
  double share = 0.0;
  if (!analysis.slices.empty()) {
    const std::size_t tightest = analysis.slices.size() - 1;
    const Ranking& ranking = analysis.ranking(tightest);
    if (const RankingRow* const row = subject_of(analysis, ranking); row != nullptr && ranking.problems > 0) {
      const std::string& label = analysis.columns[row->column].label;
      share = static_cast<double>(row->tally.solved) / static_cast<double>(ranking.problems);
      value = fmt::format("{}: {} of {} solved", shorten(label, max_name), row->tally.solved, ranking.problems);
      tooltip = fmt::format("{} solves {} of {} at {}", label, row->tally.solved, plural(ranking.problems, "problem"),
                            analysis.slices[tightest].label);
    }
  }
  if (alarm) value += ", alarm";
  if (const std::string day = last_day(*analysis.contents); !day.empty()) value += " · " + day;
  const std::string name = shorten(one_line(analysis.title), max_name);
  value = one_line(value);
  const int margin = 6, left = width_of(name) + 2 * margin, right = width_of(value) + 2 * margin;
  const auto text = [&](int from, const std::string& words) {
    return fmt::format("  <text x=\"{}\" y=\"14\" textLength=\"{}\">{}</text>\n", from + margin, width_of(words),
                       html(words));
  };
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" role=\"img\" aria-label=\"{1}: "
             "{2}\">\n  <title>{3}</title>\n  <rect width=\"{0}\" height=\"20\" rx=\"3\" fill=\"{4}\"/>\n"
             "  <path d=\"M3 0h{5}v20h-{5}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3\" fill=\"#444c56\"/>\n"
             "  <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n",
             left + right, html(name), html(value), html(one_line(tooltip)), colour_of(share, alarm), left - 3) +
         text(0, name) + text(left, value) + "  </g>\n</svg>\n";
}

}  // namespace conebench::reports
