#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// The table that all formats of a report share, and one layout function for each format, which escapes the texts.
/// The report's own tables are in markdown.cpp, latex.cpp, csv.cpp and terminal.cpp; their numbers in analysis.hpp.
namespace conebench::reports {

/// How a column's numbers are written. A text is unchanged in every column; it is aligned right unless the format is
/// `text`.
enum class Format {
  text,
  text_right,
  count,
  number,    ///< human_number()
  share,     ///< human_share(); LaTeX: in percent
  time,      ///< [s], human_time(); LaTeX: in ms
  residual,  ///< human_residual()
};

/// Emphasis of a cell: a colour on a terminal; `strong` is bold there and in Markdown.
enum class Tone { plain, strong, dim, good, warning, bad };

/// A text, a number, or nothing, which is shown as "–" and in CSV as an empty field.
struct Cell {
  Cell() = default;
  Cell(std::string text, std::optional<Tone> shown = {}) : value(std::move(text)), tone(shown) {}
  Cell(const char* text, std::optional<Tone> shown = {}) : Cell(std::string(text), shown) {}
  Cell(double number, std::optional<Tone> shown = {}) : value(number), tone(shown) {}
  template <std::integral Number>
  Cell(Number number, std::optional<Tone> shown = {}) : value(static_cast<long>(number)), tone(shown) {}
  template <class Known>
  Cell(const std::optional<Known>& known, std::optional<Tone> shown = {}) : tone(shown) {
    if (known) value = Cell(*known).value;
  }
  /// "mean ± deviation"
  static Cell mean(const std::optional<double>& average, const std::optional<double>& deviation) {
    Cell cell(average);
    cell.spread = deviation;
    return cell;
  }

  std::variant<std::monostate, std::string, long, double> value;
  std::optional<Tone> tone;  ///< nullopt: plain; dim if there is no value
  std::optional<double> spread;
  bool competes = true;  ///< whether it can be the best of its column
};

/// Which number of a column LaTeX prints in bold, unless all are equal.
enum class Best { none, lowest, highest };

struct TableColumn {
  std::string heading;
  Format format = Format::text;
  Best best = Best::none;
  bool markup = false;  ///< its heading and texts are in the format's own markup
  /// If a terminal is too narrow, columns with a larger number are left out first. 0: never left out.
  int leaves = 0;
  /// How a terminal breaks long texts over lines: within the column, if the others leave too little room, or on lines
  /// of their own below the row.
  enum class Breaks { none, in_column, below } breaks = Breaks::none;
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows = {};  ///< a cell of each column
};

/// Columns of texts, without a row.
template <class... Headings>
Table text_columns(const Headings&... headings) {
  return {{{headings}...}};
}

/// A table of texts. The first of `rows` are the headings. Columns from index `texts` on are numbers as text.
Table text_table(const std::vector<std::vector<std::string>>& rows, std::size_t texts = std::string::npos);

/// Columns of a table of `Row`s, each with a function from a row to its cell.
template <class Row>
class TableOf {
 public:
  void add(TableColumn column, std::function<Cell(const Row&)> cell) {
    columns_.push_back(std::move(column));
    cells_.push_back(std::move(cell));
  }
  template <class Rows>
  Table of(const Rows& rows) const {
    Table table{columns_};
    for (const Row& row : rows) {
      auto& line = table.rows.emplace_back();
      for (const auto& cell : cells_) line.push_back(cell(row));
    }
    return table;
  }

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::function<Cell(const Row&)>> cells_;
};

/// ANSI colours, if the terminal has them.
struct Paint {
  bool colour = false;
  std::string operator()(Tone tone, const std::string& text) const;
};

struct TerminalLayout {
  std::size_t indent = 0;
  Paint paint = {};
  Tone headings = Tone::plain;
  /// Columns of the terminal, for which TableColumn::leaves and ::breaks hold, and which a last column of texts keeps
  /// to. 0: lines may have any length.
  std::size_t columns = 0;
};
/// Columns as wide as their widest field, two blanks between them.
std::string terminal_text(const Table& table, const TerminalLayout& layout = {});
/// Headings of the columns that terminal_text() does not leave out.
std::set<std::string> shown_headings(const Table& table, const TerminalLayout& layout);

enum class MarkdownRules {
  plain,    ///< --- and ---:
  aligned,  ///< :-- and --:
};
std::string markdown_text(const Table& table, MarkdownRules rules = MarkdownRules::plain);

/// By RFC 4180; numbers with all their digits.
std::string csv_text(const Table& table);
/// One row with its line end.
std::string csv_line(const std::vector<Cell>& cells);

}  // namespace conebench::reports
