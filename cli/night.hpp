#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/foreign_code.hpp"
#include "cli/run_ab.hpp"

namespace conebench::cli {

struct NightlyArguments {
  std::string suite;
  std::string folder;
  std::string data;
  std::string pin;
  std::string filter;
  std::string fail_on = default_gate;
  std::string format;     ///< of the summary: "md" or "text"; empty: text on a terminal, else Markdown
  std::string measured;   ///< store whose cells are tonight's (a merge of shards); empty: none
  std::string survey;     ///< see SweepOptions::cache; empty: next to the store
  std::string artifacts;  ///< folder for a copy of the pages; empty: none
  bool quick = false;     ///< as of `run`: verdicts and counts alone
  long jobs = 1;          ///< workers, of a quick night
  long keep = 0;
  long keep_stores = 0;  ///< of older nights the summary alone is kept; 0: all stores are
  bool break_lock = false;
  ForeignCode code;
};

/// `conebench nightly`: runs the suite, compares, prints the summary, writes the pages. Returns the exit code.
/// Errors (wrong_usage, bad_input): why it stopped; the next call resumes.
Result<int> run_night(const NightlyArguments& arguments);

}  // namespace conebench::cli
