#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

#include <cstring>

#include "base/option_parsing.hpp"

namespace conebench::cli {

namespace {

std::string describe_range(const NumberRange& range) {
  const bool below = std::isfinite(range.minimum);
  const bool above = std::isfinite(range.maximum);
  if (below && above) return fmt::format("from {} to {}", range.minimum, range.maximum);
  if (below) return fmt::format("{} {}", range.above_minimum ? "greater than" : "at least", range.minimum);
  if (above) return fmt::format("at most {}", range.maximum);
  return "finite";
}

template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value, NumberRange range,
                        const std::string& doc, const char* kind) {
  const auto take = [&value, range, name, kind](const std::string& text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const auto as_real = static_cast<double>(number);
    const bool inside = std::isfinite(as_real) && as_real >= range.minimum && as_real <= range.maximum &&
                        !(range.above_minimum && as_real == range.minimum);
    if (parsed.ec != std::errc{} || parsed.ptr != end || !inside) {
      throw CLI::ValidationError(fmt::format("{} = {} must be {} {}", name, text, kind, describe_range(range)),
                                 CLI::ExitCodes::ValidationError);
    }
    value = number;
  };
  return app.add_option_function<std::string>(name, take, doc)
      ->default_str(fmt::format("{}", value))
      ->type_name("NUMBER");
}

}  // namespace

CLI::Option* add_real(CLI::App& app, const std::string& name, double& value, NumberRange range,
                      const std::string& doc) {
  return add_number(app, name, value, range, doc, "a number");
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, long& value, NumberRange range,
                         const std::string& doc) {
  return add_number(app, name, value, range, doc, "a whole number");
}

CLI::Option* add_set_option(CLI::App& app, std::vector<std::string>& values, const std::string& doc) {
  return app.add_option("--set", values, doc)->type_name("KEY=VALUE")->allow_extra_args(false);
}

CLI::Option* add_break_lock(CLI::App& app, bool& wanted) {
  return app.add_flag("--break-lock", wanted,
                      "Take over a store that a process of another host, or before a restart, has left locked");
}

Result<OptionValues> parse_set_values(const std::vector<std::string>& values, std::span<const OptionSpec> specs,
                                      const std::string& owner) {
  return parse_options(values, specs, owner, "--set ");
}

Result<void> check_location(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(file, ignored).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: there is no folder {}; make it first",
                                                   file.string(), folder.string())};
  }
  if (!std::filesystem::exists(file, ignored) && access(folder.c_str(), W_OK) != 0) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: cannot be written: {}; make the folder writable or give another file", file.string(),
                             std::strerror(errno))};
  }
  return {};
}

}  // namespace conebench::cli
