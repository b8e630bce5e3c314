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
  /// Join stores of different machines, builds, modes or limits, too; every run's noise then says so.
  bool allow_mixed = false;
  MergeConflict conflict = MergeConflict::refuse;
  /// Take the intact rows of one damaged store.
  bool salvage = false;
  bool break_lock = false;  ///< StoreLock::Options::break_lock
  /// 32 hexadecimal digits that name the state of `out`, so that the same sources give the same bytes; empty: random.
  std::string state = {};
};

struct MergeSummary {
  std::int64_t runs = 0;
  std::int64_t cells = 0;
  std::int64_t repeated =
      0;  ///< cells found again with the same answer; the times from more rounds stay, else the first
  std::int64_t conflicting = 0;    ///< cells found again with another answer, resolved by MergeOptions::conflict
  std::int64_t damaged = 0;        ///< cells that could not be saved
  bool more_may_be_lost = false;   ///< the number of cells of a damaged store is unknown
  std::string lock_note;           ///< StoreLock::note
  std::vector<std::string> mixed;  ///< a line for each difference between the stores
};

/// Error (bad_input): two of the paths are the same file.
Result<void> check_named_once(std::span<const std::filesystem::path> stores);

/// Writes a new store `out` with everything that `sources` hold, acceptances of alarms too; runs are numbered anew. The
/// same answer means: status, claim, verdict, iterations and every bit of λ. `out` appears whole or not at all.
/// Errors (bad_input): a source that Store::open refuses or the same one twice, an `out` that exists, stores that don't
/// belong together, a conflict, a damaged row, a full disk. (wrong_usage): no sources, several to salvage.
Result<MergeSummary> merge_stores(std::span<const std::filesystem::path> sources, const std::filesystem::path& out,
                                  const MergeOptions& options = {});

}  // namespace conebench
