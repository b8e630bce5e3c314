#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "papers/results.hpp"

namespace conebench::papers {

/// What became of an entry's checks when it was last run.
struct LastVerdicts {
  std::string fingerprint;                                  ///< of the entry as it was then
  std::string size;                                         ///< "quick" or "full"
  std::string problems;                                     ///< EntryResult::problems
  std::string build;                                        ///< commit
  std::vector<std::pair<std::string, std::string>> checks;  ///< id and verdict, in the entry's order
};
using VerdictRecord = std::map<std::string, LastVerdicts>;  ///< by the entry's id

std::string to_json_text(const VerdictRecord& record);
/// Errors (bad_input): not what to_json_text writes.
Result<VerdictRecord> parse_verdicts(const std::string& text);
/// Those that come along: of the last `conebench paper all` whose record was kept.
const VerdictRecord& embedded_verdicts();

/// Puts those of the results that were run into the record. `entries`: for their fingerprints.
void put(VerdictRecord& record, const std::vector<EntryResult>& results, const std::vector<Entry>& entries,
         const std::string& size, const std::string& build);

/// "a holds, b fails (known)"; empty where there are none; "changed since" where the entry has another fingerprint.
std::string verdicts_text(const VerdictRecord& record, const Entry& entry, const std::vector<Entry>& entries);

}  // namespace conebench::papers
