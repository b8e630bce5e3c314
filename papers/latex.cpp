#include <fmt/format.h>

#include "papers/render.hpp"
#include "reports/latex_table.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

using reports::latex_breakable;

reports::Cell cell_of(const std::optional<double>& value, const std::optional<double>& spread) {
  return reports::Cell::mean(value, spread);
}

std::string line_name(const TableLine& line) {
  return reports::latex(line.part.name) + (line.own ? "$^{*}$" : std::string());
}

/// As table_texts(), with numbers as numbers.
reports::Table table_of(const Table& table, const std::vector<std::vector<TableCell>>& cells) {
  const bool has_published = !table.published.empty();
  reports::Table out{{{.heading = table.corner}}};
  out.columns.front().markup = true;
  out.columns.front().heading = reports::latex(table.corner);
  if (has_published) out.columns.push_back({""});
  for (const TableLine& column : table.columns) {
    out.columns.push_back({.heading = line_name(column), .format = reports::Format::number, .markup = true});
  }
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::vector<reports::Cell> measured = {line_name(table.rows[r])}, published = {"", "published"};
    if (has_published) measured.emplace_back("measured");
    bool any = false;
    for (const TableCell& cell : cells[r]) {
      measured.push_back(cell_of(cell.value.number, cell.spread.number));
      published.push_back(cell_of(cell.published.value, cell.published.spread));
      any = any || cell.published.value;
    }
    out.rows.push_back(std::move(measured));
    if (any) out.rows.push_back(std::move(published));
  }
  return out;
}

std::string file_of(const EntryResult& result, std::size_t t) {
  const std::string stem = result.entry->id + "-table";
  return result.tables.size() > 1 ? fmt::format("{}-{}", stem, t + 1) : stem;
}

std::string table_latex(const EntryResult& result, std::size_t t) {
  const Table& table = result.layouts[t];
  std::string caption = table.title;
  if (!table.unit.empty()) caption += " [" + table.unit + "]";
  if (!table.published.empty()) caption += ", measured and published";
  const std::string source = source_text(*result.entry, table.location);
  if (!source.empty()) caption += " (" + source + ")";
  if (!result.criterion.empty()) caption += "; " + result.criterion;
  std::string note = own_legend(table).empty() ? "" : "$^{*}$ by Conebench's authors. ";
  return reports::latex_table(table_of(table, result.tables[t]), {.short_caption = reports::latex(table.title),
                                                                  .caption = latex_breakable(caption),
                                                                  .label = "tab:" + file_of(result, t),
                                                                  .note = note + provenance_latex(result)});
}

std::string macro_value(double number) { return reports::latex(number_text(number)); }

/// A macro for each measured number of a table, and for what each claim compares.
std::string entry_macros(const EntryResult& result) {
  reports::LatexMacros macros;
  const std::string& id = result.entry->id;
  for (std::size_t t = 0; t < result.tables.size(); ++t) {
    const Table& table = result.layouts[t];
    for (std::size_t r = 0; r < result.tables[t].size(); ++r) {
      for (std::size_t c = 0; c < result.tables[t][r].size(); ++c) {
        const auto& number = result.tables[t][r][c].value.number;
        if (!number) continue;
        const std::string &row = table.rows[r].part.name, &column = table.columns[c].part.name;
        macros.add({id, row, column}, macro_value(*number), fmt::format("{}: {}, {}", table.title, row, column));
      }
    }
  }
  for (std::size_t i = 0; i < result.checks.size(); ++i) {
    const std::string& check = result.entry->checks[i].id;
    for (const auto& [part, comparison] : result.checks[i].measured) {
      for (const Comparison::Side* const side : {&comparison.left, &comparison.right}) {
        if (side->literal) continue;
        macros.add({id, "claim", check, part}, macro_value(side->value),
                   fmt::format("claim {}: {}", check, side->text));
      }
    }
  }
  return macros.text();
}

}  // namespace

std::string provenance_latex(const EntryResult& result) {
  std::string text;
  if (!result.problems.empty()) text += "Measured on " + latex_breakable(result.problems);
  if (!result.made.empty()) text += (text.empty() ? "Measured " : ", ") + latex_breakable(result.made);
  return text.empty() ? text : text + ".";
}

std::vector<ReportFile> entry_latex(const EntryResult& result) {
  std::vector<ReportFile> files;
  std::vector<std::string> floats;
  for (std::size_t t = 0; t < result.tables.size(); ++t) {
    files.push_back({file_of(result, t) + ".tex", table_latex(result, t)});
  }
  for (ReportFile& file : figure_files(result)) files.push_back(std::move(file));
  for (const ReportFile& file : files) {
    if (file.path.extension() == ".tex") floats.push_back(file.path.stem().string());
  }
  if (const std::string macros = entry_macros(result); !macros.empty()) {
    floats.insert(floats.begin(), result.entry->id + "-numbers");
    files.push_back({result.entry->id + "-numbers.tex", macros});
  }
  if (!floats.empty()) files.push_back({result.entry->id + ".tex", reports::latex_document(floats)});
  return files;
}

}  // namespace conebench::papers
