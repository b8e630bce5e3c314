#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/sqlite.hpp"

namespace conebench {

/// Marks an SQLite file as a Conebench store ("CONB", PRAGMA application_id).
inline constexpr std::int64_t store_application_id = 0x434F4E42;
/// PRAGMA user_version. It goes up with every change of a record's fields: stores of other versions are refused.
inline constexpr std::int64_t schema_version = 15;

/// A column that holds a field of a record.
struct Column {
  std::string name;
  std::string type;  ///< SQLite's: TEXT, INTEGER, REAL, BLOB
  bool may_be_null = false;
  std::string unit, meaning;
};

struct StoredTable {
  std::string name;
  std::vector<Column> columns;
};

/// The tables of records; their keys and checksums, and what is no record, are in schema_sql().
const std::vector<StoredTable>& stored_tables();

/// The statements that make a store.
const std::string& schema_sql();

/// Opens a store for reading, or opens or creates it for writing.
/// `salvage`: to read what can be read of a damaged file, however little that is.
/// Errors (bad_input): see Store::open.
Result<sqlite::Connection> open_store_file(const std::filesystem::path& file, bool writable, bool salvage = false);

/// Whether nothing was ever stored in the file: what a writer leaves that was killed before its first run began.
bool is_blank_store(const std::filesystem::path& file);

}  // namespace conebench
