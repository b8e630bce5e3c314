#include "base/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/option_parsing.hpp"

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

Result<void> check_bounds(const OptionSpec& spec, double value, const std::string& text) {
  if (std::isnan(value) || value < spec.minimum || value > spec.maximum) {
    return usage(fmt::format("option '{}' = {} is outside [{}, {}]", spec.name, text, spec.minimum, spec.maximum));
  }
  return {};
}

/// `value` in the option's own type, where it is allowed.
Result<OptionValue> check_value(const OptionSpec& spec, const OptionValue& value) {
  const std::string text = to_text(value);
  OptionValue converted = value;
  if (std::holds_alternative<double>(spec.default_value) && std::holds_alternative<long>(value)) {
    converted = static_cast<double>(std::get<long>(value));
  }
  if (converted.index() != spec.default_value.index()) {
    return usage(fmt::format("option '{}' = {} must be {}", spec.name, text, type_name(spec.default_value)));
  }
  if (const auto* real = std::get_if<double>(&converted)) {
    CONEBENCH_CHECK(check_bounds(spec, *real, text));
  } else if (const auto* integer = std::get_if<long>(&converted)) {
    CONEBENCH_CHECK(check_bounds(spec, static_cast<double>(*integer), text));
  } else if (const auto* word = std::get_if<std::string>(&converted)) {
    if (!spec.choices.empty() && std::find(spec.choices.begin(), spec.choices.end(), *word) == spec.choices.end()) {
      return usage(fmt::format("option '{}' = {} must be one of: {}", spec.name, text, joined(spec.choices)));
    }
  }
  return converted;
}

}  // namespace

void OptionBinder::add(OptionSpec spec, Field field) {
  const bool known =
      std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.spec.name == spec.name; });
  if (known) throw std::logic_error("option '" + spec.name + "' is declared twice");
  entries_.push_back({std::move(spec), field});
}

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

void OptionBinder::text(const std::string& name, std::string& field, const std::string& doc) {
  choice(name, field, {}, doc);
}

std::vector<OptionSpec> OptionBinder::specs() const {
  std::vector<OptionSpec> result;
  for (const auto& entry : entries_) result.push_back(entry.spec);
  return result;
}

Result<void> OptionBinder::assign(const OptionValues& values) {
  // All are checked before the first is written.
  std::vector<std::pair<Field, OptionValue>> accepted;
  for (const auto& [name, value] : values) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&wanted = name](const Entry& entry) { return entry.spec.name == wanted; });
    if (found == entries_.end()) {
      std::vector<std::string> known;
      for (const auto& entry : entries_) known.push_back(entry.spec.name);
      return usage(unknown_option(name, known));
    }
    CONEBENCH_TRY(auto checked, check_value(found->spec, value));
    accepted.emplace_back(found->field, std::move(checked));
  }
  for (const auto& [field, value] : accepted) {
    std::visit([&value = value](auto* target) { *target = std::get<std::decay_t<decltype(*target)>>(value); }, field);
  }
  return {};
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
