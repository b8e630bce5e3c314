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
  return to_string(setting_of(comparison, solver).assessment);
}

TEST_F(Compare, OtherAnswerBitsWithEqualCountsAreToldAndTheirTimesJudged) {
  slow_down(fresh, "SSN", 1.1);
  for (CellRecord& cell : fresh.cells) cell.answer_crc = 99;
  const Comparison comparison = compared(base, fresh);
  EXPECT_EQ(setting_of(comparison, "SSN").count(CellChange::other_bits), static_cast<long>(problems));
  EXPECT_STREQ(to_string(setting_of(comparison, "SSN").times.verdict), "slower");
  EXPECT_TRUE(comparison.failed);
  EXPECT_THAT(comparison_terminal(comparison, false), HasSubstr("other answer bits on 24 cells"));
}

/// The first two, or three, solvers alone.
void keep(StoreContents& store, std::size_t settings) {
  std::erase_if(store.cells, [&](const CellRecord& cell) {
    for (std::size_t s = 0; s < settings; ++s) {
      if (cell.setting == "setting-" + solvers[s]) return false;
    }
    return true;
  });
}

TEST_F(Compare, AnImprovementOfOneOfTwoOrThreeSettingsMakesNoOtherSlower) {
  for (const std::size_t settings : {2U, 3U}) {
    StoreContents before = complete_run(1), after = complete_run(2);
    keep(before, settings);
    keep(after, settings);
    slow_down(after, "NSGS", 0.9);
    const Comparison comparison = compared(before, after);
    EXPECT_FALSE(comparison.failed) << settings;
    EXPECT_STREQ(assessment_of(comparison, "PGS-NCP"), "undecided");
    EXPECT_STREQ(assessment_of(comparison, "NSGS"), settings == 2 ? "undecided" : "better");
  }
}

TEST_F(Compare, ASlowerOneOfThreeSettingsIsStillFound) {
  keep(base, 3);
  keep(fresh, 3);
  slow_down(fresh, "SSN", 1.08);
  const Comparison comparison = compared(base, fresh);
  EXPECT_TRUE(comparison.failed);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "worse");
}

void end_by_the_clock(CellRecord& cell) {
  cell.status = CellStatus::time_limit;
  cell.solved = cell.claimed = false;
  cell.total.minimum = cell.total.median = 1.0;
}

TEST_F(Compare, ASettingThatTheClockEndsWhereItSolvedBeforeIsNeitherBetterNorAsBefore) {
  slow_down(fresh, "SSN", 0.8);
  for (std::size_t p = 0; p < 5; ++p) {
    cell_of(base, "SSN", p).total.minimum = 0.4;
    end_by_the_clock(cell_of(fresh, "SSN", p));
  }
  for (std::size_t p = 0; p < problems; ++p) {
    cell_of(base, "NSGS", p).total.minimum = 0.4;
    end_by_the_clock(cell_of(fresh, "NSGS", p));
  }
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_STREQ(assessment_of(comparison, "NSGS"), "undecided");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("24 cells no longer solved"));
  EXPECT_THAT(text, Not(HasSubstr("as before")));
  CompareOptions gate;
  gate.fail_on = {"undecided"};
  EXPECT_TRUE(compared(base, fresh, gate).failed);
}

TEST_F(Compare, OneIterationMoreThatTakesThreeTimesAsLongIsSlower) {
  for (std::size_t p = 0; p < 9; ++p) {
    CellRecord& cell = cell_of(fresh, "NSGS", p);
    cell.iterations = cell.operator_products = 41;
    cell.total.minimum *= 3.0;
  }
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(to_string(setting_of(comparison, "NSGS").assessment), "worse");
  EXPECT_TRUE(comparison.failed);
}

TEST_F(Compare, GainsAndLossesThatMakeUpForEachOtherAreNotTheSame) {
  for (const auto& [problem, factor] : {std::pair(0, 10.0), std::pair(1, 0.1)}) {
    CellRecord& cell = cell_of(fresh, "NSGS", static_cast<std::size_t>(problem));
    cell.iterations = cell.operator_products = std::lround(40 * factor);
    cell.total.minimum *= factor;
  }
  EXPECT_STREQ(to_string(setting_of(compared(base, fresh), "NSGS").assessment), "undecided");
}

TEST_F(Compare, SettingsUndecidedAtOneOfTwoTolerancesAreSoSomewhere) {
  for (StoreContents* store : {&base, &fresh}) {
    const std::vector<CellRecord> cells = store->cells;
    for (CellRecord cell : cells) {
      cell.tolerance = 1e-4;
      cell.key += "loose";
      store->cells.push_back(cell);
    }
  }
  const auto mix = [&](const std::string& solver, double tolerance) {
    for (CellRecord& cell : fresh.cells) {
      if (cell.setting != "setting-" + solver || cell.tolerance != tolerance) continue;
      const double factor = cell.problem == "hash-0" ? 10.0 : cell.problem == "hash-1" ? 0.1 : 1.0;
      cell.iterations = cell.operator_products = std::lround(40 * factor);
      cell.total.minimum *= factor;
    }
  };
  mix("NSGS", 1e-6);
  mix("SSN", 1e-4);
  EXPECT_THAT(headline(compared(base, fresh)), HasSubstr("; 2 settings undecided somewhere (192 cells compared)"));
  mix("NSGS", 1e-4);
  mix("SSN", 1e-6);
  EXPECT_THAT(headline(compared(base, fresh)), HasSubstr("; 2 settings undecided (192 cells compared)"));
}

TEST_F(Compare, MoreWorkOnAFamilyIsSlower) {
  for (std::size_t p = 18; p < problems; ++p) {
    CellRecord& cell = cell_of(fresh, "NSGS", p);
    cell.iterations = cell.operator_products = 42;  // 5 %: 1.2 % of the setting
    cell.total.minimum *= 1.05;
  }
  const Comparison comparison = compared(base, fresh);
  EXPECT_THAT(setting_of(comparison, "NSGS").reasons, Contains("slower: more work on chains"));
  EXPECT_EQ(comparison.alarms.at("slower"), 1);
}

TEST_F(Compare, ASettingThatBecomesFlakyIsWorseAndOneThatWasIsNot) {
  for (std::size_t p = 0; p < 5; ++p) cell_of(fresh, "NSGS", p).status = CellStatus::flaky;
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(to_string(setting_of(comparison, "NSGS").assessment), "worse");
  EXPECT_TRUE(comparison.failed);
  cell_of(base, "NSGS", 7).status = CellStatus::flaky;
  EXPECT_FALSE(compared(base, fresh).failed);
}

TEST_F(Compare, LessWorkInMoreTimeIsNoGain) {
  for (std::size_t p = 0; p < problems; ++p) cell_of(fresh, "SSN", p).iterations = 30;
  EXPECT_STREQ(assessment_of(compared(base, fresh), "SSN"), "better");
  slow_down(fresh, "SSN", 2.0);
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_FALSE(comparison.alarms.contains("faster"));
}

TEST_F(Compare, ASolverThatBeginsToFactorizeWorksMore) {
  for (std::size_t p = 0; p < problems; ++p) cell_of(fresh, "SSN", p).factorizations = 1;
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(to_string(setting_of(comparison, "SSN").work.verdict), "slower");
  EXPECT_TRUE(comparison.failed);
}

TEST_F(Compare, WhereTimesAreNotComparedNoSettingIsTheSame) {
  fresh.runs[0].machine.cpu = "Another CPU";
  slow_down(fresh, "SSN", 3.0);
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "undecided");
  EXPECT_THAT(comparison_terminal(comparison, false), HasSubstr("times not compared"));
}

TEST_F(Compare, ASettingThatTheNewRunAloneHasIsNew) {
  std::erase_if(base.cells, [](const CellRecord& cell) { return cell.setting == "setting-SSN"; });
  const Comparison comparison = compared(base, fresh);
  EXPECT_STREQ(assessment_of(comparison, "SSN"), "new");
  EXPECT_THAT(comparison_terminal(comparison, false), Not(HasSubstr("as before")));
}

TEST_F(Compare, OtherLimitsThatAreForcedAreTold) {
  for (CellRecord& cell : fresh.cells) cell.limit_s = 0.1;
  cell_of(base, "SSN", 0).total.minimum = 0.09;
  end_by_the_clock(cell_of(fresh, "SSN", 0));
  CompareOptions options;
  options.force = true;
  const Comparison comparison = compared(base, fresh, options);
  EXPECT_THAT(comparison.differences, Contains(HasSubstr("limits: 1 s, 1000 iterations")));
  EXPECT_EQ(setting_of(comparison, "SSN").count(CellChange::hit_limit), 1) << "near the limit that ended it";
}

/// `setting` with cells that equal NSGS's.
void add_like_nsgs(auto& store, const SettingRecord& setting) {
  for (std::size_t p = 0; p < problems; ++p) {
    CellRecord cell = cell_of(store, "NSGS", p);
    cell.setting = setting.hash;
    cell.key += setting.hash;
    store.cells.push_back(cell);
  }
}

TEST_F(Compare, TwoNewSettingsThatAreAlikeAreNotPairedWithAnOldOne) {
  SettingRecord other = fresh.settings[0];
  fresh.settings[0].options_json = R"({"omega":1.0,"damping":0.0})";
  other.options_json = R"({"omega":1.0,"damping":0.5})";
  other.hash = "setting-damped";
  fresh.settings.push_back(other);
  add_like_nsgs(fresh, other);
  const Comparison comparison = compared(base, fresh);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * (solvers.size() - 1)));
  EXPECT_EQ(comparison.alarms.at("missing"), static_cast<long>(problems));
}

TEST_F(Compare, OfSettingsWithALostOptionTheOneAtItsDefaultIsTheSame) {
  base.settings[0].options_json = R"({"omega":1.0,"projected":false})";
  SettingRecord other = base.settings[0];
  other.options_json = R"({"omega":1.0,"projected":true})";
  other.label += " projected=true";
  other.changed_options = {"projected"};
  other.hash = "setting-projected";
  base.settings.insert(base.settings.begin(), other);
  add_like_nsgs(base, other);
  const Comparison comparison = compared(base, fresh);
  EXPECT_EQ(comparison.compared, static_cast<long>(problems * solvers.size()));
  EXPECT_EQ(comparison.alarms.at("missing"), static_cast<long>(problems));
  EXPECT_EQ(comparison.settings[0].note, "the solver no longer has projected");
  EXPECT_EQ(comparison.settings[1].options_changed, "projected (base alone)");
  const std::string text = comparison_terminal(comparison, false);
  EXPECT_THAT(text, HasSubstr("missing setting NSGS projected=true: the solver no longer has projected\n"));
  EXPECT_THAT(text, HasSubstr("24 missing: the solver no longer has projected"));
  EXPECT_THAT(text, Not(HasSubstr("new setting")));
  EXPECT_FALSE(compared(fresh, base).failed) << "got, not lost";
  EXPECT_EQ(compared(fresh, base).compared, comparison.compared);
  // Alone the one that is not at its default is another method, and the option may be one that all solvers have.
  std::erase_if(base.cells, [](const CellRecord& cell) { return cell.setting == "setting-NSGS"; });
  const Comparison alone = compared(base, fresh);
  EXPECT_EQ(alone.compared, static_cast<long>(problems * (solvers.size() - 1)));
  EXPECT_THAT(alone.notes, Contains(HasSubstr("NSGS projected=true and NSGS are one solver with different options")));
}

TEST_F(Compare, ASettingWhoseSolverHasAnotherDefaultIsTheSame) {
  base.settings[0].options_json = R"({"omega":1.0})";
  fresh.settings[0].options_json = R"({"omega":1.5})";
  fresh.settings[0].hash = "setting-other-default";
  for (CellRecord& cell : fresh.cells) {
    if (cell.setting != base.settings[0].hash) continue;
    cell.setting = fresh.settings[0].hash;
    cell.iterations += 3;
  }
  const Comparison same_label = compared(base, fresh);
  EXPECT_EQ(same_label.compared, static_cast<long>(problems * solvers.size()));
  EXPECT_EQ(same_label.settings[0].options_changed, "omega 1.0 -> 1.5");
  fresh.settings[0].changed_options = {"omega"};
  EXPECT_EQ(compared(base, fresh).alarms.at("missing"), static_cast<long>(problems)) << "asked for: another setting";
}

TEST_F(Compare, OtherLimitsAreToldWhereTheyLeaveNothingToCompare) {
  for (CellRecord& cell : fresh.cells) cell.max_iterations = 50;
  const Comparison comparison = compared(base, fresh);
  EXPECT_EQ(comparison.compared, 0);
  EXPECT_THAT(comparison.differences, Contains(AllOf(HasSubstr("limits: "), HasSubstr(" 50 iterations"))));
}

TEST_F(Compare, TheLeastChangeThatIsAskedForHoldsSideBySideToo) {
  for (StoreContents* store : {&base, &fresh}) {
    store->runs[0].side = store == &base ? "base" : "new";
    for (CellRecord& cell : store->cells) {
      for (const double factor : {1.0, 1.001}) {
        RoundRecord round;
        round.round = static_cast<int>(cell.timed_rounds.size()) + 1;
        round.minimum = 1e-3 * factor * (store == &fresh && cell.setting == "setting-SSN" ? 1.03 : 1.0);
        cell.timed_rounds.push_back(round);
      }
    }
  }
  EXPECT_TRUE(compared(base, fresh).failed);
  CompareOptions options;
  options.min_change = 0.05;
  const Comparison comparison = compared(base, fresh, options);
  EXPECT_FALSE(comparison.failed);
  EXPECT_EQ(comparison.minimum_effect, 0.05);
}

TEST_F(Compare, CodeThatAllSettingsShareIsToldAsSuchSideBySide) {
  for (StoreContents* store : {&base, &fresh}) {
    store->runs[0].side = store == &base ? "base" : "new";
    for (CellRecord& cell : store->cells) {
      for (int i = 1; i <= 2; ++i) {
        RoundRecord round;
        round.round = i;
        round.minimum = store == &fresh ? 1.1e-3 : 1e-3;
        cell.timed_rounds.push_back(round);
      }
    }
  }
  const Comparison comparison = compared(base, fresh);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("code that they share")));
  EXPECT_THAT(comparison.notes, Not(Contains(HasSubstr("--beside"))));
}

/// Of a store whose second build measured one solver anew, as a new version of it.
TEST_F(Compare, OfTwoBuildsInOneStoreWhatBothMeasuredIsComparedAndTheRestIsOnNeitherSide) {
  StoreContents store = base;
  store.runs.push_back(store.runs.front());
  store.runs.back().id = 2;
  store.runs.back().build.executable = "second";
  SettingRecord version_2 = store.settings[2];
  version_2.hash = "setting-version-2";
  version_2.solver_version = 2;
  store.settings.push_back(version_2);
  SuiteScope scope;
  for (const ProblemRecord& problem : store.problems) scope.problems[problem.source] = problem.hash;
  scope.tolerances = {1e-6};
  scope.starts = {"cold"};
  scope.criterion = "verdict";
  scope.verdict = "natural_map_scaled";
  scope.max_iterations = 1000;
  scope.limit_s = 1.0;
  scope.limit_mb = 100;
  for (const SettingRecord& setting : store.settings) {
    if (setting.hash != "setting-SSN") scope.settings[setting.hash] = {};
  }
  store.runs.back().scope_json = to_json_text(scope);
  for (std::size_t p = 0; p < problems; ++p) {
    CellRecord cell = cell_of(fresh, "SSN", p);
    cell.run_id = 2;
    cell.setting = version_2.hash;
    cell.key += "version-2";
    cell.iterations = 41;
    store.cells.push_back(cell);
  }
  const auto runs_of = [](std::int64_t id) {
    return NamedRuns{fmt::format("run {}", id), [id](const RunRecord& run) { return run.id == id; }};
  };
  auto [old, fresh_side] = split_builds(store, runs_of(1), runs_of(2));
  const Comparison comparison = compare(std::move(old), std::move(fresh_side), {});
  EXPECT_EQ(comparison.compared, static_cast<long>(problems));
  EXPECT_EQ(setting_of(comparison, "SSN").count(CellChange::other_work), static_cast<long>(problems));
  EXPECT_FALSE(comparison.alarms.contains("missing"));
  auto [newer, older] = split_builds(store, runs_of(2), runs_of(1));
  EXPECT_EQ(compare(std::move(newer), std::move(older), {}).compared, static_cast<long>(problems));
}

}  // namespace
}  // namespace conebench::reports
