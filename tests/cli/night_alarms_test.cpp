#include "cli/night_alarms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/comparison/alarms.hpp"

namespace conebench::cli {
namespace {

using reports::Comparison;
using reports::ConfigurationChange;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Verdict = Confirmation::Verdict;

/// One configuration, "s", at 1e-6 from cold.
Comparison comparison_of(const ConfigurationChange& change) {
  Comparison comparison;
  comparison.configurations.push_back({.solver = "NSGS", .label = "NSGS"});
  comparison.configurations.back().candidate_hash = "s";
  reports::TimeSlice& slice = comparison.slices.emplace_back();
  slice.request.tolerance = 1e-6;
  slice.request.start = "cold";
  slice.configurations.push_back(change);
  for (const auto& [word, count] : change.alarms) comparison.alarms[word] += count;
  comparison.failed = change.failed;
  return comparison;
}

/// Side by side: effect T with deviation v.
ConfigurationChange same_side_by_side(double effect, double deviation) {
  ConfigurationChange change;
  change.assessment = reports::Assessment::same;
  change.times.corrected = effect;
  change.times.bar = 0.01;
  change.times.could_have_seen = 0.01 + deviation;
  change.times.verdict = ChangeState::same;
  return change;
}

Verdict verdict_on(const ConfigurationChange& change, double alarm) {
  return judge_suspects(comparison_of(change), {{"s", 1e-6, "cold", std::log1p(alarm)}}).verdicts.at(0);
}

TEST(NightAlarms, AnAlarmIsWithdrawnWhereSideBySideItIsClearlyBelowHalfOfIt) {
  EXPECT_EQ(verdict_on(same_side_by_side(0.004, 0.0024), 0.03), Verdict::withdrawn);
  EXPECT_EQ(verdict_on(same_side_by_side(-0.03, 0.0024), 0.03), Verdict::withdrawn);
  EXPECT_EQ(verdict_on(same_side_by_side(0.004, 0.0100), 0.03), Verdict::undecided);
}

TEST(NightAlarms, ACreepOfOnePercentIsNotWithdrawnByTheSameWithinTwo) {
  EXPECT_EQ(verdict_on(same_side_by_side(0.004, 0.0024), 0.01), Verdict::undecided);
}

TEST(NightAlarms, AConfigurationThatWasNotRunOrNotJudgedSideBySideIsUndecided) {
  ConfigurationChange few = same_side_by_side(0.0, 0.0);
  few.times.verdict = ChangeState::none;
  few.times.reason = "only 3 cells; 10 are needed";
  EXPECT_EQ(verdict_on(few, 0.03), Verdict::undecided);
  const auto warm = judge_suspects(comparison_of(same_side_by_side(0.0, 0.001)), {{"s", 1e-6, "previous", 0.03}});
  EXPECT_THAT(warm.verdicts, ElementsAre(Verdict::undecided));
}

TEST(NightAlarms, WhatIsWorseSideBySideIsConfirmedWithItsReason) {
  ConfigurationChange work = same_side_by_side(0.0, 0.001);
  work.assessment = reports::Assessment::worse;
  work.reasons = {"slower: more work"};
  const auto found = judge_suspects(comparison_of(work), {{"s", 1e-6, "cold", 0.03}});
  EXPECT_THAT(found.verdicts, ElementsAre(Verdict::confirmed));
  EXPECT_THAT(found.lines, ElementsAre(HasSubstr("confirmed: slower: more work")));
}

ConfigurationChange slower_by_time() {
  ConfigurationChange change;
  change.assessment = reports::Assessment::worse;
  change.times.corrected = 0.03;
  change.times.verdict = ChangeState::slower;
  change.reasons = {"slower +3.0 %"};
  change.alarms = {{"slower", 1}};
  change.failed = true;
  return change;
}

TEST(NightAlarms, OnlyTheTimeOfAWholeConfigurationCanBeAskedSideBySide) {
  const auto whole = slower_configurations(comparison_of(slower_by_time()), {});
  ASSERT_EQ(whole.suspects.size(), 1U);
  EXPECT_EQ(whole.suspects[0].effect, 0.03);

  Comparison by_family = comparison_of(slower_by_time());
  FamilyTimes& family = by_family.slices[0].families.emplace_back().times;
  family.verdict = ChangeState::slower;
  family.median = 0.03;
  EXPECT_EQ(slower_configurations(by_family, {}).suspects.size(), 1U) << "part of the whole";
  family.median = 0.2;
  EXPECT_THAT(slower_configurations(by_family, {}).certain, ElementsAre("NSGS at 1e-06"));
  ConfigurationChange more_work = slower_by_time();
  more_work.work.verdict = ChangeState::slower;
  EXPECT_THAT(slower_configurations(comparison_of(more_work), {}).certain, ElementsAre("NSGS at 1e-06"));
}

TEST(NightAlarms, AWithdrawnAlarmFailsNothingAndALossWithItStillDoes) {
  const std::set<std::string> gate = {"lost", "slower"};
  Comparison comparison = comparison_of(slower_by_time());
  withdraw(comparison, slower_configurations(comparison, {}).alarms.at(0));
  reports::count_alarms(comparison, gate);
  EXPECT_FALSE(comparison.failed);
  EXPECT_FALSE(comparison.slices[0].configurations[0].failed);
  EXPECT_FALSE(comparison.alarms.contains("slower"));
  EXPECT_EQ(comparison.slices[0].configurations[0].assessment, reports::Assessment::undecided);
  EXPECT_THAT(comparison.notes, ElementsAre(HasSubstr("withdrawn")));

  ConfigurationChange lost = slower_by_time();
  lost.alarms["lost"] = 1;
  comparison = comparison_of(lost);
  withdraw(comparison, slower_configurations(comparison, {}).alarms.at(0));
  reports::count_alarms(comparison, gate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_EQ(comparison.slices[0].configurations[0].assessment, reports::Assessment::worse);
}

}  // namespace
}  // namespace conebench::cli
