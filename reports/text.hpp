#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plural.hpp"
#include "base/utf8.hpp"
#include "store/noise.hpp"

/// Numbers and foreign texts in each format. Names of problems, families and messages come from files and
/// programs that nobody vetted: every format escapes them by the functions below.
namespace conebench::reports {

/// "79 µs", "1.24 ms", "3.40 s": three significant digits. Argument in seconds.
std::string human_time(double seconds);
std::string human_time(const std::optional<double>& seconds);  ///< "–" for nullopt
/// "1e-06" → "1e-6": the shortest text of a tolerance.
std::string human_tolerance(double tolerance);
/// "87.3 %", "99.5 %", "100 %", "0 %": never rounds up to 100 nor down to 0.
std::string human_share(double share);
/// "3.2e-07" with one decimal; "–" for nullopt, "∞" if not finite.
std::string human_residual(const std::optional<double>& value);
/// "no λ reaches a verdict below 3.1e-4": FeasibilityRecord::verdict_bound, rounded down.
std::string bound_text(double verdict_bound);
/// "the hypervisor took 9 % of the processor time".
std::string noise_text(const NoiseRecord& noise);
std::vector<std::string> noise_texts(const std::vector<NoiseRecord>& noise);
/// Three significant digits, without an exponent if that is short.
std::string human_number(double value);
/// The shortest text that reads back as the same double; "inf", "nan".
std::string exact(double value);

/// "families", "categories", "bands of conditioning": several of a StoreContents::group.
std::string many_groups(const std::string& group);
/// "1 family", "3 bands of conditioning".
std::string count_groups(long count, const std::string& group);
/// The text with its first letter in upper case.
std::string capital(std::string text);

/// Labels of configurations ("ID key=value key=value") for a column of `width`: a longer one has "…" in place of the
/// values that all of its solver's labels share. Parts that distinguish two labels stay, however long they are. Names
/// of more than 100 columns are cut if they stay distinct.
std::vector<std::string> short_labels(const std::vector<std::string>& labels, std::size_t width);

/// `text` after `indent` columns, its words broken over lines of `width`; a number stays with its " %".
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

using conebench::display_width;
using conebench::one_line;
using conebench::shorten;

/// A text field by RFC 4180 in valid UTF-8, with a leading ' if a spreadsheet would take it for a formula (it begins
/// with = + - @, a tab, a line end or '). Not for numbers.
std::string csv_field(std::string_view text);
std::string markdown(std::string_view text);  ///< in a table's cell
std::string latex(std::string_view text);     ///< characters that pdflatex lacks become [U+4E2D]
std::string html(std::string_view text);
std::string shell(std::string_view text);  ///< one argument for a POSIX shell, quoted only if needed
/// JSON escaped for a script element.
std::string script_json(std::string_view json);

}  // namespace conebench::reports
