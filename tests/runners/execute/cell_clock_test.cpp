#include "runners/execute/cell_clock.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

using Order = CellClock::Order;

double cell_time = 0.0;
double cell_time_now() { return cell_time; }

class CellClocks : public ::testing::Test {
 protected:
  /// What a cell of 10 s whose process has begun so many attempts is ordered to do at `time`.
  Order at(double time, int attempts = 1) {
    cell_time = began + time;
    return clock.order(attempts);
  }

  const double began = cell_time = 1000.0;
  CellClock clock{CellTime(10.0), cell_time_now};
};

TEST(CellTime, IsLateBeyondTheLimitAlone) {
  const CellTime time(10.0);
  EXPECT_FALSE(time.is_late(10.0));
  EXPECT_TRUE(time.is_late(10.001));
}

TEST(CellTime, HasLeftWhatSetUpDidNotUse) {
  const CellTime time(10.0);
  EXPECT_EQ(time.left_s(4.0), 6.0);
  EXPECT_EQ(time.given_s(4.0), 6.0);
  EXPECT_EQ(time.left_s(12.0), -2.0);
  EXPECT_EQ(time.given_s(12.0), 0.001) << "a solver always gets a limit";
}

// docs/suites.md, Time limits
TEST(CellTime, GivesWhatDocsSay) {
  const CellTime time(10.0);
  EXPECT_EQ(time.attempt_s(), 17.0);
  EXPECT_EQ(time.grace_s(), 0.5);
  EXPECT_EQ(time.processor_s(), 5 * 17.0 + 2.5);
  EXPECT_EQ(time.hang_s(), 10 * 18.0 + 60.0);
}

TEST(CellTime, IsForEachTryUpToFive) {
  const CellTime time(10.0);
  EXPECT_EQ(time.end_s(0), 17.0) << "before the first attempt begins";
  EXPECT_EQ(time.end_s(1), 17.0);
  EXPECT_EQ(time.end_s(3), 3 * 17.0);
  EXPECT_EQ(time.end_s(5), 5 * 17.0);
  EXPECT_EQ(time.end_s(1000000), 5 * 17.0);
}

TEST(CellTime, OfTwoRunsInOneProcessIsTwiceAsLongWithTheSameLimit) {
  const CellTime time = CellTime(10.0).twice();
  EXPECT_EQ(time.end_s(1), 34.0);
  EXPECT_EQ(time.grace_s(), 0.5);
  EXPECT_TRUE(time.is_late(10.001));
}

TEST_F(CellClocks, OrdersTheEndOnceAndAfterTheGraceToKillOnce) {
  EXPECT_EQ(at(17.0), Order::none);
  EXPECT_EQ(at(17.25), Order::end);
  EXPECT_EQ(at(17.5), Order::none);
  EXPECT_EQ(at(17.75), Order::none) << "the grace begins with the order";
  EXPECT_EQ(at(18.0), Order::kill);
  EXPECT_EQ(at(100.0), Order::none);
}

TEST_F(CellClocks, WaitLongerOnceAnotherTryBegins) {
  EXPECT_EQ(at(20.0, 2), Order::none);
  EXPECT_EQ(at(34.5, 3), Order::none);
  EXPECT_EQ(at(51.5, 3), Order::end);
  EXPECT_EQ(at(51.75, 4), Order::none);
  EXPECT_EQ(at(52.25, 5), Order::kill) << "no attempt helps a process that was asked to end";
}

TEST_F(CellClocks, LeaveOutTheStartOfAProgram) {
  EXPECT_EQ(at(5.0), Order::none);
  cell_time = began + 8.0;
  clock.exclude_start();
  EXPECT_EQ(clock.elapsed_s(), 0.0);
  EXPECT_EQ(at(25.0), Order::none);
  EXPECT_EQ(clock.elapsed_s(), 17.0);
  EXPECT_EQ(at(25.25), Order::end);
}

}  // namespace
}  // namespace conebench
