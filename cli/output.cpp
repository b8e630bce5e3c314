#include "cli/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/utf8.hpp"
#include "reports/table_layout.hpp"
#include "reports/text.hpp"

namespace conebench::cli {

namespace {

/// Columns: every list of known names fits, a document that was given as a name does not.
constexpr std::size_t max_error = 2000;

using Rows = std::vector<std::vector<std::string>>;

/// Widths with which the columns fit into a line: the widest becomes narrower, down to its longest word.
std::vector<std::size_t> fitted_widths(const Rows& rows, std::size_t columns) {
  constexpr std::size_t gap = 2;
  std::vector<std::size_t> widths, words;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    words.resize(widths.size());
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(row[c]));
      std::istringstream stream(row[c]);
      for (std::string word; stream >> word;) words[c] = std::max(words[c], display_width(word));
    }
  }
  std::size_t total =
      std::accumulate(widths.begin(), widths.end(), gap * (std::max<std::size_t>(widths.size(), 1) - 1));
  for (; total > columns; --total) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (widths[c] > words[c] && (widest == widths.size() || widths[c] > widths[widest])) widest = c;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

}  // namespace

int terminal_width(int descriptor) {
  constexpr int usual = 80;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

int output_columns() { return isatty(STDOUT_FILENO) == 1 ? terminal_width(STDOUT_FILENO) : 0; }

ProgressPrinter progress_on_stderr() {
  const auto write = [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  return {write, isatty(STDERR_FILENO) == 1, terminal_width(STDERR_FILENO)};
}

void print_text(const std::string& text) { print_bytes(printable(text)); }

void print_bytes(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const std::string& kind, nlohmann::json value) {
  value["schema"] = "conebench." + kind + "/2";
  print_bytes(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_error(const std::string& message) {
  std::fflush(stdout);
  print_note("conebench: " + shorten(one_line(message), max_error));
}

void print_note(const std::string& line) {
  const std::string text = printable(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json number(const std::optional<double>& value) { return value ? number(*value) : nlohmann::json(nullptr); }

nlohmann::json to_json(const OptionValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return number(*real);
  return std::visit([](const auto& v) { return nlohmann::json(v); }, value);
}

nlohmann::json to_json(const OptionValues& values) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}

nlohmann::json to_json(const OptionSpec& spec) {
  nlohmann::json object = {{"name", spec.name}, {"default", to_json(spec.default_value)}, {"doc", spec.doc}};
  object["minimum"] = number(spec.minimum);
  object["maximum"] = number(spec.maximum);
  object["unit"] = spec.unit;
  object["scale"] = spec.scale == OptionScale::linear ? "linear" : "logarithmic";
  if (!spec.choices.empty()) object["choices"] = spec.choices;
  return object;
}

std::string counts_text(const std::map<std::string, long>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text;
}

std::string align_columns(const Rows& rows, int columns) {
  if (columns == 0) return reports::terminal_text(reports::text_table(rows));
  const auto widths = fitted_widths(rows, static_cast<std::size_t>(columns));
  Rows lines;
  for (const auto& row : rows) {
    const std::size_t first = lines.size();
    lines.emplace_back(row.size());
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::istringstream parts(reports::wrapped(one_line(row[c]), 0, widths[c]));
      std::string part;
      for (std::size_t line = first; std::getline(parts, part); ++line) {
        if (line == lines.size()) lines.emplace_back(row.size());
        lines[line][c] = part;
      }
    }
  }
  return reports::terminal_text(reports::text_table(lines));
}

std::string paragraph(const std::string& text, std::size_t indent) {
  const auto columns = static_cast<std::size_t>(output_columns());
  return std::string(indent, ' ') + (columns > 0 ? reports::wrapped(text, indent, columns) : text) + "\n";
}

std::string markdown_table(const Rows& rows) {
  reports::Table table = reports::text_table(rows);
  for (auto& column : table.columns) column.markup = true;
  return reports::markdown_text(table);
}

std::string short_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.3g}", *value) : std::string("–");
}

std::string short_time(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 1.0) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

/// The exact text where it is short, else "0.6667" or "1e15".
static std::string readable(double value) {
  std::string exact = fmt::format("{}", value);
  if (exact.size() <= 8) return exact;
  std::string text = fmt::format("{:.4g}", value);
  if (const auto plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, text[plus + 2] == '0' ? 2 : 1);
  return text;
}

std::string range_text(const OptionSpec& spec) {
  if (!spec.choices.empty()) return fmt::format("{}", fmt::join(spec.choices, " | "));
  if (std::holds_alternative<bool>(spec.default_value)) return "true | false";
  if (std::holds_alternative<std::string>(spec.default_value)) return "text";
  const bool bounded_below = std::isfinite(spec.minimum);
  const bool bounded_above = std::isfinite(spec.maximum);
  if (bounded_below && bounded_above) {
    return fmt::format("{} … {}", readable(spec.minimum), readable(spec.maximum));
  }
  if (bounded_below) return "≥ " + readable(spec.minimum);
  if (bounded_above) return "≤ " + readable(spec.maximum);
  return "any";
}

std::string default_text(const OptionValue& value) {
  const auto* const real = std::get_if<double>(&value);
  return real != nullptr ? readable(*real) : to_text(value);
}

}  // namespace conebench::cli
