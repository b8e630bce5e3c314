#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// What a suite asks for, as one run of it found it: which cells of a store are the suite's, whatever else is there.
struct SuiteScope {
  /// Source → hash of its problem; empty where a filter kept it from being looked at. Sources of one problem share it.
  std::map<std::string, std::string> problems;
  std::map<std::string, NamedSource> names;      ///< by source, as far as they are known without opening it
  std::map<std::string, NamedSetting> settings;  ///< by hash; without names in stores of an older Conebench
  /// By solver the words of a command line that name its plug-in or program; none of a solver of the build.
  std::map<std::string, std::vector<std::string>> code;
  std::map<std::string, std::string> code_hashes;  ///< by solver, of the content of its plug-in's or program's files
  std::set<double> tolerances;
  std::set<std::string> starts;
  std::string criterion, verdict;
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;
  std::optional<std::set<WantedCell>> part;  ///< of all these cells those that are asked for; nullopt: all
};

std::string to_json_text(const SuiteScope& scope);
/// nullopt for what to_json_text did not write: the empty text of a run by an older Conebench.
std::optional<SuiteScope> scope_of_json(const std::string& text);
/// SuiteScope::code alone; empty where the text has none.
std::map<std::string, std::vector<std::string>> code_of_scope(const std::string& text);
/// SuiteScope::code_hashes alone.
std::map<std::string, std::string> code_hashes_of_scope(const std::string& text);

/// Hashes that `scope` lacks, from an earlier run of the suite, and what that asked for beside it.
void fill_in(SuiteScope& scope, const SuiteScope& earlier);

/// The scope of each suite that the runs are of: its latest run's. A suite of which no run has one is not in it.
std::map<std::string, SuiteScope> present_scopes(const std::vector<RunRecord>& runs);

/// Takes out the cells that no suite of the store asks for any more (it was edited, a file or a solver has changed) and
/// says in `suites` what that was and what has still to be run. A store with a run of an older Conebench's stays as it
/// is.
StoreContents present_contents(StoreContents contents);

/// Store::read_outcomes() of a file, less those cells. Errors as Store::open.
Result<StoreContents> read_present(const std::filesystem::path& file);

}  // namespace conebench
