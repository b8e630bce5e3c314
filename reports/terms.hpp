#pragma once

#include <cstddef>
#include <map>
#include <optional>
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
/// The same of the solvers that ran by it. `looks`: SettingRecord::looks of each.
std::string criterion_text(const std::string& criterion, const std::map<std::string, std::string>& looks);

bool is_own(const SettingRecord& setting);
/// Behind an own solver's name, with own_legend() below: "CASCADE *".
inline constexpr const char* own_mark = "*";
inline constexpr const char* own_legend_text = "* by Conebench's authors";
/// own_legend_text; empty where no column is.
std::string own_legend(const Analysis& analysis);

/// Whether tests of convergence are in the solver's times; nothing where that is not known.
std::optional<bool> pays_for_tests(const Slice& slice, const SettingRecord& setting);

/// Behind the name of a solver that is ranked by doubtful times, with doubt_text() below.
inline constexpr const char* doubt_mark = "?";
/// "doubtful times: A (2 cells: time not confirmed), B (…)", of every row that has some; empty: none has.
std::string doubt_text(const Analysis& analysis, const Ranking& ranking);

/// The version, date and build of one library: "4.4.0, released 2021-09-07, Debian's package …"; empty: not known.
std::string peer_text(const SettingRecord& setting);
/// peer_text() with the solvers that it is of, a line for each library.
std::vector<std::string> peer_lines(const Analysis& analysis);

}  // namespace conebench::reports
