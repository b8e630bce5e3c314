#include <fmt/format.h>

#include <algorithm>

#include "base/suggestion.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

const std::vector<std::string>& gate_words() {
  static const std::vector<std::string> words = {"lost",  "slower",   "less-accurate", "missing",
                                                 "broke", "at-limit", "flaky",         "undecided"};
  return words;
}

Result<std::set<std::string>> parse_gate(const std::string& comma_separated) {
  std::set<std::string> words;
  for (std::size_t begin = 0; begin <= comma_separated.size();) {
    const std::size_t end = std::min(comma_separated.find(',', begin), comma_separated.size());
    const std::string word = comma_separated.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty() || word == "none") continue;
    const auto& known = gate_words();
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      std::string all;
      for (const auto& one : known) all += (all.empty() ? "" : ", ") + one;
      return Error{ErrorCode::wrong_usage, fmt::format("--fail-on: unknown word '{}'; {}known: {}, or none",
                                                       one_line(word), did_you_mean(word, known), all)};
    }
    words.insert(word);
  }
  return words;
}

}  // namespace conebench::reports
