#include <array>
#include <string>
#include <string_view>

#include "reports/formats.hpp"
#include "reports/page_assets.hpp"
#include "reports/page_shell.hpp"

namespace conebench::reports {

namespace {

/// In the order in which they build on each other.
constexpr std::array<std::string_view, 11> scripts{"model.js",    "format.js",  "widgets.js",  "theme.js",
                                                   "overview.js", "ranking.js", "profiles.js", "heatmap.js",
                                                   "cells.js",    "details.js", "main.js"};
constexpr std::array<PageSection, 5> sections{{{"overview", "Overview"},
                                               {"ranking", "Ranking"},
                                               {"profiles", "Profiles"},
                                               {"heatmap", "Problems"},
                                               {"cells", "Cells"}}};
constexpr int digits = 6;

}  // namespace

bool page_has_charts() { return !page_asset("plotly.js").empty(); }

void html_page(const Analysis& analysis, const Pictures& pictures, const ByteSink& sink) {
  html_shell({.title = analysis.title.empty() ? "Conebench report" : analysis.title,
              .sections = sections,
              .text_files = "report.md and the CSV files",
              .data = {},
              .pictures = pictures_json(pictures),
              .scripts = scripts,
              .large_data = [&](const ByteSink& data) { json_report(analysis, digits, false, data); }},
             sink);
}

}  // namespace conebench::reports
