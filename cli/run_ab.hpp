#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/comparison/comparison.hpp"
#include "runners/execute/ab_run.hpp"

namespace conebench::cli {

inline constexpr const char* default_gate = "lost,slower,less-accurate,missing,broke";

struct AbRunOutput {
  std::string fail_on = default_gate;
  bool json = false;  ///< the comparison as one object instead of its table
};

/// `conebench run SUITE --ab OTHER`: ab_run() into `store` (`file`), the comparison of its sides, and the exit
/// code of `conebench compare`; 130 if interrupted; 4, unless it is 1, if cells are deferred to the next run. Errors
/// as ab_run.
Result<int> run_and_compare(const Suite& suite, Store& store, const std::filesystem::path& file,
                            const AbRunOptions& options, const AbRunOutput& output, Progress& progress);

/// Exit code of a comparison: 1 by the gate, 5 if the sides share no cell. Prints the reason to standard error.
int comparison_ending(const reports::Comparison& comparison, const std::set<std::string>& fail_on);

/// A configuration that was found slower at one tolerance and start, by its whole time.
struct Suspect {
  std::string configuration;  ///< ConfigurationRecord::hash
  double tolerance = 0.0;
  std::string start;
  double effect = 0.0;     ///< log ratio of the alarm
  std::string label = {};  ///< of the configuration
};

/// Result of an A/B run of alarms.
struct Confirmation {
  enum class Verdict { confirmed, withdrawn, undecided };
  std::vector<Verdict> verdicts;   ///< one for each suspect
  std::vector<std::string> lines;  ///< one for each suspect: "NSGS at 1e-06: confirmed: slower +4.1 %"
  bool interrupted = false;        ///< before the end: `verdicts` and `lines` are empty
};

/// Confirmed: worse in `comparison`. Withdrawn: the comparison rules_out() the alarm's effect. Else undecided.
Confirmation judge_suspects(const reports::Comparison& comparison, const std::vector<Suspect>& suspects);

/// A/B run of the suspects' configurations against the old executable `options.other`, six rounds a side, into a new
/// store at `file`, which is kept. If cells were left out, nothing is withdrawn. Errors as ab_run.
Result<Confirmation> confirm_ab(const Suite& suite, const std::filesystem::path& file,
                                const std::vector<Suspect>& suspects, AbRunOptions options, Progress& progress);

}  // namespace conebench::cli
