#include "reports/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/report.hpp"
#include "tests/reports/small_store.hpp"

namespace conebench::reports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

SuiteState suite_state(int present, int missing) {
  SuiteState suite;
  suite.name = "synthetic";
  for (int i = 0; i < present; ++i) suite.present.insert({"present " + std::to_string(i), "s", 1e-4, "cold"});
  for (int i = 0; i < missing; ++i) suite.missing.insert({"missing " + std::to_string(i), "s", 1e-4, "cold"});
  return suite;
}

TEST_F(SmallStore, SlicesAreTolerancesFromLooseToTight) {
  const Analysis analysis = analyse_store();
  ASSERT_EQ(analysis.slices.size(), 2U);
  EXPECT_EQ(analysis.slices[0].label, "1e-4");
  EXPECT_EQ(analysis.slices[1].label, "1e-8");
}

TEST_F(SmallStore, DuplicateTrivialAndBrokenProblemsAreLeftOutOfHeadlinesAndCounted) {
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.problems.size(), 10U);
  EXPECT_EQ(analysis.ranking(0).problems, 7);
  EXPECT_EQ(analysis.left_out.at("repeats of another problem"), 1);
  EXPECT_EQ(analysis.left_out.at("solved by zero impulse"), 1);
  EXPECT_EQ(analysis.left_out.at("could not be loaded"), 1);
}

TEST_F(SmallStore, ProblemsWithoutASolutionOrAtNoiseLevelAreInNoShare) {
  const Analysis before = analyse_store();
  std::vector<std::string> counted;
  for (const Problem& problem : before.problems) {
    if (problem.left_out.empty()) counted.push_back(problem.record->hash);
  }
  ASSERT_GE(counted.size(), 3U);
  for (ProblemRecord& problem : store_.problems) {
    if (problem.hash == counted[0]) problem.feasibility.state = "infeasible";
    if (problem.hash == counted[1]) problem.noise_ratio = 0.1;
    if (problem.hash == counted[2]) problem.noise_ratio = 1e6;
  }
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.ranking(0).problems, before.ranking(0).problems - 2);
  EXPECT_EQ(analysis.left_out.at("without a solution (certified)"), 1);
  EXPECT_EQ(analysis.left_out.at("at noise level"), 1);
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("1 at noise level")));
}

TEST_F(SmallStore, ACertificateLeavesAProblemOutWhereItsBoundIsAboveTheTolerance) {
  const Analysis before = analyse_store();
  const auto counts = [](const Problem& problem) { return problem.left_out.empty(); };
  const std::string hash = std::find_if(before.problems.begin(), before.problems.end(), counts)->record->hash;
  const auto marked = [&](double bound) {
    for (ProblemRecord& problem : store_.problems) {
      if (problem.hash == hash) problem.feasibility = {"infeasible", -0.5, 0, {1.0}, bound};
    }
    return analyse_store();
  };
  const Analysis tight = marked(3.19e-5);
  EXPECT_EQ(tight.ranking(0).problems, before.ranking(0).problems) << "at 1e-4";
  EXPECT_EQ(tight.ranking(1).problems, before.ranking(1).problems - 1) << "at 1e-8";
  EXPECT_EQ(tight.left_out.at("without a solution (certified) at 1e-8 (elsewhere it counts)"), 1);
  const auto& problem = *std::find_if(tight.problems.begin(), tight.problems.end(),
                                      [&](const Problem& one) { return one.record->hash == hash; });
  EXPECT_EQ(problem.left_out, "without a solution (certified) at 1e-8: no λ reaches a verdict below 3.1e-5");
  const Analysis everywhere = marked(1.0);
  EXPECT_EQ(everywhere.ranking(0).problems, before.ranking(0).problems - 1);
  EXPECT_EQ(everywhere.left_out.at("without a solution (certified)"), 1);
}

TEST_F(SmallStore, WhereACertificateAndAnAnswerDisagreeANoteSaysWhichCounts) {
  const auto solved = std::find_if(store_.cells.begin(), store_.cells.end(),
                                   [](const CellRecord& cell) { return cell.solved && cell.tolerance == 1e-4; });
  solved->verdict_value = 1e-5;
  for (ProblemRecord& problem : store_.problems) {
    if (problem.hash == solved->problem) problem.feasibility = {"infeasible", -0.5, 0, {1.0}, 1e-4};
  }
  EXPECT_THAT(notes(analyse(join_contents({store_}), false)), Contains(HasSubstr("`conebench rejudge` decides")));
  solved->verdict_version = 2;
  EXPECT_THAT(notes(analyse(join_contents({store_}), false)),
              Contains(HasSubstr("is wrong: an answer is better than it allows. The problem counts")));
}

TEST_F(SmallStore, OfJoinedStoresAnyKnowsOfNoiseAndCertificates) {
  StoreContents other = store_;
  store_.problems[0].noise_ratio = 0.5;
  other.problems[1].noise_ratio = 0.25;
  store_.problems[2].feasibility = {"infeasible", -0.5, 0, {1.0}, 1e-3};
  other.problems[2].feasibility = {"infeasible", -0.5, 0, {1.0}, 1e-5};
  for (const bool turned : {false, true}) {
    const StoreContents joined = turned ? join_contents({other, store_}) : join_contents({store_, other});
    EXPECT_EQ(joined.problems[0].noise_ratio, 0.5) << turned;
    EXPECT_EQ(joined.problems[1].noise_ratio, 0.25) << turned;
    EXPECT_EQ(joined.problems[2].feasibility.verdict_bound, 1e-3) << turned;
  }
}

TEST_F(SmallStore, AnswersToAProblemWithComplianceAddedAreCountedBesideTheOutcome) {
  const Analysis analysis = analyse_store();
  const RankingRow& added = row(analysis, analysis.ranking(0), "LIAR <b>");
  EXPECT_EQ(added.added_compliance.cells, 3);
  EXPECT_EQ(added.added_compliance.verdict_solved, 2);
  EXPECT_EQ(added.added_compliance.ccp_solved, 3);
  EXPECT_EQ(added.tally.solved, 1) << "of the problems as given";
  EXPECT_THAT(analysis.ranking(0).remarks,
              ::testing::ElementsAre(HasSubstr("LIAR <b> answers 3 problems with compliance added, R = 1e-6 diag(G)")));
  EXPECT_EQ(row(analysis, analysis.ranking(0), "NSGS").added_compliance.cells, 0);
}

TEST_F(SmallStore, AProblemThatZeroSolvesIsLeftOutWhereItDoesAlone) {
  const Analysis before = analyse_store();
  auto& problem = *std::find_if(store_.problems.begin(), store_.problems.end(), [](const ProblemRecord& p) {
    return p.zero_impulse.empty() && p.error.empty() && p.duplicate_of.empty();
  });
  problem.zero_impulse = {{"natural_map_scaled", 1e-6}};
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.ranking(0).problems, before.ranking(0).problems - 1) << "at 1e-4";
  EXPECT_EQ(analysis.ranking(1).problems, before.ranking(1).problems) << "at 1e-8";
  EXPECT_EQ(analysis.left_out.at("solved by zero impulse at 1e-4"), 1);
}

TEST_F(SmallStore, AProblemThatNoSolverTakesIsNotCalledBroken) {
  const std::string torn = std::find_if(store_.problems.begin(), store_.problems.end(), [](const ProblemRecord& p) {
                             return !p.error.empty();
                           })->hash;
  CellRecord cell = store_.cells.front();
  cell.key += "-torn";
  cell.problem = torn;
  cell.status = CellStatus::unsupported;
  store_.cells.push_back(cell);
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.left_out.at("that no solver takes"), 1);
  EXPECT_FALSE(analysis.left_out.contains("could not be loaded"));
}

TEST_F(SmallStore, ADuplicateWhoseOriginalIsNotInTheStoreCounts) {
  for (auto& problem : store_.problems) {
    if (problem.duplicate_of == "p-stack-2") problem.duplicate_of = "p-elsewhere";
  }
  EXPECT_EQ(analyse_store().ranking(0).problems, 8);
}

TEST_F(SmallStore, FamiliesWeighTheSame) {
  const Analysis analysis = analyse_store();
  // PGS-NCP fails one of three stacks, none of two chains, none of the other two.
  EXPECT_NEAR(row(analysis, analysis.ranking(0), "PGS-NCP").solved_share, (2.0 / 3.0 + 1.0 + 1.0) / 3.0, 1e-15);
}

TEST_F(SmallStore, UnsupportedCellsAreNoFailures) {
  for (auto& cell : store_.cells) {
    if (cell.status == CellStatus::crashed) cell.status = CellStatus::unsupported;
  }
  const Analysis analysis = analyse_store();
  const RankingRow& admm = row(analysis, analysis.ranking(1), "ADMM-NCP-SA increment=0.01");
  EXPECT_EQ(admm.tally.unsupported, 1);
  EXPECT_EQ(admm.tally.failed, 1);
  EXPECT_NEAR(admm.solved_share, (1.0 + 0.5 + 0.0) / 3.0, 1e-15);
  EXPECT_NEAR(*admm.supported_share, (1.0 + 0.5) / 2.0, 1e-15);  // of the families with something supported
}

TEST_F(SmallStore, AProblemThatARankedSolverHasNotRunIsLeftOutOfThatRanking) {
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.ranking(0).problems, 7);
  EXPECT_EQ(analysis.ranking(1).problems, 6) << "PGS-NCP has not run on one at 1e-8";
  for (const auto& row : analysis.ranking(1).rows) EXPECT_EQ(row.tally.not_run, 0);
  EXPECT_EQ(row(analysis, analysis.ranking(1), "NSGS").tally.total(), 6) << "for all alike";
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("At 1e-8 the ranking is over the 6 of 7 problems")));
}

TEST_F(SmallStore, ASolverThatHasRunOnFewProblemsIsNotRanked) {
  bool kept = false;
  std::erase_if(store_.cells, [&](const CellRecord& cell) {
    if (cell.configuration != "s-PGS-NCP" || cell.tolerance < 1e-5) return false;
    const bool first = !std::exchange(kept, true);
    return !first;
  });
  const Analysis analysis = analyse_store();
  EXPECT_EQ(analysis.ranking(0).problems, 7) << "the others are compared on all";
  EXPECT_THROW(row(analysis, analysis.ranking(0), "PGS-NCP"), std::out_of_range);
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("Not ranked at 1e-4: PGS-NCP (has run 1 of 7)")));
  for (const auto& profile : analysis.profiles) {
    if (profile.slice != 0) continue;
    for (const Curve& curve : profile.performance) EXPECT_NE(analysis.columns[curve.column].label, "PGS-NCP");
  }
  EXPECT_NO_THROW(row(analysis, analysis.ranking(1), "PGS-NCP"));
}

TEST_F(SmallStore, ARunThatALaterOneHasFinishedIsNotCalledUnfinished) {
  store_.runs.push_back(store_.runs[0]);
  store_.runs[1].id = 2;
  store_.runs[0].finished_utc.clear();
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("did not finish"))));
  std::swap(store_.runs[0].finished_utc, store_.runs[1].finished_utc);
  EXPECT_THAT(notes(analyse_store()), Contains(HasSubstr("1 run did not finish")));
  store_.suites = {suite_state(10, 0)};
  EXPECT_THAT(notes(analyse_store()), Not(Contains(HasSubstr("did not finish")))) << "nothing is missing";
  store_.suites = {suite_state(10, 2)};
  EXPECT_THAT(notes(analyse_store()), Contains(AllOf(HasSubstr("Not run: 2 of 12 cells of the suite synthetic;"),
                                                     HasSubstr("running the whole suite again"))));
}

TEST_F(SmallStore, CellsOfProblemsThatNoRunHasLookedAtAreNotRunAtMost) {
  store_.suites = {suite_state(3, 4)};
  store_.suites[0].known_by_name = {"missing 1"};
  store_.suites[0].filter = "solver=NSGS";
  EXPECT_THAT(notes(analyse_store()),
              Contains(HasSubstr("Not run: at most 4 of 7 cells of the suite synthetic that fit solver=NSGS; 1 problem "
                                 "is known by name only and may repeat another, be none or not fit;")));
}

TEST_F(SmallStore, CondensationIsASecondRankingAndTheFirstOfDeformables) {
  const auto costs_of = [](const Analysis& analysis) {
    std::vector<Cost> costs;
    for (const Ranking* const ranking : analysis.rankings_of(0)) costs.push_back(ranking->cost);
    return costs;
  };
  EXPECT_THAT(costs_of(analyse_store()), ::testing::ElementsAre(Cost::time));

  const std::string slow = store_.cells.front().configuration;
  for (CellRecord& cell : store_.cells) {
    cell.condensation_s = cell.configuration == slow ? 1e3 : 0.25;
  }
  EXPECT_THAT(costs_of(analyse_store()), ::testing::ElementsAre(Cost::time, Cost::condensed_time));
  for (ProblemRecord& problem : store_.problems) problem.given = given_as_deformable;
  const Analysis analysis = analyse_store();
  EXPECT_THAT(costs_of(analysis), ::testing::ElementsAre(Cost::condensed_time, Cost::time));
  for (const CellRecord& cell : store_.cells) {
    if (!cell.solved) continue;
    EXPECT_DOUBLE_EQ(*cost(&cell, Cost::condensed_time), *cost(&cell, Cost::time) + *cell.condensation_s);
  }
  // Who pays a thousand seconds a problem is last among those that solve as much.
  const Ranking& with = analysis.ranking(0);
  const Ranking& without = *analysis.rankings_of(0)[1];
  for (std::size_t i = 0; i < with.rows.size(); ++i) {
    const RankingRow& row = with.rows[i];
    const auto same = std::find_if(without.rows.begin(), without.rows.end(),
                                   [&](const RankingRow& other) { return other.column == row.column; });
    ASSERT_NE(same, without.rows.end());
    EXPECT_EQ(row.tally.solved, same->tally.solved);
    if (row.tally.solved > 0) {
      EXPECT_GT(*row.means.at_limit, *same->means.at_limit);
    }
  }
  // Throughput runs have no times to add anything to.
  for (RunRecord& run : store_.runs) run.mode = "throughput";
  EXPECT_THAT(costs_of(analyse_store()), ::testing::ElementsAre(Cost::iterations));
}

TEST_F(SmallStore, OfAQuickRunShowsNoTimesNotEvenByForce) {
  for (RunRecord& run : store_.runs) run.mode = "quick";
  for (const bool force : {false, true}) {
    const Analysis analysis = analyse_store(force);
    EXPECT_FALSE(analysis.times_shown);
    for (const Ranking* const ranking : analysis.rankings_of(0)) EXPECT_EQ(ranking->cost, Cost::iterations);
  }
}

TEST(JoinContents, AProblemWithTwoNamesIsOneWhereAStoreHasTheOlderName) {
  StoreContents older = testing::small_store();
  StoreContents newer = testing::small_store();
  ProblemRecord& renamed = newer.problems.front();
  const std::string name = renamed.hash;
  renamed.alias = name;
  renamed.hash = "new name";
  for (CellRecord& cell : newer.cells) {
    if (cell.problem == name) cell.problem = "new name";
    cell.key += " of the newer";
  }
  const std::size_t problems = older.problems.size();
  const StoreContents joined = join_contents({std::move(older), std::move(newer)});
  EXPECT_EQ(joined.problems.size(), problems);
  for (const CellRecord& cell : joined.cells) EXPECT_NE(cell.problem, "new name");
}

TEST(JoinContents, WhatOneShardHasIsNotMissing) {
  const auto shards = [](SuiteState a, SuiteState b) {
    std::vector<StoreContents> stores(2);
    stores[0].suites = {std::move(a)};
    stores[1].suites = {std::move(b)};
    return join_contents(std::move(stores)).suites;
  };
  SuiteState first = suite_state(1, 2), second = first;
  std::swap(second.present, second.missing);
  const auto whole = shards(first, second);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_TRUE(whole[0].missing.empty());
  EXPECT_EQ(whole[0].cells(), 3);
  EXPECT_EQ(shards(first, suite_state(1, 3)).size(), 2U) << "another suite of that name";
}

TEST_F(SmallStore, TheClaimMatrixSeparatesLiesFromFailures) {
  const Analysis analysis = analyse_store();
  const RankingRow& liar = row(analysis, analysis.ranking(0), "LIAR <b>");
  EXPECT_EQ(liar.claims.claimed_solved, 1);
  EXPECT_EQ(liar.claims.claimed_unsolved, 6);
  EXPECT_EQ(liar.tally.false_claim, 6);
  const RankingRow& admm = row(analysis, analysis.ranking(0), "ADMM-NCP-SA increment=0.01");
  EXPECT_EQ(admm.claims.silent_unsolved, 2);  // killed and crashed; the unsupported one did not run
  EXPECT_EQ(admm.claims.claimed_solved + admm.claims.silent_unsolved + admm.tally.unsupported, 7);
}

TEST_F(SmallStore, AFlakyCellFailsWithoutAClaim) {
  for (auto& cell : store_.cells) {
    if (cell.configuration == "s-LIAR <b>" && !cell.solved) cell.status = CellStatus::flaky;
  }
  const Analysis analysis = analyse_store();
  const RankingRow& liar = row(analysis, analysis.ranking(0), "LIAR <b>");
  EXPECT_EQ(liar.tally.false_claim, 0);
  EXPECT_EQ(liar.tally.failed, 6);
  EXPECT_EQ(liar.claims.silent_unsolved, 6);
}

TEST_F(SmallStore, ResidualsStandInTheJudgesOrderAndUnknownOnesLast) {
  store_.cells[0].residuals.set("a_measure_of_later", {1.0, "", -1});
  const std::vector<std::string> expected{"primal", "natural_map_scaled", "natural_map_relative", "penetration",
                                          "a_measure_of_later"};
  EXPECT_EQ(analyse_store().residuals, expected);
}

TEST_F(SmallStore, CellsThatOnlyTheRelativeResidualAcceptsAreCounted) {
  const Analysis analysis = analyse_store();
  // A residual that is not finite fails too.
  EXPECT_EQ(row(analysis, analysis.ranking(0), "LIAR <b>").passes_relative_only, 6);
  EXPECT_EQ(row(analysis, analysis.ranking(0), "NSGS").passes_relative_only, 0);
}

TEST_F(SmallStore, AnUnsolvedProblemCountsWithItsLimitOrTenTimesThat) {
  const Analysis analysis = analyse_store();
  const Ranking& stacks = analysis.ranking(0, "BoxesStack");
  const RankingRow& pgs = row(analysis, stacks, "PGS-NCP");
  const auto mean = [](double last) {
    const double logs = std::log(0.5e-4 * 8 + 1e-5) + std::log(4e-4 * 20 + 1e-5) + std::log(last + 1e-5);
    return std::exp(logs / 3.0) - 1e-5;
  };
  EXPECT_NEAR(*pgs.means.at_limit, mean(10.0), 1e-12);
  EXPECT_NEAR(*pgs.means.penalised, mean(100.0), 1e-12);
}

TEST_F(SmallStore, TheCommonSubsetLeavesOutSolversBelowHalf) {
  const Analysis analysis = analyse_store();
  const Ranking& ranking = analysis.ranking(0);
  EXPECT_EQ(ranking.common_columns, 3);
  EXPECT_EQ(ranking.common_problems, 3);  // the two small stacks and the long chain
  EXPECT_FALSE(row(analysis, ranking, "LIAR <b>").means.common.has_value());
  EXPECT_TRUE(row(analysis, ranking, "NSGS").means.common.has_value());
}

TEST_F(SmallStore, TheBestOfAProblemIsTakenOverSolvedCellsOnly) {
  for (auto& cell : store_.cells) {
    if (cell.configuration == "s-LIAR <b>" && !cell.solved) cell.total.median = cell.solve.median = 1e-9;
  }
  const Analysis analysis = analyse_store();
  EXPECT_GT(*row(analysis, analysis.ranking(0), "NSGS").rho_one, 0.3);
  EXPECT_EQ(*row(analysis, analysis.ranking(0), "LIAR <b>").rho_one, 0.0);
}

TEST_F(SmallStore, TheRatioToTheBestIsOverTheProblemsThatASolverSolves) {
  const Analysis analysis = analyse_store();
  const Ranking& chains = analysis.ranking(0, "Chain");
  // 40 and 30 e-4 s each by NSGS; PGS-NCP takes 4 and 0.5 times that; ADMM solves the long one alone, in 7e-3 s.
  EXPECT_NEAR(*row(analysis, chains, "PGS-NCP").times_best, std::sqrt(4.0 * 1.0), 1e-12);
  EXPECT_NEAR(*row(analysis, chains, "ADMM-NCP-SA increment=0.01").times_best, 7e-3 / 1.5e-3, 1e-12);
  EXPECT_FALSE(row(analysis, chains, "LIAR <b>").times_best.has_value());
}

/// A solves one problem of family X and three of Y; B, which is the best, solves all but one of Y.
StoreContents uneven_families() {
  StoreContents store = testing::small_store();
  const CellRecord pattern = store.cells.front();
  const ProblemRecord problem = store.problems.front();
  store.problems.clear();
  store.cells.clear();
  store.configurations.resize(2);
  const auto add = [&](const std::string& name, const std::string& family, double a, double b) {
    store.problems.push_back(problem);
    store.problems.back().hash = store.problems.back().name = name;
    store.problems.back().family = family;
    for (std::size_t s = 0; s < 2; ++s) {
      CellRecord cell = pattern;
      cell.key = name + store.configurations[s].hash;
      cell.problem = name;
      cell.configuration = store.configurations[s].hash;
      const double seconds = s == 0 ? a : b;
      cell.solved = cell.claimed = seconds > 0.0;
      cell.status = cell.solved ? CellStatus::converged : CellStatus::max_iterations;
      cell.total.median = cell.solve.median = std::max(seconds, 0.0);
      store.cells.push_back(cell);
    }
  };
  add("x", "X", 8.0, 1.0);
  add("y1", "Y", 2.0, 1.0);
  add("y2", "Y", 2.0, 1.0);
  add("y3", "Y", 2.0, 1.0);
  add("y4", "Y", 0.0, 1.0);
  add("y5", "Y", 3.0, 0.0);
  return store;
}

TEST(Weights, FamiliesAreEqualAmongTheProblemsThatAMeanCounts) {
  const StoreContents store = uneven_families();
  const Analysis analysis = analyse(store, false);
  const Ranking& ranking = analysis.ranking(0);
  ASSERT_EQ(ranking.common_problems, 4);
  const auto row = [&](std::size_t configuration) -> const RankingRow& {
    for (const RankingRow& one : ranking.rows) {
      if (analysis.columns[one.column].configuration->hash == store.configurations[configuration].hash) return one;
    }
    throw std::out_of_range("row");
  };
  // x: 8; y1, y2, y3: 2 each; y5: A alone, 1.
  EXPECT_NEAR(*row(0).times_best, std::sqrt(8.0 * std::pow(2.0 * 2.0 * 2.0 * 1.0, 1.0 / 4.0)), 1e-12);
  // Common: x and y1, y2, y3, so that X counts as much as Y.
  EXPECT_NEAR(*row(0).means.common, std::sqrt((8.0 + 1e-5) * (2.0 + 1e-5)) - 1e-5, 1e-12);
}

TEST_F(SmallStore, ProfilesEndAtTheSolvedShare) {
  const Analysis analysis = analyse_store();
  for (const auto& ranking : analysis.rankings) {
    for (const auto& row : ranking.rows) EXPECT_NEAR(*row.rho_infinity, row.solved_share, 1e-12);
  }
}

TEST_F(SmallStore, CountsOfZeroCountAsOneSoThatRatiosExist) {
  const Analysis analysis = analyse_store();
  for (const auto& profile : analysis.profiles) {
    if (profile.cost != Cost::factorizations) continue;
    for (const auto& curve : profile.performance) {
      for (const double tau : curve.x) EXPECT_TRUE(tau >= 1.0 && tau <= 4.0);
    }
  }
}

TEST_F(SmallStore, WhatASolverDoesNotCountIsInNoProfileOverIt) {
  for (auto& cell : store_.cells) {
    if (cell.configuration == "s-NSGS") cell.operator_products = -1;
  }
  const Analysis analysis = analyse_store();
  std::size_t column = 0;
  while (analysis.columns[column].label != "NSGS") ++column;
  for (const auto& profile : analysis.profiles) {
    const bool there = std::any_of(profile.performance.begin(), profile.performance.end(),
                                   [&](const Curve& curve) { return curve.column == column; });
    if (profile.performance.empty()) continue;
    EXPECT_EQ(there, profile.cost != Cost::operator_products);
  }
  for (const auto& pair : analysis.pairs) {
    if (pair.cost != Cost::operator_products) continue;
    EXPECT_TRUE(pair.first != column && pair.second != column);
  }
  EXPECT_FALSE(row(analysis, analysis.ranking(0), "NSGS").mean_products.has_value());
}

TEST_F(SmallStore, PairsAppearOnlyWhereThereAreMoreThanTwoSolvers) {
  EXPECT_EQ(analyse_store().pairs.size(), 2U * 5U * 6U);  // tolerances × costs × pairs
  std::erase_if(store_.cells,
                [](const auto& cell) { return cell.configuration != "s-NSGS" && cell.configuration != "s-PGS-NCP"; });
  EXPECT_TRUE(analyse_store().pairs.empty());
}

TEST_F(SmallStore, ThroughputRunsShowNoTimesUnlessForced) {
  store_.runs[0].mode = "throughput";
  const Analysis refused = analyse_store();
  EXPECT_FALSE(refused.times_shown);
  EXPECT_EQ(refused.ranking(0).cost, Cost::iterations);
  EXPECT_FALSE(refused.ranking(0).rows[0].means.at_limit.has_value());
  for (const auto& profile : refused.profiles) EXPECT_FALSE(is_time(profile.cost));
  EXPECT_THAT(notes(refused), Contains(HasSubstr("Times are left out")));
  const Analysis forced = analyse_store(true);
  EXPECT_TRUE(forced.ranking(0).rows[0].means.at_limit.has_value());
  EXPECT_THAT(notes(forced), Contains(HasSubstr("Times are shown by force")));
}

TEST_F(SmallStore, ALaterRunOfACellReplacesTheEarlierOneAndIsCounted) {
  CellRecord again = store_.cells[0];
  again.key = "another key, because of other limits";
  again.run_id = 2;
  again.iterations = 4321;
  store_.cells.insert(store_.cells.begin(), again);
  const Analysis analysis = analyse_store();
  EXPECT_THAT(notes(analysis), Contains(HasSubstr("1 cell left out: a later run")));
  bool found = false;
  for (const auto& row : analysis.slices[0].grid) {
    for (const auto* cell : row) found = found || (cell != nullptr && cell->iterations == 4321);
  }
  EXPECT_TRUE(found);
}

TEST_F(SmallStore, EqualLabelsAndNamesAreReportedApart) {
  store_.configurations[1].label = "NSGS";
  store_.problems[1].name = "stack-2";
  const Analysis analysis = analyse_store();
  std::vector<std::string> names;
  for (const auto& column : analysis.columns) names.push_back(column.label);
  for (const auto& problem : analysis.problems) names.push_back(problem.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST_F(SmallStore, TwoVersionsOfASolverAreTwoColumns) {
  store_.configurations[1].solver = store_.configurations[1].label = "NSGS";
  store_.configurations[1].solver_version = 2;
  std::vector<std::string> labels;
  for (const auto& column : analyse_store().columns) labels.push_back(column.label);
  EXPECT_THAT(labels, Contains("NSGS v1"));
  EXPECT_THAT(labels, Contains("NSGS v2"));
}

TEST_F(SmallStore, CriteriaAndStartsMakeSlicesOfTheirOwn) {
  for (std::size_t i = 0; i < 8; ++i) store_.cells[i].start = "guess";
  const Analysis analysis = analyse_store();
  ASSERT_EQ(analysis.slices.size(), 3U);
  EXPECT_EQ(analysis.slices[0].label, "1e-4 cold");
  EXPECT_EQ(analysis.slices[1].label, "1e-4 guess");
}

TEST_F(SmallStore, NumbersThatAreNotFiniteDoNoHarm) {
  for (auto& cell : store_.cells) {
    if (cell.configuration == "s-NSGS") cell.total.median = std::numeric_limits<double>::quiet_NaN();
  }
  const Analysis analysis = analyse_store();
  EXPECT_EQ(*row(analysis, analysis.ranking(0), "NSGS").rho_infinity, 0.0);  // solved, but at no known time
  EXPECT_EQ(row(analysis, analysis.ranking(0), "NSGS").solved_share, 1.0);
}

TEST(Analysis, AnEmptyStoreSaysThatNothingWasMeasured) {
  const StoreContents empty;
  const Analysis analysis = analyse(empty, false);
  ASSERT_EQ(analysis.notes.size(), 1U);
  EXPECT_THAT(analysis.notes[0].text, HasSubstr("Nothing was measured"));
  EXPECT_TRUE(analysis.rankings.empty());
}

}  // namespace
}  // namespace conebench::reports
