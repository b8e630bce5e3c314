#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// What a report shows of what was compared, in the tables of the terminal, Markdown and LaTeX and in LaTeX's figures.
/// It changes no number: ranks, ratios to the best and the common subset stay those of all that was compared.
struct ReportView {
  std::vector<std::string> columns;   ///< ids of ranking_columns(), in their order; empty: each format's usual ones
  std::size_t first_rows = 0;         ///< only so many rows of a ranking; 0: all
  std::vector<std::string> rows;      ///< labels of configurations, where * is any text; empty: all
  std::vector<std::string> solvers;   ///< the same of solvers' ids
  std::vector<std::string> families;  ///< the same of families, in their order
};

/// The view as texts of the command line, each a list with commas; `rows` may be a number, `columns` "all".
struct ViewText {
  std::string columns, rows, solvers, families;
};
/// Errors (wrong_usage): a column that is none; 0 rows.
Result<ReportView> parse_view(const ViewText& text);
/// Errors (wrong_usage): a name that fits nothing in the contents.
Result<void> check_view(const ReportView& view, const StoreContents& contents);

}  // namespace conebench
