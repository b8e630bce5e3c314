#include "metrics/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace conebench {
namespace {

using Values = std::vector<double>;
constexpr auto failed = std::nullopt;

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(*median(Values{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(*median(Values{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_EQ(*median(Values{7.0}), 7.0);
  EXPECT_FALSE(median(Values{}));
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(*median(Values{1.0, inf, inf, inf}), inf);
}

TEST(Statistics, MedianAbsoluteDeviationIgnoresAnOutlier) {
  // Median 3, distances 2, 1, 0, 1, 97.
  EXPECT_EQ(*median_absolute_deviation(Values{1, 2, 3, 4, 100}), 1.0);
  EXPECT_EQ(*median_absolute_deviation(Values{5}), 0.0);
  EXPECT_FALSE(median_absolute_deviation(Values{}));
}

TEST(Statistics, SampleDeviationDividesByOneLess) {
  EXPECT_DOUBLE_EQ(*sample_deviation(Values{2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7.0));
  EXPECT_FALSE(sample_deviation(Values{1}));
}

TEST(Statistics, GeometricMeanMultiplies) {
  EXPECT_DOUBLE_EQ(*geometric_mean(Values{1, 10, 100}), 10.0);
  EXPECT_DOUBLE_EQ(*geometric_mean(Values{1, 16}, Values{3, 1}), 2.0);
  EXPECT_EQ(*geometric_mean(Values{0, 5}), 0.0);
  EXPECT_THROW((void)geometric_mean(Values{-1}), std::invalid_argument);
  EXPECT_FALSE(geometric_mean(Values{}));
}

TEST(Statistics, ShiftedGeometricMeanDampsValuesFarBelowTheShift) {
  // √((1 + 3)(6 + 3)) − 3 = 3.
  EXPECT_DOUBLE_EQ(*shifted_geometric_mean(Values{1, 6}, 3.0), 3.0);
  EXPECT_NEAR(*shifted_geometric_mean(Values{0, 0}, 1e-3), 0.0, 1e-18);
  // A tenfold difference of a microsecond hardly counts under a shift of a millisecond.
  const double fast = *shifted_geometric_mean(Values{1e-6, 1.0}, 1e-3);
  const double slow = *shifted_geometric_mean(Values{1e-5, 1.0}, 1e-3);
  EXPECT_LT(slow / fast, 1.01);
  EXPECT_GT(*geometric_mean(Values{1e-5, 1.0}) / *geometric_mean(Values{1e-6, 1.0}), 3.0);
  EXPECT_THROW((void)shifted_geometric_mean(Values{1}, -1.0), std::invalid_argument);
}

// Two solvers, three problems with limits 10, 10 and 20; solver 1 fails on the last two.
const CostTable table = {{1.0, 4.0}, {9.0, failed}, {failed, failed}};
const Values limits = {10.0, 10.0, 20.0};

TEST(ShiftedMeans, CountAFailureAtTheLimit) {
  const auto means = shifted_means(table, limits, {.mode = FailureMode::at_limit, .shift = 1.0});
  EXPECT_DOUBLE_EQ(*means[0].value, std::cbrt(2.0 * 10.0 * 21.0) - 1.0);
  EXPECT_DOUBLE_EQ(*means[1].value, std::cbrt(5.0 * 11.0 * 21.0) - 1.0);
  EXPECT_EQ(means[1].failures, 2U);
}

TEST(ShiftedMeans, PenaliseAFailureByTheFactor) {
  const auto means =
      shifted_means(table, limits, {.mode = FailureMode::penalised, .shift = 0.0, .penalty_factor = 10.0});
  EXPECT_DOUBLE_EQ(*means[0].value, std::cbrt(1.0 * 9.0 * 200.0));
  EXPECT_DOUBLE_EQ(*means[1].value, std::cbrt(4.0 * 100.0 * 200.0));
  EXPECT_EQ(means[0].failures, 1U);
}

TEST(ShiftedMeans, OverTheCommonSubsetLeaveOutWhatOneDidNotSolve) {
  const MeanOptions options{.mode = FailureMode::common_subset, .shift = 0.0};
  const auto means = shifted_means(table, {}, options);
  EXPECT_DOUBLE_EQ(*means[0].value, 1.0);
  EXPECT_DOUBLE_EQ(*means[1].value, 4.0);
  EXPECT_EQ(means[0].problems, 1U);
  // Only solver 0 solves half of the problems: its two solved ones make the subset, in which solver 1 has no mean.
  MeanOptions half = options;
  half.minimum_solved_share = 0.5;
  const auto wider = shifted_means(table, {}, half);
  EXPECT_DOUBLE_EQ(*wider[0].value, 3.0);
  EXPECT_FALSE(wider[1].value);
  EXPECT_EQ(wider[1].failures, 1U);
}

TEST(ShiftedMeans, WeighProblems) {
  const Values weights = {1.0, 1.0, 0.0};
  const auto means = shifted_means(table, limits, {.mode = FailureMode::at_limit, .shift = 0.0}, weights);
  EXPECT_DOUBLE_EQ(*means[0].value, 3.0);
}

TEST(ShiftedMeans, DoNotRewardFailing) {
  // A solver that fails fast everywhere must not look better than one that solves slowly.
  const CostTable costs = {{8.0, failed}, {8.0, 0.001}};
  const auto means = shifted_means(costs, Values{10.0, 10.0}, {.mode = FailureMode::penalised, .shift = 1.0});
  EXPECT_LT(*means[0].value, *means[1].value);
}

}  // namespace
}  // namespace conebench
