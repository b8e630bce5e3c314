#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// One table for all exporters, and a function a format that lays it out. Texts are as they come: each format escapes
/// them.
namespace conebench::reports {

/// How a column's numbers are written. A text stands as it is in every column, and to the right in all but the first
/// kind.
enum class Format {
  text,
  text_right,
  count,
  number,    ///< human_number()
  share,     ///< human_share(); LaTeX: in percent
  time,      ///< [s], human_time(); LaTeX: in ms
  residual,  ///< human_residual()
};

/// What a cell is to a reader: a colour on a terminal; `strong` is bold there and in Markdown.
enum class Tone { plain, strong, dim, good, warning, bad };

/// A text, a number, or nothing: "–", in CSV an empty field.
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
  std::optional<Tone> tone;  ///< nothing: plain, and dim where there is no value
  std::optional<double> spread;
  bool competes = true;  ///< for being the best of its column
};

/// Which number of a column LaTeX sets in bold, where not all are alike.
enum class Best { none, lowest, highest };

struct TableColumn {
  std::string heading;
  Format format = Format::text;
  Best best = Best::none;
  bool markup = false;  ///< its heading and texts are in the format's own markup
  /// On a terminal that is too narrow the column with the largest number is left out first. 0: none is.
  int leaves = 0;
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

/// The first of `rows` are the headings; columns from the number `texts` on are of numbers, as text.
Table text_table(const std::vector<std::vector<std::string>>& rows, std::size_t texts = std::string::npos);

/// The columns of a table of `Row`s, each with what it shows of a row.
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

/// ANSI colours, where a terminal has them.
struct Paint {
  bool colour = false;
  std::string operator()(Tone tone, const std::string& text) const;
};

struct TerminalLayout {
  std::size_t indent = 0;
  Paint paint = {};
  Tone headings = Tone::plain;
  /// Columns of the terminal, for which TableColumn::leaves holds, and which a last column of texts keeps to: its lines
  /// go on below themselves, or are shortened. 0: lines may have any length.
  std::size_t columns = 0;
  bool shorten = false;
  /// Where less than this is left of `columns`, a shortened text has it all the same, and no other is broken.
  std::size_t least = 0;
};
/// Columns as wide as their widest field, two blanks between them.
std::string terminal_text(const Table& table, const TerminalLayout& layout = {});

enum class MarkdownRules {
  plain,    ///< --- and ---:
  aligned,  ///< :-- and --:
};
std::string markdown_text(const Table& table, MarkdownRules rules = MarkdownRules::plain);

/// A floating table for a document with booktabs. `caption` is LaTeX; `setup`: lines before the tabular.
std::string latex_text(const Table& table, const std::string& caption, const std::string& label,
                       const std::string& setup = {});

/// By RFC 4180; numbers with all their digits.
std::string csv_text(const Table& table);
/// One row with its line end.
std::string csv_line(const std::vector<Cell>& cells);

}  // namespace conebench::reports
