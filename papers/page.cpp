#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "papers/render.hpp"
#include "reports/page_shell.hpp"

namespace conebench::papers {

namespace {

using Json = nlohmann::ordered_json;

using reports::PageSection;

constexpr std::array<PageSection, 3> sections{
    {{"overview", "Overview"}, {"claims", "Claims"}, {"entries", "Tables and figures"}}};
constexpr std::array<std::string_view, 7> scripts{"format.js",  "looks.js",  "widgets.js", "theme.js",
                                                  "figures.js", "charts.js", "paper.js"};

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json table_json(const Table& table, const std::vector<std::vector<TableCell>>& cells) {
  Json json = {{"title", table.title},     {"place", table.place},
               {"unit", table.unit},       {"texts", table_texts(table, cells)},
               {"own", own_legend(table)}, {"gaps", gaps_of(table, cells)},
               {"cells", Json::array()}};
  for (const auto& row : cells) {
    json["cells"].push_back(Json::array());
    for (const TableCell& cell : row) {
      json["cells"].back().push_back({{"measured", number(cell.value.number)},
                                      {"spread", number(cell.spread.number)},
                                      {"published", number(cell.published.value)},
                                      {"published_spread", number(cell.published.spread)}});
    }
  }
  return json;
}

Json figure_json(const Figure& figure, const std::vector<Curve>& curves) {
  Json json = {{"id", figure.id},           {"title", figure.title},
               {"place", figure.place},     {"profile", figure.form == Figure::Form::profile},
               {"x_label", figure.x_label}, {"y_label", figure.y_label},
               {"x_log", figure.x_log},     {"y_log", figure.y_log},
               {"curves", Json::array()}};
  for (const Curve& curve : curves) {
    Json one = {{"name", curve.name}, {"missing", curve.missing}, {"x", Json::array()}, {"y", Json::array()}};
    for (const Point& point : curve.points) {
      one["x"].push_back(point.x);
      one["y"].push_back(point.y);
    }
    json["curves"].push_back(std::move(one));
  }
  return json;
}

Json check_json(const Check& check, const CheckResult& found) {
  return {{"id", check.id},
          {"claim", check.claim},
          {"place", check.place},
          {"holds_if", check.holds.text},
          {"verdict", to_string(found.verdict)},
          {"known_failure", check.known_failure.has_value()},
          {"expected", found.expected},
          {"measured", found.measured},
          {"measure", number(found.measure.number)},
          {"reason", found.reason}};
}

Json entry_json(const EntryResult& result) {
  const Entry& entry = *result.entry;
  Json json = {{"id", entry.id},
               {"paper", entry.paper},
               {"place", entry.place},
               {"title", entry.title},
               {"shows", entry.shows},
               {"notes", entry.notes},
               {"problems", result.problems},
               {"made", result.made},
               {"not_run", result.not_run},
               {"tables", Json::array()},
               {"figures", Json::array()},
               {"checks", Json::array()}};
  for (std::size_t i = 0; i < result.layouts.size(); ++i)
    json["tables"].push_back(table_json(result.layouts[i], result.tables[i]));
  for (std::size_t i = 0; i < entry.figures.size(); ++i)
    json["figures"].push_back(figure_json(entry.figures[i], result.figures[i]));
  for (std::size_t i = 0; i < entry.checks.size(); ++i)
    json["checks"].push_back(check_json(entry.checks[i], result.checks[i]));
  return json;
}

}  // namespace

std::string results_json(const std::vector<EntryResult>& results) {
  Json json = {{"schema", "conebench.paper/1"}, {"entries", Json::array()}};
  for (const EntryResult& result : results) json["entries"].push_back(entry_json(result));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string paper_page(const std::string& title, const std::vector<EntryResult>& results) {
  return reports::html_shell({.title = title,
                              .sections = sections,
                              .text_files = "the .md and .csv files",
                              .data = results_json(results),
                              .pictures = {},
                              .scripts = scripts});
}

}  // namespace conebench::papers
