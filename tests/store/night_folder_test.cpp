#include "store/night_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/unfinished.hpp"
#include "store/store_lock.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

using conebench::testing::sample_cell;
using conebench::testing::sample_configuration;
using conebench::testing::sample_problem;
using conebench::testing::sample_run;
using conebench::testing::ScratchFolder;
using ::testing::ElementsAre;
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
    (void)store->put_configuration(sample_configuration("s1"));
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
  std::vector<std::string> bases() const {
    return names(
        bases_of(nights(), folder / "tonight.sqlite", noon, last_alarms(nights(), folder / "tonight.sqlite", noon)));
  }

  NightOrigin origin() const {
    return {sample_run().build, sample_run().machine.cpu, hash_of_text(sample_run().suite_text)};
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
  EXPECT_EQ(nights().notes.size(), 1U);
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

Alarm slower_since(const std::string& store, int day, double effect = 0.1) {
  Alarm alarm;
  alarm.suite = "nightly";
  alarm.kind = "slower";
  alarm.configuration = "NSGS";
  alarm.tolerance = 1e-6;
  alarm.since = store;
  alarm.since_utc = "2024-05-0" + std::to_string(day) + "T02:00:00Z";
  alarm.effect = effect;
  alarm.by_time = true;
  return alarm;
}

TEST_F(NightFolderTest, ANightWhoseAlarmStandsIsNoBaseUntilItIsAccepted) {
  const std::string good = "2024-05-01-0123abcd.sqlite", slow = "2024-05-02-0123abcd.sqlite",
                    still = "2024-05-03-0123abcd.sqlite";
  const Alarm alarm = slower_since(slow, 2);
  add(good, 1);
  add(slow, 2, {.result = NightResult{.exit_code = 1, .alarms = {alarm}}});
  const auto newest = add(still, 3, {.result = NightResult{.exit_code = 1, .alarms = {alarm}}});
  EXPECT_THAT(bases(), ElementsAre(good, still, slow));
  const auto known = last_alarms(nights(), folder / "tonight.sqlite", noon);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].id(), alarm.id());
  EXPECT_FALSE(known[0].accepted);
  {
    auto store = Store::open(newest, Store::Mode::read_write);
    const AcceptanceRecord by_ann{alarm.id(), "ann", "exact line search", "2024-05-03T09:00:00Z"};
    EXPECT_TRUE(store->put_acceptance(by_ann));
    EXPECT_TRUE(store->put_acceptance(by_ann)) << "a second time is nothing new";
    EXPECT_EQ(store->acceptances()->size(), 1U);
  }
  const auto accepted = last_alarms(nights(), folder / "tonight.sqlite", noon);
  ASSERT_TRUE(accepted.at(0).accepted);
  EXPECT_EQ(accepted[0].accepted->who, "ann");
  EXPECT_THAT(bases(), ElementsAre(still, slow, good));
}

std::optional<Alarm> nothing_is_gone(const Alarm& alarm) { return alarm; }

TEST(FollowAlarms, OneStandsUntilSomethingClearsItAndKeepsItsName) {
  const auto always = [](const Alarm&) -> std::optional<Alarm> { return std::nullopt; };
  const Alarm first = slower_since("a", 1);
  const auto again = follow_alarms({slower_since("b", 2)}, {first}, nothing_is_gone);
  ASSERT_EQ(again.standing.size(), 1U);
  EXPECT_EQ(again.standing[0].id(), first.id());
  EXPECT_EQ(again.standing[0].since, "a");
  const auto unseen = follow_alarms({}, {first}, nothing_is_gone);
  EXPECT_EQ(unseen.standing.size(), 1U);
  EXPECT_EQ(unseen.seen, 0U);
  const auto gone = follow_alarms({}, {first}, always);
  EXPECT_EQ(gone.gone.size(), 1U);
  EXPECT_THAT(gone.standing, IsEmpty());
}

constexpr const char *before_it = "2024-05-01T02:00:00Z", *from_it_on = "2024-05-02T02:00:00Z";

TEST(FollowAlarms, AnAcceptedOneIsQuietUnlessItGrowsOrTheBaseHasIt) {
  Alarm accepted = slower_since("a", 2, 0.10);
  accepted.accepted = AcceptanceRecord{accepted.id(), "ann", "agreed", "2024-05-03T09:00:00Z"};
  EXPECT_THAT(follow_alarms({}, {accepted}, nothing_is_gone).standing, IsEmpty())
      << "tonight is compared with that night";
  const std::vector<Alarm> all = {accepted};
  EXPECT_EQ(reported_by(all, slower_since("b", 3, 0.12), before_it), &all[0]);
  EXPECT_EQ(reported_by(all, slower_since("b", 3, 0.12), ""), &all[0]) << "over many nights";
  EXPECT_EQ(reported_by(all, slower_since("b", 4, 0.12), ""), nullptr) << "that began after it was accepted";
  EXPECT_EQ(reported_by(all, slower_since("b", 3, 0.2), before_it), nullptr) << "it grew";
  EXPECT_EQ(reported_by(all, slower_since("b", 3, 0.05), from_it_on), nullptr) << "that comes on top of it";
  Alarm flaky = accepted;
  flaky.kind = "flaky";
  const std::vector<Alarm> flaky_ones = {flaky};
  EXPECT_EQ(reported_by(flaky_ones, flaky, from_it_on), &flaky_ones[0]) << "the base is flaky, too";

  const auto shown = follow_alarms({accepted}, {accepted}, nothing_is_gone);
  EXPECT_THAT(shown.standing, IsEmpty());
  ASSERT_EQ(shown.accepted.size(), 1U);
  const auto grown = follow_alarms({slower_since("b", 2, 0.2)}, {accepted}, nothing_is_gone);
  ASSERT_EQ(grown.standing.size(), 1U);
  EXPECT_NE(grown.standing[0].id(), accepted.id());
}

TEST(FollowAlarms, WhatTonightDoesNotShowToBeGoneStaysPartOfWhatItShows) {
  Alarm lost;
  lost.kind = "lost";
  lost.cells = 1;
  lost.problems = {"a"};
  Alarm another = lost;
  another.problems = {"b"};
  const auto both = follow_alarms({another}, {lost}, nothing_is_gone);
  ASSERT_EQ(both.standing.size(), 1U);
  EXPECT_THAT(both.standing[0].problems, ElementsAre("a", "b"));
  EXPECT_EQ(both.standing[0].cells, 2);
}

TEST(Alarms, WhatIsNotWithinTheFactsOfAnAlarmIsWorse) {
  const Alarm time = slower_since("a", 1, 0.10);
  Alarm work;
  work.kind = "slower";
  work.work = 0.03;
  work.by_work = true;
  Alarm much = work;
  much.work = 2.3;
  EXPECT_TRUE(much.worse_than(work));
  EXPECT_FALSE(work.worse_than(much));
  EXPECT_TRUE(work.worse_than(time)) << "who accepts time accepts no work";
  EXPECT_TRUE(time.worse_than(work));

  Alarm family = time;
  family.families = {{"odd", 0.12}};
  EXPECT_FALSE(family.worse_than(time)) << "part of the whole";
  family.families["odd"] = 0.3;
  EXPECT_TRUE(family.worse_than(time));
  Alarm other_family = family;
  other_family.by_time = false;
  other_family.families = {{"chains", 0.3}};
  EXPECT_TRUE(other_family.worse_than(family));

  Alarm lost, another, digits, fewer;
  lost.problems = {"a"};
  another.problems = {"b"};
  lost.cells = another.cells = 1;
  EXPECT_TRUE(another.worse_than(lost));
  EXPECT_FALSE(lost.worse_than(lost));
  digits.digits = 2.0;
  fewer.digits = 12.0;
  EXPECT_TRUE(fewer.worse_than(digits));
  EXPECT_FALSE(digits.worse_than(fewer));
}

TEST(Alarms, AreReadBackWithTheirFacts) {
  Alarm alarm = slower_since("a", 1);
  alarm.families = {{"odd", 0.2}};
  alarm.more_work = {{"chains", 0.3}};
  alarm.problems = {"hash-1", "hash-2"};
  alarm.work = 0.05;
  alarm.by_work = true;
  alarm.digits = 1.5;
  const auto read = alarm_of_json(to_json(alarm));
  ASSERT_TRUE(read);
  EXPECT_FALSE(alarm.worse_than(*read));
  EXPECT_FALSE(read->worse_than(alarm));
  EXPECT_EQ(read->problems, alarm.problems);
  EXPECT_EQ(read->more_work, alarm.more_work);
}

TEST_F(NightFolderTest, ANightsResultNamesTheAcceptedAlarmsThatAreGone) {
  const auto night = add("a.sqlite", 1, {.result = NightResult{.ended = {"01234567"}}});
  EXPECT_THAT(read_night_result(night).value().ended, ElementsAre("01234567"));
}

TEST(FollowAlarms, OneAgainstThePinnedRunIsAnotherAndTellsOfThatRunAlone) {
  Alarm pinned = slower_since("a", 2);
  pinned.pinned_utc = "2023-01-01T00:00:00Z";
  EXPECT_NE(pinned.id(), slower_since("a", 2).id());
  EXPECT_EQ(alarm_of_json(to_json(pinned)).value().pinned_utc, pinned.pinned_utc);
  EXPECT_EQ(alarmed_since({pinned}), "") << "nights are compared with each other as ever";
  const std::vector<Alarm> all = {pinned};
  EXPECT_EQ(reported_by(all, slower_since("b", 3), pinned.pinned_utc), &all[0]);
  EXPECT_EQ(reported_by(all, slower_since("b", 3), before_it), nullptr);
  EXPECT_EQ(reported_by(all, slower_since("b", 3), ""), nullptr);
  EXPECT_EQ(follow_alarms({slower_since("b", 3)}, {pinned}, nothing_is_gone).standing.size(), 2U);
}

TEST_F(NightFolderTest, AStoreTellsWhatWasAcceptedWithoutTheNightsResult) {
  const auto night = add("2024-05-02-0123abcd.sqlite", 2);
  const Alarm alarm = slower_since("2024-05-02-0123abcd.sqlite", 2);
  auto store = Store::open(night, Store::Mode::read_write);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put_acceptance({alarm.id(), "ann", "agreed", "2024-05-03T09:00:00Z", to_json(alarm).dump()}));
  ASSERT_TRUE(store->put_acceptance({"01234567", "bob", "by an older Conebench", "2024-05-03T09:00:00Z"}));
  const auto contents = store->read_outcomes();
  ASSERT_EQ(contents->acceptances.size(), 2U);
  const auto accepted = accepted_alarms(contents->acceptances);
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_TRUE(accepted[0].same_subject(alarm));
  EXPECT_EQ(accepted[0].effect, alarm.effect);
  EXPECT_EQ(accepted[0].accepted.value().who, "ann");
}

}  // namespace
}  // namespace conebench
