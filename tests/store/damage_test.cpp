#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "store/json.hpp"
#include "store/merge.hpp"
#include "tests/store/records_text.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using conebench::testing::new_store;
using conebench::testing::sample_cell;
using conebench::testing::sample_problem;
using conebench::testing::ScratchFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

void change(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

/// A store of 60 cells on 20 problems, with answers, residuals and rounds.
void fill(const fs::path& file) {
  auto store = new_store(file);
  std::mt19937_64 random(3);
  for (int p = 1; p <= 20; ++p) {
    ProblemRecord problem = sample_problem("p" + std::to_string(p));
    problem.rows = 24;
    ASSERT_TRUE(store.put_problem(problem));
  }
  for (int k = 0; k < 60; ++k) {
    auto cell = sample_cell("key" + std::to_string(k));
    cell.problem = "p" + std::to_string(1 + k % 20);
    cell.solved = k % 3 != 0;
    cell.total.median = 1e-3 * (k + 1);
    cell.timed_rounds = {{1, 1, 1e-3 * k, 2e-3 * k, 0.9, k}, {2, 1, 1e-3, 2e-3, std::nullopt, std::nullopt}};
    cell.reaction.clear();
    for (int i = 0; i < 24; ++i) cell.reaction.push_back(std::generate_canonical<double, 53>(random));
    ASSERT_TRUE(store.put_cell(cell));
    if (k % 5 != 0) continue;
  }
}

/// Other damage with --gtest_random_seed=N.
std::mt19937 seeded(int number) {
  return std::mt19937(static_cast<unsigned>(number + 100 * ::testing::UnitTest::GetInstance()->random_seed()));
}

/// Everything that a store holds, as one text.
Result<std::string> everything(const fs::path& file) {
  auto store = Store::open(file, Store::Mode::read_only);
  if (!store) return store.error();
  const auto contents = store->read(true);
  if (!contents) return contents.error();
  return testing::records_text(*contents);
}

/// A failure is one line about bad input that names the file.
void expect_reported(const Error& error, const std::string& what) {
  EXPECT_EQ(error.code, ErrorCode::bad_input) << what << ": " << error.message;
  EXPECT_THAT(error.message, AllOf(HasSubstr("damaged.sqlite"), Not(HasSubstr("\n")))) << what;
}

class DamagedStore : public ::testing::Test {
 protected:
  void SetUp() override {
    fill(folder / "whole.sqlite");
    good = bytes_of(folder / "whole.sqlite");
    const auto all = everything(folder / "whole.sqlite");
    ASSERT_TRUE(all) << all.error().message;
    expected = *all;
    const auto contents = Store::open(folder / "whole.sqlite", Store::Mode::read_only)->read(true);
    for (const auto& cell : contents->cells) cells[cell.key] = to_json(cell).dump();
    ASSERT_EQ(cells.size(), 60U);
  }

  /// Each way to look at the file gives all that was stored, or says in one line that it is damaged; what is salvaged
  /// is as it was. Counts the refusals.
  void expect_all_or_refusal(const std::string& bytes, const std::string& what) {
    const fs::path file = folder / "damaged.sqlite";
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix);
    write_bytes(file, bytes);
    const auto read = everything(file);
    if (read) {
      EXPECT_TRUE(*read == expected) << what;
    } else {
      expect_reported(read.error(), what);
      ++refused;
    }
    const std::vector<fs::path> sources = {file};
    for (const bool salvage : {false, true}) {
      fs::remove(folder / "joined.sqlite");
      const auto merged = merge_stores(sources, folder / "joined.sqlite", {.salvage = salvage});
      if (!merged) {
        expect_reported(merged.error(), what);
        continue;
      }
      const auto joined = Store::open(folder / "joined.sqlite", Store::Mode::read_only)->read(true);
      ASSERT_TRUE(joined) << what << ": " << joined.error().message;
      for (const auto& cell : joined->cells) EXPECT_TRUE(to_json(cell).dump() == cells[cell.key]) << what;
      if (!merged->more_may_be_lost) {
        EXPECT_EQ(static_cast<std::int64_t>(joined->cells.size()) + merged->damaged, 60) << what;
      }
      if (salvage) {
        saved += joined->cells.size();
      } else {
        EXPECT_EQ(joined->cells.size(), 60U) << what;
      }
    }
    const auto written = Store::open(file, Store::Mode::read_write);
    if (!written) expect_reported(written.error(), what);
  }

  const ScratchFolder folder;
  std::string good, expected;
  std::map<std::string, std::string> cells;
  int refused = 0;
  std::size_t saved = 0;
};

TEST_F(DamagedStore, AFlippedBitAnywhereIsReportedOrDoesNotMatter) {
  std::mt19937 random = seeded(11);
  constexpr int flips = 120;
  for (int i = 0; i < flips; ++i) {
    std::string bad = good;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, bad.size() - 1)(random);
    const int bit = std::uniform_int_distribution<int>(0, 7)(random);
    bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
    expect_all_or_refusal(bad, "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, flips / 4) << "most of a store's bytes matter";
  EXPECT_GT(saved, 40U * flips) << "most cells can be saved";
}

TEST_F(DamagedStore, TheHeadAndTheSchemaAreNoSofterThanTheRest) {
  std::mt19937 random = seeded(12);
  for (int i = 0; i < 60; ++i) {
    std::string bad = good;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, 2 * 4096 - 1)(random);
    bad[at] = static_cast<char>(bad[at] ^ (1 << std::uniform_int_distribution<int>(0, 7)(random)));
    expect_all_or_refusal(bad, "byte " + std::to_string(at));
    if (HasFailure()) return;
  }
}

TEST_F(DamagedStore, AHeadOfAnUnknownFormatIsReported) {
  std::string bad = good;
  bad[47] = 68;  // the schema's format number
  expect_all_or_refusal(bad, "byte 47");
  EXPECT_EQ(refused, 1);
}

TEST_F(DamagedStore, SwappedLostAndOverwrittenPagesAreReported) {
  std::mt19937 random = seeded(13);
  constexpr std::size_t page = 4096;
  const std::size_t pages = good.size() / page;
  ASSERT_GT(pages, 20U);
  const auto any = [&] { return std::uniform_int_distribution<std::size_t>(1, pages - 1)(random); };
  for (int i = 0; i < 60; ++i) {
    std::string bad = good;
    const std::size_t first = any(), second = any();
    std::string what = "pages " + std::to_string(first) + ", " + std::to_string(second);
    if (i % 3 == 0) {
      std::swap_ranges(bad.begin() + static_cast<long>(first * page),
                       bad.begin() + static_cast<long>((first + 1) * page),
                       bad.begin() + static_cast<long>(second * page));
      what = "swapped " + what;
    } else if (i % 3 == 1) {
      bad.replace(first * page, page, page, '\0');
      what = "emptied " + what;
    } else {
      bad.resize(first * page + second);
      what = "cut after " + what;
    }
    expect_all_or_refusal(bad, what);
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 30);
}

TEST_F(DamagedStore, WhatIsDamagedAndHowToSaveTheRestIsReported) {
  const fs::path file = folder / "damaged.sqlite";
  write_bytes(file, good);
  change(file, "UPDATE cells SET solved = 1 - solved WHERE id IN (3, 4)");
  const auto read = everything(file);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("2 of 60 cells"), HasSubstr("--salvage")));
  const std::vector<fs::path> sources = {file};
  const auto saved_all = merge_stores(sources, folder / "saved.sqlite", {.salvage = true});
  ASSERT_TRUE(saved_all) << saved_all.error().message;
  EXPECT_EQ(saved_all->cells, 58);
  EXPECT_EQ(saved_all->damaged, 2);
  EXPECT_TRUE(everything(folder / "saved.sqlite"));
}

TEST_F(DamagedStore, ANumberOfCellsThatNoFileOfItsSizeHoldsIsNotBelieved) {
  const fs::path file = folder / "damaged.sqlite";
  write_bytes(file, good);
  change(file, "UPDATE checksums SET count = 65971127143068 WHERE part = 'cells'");
  const std::vector<fs::path> sources = {file};
  const auto saved_all = merge_stores(sources, folder / "saved.sqlite", {.salvage = true});
  ASSERT_TRUE(saved_all) << saved_all.error().message;
  EXPECT_EQ(saved_all->cells, 60);
  EXPECT_EQ(saved_all->damaged, 0);
  EXPECT_TRUE(saved_all->more_may_be_lost);
}

TEST_F(DamagedStore, ARowThatIsGoneOrHasNoChecksumIsReported) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"DELETE FROM cells WHERE id = 7; UPDATE checksums SET count = 60 WHERE part = 'cells'",
       "1 of 60 cells are gone"},
      {"DELETE FROM problems WHERE hash = 'p9'; UPDATE checksums SET count = 20 WHERE part = 'problems'",
       "1 of 20 problems are gone"},
      {"DELETE FROM residuals WHERE cell = 5 AND name = 'penetration'", "1 of 60 cells"},
      {"DELETE FROM rounds WHERE cell = 5 AND round = 2", "1 of 60 cells"},
      {"DELETE FROM reactions WHERE cell = 5", "1 of 60 cells"},
      {"UPDATE runs SET suite_text = '{}'", "1 of 1 runs"},
      {"UPDATE configurations SET label = 'other'", "1 of 1 configurations"},
      {"UPDATE cells SET checksum = NULL WHERE id = 5", "1 of 60 cells"},
      {"UPDATE cells SET residual_checksum = NULL WHERE id = 5", "1 of 60 cells"},
      {"UPDATE problems SET checksum = NULL WHERE hash = 'p9'", "1 of 20 problems"},
      {"DELETE FROM checksums", "the list of"}};
  for (const auto& [sql, reported] : cases) {
    const fs::path file = folder / "damaged.sqlite";
    write_bytes(file, good);
    change(file, sql);
    const auto read = everything(file);
    ASSERT_FALSE(read) << sql;
    EXPECT_THAT(read.error().message, HasSubstr(reported)) << sql;
    expect_reported(read.error(), sql);
  }
}

}  // namespace
}  // namespace conebench
