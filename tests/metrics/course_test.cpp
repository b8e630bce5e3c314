#include "metrics/course.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "problem_builders.hpp"

namespace conebench {
namespace {

/// Iterates 1 … `count`, all of them seen.
SeenIterates iterates(long count, const std::function<double(long)>& verdict, double step = 1.0) {
  SeenIterates seen;
  for (long k = 1; k <= count; ++k) {
    SeenIterate one;
    one.iteration = k;
    one.verdict = verdict(k);
    one.worst_block = 0;
    if (k > 1) one.step = step;
    seen.list.push_back(one);
  }
  return seen;
}

TEST(Course, FallsByItsFactorToATolerancePredicted) {
  const Course course = analyse_course(iterates(1000, [](long k) { return std::pow(0.99, k); }), 1e-8);
  EXPECT_EQ(course.trend, Trend::falls);
  EXPECT_NEAR(course.factor.value(), 0.99, 1e-4);
  EXPECT_NEAR(course.to_tolerance.value(), std::log(1e-8) / std::log(0.99) - 1000.0, 20.0);
}

/// Those of 1 … `count` that IterateWatch sees.
SeenIterates watched(long count, const std::function<double(long)>& verdict) {
  SeenIterates seen = iterates(count, verdict);
  const long stride = std::max(1L, count / 256);
  std::erase_if(seen.list, [&](const SeenIterate& one) {
    return one.iteration > 10 && one.iteration <= count - max_last_iterates && one.iteration % stride != 0;
  });
  return seen;
}

TEST(Course, OfAGeometricResidualTheFactorIsExactThoughTheLastIteratesAreSeenMoreDensely) {
  for (const long count : {20000L, 1000L}) {
    const double log_factor = -10.0 / static_cast<double>(count);
    const Course course =
        analyse_course(watched(count, [&](long k) { return std::exp(log_factor * static_cast<double>(k)); }), 1e-8);
    EXPECT_EQ(course.trend, Trend::falls);
    EXPECT_FALSE(course.at_the_end);
    EXPECT_NEAR(std::log(course.factor.value()) / log_factor, 1.0, 1e-9) << count;
    const double left = std::log(1e-8) / log_factor - static_cast<double>(count);
    EXPECT_NEAR(course.to_tolerance.value() / left, 1.0, 1e-9) << count;
    EXPECT_EQ(course.estimate, Course::Estimate::about);
  }
}

TEST(Course, OfAResidualThatFallsEverMoreSlowlyTheEstimateIsABound) {
  const Course course =
      analyse_course(watched(1000, [](long k) { return 1e-3 + std::exp(-0.01 * static_cast<double>(k)); }), 1e-8);
  EXPECT_EQ(course.trend, Trend::falls);
  EXPECT_EQ(course.estimate, Course::Estimate::at_least);
}

TEST(Course, FallsAtTheEndAloneWithoutAnEstimate) {
  const auto verdict = [](long k) {
    return k < 600 ? 0.1 : k < 875 ? 0.2 : 0.05 * std::exp(-0.01 * static_cast<double>(k - 875));
  };
  const Course course = analyse_course(watched(1000, verdict), 1e-8);
  EXPECT_EQ(course.trend, Trend::falls);
  EXPECT_TRUE(course.at_the_end);
  EXPECT_LT(course.factor.value(), 1.0);
  EXPECT_EQ(course.estimate, Course::Estimate::none);
}

TEST(Course, FallsThoughItOscillates) {
  const auto verdict = [](long k) { return std::pow(0.995, k) * (2.0 + std::cos(static_cast<double>(k))); };
  const Course course = analyse_course(iterates(1000, verdict), 1e-8);
  EXPECT_EQ(course.trend, Trend::falls);
  EXPECT_NEAR(course.factor.value(), 0.995, 1e-3);
}

TEST(Course, ReachedIsAtTheTolerance) {
  EXPECT_EQ(analyse_course(iterates(50, [](long k) { return std::pow(0.5, k); }), 1e-8).trend, Trend::reached);
}

TEST(Course, GrowsToMoreThanItsBest) {
  EXPECT_EQ(analyse_course(iterates(100, [](long k) { return std::pow(1.1, k); }), 1e-8).trend, Trend::grows);
  const auto ends = [](long k) {
    return k < 40 ? 1.0 / static_cast<double>(k) : std::numeric_limits<double>::infinity();
  };
  const Course course = analyse_course(iterates(40, ends), 1e-8);
  EXPECT_EQ(course.trend, Trend::grows);
  EXPECT_EQ(course.best_iteration, 39);
}

TEST(Course, RestsWhereTheIteratesNoLongerMove) {
  EXPECT_EQ(analyse_course(iterates(
                               200, [](long) { return 1e-3; }, 1e-14),
                           1e-8)
                .trend,
            Trend::rests);
}

TEST(Course, CyclesWhereTheLastIterateComesAgain) {
  SeenIterates seen = iterates(200, [](long k) { return k % 4 == 0 ? 0.1 : 0.2; });
  seen.returns = {1.0, 2.0, 1.0, 1e-9, 1.0, 2.0};
  const Course course = analyse_course(seen, 1e-8);
  EXPECT_EQ(course.trend, Trend::cycles);
  EXPECT_EQ(course.period, 4);
  EXPECT_EQ(course.low, 0.1);
  EXPECT_EQ(course.high, 0.2);
}

TEST(Course, WandersWithoutATrendOrAPeriod) {
  SeenIterates seen = iterates(400, [](long k) { return 0.1 * (2.0 + std::sin(2.4 * static_cast<double>(k))); });
  seen.returns = {1.0, 2.0, 1.5, 0.7};
  EXPECT_EQ(analyse_course(seen, 1e-8).trend, Trend::wanders);
}

TEST(Course, OfAFewIteratesOrNoneSaysNothing) {
  EXPECT_EQ(analyse_course({}, 1e-8).trend, Trend::unseen);
  EXPECT_EQ(analyse_course(iterates(4, [](long) { return 1.0; }), 1e-8).trend, Trend::few);
}

TEST(Course, ContactsFlapWhereTheyComeBackToAModeTheyLeft) {
  SeenIterates seen = iterates(40, [](long) { return 0.1; });
  for (SeenIterate& one : seen.list) {
    one.modes = std::string("o") + (one.iteration < 20 ? "t" : "s") + (one.iteration % 2 == 0 ? "t" : "o");
  }
  const Course course = analyse_course(seen, 1e-8);
  EXPECT_EQ(course.compared, 40);
  ASSERT_EQ(course.flapping.size(), 1U) << "the second contact changed once and stayed";
  EXPECT_EQ(course.flapping[0].contact, 2);
  EXPECT_EQ(course.flapping[0].changes, 39);
  EXPECT_EQ(course.flapping[0].modes, (std::vector{ContactMode::open, ContactMode::stick}));
}

TEST(Course, NamesTheBlocksThatWereTheWorst) {
  SeenIterates seen = iterates(100, [](long) { return 0.1; });
  for (SeenIterate& one : seen.list) one.worst_block = one.iteration < 50 ? 7 : one.iteration % 4 == 0 ? 2 : 5;
  const Course course = analyse_course(seen, 1e-8);
  ASSERT_EQ(course.worst.size(), 2U);
  EXPECT_EQ(course.worst[0].block, 5);
  EXPECT_NEAR(course.worst[0].share, 0.75, 0.02);
}

/// Two contacts far apart, each pressed with 1 m/s: λ_N = 0.5 each solves it.
ContactProblem two_contacts() {
  return problem_of({.friction = {0.5, 0.5}}, 2.0 * Matrix::Identity(6, 6), vector_of({0, 0, -1, 0, 0, -1}));
}

TEST(IterateWatch, SeesVerdictWorstBlockStepAndModes) {
  const ContactProblem problem = two_contacts();
  auto watch = IterateWatch::create("natural_map_scaled", problem, 3);
  ASSERT_TRUE(watch);
  watch->take(1, vector_of({0, 0, 0.5, 0, 0, 0}));
  watch->take(2, vector_of({0, 0, 0.5, 0, 0, 0.25}));
  watch->take(3, vector_of({0, 0, 0.5, 0, 0, 0}));
  const SeenIterates seen = watch->finish();
  ASSERT_EQ(seen.list.size(), 3U);
  EXPECT_DOUBLE_EQ(seen.list[0].verdict, 1.0);
  EXPECT_EQ(seen.list[0].worst_block, 1);
  EXPECT_EQ(seen.list[0].modes, "to");
  EXPECT_FALSE(seen.list[0].step);
  EXPECT_DOUBLE_EQ(seen.list[1].verdict, 0.5);
  EXPECT_DOUBLE_EQ(seen.list[1].step.value(), 0.5) << "0.25 N s move the contact by 0.5 m/s, and V is 1 m/s";
  EXPECT_EQ(seen.list[1].modes, "tt");
  EXPECT_EQ(seen.returns, (std::vector{0.5, 0.0}));
}

TEST(IterateWatch, SeesAFewHundredIteratesOfMany) {
  const ContactProblem problem = two_contacts();
  constexpr long count = 20000;
  auto watch = IterateWatch::create("natural_map_scaled", problem, count);
  ASSERT_TRUE(watch);
  for (long k = 1; k <= count; ++k) {
    if (k >= watch->next()) watch->take(k, Vector::Zero(6));
  }
  const SeenIterates seen = watch->finish();
  EXPECT_LT(seen.list.size(), 400U);
  EXPECT_EQ(seen.list.back().iteration, count);
  EXPECT_EQ(std::ranges::count_if(seen.list, [](const SeenIterate& one) { return !one.modes.empty(); }),
            max_last_iterates);
  long even = 0;
  for (const SeenIterate& one : seen.list) even += one.iteration % 2 == 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(even), 0.5 * static_cast<double>(seen.list.size()), 40.0)
      << "an oscillation of period 2 is seen in both phases";
}

TEST(IterateWatch, ReportsAnIterateThatIsNotFinite) {
  const ContactProblem problem = two_contacts();
  auto watch = IterateWatch::create("natural_map_scaled", problem, 2);
  ASSERT_TRUE(watch);
  watch->take(1, Vector::Zero(6));
  watch->take(2, Vector::Constant(6, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(analyse_course(watch->finish(), 1e-8).trend, Trend::grows);
}

}  // namespace
}  // namespace conebench
