#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "store/sqlite.hpp"

namespace conebench {

/// The tables whose rows carry a checksum.
enum class Part { runs, problems, configurations, cells };
inline constexpr std::array<Part, 4> all_parts = {Part::runs, Part::problems, Part::configurations, Part::cells};
const char* to_string(Part part);

/// Checksums of rows: written with them, compared by whoever reads them. A checksum is a sum over the fields, whatever
/// order they stand in. A cell's has its rounds and the length and CRC-32 of its answer in it, its residual_checksum is
/// over its residuals and the length and CRC-32 of its trace.
class RowChecksums {
 public:
  explicit RowChecksums(const sqlite::Connection& connection);

  /// Writes the checksums of a row that has just been written. SQLITE_OK or the code of what failed.
  int write(Part part, std::int64_t rowid) { return write(part, rowid, true); }
  /// Of all rows; those of residuals stay.
  int write_all();

  /// Whether the row and what belongs to it can be read and is as it was written.
  bool whole(Part part, std::int64_t rowid);
  /// The error (bad_input) that names how many rows of which tables are damaged, gone or without a checksum, if any.
  Result<void> check(bool with_residuals);

 private:
  struct Sums {
    std::uint32_t row = 0, residuals = 0;
    std::optional<std::int64_t> stored_row, stored_residuals;
    bool fit(Part part, bool with_residuals) const;
  };
  struct Table {
    sqlite::Statement row, write;
    std::string fields;
    std::vector<std::uint64_t> seeds;  ///< of the fields
  };
  /// `more`: columns behind the fields.
  Table fields_of(const char* name, const std::string& more, const char* key) const;
  static Sums row_sums(const sqlite::Statement& row, const Table& table, Part part);
  /// Nothing where the row or what belongs to it cannot be read, with the code of that.
  std::optional<Sums> sums(Part part, std::int64_t rowid, bool with_residuals, int& code);
  int write(Part part, std::int64_t rowid, bool residuals);
  std::uint32_t rows_of_cell(Table& table, std::int64_t cell, int& code);
  int scan(const char* name, const Table& table, std::unordered_map<std::int64_t, std::uint32_t>& sums) const;
  Result<void> check_part(Part part, bool with_residuals, std::vector<std::string>& damaged);
  Table& table(Part part) { return tables_[static_cast<std::size_t>(part)]; }

  const sqlite::Connection& connection_;
  std::array<Table, 4> tables_;
  Table rounds_, residuals_, reaction_, trace_;
};

/// What to do with a damaged store, for the end of a message.
std::string how_to_salvage(const std::filesystem::path& file);

}  // namespace conebench
