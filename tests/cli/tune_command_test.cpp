#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cli/tune.hpp"
#include "tests/cli/conebench_process.hpp"
#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

TEST(Rungs, HalveTheConfigurationsWhileTheProblemsGrow) {
  const auto rungs = cli::plan_rungs(27, 90, 4, 3);
  ASSERT_EQ(rungs.size(), 3U);
  EXPECT_EQ(rungs[0].configurations, 27U);
  EXPECT_EQ(rungs[0].problems, 10U);
  EXPECT_EQ(rungs[1].configurations, 9U);
  EXPECT_EQ(rungs[1].problems, 30U);
  EXPECT_EQ(rungs[2].configurations, 3U);
  EXPECT_EQ(rungs[2].problems, 90U);
}

TEST(Rungs, FewConfigurationsRunOnAllProblemsAtOnceAndTheFirstRungHasTheLeast) {
  ASSERT_EQ(cli::plan_rungs(3, 50, 4, 3).size(), 1U);
  EXPECT_EQ(cli::plan_rungs(3, 50, 4, 3)[0].problems, 50U);
  EXPECT_EQ(cli::plan_rungs(81, 20, 8, 3)[0].problems, 8U);
  EXPECT_EQ(cli::plan_rungs(81, 5, 8, 3)[0].problems, 5U);
  EXPECT_GE(cli::plan_rungs(4, 9, 1, 3).back().configurations, 2U);
}

TEST(Rungs, NoTwoHaveTheSameProblems) {
  const auto rungs = cli::plan_rungs(10, 14, 6, 3);
  ASSERT_EQ(rungs.size(), 2U);
  EXPECT_EQ(rungs[0].configurations, 10U);
  EXPECT_EQ(rungs[0].problems, 6U);
  EXPECT_EQ(rungs[1].configurations, 2U);
  EXPECT_EQ(rungs[1].problems, 14U);
  ASSERT_EQ(cli::plan_rungs(10, 14, 20, 3).size(), 1U);
  EXPECT_EQ(cli::plan_rungs(10, 14, 20, 3)[0].configurations, 10U);
}

TEST(ProblemsInTurn, AnyFirstPartHasAsManyOfEachFamily) {
  std::vector<std::string> names;
  std::vector<std::string> groups;
  for (int i = 0; i < 30; ++i) {
    names.push_back("p" + std::to_string(i));
    groups.push_back(i < 15 ? "a" : i < 25 ? "b" : "c");
  }
  const auto order = cli::in_turn(names, groups, 1);
  ASSERT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 30U);
  std::map<std::string, int> first;
  for (std::size_t i = 0; i < 9; ++i) ++first[groups[static_cast<std::size_t>(std::stoi(order[i].substr(1)))]];
  EXPECT_EQ(first, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 3}}));
  EXPECT_EQ(cli::in_turn(names, groups, 1), order);
  EXPECT_NE(cli::in_turn(names, groups, 2), order);
}

constexpr const char* tuned_suite = R"({
  "name": "tuned",
  "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2, 3, 4]}}, {"scene": "random", "grid": {"contacts": [2, 3, 4, 6]}},
               {"scene": "sliding-box", "grid": {"friction": [0.2, 0.3, 0.4, 0.5]}}],
  "solvers": ["NSGS"],
  "limits": {"iterations": 3000, "seconds": 20, "memory_mb": 2000},
  "repeats": {"min": 1, "min_ms": 0, "max": 1}
})";

class Tune : public RunCommand {
 protected:
  void SetUp() override { write("tuned.json", tuned_suite); }
  Outcome tune(std::vector<std::string> more, const std::string& solver = "PGS-NCP") {
    std::vector<std::string> words = {"tune", solver, "--suite", folder / "tuned.json", "--db", folder / "tune.sqlite"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words);
  }
  const std::vector<std::string> grid = {"--grid", "relaxation=0.2,0.5,0.8,0.9,1.1,1.3,1.6", "--cost", "iterations"};
  static std::vector<std::string> with(std::vector<std::string> words, std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(Tune, ChoosesTheConfigurationThatTheWholeGridHasFirstAndItsEntryRuns) {
  const auto found = tune(with(grid, {"--json", "--out", folder / "entry.json"}));
  ASSERT_EQ(found.code, 0) << found.err;
  const auto json = found.json();
  EXPECT_TRUE(json["complete"]);
  ASSERT_GE(json["rungs"].size(), 2U);
  EXPECT_EQ(json["rungs"].back()["problems"], 12);
  EXPECT_LE(json["rungs"].back()["configurations"].size(), 3U);
  EXPECT_GT(json["rungs"][0]["configurations"].size(), json["rungs"][1]["configurations"].size());
  EXPECT_LT(json["rungs"][0]["problems"], json["rungs"][1]["problems"]);
  // Configurations that all families have chosen say nothing of a family left out.
  EXPECT_GE(json["rungs"][0]["unseen_times_best"], 1.0);
  EXPECT_TRUE(json["rungs"].back()["unseen_times_best"].is_null());
  // The defaults are in the last rung, whatever they cost.
  bool defaults = false;
  for (const auto& configuration : json["rungs"].back()["configurations"])
    defaults = defaults || configuration["options"].empty();
  EXPECT_TRUE(defaults);
  // The last rung again from counters of the store: the geometric mean over families of those over problems.
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "entry.json")), json["entry"]);
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> costs;  // family, problem, configuration
  for (const auto& configuration : json["rungs"].back()["configurations"]) {
    const std::string hash = configuration["hash"];
    for (const auto& line : query("tune.sqlite",
                                  "SELECT family || '|' || problems.hash || '|' || CASE solved WHEN 1 THEN "
                                  "max(iterations, 1) ELSE 10 * max_iterations END FROM cells JOIN problems ON "
                                  "problems.hash = problem WHERE configuration = '" +
                                      hash + "' AND json_extract(zero_impulse, '$.natural_map_scaled') > tolerance")) {
      const auto first = line.find('|');
      const auto second = line.rfind('|');
      costs[line.substr(0, first)][line.substr(first + 1, second - first - 1)][hash] =
          std::stod(line.substr(second + 1));
    }
  }
  ASSERT_EQ(costs.size(), 3U);
  for (const auto& configuration : json["rungs"].back()["configurations"]) {
    double sum = 0.0;
    for (const auto& [family, problems] : costs) {
      double own = 0.0;
      for (const auto& [problem, spent] : problems) {
        double least = 1e300;
        for (const auto& [hash, cost] : spent) least = std::min(least, cost);
        own += std::log(spent.at(configuration["hash"]) / least) / static_cast<double>(problems.size());
      }
      sum += own / static_cast<double>(costs.size());
    }
    EXPECT_NEAR(configuration["times_best"], std::exp(sum), 1e-9) << configuration;
  }
  // A report knows only those that are left, and says so.
  const auto report = conebench({"report", folder / "tune.sqlite", "--out", folder / "r", "--format", "md"});
  const std::size_t left = json["rungs"].back()["configurations"].size(),
                    all = json["rungs"][0]["configurations"].size();
  EXPECT_THAT(report.out, ::testing::HasSubstr(fmt::format(
                              "; chosen among the {} configurations that ran on all problems; {} ran on fewer\n", left,
                              all - left)));
  EXPECT_THAT(report.out, ::testing::Not(::testing::HasSubstr("chosen on all families")));
  // The entry stands in a suite as it is.
  std::string suite = tuned_suite;
  suite.replace(suite.find("\"NSGS\""), 6, text_of(folder / "entry.json"));
  write("chosen.json", suite);
  EXPECT_EQ(conebench({"run", folder / "chosen.json", "--db", folder / "chosen.sqlite"}).code, 0);
}

TEST_F(Tune, WhereNoneSolvesTheFirstProblemsNoneIsCut) {
  write("tuned.json",
        R"({"name": "hard", "problems": [{"scene": "random", "grid": {"contacts": [3, 4, 6, 8]}, "seeds": [1, 2, 3]}],
                          "solvers": ["NSGS"], "tolerances": [1e-16], "limits": {"iterations": 1, "seconds": 20},
                          "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto found = tune(with(grid, {"--json"}));
  EXPECT_EQ(found.code, 5);
  EXPECT_THAT(found.err, HasSubstr("no configuration of PGS-NCP solves any problem"));
  const auto json = found.json();
  ASSERT_EQ(json["rungs"].size(), 2U);
  EXPECT_EQ(json["rungs"][0]["configurations"].size(), 8U);
  EXPECT_EQ(json["rungs"][1]["configurations"].size(), 8U);
}

TEST_F(Tune, GoesOnWhereItsBudgetEnded) {
  const auto cut = tune(with(grid, {"--budget", "0.000001"}));
  EXPECT_EQ(cut.code, 4);
  EXPECT_THAT(cut.err, HasSubstr("the same command goes on"));
  const auto whole = tune(with(grid, {"--json"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto cells = query("tune.sqlite", "SELECT count(*), max(run_id) FROM cells");
  const auto again = tune(with(grid, {"--json"}));
  ASSERT_EQ(again.code, 0);
  EXPECT_EQ(again.json()["rungs"], whole.json()["rungs"]);
  EXPECT_EQ(query("tune.sqlite", "SELECT count(*), max(run_id) FROM cells"), cells) << "nothing was run again";
}

TEST_F(Tune, WrongArgumentsAreReportedInOneLine) {
  expect_failure(tune({}), 2, {"one configuration of PGS-NCP", "--grid"});
  expect_failure(tune({"--grid", "relaxation"}), 2, {"--grid relaxation", "option=value"});
  expect_failure(tune({"--grid", "relaxtion=1,2"}), 2, {"relaxtion", "did you mean 'relaxation'"});
  expect_failure(tune({"--grid", "relaxation=1,x"}), 2, {"relaxation", "x"});
  expect_failure(tune({"--grid", "relaxation=1,2"}, "PGS-NCPX"), 2, {"PGS-NCPX"});
  expect_failure(tune({"--grid", "relaxation=0.5,1", "--cost", "money"}), 2, {"--cost money", "time or iterations"});
}

}  // namespace
}  // namespace conebench::testing
