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

/// The cells that a suite asks for, as one of its runs found them. It distinguishes the suite's cells in a store from
/// others.
struct SuiteScope {
  /// Source → hash of its problem; empty: a filter excluded it before it was read. Duplicates have the same hash.
  std::map<std::string, std::string> problems;
  std::map<std::string, NamedSource> names;                  ///< by source, as far as they are known without opening it
  std::map<std::string, NamedConfiguration> configurations;  ///< by hash; without names in stores of an older Conebench
  /// By solver: the arguments of a command line that load its plug-in or program; none for a solver of the build.
  std::map<std::string, std::vector<std::string>> code;
  std::map<std::string, std::string> code_hashes;  ///< by solver, of the content of its plug-in's or program's files
  std::set<double> tolerances;
  std::set<std::string> starts;
  std::string stop_by, verdict;
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;
  std::optional<std::set<WantedCell>> part;  ///< the cells that are asked for; nullopt: all
};

std::string to_json_text(const SuiteScope& scope);
/// nullopt for what to_json_text did not write: the empty text of a run by an older Conebench.
std::optional<SuiteScope> scope_of_json(const std::string& text);
/// SuiteScope::code alone; empty where the text has none.
std::map<std::string, std::vector<std::string>> code_of_scope(const std::string& text);
/// SuiteScope::code_hashes alone.
std::map<std::string, std::string> code_hashes_of_scope(const std::string& text);

/// Adds to `scope` hashes and cells of an earlier run of the suite that it lacks.
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
