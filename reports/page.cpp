#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "reports/formats.hpp"
#include "reports/page_assets.hpp"
#include "reports/page_shell.hpp"

namespace conebench::reports {

namespace {

/// In the order in which they build on each other.
constexpr std::array<std::string_view, 21> scripts{
    "model.js",  "format.js",    "widgets.js",  "looks.js", "solvers.js",     "theme.js",   "figures.js",
    "charts.js", "ranking.js",   "overview.js", "since.js", "profiles.js",    "budgets.js", "options.js",
    "growth.js", "sequences.js", "heatmap.js",  "cells.js", "convergence.js", "details.js", "main.js"};
/// The answer first: who solves most, profiles, the ranking.
constexpr std::array<PageSection, 11> report_sections{{{"overview", "Result"},
                                                       {"profiles", "Profiles"},
                                                       {"ranking", "Ranking"},
                                                       {"since-view", "Changes"},
                                                       {"budgets", "Budgets"},
                                                       {"options", "Options"},
                                                       {"growth", "Size"},
                                                       {"sequences", "Sequences"},
                                                       {"heatmap", "Problems"},
                                                       {"cells", "Cells"},
                                                       {"runs", "Run"}}};
constexpr int digits = 6;
/// Of some 0.7 kB each.
constexpr long max_traces = 100;

/// "fclib-nightly · 2026-11-20 · Conebench 0.2.0 (0123abc)": what a bookmark must say of itself.
std::string page_title(const Analysis& analysis) {
  std::set<std::string> days;
  std::set<std::string> builds;
  for (const RunRecord& run : analysis.contents->runs) {
    days.insert(run.started_utc.substr(0, 10));
    builds.insert(fmt::format("{} ({})", run.build.version, run.build.commit.substr(0, 10)));
  }
  std::string title = analysis.title.empty() ? "Conebench report" : analysis.title;
  if (days.empty()) return title;
  title += " · " + *days.begin() + (days.size() > 1 ? " to " + *days.rbegin() : "");
  return title + " · " + (builds.size() > 1 ? fmt::format("{} builds", builds.size()) : "Conebench " + *builds.begin());
}

}  // namespace

bool page_has_charts() { return !page_asset("plotly.js").empty(); }

void html_page(const Analysis& analysis, const Pictures& pictures, const std::string& since, const ByteSink& sink,
               const std::string& home) {
  html_shell({.title = page_title(analysis),
              .sections = report_sections,
              .text_files = "report.md and the CSV files",
              .data = {},
              .pictures = pictures_json(pictures),
              .scripts = scripts,
              .since = since,
              .large_data =
                  [&](const ByteSink& data) {
                    json_report(analysis, {.digits = digits, .max_traces = max_traces, .curves = false}, data);
                  },
              .home = home},
             sink);
}

}  // namespace conebench::reports
