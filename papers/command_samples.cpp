#include "papers/command_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace conebench::papers {

namespace {

using Json = nlohmann::json;

void put_numbers(const Json& value, const std::string& name, Sample& sample) {
  if (value.is_number()) sample.numbers[name] = value.get<double>();
  if (value.is_boolean()) sample.numbers[name] = value.get<bool>() ? 1.0 : 0.0;
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) put_numbers(part, name + "." + key, sample);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) put_numbers(value[i], fmt::format("{}.{}", name, i), sample);
  }
}

std::optional<double> number_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "--max-iterations" → "option.max_iterations", "friction" → "scene.friction".
std::string field_of(const std::string& option) {
  if (!option.starts_with("--")) return "scene." + option;
  std::string name = option.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return "option." + name;
}

}  // namespace

Result<Sample> sample_of(const CommandSource& source, const std::string& json) {
  const Json printed = Json::parse(json, nullptr, false);
  if (!printed.is_object()) {
    return Error{ErrorCode::bad_input, fmt::format("{} {}: printed no JSON object", source.command, source.text())};
  }
  Sample sample;
  sample.subject.family = source.name;
  sample.subject.source = sample.subject.problem = source.text();
  sample.numbers["cells"] = 1.0;
  sample.numbers["scene.seed"] = static_cast<double>(source.seed);
  for (const auto& [name, value] : source.options) {
    if (name == "solver" || name == "--solver") sample.subject.solver = sample.subject.configuration = value;
    if (const auto number = number_of(value)) sample.numbers[field_of(name)] = *number;
  }
  for (const auto& [name, value] : printed.items()) put_numbers(value, "run." + name, sample);
  return sample;
}

}  // namespace conebench::papers
