#include "runners/store/night_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unfinished.hpp"
#include "runners/store/store_lock.hpp"
#include "tests/runners/store/sample_records.hpp"

namespace conebench {
namespace {

using conebench::testing::sample_cell;
using conebench::testing::sample_problem;
using conebench::testing::sample_run;
using conebench::testing::sample_setting;
using conebench::testing::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* noon = "2024-05-08T12:00:00Z";

/// Stores of one cell each, on days of May 2024.
class NightFolderTest : public ::testing::Test {
 protected:
  struct Kind {
    CellStatus status = CellStatus::converged;
    std::string side = {};
    bool finished = true;
    std::optional<NightResult> result = NightResult{};
  };

  std::filesystem::path add(const std::string& name, int day, const Kind& kind) const {
    const std::filesystem::path file = folder / name;
    auto store = Store::open(file, Store::Mode::read_write);
    RunRecord run = sample_run();
    run.started_utc = "2024-05-0" + std::to_string(day) + "T02:00:00Z";
    if (kind.finished) run.finished_utc = run.started_utc;
    run.side = kind.side;
    (void)store->begin_run(run);
    (void)store->put_problem(sample_problem("p1"));
    (void)store->put_setting(sample_setting("s1"));
    CellRecord cell = sample_cell("k1");
    cell.status = kind.status;
    cell.repeats = kind.status == CellStatus::converged ? 5 : 0;
    EXPECT_TRUE(store->put_cell(cell));
    if (kind.result) {
      EXPECT_TRUE(write_night_result(file, *kind.result));
    }
    return file;
  }
  std::filesystem::path add(const std::string& name, int day) const { return add(name, day, Kind{}); }

  NightFolder nights() const { return *read_night_folder(folder.path(), "nightly"); }
  static std::vector<std::string> names(const std::vector<const NightSummary*>& nights) {
    std::vector<std::string> found;
    for (const NightSummary* night : nights) found.push_back(night->store.filename().string());
    return found;
  }
  std::vector<std::string> bases() const { return names(bases_of(nights(), folder / "tonight.sqlite", noon)); }

  NightOrigin origin() const {
    return {sample_run().build, sample_run().machine.cpu, hash_of_suite(sample_run().suite_text)};
  }
  std::string tonight(const NightOrigin& from) const {
    return store_of_tonight(folder.path(), nights(), noon, from).filename().string();
  }

  const ScratchFolder folder;
};

TEST_F(NightFolderTest, AStoreWithAnotherNameAndWithoutAResultIsNoNight) {
  add("2024-05-01-0123abcd.sqlite", 1, {.result = std::nullopt});
  add("2024-05-02-0123abcd-12.sqlite", 2, {.result = std::nullopt});
  add("named.sqlite", 3);
  for (const char* name : {"release-1.sqlite", "2024-05-04-0123abc.sqlite", "2024-05-04-0123abcd-x.sqlite"}) {
    add(name, 4, {.result = std::nullopt});
  }
  EXPECT_EQ(nights().nights.size(), 3U);
  EXPECT_EQ(read_store_folder(folder.path())->nights.size(), 6U);
}

TEST_F(NightFolderTest, ASideBySideRunIsNoNightWhateverItsName) {
  add("2024-05-01-0123abcd.sqlite", 1, {.side = "new"});
  EXPECT_THAT(nights().nights, IsEmpty());
  EXPECT_THAT(nights().notes, ElementsAre(HasSubstr("side by side")));
}

TEST_F(NightFolderTest, ANightThatComparedNothingIsGoodUnlessItBrokeWasNotJudgedOrNothingAnswered) {
  add("a.sqlite", 1, {.result = NightResult{.exit_code = 5}});
  add("b.sqlite", 2, {.result = NightResult{.exit_code = 1, .broke = true}});
  add("c.sqlite", 3, {.status = CellStatus::timeout});
  add("2024-05-04-0123abcd.sqlite", 4, {.result = std::nullopt});
  add("e.sqlite", 5, {.finished = false});
  const auto found = nights().nights;
  ASSERT_EQ(found.size(), 5U);
  EXPECT_TRUE(is_good(found[0]));
  EXPECT_EQ(flaw_of(found[1]), "something broke in it");
  EXPECT_EQ(flaw_of(found[2]), "no solver answered in it");
  EXPECT_EQ(flaw_of(found[3]), "it was not judged");
  EXPECT_FALSE(is_good(found[4]));
}

TEST_F(NightFolderTest, BasesAreTheNewestGoodNightsThenThoseOfTheFutureThenThoseWithAFlaw) {
  add("old.sqlite", 1);
  add("broken.sqlite", 3, {.result = NightResult{.exit_code = 4, .broke = true}});
  add("new.sqlite", 2);
  add("future.sqlite", 9);
  EXPECT_THAT(bases(), ElementsAre("new.sqlite", "old.sqlite", "future.sqlite", "broken.sqlite"));
}

TEST_F(NightFolderTest, TheNewestNightThatBrokeOffOrWasNotJudgedIsGoneOnWith) {
  const std::string name = "2024-05-07-0123abcd.sqlite";
  add("future.sqlite", 9);
  add(name, 7, {.finished = false});
  EXPECT_EQ(tonight(origin()), name);
  delete_night(folder / name);
  add(name, 7, {.result = std::nullopt});
  EXPECT_EQ(tonight(origin()), name) << "complete, and to be judged";
  ASSERT_TRUE(write_night_result(folder / name, {}));
  EXPECT_EQ(tonight(origin()), "2024-05-08-01234567.sqlite");
}

TEST_F(NightFolderTest, AnotherProcessorLibraryBuildOrSuiteStartsANewStore) {
  add("2024-05-07-0123abcd.sqlite", 7, {.finished = false, .result = std::nullopt});
  const std::string fresh = "2024-05-08-01234567.sqlite";
  NightOrigin other = origin();
  other.cpu = "Another CPU";
  EXPECT_EQ(tonight(other), fresh);
  other = origin();
  other.build.libraries["eigen"] = "5";
  EXPECT_EQ(tonight(other), fresh);
  other = origin();
  other.suite_hash = "00000000";
  EXPECT_EQ(tonight(other), fresh);
  other = origin();
  other.build.executable = "fedcba9876543210";
  EXPECT_EQ(tonight(other), "2024-05-08-fedcba98.sqlite");
}

TEST_F(NightFolderTest, AResultWhoseStoreIsGoneKeepsItsName) {
  ASSERT_TRUE(write_night_result(folder / "2024-05-08-01234567.sqlite", {}));
  EXPECT_EQ(tonight(origin()), "2024-05-08-01234567-2.sqlite");
}

TEST_F(NightFolderTest, BeyondTheNewestOnlyWhatIsNotSparedIsDeleted) {
  const auto first = add("a.sqlite", 1), second = add("b.sqlite", 2), third = add("c.sqlite", 3);
  add("release-1.sqlite", 1, {.result = std::nullopt});
  EXPECT_THAT(nights_to_delete(nights(), 1, {}), ElementsAre(first, second));
  EXPECT_THAT(nights_to_delete(nights(), 1, {second, ""}), ElementsAre(first));
  EXPECT_THAT(nights_to_delete(nights(), 3, {}), IsEmpty());
}

TEST_F(NightFolderTest, WhatAKilledNightDidNotBeginIsRemovedByTheNext) {
  const auto begun = add("2024-05-01-1f3a9c77.sqlite", 1);
  const auto empty = folder / "2024-05-02-1f3a9c77.sqlite", made = folder / "2024-05-03-1f3a9c77.sqlite",
             own = folder / "mine.sqlite", held = folder / "2024-05-04-1f3a9c77.sqlite";
  for (const auto& file : {empty, own, held}) testing::write_text(file, "");
  { ASSERT_TRUE(Store::open(made, Store::Mode::read_write)); }
  const auto lock = StoreLock::acquire(held);
  ASSERT_TRUE(lock);
  constexpr const char* no_process = ".unfinished-2147483647";
  testing::write_text(folder / ("a.json" + std::string(no_process)), "");
  const auto of_this_one = unfinished_path(folder / "a.json");
  testing::write_text(of_this_one, "");
  remove_what_was_not_begun(folder.path());
  const auto is_there = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  EXPECT_TRUE(is_there(begun) && is_there(own) && is_there(held) && is_there(of_this_one));
  EXPECT_FALSE(is_there(empty) || is_there(made) || is_there(folder / ("a.json" + std::string(no_process))));
}

}  // namespace
}  // namespace conebench
