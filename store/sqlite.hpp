#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/temporary_folder.hpp"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace conebench::sqlite {

/// A prepared statement. A failure sticks: preparing, binding and stepping may be written in one run, and what went
/// wrong first is what step() and failure() tell.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, std::string_view sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  /// Positions count from 1, as in SQL.
  Statement& bind(int position, std::int64_t value);
  /// A value that is not finite becomes NULL.
  Statement& bind(int position, double value);
  Statement& bind(int position, std::string_view value);
  Statement& bind(int position, std::span<const unsigned char> blob);
  Statement& bind(int position, sqlite3_value* value);
  Statement& bind_null(int position);

  /// SQLITE_ROW, SQLITE_DONE, or the code of what failed.
  int step();
  /// Steps to the end and resets: for statements whose rows nobody reads. SQLITE_OK or the code of what failed.
  int run();
  /// Ready for the next values; a failed step is forgotten, a failed preparation is not.
  void reset();

  int columns() const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;  ///< NaN for NULL
  std::string text(int column) const;
  std::span<const unsigned char> blob(int column) const;
  sqlite3_value* value(int column) const;
  /// A hash of a value and its type.
  std::uint64_t fingerprint(int column, std::uint64_t seed) const;

 private:
  void keep(int code);
  sqlite3_stmt* handle_ = nullptr;
  int failure_ = 0;
};

/// The write-ahead log, or the rollback journal, beside a file, where there is one that is not empty.
std::optional<std::filesystem::path> log_beside(const std::filesystem::path& file);

/// An open database file.
class Connection {
 public:
  /// read_only: nothing of the file is changed, and a log beside it stays, when this closes, too.
  enum class Access { read_only, immutable, read_write_create, memory };

  /// SQLITE_OK or the code of what failed.
  int open(const std::filesystem::path& file, Access access);
  /// The same of a private copy of the file and its log, where the log cannot be read in its folder.
  int open_copy(const std::filesystem::path& file);
  int run(std::string_view sql);
  /// Before anything of a file is trusted: SQL within it reaches no function with effects, and none of its own tables.
  void distrust_schema();
  Statement prepare(std::string_view sql) const { return {handle_.get(), sql}; }
  /// The integer that a query gives first, if it runs and gives one.
  std::optional<std::int64_t> ask(std::string_view sql, int* failure = nullptr) const;
  std::vector<std::string> columns_of(const std::string& table) const;
  bool read_only() const;
  std::int64_t last_row_id() const;
  /// Copies the whole content of `source` into this database.
  int copy_from(Connection& source);

  const std::filesystem::path& file() const { return file_; }
  /// For what failed while a store was read: whatever SQLite makes of it, the file is at fault (bad_input).
  Error read_error(int code) const;
  /// One line: file, what failed, SQLite's reason, and what to do where that is known.
  Error error(std::string_view doing, int code) const;

 private:
  struct Closer {
    bool keeps_log;
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<TemporaryFolder> copy_;  ///< outlives the handle
  std::unique_ptr<sqlite3, Closer> handle_;
  std::filesystem::path file_;
};

/// BEGIN IMMEDIATE … COMMIT; rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection), begun_(connection.run("BEGIN IMMEDIATE")) {}
  ~Transaction() {
    if (begun_ == 0 && !ended_) connection_.run("ROLLBACK");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  int begun() const { return begun_; }
  int commit() {
    const int code = connection_.run("COMMIT");
    ended_ = code == 0;
    return code;
  }

 private:
  Connection& connection_;
  int begun_;
  bool ended_ = false;
};

}  // namespace conebench::sqlite
