#include "problems/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace conebench {

namespace {

Error usage(std::string message) { return Error{ErrorCode::wrong_usage, std::move(message)}; }

const char* type_name(const OptionValue& value) {
  switch (value.index()) {
    case 0: return "true or false";
    case 1: return "an integer";
    case 2: return "a number";
    default: return "a word";
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::optional<Error> check_bounds(const OptionSpec& spec, double value, const std::string& text) {
  if (std::isnan(value) || value < spec.minimum || value > spec.maximum) {
    return usage(fmt::format("option '{}' = {} is outside [{}, {}]", spec.name, text, spec.minimum, spec.maximum));
  }
  return std::nullopt;
}

}  // namespace

void OptionBinder::add(OptionSpec spec, Field field) { entries_.push_back({std::move(spec), field}); }

void OptionBinder::real(const std::string& name, double& field, Details details) {
  add({name, field, details.minimum, details.maximum, details.unit, details.scale, {}, details.doc}, &field);
}

void OptionBinder::integer(const std::string& name, long& field, Details details) {
  add({name, field, details.minimum, details.maximum, details.unit, details.scale, {}, details.doc}, &field);
}

void OptionBinder::flag(const std::string& name, bool& field, const std::string& doc) {
  OptionSpec spec;
  spec.name = name;
  spec.default_value = field;
  spec.doc = doc;
  add(std::move(spec), &field);
}

void OptionBinder::choice(const std::string& name, std::string& field, std::vector<std::string> choices,
                          const std::string& doc) {
  OptionSpec spec;
  spec.name = name;
  spec.default_value = field;
  spec.choices = std::move(choices);
  spec.doc = doc;
  add(std::move(spec), &field);
}

std::vector<OptionSpec> OptionBinder::specs() const {
  std::vector<OptionSpec> result;
  for (const auto& entry : entries_) result.push_back(entry.spec);
  return result;
}

Result<std::monostate> OptionBinder::assign(const OptionValues& values) {
  for (const auto& [name, value] : values) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&wanted = name](const Entry& entry) { return entry.spec.name == wanted; });
    if (found == entries_.end()) {
      std::vector<std::string> known;
      for (const auto& entry : entries_) known.push_back(entry.spec.name);
      return usage(fmt::format("unknown option '{}'; known: {}", name, known.empty() ? "none" : joined(known)));
    }
    const OptionSpec& spec = found->spec;
    const std::string text = to_text(value);
    if (auto* const* real = std::get_if<double*>(&found->field)) {
      const double number = std::holds_alternative<long>(value)     ? static_cast<double>(std::get<long>(value))
                            : std::holds_alternative<double>(value) ? std::get<double>(value)
                                                                    : std::nan("");
      if (!std::holds_alternative<long>(value) && !std::holds_alternative<double>(value)) {
        return usage(fmt::format("option '{}' = {} must be a number", name, text));
      }
      if (auto error = check_bounds(spec, number, text)) return *error;
      **real = number;
      continue;
    }
    if (value.index() != found->field.index()) {
      return usage(fmt::format("option '{}' = {} must be {}", name, text, type_name(spec.default_value)));
    }
    if (auto* const* integer = std::get_if<long*>(&found->field)) {
      if (auto error = check_bounds(spec, static_cast<double>(std::get<long>(value)), text)) return *error;
      **integer = std::get<long>(value);
    } else if (auto* const* flag = std::get_if<bool*>(&found->field)) {
      **flag = std::get<bool>(value);
    } else {
      const auto& word = std::get<std::string>(value);
      if (std::find(spec.choices.begin(), spec.choices.end(), word) == spec.choices.end()) {
        return usage(fmt::format("option '{}' = {} must be one of: {}", name, word, joined(spec.choices)));
      }
      *std::get<std::string*>(found->field) = word;
    }
  }
  return std::monostate{};
}

OptionValues OptionBinder::effective() const {
  OptionValues values;
  for (const auto& entry : entries_) {
    std::visit([&, &name = entry.spec.name](auto* field) { values[name] = *field; }, entry.field);
  }
  return values;
}

std::string to_text(const OptionValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

Result<OptionValue> parse_option(const OptionSpec& spec, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto wrong = [&] {
    return usage(fmt::format("option '{}' = {} must be {}", spec.name, text, type_name(spec.default_value)));
  };
  if (std::holds_alternative<bool>(spec.default_value)) {
    if (text == "true" || text == "1") return OptionValue{true};
    if (text == "false" || text == "0") return OptionValue{false};
    return wrong();
  }
  if (std::holds_alternative<long>(spec.default_value)) {
    long number = 0;
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return wrong();
    return OptionValue{number};
  }
  if (std::holds_alternative<double>(spec.default_value)) {
    double number = 0.0;
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return wrong();
    return OptionValue{number};
  }
  return OptionValue{text};
}

}  // namespace conebench
