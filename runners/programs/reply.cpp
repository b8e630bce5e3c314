#include "runners/programs/reply.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace conebench {

namespace {

using Json = nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array<std::pair<std::string_view, double>, 3> not_finite = {
    {{"NaN", std::numeric_limits<double>::quiet_NaN()}, {"Infinity", infinity}, {"-Infinity", -infinity}}};
/// In front of a text that stands for one of them. Who writes it into a text of its own gets the number, too.
constexpr char mark = '\x01';
constexpr int max_depth = 32;

/// The text with each of them in a string. Empty where brackets are nested too deep for a reply.
std::string quoted(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      result += c;
      if (c == '\\' && i + 1 < text.size()) result += text[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > max_depth) return {};
    const auto* const found =
        std::find_if(not_finite.begin(), not_finite.end(),
                     [rest = text.substr(i)](const auto& one) { return rest.starts_with(one.first); });
    if (found == not_finite.end()) {
      result += c;
      continue;
    }
    result.append("\"\\u0001").append(found->first) += '"';
    i += found->first.size() - 1;
  }
  return result;
}

}  // namespace

Json parse_reply(std::string_view text) {
  Json reply = Json::parse(quoted(text), nullptr, false);
  for (std::vector<Json*> left = {&reply}; !left.empty();) {
    Json& value = *left.back();
    left.pop_back();
    if (value.is_structured()) {
      for (Json& inner : value) left.push_back(&inner);
    } else if (value.is_string()) {
      const auto& word = value.get_ref<const std::string&>();
      for (const auto& [name, number] : not_finite) {
        if (word.size() == name.size() + 1 && word.front() == mark && word.ends_with(name)) {
          value = number;
          break;
        }
      }
    }
  }
  return reply;
}

}  // namespace conebench
