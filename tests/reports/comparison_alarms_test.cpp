#include "reports/comparison/alarms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/comparison/describe.hpp"
#include "reports/text.hpp"
#include "tests/reports/comparison_runs.hpp"

namespace conebench::reports {
namespace {

using ::testing::HasSubstr;

/// Somebody accepts, in the candidate, the comparison's alarm of this kind.
Alarm accept(StoreContents& candidate, const Comparison& comparison, const std::string& kind) {
  Alarm night;
  night.suite = candidate.runs[0].suite_name;
  night.since = "tuesday.sqlite";
  night.since_utc = candidate.runs[0].started_utc;
  const Alarm alarm = alarms_of(comparison, {kind}, night).at(0);
  candidate.acceptances.push_back({alarm.id(), "ann", "exact search", "2026-11-03T08:00:00Z", to_json(alarm).dump()});
  return alarm;
}

TEST_F(Compare, AnAcceptedAlarmIsReportedInEveryFormatAndFailsNothing) {
  slow_down(candidate, "SSN", 1.1);
  ASSERT_TRUE(compared(baseline, candidate).failed);
  const Alarm alarm = accept(candidate, compared(baseline, candidate), "slower");
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_FALSE(comparison.failed);
  EXPECT_FALSE(configuration_of(comparison, "SSN").failed);
  EXPECT_THAT(headline(comparison), ::testing::StartsWith("nothing worse that was not accepted (1 alarm accepted)"));
  for (const std::string& text : {comparison_terminal(comparison, false, 1000), comparison_markdown(comparison),
                                  comparison_json(comparison), comparison_page(comparison)}) {
    EXPECT_THAT(text, HasSubstr("accepted by ann: exact search"));
  }
  const auto json = nlohmann::json::parse(comparison_json(comparison));
  ASSERT_EQ(json["accepted"].size(), 1U);
  EXPECT_EQ(json["accepted"][0]["id"], alarm.id());
  EXPECT_EQ(json["accepted"][0]["accepted"]["who"], "ann");

  slow_down(candidate, "SSN", 1.1);
  EXPECT_TRUE(compared(baseline, candidate).failed) << "nobody accepted so much";
}

TEST_F(Compare, WhatComesOnTopOfAnAcceptedAlarmIsNotAccepted) {
  slow_down(candidate, "SSN", 1.1);
  accept(candidate, compared(baseline, candidate), "slower");
  StoreContents later = complete_run(3);
  slow_down(later, "SSN", 1.2);
  later.acceptances = candidate.acceptances;
  EXPECT_TRUE(compared(candidate, later).failed);
}

void lose(StoreContents& store, std::size_t problem, CellStatus status) {
  CellRecord& cell = cell_of(store, "NSGS", problem);
  cell.solved = cell.claimed = false;
  cell.status = status;
}

void work_on(StoreContents& store, std::int64_t iterations) {
  for (std::size_t p = 0; p < problems; ++p) {
    cell_of(store, "NSGS", p).iterations = cell_of(store, "NSGS", p).operator_products = iterations;
  }
}

TEST_F(Compare, AnAcceptedLossOfOneCellIsNoneOfAnother) {
  lose(candidate, 0, CellStatus::stalled);
  accept(candidate, compared(baseline, candidate), "lost");
  EXPECT_FALSE(compared(baseline, candidate).failed);
  StoreContents later = complete_run(3);
  lose(later, 1, CellStatus::stalled);
  later.acceptances = candidate.acceptances;
  EXPECT_TRUE(compared(baseline, later).failed);
}

TEST_F(Compare, AcceptedWorkOfAFewPercentIsNotTenTimesTheWork) {
  work_on(candidate, 42);
  accept(candidate, compared(baseline, candidate), "slower");
  EXPECT_FALSE(compared(baseline, candidate).failed);
  work_on(candidate, 400);
  EXPECT_TRUE(compared(baseline, candidate).failed);
}

Alarm alarm_in(const StoreContents& baseline, const StoreContents& candidate, const std::string& kind) {
  Alarm night;
  night.since_utc = candidate.runs[0].started_utc;
  return alarms_of(compared(baseline, candidate), {kind}, night).at(0);
}

TEST_F(Compare, AFamilysAlarmStandsUntilItsTimesAreBack) {
  slow_down(candidate, "NSGS", 1.2, "chains");
  const Alarm alarm = alarm_in(baseline, candidate, "slower");
  ASSERT_TRUE(alarm.families.contains("chains"));
  StoreContents unjudged = complete_run(3);
  slow_down(unjudged, "NSGS", 1.2, "chains");
  for (const std::string& solver : solvers) slow_down(unjudged, solver, 1.1);
  const auto rest = rest_of(compared(baseline, unjudged), alarm);
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->families.contains("chains"));
  EXPECT_FALSE(rest_of(compared(baseline, complete_run(4)), alarm));
}

TEST_F(Compare, ACellThatBrokeIsStillBrokenWhereItTimesOutOrIsFlaky) {
  lose(candidate, 0, CellStatus::crashed);
  const Alarm alarm = alarm_in(baseline, candidate, "broke");
  EXPECT_EQ(alarm.problems, (std::set<std::string>{"hash-0"}));
  for (const CellStatus status : {CellStatus::time_limit, CellStatus::flaky, CellStatus::crashed}) {
    StoreContents later = complete_run(3);
    lose(later, 0, status);
    EXPECT_TRUE(rest_of(compared(baseline, later), alarm)) << to_string(status);
  }
  EXPECT_FALSE(rest_of(compared(baseline, complete_run(3)), alarm));
}

TEST_F(Compare, MissingCellsAndLostDigitsAreGoneWhereTheComparisonShowsIt) {
  std::erase_if(candidate.cells, [](const CellRecord& cell) { return cell.key == "hash-0SSN"; });
  const Alarm missing = alarm_in(baseline, candidate, "missing");
  EXPECT_TRUE(rest_of(compared(baseline, candidate), missing));
  EXPECT_FALSE(rest_of(compared(baseline, complete_run(3)), missing));

  for (std::size_t p = 0; p < 5; ++p) {
    cell_of(candidate, "NSGS", p).answer_crc = 99;
    cell_of(baseline, "NSGS", p).verdict_value = 1e-12;
  }
  const Alarm digits = alarm_in(baseline, candidate, "less-accurate");
  EXPECT_NEAR(digits.digits, 5.0, 1e-9);
  StoreContents unknown = complete_run(3);
  for (CellRecord& cell : unknown.cells) cell.verdict_value.reset();
  EXPECT_TRUE(rest_of(compared(baseline, unknown), digits));
  EXPECT_FALSE(rest_of(compared(baseline, complete_run(3)), digits)) << "the same answers";
}

TEST_F(Compare, AnAlarmEndsWithTheConfigurationTheToleranceAndTheProblemsThatNobodyAsksFor) {
  const auto two_lost = [](std::uint64_t seed) {
    StoreContents store = complete_run(seed);
    lose(store, 0, CellStatus::stalled);
    lose(store, 1, CellStatus::stalled);
    return store;
  };
  const Alarm alarm = alarm_in(baseline, two_lost(2), "lost");
  EXPECT_EQ(rest_of(compared(baseline, two_lost(3)), alarm).value().cells, 2);

  StoreContents without = two_lost(3), looser = two_lost(3), fewer = two_lost(3), noise = two_lost(3);
  std::erase_if(without.cells, [](const CellRecord& cell) { return cell.configuration == "configuration-NSGS"; });
  EXPECT_FALSE(rest_of(compared(baseline, without), alarm));
  for (std::size_t p = 0; p < problems; ++p) cell_of(looser, "NSGS", p).tolerance = 1e-4;
  EXPECT_FALSE(rest_of(compared(baseline, looser), alarm));

  std::erase_if(fewer.cells, [](const CellRecord& cell) { return cell.problem == "hash-0"; });
  noise.problems[0].noise_ratio = 0.5;
  for (const StoreContents* store : {&fewer, &noise}) {
    const auto rest = rest_of(compared(baseline, *store), alarm);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->problems, (std::set<std::string>{"hash-1"}));
    EXPECT_EQ(rest->cells, 1);
  }

  const Alarm missing = alarm_in(baseline, without, "missing");
  EXPECT_EQ(missing.configuration, "NSGS");
  EXPECT_TRUE(rest_of(compared(baseline, without), missing)) << "that it is not there is what the alarm says";
}

TEST_F(Compare, AFamilysAlarmEndsWithTheFamily) {
  slow_down(candidate, "NSGS", 1.2, "chains");
  const Alarm alarm = alarm_in(baseline, candidate, "slower");
  StoreContents without = complete_run(3);
  std::erase_if(without.cells, [&](const CellRecord& cell) {
    const auto is_its = [&](const ProblemRecord& problem) { return problem.hash == cell.problem; };
    return std::ranges::find_if(without.problems, is_its)->family == "chains";
  });
  EXPECT_FALSE(rest_of(compared(baseline, without), alarm));
}

TEST_F(Compare, AWorkAlarmStandsWhereTooFewCellsTell) {
  work_on(candidate, 60);
  const Alarm alarm = alarm_in(baseline, candidate, "slower");
  EXPECT_NEAR(alarm.work, std::log(1.5), 1e-12);
  StoreContents later = complete_run(3);
  for (std::size_t p = 0; p < 20; ++p) lose(later, p, CellStatus::crashed);
  EXPECT_TRUE(rest_of(compared(baseline, later), alarm));
  EXPECT_FALSE(rest_of(compared(baseline, complete_run(3)), alarm));
}

TEST_F(Compare, WhatTheBaselineHasAlreadyIsGoneWhereItIsGained) {
  slow_down(candidate, "SSN", 1.2);
  const Alarm alarm = alarm_in(baseline, candidate, "slower");
  StoreContents still = complete_run(3);
  slow_down(still, "SSN", 1.2);
  EXPECT_TRUE(rest_of(compared(candidate, still), alarm));
  EXPECT_FALSE(rest_of(compared(candidate, complete_run(4)), alarm));
}

TEST_F(Compare, ProblemsWhoseAbsenceIsAcceptedAreNoWorse) {
  std::erase_if(candidate.cells, [](const CellRecord& cell) { return cell.problem == "hash-5"; });
  std::erase_if(candidate.problems, [](const ProblemRecord& problem) { return problem.hash == "hash-5"; });
  ASSERT_TRUE(compared(baseline, candidate).failed);
  accept(candidate, compared(baseline, candidate), "missing");
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_FALSE(comparison.failed);
  EXPECT_THAT(headline(comparison), ::testing::StartsWith("nothing worse"));
}

}  // namespace
}  // namespace conebench::reports
