#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench::cli {

struct NumberRange {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool above_minimum = false;  ///< the minimum itself is not allowed
};

/// Options whose value must be a whole decimal number or a real in the range; CLI11's own conversions take octal
/// numbers, NaN and trailing text.
CLI::Option* add_real(CLI::App& app, const std::string& name, double& value, NumberRange range, const std::string& doc);
CLI::Option* add_integer(CLI::App& app, const std::string& name, long& value, NumberRange range,
                         const std::string& doc);
/// `--set key=value`; may be repeated.
CLI::Option* add_set_option(CLI::App& app, std::vector<std::string>& values, const std::string& doc);

/// `--break-lock` of what writes a store.
CLI::Option* add_break_lock(CLI::App& app, bool& wanted);

/// The values that "key=value" texts mean for these options. `owner` names them in errors ("NSGS"). Errors
/// (wrong_usage): no '=', an unknown key (lists the known), a key given twice, a value of the wrong type or out of
/// range is found later by who takes them.
Result<OptionValues> parse_set_values(const std::vector<std::string>& values, std::span<const OptionSpec> specs,
                                      const std::string& owner);

/// Whether a file could be put there, asked before long work. Errors (bad_input): no such folder, not writable.
Result<void> check_location(const std::filesystem::path& file);

}  // namespace conebench::cli
