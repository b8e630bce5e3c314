#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "papers/render.hpp"
#include "reports/page_shell.hpp"

namespace conebench::papers {

namespace {

using OrderedJson = nlohmann::ordered_json;

using reports::PageSection;

constexpr std::array<PageSection, 3> sections{
    {{"overview", "Overview"}, {"claims", "Claims"}, {"entries", "Tables and figures"}}};
constexpr std::array<std::string_view, 7> scripts{"format.js",  "looks.js",  "widgets.js", "theme.js",
                                                  "figures.js", "charts.js", "paper.js"};

OrderedJson number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson table_json(const Table& table, const std::vector<std::vector<TableCell>>& cells) {
  OrderedJson json = {{"title", table.title},         {"location", table.location},
                      {"unit", table.unit},           {"texts", table_texts(table, cells)},
                      {"own", own_legend(table)},     {"gaps", gaps_of(table, cells)},
                      {"cells", OrderedJson::array()}};
  for (const auto& row : cells) {
    json["cells"].push_back(OrderedJson::array());
    for (const TableCell& cell : row) {
      json["cells"].back().push_back({{"measured", number(cell.value.number)},
                                      {"spread", number(cell.spread.number)},
                                      {"published", number(cell.published.value)},
                                      {"published_spread", number(cell.published.spread)}});
    }
  }
  return json;
}

OrderedJson figure_json(const Figure& figure, const std::vector<Curve>& curves) {
  OrderedJson json = {{"id", figure.id},
                      {"title", figure.title},
                      {"location", figure.location},
                      {"profile", figure.form == Figure::Form::profile},
                      {"x_label", figure.x_label},
                      {"y_label", figure.y_label},
                      {"x_log", figure.x_log},
                      {"y_log", figure.y_log},
                      {"curves", OrderedJson::array()}};
  for (const Curve& curve : curves) {
    OrderedJson one = {
        {"name", curve.name}, {"missing", curve.missing}, {"x", OrderedJson::array()}, {"y", OrderedJson::array()}};
    for (const Point& point : curve.points) {
      one["x"].push_back(point.x);
      one["y"].push_back(point.y);
    }
    json["curves"].push_back(std::move(one));
  }
  return json;
}

OrderedJson check_json(const Check& check, const CheckResult& found) {
  return {{"id", check.id},
          {"claim", check.claim},
          {"location", check.location},
          {"holds_if", check.holds.text},
          {"verdict", to_string(found.verdict)},
          {"known_failure", check.known_failure.has_value()},
          {"expected", found.expected},
          {"measured", measured_text(check, found)},
          {"measure", number(found.measure.number)},
          {"reason", reason_text(check, found)}};
}

OrderedJson entry_json(const EntryResult& result) {
  const Entry& entry = *result.entry;
  OrderedJson json = {{"id", entry.id},
                      {"paper", entry.paper},
                      {"location", entry.location},
                      {"title", entry.title},
                      {"shows", entry.shows},
                      {"notes", entry.notes},
                      {"problems", result.problems},
                      {"made", result.made},
                      {"not_run", result.not_run},
                      {"tables", OrderedJson::array()},
                      {"figures", OrderedJson::array()},
                      {"checks", OrderedJson::array()}};
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
  OrderedJson json = {{"schema", "conebench.paper/2"}, {"entries", OrderedJson::array()}};
  for (const EntryResult& result : results) json["entries"].push_back(entry_json(result));
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
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
