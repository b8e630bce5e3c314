#include "reports/latex_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "reports/text.hpp"

namespace conebench::reports {

namespace {

constexpr std::size_t max_rows = 50;
constexpr std::size_t long_note = 1200;  ///< of which a table of so many rows leaves no room

std::optional<double> number_of(const Cell& cell) {
  if (const long* whole = std::get_if<long>(&cell.value)) return static_cast<double>(*whole);
  const double* real = std::get_if<double>(&cell.value);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

bool is_best(const Table& table, std::size_t row, std::size_t column) {
  const Best best = table.columns[column].best;
  const Cell& cell = table.rows[row][column];
  const auto own = number_of(cell);
  if (best == Best::none || !own || !cell.competes) return false;
  bool all_tie = true;
  for (const auto& other : table.rows) {
    const auto value = number_of(other[column]);
    all_tie = all_tie && value == own;
    if (value && other[column].competes && (best == Best::lowest ? *value < *own : *value > *own)) return false;
  }
  return !all_tie;
}

bool is_text(Format format) { return format == Format::text || format == Format::text_right; }

/// A unit of time: its name in LaTeX, and how many are in a second.
struct TimeUnit {
  const char* name;
  double per_second;
};
constexpr std::array<TimeUnit, 3> time_units{{{"ms", 1e3}, {"$\\mu$s", 1e6}, {"s", 1.0}}};

/// Whether numbers are readable without a power of ten.
bool plain(double smallest, double largest) { return smallest >= 1e-3 && largest < 1e6; }

/// The absolute values that are not 0 and finite, smallest first.
std::vector<double> sizes_of(const Table& table, auto take) {
  std::vector<double> sizes;
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (!take(c)) continue;
      for (const auto& value : {number_of(row[c]), row[c].spread}) {
        if (value && std::isfinite(*value) && *value != 0.0) sizes.push_back(std::abs(*value));
      }
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// The first unit in which no time of the table takes a power of ten.
TimeUnit unit_of(const Table& table) {
  const auto sizes = sizes_of(table, [&](std::size_t c) { return table.columns[c].format == Format::time; });
  for (const TimeUnit& unit : time_units) {
    if (sizes.empty() || plain(sizes.front() * unit.per_second, sizes.back() * unit.per_second)) return unit;
  }
  return time_units.front();
}

/// How the numbers of one column are written.
struct NumberForm {
  enum class Kind { whole, share, digits, power } kind = Kind::digits;
  double factor = 1.0;

  std::string text(double value) const {
    const double scaled = factor * value;
    switch (kind) {
      case Kind::whole: return fmt::format("{:.0f}", scaled);
      case Kind::share:  // never up to 100 nor down to 0
        if (scaled > 0.0 && scaled < 100.0 - 1e-9) return fmt::format("{:.1f}", std::clamp(scaled, 0.1, 99.9));
        return fmt::format("{:.1f}", scaled);
      case Kind::digits: return scaled == 0.0 ? std::string("0.00") : human_number(scaled);
      case Kind::power: break;
    }
    return fmt::format("{:.2e}", scaled);
  }
};

NumberForm form_of(const Table& table, std::size_t column, const TimeUnit& unit) {
  const Format format = table.columns[column].format;
  if (format == Format::count) return {NumberForm::Kind::whole};
  if (format == Format::share) return {NumberForm::Kind::share, 100.0};
  if (format == Format::residual) return {NumberForm::Kind::power};
  const double factor = format == Format::time ? unit.per_second : 1.0;
  const auto sizes = sizes_of(table, [&](std::size_t c) { return c == column; });
  const bool is_plain = sizes.empty() || plain(factor * sizes.front(), factor * sizes.back());
  const bool is_whole = format == Format::number && is_plain &&
                        std::ranges::all_of(sizes, [](double size) { return size == std::round(size); });
  return {is_whole ? NumberForm::Kind::whole : is_plain ? NumberForm::Kind::digits : NumberForm::Kind::power, factor};
}

/// siunitx's description of a column: the most digits that stand before and behind the point, and of the exponent.
class TableFormat {
 public:
  void see(const std::string& number) {
    const std::size_t e = number.find('e');
    const std::string mantissa = number.substr(0, e);
    const bool negative = mantissa.starts_with('-');
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    sign_ = sign_ || negative;
    before_ = std::max(before_, point - (negative ? 1 : 0));
    behind_ = std::max(behind_, mantissa.size() - std::min(mantissa.size(), point + 1));
    if (e == std::string::npos) return;
    const long exponent = std::stol(number.substr(e + 1));
    exponent_sign_ = exponent_sign_ || exponent < 0;
    exponent_ = std::max(exponent_, std::to_string(std::abs(exponent)).size());
  }
  std::string column() const {
    std::string text = fmt::format("{}{}", sign_ ? "-" : "", before_);
    if (behind_ > 0) text += fmt::format(".{}", behind_);
    if (exponent_ > 0) text += fmt::format("e{}{}", exponent_sign_ ? "-" : "", exponent_);
    return fmt::format("S[table-format={}]", text);
  }

 private:
  bool sign_ = false, exponent_sign_ = false;
  std::size_t before_ = 1, behind_ = 0, exponent_ = 0;
};

/// "1.20e-05" → "1.20e-5".
std::string short_exponent(const std::string& number) {
  const std::size_t e = number.find('e');
  return e == std::string::npos ? number : fmt::format("{}e{}", number.substr(0, e), std::stol(number.substr(e + 1)));
}

/// One column of the tabular, or three where numbers have a deviation: mean, sign, deviation.
struct LatexColumn {
  std::string alignment, heading;
  std::vector<std::string> fields;
};

/// A number for a column of siunitx, or in braces what is none.
std::string field_of(double value, const NumberForm& form, TableFormat& format) {
  if (!std::isfinite(value)) return value > 0.0 ? "{$\\infty$}" : "{--}";
  std::string text = short_exponent(form.text(value));
  format.see(text);
  return text;
}

LatexColumn text_column(const Table& table, std::size_t c, std::string heading) {
  LatexColumn column{table.columns[c].format == Format::text ? "l" : "r", std::move(heading), {}};
  for (const auto& row : table.rows) {
    const auto* text = std::get_if<std::string>(&row[c].value);
    const auto number = number_of(row[c]);
    if (text != nullptr && *text != "–") {
      column.fields.push_back(table.columns[c].markup ? *text : latex(*text));
    } else {
      column.fields.push_back(number ? human_number(*number) : "--");
    }
  }
  return column;
}

LatexColumn number_column(const Table& table, std::size_t c, std::string heading, const TimeUnit& unit) {
  const NumberForm form = form_of(table, c, unit);
  const bool spreads = std::ranges::any_of(table.rows, [c](const auto& row) { return row[c].spread.has_value(); });
  TableFormat means, deviations;
  LatexColumn column;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const Cell& cell = table.rows[r][c];
    const auto* text = std::get_if<std::string>(&cell.value);
    const auto number = number_of(cell);
    std::string field = text != nullptr && *text != "–" ? "{" + latex(*text) + "}" : "{--}";
    if (number) field = (is_best(table, r, c) ? "\\bfseries " : "") + field_of(*number, form, means);
    if (spreads) {
      field += cell.spread && number ? " & $\\pm$ & " + field_of(*cell.spread, form, deviations) : std::string(" & & ");
    }
    column.fields.push_back(std::move(field));
  }
  column.heading = spreads ? "\\multicolumn{3}{c}{" + heading + "}" : "{" + heading + "}";
  column.alignment = means.column();
  if (spreads) column.alignment += "@{\\,}c@{\\,}" + deviations.column();
  return column;
}

/// The tabular of the rows from `begin` to `end`.
std::string tabular(const std::vector<LatexColumn>& columns, std::size_t begin, std::size_t end) {
  std::string alignment, headings, body;
  for (const LatexColumn& column : columns) {
    headings += (alignment.empty() ? "" : " & ") + column.heading;
    alignment += column.alignment;
  }
  for (std::size_t row = begin; row < end; ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) body += (c > 0 ? " & " : "") + columns[c].fields[row];
    body += " \\\\\n";
  }
  return fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n{}\\bottomrule\n\\end{{tabular}}",
                     alignment, headings, body);
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
  return text;
}

/// One float around what \conebenchbox is set to by `box`. The box is made smaller where it is wider than the page or
/// leaves no room for caption and note.
std::string float_text(const std::string& kind, const std::string& box, const LatexFloat& around) {
  constexpr std::size_t letters_a_line = 50, more_lines = 3;  // of a caption in a narrow column
  const std::string caption =
      fmt::format("\\caption[{}]{{{}.}}\n\\label{{{}}}\n", around.short_caption, around.caption, around.label);
  const std::string content = fmt::format(
      "\\sbox{{\\conebenchnote}}{{\\parbox{{\\linewidth}}{{\\scriptsize\\raggedright {}\\par}}}}%\n"
      "\\edef\\conebenchroom{{\\the\\dimexpr\\textheight-\\ht\\conebenchnote-\\dp\\conebenchnote-{}"
      "\\baselineskip\\relax}}%\n"
      "\\ifdim\\wd\\conebenchbox>\\linewidth\n"
      "\\sbox{{\\conebenchbox}}{{\\resizebox{{\\linewidth}}{{!}}{{\\usebox{{\\conebenchbox}}}}}}\\fi\n"
      "\\ifdim\\dimexpr\\ht\\conebenchbox+\\dp\\conebenchbox\\relax>\\conebenchroom\\relax\n"
      "\\sbox{{\\conebenchbox}}{{\\resizebox*{{!}}{{\\conebenchroom}}{{\\usebox{{\\conebenchbox}}}}}}\\fi\n"
      "\\usebox{{\\conebenchbox}}\\par\n",
      around.note, around.caption.size() / letters_a_line + more_lines);
  const std::string note = around.note.empty() ? "" : "\\smallskip\\usebox{\\conebenchnote}\\par\n";
  const std::string order = kind == "table" ? caption + content + note : content + caption + note;
  return "\\begingroup\n\\ifdefined\\conebenchbox\\else\\newsavebox{\\conebenchbox}\\newsavebox{\\conebenchnote}"
         "\\fi\n" +
         box +
         fmt::format(
             "\\def\\conebenchfloat{{{0}}}%\n"
             "\\ifdim\\wd\\conebenchbox>\\columnwidth\\def\\conebenchfloat{{{0}*}}\\fi\n",
             kind) +
         "\\begin{\\conebenchfloat}[tbp]\n\\centering\\emergencystretch=3em\n" + order +
         "\\end{\\conebenchfloat}\n\\endgroup\n";
}

constexpr std::array<const char*, 10> digit_names = {"Zero", "One", "Two",   "Three", "Four",
                                                     "Five", "Six", "Seven", "Eight", "Nine"};

/// "1e-8" → "OneEMinusEight", "ADMM-NCP-SA" → "ADMMNCPSA", "mean time" → "MeanTime".
std::string spelled(const std::string& word) {
  std::string out;
  bool begins = true;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    const bool is_sign = c == '-' && i + 1 < word.size() &&
                         std::isdigit(static_cast<unsigned char>(word[i + 1])) != 0 && i > 0 && word[i - 1] == 'e';
    if (is_sign) out += "Minus";
    if (c == '.' && i > 0 && std::isdigit(static_cast<unsigned char>(word[i - 1])) != 0) out += "Point";
    if (std::isdigit(c) != 0) {
      out += digit_names.at(c - '0');
    } else if (c < 0x80 && std::isalpha(c) != 0) {
      out += static_cast<char>(begins ? std::toupper(c) : c);
    }
    begins = std::isalpha(c) == 0;
  }
  return out;
}

}  // namespace

std::string latex_breakable(std::string_view text) {
  std::string out;
  const std::string escaped = latex(text);
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    out += escaped[i];
    const bool after_mark = escaped[i] == '_' || escaped[i] == '=' || escaped[i] == '/' || escaped[i] == ',';
    if (after_mark && i + 1 < escaped.size() && escaped[i + 1] != ' ') out += "\\allowbreak{}";
  }
  return out;
}

std::string latex_table(const Table& table, const LatexFloat& around) {
  const TimeUnit unit = unit_of(table);
  std::vector<LatexColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const TableColumn& column = table.columns[c];
    std::string heading = column.markup ? column.heading : latex(column.heading);
    columns.push_back(is_text(column.format) ? text_column(table, c, std::move(heading))
                                             : number_column(table, c, std::move(heading), unit));
  }
  const std::size_t most = around.note.size() < long_note ? max_rows : 4 * max_rows / 5;
  const std::size_t parts = std::max<std::size_t>(1, (table.rows.size() + most - 1) / most);
  const std::size_t per_part = (table.rows.size() + parts - 1) / parts;
  const char* const size = per_part <= 25 ? "\\small" : per_part <= 38 ? "\\footnotesize" : "\\scriptsize";
  std::string text = around.comments + "% Packages: textcomp, graphicx, booktabs, siunitx (preamble.tex)\n";
  for (std::size_t part = 0; part < parts; ++part) {
    const std::string box = fmt::format(
        "\\sbox{{\\conebenchbox}}{{{}\\setlength{{\\tabcolsep}}{{3.5pt}}%\n"
        "\\sisetup{{text-series-to-math=true,propagate-math-font=true,reset-text-series=false}}%\n{}}}%\n",
        size, tabular(columns, part * per_part, std::min(table.rows.size(), (part + 1) * per_part)));
    LatexFloat one = around;
    if (parts > 1) {
      one.caption += fmt::format(" (part {} of {})", part + 1, parts);
      if (part > 0) one.label += fmt::format("-{}", part + 1);
      if (part + 1 < parts) one.note.clear();
    }
    text += float_text("table", box, one);
  }
  return replaced(std::move(text), time_unit_mark, unit.name);
}

std::string latex_figure(const std::string& picture, const LatexFloat& around) {
  return around.comments + "% Packages: textcomp, graphicx, pgfplots (preamble.tex)\n" +
         float_text("figure", "\\sbox{\\conebenchbox}{%\n" + picture + "}%\n", around);
}

std::string latex_document(const std::vector<std::string>& files, const std::vector<std::string>& notes) {
  std::string text =
      "\\documentclass[a4paper]{article}\n\\input{preamble}\n"
      "% Floats alone: none waits for text\n\\setcounter{totalnumber}{9}\n\\setcounter{topnumber}{9}\n"
      "\\begin{document}\n";
  if (!notes.empty()) {
    text += "{\\raggedright\\emergencystretch=3em\n\\begin{itemize}\n";
    for (const std::string& note : notes) text += "\\item " + note + "\n";
    text += "\\end{itemize}}\n";
  }
  for (const std::string& file : files) text += fmt::format("\\input{{{}}}\n\\clearpage\n", file);
  return text + "\\end{document}\n";
}

void LatexMacros::add(const std::vector<std::string>& words, const std::string& value, const std::string& meaning) {
  std::string name = "cb";
  for (const std::string& word : words) name += spelled(word);
  const std::string first = name;
  for (std::size_t other = 2; !names_.insert(name).second; ++other) {
    name = first + "No" + spelled(std::to_string(other));
  }
  text_ += fmt::format("\\newcommand{{\\{}}}{{{}}}% {}\n", name, value, one_line(meaning));
}

std::string file_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_kept = byte < 0x80 && (std::isalnum(byte) != 0 || c == '_');
    if (is_kept) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out.empty() ? "all" : out;
}

}  // namespace conebench::reports
