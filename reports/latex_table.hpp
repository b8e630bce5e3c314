#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table_layout.hpp"

/// Tables and figures for papers: one float a file, to be \input by itself. A float takes one column of a page if its
/// content fits there, else all of its width, and is made smaller if it is wider or higher than the page allows: no
/// document class or size of type gives an overfull box or a float that is too large.
namespace conebench::reports {

/// What the files need of a document's preamble.
inline constexpr std::string_view latex_preamble =
    "\\usepackage[T1]{fontenc}\n\\usepackage{textcomp,graphicx,booktabs,siunitx,pgfplots}\n"
    "\\pgfplotsset{compat=1.16}\n";

/// What stands around the content of a float. All texts are LaTeX.
struct LatexFloat {
  std::string short_caption;  ///< in a list of tables or figures
  std::string caption;        ///< without its last full stop
  std::string label;
  std::string note = {};      ///< small print below
  std::string comments = {};  ///< lines with % at the head of the file
};

/// The file of a table. Times are in the unit that suits all of them: caption and note may hold `time_unit_mark`, which
/// is replaced by it. Numbers of a column have one form: all whole, all with three digits, or all with a power of ten.
/// The best of a column is bold, unless all are equal. More than 50 rows become several floats.
std::string latex_table(const Table& table, const LatexFloat& around);
inline constexpr std::string_view time_unit_mark = "@time-unit@";

/// The file of a figure: `picture` is what is drawn, for one column's width.
std::string latex_figure(const std::string& picture, const LatexFloat& around);

/// latex(), with places where a line may break within long words.
std::string latex_breakable(std::string_view text);

/// A document of class article that has `files` (to \input) one after the other, with `notes` (LaTeX) in front.
std::string latex_document(const std::vector<std::string>& files, const std::vector<std::string>& notes = {});

/// The lines of a file of macros, each with a name that no other has.
class LatexMacros {
 public:
  /// \cbWORDS: letters of the words, each beginning with a capital, digits and signs spelled: "solved", "1e-8" give
  /// \cbSolvedOneEMinusEight. `value` is LaTeX, `meaning` plain text.
  void add(const std::vector<std::string>& words, const std::string& value, const std::string& meaning);
  std::string text() const { return text_; }

 private:
  std::string text_;
  std::set<std::string> names_;
};

/// Letters and digits, other characters as one hyphen: a name for a file. "all" if nothing is left.
std::string file_word(std::string_view text);

}  // namespace conebench::reports
