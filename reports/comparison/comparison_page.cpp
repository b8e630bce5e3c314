#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/comparison/comparison.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/page_shell.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<PageSection, 5> sections{{{"headline", "Overview"},
                                               {"configurations", "Configurations"},
                                               {"changed", "Changed cells"},
                                               {"times", "Times"},
                                               {"families", "Families"}}};
constexpr std::array<std::string_view, 6> scripts{"format.js",  "widgets.js", "theme.js",
                                                  "figures.js", "charts.js",  "comparison.js"};
/// More points than this are one cloud and make a page of many megabytes.
constexpr std::size_t max_points = 10000;
constexpr std::size_t max_cells = 500;

/// Times of the cells of a slice that both solved, every k-th of them where there are many.
Json points_of(const Comparison& comparison, std::size_t slice) {
  std::vector<const CellPair*> solved;
  for (const CellPair& pair : comparison.pairs) {
    const bool both = is_timed(pair.change) || pair.change == CellChange::other_work;
    if (pair.slice == slice && both && comparison.times_compared) solved.push_back(&pair);
  }
  Json points = {{"all", solved.size()}};
  for (const char* name : {"baseline", "candidate", "configuration", "problem", "change"}) points[name] = Json::array();
  const std::size_t step = (solved.size() + max_points - 1) / max_points;
  for (std::size_t i = 0; i < solved.size(); i += step) {
    const CellPair& pair = *solved[i];
    points["baseline"].push_back(comparison.baseline.cells[*pair.baseline].minimum_s);
    points["candidate"].push_back(comparison.candidate.cells[*pair.candidate].minimum_s);
    points["configuration"].push_back(pair.configuration);
    points["problem"].push_back(pair.problem);
    points["change"].push_back(to_string(pair.change));
  }
  return points;
}

}  // namespace

std::string comparison_page(const Comparison& comparison) {
  Json data = comparison_object(comparison, max_cells);
  data["labels"] = Json::array();
  for (const ComparedConfiguration& configuration : comparison.configurations)
    data["labels"].push_back(configuration.label);
  data["names"] = Json::array();
  for (const ComparedProblem& problem : comparison.problems) data["names"].push_back(problem.name);
  data["points"] = Json::array();
  for (std::size_t slice = 0; slice < comparison.slices.size(); ++slice) {
    data["points"].push_back(points_of(comparison, slice));
  }
  const std::string suite =
      comparison.candidate.runs.empty() ? std::string() : comparison.candidate.runs.front().suite_name;
  return html_shell({.title = suite.empty() ? "Conebench comparison" : "Conebench comparison: " + suite,
                     .sections = sections,
                     .text_files = "comparison.md and comparison.json",
                     .data = data.dump(-1, ' ', false, Json::error_handler_t::replace),
                     .pictures = {},
                     .scripts = scripts});
}

}  // namespace conebench::reports
