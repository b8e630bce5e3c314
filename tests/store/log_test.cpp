#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>

#include "store/merge.hpp"
#include "store/schema.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using conebench::testing::new_store;
using conebench::testing::sample_cell;
using conebench::testing::ScratchFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void change(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

void put_cells(Store& store, const std::string& name, int count) {
  for (int k = 0; k < count; ++k) ASSERT_TRUE(store.put_cell(sample_cell(name + std::to_string(k))));
}

/// Writes in a process that ends as a killed one: its log stays.
void killed(const fs::path& file, const std::function<void(Store&)>& write) {
  const pid_t child = fork();
  if (child == 0) {
    auto store = Store::open(file, Store::Mode::read_write);
    if (!store) _exit(1);
    write(*store);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_GT(fs::file_size(file.string() + "-wal"), 0U);
}

std::size_t cells_in(const fs::path& file, Store::Mode mode = Store::Mode::read_only) {
  const auto store = Store::open(file, mode);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    return 0;
  }
  const auto contents = store->read(true);
  EXPECT_TRUE(contents) << contents.error().message;
  return contents ? contents->cells.size() : 0;
}

class StoreLog : public ::testing::Test {
 protected:
  /// A store of three cells, a copy of it, and then two more cells of a killed run.
  void SetUp() override {
    {
      auto store = new_store(file);
      put_cells(store, "early", 3);
    }
    fs::copy_file(file, backup);
    killed(file, [](Store& store) { put_cells(store, "late", 2); });
  }

  void expect_refused() const {
    const std::string held = bytes_of(file), log = bytes_of(file.string() + "-wal");
    for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
      const auto store = Store::open(file, mode);
      ASSERT_FALSE(store);
      EXPECT_EQ(store.error().code, ErrorCode::bad_input);
      EXPECT_THAT(store.error().message, AllOf(HasSubstr("of another state of this file"), HasSubstr("a.sqlite-wal")));
    }
    const std::vector<fs::path> sources = {file};
    EXPECT_FALSE(merge_stores(sources, folder / "merged.sqlite", {}));
    EXPECT_FALSE(merge_stores(sources, folder / "merged.sqlite", {.salvage = true}));
    EXPECT_EQ(bytes_of(file), held) << "nothing is written";
    EXPECT_EQ(bytes_of(file.string() + "-wal"), log);
  }

  void put_over(const fs::path& other) const { fs::copy_file(other, file, fs::copy_options::overwrite_existing); }

  ScratchFolder folder;
  const fs::path file = folder / "a.sqlite", backup = folder / "backup.sqlite";
};

TEST_F(StoreLog, OfAKilledRunIsReadAndStaysAsItIs) {
  const std::string held = bytes_of(file), log = bytes_of(file.string() + "-wal");
  EXPECT_EQ(cells_in(file), 5U);
  EXPECT_EQ(bytes_of(file), held);
  EXPECT_EQ(bytes_of(file.string() + "-wal"), log);
  EXPECT_EQ(cells_in(file, Store::Mode::read_write), 5U) << "the run goes on";
  EXPECT_FALSE(fs::exists(file.string() + "-wal"));
}

TEST_F(StoreLog, GoesWithItsFileWhereThatIsMovedOrCopied) {
  fs::create_directory(folder / "copied");
  for (const char* ending : {"", "-wal"}) fs::copy(file.string() + ending, folder / "copied");
  EXPECT_EQ(cells_in(folder / "copied/a.sqlite"), 5U);
  fs::create_directory(folder / "moved");
  for (const char* ending : {"", "-wal"}) {
    fs::rename(file.string() + ending, folder / "moved" / ("a.sqlite" + std::string(ending)));
  }
  EXPECT_EQ(cells_in(folder / "moved/a.sqlite"), 5U);
}

TEST_F(StoreLog, OfALaterStateIsRefusedByAnOlderCopy) {
  // The killed run had begun its log anew since: the copy's state is not where it begins.
  { auto store = Store::open(file, Store::Mode::read_write); }
  killed(file, [](Store& store) { put_cells(store, "last", 1); });
  put_over(backup);
  expect_refused();
  for (const char* ending : {"-wal", "-shm"}) fs::remove(file.string() + ending);
  EXPECT_EQ(cells_in(file), 3U) << "as the message says";
}

TEST_F(StoreLog, OfARunThatBeganItsLogAnewWhileItRanIsRefusedToo) {
  const fs::path during = folder / "during.sqlite";
  killed(file, [&](Store& store) {
    put_cells(store, "more", 1);
    change(file, "PRAGMA wal_checkpoint(TRUNCATE)");
    fs::copy_file(file, during);
    put_cells(store, "many", 5);
    change(file, "PRAGMA wal_checkpoint(TRUNCATE)");
    put_cells(store, "last", 1);
  });
  put_over(during);
  expect_refused();
}

TEST_F(StoreLog, OfAnotherStoreIsRefused) {
  {
    auto other = new_store(folder / "other.sqlite");
    put_cells(other, "other", 4);
  }
  put_over(folder / "other.sqlite");
  expect_refused();
}

TEST_F(StoreLog, ReplaysOverACopyOfTheStateThatItBeganWith) {
  put_over(backup);
  EXPECT_EQ(cells_in(file), 5U) << "the same bytes as before the kill, so nothing is mixed";
}

TEST_F(StoreLog, OfACopyBySqliteItselfIsRefusedToo) {
  change(backup, "VACUUM");  // a state of its own: another program wrote
  {
    auto store = Store::open(backup, Store::Mode::read_write);
    ASSERT_TRUE(store);
    put_cells(*store, "own", 1);
  }
  put_over(backup);
  expect_refused();
}

TEST_F(StoreLog, StaysBesideAFileOfAnotherSchema) {
  for (const std::string& version : {std::to_string(schema_version - 1), std::to_string(schema_version + 1)}) {
    change(backup, "PRAGMA user_version = " + version);
    put_over(backup);
    const std::string held = bytes_of(file), log = bytes_of(file.string() + "-wal");
    for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
      const auto store = Store::open(file, mode);
      ASSERT_FALSE(store) << version;
      EXPECT_THAT(store.error().message, HasSubstr("(schema " + version + ", this one knows "));
    }
    EXPECT_EQ(bytes_of(file), held) << "nothing is written";
    EXPECT_EQ(bytes_of(file.string() + "-wal"), log);
  }
}

TEST_F(StoreLog, IsReadThroughAPrivateCopyWhereNothingMayBeWritten) {
  // A journal of a killed writer has to be rolled back: within the copy.
  const fs::path other = folder / "b.sqlite";
  fs::copy_file(backup, other);
  change(other, "PRAGMA journal_mode = DELETE");
  const pid_t child = fork();
  if (child == 0) {
    sqlite3* database = nullptr;
    bool done = sqlite3_open(other.c_str(), &database) == SQLITE_OK;
    // So small a cache spills to the file before the end.
    for (const char* sql : {"PRAGMA cache_size = 1", "BEGIN", "UPDATE cells SET reason = hex(zeroblob(90000))",
                            "UPDATE problems SET name = hex(zeroblob(90000))"}) {
      done = done && sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    _exit(done ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const std::string held = bytes_of(other), journal = bytes_of(other.string() + "-journal");
  ASSERT_GT(journal.size(), 0U);
  EXPECT_EQ(cells_in(other), 3U);
  EXPECT_EQ(bytes_of(other), held);
  EXPECT_EQ(bytes_of(other.string() + "-journal"), journal);
}

TEST_F(StoreLog, LeavesAWriterThatEndsWholeThoughAnotherReads) {
  auto writer = Store::open(file, Store::Mode::read_write);
  ASSERT_TRUE(writer);
  const auto reader = Store::open(file, Store::Mode::read_only);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->read());
  put_cells(*writer, "more", 1);
  { const Store ended = std::move(*writer); }
  fs::copy_file(file, folder / "alone.sqlite");
  EXPECT_EQ(cells_in(folder / "alone.sqlite"), 6U);
}

TEST(StoreSchemaOfAFile, IsComparedBeforeAnythingIsAsked) {
  const std::string endless =
      "AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS key FROM n";
  const std::vector<std::string> changes = {
      "DROP VIEW results; DROP TABLE cells; CREATE VIEW cells " + endless,
      "DROP TABLE checksums; CREATE VIEW checksums " + endless,
      "DROP TABLE file_state; CREATE VIEW file_state " + endless,
      "CREATE TRIGGER more AFTER INSERT ON cells BEGIN DELETE FROM cells; END",
      "DROP TRIGGER cells_added",
      "ALTER TABLE cells ADD COLUMN more TEXT",
      "DROP TABLE reactions; CREATE VIRTUAL TABLE reactions USING fts5(cell)",
  };
  for (const std::string& sql : changes) {
    const ScratchFolder folder;
    const fs::path file = folder / "a.sqlite";
    {
      auto store = new_store(file);
      put_cells(store, "k", 2);
    }
    change(file, sql);
    for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
      const auto store = Store::open(file, mode);
      ASSERT_FALSE(store) << sql;
      EXPECT_EQ(store.error().code, ErrorCode::bad_input);
      EXPECT_THAT(store.error().message, HasSubstr("is not as schema")) << sql;
    }
    const std::vector<fs::path> sources = {file};
    (void)merge_stores(sources, folder / "merged.sqlite", {.salvage = true});  // ends
  }
}

TEST(StoreSchemaOfAFile, MayHaveViewsOfItsOwner) {
  const ScratchFolder folder;
  {
    auto store = new_store(folder / "a.sqlite");
    put_cells(store, "k", 2);
  }
  change(folder / "a.sqlite", "CREATE VIEW mine AS SELECT * FROM results; CREATE TABLE notes (text)");
  for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    EXPECT_EQ(cells_in(folder / "a.sqlite", mode), 2U);
  }
}

}  // namespace
}  // namespace conebench
