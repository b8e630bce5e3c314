#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/comparison/comparison.hpp"
#include "store/suite_scope.hpp"
#include "tests/reports/comparison_runs.hpp"

namespace conebench::reports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const char* assessment_of(const Comparison& comparison, const std::string& solver) {
  return to_string(configuration_of(comparison, solver).assessment);
}

TEST_F(Compare, OtherAnswerBitsWithEqualCountsAreReportedAndTheirTimesJudged) {
  slow_down(candidate, "SSN", 1.1);
  for (CellRecord& cell : candidate.cells) cell.answer_crc = 99;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(configuration_of(comparison, "SSN").count(CellChange::other_bits), static_cast<long>(problems));
  EXPECT_STREQ(to_string(configuration_of(comparison, "SSN").times.verdict), "slower");
  EXPECT_TRUE(comparison.failed);
}

/// The first two, or three, solvers alone.
void keep(StoreContents& store, std::size_t configurations) {
  std::erase_if(store.cells, [&](const CellRecord& cell) {
    for (std::size_t s = 0; s < configurations; ++s) {
      if (cell.configuration == "configuration-" + solvers[s]) return false;
    }
    return true;
  });
}

TEST_F(Compare, AnImprovementOfOneOfTwoOrThreeConfigurationsMakesNoOtherSlower) {
  for (const std::size_t configurations : {2U, 3U}) {
    StoreContents before = complete_run(1), after = complete_run(2);
    keep(before, configurations);
    keep(after, configurations);
    slow_down(after, "NSGS", 0.9);
    const Comparison comparison = compared(before, after);
    EXPECT_FALSE(comparison.failed) << configurations;
    EXPECT_STREQ(assessment_of(comparison, "PGS-NCP"), "undecided");
    EXPECT_STREQ(assessment_of(comparison, "NSGS"), configurations == 2 ? "undecided" : "better");
  }
}

TEST_F(Compare, ASlowerOneOfThreeConfigurationsIsStillFound) {
  keep(baseline, 3);
  keep(candidate, 3);
  slow_down(candidate, "SSN", 1.08);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_TRUE(comparison.failed);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "worse");
}

void end_by_the_clock(CellRecord& cell) {
  cell.status = CellStatus::time_limit;
  cell.solved = cell.claimed = false;
  cell.total.minimum = cell.total.median = 1.0;
}

TEST_F(Compare, AConfigurationThatTheClockEndsWhereItSolvedBeforeIsNeitherBetterNorAsBefore) {
  slow_down(candidate, "SSN", 0.8);
  for (std::size_t p = 0; p < 5; ++p) {
    cell_of(baseline, "SSN", p).total.minimum = 0.4;
    end_by_the_clock(cell_of(candidate, "SSN", p));
  }
  for (std::size_t p = 0; p < problems; ++p) {
    cell_of(baseline, "NSGS", p).total.minimum = 0.4;
    end_by_the_clock(cell_of(candidate, "NSGS", p));
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_STREQ(assessment_of(comparison, "NSGS"), "undecided");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("24 cells no longer solved"));
  EXPECT_THAT(text, Not(HasSubstr("as before")));
  CompareOptions gate;
  gate.fail_on = {"undecided"};
  EXPECT_TRUE(compared(baseline, candidate, gate).failed);
}

TEST_F(Compare, OneIterationMoreThatTakesThreeTimesAsLongIsSlower) {
  for (std::size_t p = 0; p < 9; ++p) {
    CellRecord& cell = cell_of(candidate, "NSGS", p);
    cell.iterations = cell.operator_products = 41;
    cell.total.minimum *= 3.0;
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(to_string(configuration_of(comparison, "NSGS").assessment), "worse");
  EXPECT_TRUE(comparison.failed);
}

TEST_F(Compare, GainsAndLossesThatMakeUpForEachOtherAreNotTheSame) {
  for (const auto& [problem, factor] : {std::pair(0, 10.0), std::pair(1, 0.1)}) {
    CellRecord& cell = cell_of(candidate, "NSGS", static_cast<std::size_t>(problem));
    cell.iterations = cell.operator_products = std::lround(40 * factor);
    cell.total.minimum *= factor;
  }
  EXPECT_STREQ(to_string(configuration_of(compared(baseline, candidate), "NSGS").assessment), "undecided");
}

TEST_F(Compare, ConfigurationsUndecidedAtOneOfTwoTolerancesAreSoInSomeTables) {
  for (StoreContents* store : {&baseline, &candidate}) {
    const std::vector<CellRecord> cells = store->cells;
    for (CellRecord cell : cells) {
      cell.tolerance = 1e-4;
      cell.key += "loose";
      store->cells.push_back(cell);
    }
  }
  const auto mix = [&](const std::string& solver, double tolerance) {
    for (CellRecord& cell : candidate.cells) {
      if (cell.configuration != "configuration-" + solver || cell.tolerance != tolerance) continue;
      const double factor = cell.problem == "hash-0" ? 10.0 : cell.problem == "hash-1" ? 0.1 : 1.0;
      cell.iterations = cell.operator_products = std::lround(40 * factor);
      cell.total.minimum *= factor;
    }
  };
  mix("NSGS", 1e-6);
  mix("SSN", 1e-4);
  EXPECT_THAT(headline(compared(baseline, candidate)),
              HasSubstr("; 2 configurations undecided in some tables (192 cells compared)"));
  mix("NSGS", 1e-4);
  mix("SSN", 1e-6);
  EXPECT_THAT(headline(compared(baseline, candidate)), HasSubstr("; 2 configurations undecided (192 cells compared)"));
}

TEST_F(Compare, MoreWorkOnAFamilyIsSlower) {
  for (std::size_t p = 18; p < problems; ++p) {
    CellRecord& cell = cell_of(candidate, "NSGS", p);
    cell.iterations = cell.operator_products = 42;  // 5 %: 1.2 % of the configuration
    cell.total.minimum *= 1.05;
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_THAT(configuration_of(comparison, "NSGS").reasons, Contains("slower: more work on chains"));
  EXPECT_EQ(comparison.alarms.at("slower"), 1);
}

TEST_F(Compare, AConfigurationThatBecomesFlakyIsWorseAndOneThatWasIsNot) {
  for (std::size_t p = 0; p < 5; ++p) cell_of(candidate, "NSGS", p).status = CellStatus::flaky;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(to_string(configuration_of(comparison, "NSGS").assessment), "worse");
  EXPECT_TRUE(comparison.failed);
  cell_of(baseline, "NSGS", 7).status = CellStatus::flaky;
  EXPECT_FALSE(compared(baseline, candidate).failed);
}

TEST_F(Compare, LessWorkInMoreTimeIsNoGain) {
  for (std::size_t p = 0; p < problems; ++p) cell_of(candidate, "SSN", p).iterations = 30;
  EXPECT_STREQ(assessment_of(compared(baseline, candidate), "SSN"), "better");
  slow_down(candidate, "SSN", 2.0);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_FALSE(comparison.alarms.contains("faster"));
}

TEST_F(Compare, ASolverThatBeginsToFactorizeWorksMore) {
  for (std::size_t p = 0; p < problems; ++p) cell_of(candidate, "SSN", p).factorizations = 1;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(to_string(configuration_of(comparison, "SSN").work.verdict), "slower");
  EXPECT_TRUE(comparison.failed);
}

TEST_F(Compare, WhereTimesAreNotComparedNoConfigurationIsTheSame) {
  candidate.runs[0].machine.cpu = "Another CPU";
  slow_down(candidate, "SSN", 3.0);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_FALSE(comparison.times_compared);
}

TEST_F(Compare, AConfigurationThatTheCandidateAloneHasIsNew) {
  std::erase_if(baseline.cells, [](const CellRecord& cell) { return cell.configuration == "configuration-SSN"; });
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "new");
  EXPECT_THAT(comparison_terminal(comparison, false), Not(HasSubstr("as before")));
}

TEST_F(Compare, OtherLimitsThatAreForcedAreReported) {
  for (CellRecord& cell : candidate.cells) cell.limit_s = 0.1;
  cell_of(baseline, "SSN", 0).total.minimum = 0.09;
  end_by_the_clock(cell_of(candidate, "SSN", 0));
  CompareOptions options;
  options.force = true;
  const Comparison comparison = compared(baseline, candidate, options);
  EXPECT_THAT(comparison.differences, Contains(HasSubstr("limits: 1 s, 1000 iterations")));
  EXPECT_EQ(configuration_of(comparison, "SSN").count(CellChange::hit_limit), 1) << "near the limit that ended it";
}

/// `configuration` with cells that equal NSGS's.
void add_like_nsgs(auto& store, const ConfigurationRecord& configuration) {
  for (std::size_t p = 0; p < problems; ++p) {
    CellRecord cell = cell_of(store, "NSGS", p);
    cell.configuration = configuration.hash;
    cell.key += configuration.hash;
    store.cells.push_back(cell);
  }
}

TEST_F(Compare, TwoNewConfigurationsThatAreAlikeAreNotPairedWithAnOldOne) {
  ConfigurationRecord other = candidate.configurations[0];
  candidate.configurations[0].options_json = R"({"omega":1.0,"damping":0.0})";
  other.options_json = R"({"omega":1.0,"damping":0.5})";
  other.hash = "configuration-damped";
  candidate.configurations.push_back(other);
  add_like_nsgs(candidate, other);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * (solvers.size() - 1)));
  EXPECT_EQ(comparison.alarms.at("missing"), static_cast<long>(problems));
}

TEST_F(Compare, OfConfigurationsWithALostOptionTheOneAtItsDefaultIsTheSame) {
  baseline.configurations[0].options_json = R"({"omega":1.0,"projected":false})";
  ConfigurationRecord other = baseline.configurations[0];
  other.options_json = R"({"omega":1.0,"projected":true})";
  other.label += " projected=true";
  other.changed_options = {"projected"};
  other.hash = "configuration-projected";
  baseline.configurations.insert(baseline.configurations.begin(), other);
  add_like_nsgs(baseline, other);
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
  EXPECT_EQ(comparison.alarms.at("missing"), static_cast<long>(problems));
  EXPECT_EQ(comparison.configurations[0].note, "the solver no longer has projected");
  EXPECT_EQ(comparison.configurations[1].options_changed, "projected (baseline alone)");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("missing configuration NSGS projected=true: the solver no longer has projected\n"));
  EXPECT_THAT(text, HasSubstr("24 missing: the solver no longer has projected"));
  EXPECT_THAT(text, Not(HasSubstr("new configuration")));
  EXPECT_FALSE(compared(candidate, baseline).failed) << "got, not lost";
  EXPECT_EQ(compared(candidate, baseline).compared, comparison.compared);
  // Alone the one that is not at its default is another method, and the option may be one that all solvers have.
  std::erase_if(baseline.cells, [](const CellRecord& cell) { return cell.configuration == "configuration-NSGS"; });
  const Comparison alone = compared(baseline, candidate);
  EXPECT_EQ(alone.compared, static_cast<long>(problems * (solvers.size() - 1)));
  EXPECT_THAT(alone.notes, Contains(HasSubstr("NSGS projected=true and NSGS are one solver with different options")));
}

TEST_F(Compare, AConfigurationWhoseSolverHasAnotherDefaultIsTheSame) {
  baseline.configurations[0].options_json = R"({"omega":1.0})";
  candidate.configurations[0].options_json = R"({"omega":1.5})";
  candidate.configurations[0].hash = "configuration-other-default";
  for (CellRecord& cell : candidate.cells) {
    if (cell.configuration != baseline.configurations[0].hash) continue;
    cell.configuration = candidate.configurations[0].hash;
    cell.iterations += 3;
  }
  const Comparison same_label = compared(baseline, candidate);
  EXPECT_EQ(same_label.compared, static_cast<long>(problems * solvers.size()));
  EXPECT_EQ(same_label.configurations[0].options_changed, "omega 1.0 -> 1.5");
  candidate.configurations[0].changed_options = {"omega"};
  EXPECT_EQ(compared(baseline, candidate).alarms.at("missing"), static_cast<long>(problems))
      << "asked for: another configuration";
}

TEST_F(Compare, OtherLimitsAreReportedWhereTheyLeaveNothingToCompare) {
  for (CellRecord& cell : candidate.cells) cell.max_iterations = 50;
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_EQ(comparison.compared, 0);
  EXPECT_THAT(comparison.differences, Contains(AllOf(HasSubstr("limits: "), HasSubstr(" 50 iterations"))));
}

TEST_F(Compare, TheLeastChangeThatIsAskedForHoldsSideBySideToo) {
  for (StoreContents* store : {&baseline, &candidate}) {
    store->runs[0].side = store == &baseline ? "baseline" : "candidate";
    for (CellRecord& cell : store->cells) {
      for (const double factor : {1.0, 1.001}) {
        RoundRecord round;
        round.round = static_cast<int>(cell.timed_rounds.size()) + 1;
        round.minimum = 1e-3 * factor * (store == &candidate && cell.configuration == "configuration-SSN" ? 1.03 : 1.0);
        cell.timed_rounds.push_back(round);
      }
    }
  }
  EXPECT_TRUE(compared(baseline, candidate).failed);
  CompareOptions options;
  options.min_change = 0.05;
  const Comparison comparison = compared(baseline, candidate, options);
  EXPECT_FALSE(comparison.failed);
  EXPECT_EQ(comparison.minimum_effect, 0.05);
}

TEST_F(Compare, CodeThatAllConfigurationsShareIsReportedAsSuchSideBySide) {
  for (StoreContents* store : {&baseline, &candidate}) {
    store->runs[0].side = store == &baseline ? "baseline" : "candidate";
    for (CellRecord& cell : store->cells) {
      for (int i = 1; i <= 2; ++i) {
        RoundRecord round;
        round.round = i;
        round.minimum = store == &candidate ? 1.1e-3 : 1e-3;
        cell.timed_rounds.push_back(round);
      }
    }
  }
  const Comparison comparison = compared(baseline, candidate);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("code that they share")));
  EXPECT_THAT(comparison.notes, Not(Contains(HasSubstr("--ab"))));
}

/// Of a store whose second build measured one solver anew, as a new version of it.
TEST_F(Compare, OfTwoBuildsInOneStoreWhatBothMeasuredIsComparedAndTheRestIsOnNeitherSide) {
  StoreContents store = baseline;
  store.runs.push_back(store.runs.front());
  store.runs.back().id = 2;
  store.runs.back().build.executable = "second";
  ConfigurationRecord version_2 = store.configurations[2];
  version_2.hash = "configuration-version-2";
  version_2.solver_version = 2;
  store.configurations.push_back(version_2);
  SuiteScope scope;
  for (const ProblemRecord& problem : store.problems) scope.problems[problem.source] = problem.hash;
  scope.tolerances = {1e-6};
  scope.starts = {"cold"};
  scope.stop_by = "judge";
  scope.verdict = "natural_map_scaled";
  scope.max_iterations = 1000;
  scope.limit_s = 1.0;
  scope.limit_mb = 100;
  for (const ConfigurationRecord& configuration : store.configurations) {
    if (configuration.hash != "configuration-SSN") scope.configurations[configuration.hash] = {};
  }
  store.runs.back().scope_json = to_json_text(scope);
  for (std::size_t p = 0; p < problems; ++p) {
    CellRecord cell = cell_of(candidate, "SSN", p);
    cell.run_id = 2;
    cell.configuration = version_2.hash;
    cell.key += "version-2";
    cell.iterations = 41;
    store.cells.push_back(cell);
  }
  const auto runs_of = [](std::int64_t id) {
    return NamedRuns{fmt::format("run {}", id), [id](const RunRecord& run) { return run.id == id; }};
  };
  auto [old, candidate_side] = split_builds(store, runs_of(1), runs_of(2));
  const Comparison comparison = compare(std::move(old), std::move(candidate_side), {});
  EXPECT_EQ(comparison.compared, static_cast<long>(problems));
  EXPECT_EQ(configuration_of(comparison, "SSN").count(CellChange::other_work), static_cast<long>(problems));
  EXPECT_FALSE(comparison.alarms.contains("missing"));
  auto [newer, older] = split_builds(store, runs_of(2), runs_of(1));
  EXPECT_EQ(compare(std::move(newer), std::move(older), {}).compared, static_cast<long>(problems));
}

}  // namespace
}  // namespace conebench::reports
