#include "runners/plan/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "problems/suggestion.hpp"

namespace conebench {

namespace {

std::string joined(const auto& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

}  // namespace

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}
std::string child_path(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

void JsonReader::fail(const std::string& path, const std::string& what) {
  if (error_) return;
  error_ = Error{ErrorCode::wrong_usage, where_ + ": " + (path.empty() ? "" : path + ": ") + what};
}

bool JsonReader::is_object(const Json& value, const std::string& path, std::initializer_list<const char*> known) {
  if (!value.is_object()) {
    fail(path, fmt::format("must be an object {{…}}, not {}", value.dump()));
    return false;
  }
  for (const auto& item : value.items()) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const char* key) { return item.key() == key; });
    const std::string meant = did_you_mean(item.key(), {known.begin(), known.end()});
    if (!found) fail(child_path(path, item.key()), "unknown key; " + meant + "known here: " + joined(known));
  }
  return true;
}

std::string JsonReader::text(const Json& value, const std::string& path) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(path, "must be a text, not " + value.dump());
    return {};
  }
  return value.get<std::string>();
}

bool JsonReader::flag(const Json& value, const std::string& path) {
  if (value.is_boolean()) return value.get<bool>();
  fail(path, "must be true or false, not " + value.dump());
  return false;
}

double JsonReader::number(const Json& value, const std::string& path, double minimum, double maximum) {
  if (!value.is_number()) {
    fail(path, "must be a number, not " + value.dump());
    return minimum;
  }
  const double number = value.get<double>();
  if (!(number >= minimum && number <= maximum)) {
    fail(path, fmt::format("{} is outside [{}, {}]", value.dump(), minimum, maximum));
  }
  return number;
}

long JsonReader::integer(const Json& value, const std::string& path, long minimum, long maximum) {
  if (!value.is_number_integer()) {
    fail(path, "must be an integer, not " + value.dump());
    return minimum;
  }
  // An unsigned value beyond long would turn negative in get<long>().
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(maximum);
  if (too_large || value.get<long>() < minimum || value.get<long>() > maximum) {
    fail(path, fmt::format("{} is outside [{}, {}]", value.dump(), minimum, maximum));
    return minimum;
  }
  return value.get<long>();
}

std::string JsonReader::word(const Json& value, const std::string& path, const std::vector<std::string>& words) {
  const std::string given = text(value, path);
  if (std::find(words.begin(), words.end(), given) == words.end()) {
    fail(path, fmt::format("'{}' must be one of: {}", given, joined(words)));
  }
  return given;
}

OptionValue JsonReader::option(const Json& value, const std::string& path, const std::string& name) {
  if (name == "solver_options" && value.is_object()) {
    std::string options;
    for (const auto& item : value.items()) {
      const OptionValue one = option(item.value(), child_path(path, item.key()));
      options += fmt::format("{}{}={}", options.empty() ? "" : ",", item.key(), to_text(one));
    }
    return options;
  }
  if (name == "solver_options" && !value.is_string()) {
    fail(path, R"(must be as {"increment": 0.02} or "increment=0.02", not )" + value.dump());
    return {};
  }
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer())
    return integer(value, path, std::numeric_limits<long>::min(), std::numeric_limits<long>::max());
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();  // also an empty one
  return text(value, path);
}

Result<nlohmann::json> parse_json(const std::string& text, const std::string& where) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second && twice.empty()) {
      twice = value.get<std::string>();
    }
    return true;
  };
  try {
    Json document = Json::parse(text, watch);
    if (!twice.empty()) return Error{ErrorCode::wrong_usage, where + ": the key '" + twice + "' is given twice"};
    return document;
  } catch (const Json::parse_error& error) {
    const auto at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    std::string what = error.what();
    if (const auto colon = what.rfind(": "); colon != std::string::npos) what.erase(0, colon + 2);
    return Error{ErrorCode::wrong_usage, fmt::format("{}: not JSON, line {}: {}", where, line, what)};
  }
}

}  // namespace conebench
