#include <fmt/format.h>

#include "papers/render.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

using reports::csv_field;

std::string number(const std::optional<double>& value) { return value ? reports::exact(*value) : std::string(); }

std::string line(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i > 0 ? "," : "") + fields[i];
  return text + "\n";
}

}  // namespace

std::string entry_csv(const EntryResult& result) {
  const Entry& entry = *result.entry;
  std::string text = "kind,of,row,column,measured,measured_spread,published,published_spread,verdict,reason\n";
  for (std::size_t t = 0; t < result.layouts.size(); ++t) {
    const Table& table = result.layouts[t];
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const TableCell& cell = result.tables[t][r][c];
        text += line({"table", csv_field(table.title), csv_field(table.rows[r].part.name),
                      csv_field(table.columns[c].part.name), number(cell.value.number), number(cell.spread.number),
                      number(cell.published.value), number(cell.published.spread), "", csv_field(cell.value.reason)});
      }
    }
  }
  for (std::size_t i = 0; i < entry.checks.size(); ++i) {
    const CheckResult& found = result.checks[i];
    text += line({"check", csv_field(entry.checks[i].id), csv_field(entry.checks[i].claim), csv_field(found.measured),
                  number(found.measure.number), "", "", "", csv_field(verdict_text(entry.checks[i], found)),
                  csv_field(found.reason)});
  }
  return text;
}

}  // namespace conebench::papers
