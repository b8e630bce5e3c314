#include "base/option_parsing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggestion.hpp"

namespace conebench {

std::vector<std::string> split_list(const std::string& list) {
  constexpr const char* blanks = " \t";
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    if (const std::size_t first = word.find_first_not_of(blanks); first != std::string::npos) {
      words.push_back(word.substr(first, word.find_last_not_of(blanks) + 1 - first));
    }
    begin = end + 1;
  }
  return words;
}

std::string unknown_option(const std::string& name, const std::vector<std::string>& known) {
  return fmt::format("unknown option '{}'; {}known: {}", name, did_you_mean(name, known),
                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

void drop_empty_list(OptionValues& values, const std::string& name) {
  const auto set = values.find(name);
  if (set != values.end() && split_list(to_text(set->second)).empty()) values.erase(set);
}

Result<OptionValues> parse_options(std::span<const std::string> texts, std::span<const OptionSpec> specs,
                                   const std::string& owner, const std::string& before) {
  OptionValues values;
  for (const auto& text : texts) {
    const auto wrong = [&](const std::string& why) {
      return Error{ErrorCode::wrong_usage, fmt::format("{}{}: {}", before, text, why)};
    };
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return wrong("must be key=value");
    const std::string key = text.substr(0, equals);
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& one) { return one.name == key; });
    if (spec == specs.end()) {
      std::vector<std::string> known;
      for (const auto& one : specs) known.push_back(one.name);
      return wrong(fmt::format("{} has no option '{}'; {}known: {}", owner, key, did_you_mean(key, known),
                               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    auto value = parse_option(*spec, text.substr(equals + 1));
    if (!value) return wrong(value.error().message);
    if (!values.emplace(key, std::move(*value)).second) return wrong(fmt::format("'{}' is set twice", key));
  }
  return values;
}

}  // namespace conebench
