#pragma once

#include <string>
#include <vector>

#include "reports/latex_table.hpp"
#include "reports/write_files.hpp"

/// A line chart for documents, as numbers (CSV), as a script for gnuplot that draws SVG and PDF, and as pgfplots.
namespace conebench::reports {

struct LineChart {
  enum class Lines { points, steps, path };
  struct Line {
    std::string name;
    std::vector<double> x, y;
  };
  std::string stem;  ///< of its files
  Lines form = Lines::points;
  std::string x_label, y_label;
  bool x_log = false, y_log = false;
  std::vector<Line> lines;
  LatexFloat around;
};

/// Whether there is a point to draw.
bool drawn(const LineChart& chart);

/// STEM.csv, STEM.gp, which writes STEM.svg and STEM.pdf, and STEM.tex, a float to \input. Steps last to the right end.
/// Of lines with very many points the drawings have those that can be distinguished, STEM.csv has all. Nothing for a
/// chart without a point.
std::vector<ReportFile> chart_files(const LineChart& chart);

}  // namespace conebench::reports
