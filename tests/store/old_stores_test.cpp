#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "store/blob.hpp"
#include "store/merge.hpp"
#include "store/row_seals.hpp"
#include "store/schema.hpp"
#include "tests/store/sample_records.hpp"
#include "tests/support/paths.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using conebench::testing::ScratchFolder;

const fs::path old_stores = CONEBENCH_SOURCE_DIR "/tests/store/old_stores";
/// Written by build c9b21183 (schema 5): box-stack and sliding-box, NSGS and PGS-CCP, two tolerances, two rounds.
const fs::path schema_5 = old_stores / "schema_5.sqlite";

constexpr std::size_t first_with_checksums = 6;

struct Kept {
  std::string status;
  std::int64_t solved = 0;
  double verdict = 0.0, total_s = 0.0;
  std::string stage;       ///< since schema 8
  std::size_t rounds = 0;  ///< with times of their own, since schema 6
  std::size_t residuals = 0;
  std::vector<double> answer;
  bool operator==(const Kept&) const = default;
};
using KeptCells = std::map<std::string, Kept>;

/// What must not change, by SQL alone.
KeptCells cells_by_sql(const fs::path& file) {
  KeptCells cells;
  sqlite::Connection connection;
  EXPECT_EQ(connection.open(file, sqlite::Connection::Access::immutable), SQLITE_OK);
  const auto columns = connection.columns_of("cells");
  const bool staged = std::find(columns.begin(), columns.end(), "stage") != columns.end();
  const bool timed = !connection.columns_of("rounds").empty();
  auto rows = connection.prepare(
      std::string("SELECT key, status, solved, verdict_value, total_minimum_s, length, crc32, data, ") +
      (staged ? "stage, " : "'', ") + (timed ? "(SELECT count(*) FROM rounds WHERE rounds.cell = cells.id)" : "0") +
      ", (SELECT count(*) FROM residuals WHERE residuals.cell = cells.id)"
      " FROM cells LEFT JOIN reactions ON reactions.cell = cells.id");
  while (rows.step() == SQLITE_ROW) {
    auto answer = unpack_values(rows.blob(7), rows.integer(5), static_cast<std::uint32_t>(rows.integer(6)));
    EXPECT_TRUE(answer);
    cells[rows.text(0)] = {.status = rows.text(1),
                           .solved = rows.integer(2),
                           .verdict = rows.real(3),
                           .total_s = rows.real(4),
                           .stage = rows.text(8),
                           .rounds = static_cast<std::size_t>(rows.integer(9)),
                           .residuals = static_cast<std::size_t>(rows.integer(10)),
                           .answer = std::move(*answer)};
  }
  return cells;
}

KeptCells cells_by_store(const fs::path& file, Store::Mode mode) {
  KeptCells cells;
  auto store = Store::open(file, mode);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    return cells;
  }
  const auto contents = store->read(true);
  EXPECT_TRUE(contents) << contents.error().message;
  if (!contents) return cells;
  for (const auto& cell : contents->cells) {
    EXPECT_TRUE(cell.answer_crc || cell.status == CellStatus::crashed);
    cells[cell.key] = {.status = to_string(cell.status),
                       .solved = cell.solved ? 1 : 0,
                       .verdict = cell.verdict_value.value_or(-1.0),
                       .total_s = cell.total.minimum,
                       .stage = cell.stage,
                       .rounds = cell.timed_rounds.size(),
                       .residuals = cell.residuals.size(),
                       .answer = cell.reaction};
  }
  for (const auto& run : contents->runs) {
    EXPECT_TRUE(run.data_sets.empty()) << "what was not stored is not made up";
    if (run.build.commit == "c9b21183d3c8") {
      EXPECT_EQ(run.build.executable, "");
    } else {
      EXPECT_NE(run.build.executable, "");
    }
  }
  return cells;
}

/// Records of every kind had an answer of five rows to a problem of twelve: it was never judged.
KeptCells as_read(KeptCells cells) {
  for (auto& [key, cell] : cells) {
    if (cell.answer.size() != 5) continue;
    cell.status = "crashed";
    cell.solved = 0;
    cell.verdict = -1.0;
    cell.residuals = 0;
  }
  return cells;
}

/// Reads, merges and writes to a copy of it.
void expect_kept(const fs::path& file, const fs::path& folder, const KeptCells& expected) {
  const KeptCells read = as_read(expected);
  EXPECT_EQ(cells_by_store(file, Store::Mode::read_only), read) << "read";
  EXPECT_EQ(cells_by_sql(file), expected) << "reading leaves the file alone";
  const std::vector<fs::path> sources = {file};
  const auto merged = merge_stores(sources, folder / "merged.sqlite", {.allow_mixed = true});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(cells_by_store(folder / "merged.sqlite", Store::Mode::read_only), read) << "merged";
  EXPECT_EQ(cells_by_store(file, Store::Mode::read_write), read) << "written to";
  EXPECT_EQ(cells_by_store(file, Store::Mode::read_only), read) << "after it, with checksums";
  sqlite::Connection connection;
  ASSERT_EQ(connection.open(file, sqlite::Connection::Access::read_only), SQLITE_OK);
  EXPECT_EQ(connection.ask("PRAGMA user_version"), static_cast<std::int64_t>(schema_steps().size()));
  EXPECT_EQ(connection.ask("SELECT count(*) FROM cells WHERE checksum IS NULL OR residual_checksum IS NULL"), 0);
}

/// The same cells in the form of another schema: its released steps, and those columns that it has.
void write_as(std::size_t version, const fs::path& file) {
  auto old = open_store_file(file, true, schema_steps().first(version));
  ASSERT_TRUE(old) << old.error().message;
  ASSERT_EQ(old->run("ATTACH '" + schema_5.string() + "' AS newer"), SQLITE_OK);
  for (const std::string table : {"runs", "problems", "settings", "cells", "residuals", "reactions", "traces"}) {
    const auto before = old->columns_of(table);
    std::set<std::string> newer;
    auto query = old->prepare("SELECT name FROM pragma_table_info(?, 'newer')");
    query.bind(1, std::string_view(table));
    while (query.step() == SQLITE_ROW) newer.insert(query.text(0));
    std::string names, values;
    for (const auto& column : before) {
      if (version > 5 && !newer.contains(column)) continue;
      names += (names.empty() ? "" : ", ") + column;
      // Schema 1 knew of λ = 0 only whether it solves the problem.
      values += (values.empty() ? "" : ", ") + (newer.contains(column) ? column : std::string("0"));
    }
    ASSERT_EQ(old->run("INSERT INTO " + table + " (" + names + ") SELECT " + values + " FROM newer." + table),
              SQLITE_OK)
        << table << " of schema " << version;
  }
  if (version >= first_with_checksums) {
    ASSERT_EQ(RowSeals(*old).seal_all(), SQLITE_OK);
  }
}

TEST(OldStores, OfEverySchemaSinceTheFirstKeepTheirKeysVerdictsTimesAndBits) {
  const KeptCells expected = cells_by_sql(schema_5);
  ASSERT_EQ(expected.size(), 8U);
  EXPECT_EQ(expected.begin()->second.residuals, 23U);
  EXPECT_TRUE(expected.contains("26b9c34315df2faa04dd5bea439e6ee2"));
  for (std::size_t version = 1; version < schema_steps().size(); ++version) {
    const ScratchFolder folder;
    const fs::path file = folder / "old.sqlite";
    if (version == 5) {
      fs::copy_file(schema_5, file);
    } else {
      write_as(version, file);
    }
    SCOPED_TRACE(version);
    expect_kept(file, folder.path(), expected);
  }
}

TEST(OldStores, SentencesAndLabelsOfTheirTimeBecomeFacts) {
  const ScratchFolder folder;
  const fs::path file = folder / "old.sqlite";
  write_as(11, file);
  {
    sqlite::Connection old;
    ASSERT_EQ(old.open(file, sqlite::Connection::Access::read_write_create), SQLITE_OK);
    ASSERT_EQ(old.run(R"sql(
      UPDATE runs SET noise = '["busy before the start: load 2.5 on 2 processors", "busy meanwhile: load 4.0 at the end",
        "71 % of the repeated cells scatter by more than a tenth of their median",
        "the hypervisor took 9 % of the processor time", "throttled 25 times because of heat",
        "2 workers ran side by side", "joined from stores of different builds: a, but b", "a cat walked by"]';
      UPDATE settings SET label = solver || ' order=shuffled', options = '{"order":"shuffled","order_of":1,"r":2}';
      UPDATE cells SET start = 'previous',
        reason = CASE WHEN id = 1 THEN 'growth; started cold: the first of its sequence' ELSE 'growth' END;
    )sql"),
              SQLITE_OK);
    ASSERT_EQ(RowSeals(old).seal_all(), SQLITE_OK);
  }
  const auto store = Store::open(file, Store::Mode::read_only);
  ASSERT_TRUE(store) << store.error().message;
  const auto contents = store->read();
  ASSERT_TRUE(contents) << contents.error().message;
  const std::vector<NoiseRecord> noise = {{NoiseKind::stolen, 0.09},
                                          {NoiseKind::throttled, 25.0},
                                          {NoiseKind::workers, 2.0},
                                          {NoiseKind::joined, 0.0, "different builds: a, but b"},
                                          {NoiseKind::other, 0.0, "a cat walked by"}};
  for (const RunRecord& run : contents->runs) EXPECT_EQ(run.noise, noise);
  for (const SettingRecord& setting : contents->settings) {
    EXPECT_EQ(setting.changed_options, std::vector<std::string>{"order"});
  }
  EXPECT_EQ(std::ranges::count(contents->cells, "cold", &CellRecord::start_used), 1);
  EXPECT_EQ(std::ranges::count(contents->cells, "previous", &CellRecord::start_used), 7);
}

TEST(OldStores, FilesThatBuildsOfTheirTimeWroteKeepAllThatIsInThem) {
  struct Written {
    int schema;
    std::string commit;
    std::size_t cells, staged, timed;  ///< cells, those with a stage, those with times of two rounds
  };
  // 6 and 7: their builds' merge of schema_5 and a record of every kind. 8 and 9: a run.
  for (const Written& one : {Written{6, "f96793d", 9, 0, 1}, Written{7, "ec99ee9fa685", 9, 0, 1},
                             Written{8, "d001a860d436", 18, 6, 14}, Written{9, "bab921c13c23", 18, 6, 14}}) {
    SCOPED_TRACE(one.schema);
    const ScratchFolder folder;
    const fs::path file = folder / "old.sqlite";
    fs::copy_file(old_stores / ("schema_" + std::to_string(one.schema) + ".sqlite"), file);
    {
      sqlite::Connection connection;
      ASSERT_EQ(connection.open(file, sqlite::Connection::Access::immutable), SQLITE_OK);
      EXPECT_EQ(connection.ask("PRAGMA user_version"), one.schema);
      EXPECT_EQ(connection.ask("SELECT count(*) FROM runs WHERE build_commit = '" + one.commit + "'"), 1);
    }
    const KeptCells expected = cells_by_sql(file);
    const auto count = [&](auto holds) {
      return static_cast<std::size_t>(
          std::ranges::count_if(expected, [&](const auto& cell) { return holds(cell.second); }));
    };
    EXPECT_EQ(expected.size(), one.cells);
    EXPECT_EQ(count([](const Kept& cell) { return !cell.stage.empty(); }), one.staged);
    EXPECT_EQ(count([](const Kept& cell) { return cell.rounds == 2; }), one.timed);
    expect_kept(file, folder.path(), expected);
  }
}

TEST(OldStores, OfADamagedOneWhatIsWholeIsSaved) {
  const KeptCells expected = cells_by_sql(schema_5);
  for (std::size_t version = 5; version <= schema_steps().size(); ++version) {
    const ScratchFolder folder;
    const fs::path file = folder / "old.sqlite";
    write_as(version, file);
    const bool sealed = version >= first_with_checksums;
    if (sealed) {
      sqlite::Connection connection;
      ASSERT_EQ(connection.open(file, sqlite::Connection::Access::read_write_create), SQLITE_OK);
      ASSERT_EQ(connection.run("UPDATE cells SET iterations = iterations + 1 WHERE id = 1"), SQLITE_OK);
      ASSERT_EQ(connection.run("UPDATE cells SET checksum = NULL WHERE id = 2"), SQLITE_OK);
    }
    const std::vector<fs::path> sources = {file};
    const auto saved = merge_stores(sources, folder / "saved.sqlite", {.salvage = true});
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(saved->damaged, sealed ? 2 : 0) << "schema " << version;
    EXPECT_EQ(saved->cells, sealed ? 6 : 8) << "schema " << version;
    for (const auto& [key, cell] : cells_by_store(folder / "saved.sqlite", Store::Mode::read_only)) {
      EXPECT_EQ(cell, expected.at(key));
    }
  }
}

TEST(OldStores, ADamagedOneIsRefused) {
  const ScratchFolder folder;
  std::ifstream stream(schema_5, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_GT(bytes.size(), 12U * 4096);
  int refused = 0;
  for (std::size_t page = 1; page < bytes.size() / 4096; ++page) {
    std::string bad = bytes;
    bad.replace(page * 4096, 4096, 4096, '\0');
    const fs::path file = folder / "bad.sqlite";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
    for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
      const auto store = Store::open(file, mode);
      if (store) {
        EXPECT_EQ(cells_by_store(file, mode), cells_by_sql(schema_5)) << page;
      } else {
        EXPECT_EQ(store.error().code, ErrorCode::bad_input) << store.error().message;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace conebench
