#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace conebench {

/// Why the times of a cell of foreign code are doubtful: its code in CellRecord::doubts, a short text for
/// tables, and a sentence for reports.
struct TimeDoubt {
  std::string_view code, brief, sentence;
};

inline constexpr TimeDoubt kept_answers = {
    "kept_answers", "kept answers: ranked by the time of a fresh process",
    "A process that had not seen the problem took much longer than the repeats: the solver keeps answers, "
    "or is slow the first time, and its time is that of the fresh process."};
inline constexpr TimeDoubt wrong_clock = {"clock", "its clock is wrong: ranked by the time of a fresh process",
                                          "The process reported times, or a use of the processor, that the clock "
                                          "outside contradicts; where a fresh process took "
                                          "much longer, its time is that."};
inline constexpr TimeDoubt unconfirmed = {
    "unconfirmed", "time not confirmed",
    "A fresh process did not come to the end of the same work, so that nothing outside confirms the time."};
inline constexpr TimeDoubt slow_first = {
    "slow_first", "first run 20 times slower",
    "The first run took at least 20 times as long as the repeats. Work that it keeps for them is not in their times."};
inline constexpr TimeDoubt own_tests = {
    "own_tests", "pays for tests of its own, residual checks of the others are free",
    "The plug-in says that it asks the monitor after every iteration, but had fewer residual checks than that. Tests "
    "of its own are in its time, where residual checks of the others are in none."};

inline constexpr std::array<TimeDoubt, 5> time_doubts = {kept_answers, wrong_clock, unconfirmed, slow_first, own_tests};

/// The short texts of these codes, joined by "; ". An unknown code is used as it is.
inline std::string describe_doubts(const std::vector<std::string>& codes) {
  std::string text;
  for (const std::string& code : codes) {
    std::string_view brief = code;
    for (const TimeDoubt& doubt : time_doubts) {
      if (doubt.code == code) brief = doubt.brief;
    }
    text += (text.empty() ? "" : "; ") + std::string(brief);
  }
  return text;
}

}  // namespace conebench
