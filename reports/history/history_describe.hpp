#pragma once

#include <string>

#include "reports/history/history.hpp"

/// Texts that all formats of a history share.
namespace conebench::reports {

/// "2026-01-31", with the time of day ("2026-01-31 04:12") where another night of the suite has the same date.
std::string describe_day(const SuiteHistory& suite, std::size_t night);
/// "2026-01-31 abc1234 (1f3a9c77)": day, commit and executable of a night.
std::string describe_night(const SuiteHistory& suite, std::size_t night);
/// "1e-6", with what distinguishes it from the other slices.
std::string describe_slice(const SuiteHistory& suite, std::size_t slice);
/// "1e-6: stop_by judge (residual checks are not in the times)" of each slice.
std::vector<std::string> terms_lines(const SuiteHistory& suite);
/// "1e-6: doubtful times in 3 cells of MINE" of the last night, a line a slice and configuration; empty: none.
std::vector<std::string> doubt_lines(const SuiteHistory& suite);
/// "code of MINE 01234567 → fedcba98"; empty where nothing changed.
std::string describe_code(const std::vector<CodeChange>& changes);
/// "CASCADE at 1e-6 became slower by 3.1 % between … and … (seen on … by two nights)", with the code that changed.
std::string describe_change(const SuiteHistory& suite, const TimeChange& change);

/// Of all families; never null for a configuration and a slice of the suite.
const HistorySeries& whole_series(const SuiteHistory& suite, std::size_t configuration, std::size_t slice);
/// Tonight's time (HistoryPoint::corrected or raw) against the median of up to recent_nights judged nights of its
/// segment before it; nothing where it has none.
std::optional<double> against_last_nights(const SuiteHistory& suite, const HistorySeries& series, std::size_t night,
                                          std::optional<double> HistoryPoint::*time);

}  // namespace conebench::reports
