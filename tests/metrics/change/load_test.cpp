#include "metrics/change/load.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace conebench {
namespace {

/// `quiet` cells of 10 ms that scatter by 2 %, `disturbed` ones that scatter by 30 %.
std::vector<CellTimes> cells(std::size_t quiet, std::size_t disturbed) {
  std::vector<CellTimes> times(quiet, {0.010, 0.0102});
  times.insert(times.end(), disturbed, {0.010, 0.013});
  return times;
}

TEST(Load, MoreThanFifteenPercentOfTheLongCellsScatter) {
  EXPECT_FALSE(measure_load(cells(85, 15)).loaded());
  EXPECT_TRUE(measure_load(cells(84, 16)).loaded());
  EXPECT_DOUBLE_EQ(measure_load(cells(32, 68)).share(), 0.68);
}

TEST(Load, ShortCellsDoNotCountHoweverTheyScatter) {
  std::vector<CellTimes> times = cells(10, 0);
  times.insert(times.end(), 100, {0.00499, 0.1});
  const Load load = measure_load(times);
  EXPECT_EQ(load.cells, 10U);
  EXPECT_EQ(load.scattered, 0U);
  EXPECT_FALSE(load.loaded());
}

TEST(Load, FiveMillisecondsAreLongAndATenthIsNotYetScatter) {
  const std::vector<CellTimes> times{{0.005, 0.005 * 1.0999}, {0.005, 0.005 * 1.1001}};
  EXPECT_EQ(measure_load(times).cells, 2U);
  EXPECT_EQ(measure_load(times).scattered, 1U);
}

TEST(Load, OneCellOfAFewIsChance) {
  EXPECT_FALSE(measure_load(cells(2, 1)).loaded());
  EXPECT_TRUE(measure_load(cells(2, 2)).loaded());
}

TEST(Load, NothingTimedIsNotLoaded) {
  EXPECT_EQ(measure_load({}).share(), 0.0);
  EXPECT_FALSE(measure_load({}).loaded());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(measure_load(std::vector<CellTimes>{{nan, nan}}).cells, 0U);
}

}  // namespace
}  // namespace conebench
