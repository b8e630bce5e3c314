#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// One SQLite file of results (WAL, appended cell by cell). The only part that knows SQLite.
///
/// What a call wrote is safe from a kill -9 of any process when it returns, unless batch() says otherwise. A power cut
/// or a crash of the system can lose the 15 newest writes (runs and batches reach the disk at once, the rest with every
/// 16th write) and never damages the file; what was lost is as if it had not been run, so a resumed run does it again.
/// Errors name the file and SQLite's reason: bad_input for a full or failing disk, a damaged or busy file; internal for
/// a record that refers to a run, problem or configuration that was not put before. Where the file was deleted, moved
/// or replaced meanwhile, the next write says so (bad_input): what was written is lost with it. Any other failed call
/// changes nothing, and may be repeated. One thread at a time; a forked child must not touch or destroy its copy (leave
/// with _exit).
class Store {
 public:
  enum class Mode { read_only, read_write };
  /// Opens or (read_write) creates it. Errors (bad_input): no such file or folder, not a store, empty (read_only), of
  /// another schema, not writable.
  static Result<Store> open(const std::filesystem::path& file, Mode mode);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  struct Batch {
    double max_s = 0.0;  ///< 0: each write is a transaction of its own
    int max_writes = 1;
  };
  /// From now on writes share transactions, each of at most so many and so long. It ends with the first write that
  /// comes later, with the write of a run or an acceptance, and with commit(). Until then a kill loses its writes, and
  /// so does a failing write. This connection reads what is not committed, too.
  void batch(const Batch& batch);
  /// Whether there are writes that are not committed; whether the batch is full.
  bool uncommitted() const;
  bool due() const;
  /// Nothing where nothing is left to commit. An error loses the writes since the last commit.
  Result<void> commit();

  /// Whether the file is still found by its name: nobody has deleted, moved or replaced it since it was opened.
  bool in_place() const;

  /// The new run's id; `run.id` is not looked at.
  Result<std::int64_t> begin_run(const RunRecord& run);
  /// Replaces the record of run `run.id`.
  Result<void> finish_run(const RunRecord& run);
  Result<void> put_problem(const ProblemRecord& problem);
  Result<void> put_configuration(const ConfigurationRecord& configuration);
  /// A cell with the same key is replaced.
  Result<void> put_cell(const CellRecord& cell);
  /// Removes the cell's trace, if it has one.
  Result<void> drop_trace(const std::string& key);
  /// Replaces only what judging decides: solved, verdict values, contact modes and residuals.
  Result<void> update_judgement(const CellRecord& cell);
  /// Replaces only the times, the rounds, the numbers of repeats and rounds, and the run.
  Result<void> update_times(const CellRecord& cell);

  /// Nothing where it is there. As safe as a run when it returns.
  Result<void> put_acceptance(const AcceptanceRecord& acceptance);
  Result<std::vector<AcceptanceRecord>> acceptances() const;

  /// Key and status of every stored cell.
  Result<std::vector<std::pair<std::string, std::string>>> cell_states() const;
  /// Runs by id; problems, configurations and cells in the order in which they first came. A number that was not finite
  /// comes back as NaN, or as nullopt where the record has an optional.
  Result<StoreContents> read(bool with_reactions = false) const;
  /// The same without residuals and traces: how cells ended, their counters and times, in a fifth of the memory.
  Result<StoreContents> read_outcomes() const;
  /// λ of one cell, nullopt where none is stored. Errors (bad_input): its checksum does not match.
  Result<std::optional<std::vector<double>>> reaction(const std::string& key) const;

 private:
  struct Database;
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace conebench
