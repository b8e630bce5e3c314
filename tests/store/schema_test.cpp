#include "store/schema.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "store/record_fields.hpp"
#include "store/row_visitors.hpp"
#include "tests/store/sample_records.hpp"
#include "tests/support/paths.hpp"

namespace conebench {
namespace {

using conebench::testing::new_store;
using conebench::testing::ScratchFolder;

std::set<std::string> columns_of(const sqlite::Connection& connection, const std::string& table) {
  std::set<std::string> names;
  auto query = connection.prepare("SELECT name FROM pragma_table_info('" + table + "')");
  while (query.step() == SQLITE_ROW) names.insert(query.text(0));
  return names;
}

template <class Record, class Fields>
std::set<std::string> fields_of(Fields fields) {
  ColumnNames names;
  const Record record;
  fields(names, record);
  return {names.names.begin(), names.names.end()};
}

sqlite::Connection open_new(const ScratchFolder& folder) {
  auto connection = open_store_file(folder / "a.sqlite", true);
  EXPECT_TRUE(connection);
  return std::move(*connection);
}

TEST(StoreSchema, TheTablesHaveExactlyTheRecordsFields) {
  const ScratchFolder folder;
  const auto connection = open_new(folder);
  auto runs = fields_of<RunRecord>([](auto& visit, auto& run) { visit_run(visit, run); });
  runs.insert({"id", "checksum"});
  auto cells = fields_of<CellRecord>([](auto& visit, auto& cell) { visit_cell(visit, cell); });
  cells.insert({"id", "checksum", "residual_checksum"});
  auto residuals = fields_of<ResidualRecord>([](auto& visit, auto& residual) { visit_residual(visit, residual); });
  residuals.insert({"cell", "name"});
  auto rounds = fields_of<RoundRecord>([](auto& visit, auto& round) { visit_round(visit, round); });
  rounds.insert("cell");
  auto problems = fields_of<ProblemRecord>([](auto& visit, auto& problem) { visit_problem(visit, problem); });
  problems.insert("checksum");
  auto settings = fields_of<SettingRecord>([](auto& visit, auto& setting) { visit_setting(visit, setting); });
  settings.insert("checksum");
  EXPECT_EQ(columns_of(connection, "runs"), runs);
  EXPECT_EQ(columns_of(connection, "cells"), cells);
  EXPECT_EQ(columns_of(connection, "residuals"), residuals);
  EXPECT_EQ(columns_of(connection, "rounds"), rounds);
  EXPECT_EQ(columns_of(connection, "problems"), problems);
  EXPECT_EQ(columns_of(connection, "settings"), settings);
}

TEST(StoreSchema, TheDocumentNamesEveryTableAndColumn) {
  std::ifstream file(CONEBENCH_SOURCE_DIR "/docs/store.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  const ScratchFolder folder;
  const auto connection = open_new(folder);
  auto tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  int seen = 0;
  while (tables.step() == SQLITE_ROW) {
    const std::string table = tables.text(0);
    EXPECT_NE(document.find(table), std::string::npos) << table;
    for (std::string column : columns_of(connection, table)) {
      for (const std::string group : {"setup_", "solve_", "total_"}) {
        // Documented once for the three.
        if (table == "cells" && column.starts_with(group)) column = column.substr(group.size());
      }
      EXPECT_NE(document.find("`" + column + "`"), std::string::npos) << table << "." << column;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100);
}

}  // namespace
}  // namespace conebench
