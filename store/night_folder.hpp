#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/alarms.hpp"
#include "store/night_summary.hpp"

namespace conebench {

/// Result of a night, which `conebench nightly` writes next to its store (FILE.sqlite.night.json).
struct NightResult {
  int exit_code = 0;
  bool broke = false;         ///< a file could not be read or a cell crashed, whatever the exit code
  std::string baseline = {};  ///< name of the store it was compared with; empty: none
  std::string headline = {};
  std::vector<Alarm> alarms = {};     ///< standing ones, and accepted ones that the night still shows
  std::vector<Alarm> withdrawn = {};  ///< withdrawn by an A/B run
  std::set<std::string> ended = {};   ///< Alarm::id() of accepted alarms that are gone; later nights omit them
};
std::filesystem::path night_result_file(const std::filesystem::path& store);
Result<void> write_night_result(const std::filesystem::path& store, const NightResult& result);
/// nullopt: there is none, or it is damaged.
std::optional<NightResult> read_night_result(const std::filesystem::path& store);

/// The stores of a folder.
struct NightFolder {
  std::vector<NightSummary> nights;  ///< by their start, oldest first
  std::vector<std::string> notes;    ///< stores that can't be read or are A/B runs, a line each
};
/// Oldest first; nights of one second in the order of their names: "…-2" came after "…".
void sort_nights(std::vector<NightSummary>& nights);
/// All stores of the folder except A/B runs. Errors (bad_input): the folder can't be read.
Result<NightFolder> read_store_folder(const std::filesystem::path& folder);
/// Only what `conebench nightly` left of a suite (empty: of any): a store with its name or its result. Errors as
/// read_store_folder.
Result<NightFolder> read_night_folder(const std::filesystem::path& folder, const std::string& suite);

/// Why a complete night is no baseline for later ones: "something broke in it"; empty: it is good.
std::string flaw_of(const NightSummary& night);
/// Whether the night is complete and has no flaw.
bool is_good(const NightSummary& night);

/// Whether `conebench nightly` made or judged it.
bool is_night(const NightSummary& night);

/// Store of the last night before `store` that was judged; empty: there is none. `now` as of bases_of.
std::filesystem::path last_judged(const NightFolder& folder, const std::filesystem::path& store,
                                  const std::string& now);
/// Its alarms, with who accepted them.
std::vector<Alarm> last_alarms(const NightFolder& folder, const std::filesystem::path& store, const std::string& now);

/// Complete nights before `store` that it can be compared with, best first: good ones from the newest on, those that
/// began after `now` (a clock was wrong) behind the others, then those since which one of the alarms `before` stands,
/// then those with a flaw. `now`: "2026-01-31T12:00:00Z".
std::vector<const NightSummary*> bases_of(const NightFolder& folder, const std::filesystem::path& store,
                                          const std::string& now, const std::vector<Alarm>& before);

/// Origin of a run: the properties in which all results of one store must agree.
struct NightOrigin {
  BuildRecord build;
  std::string cpu;         ///< MachineRecord::cpu
  std::string suite_hash;  ///< hash_of_text
};

/// Where tonight's results go: the newest night, where it broke off or was not judged, of the same origin; else a new
/// store by date and build, "2026-01-31-1f3a9c77.sqlite". `now` as of bases_of.
std::filesystem::path store_of_tonight(const std::filesystem::path& folder, const NightFolder& nights,
                                       const std::string& now, const NightOrigin& origin);

/// The stores beyond the newest `keep`, oldest first, without `spared` (paths that name no file count for nothing).
std::vector<std::filesystem::path> nights_to_delete(const NightFolder& folder, std::size_t keep,
                                                    const std::vector<std::filesystem::path>& spared);

/// Folder of the comparison of a night with another.
std::filesystem::path night_pages(const std::filesystem::path& store);

/// Removes what nights left that were killed before they began: stores without a run whose lock nobody holds, and
/// unfinished files.
void remove_what_was_not_begun(const std::filesystem::path& folder);

/// Deletes a store, its problems and its pages. Its summary and its result are left for the history of all nights.
void delete_store(const std::filesystem::path& store);

/// Deletes a store and its companion files.
void delete_night(const std::filesystem::path& store);

/// The copy of an executable that a folder of nights keeps, so that an A/B run can confirm an alarm.
/// `executable`: BuildRecord::executable; empty gives an empty path.
std::filesystem::path kept_build(const std::filesystem::path& folder, const std::string& executable);
/// Copies `file` there, unless the copy exists. Errors (bad_input): it cannot be written.
Result<void> keep_build(const std::filesystem::path& folder, const std::string& executable,
                        const std::filesystem::path& file = "/proc/self/exe");
/// Deletes the copies of all other executables.
void delete_builds_but(const std::filesystem::path& folder, const std::set<std::string>& executables);

}  // namespace conebench
