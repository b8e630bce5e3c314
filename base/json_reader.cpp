#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/suggestion.hpp"
#include "base/utf8.hpp"

namespace conebench {

namespace {

constexpr std::size_t deepest_json = 64;
constexpr std::size_t max_text = 1 << 16;

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
  error_ = Error{ErrorCode::wrong_usage, one_line(where_ + ": " + (path.empty() ? "" : path + ": ") + what)};
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
  if (value.get_ref<const std::string&>().size() > max_text) {
    fail(path, fmt::format("is a text of more than {} bytes", max_text));
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

std::string JsonReader::choice(const Json& value, const std::string& path, const std::vector<std::string>& choices) {
  const std::string given = text(value, path);
  if (std::find(choices.begin(), choices.end(), given) == choices.end()) {
    fail(path, fmt::format("'{}' is unknown; {}known: {}", given, did_you_mean(given, choices), joined(choices)));
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
  if (value == "") return std::string();
  return text(value, path);
}

namespace {

/// Brackets that are open at once, at most; those in texts don't count.
std::size_t nesting(const std::string& text) {
  std::size_t open = 0, most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') most = std::max(most, ++open);
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return most;
}

}  // namespace

Result<nlohmann::json> parse_json(const std::string& text, const std::string& where) {
  using Json = nlohmann::json;
  // The library's own functions recurse.
  if (nesting(text) > deepest_json) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: brackets in brackets, more than {} deep", where, deepest_json)};
  }
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
    if (!twice.empty())
      return Error{ErrorCode::wrong_usage, one_line(where + ": the key '" + twice + "' is given twice")};
    return document;
  } catch (const Json::parse_error& error) {
    const auto at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    std::string what = error.what();
    if (const auto colon = what.rfind(": "); colon != std::string::npos) what.erase(0, colon + 2);
    return Error{ErrorCode::wrong_usage, one_line(fmt::format("{}: not JSON, line {}: {}", where, line, what))};
  } catch (const Json::out_of_range& error) {
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'"
    const std::string what = error.what();
    const auto quote = std::min(what.find('\''), what.size());
    return Error{ErrorCode::wrong_usage, fmt::format("{}: no number is as large as {}", where, what.substr(quote))};
  }
}

}  // namespace conebench
