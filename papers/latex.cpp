#include <fmt/format.h>

#include "papers/render.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

using reports::latex;

/// "1.20e-05" and "4.9 ± 3.5" in math mode.
std::string number(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "±") == 0) {
      out += "\\pm";
      i += std::string("±").size();
    } else if (text[i] == 'e') {
      const std::size_t end = std::min(text.find(' ', i), text.size());
      out += fmt::format("{{\\cdot}}10^{{{}}}", std::stoi(text.substr(i + 1, end - i - 1)));
      i = end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string field(const std::string& text, bool is_number) {
  if (text == "–") return "--";
  return is_number ? "$" + number(text) + "$" : latex(text);
}

/// More columns than this do not fit the text's width at the usual size.
constexpr std::size_t wide = 5;

std::string table_latex(const EntryResult& result, std::size_t t) {
  const Entry& entry = *result.entry;
  const Table& table = result.layouts[t];
  const auto rows = table_texts(table, result.tables[t]);
  const std::size_t words = table.published.empty() ? 1 : 2;  // columns of names in front
  std::string caption = latex(table.title);
  if (!table.unit.empty()) caption += " [" + latex(table.unit) + "]";
  if (!table.published.empty()) caption += ", measured and published";
  const std::string source = source_text(entry, table.place);
  if (!source.empty()) caption += " (" + latex(source) + ")";
  if (!result.criteria.empty()) caption += ", criterion " + latex(result.criteria);
  std::string text = fmt::format(
      "\\begin{{table}}\n\\centering\\small\n\\caption{{{}.}}\n\\label{{tab:{}-{}}}\n"
      "{}\\begin{{tabular}}{{{}{}}}\n\\toprule\n",
      caption, entry.id, t + 1, table.columns.size() > wide ? "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n" : "",
      std::string(words, 'l'), std::string(table.columns.size(), 'r'));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      text += (c > 0 ? " & " : "") + field(rows[r][c], r > 0 && c >= words);
    }
    text += r == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n";
}

}  // namespace

std::string entry_latex(const EntryResult& result) {
  std::string text = "% Needs \\usepackage{booktabs,textcomp}\n";
  for (std::size_t t = 0; t < result.tables.size(); ++t) text += table_latex(result, t);
  return text;
}

}  // namespace conebench::papers
