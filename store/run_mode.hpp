#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "store/records.hpp"

namespace conebench {

/// RunRecord::mode: how the cells of a run were run, which decides what their times are worth.
inline constexpr const char* timed_mode = "timed";            ///< one after the other, with repeats
inline constexpr const char* throughput_mode = "throughput";  ///< several at a time, which disturb each other
inline constexpr const char* quick_mode = "quick";            ///< each once, for its verdict and its counts
inline constexpr const char* submitted_mode = "submitted";    ///< not at all: answers that were sent in

/// ConfigurationRecord::origin of a solver of which only answers are known.
inline constexpr const char* submitted_origin = "submitted";

inline bool any_in_mode(const std::vector<RunRecord>& runs, std::string_view mode) {
  return std::ranges::any_of(runs, [&](const RunRecord& run) { return run.mode == mode; });
}

}  // namespace conebench
