#include "cli/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "reports/table.hpp"

namespace conebench::cli {

namespace {

/// Columns: room for every list of known words, none for a document that was given in place of a word.
constexpr std::size_t max_error = 2000;

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
  value["schema"] = "conebench." + kind + "/1";
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

std::string align_columns(const std::vector<std::vector<std::string>>& rows, int columns) {
  constexpr std::size_t min_room = 20;
  return reports::terminal_text(reports::text_table(rows),
                                {.columns = static_cast<std::size_t>(columns), .least = min_room});
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
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
