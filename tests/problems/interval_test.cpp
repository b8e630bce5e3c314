#include "problems/cones/interval.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/problems/cone_values.hpp"

namespace conebench {
namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();

Interval any_interval() {
  Interval interval;
  const double a = *component();
  const double b = *component();
  const int kind = *rc::gen::inRange(0, 5);
  if (kind != 1 && kind != 4) interval.lower = std::min(a, b);
  if (kind != 2 && kind != 4) interval.upper = kind == 3 ? interval.lower : std::max(a, b);
  return interval;
}

RC_GTEST_PROP(IntervalProperty, ProjectionIsTheNearestImpulse, ()) {
  const Interval interval = any_interval();
  const double x = *component();
  const double projected = interval.project(x);
  RC_ASSERT(projected >= interval.lower && projected <= interval.upper);
  RC_ASSERT(interval.project(projected) == projected);
  // x − P(x) points out of the interval: up at u, down at l, nowhere inside.
  if (x > projected) RC_ASSERT(projected == interval.upper);
  if (x < projected) RC_ASSERT(projected == interval.lower);
}

RC_GTEST_PROP(IntervalProperty, AZeroOfTheNaturalMapIsComplementary, ()) {
  const Interval interval = any_interval();
  const double impulse = interval.project(*component());
  const double s = *component();
  const bool solves = s == 0.0 || (s > 0.0 && impulse == interval.lower) || (s < 0.0 && impulse == interval.upper);
  RC_ASSERT((interval.natural_map(impulse, s) == 0.0) == solves);
}

RC_GTEST_PROP(IntervalProperty, NaturalMapIsTheDifferenceToTheProjection, ()) {
  const Interval interval = any_interval();
  const double impulse = *component();
  const double s = *component();
  const double expected = impulse - interval.project(impulse - s);
  RC_ASSERT(std::abs(interval.natural_map(impulse, s) - expected) <= 1e-15 * (std::abs(impulse) + std::abs(s)));
}

TEST(Interval, WithInfiniteBoundsIsAJointOrALimit) {
  const Interval joint;
  EXPECT_EQ(joint.project(-3.0), -3.0);
  EXPECT_EQ(joint.natural_map(5.0, 0.25), 0.25);
  const Interval limit{0.0, no_bound};
  EXPECT_EQ(limit.project(-3.0), 0.0);
  EXPECT_EQ(limit.natural_map(1.0, 2.0), 1.0);
  EXPECT_EQ(limit.natural_map(1.0, 0.5), 0.5);
}

TEST(Interval, AllowsTheVelocitiesThatSomeImpulseAllows) {
  const auto dual = [](const Interval& interval, double v) { return interval.project_dual(Interval::Block(v))[0]; };
  for (const double v : {-2.0, 3.0}) {
    EXPECT_EQ(dual({-1.0, 1.0}, v), v) << "any, at one of two bounds";
    EXPECT_EQ(dual({2.0, 2.0}, v), v);
    EXPECT_EQ(dual({}, v), 0.0) << "none but 0, without a bound";
    EXPECT_EQ(dual({0.0, no_bound}, v), std::max(v, 0.0));
    EXPECT_EQ(dual({-no_bound, 0.0}, v), std::min(v, 0.0)) << "a tendon does not grow";
  }
}

TEST(Interval, KeepsTheDigitsOfASmallVelocityBesideALargeImpulse) {
  EXPECT_EQ((Interval{-1e20, 1e20}.natural_map(1e10, 1e-10)), 1e-10);
}

TEST(Interval, WhatIsNoNumberStaysNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Interval{-1.0, 1.0}.natural_map(0.0, nan)));
}

}  // namespace
}  // namespace conebench
