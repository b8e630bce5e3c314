#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

/// Columns of the terminal behind a file descriptor, 80 where there is none.
int terminal_width(int descriptor);
/// Columns of the terminal that standard output is; 0 where it is none, and lines may have any length.
int output_columns();
/// Progress for a person, a bar on a terminal and plain lines otherwise.
ProgressPrinter progress_on_stderr();

/// To standard output, printable(): whatever name or message it holds, a terminal obeys none.
void print_text(const std::string& text);
/// To standard output as it is: tables with colours, whose names are printable already, and what programs read.
void print_bytes(const std::string& text);
/// One object and a line end to standard output, with its `schema`, "conebench.KIND/1"; texts that are not UTF-8 are
/// repaired.
void print_json(const std::string& kind, nlohmann::json value);
/// "conebench: …", one line to standard error.
void print_error(const std::string& message);
/// A line for a person to standard error, so that standard output stays what was asked for.
void print_note(const std::string& line);

/// null where it is not finite.
nlohmann::json number(double value);
nlohmann::json number(const std::optional<double>& value);
nlohmann::json to_json(const OptionValue& value);
nlohmann::json to_json(const OptionValues& values);
nlohmann::json to_json(const OptionSpec& spec);

/// "3 converged, 1 timeout"
std::string counts_text(const std::map<std::string, long>& counts);
/// Rows of cells in columns that line up, two blanks between them; the first row is the heading. `columns`: where lines
/// would be longer, the widest columns go on below themselves, between words; 0: lines may have any length.
std::string align_columns(const std::vector<std::vector<std::string>>& rows, int columns = 0);
/// The text with a line end; where standard output is a terminal, broken between words at its width.
std::string paragraph(const std::string& text, std::size_t indent = 0);
/// A Markdown table; the first row is the heading.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

/// "3.1e-09", or "–" where there is none.
std::string short_number(const std::optional<double>& value);
/// "1.9 ms"
std::string short_time(double seconds);
/// "[0, 2]", "≥ 1", "a | b": what values the option takes.
std::string range_text(const OptionSpec& spec);
std::string default_text(const OptionValue& value);

}  // namespace conebench::cli
