#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/analysis.hpp"

/// The terms of a comparison of solvers (who pays for tests of convergence), and the origin of the solvers.
namespace conebench::reports {

/// Columns that pay for their own tests while residual checks of the others are free; only with stop_by `judge`.
std::vector<std::size_t> paying_alone(const Analysis& analysis, const Slice& slice);

/// "stop_by judge_timed (residual checks are in all times)": in the head of every ranking.
std::string stop_by_text(const Analysis& analysis, const Slice& slice);
/// The same, for the solvers in `checks` (solver → ConfigurationRecord::checks).
std::string stop_by_text(const std::string& stop_by, const std::map<std::string, std::string>& checks);

bool is_own(const ConfigurationRecord& configuration);
/// Follows an own solver's name; own_legend() explains it: "CASCADE *".
inline constexpr const char* own_mark = "*";
inline constexpr const char* own_legend_text = "* by Conebench's authors";
/// own_legend_text; empty: no column is.
std::string own_legend(const Analysis& analysis);

/// Whether tests of convergence are in the solver's times; nullopt: not known.
std::optional<bool> pays_for_tests(const Slice& slice, const ConfigurationRecord& configuration);

/// Follows the name of a solver that is ranked by doubtful times; doubt_text() explains it.
inline constexpr const char* doubt_mark = "?";
/// "doubtful times: A (2 cells: time not confirmed), B (…)", of every row that has some; empty: none has.
std::string doubt_text(const Analysis& analysis, const Ranking& ranking);

/// The version, date and build of one library: "4.4.0, released 2021-09-07, Debian's package …"; empty: not known.
std::string peer_text(const ConfigurationRecord& configuration);
/// peer_text() with the library's solvers, a line for each library.
std::vector<std::string> peer_lines(const Analysis& analysis);

}  // namespace conebench::reports
