#include "papers/render.hpp"
#include "reports/table_layout.hpp"

namespace conebench::papers {

std::string entry_csv(const EntryResult& result) {
  reports::Table csv = reports::text_columns("kind", "of", "row", "column", "measured", "measured_spread", "published",
                                             "published_spread", "verdict", "reason");
  for (std::size_t t = 0; t < result.layouts.size(); ++t) {
    const Table& table = result.layouts[t];
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const TableCell& cell = result.tables[t][r][c];
        csv.rows.push_back({"table", table.title, table.rows[r].part.name, table.columns[c].part.name,
                            cell.value.number, cell.spread.number, cell.published.value, cell.published.spread, "",
                            cell.value.reason});
      }
    }
  }
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const Check& check = result.entry->checks[i];
    const CheckResult& found = result.checks[i];
    csv.rows.push_back({"check", check.id, check.claim, measured_text(check, found), found.measure.number, "", "", "",
                        verdict_text(found), reason_text(check, found)});
  }
  return reports::csv_text(csv);
}

}  // namespace conebench::papers
