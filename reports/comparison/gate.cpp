#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggestion.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

Result<std::set<std::string>> parse_gate(const std::string& comma_separated) {
  static const std::vector<std::string> known = {"lost",  "slower",   "less-accurate", "missing",
                                                 "broke", "at-limit", "flaky",         "undecided"};
  std::set<std::string> kinds;
  for (std::size_t begin = 0; begin <= comma_separated.size();) {
    const std::size_t end = std::min(comma_separated.find(',', begin), comma_separated.size());
    const std::string word = comma_separated.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty() || word == "none") continue;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--fail-on: unknown word '{}'; {}known: {}, or none", one_line(word),
                               did_you_mean(word, known), fmt::join(known, ", "))};
    }
    kinds.insert(word);
  }
  return kinds;
}

}  // namespace conebench::reports
