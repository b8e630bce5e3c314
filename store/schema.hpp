#pragma once

#include <filesystem>
#include <span>

#include "base/result.hpp"
#include "store/sqlite.hpp"

namespace conebench {

/// Marks an SQLite file as a Conebench store ("CONB", PRAGMA application_id).
inline constexpr std::int64_t store_application_id = 0x434F4E42;

/// Steps of the schema: step k brings a file from version k (PRAGMA user_version) to k + 1; a new file takes them all.
/// A step that was released never changes; a new one is appended.
std::span<const char* const> schema_steps();

/// Opens a store for reading, or opens or creates it for writing, and brings its schema to steps.size(). An older file
/// opened for reading is migrated in memory and stays as it is on disk.
/// `salvage`: to read what can be read of a damaged file, however little that is.
/// Errors (bad_input): see Store::open.
Result<sqlite::Connection> open_store_file(const std::filesystem::path& file, bool writable,
                                           std::span<const char* const> steps = schema_steps(), bool salvage = false);

/// Whether nothing was ever stored in the file: what a writer leaves that was killed before its first run began.
bool is_blank_store(const std::filesystem::path& file);

}  // namespace conebench
