#include "store/night_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "store/suite_scope.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

using conebench::testing::new_store;
using conebench::testing::sample_cell;
using conebench::testing::sample_problem;
using conebench::testing::ScratchFolder;
using conebench::testing::write_text;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A store of two cells of one configuration: solved in 2 ms, and one that diverged.
class NightOfAStore : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = new_store(file);
    (void)store.put_problem(sample_problem("p2"));
    CellRecord solved = sample_cell("k1");
    solved.solved = true;
    solved.total.minimum = 0.002;
    solved.repeats = 5;
    solved.peak_memory_kb = 2000 * 1024;  // of 4000 MB
    CellRecord lost = sample_cell("k2");
    lost.problem = "p2";
    lost.solved = false;
    lost.status = CellStatus::diverged;
    ASSERT_TRUE(store.put_cell(solved));
    ASSERT_TRUE(store.put_cell(lost));
  }

  NightSummary read() {
    auto night = read_night(file);
    EXPECT_TRUE(night) << night.error().message;
    return night ? *night : NightSummary{};
  }

  void expect_right(const NightSummary& night) {
    EXPECT_EQ(night.suite, "nightly");
    EXPECT_EQ(night.started_utc, "2024-05-01T02:00:00Z");
    EXPECT_EQ(night.commit, "abc-dirty");
    ASSERT_THAT(night.problems, SizeIs(2));
    ASSERT_THAT(night.rows, SizeIs(1));
    ASSERT_THAT(night.rows[0].cells, SizeIs(2));
    EXPECT_TRUE(night.rows[0].cells[0].solved);
    EXPECT_EQ(night.rows[0].cells[0].minimum_s, 0.002);
    EXPECT_TRUE(night.rows[0].cells[0].near_memory);
    EXPECT_TRUE(night.answered());
    EXPECT_EQ(night.libraries, conebench::testing::sample_run().build.libraries);
    EXPECT_FALSE(night.rows[0].cells[1].solved);
    EXPECT_FALSE(night.rows[0].cells[1].near_memory);
    EXPECT_EQ(night.rows[0].cells[1].status, CellStatus::diverged);
  }

  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.sqlite";
};

TEST_F(NightOfAStore, IsKeptBesideItAndReadBackTheSame) {
  expect_right(read());
  const auto kept = summary_file(file);
  ASSERT_TRUE(std::filesystem::exists(kept));
  const auto before = std::filesystem::last_write_time(kept);
  expect_right(read());
  EXPECT_EQ(std::filesystem::last_write_time(kept), before) << "made again";
}

TEST(NightSummaryOfPlugIns, KeepsTheHashesOfTheirFiles) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.sqlite";
  {
    SuiteScope scope;
    scope.code_hashes = {{"MINE", "0123456789abcdef"}};
    RunRecord run = conebench::testing::sample_run();
    run.scope_json = to_json_text(scope);
    auto store = Store::open(file, Store::Mode::read_write);
    ASSERT_TRUE(store && store->begin_run(run));
  }
  for (const char* how : {"made", "kept"}) {
    const auto night = read_night(file);
    ASSERT_TRUE(night) << night.error().message;
    EXPECT_EQ(night->code_hashes, (CodeHashes{{"MINE", {"0123456789abcdef"}}})) << how;
  }
}

TEST_F(NightOfAStore, IsMadeAnewAfterTheStoreChanged) {
  (void)read();
  auto store = Store::open(file, Store::Mode::read_write);
  ASSERT_TRUE(store);
  CellRecord cell = sample_cell("k2");
  cell.problem = "p2";
  cell.solved = true;
  ASSERT_TRUE(store->put_cell(cell));
  EXPECT_TRUE(read().rows.at(0).cells.at(1).solved) << "the write is still in the store's -wal file";
}

TEST_F(NightOfAStore, IsNotBelievedWhereAByteOfItChanged) {
  (void)read();
  const std::string good = text_of(summary_file(file));
  const std::size_t index = good.find("0.002");
  ASSERT_NE(index, std::string::npos);
  std::string bad = good;
  bad[index + 4] = '7';
  write_text(summary_file(file), bad);
  expect_right(read());
  EXPECT_EQ(text_of(summary_file(file)), good) << "and is mended";
}

TEST_F(NightOfAStore, IsNotBelievedWhereItIsTornAnywhere) {
  (void)read();
  const std::string good = text_of(summary_file(file));
  for (std::size_t length = 0; length < good.size(); length += 41) {
    write_text(summary_file(file), good.substr(0, length));
    expect_right(read());
  }
}

TEST_F(NightOfAStore, IsReadWhereNothingCanBeWrittenBesideIt) {
  std::filesystem::create_directory(summary_file(file));
  expect_right(read());
}

TEST_F(NightOfAStore, AMissingOrDamagedStoreIsAnErrorNotAnEmptyNight) {
  EXPECT_FALSE(read_night(folder / "none.sqlite"));
  write_text(folder / "b.sqlite", "no store");
  EXPECT_FALSE(read_night(folder / "b.sqlite"));
}

TEST(NightSummary, IsLoadedWhereLongCellsScatter) {
  StoreContents contents;
  contents.problems.push_back(sample_problem("p1"));
  for (int i = 0; i < 20; ++i) {
    CellRecord cell = sample_cell("k" + std::to_string(i));
    cell.repeats = 5;
    cell.total = {.cold = 0.02, .minimum = 0.01, .median = i < 4 ? 0.012 : 0.0105, .deviation = 0.0};
    contents.cells.push_back(cell);
  }
  EXPECT_NEAR(summarise(contents).loaded_share, 0.2, 1e-12);
  EXPECT_TRUE(summarise(contents).loaded);
  for (int i = 0; i < 2; ++i) contents.cells[static_cast<std::size_t>(i)].total.median = 0.0105;
  EXPECT_FALSE(summarise(contents).loaded);
}

TEST(NightSummary, NamesItsExecutableAndTellsSeveralBuilds) {
  StoreContents contents;
  contents.runs = {conebench::testing::sample_run(), conebench::testing::sample_run()};
  contents.runs[0].build.executable = contents.runs[1].build.executable = "1f3a";
  EXPECT_EQ(summarise(contents).executable, "1f3a");
  EXPECT_FALSE(summarise(contents).several_builds);
  contents.runs[0].build.executable = "9c77";
  EXPECT_TRUE(summarise(contents).several_builds);
}

TEST(NightSummary, NamesEachHostOnceInOrder) {
  StoreContents contents;
  contents.runs.assign(3, conebench::testing::sample_run());
  const auto host_of = [&](const char* first, const char* second, const char* third) {
    contents.runs[0].machine.host = first;
    contents.runs[1].machine.host = second;
    contents.runs[2].machine.host = third;
    return summarise(contents).host;
  };
  EXPECT_EQ(host_of("a", "a", "a"), "a");
  EXPECT_EQ(host_of("b", "a", "b"), "a,b");
  EXPECT_EQ(host_of("a", "b", "a"), "a,b") << "whoever comes last";
  EXPECT_EQ(host_of("c", "d", "d"), "c,d");
}

TEST(NightSummary, TheSameWorkHasTheSameNumber) {
  StoreContents contents;
  contents.problems = {sample_problem("p1"), sample_problem("p2"), sample_problem("p3")};
  contents.configurations = {conebench::testing::sample_configuration("s1")};
  for (const char* problem : {"p1", "p2", "p3"}) {
    contents.cells.push_back(sample_cell(problem));
    contents.cells.back().problem = problem;
  }
  contents.cells[2].iterations += 1;
  const auto night = summarise(contents);
  const auto& cells = night.rows.at(0).cells;
  EXPECT_EQ(cells[0].work, cells[1].work);
  EXPECT_NE(cells[0].work, cells[2].work);
}

TEST(NightSummary, AStoreThatRanToItsEndWithEveryCellIsComplete) {
  StoreContents contents;
  contents.runs.push_back(conebench::testing::sample_run());
  EXPECT_FALSE(summarise(contents).complete()) << "no end";
  contents.runs[0].finished_utc = "2024-05-01T02:30:00Z";
  EXPECT_TRUE(summarise(contents).complete());
  contents.suites.emplace_back().missing.insert({"p9", "s1", 1e-6, "cold"});
  EXPECT_FALSE(summarise(contents).complete());
}

}  // namespace
}  // namespace conebench
