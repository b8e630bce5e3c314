#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "problems/result.hpp"
#include "runners/store/night_summary.hpp"

namespace conebench {

/// What `conebench nightly` left of a night beside its store (FILE.sqlite.night.json).
struct NightResult {
  int exit_code = 0;
  bool broke = false;  ///< a file could not be read or a cell crashed, whatever the exit code
  std::string base;    ///< name of the store it was compared with; empty: none
  std::string headline;
};
std::filesystem::path night_result_file(const std::filesystem::path& store);
Result<std::monostate> write_night_result(const std::filesystem::path& store, const NightResult& result);
/// nullopt where there is none or it is damaged.
std::optional<NightResult> read_night_result(const std::filesystem::path& store);

/// The stores of a folder as nights of one suite.
struct NightFolder {
  std::vector<NightSummary> nights;  ///< by their start, oldest first
  std::vector<std::string> notes;    ///< stores that can't be read, a line each
};
/// Errors (bad_input): the folder can't be read.
Result<NightFolder> read_night_folder(const std::filesystem::path& folder, const std::string& suite);

/// Complete, and no cell of it broke: what a later night is compared with.
bool is_good(const NightSummary& night);

/// The newest good night before `store`, or, where something breaks every night, the newest complete one; null: there
/// is none.
const NightSummary* last_good_night(const NightFolder& folder, const std::filesystem::path& store);

/// Where tonight's results go: the store of this executable that broke off, or else a new one by date and build,
/// "2026-01-31-1f3a9c77.sqlite". `date`: "2026-01-31".
std::filesystem::path store_of_tonight(const std::filesystem::path& folder, const NightFolder& nights,
                                       const std::string& date, const std::string& executable,
                                       const std::string& suite_hash);

/// The stores beyond the newest `keep`, oldest first; never the last good one, nor `pinned`, nor `tonight`.
std::vector<std::filesystem::path> nights_to_delete(const NightFolder& folder, std::size_t keep,
                                                    const std::filesystem::path& tonight,
                                                    const std::filesystem::path& pinned);

/// A store and all that lies beside it.
void delete_night(const std::filesystem::path& store);

/// The copy of an executable that a folder of nights keeps, so that an alarm can be looked at side by side.
/// `executable`: BuildRecord::executable; empty gives an empty path.
std::filesystem::path kept_build(const std::filesystem::path& folder, const std::string& executable);
/// Copies `file` there; nothing is done where it is. Errors (bad_input): it cannot be written.
Result<std::monostate> keep_build(const std::filesystem::path& folder, const std::string& executable,
                                  const std::filesystem::path& file = "/proc/self/exe");
/// Deletes the copies of all other executables.
void delete_builds_but(const std::filesystem::path& folder, const std::set<std::string>& executables);

}  // namespace conebench
