#include "metrics/profiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace conebench {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr auto failed = std::nullopt;

// Three solvers on five problems. Best: 1, 2, 4, 3, none.
const CostTable table = {
    {1.0, 2.0, failed},     //
    {2.0, 2.0, 8.0},        // a tie
    {failed, 4.0, 6.0},     //
    {failed, inf, 3.0},     //
    {failed, failed, inf},  // nobody
};

TEST(PerformanceProfile, MatchesTheOneComputedByHand) {
  const PerformanceProfile profile = performance_profile(table);
  ASSERT_EQ(profile.curves.size(), 3U);
  EXPECT_THAT(profile.curves[0].x, ElementsAre(1.0));
  EXPECT_THAT(profile.curves[0].y, ElementsAre(DoubleEq(0.4)));
  EXPECT_THAT(profile.curves[1].x, ElementsAre(1.0, 2.0));
  EXPECT_THAT(profile.curves[1].y, ElementsAre(DoubleEq(0.4), DoubleEq(0.6)));
  EXPECT_THAT(profile.curves[2].x, ElementsAre(1.0, 1.5, 4.0));
  EXPECT_THAT(profile.curves[2].y, ElementsAre(DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6)));
  EXPECT_THAT(profile.rho_one, ElementsAre(DoubleEq(0.4), DoubleEq(0.4), DoubleEq(0.2)));
  EXPECT_THAT(profile.rho_infinity, ElementsAre(DoubleEq(0.4), DoubleEq(0.6), DoubleEq(0.6)));
  EXPECT_DOUBLE_EQ(profile.unsolved, 0.2);
}

TEST(PerformanceProfile, CurvesAreContinuousFromTheRight) {
  const StepFunction curve = performance_profile(table).curves[2];
  EXPECT_EQ(curve(0.5), 0.0);
  EXPECT_DOUBLE_EQ(curve(1.0), 0.2);
  EXPECT_DOUBLE_EQ(curve(std::nextafter(1.5, 0.0)), 0.2);
  EXPECT_DOUBLE_EQ(curve(1.5), 0.4);
  EXPECT_DOUBLE_EQ(curve(1e300), 0.6);
}

TEST(PerformanceProfile, TakesTheBestOverSolvedCellsOnly) {
  // The cheap run of solver 0 on problem 0 failed: it must not be the one that others are measured by.
  const PerformanceProfile profile = performance_profile({{failed, 10.0}});
  EXPECT_EQ(profile.rho_one[1], 1.0);
  EXPECT_EQ(profile.rho_infinity[0], 0.0);
  EXPECT_THAT(profile.curves[0].x, IsEmpty());
}

TEST(PerformanceProfile, WeighsFamiliesEquallyWhereAsked) {
  // Three problems of family a, one of family b: each family weighs a half.
  const std::vector<std::string> families = {"a", "a", "b", "a"};
  const std::vector<double> weights = family_weights(families);
  EXPECT_THAT(weights, ElementsAre(DoubleEq(1.0 / 6), DoubleEq(1.0 / 6), DoubleEq(0.5), DoubleEq(1.0 / 6)));
  const PerformanceProfile profile =
      performance_profile({{1.0, 2.0}, {1.0, 2.0}, {failed, 1.0}, {1.0, failed}}, weights);
  EXPECT_THAT(profile.rho_one, ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));
  EXPECT_THAT(profile.rho_infinity, ElementsAre(DoubleEq(0.5), DoubleNear(5.0 / 6, 1e-15)));
}

TEST(PerformanceProfile, CountsAPositiveCostAgainstABestOfZeroAtInfinityOnly) {
  const PerformanceProfile profile = performance_profile({{0.0, 0.0, 3.0}});
  EXPECT_THAT(profile.rho_one, ElementsAre(1.0, 1.0, 0.0));
  EXPECT_THAT(profile.rho_infinity, ElementsAre(1.0, 1.0, 1.0));
  EXPECT_THAT(profile.curves[2].x, IsEmpty());
}

TEST(PerformanceProfile, OfNothingIsEmptyAndOfNonsenseAnError) {
  EXPECT_THAT(performance_profile({}).curves, IsEmpty());
  EXPECT_THROW(performance_profile({{1.0, 2.0}, {1.0}}), std::invalid_argument);
  EXPECT_THROW(performance_profile({{-1.0}}), std::invalid_argument);
  EXPECT_THROW(performance_profile({{std::nan("")}}), std::invalid_argument);
  const std::vector<double> too_few = {1.0};
  EXPECT_THROW(performance_profile({{1.0}, {1.0}}, too_few), std::invalid_argument);
  const std::vector<double> zeros = {0.0, 0.0};
  EXPECT_THROW(performance_profile({{1.0}, {1.0}}, zeros), std::invalid_argument);
}

TEST(DataProfile, MatchesTheOneComputedByHand) {
  const std::vector<double> units = {1.0, 2.0, 2.0, 1.0, 1.0};
  const auto curves = data_profile(table, units);
  ASSERT_EQ(curves.size(), 3U);
  EXPECT_THAT(curves[0].x, ElementsAre(1.0));
  EXPECT_THAT(curves[0].y, ElementsAre(DoubleEq(0.4)));
  EXPECT_THAT(curves[1].x, ElementsAre(1.0, 2.0));
  EXPECT_THAT(curves[1].y, ElementsAre(DoubleEq(0.2), DoubleEq(0.6)));
  EXPECT_THAT(curves[2].x, ElementsAre(3.0, 4.0));
  EXPECT_THAT(curves[2].y, ElementsAre(DoubleEq(0.4), DoubleEq(0.6)));
  EXPECT_THROW(data_profile(table, std::vector<double>{1.0}), std::invalid_argument);
  EXPECT_THROW(data_profile({{1.0}}, std::vector<double>{0.0}), std::invalid_argument);
}

TEST(DataProfile, OfOneSolverDoesNotDependOnTheOthers) {
  CostTable alone;
  for (const auto& row : table) alone.push_back({row[2]});
  EXPECT_EQ(data_profile(alone)[0].x, data_profile(table)[2].x);
  EXPECT_EQ(data_profile(alone)[0].y, data_profile(table)[2].y);
}

TEST(PairProfiles, CountWhoIsBetter) {
  const PairProfile apart = pair_profile(table, 0, 2);
  EXPECT_EQ(apart.first, 0U);
  EXPECT_EQ(apart.second, 2U);
  EXPECT_EQ(apart.first_better, 2U);
  EXPECT_EQ(apart.second_better, 2U);
  EXPECT_EQ(apart.ties, 0U);
  EXPECT_EQ(apart.neither, 1U);
  const PairProfile close = pair_profile(table, 0, 1);
  EXPECT_EQ(close.ties, 1U);
  EXPECT_EQ(close.first_better, 1U);
  EXPECT_EQ(close.second_better, 1U);
  EXPECT_EQ(close.neither, 2U);
}

TEST(PairProfiles, CanContradictTheProfileOfAll) {
  // Gould and Scott's caveat. At τ = 1.5 solver 0 leads solver 1 among all three, and trails it in the pair.
  const CostTable costs = {{1.5, 3.0, 1.0}, {1.5, 3.0, 1.0}, {9.0, 4.0, 1.0}, {9.0, 4.0, 1.0}, {9.0, 4.0, 1.0}};
  const PerformanceProfile all = performance_profile(costs);
  EXPECT_DOUBLE_EQ(all.curves[0](1.5), 0.4);
  EXPECT_DOUBLE_EQ(all.curves[1](1.5), 0.0);
  const PairProfile pair = pair_profile(costs, 0, 1);
  EXPECT_DOUBLE_EQ(pair.profile.curves[0](1.5), 0.4);
  EXPECT_DOUBLE_EQ(pair.profile.curves[1](1.5), 0.6);
}

/// The definition itself, without sorting or steps.
double brute_force(const CostTable& costs, const std::vector<double>& weights, std::size_t solver, double tau) {
  double good = 0.0;
  double all = 0.0;
  for (std::size_t p = 0; p < costs.size(); ++p) {
    all += weights[p];
    double best = inf;
    for (const auto& cost : costs[p]) best = std::min(best, cost.value_or(inf));
    const double cost = costs[p][solver].value_or(inf);
    if (cost < inf && cost / best <= tau) good += weights[p];
  }
  return good / all;
}

RC_GTEST_PROP(PerformanceProfile, IsItsDefinition, ()) {
  const auto problems = *rc::gen::inRange<std::size_t>(1, 12);
  const auto solvers = *rc::gen::inRange<std::size_t>(1, 5);
  CostTable costs(problems);
  std::vector<double> weights;
  for (auto& row : costs) {
    for (std::size_t s = 0; s < solvers; ++s) {
      const int cost = *rc::gen::inRange(0, 10);  // small numbers, so that ties are common
      row.push_back(cost == 0 ? std::nullopt : std::optional<double>(cost));
    }
    weights.push_back(*rc::gen::inRange(1, 4));
  }
  const PerformanceProfile profile = performance_profile(costs, weights);
  for (std::size_t s = 0; s < solvers; ++s) {
    for (const double tau : {1.0, 1.2, 1.5, 2.0, 3.0, 4.5, 9.0, 100.0}) {
      RC_ASSERT(std::abs(profile.curves[s](tau) - brute_force(costs, weights, s, tau)) < 1e-12);
    }
    RC_ASSERT(std::abs(profile.rho_infinity[s] - brute_force(costs, weights, s, 1e300)) < 1e-12);
    RC_ASSERT(std::is_sorted(profile.curves[s].x.begin(), profile.curves[s].x.end()));
    RC_ASSERT(std::is_sorted(profile.curves[s].y.begin(), profile.curves[s].y.end()));
    RC_ASSERT(profile.rho_infinity[s] + profile.unsolved <= 1.0 + 1e-12);
  }
}

TEST(CommonSubset, HoldsTheProblemsThatAllWhoTakePartSolve) {
  EXPECT_THAT(common_subset(table), ElementsAre(1));
  // Solver 0 solves 2 of 5: at a minimum share of a half only solvers 1 and 2 take part.
  EXPECT_THAT(common_subset(table, 0.5), ElementsAre(1, 2));
  EXPECT_THAT(common_subset(table, 0.9), IsEmpty());
  EXPECT_THAT(common_subset({}), IsEmpty());
}

}  // namespace
}  // namespace conebench
