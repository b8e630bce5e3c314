#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/comparison/comparison.hpp"
#include "runners/execute/beside.hpp"

namespace conebench::cli {

inline constexpr const char* default_gate = "lost,slower,less-accurate,missing,broke";

struct BesideOutput {
  std::string fail_on = default_gate;
  bool json = false;  ///< the comparison as one object instead of its table
};

/// `conebench run SUITE --beside OTHER`: run_beside() into `store` (`file`), the comparison of its sides, and the exit
/// code of `conebench compare`; 130 where it was interrupted, 4 (after 1) where cells are left for the next run. Errors
/// as run_beside.
Result<int> run_and_compare(const Suite& suite, Store& store, const std::filesystem::path& file,
                            const BesideOptions& options, const BesideOutput& output, Progress& progress);

/// Exit code of a comparison, its reason on standard error: 1 by the gate, 5 where nothing is in both.
int comparison_ending(const reports::Comparison& comparison, const std::set<std::string>& fail_on);

/// A setting that looked slower at one tolerance and start, by its whole time.
struct Suspect {
  std::string setting;  ///< SettingRecord::hash
  double tolerance = 0.0;
  std::string start;
  double effect = 0.0;     ///< log ratio of the alarm
  std::string label = {};  ///< of the setting
};

/// What became of alarms that were looked at again side by side.
struct Confirmation {
  enum class Verdict { confirmed, withdrawn, undecided };
  std::vector<Verdict> verdicts;   ///< one each
  std::vector<std::string> lines;  ///< a line each: "NSGS at 1e-06: confirmed: slower +4.1 %"
  bool interrupted = false;        ///< before the end: `verdicts` and `lines` are empty
};

/// Confirmed where it is worse in `comparison`, withdrawn where that rules_out() the alarm's effect, else undecided.
Confirmation judge_suspects(const reports::Comparison& comparison, const std::vector<Suspect>& suspects);

/// Runs the suspects' settings alone, side by side with the old executable `options.other` and k = 6 a side, into a new
/// store at `file` (made anew, with its folder, and kept). Where cells were left out, or the old build is too old to
/// run in turn, nothing is withdrawn. Errors as run_beside.
Result<Confirmation> confirm_beside(const Suite& suite, const std::filesystem::path& file,
                                    const std::vector<Suspect>& suspects, BesideOptions options, Progress& progress);

}  // namespace conebench::cli
