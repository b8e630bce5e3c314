#include "base/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace conebench {

namespace {

/// Nothing is called by a longer one.
constexpr std::size_t max_word = 100;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string without_hyphens(std::string text) {
  std::erase(text, '-');
  return text;
}

/// Letters changed, added, left out, or exchanged with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, changed});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > max_word) return {};
  const std::string wanted = lower(word);
  std::pair<std::size_t, bool> least{std::max<std::size_t>(1, wanted.size() / 3) + 1, false};
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const std::string other = lower(candidate);
    const bool begins = wanted.size() >= 3 && other.starts_with(wanted);
    const std::size_t edits = other == wanted ? 0 : begins ? 1 : edit_distance(wanted, other);
    // Of equally near ones that which differs in hyphens alone.
    const std::pair<std::size_t, bool> distance{edits, without_hyphens(other) != without_hyphens(wanted)};
    if (distance >= least) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest == nullptr ? std::string() : "did you mean '" + *nearest + "'? ";
}

}  // namespace conebench
