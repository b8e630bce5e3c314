#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "store/night_folder.hpp"
#include "store/store.hpp"
#include "tests/cli/night_process.hpp"
#include "tests/cli/test_solvers.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// Nights whose stores are copies of one that was run, with times that the test chooses, so that what is reported of
/// them depends on no noise. A copy that was not judged is tonight: the command runs nothing and judges it.
class MadeNights : public ::testing::Test {
 protected:
  struct Kind {
    bool judged = true;
    bool finished = true;
    std::function<void(RunRecord&)> run = nullptr;
    /// How many times as long as 1 ms a cell of this configuration on this problem takes.
    std::function<double(const std::string& configuration, const std::string& family)> factor = nullptr;
  };

  void SetUp() override {
    std::ofstream(folder / "night.json") << R"({"name": "made", "solvers": ["NSGS", "CASCADE", "PGS-NCP", "NSN-AC"],
      "problems": [{"scene": "random", "options": {"contacts": 12}, "seeds": [1,2,3,4,5,6,7,8,9,10,11,12,13]},
                   {"scene": "random", "options": {"contacts": 14}, "seeds": [1, 2, 3], "family": "odd"}],
      "tolerances": [1e-4], "repeats": {"min": 3, "min_ms": 1, "max": 20}})";
    const auto run = conebench({"run", folder / "night.json", "--db", folder / "measured.sqlite"}, burning("none:0"));
    ASSERT_EQ(run.code, 0) << run.err;
    fs::create_directories(nights / "builds");
  }

  static RunOptions burning(const std::string& burn) { return with_test_solvers({"CONEBENCH_TEST_BURN=" + burn}); }

  /// The night of 1 May in `year`.
  fs::path add(int year, const Kind& kind) const {
    const fs::path file = nights / (std::to_string(year) + "-05-01-0123abcd.sqlite");
    fs::copy_file(folder / "measured.sqlite", file);
    auto store = Store::open(file, Store::Mode::read_write);
    auto contents = store->read();
    RunRecord run = contents->runs.front();
    run.started_utc = std::to_string(year) + "-05-01T02:00:00Z";
    if (!kind.finished) run.finished_utc.clear();
    if (kind.run) kind.run(run);
    EXPECT_TRUE(store->finish_run(run));
    const auto name_of = [&](const auto& records, const std::string& hash, auto member) {
      for (const auto& record : records) {
        if (record.hash == hash) return record.*member;
      }
      return std::string();
    };
    for (CellRecord& cell : contents->cells) {
      const std::string configuration =
          name_of(contents->configurations, cell.configuration, &ConfigurationRecord::label);
      const std::string family = name_of(contents->problems, cell.problem, &ProblemRecord::family);
      cell.total.minimum = 1e-3 * (kind.factor ? kind.factor(configuration, family) : 1.0);
      cell.total.median = 1.01 * cell.total.minimum;
      EXPECT_TRUE(store->update_times(cell));
    }
    if (kind.judged) {
      EXPECT_TRUE(write_night_result(file, {}));
    }
    return file;
  }
  fs::path add(int year) const { return add(year, Kind{}); }

  static double nsgs_takes_four_times(const std::string& configuration, const std::string&) {
    return configuration == "NSGS" ? 4.0 : 1.0;
  }

  /// The executable that the nights' build is kept as: the one under test, after `before`.
  void keep_build(const std::string& before) const {
    const auto night = read_night(folder / "measured.sqlite");
    ASSERT_TRUE(night);
    const fs::path kept = nights / "builds" / night->executable;
    fs::remove(kept);
    std::ofstream(kept) << "#!/bin/sh\n"
                        << before << "\nexec '" << executable_with_test_solvers().string() << "' \"$@\"\n";
    fs::permissions(kept, fs::perms::owner_all);
  }

  Outcome tonight(const std::string& burn = "none:0") const {
    return run_night({folder / "night.json", "--stores", nights.string()}, burning(burn));
  }

  long stores() const {
    return std::count_if(fs::directory_iterator(nights), fs::directory_iterator(),
                         [](const auto& entry) { return entry.path().extension() == ".sqlite"; });
  }

  const ScratchFolder folder;
  const fs::path nights = folder / "nights";
};

/// Both builds take the same time by the clock, as on a slower machine; then the candidate alone does.
TEST_F(MadeNights, AnAlarmIsWithdrawnWhereTheMachineWasSlowerAndConfirmedWhereTheBuildIs) {
  add(2001);
  const fs::path night = add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  keep_build("");
  const auto slower_machine = tonight("NSGS:0:min_ms=2");
  EXPECT_EQ(slower_machine.code, 0) << slower_machine.out << slower_machine.err;
  EXPECT_THAT(slower_machine.out, HasSubstr("NSGS at 0.0001: withdrawn"));
  const fs::path pages = fs::path(night).replace_extension(".comparison");
  EXPECT_THAT(text_of(pages / "night.xml"), Not(HasSubstr("<failure")));
  EXPECT_THAT(text_of(pages / "comparison.json"), HasSubstr("withdrawn"));
  EXPECT_EQ(stores(), 2) << "nothing but the alarm was run";

  fs::remove(night_result_file(night));
  keep_build("unset CONEBENCH_TEST_BURN");
  const auto slower_build = tonight("NSGS:0:min_ms=2");
  EXPECT_EQ(slower_build.code, 1) << slower_build.out << slower_build.err;
  EXPECT_THAT(slower_build.out, HasSubstr("NSGS at 0.0001: confirmed: slower"));
  EXPECT_THAT(text_of(pages / "night.xml"), HasSubstr("<failure"));
}

TEST_F(MadeNights, AnAlarmOfAFamilyStandsThoughTheWholeConfigurationIsTheSameSideBySide) {
  add(2001);
  add(2002, {.judged = false, .factor = [](const std::string& configuration, const std::string& family) {
               return configuration == "NSGS" && family == "odd" ? 1.2 : 1.0;
             }});
  keep_build("");
  const auto outcome = tonight();
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("slower by a family or by work: NSGS at 0.0001"));
}

TEST_F(MadeNights, WithoutTheExecutableOfThatNightAnAlarmStandsUnconfirmed) {
  add(2001);
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  const auto outcome = tonight();
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("*unconfirmed*"));
}

/// The eight digits of the one alarm in a summary.
std::string alarm_in(const std::string& summary) {
  const std::string word = "- alarm ";
  const auto at = summary.find(word);
  return at == std::string::npos ? std::string() : summary.substr(at + word.size(), 8);
}

TEST_F(MadeNights, AnAlarmStandsEveryNightUntilItIsAccepted) {
  add(2001);
  keep_build("exit 1");  // else each night is run side by side with its own build, and withdrawn
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  const auto second = tonight();
  EXPECT_EQ(second.code, 1) << second.out << second.err;
  const std::string alarm = alarm_in(second.out);
  ASSERT_EQ(alarm.size(), 8U) << second.out;

  const fs::path newest = add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  const auto third = tonight();
  EXPECT_EQ(third.code, 1) << third.out << third.err;
  EXPECT_EQ(alarm_in(third.out), alarm) << third.out;
  EXPECT_THAT(third.out, HasSubstr("since 2002-05-01-0123abcd.sqlite"));
  const std::string page = text_of(nights / "history/history.md");
  EXPECT_THAT(page, HasSubstr("slower +300.0 %")) << "the history says what the comparison says";
  EXPECT_THAT(page, HasSubstr(alarm));
  EXPECT_THAT(page, HasSubstr("not yet decidable: 3 of 7 nights"));

  expect_failure(conebench({"accept", "00000000", "--why", "x", "--stores", nights.string()}), 3, {alarm});
  expect_failure(conebench({"accept", alarm, "--why", " ", "--stores", nights.string()}), 2, {"--why"});
  const auto accepted =
      conebench({"accept", alarm, "--who", "ann", "--why", "exact search", "--stores", nights.string()});
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("accepted by ann: exact search"));

  const fs::path quiet = add(2004, {.judged = false, .factor = nsgs_takes_four_times});
  const auto fourth = run_night({folder / "night.json", "--stores", nights.string(), "--keep", "1"}, burning("none:0"));
  EXPECT_EQ(fourth.code, 0) << fourth.out << fourth.err;
  EXPECT_THAT(fourth.out, HasSubstr("accepted by ann: exact search"));
  EXPECT_THAT(fourth.out, HasSubstr(newest.filename().string())) << "what it is compared with";
  auto store = Store::open(quiet, Store::Mode::read_only);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->acceptances()->size(), 1U) << "it outlives the night that had it";
}

TEST_F(MadeNights, CompareTakesWhatIsAcceptedInTheNewStoreAndMergeKeepsIt) {
  const fs::path good = add(2001), slow = add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  keep_build("exit 1");
  const std::string alarm = alarm_in(tonight().out);
  const auto compared = [&](const fs::path& candidate) {
    return conebench({"compare", good.string(), candidate.string()});
  };
  EXPECT_EQ(compared(slow).code, 1);
  ASSERT_EQ(conebench({"accept", alarm, "--who", "ann", "--why", "exact search", "--stores", nights.string()}).code, 0);
  const std::string merged = folder / "merged.sqlite";
  ASSERT_EQ(conebench({"merge", slow.string(), "--out", merged}).code, 0);
  for (const fs::path& candidate : {slow, fs::path(merged)}) {
    const auto outcome = compared(candidate);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("note: accepted: " + alarm));
  }
  const fs::path slower =
      add(2003, {.judged = false, .factor = [](const std::string& configuration, const std::string&) {
                   return configuration == "NSGS" ? 6.0 : 1.0;
                 }});
  EXPECT_EQ(tonight().code, 1) << "nobody accepted so much";
  EXPECT_EQ(compared(slower).code, 1);
}

TEST_F(MadeNights, AnAlarmAgainstThePinnedReferenceIsAcceptedAsAnyOther) {
  const std::string release = folder / "release.sqlite";
  fs::rename(add(2001, {.judged = false}), release);
  add(2002, {.factor = nsgs_takes_four_times});
  keep_build("exit 1");
  const auto pinned = [&] {
    return run_night({folder / "night.json", "--stores", nights.string(), "--pin", release}, burning("none:0"));
  };
  add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  const auto failed = pinned();
  EXPECT_EQ(failed.code, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("nothing worse"));
  EXPECT_THAT(failed.out, HasSubstr("worse than the pinned reference"));
  const std::string alarm = alarm_in(failed.out);
  ASSERT_EQ(alarm.size(), 8U) << failed.out;
  EXPECT_THAT(failed.out, HasSubstr(", against the pinned reference"));

  add(2004, {.judged = false, .factor = nsgs_takes_four_times});
  const auto again = pinned();
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_EQ(alarm_in(again.out), alarm) << "it stands";
  EXPECT_THAT(again.out, HasSubstr("baseline 2003-05-01-0123abcd.sqlite"))
      << "nights are compared with each other as ever";

  ASSERT_EQ(conebench({"accept", alarm, "--who", "ann", "--why", "exact search", "--stores", nights.string()}).code, 0);
  const fs::path quiet = add(2005, {.judged = false, .factor = nsgs_takes_four_times});
  const auto accepted = pinned();
  EXPECT_EQ(accepted.code, 0) << accepted.out << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("accepted by ann: exact search"));
  EXPECT_EQ(conebench({"compare", release, quiet.string()}).code, 0);

  add(2006, {.judged = false, .factor = [](const std::string& configuration, const std::string&) {
               return configuration == "NSGS" ? 6.0 : 1.0;
             }});
  const auto grown = pinned();
  EXPECT_EQ(grown.code, 1) << grown.out << grown.err;
  EXPECT_THAT(grown.out, HasSubstr("worse than the pinned reference"));
}

TEST_F(MadeNights, AnAlarmAgainstTheNightBeforeCoversThePinnedReference) {
  const std::string release = folder / "release.sqlite";
  fs::rename(add(2001, {.judged = false}), release);
  add(2002);
  keep_build("exit 1");
  const auto pinned = [&] {
    return run_night({folder / "night.json", "--stores", nights.string(), "--pin", release}, burning("none:0"));
  };
  add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  const auto failed = pinned();
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr(", against the pinned reference")));
  ASSERT_EQ(conebench({"accept", alarm_in(failed.out), "--why", "known", "--stores", nights.string()}).code, 0);
  add(2004, {.judged = false, .factor = nsgs_takes_four_times});
  const auto accepted = pinned();
  EXPECT_EQ(accepted.code, 0) << accepted.out << accepted.err;
}

TEST_F(MadeNights, AnAlarmIsGoneWhenTheTimeIsBack) {
  add(2001);
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_EQ(tonight().code, 1);
  add(2003, {.judged = false});
  const auto back = tonight();
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_THAT(back.out, HasSubstr("gone: "));
  EXPECT_THAT(back.out, HasSubstr("2001-05-01-0123abcd.sqlite"));
  add(2004, {.judged = false});
  const auto next = tonight();
  EXPECT_EQ(next.code, 0) << next.out << next.err;
  EXPECT_THAT(next.out, Not(HasSubstr("gone: ")));
}

TEST_F(MadeNights, AnAlarmIsGoneWhenALaterNightWithdrawsItSideBySide) {
  add(2001);
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_EQ(tonight().code, 1) << "unconfirmed";
  add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  const auto third = tonight();
  EXPECT_EQ(third.code, 0) << third.out << third.err;
  EXPECT_THAT(third.out, HasSubstr("NSGS at 0.0001: withdrawn"));
  EXPECT_THAT(third.out, HasSubstr("gone: "));
}

TEST_F(MadeNights, ANightThatCannotTellLeavesTheAlarmStanding) {
  add(2001);
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_EQ(tonight().code, 1);
  add(2003, {.judged = false, .run = [](RunRecord& run) { run.machine.cores = 999; }});
  const auto other = tonight();
  EXPECT_EQ(other.code, 1) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("not cleared tonight"));
}

TEST_F(MadeNights, ANightOfTheFutureSilencesNoAlarmOfTheHistoryAndIsNotComparedWith) {
  for (int year = 2001; year <= 2006; ++year) add(year);
  add(2007, {.factor = nsgs_takes_four_times});
  add(2008, {.judged = false, .factor = nsgs_takes_four_times});
  add(2999);
  const auto outcome = tonight();
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("NSGS at 1e-4 became"));
  EXPECT_THAT(outcome.out, HasSubstr("2007-05-01-0123abcd"));
  EXPECT_EQ(stores(), 9);
}

TEST_F(MadeNights, AnAlarmOfAFamilyStandsThroughANightThatJudgesNoFamily) {
  const auto odd_is_slower = [](double all) {
    return [all](const std::string& configuration, const std::string& family) {
      return all * (configuration == "NSGS" && family == "odd" ? 1.2 : 1.0);
    };
  };
  add(2001);
  keep_build("exit 1");
  add(2002, {.judged = false, .factor = odd_is_slower(1.0)});
  const auto second = tonight();
  EXPECT_EQ(second.code, 1) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("is slower on odd by 20.0 %"));
  add(2003, {.judged = false, .factor = odd_is_slower(1.1)});
  const auto third = tonight();
  EXPECT_EQ(third.code, 1) << third.out << third.err;
  EXPECT_THAT(third.out, HasSubstr("not cleared tonight"));
  add(2004, {.judged = false});
  const auto back = tonight();
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_THAT(back.out, HasSubstr("gone: "));
}

TEST_F(MadeNights, AnOldAcceptanceDoesNotSilenceALaterCreep) {
  const auto creep = [](const std::string& configuration, const std::string&) {
    return configuration == "NSGS" ? 1.08 : 1.0;
  };
  for (int year = 2001; year <= 2006; ++year) add(year);
  const fs::path last = add(2007, {.factor = creep}), newest = add(2008, {.judged = false, .factor = creep});
  keep_build("exit 1");
  const auto accept_at = [&](const std::string& utc) {
    auto store = Store::open(last, Store::Mode::read_write);
    ASSERT_TRUE(store);
    const CellRecord cell = store->read()->cells.front();
    const Alarm alarm{.suite = "made",
                      .kind = "slower",
                      .configuration = "NSGS",
                      .tolerance = 1e-4,
                      .stop_by = cell.stop_by,
                      .verdict = cell.verdict,
                      .start = cell.start,
                      .since = "2001-05-01-0123abcd.sqlite",
                      .since_utc = "2001-05-01T02:00:00Z",
                      .effect = 0.1,
                      .by_time = true,
                      .cells = 1};
    ASSERT_TRUE(store->put_acceptance({alarm.id(), "ann", "known", utc, to_json(alarm).dump()}));
  };
  accept_at("2002-05-01T09:00:00Z");
  const auto creeping = tonight();
  EXPECT_EQ(creeping.code, 1) << creeping.out << creeping.err;
  EXPECT_THAT(creeping.out, HasSubstr("- alarm "));
  fs::remove(night_result_file(newest));
  accept_at("2007-05-01T09:00:00Z");
  const auto known = tonight();
  EXPECT_EQ(known.code, 0) << known.out << known.err;
  EXPECT_THAT(known.out, HasSubstr("accepted by ann: known"));
}

TEST_F(MadeNights, AnAcceptanceEndsWhenItsAlarmIsGone) {
  add(2001);
  keep_build("exit 1");
  add(2002, {.judged = false, .factor = nsgs_takes_four_times});
  ASSERT_EQ(conebench({"accept", alarm_in(tonight().out), "--why", "known", "--stores", nights.string()}).code, 0);
  const auto acceptances = [](const fs::path& night) {
    auto store = Store::open(night, Store::Mode::read_only);
    EXPECT_TRUE(store);
    return store->acceptances()->size();
  };
  const fs::path still = add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_THAT(tonight().out, Not(HasSubstr("gone: ")));
  EXPECT_EQ(acceptances(still), 1U);
  add(2004, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_THAT(tonight().out, ::testing::ContainsRegex("- [0-9a-f]+: NSGS.*accepted by")) << "until it is gone";
  add(2005, {.judged = false});
  const std::string gone = tonight().out;
  EXPECT_THAT(gone, HasSubstr("gone: "));
  EXPECT_THAT(gone, Not(::testing::ContainsRegex("- [0-9a-f]+: NSGS"))) << "accepted no more";
  const fs::path next = add(2006, {.judged = false});
  EXPECT_EQ(tonight().code, 0);
  EXPECT_EQ(acceptances(next), 0U);
}

TEST_F(MadeNights, ANightWithoutTheReferenceEndsNoAlarmAgainstIt) {
  const std::string release = folder / "release.sqlite";
  fs::rename(add(2001, {.judged = false}), release);
  add(2002, {.factor = nsgs_takes_four_times});
  keep_build("exit 1");
  const auto pinned = [&] {
    return run_night({folder / "night.json", "--stores", nights.string(), "--pin", release}, burning("none:0"));
  };
  add(2003, {.judged = false, .factor = nsgs_takes_four_times});
  EXPECT_EQ(pinned().code, 1);
  add(2004, {.judged = false, .factor = nsgs_takes_four_times});
  const auto without = tonight();
  EXPECT_EQ(without.code, 1) << without.out << without.err;
  EXPECT_THAT(without.out, HasSubstr("not cleared tonight"));
  add(2005, {.judged = false});
  const auto back = pinned();
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_THAT(back.out, HasSubstr("gone: "));
}

TEST_F(MadeNights, ADamagedNightIsLeftOutForTheGoodOneBeforeIt) {
  add(2001);
  const fs::path damaged = add(2002);
  ASSERT_TRUE(read_night(damaged));
  const auto changed = fs::last_write_time(damaged);
  const auto size = fs::file_size(damaged);
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8192);
    file << std::string(static_cast<std::size_t>(size) - 8192, '\xFF');
  }
  fs::last_write_time(damaged, changed);
  add(2003, {.judged = false});
  const auto outcome = tonight();
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("left out: " + damaged.string()));
  EXPECT_THAT(outcome.out, HasSubstr("2001-05-01-0123abcd"));
}

TEST_F(MadeNights, ABrokenNightOfAnotherProcessorOrLibraryStopsNoOther) {
  add(2001, {.judged = false, .finished = false, .run = [](RunRecord& run) { run.machine.cpu = "Another CPU"; }});
  EXPECT_EQ(tonight().code, 0);
  EXPECT_EQ(stores(), 2);
  fs::remove_all(nights);
  fs::create_directory(nights);
  add(2001,
      {.judged = false, .finished = false, .run = [](RunRecord& run) { run.build.libraries.begin()->second = "0.0"; }});
  const auto outcome = tonight();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(stores(), 2);
}

}  // namespace
}  // namespace conebench::testing
