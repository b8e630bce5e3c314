#include "reports/badge.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/reports/small_store.hpp"

namespace conebench::reports {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Badge = SmallStore;

TEST_F(Badge, IsOfTheBestConfigurationAtTheTightestToleranceAndOfTheLastDay) {
  for (ConfigurationRecord& configuration : store_.configurations) configuration.origin = "paper";
  const Analysis analysis = analyse_store();
  const Ranking& ranking = analysis.ranking(analysis.slices.size() - 1);
  const RankingRow& best = ranking.rows.front();
  const std::string badge = badge_svg(analysis);
  EXPECT_THAT(badge, HasSubstr(analysis.columns[best.column].label + ": " + std::to_string(best.tally.solved) + " of " +
                               std::to_string(ranking.problems) + " solved"));
  EXPECT_THAT(badge, HasSubstr(" · " + store_.runs.back().started_utc.substr(0, 10)));
  EXPECT_THAT(badge, HasSubstr(" at " + analysis.slices.back().label + "</title>"));
}

TEST_F(Badge, PrefersASolverThatIsNotPartOfConebench) {
  const auto liar = [](ConfigurationRecord& configuration) { return configuration.label == "LIAR <b>"; };
  const auto found = std::find_if(store_.configurations.begin(), store_.configurations.end(), liar);
  ASSERT_NE(found, store_.configurations.end());
  found->origin = "paper";
  EXPECT_THAT(badge_svg(analyse_store()), Not(HasSubstr("LIAR")));
  found->origin = "foreign";
  EXPECT_THAT(badge_svg(analyse_store()), HasSubstr(">LIAR &lt;b&gt;: 1 of 6 solved"));
}

TEST_F(Badge, SaysThatThereIsAnAlarm) {
  const Analysis analysis = analyse_store();
  EXPECT_THAT(badge_svg(analysis), Not(HasSubstr("alarm")));
  EXPECT_THAT(badge_svg(analysis, true), HasSubstr("solved, alarm · "));
}

TEST_F(Badge, EscapesForeignNames) {
  for (RunRecord& run : store_.runs) run.suite_name = "<b>\"&\n";
  EXPECT_THAT(badge_svg(analyse_store()), Not(HasSubstr("<b>")));
}

TEST_F(Badge, OfAnEmptyStoreSaysSo) {
  store_.cells.clear();
  EXPECT_THAT(badge_svg(analyse_store()), HasSubstr("no result"));
}

}  // namespace

}  // namespace conebench::reports
