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
/// Of cells that ran and are not solved: how they ended and why, what broke first. Ten lines at most, one for each
/// solver and way of ending; with every_cell one a cell, the command that repeats the first, and what is not supported
/// with its reasons. Empty where there is none of it.
std::string unsolved_cells(const Analysis& analysis, const UnsolvedList& list);
std::string markdown_report(const Analysis& analysis);
/// tables.tex to be \input (needs booktabs), and report.tex, a document around it.
std::vector<ReportFile> latex_files(const Analysis& analysis);
std::vector<StreamedFile> csv_files(const Analysis& analysis);
struct JsonDetail {
  int digits = 17;     ///< significant ones of every number; 17 keeps them all
  bool curves = true;  ///< profiles and pairs, which a reader can compute from the cells
};
void json_report(const Analysis& analysis, const JsonDetail& detail, const ByteSink& sink);
/// `since`: comparison_object() with an earlier run, as text; empty: there is none.
void html_page(const Analysis& analysis, const Pictures& pictures, const std::string& since, const ByteSink& sink);
/// Whether this build has the charting library.
bool page_has_charts();

}  // namespace conebench::reports
