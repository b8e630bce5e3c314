#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <string>
#include <vector>

#include "store/row_checksums.hpp"
#include "store/sqlite.hpp"
#include "tests/cli/conebench_process.hpp"

/// A small suite and its store, for tests of the commands that write and read stores.
namespace conebench::testing {

/// A suite of 2 problems, 2 solvers and 2 tolerances: eight cells. PGS-CCP solves another model than the NCP, so that
/// it fails on the sliding box.
inline constexpr const char* small_suite = R"({
  "name": "small", "seed": 3,
  "problems": [{"scene": "box-stack", "options": {"boxes": 2}, "as": "fclib"}, {"scene": "sliding-box"}],
  "solvers": ["NSGS", "PGS-CCP"],
  "tolerances": [1e-4, 1e-6],
  "limits": {"iterations": 2000, "seconds": 60, "memory_mb": 2000},
  "repeats": {"min": 1, "min_ms": 0, "max": 1}
})";

class RunCommand : public ::testing::Test {
 protected:
  void SetUp() override { write("small.json", small_suite); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }

  Outcome run(std::vector<std::string> arguments, const std::string& store = "small.sqlite") {
    arguments.insert(arguments.begin(), {"run", folder / "small.json", "--db", folder / store});
    return conebench(arguments);
  }

  /// Rows of a query on a store, columns joined with '|'.
  std::vector<std::string> query(const std::string& store, const std::string& sql) {
    std::vector<std::string> rows;
    sqlite3* database = nullptr;
    sqlite3_open((folder / store).c_str(), &database);
    const auto collect = [](void* into, int count, char** values, char**) {
      std::string row;
      for (int i = 0; i < count; ++i) row += (i > 0 ? "|" : "") + std::string(values[i] == nullptr ? "" : values[i]);
      static_cast<std::vector<std::string>*>(into)->push_back(row);
      return 0;
    };
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), collect, &rows, &message), SQLITE_OK) << message;
    sqlite3_close(database);
    return rows;
  }

  /// Checksums of what query() has changed, as if a Conebench had written it.
  void write_checksums(const std::string& store) {
    sqlite::Connection connection;
    ASSERT_EQ(connection.open(folder / store, sqlite::Connection::Access::read_write_create), SQLITE_OK);
    RowChecksums checksums(connection);
    for (const Part part : all_parts) {
      auto rows = connection.prepare(std::string("SELECT rowid FROM ") + to_string(part));
      while (rows.step() == SQLITE_ROW) ASSERT_EQ(checksums.write(part, rows.integer(0)), SQLITE_OK);
    }
  }

  const ScratchFolder folder;
};

inline constexpr const char* answers =
    "SELECT key, status, solved, iterations, verdict_value, length, crc32 FROM cells JOIN "
    "reactions ON cell = cells.id ORDER BY key";

}  // namespace conebench::testing
