#include "runners/plan/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/option_parsing.hpp"

namespace conebench {

namespace {

Error usage(std::string message) { return Error{ErrorCode::wrong_usage, std::move(message)}; }

bool is_number(const OptionValue& value) {
  return std::holds_alternative<long>(value) || std::holds_alternative<double>(value);
}

double as_real(const OptionValue& value) {
  const long* const integer = std::get_if<long>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

}  // namespace

std::vector<OptionValues> cartesian(const OptionValues& fixed,
                                    const std::map<std::string, std::vector<OptionValue>>& axes) {
  std::vector<OptionValues> points = {fixed};
  for (const auto& [name, values] : axes) {
    std::vector<OptionValues> longer;
    for (const OptionValues& point : points) {
      for (const OptionValue& value : values) {
        longer.push_back(point);
        longer.back()[name] = value;
      }
    }
    points = std::move(longer);
  }
  return points;
}

Result<void> check_options(const std::vector<OptionSpec>& specs, const OptionValues& values) {
  for (const auto& [name, value] : values) {
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&, &key = name](const OptionSpec& s) { return s.name == key; });
    const std::string text = to_text(value);
    if (spec == specs.end()) {
      std::vector<std::string> known;
      for (const OptionSpec& s : specs) known.push_back(s.name);
      return usage(unknown_option(name, known));
    }
    const bool fits = spec->default_value.index() == value.index() ||
                      (std::holds_alternative<double>(spec->default_value) && is_number(value));
    if (!fits) {
      static const char* const kinds[] = {"true or false", "an integer", "a number", "a word"};
      return usage(fmt::format("option '{}' = {} must be {}", name, text, kinds[spec->default_value.index()]));
    }
    if (is_number(value) && !(as_real(value) >= spec->minimum && as_real(value) <= spec->maximum)) {
      return usage(fmt::format("option '{}' = {} is outside [{}, {}]", name, text, spec->minimum, spec->maximum));
    }
    if (!spec->choices.empty() && std::find(spec->choices.begin(), spec->choices.end(), text) == spec->choices.end()) {
      return usage(fmt::format("option '{}' = {} must be one of: {}", name, text, fmt::join(spec->choices, ", ")));
    }
  }
  return {};
}

OptionValues effective_options(const std::vector<OptionSpec>& specs, const OptionValues& values) {
  OptionValues effective;
  for (const OptionSpec& spec : specs) {
    const auto given = values.find(spec.name);
    effective[spec.name] = given == values.end() ? spec.default_value : given->second;
    if (std::holds_alternative<double>(spec.default_value)) effective[spec.name] = as_real(effective[spec.name]);
  }
  return effective;
}

}  // namespace conebench
