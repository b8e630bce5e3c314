#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <random>
#include <set>

#include "store/schema.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

using conebench::testing::new_store;
using conebench::testing::sample_cell;
using conebench::testing::ScratchFolder;
using ::testing::HasSubstr;

/// A child writes cells and reports each through a pipe once put_cell has returned; we kill it after `after` of them.
/// The number of cells it reported.
int write_until_killed(const std::filesystem::path& file, int after) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    auto store = new_store(file);
    auto problem = conebench::testing::sample_problem("p1");
    problem.rows = 300;
    if (!store.put_problem(problem)) _exit(1);
    auto cell = sample_cell("");
    cell.reaction.assign(300, 0.1);
    for (int k = 0; k < 100000; ++k) {
      cell.key = "k" + std::to_string(k);
      if (!store.put_cell(cell)) _exit(1);
      const char byte = 1;
      if (write(ends[1], &byte, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  int reported = 0;
  char byte = 0;
  while (reported < after && read(ends[0], &byte, 1) == 1) ++reported;
  kill(child, SIGKILL);
  while (read(ends[0], &byte, 1) == 1) ++reported;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return reported;
}

class StoreBatch : public ::testing::Test {
 protected:
  StoreBatch() : store(new_store(folder / "a.sqlite")) {}
  bool put(const std::string& key) { return static_cast<bool>(store.put_cell(sample_cell(key))); }
  /// As another process sees it, or the next run after a kill.
  std::size_t committed() const {
    return Store::open(folder / "a.sqlite", Store::Mode::read_only)->cell_states()->size();
  }

  const ScratchFolder folder;
  Store store;
};

TEST_F(StoreBatch, IsSeenByOthersWhenItIsCommittedAndAtOnceByItself) {
  store.batch({.max_s = 1e6, .max_writes = 100});
  ASSERT_TRUE(put("k1"));
  ASSERT_TRUE(put("k2"));
  EXPECT_TRUE(store.uncommitted());
  EXPECT_FALSE(store.due());
  EXPECT_EQ(committed(), 0U);
  EXPECT_EQ(store.read()->cells.size(), 2U);
  EXPECT_TRUE(*store.reaction("k1"));
  ASSERT_TRUE(store.commit());
  EXPECT_FALSE(store.uncommitted());
  EXPECT_EQ(committed(), 2U);
}

TEST_F(StoreBatch, EndsWhenItIsFullOrOldEnough) {
  store.batch({.max_s = 1e6, .max_writes = 3});
  for (const char* key : {"k1", "k2", "k3", "k4"}) ASSERT_TRUE(put(key));
  EXPECT_EQ(committed(), 3U);
  store.batch({.max_s = 1e-9, .max_writes = 100});
  EXPECT_TRUE(store.due());
  ASSERT_TRUE(put("k5"));
  EXPECT_EQ(committed(), 5U);
}

TEST_F(StoreBatch, EndsWithARunAndWithTheStore) {
  store.batch({.max_s = 1e6, .max_writes = 100});
  ASSERT_TRUE(put("k1"));
  ASSERT_TRUE(store.begin_run(conebench::testing::sample_run()));
  EXPECT_EQ(committed(), 1U);
  ASSERT_TRUE(put("k2"));
  { const Store gone = std::move(store); }
  EXPECT_EQ(committed(), 2U);
}

TEST_F(StoreBatch, IsLostWithTheWriteThatFails) {
  store.batch({.max_s = 1e6, .max_writes = 100});
  ASSERT_TRUE(put("k1"));
  auto stray = sample_cell("k2");
  stray.problem = "never put";
  EXPECT_FALSE(store.put_cell(stray));
  EXPECT_FALSE(store.uncommitted());
  ASSERT_TRUE(put("k3"));
  ASSERT_TRUE(store.commit());
  EXPECT_EQ(committed(), 1U);
}

TEST(StoreDurability, EveryCellReportedBeforeAKillIsThereAndWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 15; ++round) {
    const ScratchFolder folder;
    const auto file = folder / "a.sqlite";
    const int reported = write_until_killed(file, std::uniform_int_distribution<int>(1, 60)(random));
    ASSERT_GT(reported, 0);
    auto store = Store::open(file, Store::Mode::read_write);
    ASSERT_TRUE(store) << store.error().message;
    const auto contents = store->read(true);
    ASSERT_TRUE(contents) << contents.error().message;
    const int found = static_cast<int>(contents->cells.size());
    EXPECT_GE(found, reported);
    EXPECT_LE(found, reported + 1) << "at most the cell in flight is more than was reported";
    for (const auto& cell : contents->cells) {
      EXPECT_EQ(cell.reaction.size(), 300U);
      EXPECT_EQ(cell.residuals.size(), 2U);
    }
    EXPECT_TRUE(store->put_cell(sample_cell("after")));
  }
}

TEST(StoreDurability, AFullDiskIsOneLineAndLosesNothingStored) {
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  auto store = new_store(file);
  auto cell = sample_cell("");
  cell.reaction.clear();
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) cell.reaction.push_back(std::generate_canonical<double, 53>(random));

  // A limit on file sizes makes writing fail as a full disk does.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit small = old_limit;
  small.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_FSIZE, &small);
  std::set<std::string> stored;
  std::string message;
  for (int k = 0; k < 200 && message.empty(); ++k) {
    cell.key = "k" + std::to_string(k);
    const auto put = store.put_cell(cell);
    if (put) {
      stored.insert(cell.key);
    } else {
      message = put.error().message;
      EXPECT_EQ(put.error().code, ErrorCode::bad_input);
    }
  }
  EXPECT_THAT(message, HasSubstr("a.sqlite"));
  EXPECT_THAT(message, HasSubstr("run the command again"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("\n")));
  EXPECT_GT(stored.size(), 5U);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  // With room again the same store goes on.
  const auto put = store.put_cell(cell);
  EXPECT_TRUE(put) << put.error().message;
  stored.insert(cell.key);
  const auto contents = store.read(true);
  ASSERT_TRUE(contents) << contents.error().message;
  std::set<std::string> found;
  for (const auto& one : contents->cells) found.insert(one.key);
  EXPECT_EQ(found, stored);
}

TEST(StoreDurability, AFileThatIsDeletedMovedOrReplacedMeanwhileIsReportedWithTheNextWrite) {
  const auto remove = [](const std::filesystem::path& file) { std::filesystem::remove(file); };
  const auto remove_log = [](const std::filesystem::path& file) { std::filesystem::remove(file.string() + "-wal"); };
  const auto move = [](const std::filesystem::path& file) { std::filesystem::rename(file, file.string() + ".old"); };
  const auto replace = [](const std::filesystem::path& file) {
    std::filesystem::copy_file(file, file.string() + ".copy");
    std::filesystem::rename(file.string() + ".copy", file);
  };
  for (void (*const disturb)(const std::filesystem::path&) : {+remove, +remove_log, +move, +replace}) {
    const ScratchFolder folder;
    const auto file = folder / "a.sqlite";
    auto store = new_store(file);
    ASSERT_TRUE(store.put_cell(sample_cell("before")));
    EXPECT_TRUE(store.in_place());
    disturb(file);
    EXPECT_FALSE(store.in_place());
    const auto put = store.put_cell(sample_cell("after"));
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::bad_input);
    EXPECT_THAT(put.error().message, HasSubstr("a.sqlite"));
  }
}

}  // namespace
}  // namespace conebench
