#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/analysis.hpp"
#include "reports/formats.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench::reports {
namespace {

using ::testing::HasSubstr;

/// The grid's store with only some of its problems and configurations, and costs set by hand.
class TwoConfigurations : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = testing::grid_store();
    std::erase_if(store_.configurations,
                  [](const auto& one) { return one.label != "PGS-NCP" && one.label != "PGS-NCP relaxation=1.25"; });
    std::erase_if(store_.problems, [](const auto& one) { return one.family != "Chain" && one.family != "Rover"; });
    store_.problems.resize(4);  // Chain, Rover, Chain, Rover
    std::erase_if(store_.cells, [&](const CellRecord& cell) {
      const auto kept = [&](const auto& list, const std::string& hash) {
        return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.hash == hash; });
      };
      return !kept(store_.problems, cell.problem) || !kept(store_.configurations, cell.configuration);
    });
    for (CellRecord& cell : store_.cells) cell.status = CellStatus::converged;
  }

  CellRecord& cell(std::size_t problem, std::size_t configuration) {
    for (CellRecord& one : store_.cells) {
      if (one.problem == store_.problems[problem].hash &&
          one.configuration == store_.configurations[configuration].hash)
        return one;
    }
    throw std::out_of_range("cell");
  }
  void cost(std::size_t problem, std::size_t configuration, double seconds) {
    cell(problem, configuration).solved = true;
    cell(problem, configuration).total.median = seconds;
  }
  void unsolved(std::size_t problem, std::size_t configuration) {
    cell(problem, configuration).solved = false;
    cell(problem, configuration).status = CellStatus::max_iterations;
  }

  StoreContents store_;
};

TEST_F(TwoConfigurations, AreComparedByRatiosToTheBestOfEachProblem) {
  // Chain: 1 : 2 and 1 : 8; Rover: 3 : 1 and 12 : 1. Times best are √(√(1·1) · √(3·12)) = √6 and √(√(2·8) · 1) = 2.
  cost(0, 0, 1.0), cost(0, 1, 2.0);
  cost(2, 0, 1.0), cost(2, 1, 8.0);
  cost(1, 0, 3.0), cost(1, 1, 1.0);
  cost(3, 0, 12.0), cost(3, 1, 1.0);
  const Analysis analysis = analyse(store_, false);
  ASSERT_EQ(analysis.option_studies.size(), 1U);
  const OptionStudy& study = analysis.option_studies.front();
  EXPECT_EQ(study.solver, "PGS-NCP");
  ASSERT_EQ(study.axes.size(), 1U);
  EXPECT_EQ(study.axes[0].option, "relaxation");
  EXPECT_TRUE(study.axes[0].numeric);
  ASSERT_EQ(study.configurations.size(), 2U);
  EXPECT_NEAR(study.configurations[0].times_best, std::sqrt(6.0), 1e-12);
  EXPECT_NEAR(study.configurations[1].times_best, 2.0, 1e-12);
  EXPECT_EQ(study.recommended, 1U);
  // Chosen without Chain: 1.25, which costs 4 times the best there; without Rover: 1, which costs 6 times.
  ASSERT_EQ(study.families.size(), 2U);
  EXPECT_EQ(study.families[0].best, 0U);
  EXPECT_EQ(study.families[0].chosen, 1U);
  EXPECT_NEAR(*study.families[0].chosen_times_best, 4.0, 1e-12);
  EXPECT_EQ(study.families[1].best, 1U);
  EXPECT_EQ(study.families[1].chosen, 0U);
  EXPECT_NEAR(*study.families[1].chosen_times_best, 6.0, 1e-12);
  EXPECT_NEAR(*study.unseen_times_best, std::sqrt(24.0), 1e-12);
}

TEST_F(TwoConfigurations, MarkdownCountsLostProblems) {
  // Without Chain 1.25 is chosen, which solves neither of its problems, or one; without Rover 1, which solves Rover's.
  cost(0, 0, 1.0), unsolved(0, 1);
  cost(2, 0, 1.0), cost(2, 1, 1.0);
  cost(1, 0, 30.0), cost(1, 1, 1.0);
  cost(3, 0, 30.0), cost(3, 1, 1.0);
  EXPECT_THAT(markdown_report(analyse(store_, false)),
              HasSubstr(", and does not solve 1 problem that another configuration solves."));
  unsolved(2, 1);
  EXPECT_THAT(markdown_report(analyse(store_, false)),
              HasSubstr(", and does not solve 2 problems that another configuration solves."));
}

TEST_F(TwoConfigurations, TheTerminalSaysWhichOneToTakeForProblemsNotYetSeen) {
  cost(0, 0, 1.0), cost(0, 1, 2.0);
  cost(2, 0, 1.0), cost(2, 1, 8.0);
  cost(1, 0, 3.0), cost(1, 1, 1.0);
  cost(3, 0, 12.0), cost(3, 1, 1.0);
  EXPECT_THAT(
      terminal(analyse(store_, false), false, 0),
      HasSubstr("PGS-NCP: best configuration: relaxation=1.25. A configuration chosen on all families but one takes "
                "4.90 × the best time on that one\n"));
  std::erase_if(store_.problems, [](const auto& one) { return one.family == "Rover"; });
  EXPECT_THAT(terminal(analyse(store_, false), false, 0), HasSubstr("PGS-NCP: best configuration: ")) << "one family";
}

TEST_F(TwoConfigurations, TheTerminalAdvisesNothingWhereTheDefaultIsAsGood) {
  const auto advised = [&](double seconds) {
    for (std::size_t p = 0; p < 4; ++p) cost(p, 0, seconds), cost(p, 1, 1.0);
    return terminal(analyse(store_, false), false, 0).find(": best configuration: ") != std::string::npos;
  };
  EXPECT_TRUE(advised(1.06));
  EXPECT_FALSE(advised(1.04));
  EXPECT_FALSE(advised(0.96)) << "the default is the best";
  EXPECT_TRUE(advised(0.94));
  for (std::size_t p = 0; p < 4; ++p) {
    CellRecord& same = cell(p, 1);
    const CellRecord& usual = cell(p, 0);
    same.iterations = usual.iterations;
    same.factorizations = usual.factorizations;
    same.operator_products = usual.operator_products;
    same.verdict_value = usual.verdict_value;
  }
  EXPECT_FALSE(advised(2.0)) << "the same work: times differ by chance";
  ++cell(2, 1).operator_products;
  EXPECT_TRUE(advised(2.0));
}

TEST(OptionStudy, ShowsValuesAsPeopleWriteThem) {
  OptionStudy study;
  study.axes = {{"rule", {"\"spectral\""}, false},
                {"alpha", {"1.0"}, true},
                {"power", {"null"}, true},
                {"n", {"3"}, true},
                {"skip", {"\"\""}, false}};
  study.configurations.push_back({.indices = {0, 0, 0, 0, 0}});
  EXPECT_EQ(study.values(0), "rule=spectral, alpha=1, power=default, n=3, skip=default");
}

TEST_F(TwoConfigurations, WithoutAProblemThatCountsThereIsNoEmptyTable) {
  for (ProblemRecord& problem : store_.problems) problem.zero_impulse = {{"natural_map_scaled", 0.0}};
  const std::string text = terminal(analyse(store_, false), false, 0);
  EXPECT_THAT(text, HasSubstr("nothing to rank: every problem is left out"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("0 of 0")));
}

TEST_F(TwoConfigurations, WhatASearchHasDroppedIsCounted) {
  for (std::size_t p = 0; p < 4; ++p) cost(p, 0, 1.0), cost(p, 1, 1.01);
  ConfigurationRecord dropped = store_.configurations[1];
  dropped.hash = "s-dropped";
  dropped.label = "PGS-NCP relaxation=1.5";
  dropped.options_json = R"({"relaxation": 1.5})";
  dropped.changed_options = {"relaxation"};
  CellRecord ran = cell(0, 1);
  ran.configuration = dropped.hash;
  ran.total.median = 0.01;
  store_.configurations.push_back(dropped);
  store_.cells.push_back(ran);
  const Analysis analysis = analyse(store_, false);
  const OptionStudy& study = analysis.option_studies.at(0);
  EXPECT_EQ(study.configurations.size(), 2U);
  EXPECT_EQ(study.dropped, 1);
  EXPECT_FALSE(study.unseen_times_best) << "all families have chosen those that are left";
  const std::string chosen = "chosen among the 2 configurations that ran on all problems; 1 ran on fewer";
  EXPECT_THAT(terminal(analysis, false, 0), HasSubstr("PGS-NCP: best configuration: relaxation=1; " + chosen + "\n"));
  EXPECT_THAT(markdown_report(analysis),
              HasSubstr(chosen + ". How a choice does on problems that it was not made on is not known."));
}

TEST_F(TwoConfigurations, WhatAnEarlierRunOfTheSameSuiteAskedForIsDroppedAndWhatAnEditTookOutIsNot) {
  for (std::size_t p = 0; p < 4; ++p) cost(p, 0, 1.0), cost(p, 1, 2.0);
  ConfigurationRecord outdated = store_.configurations[1];
  outdated.hash = "s-outdated";
  outdated.label = "PGS-NCP relaxation=1.5";
  store_.configurations.push_back(outdated);
  RunRecord earlier = store_.runs.front();
  earlier.scope_json = R"({"configurations": {"s-outdated": ["PGS-NCP", "PGS-NCP relaxation=1.5"]}})";
  store_.runs.insert(store_.runs.begin(), earlier);
  EXPECT_EQ(analyse(store_, false).option_studies.at(0).dropped, 1);
  store_.runs.front().suite_text = "another";
  EXPECT_EQ(analyse(store_, false).option_studies.at(0).dropped, 0);
}

TEST_F(TwoConfigurations, AnUnsolvedProblemCountsWithTenTimesItsLimitAndOneThatNoneSolvesNotAtAll) {
  for (std::size_t p = 0; p < 4; ++p) cost(p, 0, 1.0), cost(p, 1, 1.0);
  unsolved(0, 1);
  unsolved(1, 0), unsolved(1, 1);
  const Analysis analysis = analyse(store_, false);
  const OptionStudy& study = analysis.option_studies.at(0);
  EXPECT_EQ(study.problems, 3);
  EXPECT_EQ(study.unsolved, 1);
  EXPECT_NEAR(study.configurations[1].by_family[0], std::sqrt(10.0 * cell(0, 1).limit_s), 1e-12);
  EXPECT_NEAR(study.configurations[1].by_family[1], 1.0, 1e-12);
  EXPECT_EQ(study.configurations[1].solved, 2);
}

TEST_F(TwoConfigurations, OneFamilyAloneChoosesNothingForOthers) {
  for (auto& problem : store_.problems) problem.family = "Chain";
  const Analysis analysis = analyse(store_, false);
  const OptionStudy& study = analysis.option_studies.at(0);
  EXPECT_FALSE(study.families.at(0).chosen.has_value());
  EXPECT_FALSE(study.unseen_times_best.has_value());
}

TEST_F(TwoConfigurations, ThatDifferInNoOptionHaveNoStudy) {
  for (auto& configuration : store_.configurations) configuration.options_json = R"({"relaxation":1})";
  EXPECT_TRUE(analyse(store_, false).option_studies.empty());
}

TEST_F(TwoConfigurations, OfWhichOneAloneSolvesAnythingHaveNoStudy) {
  for (std::size_t p = 0; p < 4; ++p) cost(p, 0, 1.0), unsolved(p, 1);
  EXPECT_TRUE(analyse(store_, false).option_studies.empty());
}

TEST_F(TwoConfigurations, ACommonOptionAtItsDefaultIsOneOfTheValues) {
  store_.configurations[0].options_json = R"({"relaxation":1})";
  store_.configurations[1].options_json = R"({"relaxation":1,"units":"force"})";
  const Analysis analysis = analyse(store_, false);
  const OptionStudy& study = analysis.option_studies.at(0);
  ASSERT_EQ(study.axes.size(), 1U);
  EXPECT_EQ(study.axes[0].option, "units");
  EXPECT_EQ(study.axes[0].values, (std::vector<std::string>{R"("force")", "null"}));
}

TEST(GridLabels, AGridPointAtTheDefaultsShowsAllAxes) {
  const StoreContents store = testing::grid_store();
  const Analysis analysis = analyse(store, false);
  std::vector<std::string> labels;
  for (const Column& column : analysis.columns) labels.push_back(column.label);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "PGS-NCP relaxation=1"), 1);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "PGS-NCP"), 0);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "PGS-NCP relaxation=1.25"), 1);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "NSGS"), 1);
}

TEST(GridLabels, AnEmptyDefaultIsCalledDefault) {
  StoreContents store = testing::grid_store();
  for (ConfigurationRecord& one : store.configurations) {
    if (one.solver == "PGS-NCP")
      one.options_json = one.label == "PGS-NCP" ? R"({"skip": ""})" : R"({"skip": "newton"})";
  }
  const Analysis analysis = analyse(store, false);
  EXPECT_EQ(std::count_if(analysis.columns.begin(), analysis.columns.end(),
                          [](const Column& column) { return column.label == "PGS-NCP skip=default"; }),
            1);
}

}  // namespace
}  // namespace conebench::reports
