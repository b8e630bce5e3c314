#pragma once

#include <string>
#include <vector>

#include "reports/analysis.hpp"
#include "reports/pictures.hpp"
#include "reports/report.hpp"

/// One function a format: analysis in, bytes out. Streamed files refer to the analysis, which must outlive them.
namespace conebench::reports {

/// `columns`: as TerminalLayout has them.
std::string terminal(const Analysis& analysis, bool colour, std::size_t columns);
/// Cells that ran and are not solved: how they ended and why, crashes first. At most ten lines, one for each solver and
/// ending. With every_cell: one line a cell, the command that repeats the first one, and unsupported cells with their
/// reasons. Empty: there are no such cells.
std::string unsolved_cells(const Analysis& analysis, const UnsolvedList& list);
std::string markdown_report(const Analysis& analysis);
/// In latex/: a file a table and a figure, each to be \input by itself with the packages of preamble.tex; scripts for
/// gnuplot that draw the figures as SVG and PDF; numbers.tex, a macro for each headline number; and report.tex, a
/// document around all of them.
inline constexpr const char* latex_folder_name = "latex";
std::vector<ReportFile> latex_files(const Analysis& analysis);
/// What the values of a CSV column are. A missing value is an empty field.
enum class CsvKind { text, count, number, flag };
const char* to_string(CsvKind kind);
struct CsvColumn {
  std::string name;
  CsvKind kind = CsvKind::text;
};
struct CsvFile {
  StreamedFile file;
  std::vector<CsvColumn> columns;
};
std::vector<CsvFile> csv_files(const Analysis& analysis);
struct JsonDetail {
  int digits = 17;       ///< significant digits of every number; 17 is exact
  long max_traces = -1;  ///< of traced_cells(), each thinned to max_points; −1: all as they are
  std::size_t max_points = 40;
  bool curves = true;  ///< include profiles and pairs, which a reader can compute from the cells
};
void json_report(const Analysis& analysis, const JsonDetail& detail, const ByteSink& sink);
/// `since`: comparison_object() with an earlier run, as text; empty: there is none.
/// `home`: ReportOptions::home.
void html_page(const Analysis& analysis, const Pictures& pictures, const std::string& since, const ByteSink& sink,
               const std::string& home = {});
/// Whether this build has the charting library.
bool page_has_charts();

}  // namespace conebench::reports
