#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench {

/// What to do with a cell that two stores hold with different answers.
enum class MergeConflict { refuse, first, last };

struct MergeOptions {
  /// Join stores of different machines, builds, modes or limits all the same, and write that in every run's noise.
  bool allow_mixed = false;
  MergeConflict conflict = MergeConflict::refuse;
  /// Take what is whole of one damaged store, and leave out the rest.
  bool salvage = false;
  bool break_lock = false;  ///< StoreLock::Options::break_lock
};

struct MergeSummary {
  std::int64_t runs = 0;
  std::int64_t cells = 0;
  std::int64_t repeated =
      0;  ///< cells met again with the same answer; the times that more rounds brought stay, else the first
  std::int64_t conflicting = 0;    ///< cells met again with another answer, settled by MergeOptions::conflict
  std::int64_t damaged = 0;        ///< cells that could not be saved
  bool more_may_be_lost = false;   ///< how many cells a damaged store had cannot be told
  std::string lock_note;           ///< StoreLock::note
  std::vector<std::string> mixed;  ///< a line for each thing that is not the same in all of them
};

/// The error (bad_input) where two of the paths are the same file.
Result<void> check_named_once(std::span<const std::filesystem::path> stores);

/// Writes a new store `out` with everything that `sources` hold, acceptances of alarms too; runs are numbered anew. The
/// same answer means: status, claim, verdict, iterations and every bit of λ. `out` appears whole or not at all.
/// Errors (bad_input): a source that Store::open refuses or the same one twice, an `out` that exists, stores that don't
/// belong together, a conflict, a damaged row, a full disk. (wrong_usage): no sources, several to salvage.
Result<MergeSummary> merge_stores(std::span<const std::filesystem::path> sources, const std::filesystem::path& out,
                                  const MergeOptions& options = {});

}  // namespace conebench
