#include <array>
#include <string>
#include <string_view>

#include "reports/formats.hpp"
#include "reports/page_assets.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// In the order in which they build on each other.
constexpr std::array<std::string_view, 10> scripts{"model.js",   "format.js",   "widgets.js", "overview.js",
                                                   "ranking.js", "profiles.js", "heatmap.js", "cells.js",
                                                   "details.js", "main.js"};
constexpr int digits = 6;

/// The template with every "{{name}}" replaced by what `value_of` has for the name.
template <class ValueOf>
std::string fill(std::string_view page, ValueOf value_of) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) return out.append(page);
    out.append(page.substr(0, open));
    out.append(value_of(page.substr(open + 2, close - open - 2)));
    page.remove_prefix(close + 2);
  }
}

}  // namespace

bool page_has_charts() { return !page_asset("plotly.js").empty(); }

std::string html_page(const Analysis& analysis, const Pictures& pictures) {
  return fill(page_asset("page.html"), [&](std::string_view name) -> std::string {
    if (name == "title") return html(analysis.title.empty() ? "Conebench report" : analysis.title);
    if (name == "style") return std::string(page_asset("page.css"));
    if (name == "data") return script_json(json_report(analysis, digits, false));
    if (name == "pictures") return script_json(pictures_json(pictures));
    if (name == "plotly") return std::string(page_asset("plotly.js"));
    if (name != "scripts") return {};
    std::string all;
    for (const auto script : scripts) all.append(page_asset(script)).append("\n");
    return all;
  });
}

}  // namespace conebench::reports
