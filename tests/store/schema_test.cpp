#include "store/schema.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

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

sqlite::Connection open_new(const ScratchFolder& folder) {
  auto connection = open_store_file(folder / "a.sqlite", true);
  EXPECT_TRUE(connection);
  return std::move(*connection);
}

TEST(StoreSchema, EveryFieldIsAColumnWithAMeaning) {
  const ScratchFolder folder;
  const auto connection = open_new(folder);
  for (const StoredTable& table : stored_tables()) {
    const auto columns = columns_of(connection, table.name);
    std::set<std::string> names;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(columns.contains(column.name)) << table.name << "." << column.name;
      EXPECT_TRUE(names.insert(column.name).second) << table.name << "." << column.name << " is there twice";
      EXPECT_FALSE(column.meaning.empty()) << table.name << "." << column.name;
      EXPECT_EQ(column.name.ends_with("_s"), column.unit == "s") << table.name << "." << column.name;
    }
  }
  EXPECT_EQ(stored_tables().size(), 7U);
}

TEST(StoreSchema, TheDocumentsNameEveryTable) {
  std::string documents;
  for (const char* name : {"store.md", "fields.md"}) {
    std::ifstream file(std::string(CONEBENCH_SOURCE_DIR "/docs/") + name);
    documents.append(std::istreambuf_iterator<char>(file), {});
  }
  const ScratchFolder folder;
  const auto connection = open_new(folder);
  auto tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  while (tables.step() == SQLITE_ROW) {
    EXPECT_NE(documents.find("## " + tables.text(0)), std::string::npos) << tables.text(0);
  }
}

}  // namespace
}  // namespace conebench
