#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problems/result.hpp"
#include "runners/store/records.hpp"

namespace conebench {

/// One SQLite file of results (WAL, appended cell by cell). The only part that knows SQLite.
class Store {
 public:
  enum class Mode { read_only, read_write };
  /// Opens or (read_write) creates it and migrates an older schema. Errors (bad_input): not a store, a newer schema,
  /// not writable.
  static Result<Store> open(const std::filesystem::path& file, Mode mode);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  Result<std::int64_t> begin_run(const RunRecord& run);
  Result<std::monostate> finish_run(const RunRecord& run);
  Result<std::monostate> put_problem(const ProblemRecord& problem);
  Result<std::monostate> put_setting(const SettingRecord& setting);
  /// Durable when it returns. A cell with the same key is replaced.
  Result<std::monostate> put_cell(const CellRecord& cell);
  /// Key and status of every stored cell.
  Result<std::vector<std::pair<std::string, std::string>>> cell_states() const;

  Result<StoreContents> read(bool with_reactions = false) const;

 private:
  struct Database;
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace conebench
