#include "runners/execute/timing.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

TEST(Timing, TheFirstTimeIsTheColdOne) {
  const TimingRecord timing = summarise_times({9.0, 1.0, 2.0});
  EXPECT_EQ(timing.cold, 9.0);
  EXPECT_EQ(timing.minimum, 1.0);
  EXPECT_EQ(timing.median, 2.0);
  EXPECT_EQ(timing.deviation, 1.0);
}

TEST(Timing, AnEvenCountTakesTheMiddleOfTwo) {
  const TimingRecord timing = summarise_times({4.0, 1.0, 2.0, 9.0});
  EXPECT_EQ(timing.median, 3.0);
  EXPECT_EQ(timing.deviation, 1.5);
}

TEST(Timing, OneTimeHasNoDeviation) {
  const TimingRecord timing = summarise_times({4.0});
  EXPECT_EQ(timing.median, 4.0);
  EXPECT_EQ(timing.deviation, 0.0);
}

TEST(Repeats, GoOnUntilThereAreEnoughAndTheyTookLongEnough) {
  const CellRequest::Repeats repeats{3, 50.0, 100};
  EXPECT_TRUE(another_repeat(repeats, 10.0, {0.040, 0.040}));
  EXPECT_FALSE(another_repeat(repeats, 10.0, {0.040, 0.040, 0.040}));
  EXPECT_TRUE(another_repeat(repeats, 10.0, {0.001, 0.001, 0.001}));
}

TEST(Repeats, NeverExceedTheMaximumOrTheBudget) {
  const CellRequest::Repeats repeats{5, 50.0, 4};
  EXPECT_FALSE(another_repeat(repeats, 10.0, {1e-6, 1e-6, 1e-6, 1e-6}));
  EXPECT_FALSE(another_repeat(repeats, 10.0, {6.0}));
  EXPECT_TRUE(another_repeat(repeats, 10.0, {4.0}));
  EXPECT_FALSE(another_repeat(repeats, 10.0, {4.0, 4.0}));
}

}  // namespace
}  // namespace conebench
