#pragma once

#include <string>
#include <vector>

#include "reports/analysis.hpp"
#include "reports/pictures.hpp"
#include "reports/report.hpp"

/// One function a format: analysis in, bytes out.
namespace conebench::reports {

std::string terminal(const Analysis& analysis, bool colour);
std::string markdown_report(const Analysis& analysis);
/// tables.tex to be \input (needs booktabs), and report.tex, a document around it.
std::vector<ReportFile> latex_files(const Analysis& analysis);
std::vector<ReportFile> csv_files(const Analysis& analysis);
/// `digits`: significant ones of every number; 17 keeps them all. `pair_curves`: with the coordinates of the pairs.
std::string json_report(const Analysis& analysis, int digits, bool pair_curves);
std::string html_page(const Analysis& analysis, const Pictures& pictures = {});
/// Whether this build has the charting library.
bool page_has_charts();

}  // namespace conebench::reports
