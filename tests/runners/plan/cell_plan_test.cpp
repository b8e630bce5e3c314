#include "runners/plan/cell_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/content_address.hpp"
#include "runners/plan/grid.hpp"

namespace conebench {
namespace {

Suite two_solver_suite() {
  const auto suite = parse_suite(R"({
    "name": "plan", "problems": [{"scene": "box-stack"}],
    "solvers": ["NSGS", {"id": "PGS-NCP", "grid": {"relaxation": [0.8, 0.9]}}], "tolerances": [1e-4, 1e-6]})",
                                 "plan.json");
  if (!suite) throw std::runtime_error(suite.error().message);
  return *suite;
}

SurveyedProblem problem(const std::string& hash, const std::string& family = "boxes") {
  SurveyedProblem surveyed;
  surveyed.loaded = true;
  surveyed.record.hash = hash;
  surveyed.record.name = "p-" + hash;
  surveyed.record.family = family;
  return surveyed;
}

TEST(Grid, IsTheCartesianProductOverTheFixedOptions) {
  const auto points = cartesian({{"a", 1L}}, {{"x", {0.1, 0.2}}, {"y", {true, false}}});
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[1], (OptionValues{{"a", 1L}, {"x", 0.1}, {"y", false}}));
  EXPECT_EQ(cartesian({{"a", 1L}}, {}), std::vector<OptionValues>(1, OptionValues{{"a", 1L}}));
}

TEST(ContentAddress, KeepsPartsApart) {
  EXPECT_NE(content_address({"ab", "c"}), content_address({"a", "bc"}));
  EXPECT_EQ(content_address({"ab", "c"}), content_address({"ab", "c"}));
  EXPECT_EQ(content_address({}).size(), 32U);
}

TEST(ContentAddress, IsTheSameOnEveryMachine) {
  // A changed address would make every stored cell be run again.
  EXPECT_EQ(content_address({"conebench"}), "ab85f7a9193858dee0e0085714c2b643");
}

TEST(SeededShuffle, DependsOnTheSeedAlone) {
  std::vector<int> a(100), b(100), c(100);
  for (int i = 0; i < 100; ++i) a[static_cast<std::size_t>(i)] = i;
  b = c = a;
  seeded_shuffle(a, 5);
  seeded_shuffle(b, 5);
  seeded_shuffle(c, 6);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  std::sort(a.begin(), a.end());
  EXPECT_EQ(a.front(), 0);
  EXPECT_EQ(a.back(), 99);
}

TEST(Configurations, EqualEffectiveOptionsAreOneConfiguration) {
  const auto suite = parse_suite(R"({"name": "x", "problems": [{"scene": "box-stack"}], "solvers": [
      "PGS-NCP", {"id": "PGS-NCP", "grid": {"relaxation": [1, 1.0, 0.5]}}]})",
                                 "x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  const auto configurations = plan_configurations(*suite);
  ASSERT_EQ(configurations.size(), 2U);
  EXPECT_EQ(configurations[0].record.label, "PGS-NCP");
  EXPECT_EQ(configurations[1].record.label, "PGS-NCP relaxation=0.5");
  EXPECT_NE(configurations[0].record.hash, configurations[1].record.hash);
}

TEST(CellKey, IsStableAndChangesWithEverythingThatIsMeasured) {
  const Suite suite = two_solver_suite();
  const auto configurations = plan_configurations(suite);
  const std::string key = cell_key(suite, problem("h"), configurations[0].record, 1e-6);
  EXPECT_EQ(key, cell_key(two_solver_suite(), problem("h"), plan_configurations(two_solver_suite())[0].record, 1e-6));

  std::set<std::string> keys = {key};
  const auto add = [&](const Suite& other, const SurveyedProblem& p, const ConfigurationRecord& configuration,
                       double tolerance) {
    EXPECT_TRUE(keys.insert(cell_key(other, p, configuration, tolerance)).second);
  };
  add(suite, problem("i"), configurations[0].record, 1e-6);
  add(suite, problem("h"), configurations[1].record, 1e-6);
  add(suite, problem("h"), configurations[0].record, 1e-4);
  ConfigurationRecord newer = configurations[0].record;
  newer.hash += "'";
  add(suite, problem("h"), newer, 1e-6);
  Suite other = suite;
  other.limits.iterations = 5;
  add(other, problem("h"), configurations[0].record, 1e-6);
  other = suite;
  other.limits.seconds = 5;
  add(other, problem("h"), configurations[0].record, 1e-6);
  other = suite;
  other.limits.memory_mb = 50;
  add(other, problem("h"), configurations[0].record, 1e-6);
  other = suite;
  other.stop_by = StopBy::solver;
  add(other, problem("h"), configurations[0].record, 1e-6);
  other = suite;
  other.verdict = "natural_map_relative";
  add(other, problem("h"), configurations[0].record, 1e-6);
  SurveyedProblem guessed = problem("h");
  guessed.guess_hash = "g";
  const auto add_start = [&](const SurveyedProblem& p, Start start, const std::string& previous) {
    EXPECT_TRUE(keys.insert(cell_key(suite, p, configurations[0].record, 1e-6, start, previous)).second);
  };
  add_start(problem("h"), Start::guess, "");
  add_start(guessed, Start::guess, "");
  add_start(problem("h"), Start::previous, "");
  add_start(problem("h"), Start::previous, "k");
  add_start(problem("h"), Start::previous, "l");
}

TEST(CellKey, DoesNotDependOnNamesSeedOrRepeats) {
  const Suite suite = two_solver_suite();
  const auto configurations = plan_configurations(suite);
  Suite other = suite;
  other.name = "another";
  other.seed = 99;
  other.repeats.minimum = 9;
  SurveyedProblem renamed = problem("h");
  renamed.record.name = "renamed";
  renamed.guess_hash = "unused from a cold start";
  EXPECT_EQ(cell_key(suite, problem("h"), configurations[0].record, 1e-6),
            cell_key(other, renamed, configurations[0].record, 1e-6));
}

TEST(Plan, HasEveryCellOnceAndShardsPartIt) {
  const Suite suite = two_solver_suite();
  const auto configurations = plan_configurations(suite);
  std::vector<SurveyedProblem> problems;
  for (int i = 0; i < 20; ++i) problems.push_back(problem(std::to_string(i)));
  const auto all = plan_cells(suite, problems, configurations, {});
  EXPECT_EQ(all.size(), 20U * 3U * 2U);
  std::multiset<std::string> parted;
  for (int k = 1; k <= 3; ++k) {
    const auto part = plan_cells(suite, problems, configurations, {k, 3, {}});
    EXPECT_GT(part.size(), 20U);
    for (const auto& cell : part) parted.insert(cell.key);
  }
  std::multiset<std::string> whole;
  for (const auto& cell : all) whole.insert(cell.key);
  EXPECT_EQ(parted, whole);
  EXPECT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), whole.size());
}

TEST(Plan, AFilterKeepsWhatItNames) {
  const Suite suite = two_solver_suite();
  const auto configurations = plan_configurations(suite);
  const std::vector<SurveyedProblem> problems = {problem("a", "boxes"), problem("b", "chains")};
  const auto filter = CellFilter::parse("family=chains && solver=PGS-NCP && tolerance<=1e-6");
  ASSERT_TRUE(filter);
  const auto cells = plan_cells(suite, problems, configurations, {1, 1, *filter});
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].problem, 1U);
}

/// Steps 0, 1, … of one sequence, listed in the order given.
std::vector<SurveyedProblem> sequence(const std::vector<int>& steps) {
  std::vector<SurveyedProblem> problems;
  for (const int step : steps) {
    problems.push_back(problem("h" + std::to_string(step)));
    problems.back().position = SequencePosition{"sequence", step};
  }
  return problems;
}

TEST(Plan, LinksTheCellsOfASequence) {
  Suite suite = two_solver_suite();
  suite.starts = {Start::cold, Start::previous};
  const auto configurations = plan_configurations(suite);
  auto problems = sequence({2, 0, 1});
  problems.push_back(problem("alone"));
  const auto cells = plan_cells(suite, problems, configurations, {});
  ASSERT_EQ(cells.size(), 4U * 3U * 2U * 2U);
  std::set<std::string> keys;
  for (const PlannedCell& cell : cells) {
    keys.insert(cell.key);
    const bool linked = cell.start == Start::previous && (cell.problem == 0 || cell.problem == 2);
    ASSERT_EQ(cell.previous.has_value(), linked);
    if (!linked) continue;
    const PlannedCell& before = cells[*cell.previous];
    EXPECT_EQ(before.problem, cell.problem == 0 ? 2U : 1U);
    EXPECT_EQ(before.configuration, cell.configuration);
    EXPECT_EQ(before.tolerance, cell.tolerance);
    EXPECT_EQ(before.start, Start::previous);
  }
  EXPECT_EQ(keys.size(), cells.size());
}

TEST(Plan, KeysOfASequenceHoldAllThatComesBefore) {
  Suite suite = two_solver_suite();
  suite.starts = {Start::previous};
  const auto configurations = plan_configurations(suite);
  const auto keys_of = [&](const std::vector<SurveyedProblem>& problems) {
    std::map<std::string, std::string> keys;  // of the first configuration and tolerance, by problem
    for (const PlannedCell& cell : plan_cells(suite, problems, configurations, {})) {
      if (cell.configuration == 0 && cell.tolerance == 1e-4) keys[problems[cell.problem].record.hash] = cell.key;
    }
    return keys;
  };
  const auto whole = keys_of(sequence({0, 1, 2, 3}));
  const auto listed_otherwise = keys_of(sequence({3, 1, 0, 2}));
  EXPECT_EQ(listed_otherwise, whole);
  const auto without_1 = keys_of(sequence({0, 2, 3}));
  EXPECT_EQ(without_1.at("h0"), whole.at("h0"));
  EXPECT_NE(without_1.at("h2"), whole.at("h2"));
  EXPECT_NE(without_1.at("h3"), whole.at("h3"));
  auto changed = sequence({0, 1, 2, 3});
  changed[0].record.hash = "other";
  const auto behind = keys_of(changed);
  EXPECT_NE(behind.at("h3"), whole.at("h3"));
}

TEST(Plan, ShardsTakeSequencesWhole) {
  Suite suite = two_solver_suite();
  suite.starts = {Start::previous};
  const auto configurations = plan_configurations(suite);
  const auto problems = sequence({0, 1, 2, 3, 4});
  std::size_t all = 0;
  for (int k = 1; k <= 3; ++k) {
    const auto part = plan_cells(suite, problems, configurations, {k, 3, {}});
    EXPECT_EQ(part.size() % 5, 0U);
    all += part.size();
    for (const PlannedCell& cell : part) {
      EXPECT_EQ(cell.previous.has_value(), cell.problem > 0);
      if (!cell.previous) continue;
      EXPECT_EQ(part.at(*cell.previous).problem + 1, cell.problem);
    }
  }
  EXPECT_EQ(all, 5U * 6U);
}

TEST(Groups, HoldEachCellOnceInAnOrderOfTheSeed) {
  const Suite suite = two_solver_suite();
  const auto configurations = plan_configurations(suite);
  const std::vector<SurveyedProblem> problems = {problem("a"), problem("b"), problem("c")};
  const auto cells = plan_cells(suite, problems, configurations, {});
  std::vector<std::size_t> all(cells.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto groups = shuffled_groups(cells, all, 1);
  ASSERT_EQ(groups.size(), 3U);
  std::vector<std::size_t> seen;
  for (const CellGroup& group : groups) {
    EXPECT_FALSE(std::is_sorted(group.cells.begin(), group.cells.end())) << "six cells, left in order";
    for (const std::size_t cell : group.cells) {
      EXPECT_EQ(cells[cell].problem, group.problem);
      seen.push_back(cell);
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, all);
}

}  // namespace
}  // namespace conebench
