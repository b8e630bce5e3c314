#include "reports/comparison/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/comparison/alarms.hpp"
#include "reports/text.hpp"
#include "store/suite_scope.hpp"
#include "tests/reports/comparison_runs.hpp"

namespace conebench::reports {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(Compare, ARoundThatRanOutOfTimeLeavesTheOthersInTheirBlocks) {
  // Two equal builds whose blocks lie at times of another load.
  for (StoreContents* store : {&baseline, &candidate}) {
    store->runs.front().side = store == &baseline ? "baseline" : "candidate";
    for (CellRecord& cell : store->cells) {
      for (int round = 1; round <= 6; ++round) {
        cell.timed_rounds.push_back({.round = round, .run_id = 1, .minimum = 1e-3 * std::pow(1.5, (round - 1) / 2)});
      }
    }
  }
  for (CellRecord& cell : baseline.cells) cell.timed_rounds.erase(cell.timed_rounds.begin() + 2);
  const auto rounds = make_side("baseline", baseline).cells.front().rounds_s;
  ASSERT_EQ(rounds.size(), 6U);
  EXPECT_TRUE(std::isnan(rounds[2]));
  EXPECT_EQ(rounds[4], 1e-3 * std::pow(1.5, 2));
  const Comparison comparison = compared(baseline, candidate);
  for (const ConfigurationChange& change : comparison.slices.at(0).configurations) {
    EXPECT_EQ(change.times.corrected, 0.0);
    EXPECT_STREQ(to_string(change.assessment), "same");
  }
}

TEST_F(Compare, OneBuildWithItselfIsNoWorse) {
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_FALSE(comparison.failed);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
  for (const ConfigurationChange& change : comparison.slices.at(0).configurations) {
    EXPECT_EQ(change.count(CellChange::same_work), static_cast<long>(problems));
    EXPECT_STREQ(to_string(change.assessment), "same") << change.times.corrected;
  }
  EXPECT_THAT(comparison_terminal(comparison, false), HasSubstr("nothing worse"));
}

TEST_F(Compare, ASlowerConfigurationAndASlowerFamilyAreFound) {
  slow_down(candidate, "SSN", 1.05);
  slow_down(candidate, "NSGS", 1.2, "chains");
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_STREQ(to_string(configuration_of(comparison, "SSN").times.verdict), "slower");
  EXPECT_NEAR(configuration_of(comparison, "SSN").times.corrected, std::log(1.05), 0.01);
  EXPECT_STREQ(to_string(configuration_of(comparison, "NSGS").assessment), "worse");
  EXPECT_TRUE(std::ranges::any_of(comparison.slices.at(0).families, [&](const FamilyChange& one) {
    return comparison.configurations[one.configuration].label == "NSGS" && one.family == "chains" &&
           one.times.verdict == ChangeState::slower;
  }));
  EXPECT_STRNE(to_string(configuration_of(comparison, "CASCADE").assessment), "worse");
}

TEST_F(Compare, ALostCellIsNamedWithBothReasonsAndItsConfigurationIsNeverBetter) {
  slow_down(candidate, "PGS-NCP", 0.8);
  CellRecord& cell = cell_of(candidate, "PGS-NCP", 3);
  cell.solved = cell.claimed = false;
  cell.status = CellStatus::stalled;
  cell.reason = "no progress";
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_STREQ(to_string(configuration_of(comparison, "PGS-NCP").assessment), "worse");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("problem-3"));
  EXPECT_THAT(text, HasSubstr("stalled"));
  EXPECT_THAT(text, HasSubstr("worse: 1 cell lost"));
  CompareOptions quiet;
  quiet.fail_on = {"broke"};
  EXPECT_FALSE(compared(baseline, candidate, quiet).failed);
}

TEST_F(Compare, AMissingConfigurationAndAMissingProblemAreNamed) {
  std::erase_if(candidate.cells, [](const CellRecord& cell) {
    return cell.configuration == "configuration-SSN" || cell.problem == "hash-5";
  });
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_EQ(comparison.alarms.at("missing"), static_cast<long>(problems + solvers.size() - 1));
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("missing configuration SSN"));
  EXPECT_THAT(text, HasSubstr("missing problem problem-5"));
  EXPECT_THAT(text, HasSubstr("\nworse: 1 problem missing, 1 configuration missing ("));
  EXPECT_STREQ(to_string(configuration_of(comparison, "SSN").assessment), "worse");
  EXPECT_STRNE(to_string(configuration_of(comparison, "NSGS").assessment), "worse") << "the problem is gone for all";
  EXPECT_THAT(configuration_of(comparison, "NSGS").reasons, Contains("1 cell missing with the problem"));
  EXPECT_FALSE(compared(candidate, baseline).failed) << "what is new is no worse";
}

TEST_F(Compare, AConfigurationWithoutACommonCellIsUndecided) {
  for (ProblemRecord& problem : candidate.problems) problem.hash = "other " + problem.hash;
  for (CellRecord& cell : candidate.cells) cell.problem = "other " + cell.problem;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.compared, 0);
  for (const char* solver : {"NSGS", "CASCADE"}) {
    const ConfigurationChange& change = configuration_of(comparison, solver);
    EXPECT_STREQ(to_string(change.assessment), "undecided") << solver;
    EXPECT_STREQ(to_string(state_of(change)), "undecided") << solver;
    EXPECT_EQ(change.compared(), 0) << solver;
  }
}

TEST_F(Compare, AProblemPairsWithTheNameThatAnOlderBuildGaveIt) {
  for (ProblemRecord& problem : candidate.problems) {
    if (problem.hash != "hash-5") continue;
    problem.alias = problem.hash;
    problem.hash = "hash of M and J";
  }
  for (CellRecord& cell : candidate.cells) {
    if (cell.problem == "hash-5") cell.problem = "hash of M and J";
  }
  for (const Comparison& comparison :
       {compared(baseline, candidate), compared(candidate, baseline), compared(candidate, candidate)}) {
    EXPECT_FALSE(comparison.failed);
    EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
    EXPECT_EQ(comparison.problems.size(), problems);
  }
}

TEST_F(Compare, AFileThatCanNoLongerBeReadBreaksItsCells) {
  candidate.problems[7].hash = "hash of no data";
  candidate.problems[7].error = "boxes/problem-7.hdf5: truncated";
  for (CellRecord& cell : candidate.cells) {
    if (cell.problem != "hash-7") continue;
    cell.problem = "hash of no data";
    cell.status = CellStatus::bad_problem;
    cell.solved = false;
    cell.reason = "truncated";
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.alarms.at("broke"), static_cast<long>(solvers.size()));
  EXPECT_FALSE(comparison.alarms.contains("missing"));
  EXPECT_THAT(comparison_terminal(comparison, false), HasSubstr("problem-7.hdf5: truncated"));
}

TEST_F(Compare, AFileThatNeitherRunCouldTakeIsNoChange) {
  for (StoreContents* store : {&baseline, &candidate}) {
    store->problems[7].error = "boxes/problem-7.hdf5: rolling friction";
    for (CellRecord& cell : store->cells) {
      if (cell.problem == "hash-7") cell.status = CellStatus::unsupported, cell.solved = false;
    }
  }
  EXPECT_THAT(comparison_terminal(compared(baseline, candidate), false), Not(HasSubstr("rolling friction")));
  candidate.problems[7].error.clear();
  EXPECT_THAT(comparison_terminal(compared(baseline, candidate), false), HasSubstr("rolling friction"));
}

TEST_F(Compare, AChangeOfWorkNeedsNoStatistics) {
  for (std::size_t p = 0; p < 6; ++p) {
    CellRecord& cell = cell_of(candidate, "NSGS", p);
    cell.iterations = cell.operator_products = 60;
    cell.total.minimum *= 1.5;
    cell.answer_crc = 18;
  }
  const Comparison comparison = compared(baseline, candidate);
  const ConfigurationChange& change = configuration_of(comparison, "NSGS");
  EXPECT_EQ(change.count(CellChange::other_work), 6);
  EXPECT_EQ(change.times.cells, problems - 6) << "times are judged where the work is the same";
  EXPECT_STREQ(to_string(change.work.verdict), "slower");
  EXPECT_NEAR(change.work.products, 0.25 * std::log(1.5), 1e-12);
  EXPECT_NEAR(change.work.time_per_product, 0.0, 0.02);
  EXPECT_TRUE(comparison.failed);
}

TEST_F(Compare, OneIterationMoreOnOneCellIsShownAndNoFailure) {
  cell_of(candidate, "NSGS", 0).iterations = 41;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(configuration_of(comparison, "NSGS").count(CellChange::other_work), 1);
  EXPECT_THAT(comparison_terminal(comparison, false), HasSubstr("other work on 1 cell"));
  EXPECT_FALSE(comparison.failed);
}

TEST_F(Compare, WorkOnProblemsThatNoImpulseSolvesDecidesNothing) {
  const auto change_work = [&](std::size_t p) {
    cell_of(baseline, "NSGS", p).iterations = cell_of(candidate, "NSGS", p).iterations = 1;
    cell_of(baseline, "NSGS", p).operator_products = 1;
    cell_of(candidate, "NSGS", p).operator_products = 2;
  };
  change_work(3);
  EXPECT_STREQ(to_string(configuration_of(compared(baseline, candidate), "NSGS").work.verdict), "slower");
  for (StoreContents* store : {&candidate, &baseline}) {
    baseline.problems[3].zero_impulse.clear();
    candidate.problems[3].zero_impulse.clear();
    store->problems[3].zero_impulse["natural_map_scaled"] = 2e-6;
    EXPECT_TRUE(compared(baseline, candidate).failed) << "at 1e-6 λ = 0 does not solve it";
    store->problems[3].zero_impulse["natural_map_scaled"] = 0.0;
    EXPECT_FALSE(compared(baseline, candidate).failed) << "one side may not know";
  }
  const Comparison comparison = compared(baseline, candidate);
  const ConfigurationChange& change = configuration_of(comparison, "NSGS");
  EXPECT_EQ(change.count(CellChange::other_work), 1);
  EXPECT_EQ(change.work.products, 0.0);
  EXPECT_STRNE(to_string(change.assessment), "worse");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("other work on 1 cell that λ = 0 solves"));
  EXPECT_THAT(text, HasSubstr("1 product → solved"));
  EXPECT_THAT(text, HasSubstr("2 products\n"));
  change_work(4);
  const Comparison both = compared(baseline, candidate);
  EXPECT_NEAR(configuration_of(both, "NSGS").work.products, std::log(2.0) / (problems - 1), 1e-12);
  EXPECT_TRUE(both.failed);
}

TEST_F(Compare, AChangedCellShowsTheCountsThatDiffer) {
  CellRecord& cell = cell_of(candidate, "NSGS", 0);
  cell.factorizations = 1;
  cell.operator_products = 39;
  const auto flips = nlohmann::json::parse(comparison_json(compared(baseline, candidate)))["changed_cells"];
  EXPECT_THAT(flips[0]["baseline"].get<std::string>(), ::testing::EndsWith(", 0 factorizations, 40 products"));
  EXPECT_THAT(flips[0]["candidate"].get<std::string>(), ::testing::EndsWith(", 1 factorization, 39 products"));
  EXPECT_THAT(flips[0]["candidate"].get<std::string>(), Not(HasSubstr("iteration")));
}

TEST_F(Compare, UndecidedConfigurationsAreNamedAndAddUpToTheLastLine) {
  candidate.runs[0].machine.cpu = "Another CPU";  // no times
  const std::string all = comparison_terminal(compared(baseline, candidate), false);
  EXPECT_THAT(all, HasSubstr("4 configurations undecided (96 cells compared)"));
  candidate.runs[0].machine.cpu = baseline.runs[0].machine.cpu;
  for (const std::string& solver : solvers) {
    for (std::size_t p = 0; p < problems; ++p) {
      cell_of(candidate, solver, p).total.minimum *= p % 2 == 0 ? 1.5 : 0.66;  // scatter
    }
  }
  for (const char* solver : {"SSN", "CASCADE"}) {
    for (std::size_t p = 0; p < problems; ++p)
      cell_of(candidate, solver, p).total.minimum = p % 3 == 0 ? 1.4e-3 : 0.8e-3;
  }
  cell_of(candidate, "NSGS", 0).answer_crc = 18;
  const std::string text = comparison_terminal(compared(baseline, candidate), false);
  EXPECT_THAT(text, HasSubstr("4 configurations undecided, 3 of them not listed above: "));
  EXPECT_THAT(text, HasSubstr("; 4 configurations undecided (96 cells compared)"));
  for (const char* solver : {"PGS-NCP", "SSN", "CASCADE"}) EXPECT_THAT(text, HasSubstr(solver));
}

TEST_F(Compare, AnswersWithFewerDigitsAreLessAccurate) {
  for (std::size_t p = 0; p < 5; ++p) {
    cell_of(candidate, "SSN", p).answer_crc = 99;
    cell_of(candidate, "SSN", p).verdict_value = 9e-7;
    cell_of(baseline, "SSN", p).verdict_value = 1e-12;
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(configuration_of(comparison, "SSN").less_accurate);
  EXPECT_EQ(comparison.alarms.at("less-accurate"), 1);
}

TEST_F(Compare, WhatAClockEndedNearItsLimitIsNeitherLostNorWon) {
  for (const double took : {0.2, 0.5}) {
    StoreContents before = complete_run(1);
    StoreContents after = complete_run(2);
    cell_of(before, "NSGS", 1).total.minimum = took;
    CellRecord& cell = cell_of(after, "NSGS", 1);
    cell.solved = false;
    cell.status = CellStatus::time_limit;
    const Comparison comparison = compared(before, after);
    EXPECT_EQ(configuration_of(comparison, "NSGS").count(took < 1.0 / 3.0 ? CellChange::lost : CellChange::hit_limit),
              1);
  }
}

TEST_F(Compare, FlakyCellsStandApart) {
  cell_of(candidate, "CASCADE", 2).status = CellStatus::flaky;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(configuration_of(comparison, "CASCADE").count(CellChange::flaky), 1);
  EXPECT_EQ(configuration_of(comparison, "CASCADE").times.cells, problems - 1);
}

TEST_F(Compare, ANewVersionOrOptionOfASolverIsTheSameConfiguration) {
  candidate.configurations[0].hash = "configuration-of-version-2";
  candidate.configurations[0].solver_version = 2;
  candidate.configurations[1].hash = "configuration-with-another-option";
  candidate.configurations[1].options_json = R"({"damping":0.0,"omega":1.0})";
  for (CellRecord& cell : candidate.cells) {
    if (cell.configuration == "configuration-NSGS") cell.configuration = "configuration-of-version-2";
    if (cell.configuration == "configuration-PGS-NCP") cell.configuration = "configuration-with-another-option";
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(comparison.notes, Contains("versions of solvers: NSGS 1 → 2"));
  EXPECT_THAT(text, HasSubstr("damping"));
}

TEST_F(Compare, OtherMachinesAndBuildsHaveTheirTimesRefusedUnlessForced) {
  candidate.runs[0].build.compiler = "Clang 16";
  slow_down(candidate, "SSN", 2.0);
  EXPECT_FALSE(compared(baseline, candidate).times_compared);
  EXPECT_FALSE(compared(baseline, candidate).failed);
  CompareOptions options;
  options.force = true;
  const Comparison forced = compared(baseline, candidate, options);
  EXPECT_TRUE(forced.failed);
  EXPECT_THAT(forced.differences, Contains("compiler: GNU 12 in the baseline, Clang 16 in the candidate"));
}

TEST_F(Compare, AMachineOfTheSameModelIsAnotherMachine) {
  baseline.runs[0].machine.host = "bench01";
  candidate.runs[0].machine.host = "bench02";
  slow_down(candidate, "SSN", 2.0);
  const Comparison refused = compared(baseline, candidate);
  EXPECT_FALSE(refused.times_compared);
  EXPECT_FALSE(refused.failed);
  EXPECT_THAT(refused.differences, Contains("machine: bench01 in the baseline, bench02 in the candidate"));
  EXPECT_THAT(refused.times_refused, HasSubstr("machine"));
  CompareOptions options;
  options.force = true;
  EXPECT_TRUE(compared(baseline, candidate, options).failed);
  RunRecord shard = baseline.runs[0];
  shard.machine.host = "bench02";
  baseline.runs.push_back(shard);
  EXPECT_TRUE(compared(baseline, candidate).times_compared) << "shards on a cluster have a machine in common";
}

TEST_F(Compare, OtherLimitsAreNotComparedUnlessForced) {
  for (CellRecord& cell : candidate.cells) cell.limit_s = 2.0;
  EXPECT_EQ(compared(baseline, candidate).compared, 0);
  CompareOptions options;
  options.force = true;
  EXPECT_EQ(compared(baseline, candidate, options).compared, static_cast<long>(problems * solvers.size()));
}

TEST_F(Compare, ALoadedStoreIsNoted) {
  for (CellRecord& cell : candidate.cells) {
    cell.total.minimum *= 10.0;
    cell.total.median = 1.5 * cell.total.minimum;
  }
  for (CellRecord& cell : baseline.cells) cell.total.minimum *= 10.0, cell.total.median *= 10.0;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_FALSE(comparison.baseline.loaded);
  EXPECT_TRUE(comparison.candidate.loaded);
  EXPECT_TRUE(comparison.slices.at(0).families.empty());
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("candidate was loaded (100 % of long cells)")));
}

TEST_F(Compare, CellsThatNobodySupportsAreNotMissed) {
  CellRecord& cell = cell_of(baseline, "SSN", 0);
  cell.solved = cell.claimed = false;
  cell.status = CellStatus::unsupported;
  std::erase_if(candidate.cells, [](const CellRecord& one) {
    return one.configuration == "configuration-SSN" && one.problem == "hash-0";
  });
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_FALSE(comparison.failed);
  EXPECT_STRNE(to_string(configuration_of(comparison, "SSN").assessment), "worse");
}

TEST_F(Compare, OfACellThatTwoBuildsMeasuredIntoAStoreTheNewestIsCompared) {
  baseline.runs.push_back(baseline.runs.front());
  baseline.runs.back().id = 2;
  ConfigurationRecord newer = baseline.configurations[0];
  newer.hash = "configuration-of-version-2";
  newer.solver_version = 2;
  baseline.configurations.push_back(newer);
  for (std::size_t p = 0; p < problems; ++p) {
    CellRecord cell = cell_of(baseline, "NSGS", p);
    cell.configuration = newer.hash;
    cell.run_id = 2;
    cell.iterations = 41;
    baseline.cells.insert(baseline.cells.begin(), cell);
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.repeated, static_cast<long>(problems));
  EXPECT_FALSE(comparison.alarms.contains("missing"));
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
  EXPECT_EQ(configuration_of(comparison, "NSGS").count(CellChange::other_work), static_cast<long>(problems));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("24 cells measured by several builds")));
}

TEST_F(Compare, AConfigurationWhoseProblemIsGoneIsNeverBetter) {
  slow_down(candidate, "PGS-NCP", 0.8);
  std::erase_if(candidate.cells, [](const CellRecord& cell) { return cell.problem == "hash-5"; });
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(to_string(configuration_of(comparison, "PGS-NCP").times.verdict), "faster");
  EXPECT_STRNE(to_string(configuration_of(comparison, "PGS-NCP").assessment), "better");
}

TEST_F(Compare, TheTerminalsLinesFit) {
  for (const std::string family : {"boxes", "chains"}) slow_down(candidate, "SSN", 1.3, family);
  for (std::size_t p = 0; p < 6; ++p) {
    CellRecord& cell = cell_of(candidate, "NSGS", p);
    cell.iterations = cell.operator_products = 60;
    cell.reason = "a reason that is reported at length in many words";
    candidate.problems[p].name = baseline.problems[p].name = std::string(70, 'p');
  }
  for (const std::size_t width : {80U, 100U}) {
    std::istringstream lines(comparison_terminal(compared(baseline, candidate), false, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST_F(Compare, AJUnitTestFailsWhereTheGateDoes) {
  slow_down(candidate, "SSN", 1.2);
  EXPECT_THAT(comparison_junit(compared(baseline, candidate)), HasSubstr("failures=\"2\""))
      << "the configuration, and the whole";
  CompareOptions options;
  options.fail_on = {"lost"};
  EXPECT_THAT(comparison_junit(compared(baseline, candidate, options)), Not(HasSubstr("<failure")));
}

TEST_F(Compare, AJUnitTestFailsWhereAProblemIsGoneOrNothingIsInBoth) {
  std::erase_if(candidate.cells, [&](const CellRecord& cell) { return cell.problem == baseline.problems[3].hash; });
  candidate.problems.erase(candidate.problems.begin() + 3);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  const std::string junit = comparison_junit(comparison);
  EXPECT_EQ(junit.find("<failure"), junit.rfind("<failure")) << "reported once, not of every configuration";
  EXPECT_THAT(junit, HasSubstr("missing problem " + baseline.problems[3].name));
  candidate.cells.clear();
  EXPECT_THAT(comparison_junit(compared(baseline, candidate)), HasSubstr("no cell is in both"));
}

TEST_F(Compare, NamesThatAttackEveryFormatAreEscaped) {
  const std::string attack = "<script>alert(\"1\")</script>|`]]>&\x1b[31m";
  candidate.problems[3].name = baseline.problems[3].name = attack;
  cell_of(candidate, "NSGS", 3).solved = false;
  cell_of(candidate, "NSGS", 3).status = CellStatus::stalled;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_THAT(comparison_terminal(comparison, false), Not(HasSubstr("\x1b[31m")));
  EXPECT_THAT(comparison_markdown(comparison), Not(HasSubstr("<script>")));
  EXPECT_THAT(comparison_junit(comparison), Not(HasSubstr("<script>")));
  EXPECT_THAT(comparison_page(comparison), Not(HasSubstr("<script>alert")));
  EXPECT_EQ(nlohmann::json::parse(comparison_json(comparison))["changed_cells"][0]["problem"], attack);
}

TEST_F(Compare, TheMarkdownFitsAComment) {
  for (CellRecord& cell : candidate.cells) {
    cell.solved = false;
    cell.status = CellStatus::crashed;
    cell.reason = std::string(3000, 'x');
  }
  const std::string text = comparison_markdown(compared(baseline, candidate));
  EXPECT_LE(text.size(), 65536U);
  EXPECT_THAT(text, HasSubstr("broke"));
}

TEST_F(Compare, HostileNamesBreakNoTableOfTheMarkdownAndStayReadable) {
  const std::string name = "my_run|<b>\n`x`";
  for (StoreContents* store : {&baseline, &candidate}) {
    store->problems[0].name = name;
    store->configurations[0].label = name;
  }
  cell_of(candidate, "NSGS", 0).solved = false;
  cell_of(candidate, "NSGS", 0).status = CellStatus::stalled;
  cell_of(candidate, "NSGS", 0).reason = name;
  const std::string text = comparison_markdown(compare(make_side(name, baseline), make_side(name, candidate), {}));
  const std::string shown = "my\\_run\\|&lt;b&gt; \\`x\\`";
  EXPECT_THAT(text, HasSubstr("baseline " + shown + " (")) << "in a code span the marks would be shown, not obeyed";
  EXPECT_THAT(text, HasSubstr("| lost | " + shown + " | " + shown + " | 1e-6 | solved, "));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
}

TEST(ParseGate, KnowsItsWords) {
  EXPECT_EQ(*parse_gate("lost,slower"), (std::set<std::string>{"lost", "slower"}));
  EXPECT_THAT(*parse_gate("none"), IsEmpty());
  EXPECT_THAT(parse_gate("lots").error().message, HasSubstr("'lots'"));
  EXPECT_THAT(parse_gate("slowr").error().message, HasSubstr("did you mean 'slower'?"));
}

TEST(Calibrate, FindsTheNoiseThatStoresWereMadeWith) {
  std::vector<Side> sides;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) sides.push_back(make_side("s", complete_run(seed)));
  const auto calibration = calibrate(sides);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->comparisons, 15);
  EXPECT_LT(calibration->night_deviation, 0.004);
  EXPECT_GT(calibration->inflation, 0.3);
  EXPECT_LT(calibration->inflation, 2.0);
  sides.pop_back();
  EXPECT_FALSE(calibrate(sides).ok());
}

TEST(ComparedCode, AChangedPluginIsADifferenceOfTheTwoRunsWithBothHashes) {
  StoreContents baseline = complete_run(1), candidate = complete_run(2);
  SuiteScope scope;
  scope.code_hashes = {{"MINE", "0123456789abcdef"}, {"OTHER", "aa"}};
  baseline.runs[0].scope_json = to_json_text(scope);
  EXPECT_THAT(compared(baseline, baseline).differences, IsEmpty());
  scope.code_hashes["MINE"] = "fedcba9876543210";
  candidate.runs[0].scope_json = to_json_text(scope);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_THAT(comparison.differences, ElementsAre("code of MINE: 01234567 in the baseline, fedcba98 in the candidate"));
  const auto json = nlohmann::json::parse(comparison_json(comparison));
  EXPECT_EQ(json["code_changes"][0]["solver"], "MINE");
  EXPECT_EQ(json["code_changes"][0]["candidate"][0], "fedcba9876543210");
  EXPECT_TRUE(comparison.times_compared) << "what changed is what is looked for";
}

TEST_F(Compare, WhoPaysWhoseAConfigurationIsAndDoubtfulTimesAreReportedInEveryFormat) {
  for (StoreContents* store : {&baseline, &candidate}) {
    for (ConfigurationRecord& configuration : store->configurations) {
      configuration.checks = configuration.solver == "SSN" ? "paid" : "free";
      configuration.origin = configuration.solver == "CASCADE" ? "own" : "paper";
    }
  }
  slow_down(candidate, "CASCADE", 1.2);
  cell_of(candidate, "SSN", 0).doubts = {"kept_answers"};
  const Comparison comparison = compared(baseline, candidate);
  const std::string terms = "stop_by judge (SSN pays for tests of its own, residual checks of the others are free)";
  const std::string doubt = "doubtful times in 1 cell of SSN in candidate: kept answers";
  for (const std::string& text :
       {comparison_terminal(comparison, false, 1000), comparison_json(comparison), comparison_page(comparison)}) {
    EXPECT_THAT(text, HasSubstr(terms));
    EXPECT_THAT(text, HasSubstr(doubt));
  }
  const std::string page = comparison_markdown(comparison), terminal = comparison_terminal(comparison, false);
  EXPECT_THAT(page, HasSubstr(markdown(terms)));
  EXPECT_THAT(page, HasSubstr(markdown(doubt)));
  EXPECT_THAT(page, HasSubstr("CASCADE \\*"));
  EXPECT_THAT(terminal, HasSubstr("CASCADE *"));
  EXPECT_THAT(terminal, HasSubstr("* by Conebench's authors"));
  EXPECT_THAT(comparison_junit(comparison), HasSubstr("stop_by judge"));
  for (const auto& configuration : nlohmann::json::parse(comparison_json(comparison))["slices"][0]["configurations"]) {
    EXPECT_EQ(configuration["origin"], configuration["solver"] == "CASCADE" ? "own" : "paper");
    EXPECT_EQ(configuration["doubtful_cells"], configuration["solver"] == "SSN" ? 1 : 0);
  }
}

TEST(ComparedProblems, ThoseThatSayNothingOfASolverAreLeftOut) {
  StoreContents baseline = complete_run(1), candidate = complete_run(2);
  for (StoreContents* store : {&baseline, &candidate}) {
    for (const std::string& solver : solvers) {
      cell_of(*store, solver, 3).solved = false;
      cell_of(*store, solver, 3).status = CellStatus::max_iterations;
    }
  }
  candidate.problems[3].feasibility = {"infeasible", -0.5, 0, {1.0}, 1e-3};
  baseline.problems[4].noise_ratio = 0.5;
  EXPECT_EQ(compared(baseline, candidate).compared, static_cast<long>((problems - 2) * solvers.size()));
  candidate.problems[3].feasibility.verdict_bound = 1e-7;  // the cells are asked for at 1e-6
  EXPECT_EQ(compared(baseline, candidate).compared, static_cast<long>((problems - 1) * solvers.size()));
}

TEST(ComparedProblems, ACertificateOfTheCandidateHidesNoLostCell) {
  StoreContents baseline = complete_run(1), candidate = complete_run(2);
  cell_of(candidate, "NSGS", 3).solved = false;
  cell_of(candidate, "NSGS", 3).status = CellStatus::max_iterations;
  candidate.problems[3].feasibility = {"infeasible", -0.5, 0, {1.0}, 1e-3};
  cell_of(baseline, "NSGS", 3).verdict_version = 2;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_EQ(configuration_of(comparison, "NSGS").count(CellChange::lost), 1);
  cell_of(baseline, "NSGS", 3).verdict_version = 1;
  EXPECT_EQ(configuration_of(compared(baseline, candidate), "NSGS").count(CellChange::lost), 0)
      << "what a judge with fewer digits took for solved";
}

}  // namespace
}  // namespace conebench::reports
