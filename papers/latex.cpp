#include <fmt/format.h>

#include "papers/render.hpp"
#include "reports/table_layout.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

using reports::latex;

/// More columns than this do not fit the text's width at the usual size.
constexpr std::size_t wide = 5;

std::string table_latex(const EntryResult& result, std::size_t t) {
  const Entry& entry = *result.entry;
  const Table& table = result.layouts[t];
  const std::size_t name_columns = table.published.empty() ? 1 : 2;
  std::string caption = latex(table.title);
  if (!table.unit.empty()) caption += " [" + latex(table.unit) + "]";
  if (!table.published.empty()) caption += ", measured and published";
  const std::string source = source_text(entry, table.location);
  if (!source.empty()) caption += " (" + latex(source) + ")";
  if (!result.stopped_by.empty()) caption += latex(", stop_by " + result.stopped_by);
  if (const std::string own = own_legend(table); !own.empty()) caption += ", " + latex(own);
  return reports::latex_text(reports::text_table(table_texts(table, result.tables[t]), name_columns), caption + ".",
                             fmt::format("tab:{}-{}", entry.id, t + 1),
                             table.columns.size() > wide ? "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n" : "");
}

}  // namespace

std::string entry_latex(const EntryResult& result) {
  std::string text = "% Needs \\usepackage{booktabs,textcomp}\n";
  for (std::size_t t = 0; t < result.tables.size(); ++t) text += table_latex(result, t);
  return text;
}

}  // namespace conebench::papers
