#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/analysis.hpp"

/// On what terms solvers are compared, and whose they are.
namespace conebench::reports {

/// Columns that pay for tests of their own where residual checks of the others are free: with the criterion `verdict`
/// alone.
std::vector<std::size_t> paying_alone(const Analysis& analysis, const Slice& slice);

/// "criterion verdict-paid (residual checks are in every time)": in the head of every ranking.
std::string criterion_text(const Analysis& analysis, const Slice& slice);

bool is_own(const SettingRecord& setting);
/// Behind an own solver's name, with own_legend() below: "CASCADE *".
inline constexpr const char* own_mark = "*";
/// "* by Conebench's authors"; empty where no column is.
std::string own_legend(const Analysis& analysis);

/// The version, date and build of one library: "4.4.0, released 2021-09-07, Debian's package …"; empty: not known.
std::string peer_text(const SettingRecord& setting);
/// peer_text() with the solvers that it is of, a line for each library.
std::vector<std::string> peer_lines(const Analysis& analysis);

}  // namespace conebench::reports
