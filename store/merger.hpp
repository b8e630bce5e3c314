#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/merge.hpp"
#include "store/row_checksums.hpp"
#include "store/sqlite.hpp"

namespace conebench {

/// Copies the rows of a table from one store to the other, with chosen columns replaced.
class RowCopier {
 public:
  RowCopier(const sqlite::Connection& target, const char* table, const char* verb = "INSERT");
  sqlite::Statement select(const sqlite::Connection& source, const std::string& rest) const;
  /// -1 where there is none.
  int column(const std::string& name) const;
  /// `replaced`: column → its new value; nullopt: NULL, by which SQLite gives a new id.
  int copy(const sqlite::Statement& row, const std::map<int, std::optional<std::int64_t>>& replaced = {});

 private:
  std::string table_;
  std::vector<std::string> columns_;
  sqlite::Statement insert_;
};

/// Adds the rows of stores to `target`, row by row: a damaged one is an error, or is left out where the options say so.
class Merger {
 public:
  Merger(sqlite::Connection& target, const MergeOptions& options, MergeSummary& summary);
  /// Errors (bad_input): a conflict that the options don't resolve, a damaged row, a full disk.
  Result<void> add(const sqlite::Connection& source);

 private:
  struct Source;
  enum class Wanted { yes, no, refused };
  int keep_findings(const RowCopier& problems, const sqlite::Statement& row);
  Result<void> add_rows(Source& source, Part part);
  Result<void> add_acceptances(const sqlite::Connection& source);
  int copy_cell(Source& source, const sqlite::Statement& cell);
  int copy_children(Source& source, std::size_t table, std::int64_t old_id, std::int64_t new_id);
  Wanted resolve(Source& source, const std::string& key, const sqlite::Statement& answer);
  std::string name_of(const std::string& key);

  sqlite::Connection& target_;
  const MergeOptions& options_;
  MergeSummary& summary_;
  std::array<RowCopier, 4> parts_;         ///< by Part
  std::array<RowCopier, 4> child_tables_;  ///< of a cell
  RowCopier acceptances_;
  sqlite::Statement find_, name_, drop_;
  std::optional<Error> refused_;
};

}  // namespace conebench
