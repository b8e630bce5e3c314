#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "reports/analysis.hpp"
#include "reports/report.hpp"
#include "reports/terms.hpp"
#include "store/time_doubts.hpp"
#include "tests/reports/small_store.hpp"

namespace conebench::reports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SmallStore, OfAReasonForNoiseTheWorstRunIsNamed) {
  store_.runs.push_back(store_.runs[0]);
  store_.runs[0].noise = {{NoiseKind::stolen, 0.09}, {NoiseKind::throttled, 25}};
  store_.runs[1].noise = {{NoiseKind::stolen, 0.71}, {NoiseKind::throttled, 9}};
  EXPECT_THAT(notes(analyse_store()),
              Contains(HasSubstr("Noisy times in 2 of 2 runs: the hypervisor took 71 % of the processor time and "
                                 "throttled 25 times because of heat.")));
}

TEST_F(SmallStore, ARunWhoseLongCellsScatterWasLoaded) {
  for (CellRecord& cell : store_.cells) {
    cell.repeats = 5;
    cell.total.minimum = 0.01;
    cell.total.median = 0.0105;
  }
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("loaded ("))));
  for (CellRecord& cell : store_.cells) cell.total.median = 0.012;
  EXPECT_THAT(notes(analyse_store()),
              Contains(HasSubstr("Noisy times in 1 of 1 run: loaded (100 % of the cells of 5 ms or more took")));
  store_.runs[0].jobs = 2;
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("loaded (")))) << "workers disturb each other";
}

TEST_F(SmallStore, BuildsWithoutAShownCellAreNotMixedIn) {
  store_.runs.push_back(store_.runs[0]);
  store_.runs[1].id = 2;
  store_.runs[1].build.commit = "fffffff";
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("Mixed"))));
  store_.cells[1].run_id = 2;
  EXPECT_THAT(notes(analyse_store()), Contains(HasSubstr("Mixed builds")));
}

TEST_F(SmallStore, ExecutablesOfOneCommitAreMixedBuilds) {
  store_.runs[0].build.executable = "0123";
  store_.runs.push_back(store_.runs[0]);
  store_.runs[1].id = 2;
  store_.runs[1].build.executable = "4567";
  store_.cells[1].run_id = 2;
  EXPECT_THAT(notes(analyse_store()), Contains(HasSubstr("Mixed builds: cells come from 2 executables of")));
}

TEST_F(SmallStore, WithoutOwnMethodsTheBestIsTheBestOfTheOthers) {
  const StoreContents others = without_own(store_);
  ASSERT_EQ(others.own_left_out.size(), 1U);
  EXPECT_EQ(others.own_left_out[0].solver, "NSGS");
  const Analysis analysis = analyse(others, false);
  const Ranking& ranking = analysis.ranking(0);
  ASSERT_EQ(ranking.rows.size(), 3U);
  for (const RankingRow& one : ranking.rows) EXPECT_NE(analysis.columns[one.column].label, "NSGS");
  // On the short chain PGS-NCP took four times as long as NSGS, and is the best now.
  EXPECT_NEAR(*row(analysis, analysis.ranking(0, "Chain"), "PGS-NCP").times_best, 1.0, 1e-12);
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("Without the 1 configuration of Conebench's authors: NSGS.")));
}

TEST_F(SmallStore, ConfigurationsLeftOutAreCountedThoughTheyShareAPseudonym) {
  store_.own_left_out = {{"solver 1", "solver 1"}, {"solver 1", "solver 1"}};
  EXPECT_THAT(notes(analyse_store()), Contains("Without the 2 configurations of Conebench's authors: solver 1."));
}

TEST_F(SmallStore, AFilterIsReportedUnderEveryTitle) {
  store_.filter = "solver=NSGS";
  const Analysis analysis = analyse(store_, false, "My title");
  EXPECT_EQ(analysis.title, "My title");
  EXPECT_THAT(notes(analysis), Contains("Only what fits solver=NSGS."));
}

TEST_F(SmallStore, WhoPaysForChecksAloneIsNamed) {
  const std::string paying = "stop_by judge (LIAR pays for tests of its own, residual checks of the others are free)";
  Analysis analysis = analyse_store();
  EXPECT_EQ(stop_by_text(analysis, analysis.slices[0]), paying);
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("Unequal terms at 1e-4: " + paying)));
  for (CellRecord& cell : store_.cells) cell.stop_by = "judge_timed";
  analysis = analyse_store();
  EXPECT_EQ(stop_by_text(analysis, analysis.slices[0]), "stop_by judge_timed (residual checks are in all times)");
  EXPECT_THAT(notes(analysis), Not(Contains(HasSubstr("Unequal terms"))));
}

TEST_F(SmallStore, EveryOutputNamesWhoStopsAndWhoseASolverIs) {
  std::map<std::string, std::string> files;
  for (const ReportFile& file : render_report(store_, {})) files[file.path.string()] = file.content;
  const std::string paying = "LIAR pays for tests of its own, residual checks of the others are free";
  for (const char* const name : {"report.md", "latex/ranking-1e-4.tex", "report.json"}) {  // the page's data are those of the last
    EXPECT_THAT(files[name], HasSubstr(paying)) << name;
    EXPECT_THAT(files[name], HasSubstr("2024-05-06")) << name;
  }
  for (const char* const name : {"report.md", "latex/ranking-1e-4.tex", "latex/performance-1e-4.tex", "index.html"}) {
    EXPECT_THAT(files[name], HasSubstr("by Conebench's authors")) << name;
  }
  EXPECT_THAT(files["report.json"], HasSubstr(R"("origin":"own")"));
  EXPECT_THAT(terminal_ranking(store_, false), ::testing::AllOf(HasSubstr(paying), HasSubstr("NSGS *")));
  EXPECT_THAT(files["ranking.csv"],
              HasSubstr("origin,peer_version,peer_released,peer_build,checks,pays,doubts,problems"));
  EXPECT_THAT(files["cells.csv"], HasSubstr("origin,peer_version,peer_released,peer_build,checks,pays,outcome"));
  for (const char* const name : {"ranking.csv", "cells.csv"}) {
    EXPECT_THAT(files[name], HasSubstr(",foreign,1.2,2024-05-06,built with -O3,paid,1,")) << name;
  }
  for (const char* const name : {"latex/ranking-1e-4.tex", "latex/solved-1e-4.tex", "latex/performance-1e-4.tex"}) {
    EXPECT_THAT(files[name], ::testing::ContainsRegex("scriptsize[^\n]*LIAR: 1.2, released 2024-05-06")) << name;
    EXPECT_THAT(files[name], ::testing::ContainsRegex("caption[^\n]*tolerance 1e-4 by natural[^\n]*Conebench")) << name;
  }
}

TEST_F(SmallStore, RowsSayWhoPaysForTests) {
  Slice slice;
  ConfigurationRecord configuration;
  const auto pays = [&](const char* stop_by, const char* checks) {
    slice.stop_by = stop_by;
    configuration.checks = checks;
    return pays_for_tests(slice, configuration);
  };
  EXPECT_EQ(pays("judge", "free"), false);
  EXPECT_EQ(pays("judge", "paid"), true);
  EXPECT_EQ(pays("judge", ""), std::nullopt);
  EXPECT_EQ(pays("judge_timed", "free"), true);
  EXPECT_EQ(pays("solver", "free"), true);
}

TEST_F(SmallStore, EveryRankingHasTheColdTimeAndTheDoubts) {
  for (CellRecord& cell : store_.cells) {
    if (cell.configuration != "s-LIAR <b>" || !cell.solved) continue;
    cell.doubts = {"kept_answers"};
    cell.total.cold = 2.0;
  }
  const Analysis analysis = analyse_store();
  const RankingRow& liar = row(analysis, analysis.ranking(0), "LIAR <b>");
  EXPECT_EQ(liar.doubts, (std::map<std::string, long>{{"kept_answers", 1}}));
  // It solves one of the three stacks, in one of three families; the others count with their limit.
  const double weight = 1.0 / 9.0;
  const auto mean = [&](double solved) {
    return std::exp(weight * std::log(solved + 1e-5) + (1.0 - weight) * std::log(10.0 + 1e-5)) - 1e-5;
  };
  EXPECT_NEAR(*liar.means.at_limit, mean(5e-3), 1e-9);
  EXPECT_NEAR(*liar.means.cold, mean(2.0), 1e-9);
  EXPECT_TRUE(row(analysis, analysis.ranking(0), "NSGS").doubts.empty());
  EXPECT_TRUE(row(analysis, analysis.ranking(0, "Chain"), "LIAR <b>").doubts.empty());

  std::map<std::string, std::string> files;
  for (const ReportFile& file : render_report(store_, {})) files[file.path.string()] = file.content;
  const std::string why = "(1 cell: " + describe_doubts({"kept_answers"}) + ")";
  EXPECT_THAT(files["report.md"],
              ::testing::AllOf(HasSubstr("| at limit | cold |"), HasSubstr("| 4 | LIAR &lt;b&gt; ? | 1/7 |"),
                               HasSubstr("\n? doubtful times: LIAR &lt;b&gt; " + why + ".\n")));
  for (const char* const name : {"latex/ranking-1e-4.tex", "latex/times-1e-8.tex"}) {
    EXPECT_THAT(files[name], HasSubstr("\nLIAR \\textless{}b\\textgreater{}$^{?}$ & ")) << name;
    EXPECT_THAT(files[name], HasSubstr("$^{?}$ doubtful times: LIAR \\textless{}b\\textgreater{} " + why + "."));
  }
  EXPECT_THAT(files["report.json"],
              ::testing::AllOf(HasSubstr(R"("doubts":{"kept_answers":1}})"), HasSubstr(R"("time_cold_s":)"),
                               HasSubstr(R"("doubt_text":"doubtful times: LIAR <b> )" + why)));
  EXPECT_THAT(files["ranking.csv"],
              ::testing::AllOf(HasSubstr(",paid,1,kept_answers=1,7,1,6,"), HasSubstr(",time_at_limit_s,time_cold_s,")));
  EXPECT_THAT(files["pairs.csv"], HasSubstr(",LIAR <b>,foreign,1,kept_answers=1,NSGS,own,0,,0,0,7,0\n"));
  for (const char* const name : {"performance_profiles.csv", "data_profiles.csv", "pair_profiles.csv"}) {
    EXPECT_THAT(files[name], ::testing::AllOf(HasSubstr(",label,origin,pays,doubts,"),
                                              HasSubstr(",LIAR <b>,foreign,1,kept_answers=1,")))
        << name;
  }
  EXPECT_THAT(terminal_ranking(store_, false),
              ::testing::AllOf(HasSubstr("   time     cold  "), HasSubstr(" 4  LIAR <b> ? "),
                               HasSubstr("\n ? doubtful times: LIAR <b> " + why + "\n")));
}

TEST(Analysis, DoubtsNameEverySolverThatHasSome) {
  StoreContents store = testing::large_store(6, 8);
  for (CellRecord& cell : store.cells) cell.doubts = {"clock", "unconfirmed"};
  const Analysis analysis = analyse(store, false);
  const std::string text = doubt_text(analysis, analysis.ranking(0));
  ASSERT_EQ(analysis.columns.size(), 8U);
  for (const Column& column : analysis.columns) EXPECT_THAT(text, HasSubstr(column.label + " ("));
  EXPECT_THAT(text, HasSubstr(": " + describe_doubts({"clock"}) + "; "));
}

TEST_F(SmallStore, NoiseAndMixturesAreLabelled) {
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("Noisy"))));
  store_.runs.push_back(store_.runs[0]);
  store_.runs[1].id = 2;
  store_.cells[1].run_id = 2;
  store_.runs[1].noise = {{NoiseKind::governor, 0.0, "powersave"}};
  store_.runs[1].machine.cpu = "Another CPU";
  store_.runs[1].build.commit = "fffffff-dirty";
  store_.runs[1].finished_utc.clear();
  store_.cells[0].limit_s = 20.0;
  const auto texts = notes(analyse_store());
  EXPECT_THAT(texts, Contains(HasSubstr("Noisy times in 1 of 2 runs: the processor's governor is powersave")));
  EXPECT_THAT(texts, Contains(HasSubstr("Mixed machines")));
  EXPECT_THAT(texts, Contains(HasSubstr("fffffff-dirty")));
  EXPECT_THAT(texts, Contains(HasSubstr("1 run did not finish")));
  EXPECT_THAT(texts, Contains(HasSubstr("Unequal limits at 1e-4")));
}

TEST_F(SmallStore, TheTitleNamesTheFilterAndTheGroupsButNoSuiteDoes) {
  store_.filter = "solver=NSGS";
  store_.group = "category";
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.title, "synthetic, solver=NSGS, by category");
  EXPECT_EQ(analysis.contents->runs[0].suite_name, "synthetic");
}

TEST_F(SmallStore, WarningsComeBeforeRemarks) {
  const Analysis analysis = analyse_store();
  EXPECT_TRUE(std::is_sorted(analysis.notes.begin(), analysis.notes.end(),
                             [](const Note& a, const Note& b) { return a.level > b.level; }));
}

}  // namespace
}  // namespace conebench::reports
