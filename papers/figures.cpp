#include <fmt/format.h>

#include <algorithm>

#include "papers/render.hpp"
#include "reports/line_chart.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

reports::LineChart::Lines lines_of(Figure::Form form) {
  switch (form) {
    case Figure::Form::profile: return reports::LineChart::Lines::steps;
    case Figure::Form::path: return reports::LineChart::Lines::path;
    case Figure::Form::points: break;
  }
  return reports::LineChart::Lines::points;
}

}  // namespace

bool drawn(const std::vector<Curve>& curves) {
  return std::any_of(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.points.empty(); });
}

std::vector<ReportFile> figure_files(const EntryResult& result) {
  std::vector<ReportFile> files;
  for (std::size_t f = 0; f < result.figures.size(); ++f) {
    const Figure& figure = result.entry->figures[f];
    reports::LineChart chart;
    chart.stem = result.entry->id + "-" + figure.id;
    chart.form = lines_of(figure.form);
    chart.x_label = figure.x_label;
    chart.y_label = figure.y_label;
    chart.x_log = figure.x_log;
    chart.y_log = figure.y_log;
    for (const Curve& curve : result.figures[f]) {
      reports::LineChart::Line& line = chart.lines.emplace_back();
      line.name = curve.name;
      for (const Point& point : curve.points) {
        line.x.push_back(point.x);
        line.y.push_back(point.y);
      }
    }
    const std::string source = source_text(*result.entry, figure.location);
    std::string caption = figure.title + (source.empty() ? "" : " (" + source + ")");
    if (!result.criterion.empty()) caption += "; " + result.criterion;
    chart.around = {.short_caption = reports::latex(figure.title),
                    .caption = reports::latex_breakable(caption),
                    .label = "fig:" + chart.stem,
                    .note = provenance_latex(result)};
    for (ReportFile& file : reports::chart_files(chart)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace conebench::papers
