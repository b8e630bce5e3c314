#include "reports/table_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reports/text.hpp"

namespace conebench::reports {

namespace {

bool is_nothing(const Cell& cell) { return std::holds_alternative<std::monostate>(cell.value); }

std::string human(double value, Format format) {
  switch (format) {
    case Format::share: return human_share(value);
    case Format::time: return human_time(value);
    case Format::residual: return human_residual(value);
    default: return human_number(value);
  }
}

std::string human(const Cell& cell, Format format) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const long* whole = std::get_if<long>(&cell.value)) return std::to_string(*whole);
  const double* value = std::get_if<double>(&cell.value);
  if (value == nullptr) return "–";
  return human(*value, format) + (cell.spread ? " ± " + human(*cell.spread, format) : "");
}

std::string piped(std::string_view markup) {
  std::string out;
  for (const char c : markup) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string csv_value(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return csv_field(*text);
  if (const double* value = std::get_if<double>(&cell.value)) return exact(*value);
  return is_nothing(cell) ? std::string() : human(cell, Format::count);
}

}  // namespace

Table text_table(const std::vector<std::vector<std::string>>& rows, std::size_t texts) {
  Table table;
  for (const auto& row : rows) {
    while (table.columns.size() < row.size()) {
      table.columns.push_back({"", table.columns.size() < texts ? Format::text : Format::count});
    }
  }
  for (std::size_t c = 0; !rows.empty() && c < rows[0].size(); ++c) table.columns[c].heading = rows[0][c];
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::vector<Cell> cells(rows[r].begin(), rows[r].end());
    cells.resize(table.columns.size(), Cell(""));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string Paint::operator()(Tone tone, const std::string& text) const {
  constexpr std::array<const char*, 6> codes{"", "1", "2", "32", "33", "31"};
  if (!colour || tone == Tone::plain || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(tone)], text);
}

namespace {

using Breaks = TableColumn::Breaks;
constexpr std::size_t column_gap = 2;

/// The fields of a table for a terminal, and which columns fit into its width.
struct TerminalTable {
  struct Field {
    std::string text;
    Tone tone;
  };
  std::vector<std::vector<Field>> lines;  ///< of the headings, then of each row
  std::vector<std::size_t> widths;
  std::vector<std::size_t> shown;  ///< columns beside each other
  std::vector<std::size_t> below;  ///< columns whose texts stand below their row
};

TerminalTable fit(const Table& table, const TerminalLayout& layout) {
  TerminalTable fitted;
  auto& [lines, widths, shown, below] = fitted;
  lines.emplace_back();
  for (const TableColumn& column : table.columns) lines[0].push_back({one_line(column.heading), layout.headings});
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Tone usual = is_nothing(row[c]) ? Tone::dim : Tone::plain;
      line.push_back({one_line(human(row[c], table.columns[c].format)), row[c].tone.value_or(usual)});
    }
  }
  widths.resize(table.columns.size());
  std::size_t total = layout.indent;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (layout.columns > 0 && table.columns[c].breaks == Breaks::below) {
      below.push_back(c);
      continue;
    }
    for (const auto& line : lines) widths[c] = std::max(widths[c], display_width(line[c].text));
    total += (shown.empty() ? 0 : column_gap) + widths[c];
    shown.push_back(c);
  }
  while (layout.columns > 0 && total > layout.columns) {
    const auto first = std::ranges::max_element(shown, {}, [&](std::size_t c) { return table.columns[c].leaves; });
    if (first == shown.end() || table.columns[*first].leaves == 0) break;
    total -= column_gap + widths[*first];
    shown.erase(first);
  }
  constexpr std::size_t least = 12, least_last = 24;
  if (!shown.empty() && table.columns[shown.back()].format == Format::text) {
    total -= widths[shown.back()] - std::min(widths[shown.back()], least_last);  // its texts break anyway
  }
  for (const std::size_t c : shown) {
    if (layout.columns == 0 || total <= layout.columns || table.columns[c].breaks != Breaks::in_column) continue;
    const std::size_t others = total - widths[c];
    widths[c] = std::min(widths[c], std::max(least, layout.columns - std::min(layout.columns, others)));
    total = others + widths[c];
  }
  return fitted;
}

std::vector<std::string> parts_of(const std::string& lines) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    parts.push_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::set<std::string> shown_headings(const Table& table, const TerminalLayout& layout) {
  std::set<std::string> headings;
  for (const std::size_t c : fit(table, layout).shown) headings.insert(table.columns[c].heading);
  return headings;
}

std::string terminal_text(const Table& table, const TerminalLayout& layout) {
  struct Line {
    std::string text;
    std::size_t width = 0;  // colours take none
  };
  constexpr std::size_t least = 12;  // of what is broken
  const auto put = [&](Line& line, std::size_t column, Tone tone, const std::string& part) {
    const std::size_t at = line.width > 0 ? std::max(column, line.width + 1) : column;
    line.text += std::string(at - line.width, ' ') + layout.paint(tone, part);
    line.width = at + display_width(part);
  };
  const auto room = [&](std::size_t column) { return layout.columns > column ? layout.columns - column : 0; };
  const TerminalTable fitted = fit(table, layout);
  std::string out;
  for (std::size_t l = 0; l < fitted.lines.size() && !fitted.shown.empty(); ++l) {
    const auto& fields = fitted.lines[l];
    std::vector<Line> lines(1);
    std::size_t column = layout.indent;
    for (const std::size_t c : fitted.shown) {
      const auto& [text, tone] = fields[c];
      if (table.columns[c].format != Format::text) {
        put(lines[0], column + fitted.widths[c] - display_width(text), tone, text);
      } else {
        const bool keeps_in = c == fitted.shown.back() && room(column) >= least;
        const bool breaks = layout.columns > 0 && (keeps_in || table.columns[c].breaks == Breaks::in_column);
        const auto parts =
            breaks ? parts_of(wrapped(text, 0, keeps_in ? room(column) : fitted.widths[c])) : std::vector{text};
        lines.resize(std::max(lines.size(), parts.size()));
        for (std::size_t k = 0; k < parts.size(); ++k) put(lines[k], column, tone, parts[k]);
      }
      column += fitted.widths[c] + column_gap;
    }
    for (const std::size_t c : fitted.below) {
      if (l == 0 || fields[c].text.empty()) continue;
      const std::size_t indent = layout.indent + 2 * column_gap;
      for (const std::string& part : parts_of(wrapped(fields[c].text, 0, std::max(least, room(indent))))) {
        put(lines.emplace_back(), indent, fields[c].tone, part);
      }
    }
    for (Line& line : lines) {
      line.text.erase(line.text.find_last_not_of(' ') + 1);
      out += line.text + "\n";
    }
  }
  return out;
}

std::string markdown_text(const Table& table, MarkdownRules rules) {
  const bool aligned = rules == MarkdownRules::aligned;
  std::string headings, ruler, body;
  for (const auto& [heading, format, best, markup, leaves, breaks] : table.columns) {
    // Of a column without a heading one blank is enough.
    headings += heading.empty() && markup ? "| " : "| " + (markup ? piped(heading) : markdown(heading)) + " ";
    ruler += format == Format::text ? (aligned ? "| :-- " : "| --- ") : (aligned ? "| --: " : "| ---: ");
  }
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string text = human(row[c], table.columns[c].format);
      const std::string field = table.columns[c].markup ? piped(text) : markdown(text);
      body += row[c].tone == Tone::strong ? "| **" + field + "** " : "| " + field + " ";
    }
    body += "|\n";
  }
  return headings + "|\n" + ruler + "|\n" + body;
}

std::string csv_line(const std::vector<Cell>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) line += (c > 0 ? "," : "") + csv_value(cells[c]);
  return line + "\n";
}

std::string csv_text(const Table& table) {
  std::vector<Cell> headings;
  for (const TableColumn& column : table.columns) headings.emplace_back(column.heading);
  std::string text = csv_line(headings);
  for (const auto& row : table.rows) text += csv_line(row);
  return text;
}

}  // namespace conebench::reports
