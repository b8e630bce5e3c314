#pragma once

#include <string>

#include "reports/history/history.hpp"

/// What the formats of a history say alike.
namespace conebench::reports {

/// "2026-01-31", with the time of day ("2026-01-31 04:12") where another night of the suite has the same date.
std::string day_words(const SuiteHistory& suite, std::size_t night);
/// "2026-01-31 abc1234 (1f3a9c77)": day, commit and executable of a night.
std::string night_words(const SuiteHistory& suite, std::size_t night);
std::string slice_words(const SuiteHistory& suite, std::size_t slice);  ///< "1e-6", with what tells it from the others
/// "1e-6: criterion verdict (residual checks are in no time)" of each slice.
std::vector<std::string> terms_lines(const SuiteHistory& suite);
/// "1e-6: doubtful times in 3 cells of MINE" of the last night, a line a slice and setting; empty: none.
std::vector<std::string> doubt_lines(const SuiteHistory& suite);
/// "code of MINE 01234567 → fedcba98"; empty where nothing changed.
std::string code_words(const std::vector<CodeChange>& changes);
/// "CASCADE at 1e-6 became slower by 3.1 % between … and … (seen on … by two nights)", with the code that changed.
std::string change_words(const SuiteHistory& suite, const TimeChange& change);

/// Of all families; never null for a setting and a slice of the suite.
const HistorySeries& whole_series(const SuiteHistory& suite, std::size_t setting, std::size_t slice);
/// Tonight's time (HistoryPoint::corrected or raw) against the median of up to recent_nights judged nights of its
/// segment before it; nothing where it has none.
std::optional<double> against_last_nights(const SuiteHistory& suite, const HistorySeries& series, std::size_t night,
                                          std::optional<double> HistoryPoint::*time);

}  // namespace conebench::reports
