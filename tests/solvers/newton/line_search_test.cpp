#include "solvers/newton/line_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace conebench::newton {
namespace {

/// φ(t) = (t − a)² / 2 + c: from 0 its slope is −a.
struct Parabola {
  double a = 1.0;
  double offset = 0.0;
  double operator()(double t) const { return 0.5 * (t - a) * (t - a) + offset; }
  double slope() const { return -a; }
};

TEST(LineSearch, ArmijoTakesTheFullStepWhereItDecreasesEnough) {
  LineSearch search({.rule = "armijo"});
  const Parabola merit{.a = 1.0};
  const LineSearchStep step = search.search(merit(0.0), merit.slope(), merit);
  EXPECT_TRUE(step.found);
  EXPECT_EQ(step.t, 1.0);
  EXPECT_EQ(step.evaluations, 1);
}

TEST(LineSearch, ArmijoShrinksUntilTheDecreaseIsMet) {
  LineSearch search({.rule = "armijo", .decrease = 0.1, .shrink = 0.5});
  const Parabola merit{.a = 0.1};
  const LineSearchStep step = search.search(merit(0.0), merit.slope(), merit);
  EXPECT_TRUE(step.found);
  EXPECT_EQ(step.t, 0.125);
  EXPECT_LE(merit(step.t), merit(0.0) + 0.1 * step.t * merit.slope());
  EXPECT_GT(merit(2.0 * step.t), merit(0.0) + 0.1 * 2.0 * step.t * merit.slope());
}

TEST(LineSearch, ArmijoSaysWhereNoTrialPasses) {
  LineSearch search({.rule = "armijo", .trials = 5});
  const LineSearchStep step = search.search(1.0, -1.0, [](double t) { return 1.0 + t; });
  EXPECT_FALSE(step.found);
  EXPECT_EQ(step.evaluations, 5);
}

TEST(LineSearch, NotANumberNeverPasses) {
  const auto merit = [](double t) { return t > 0.3 ? std::nan("") : 1.0 - t; };
  for (const char* rule : {"armijo", "goldstein-price"}) {
    LineSearch search({.rule = rule});
    const LineSearchStep step = search.search(1.0, -1.0, merit);
    EXPECT_TRUE(step.found) << rule;
    EXPECT_LE(step.t, 0.3) << rule;
  }
}

TEST(LineSearch, MemoryLetsTheMeritRiseToTheLargestOfTheLastOnes) {
  LineSearch monotone({.rule = "armijo", .memory = 1});
  LineSearch remembers({.rule = "armijo", .memory = 2});
  const auto rising = [](double) { return 3.0; };
  const auto falling = [](double) { return 0.0; };
  for (LineSearch* search : {&monotone, &remembers}) {
    EXPECT_TRUE(search->search(5.0, -1.0, falling).found);
  }
  EXPECT_FALSE(monotone.search(2.0, -1.0, rising).found);
  EXPECT_TRUE(remembers.search(2.0, -1.0, rising).found);
  EXPECT_FALSE(remembers.search(2.0, -1.0, rising).found) << "5 is forgotten";
  remembers.reset();
  EXPECT_FALSE(remembers.search(1.0, -1.0, rising).found);
}

TEST(LineSearch, GoldsteinPriceMeetsBothTests) {
  for (const double a : {0.05, 0.7, 1.0, 30.0}) {
    LineSearch search({.rule = "goldstein-price", .decrease = 0.1, .curvature = 0.9});
    const Parabola merit{.a = a, .offset = 2.0};
    const LineSearchStep step = search.search(merit(0.0), merit.slope(), merit);
    ASSERT_TRUE(step.found) << a;
    EXPECT_LE(merit(step.t), merit(0.0) + 0.1 * step.t * merit.slope()) << a;
    EXPECT_GE(merit(step.t), merit(0.0) + 0.9 * step.t * merit.slope()) << a;
  }
}

TEST(LineSearch, ExactStepIsAtTheMinimum) {
  // φ = cosh(t − a) − cosh(a), convex with its minimum at a.
  for (const double a : {1e-3, 0.4, 1.0, 7.0}) {
    const LineSearchStep step = LineSearch::exact(
        -std::sinh(a),
        [&](double t) {
          return MeritAlong{std::sinh(t - a), std::cosh(t - a)};
        },
        60);
    EXPECT_NEAR(step.t, a, 2e-6 * std::max(1.0, std::sinh(a)));
  }
}

TEST(LineSearch, ExactStepFindsAKink) {
  // φ' = t − 0.5 up to 0.4, then steep: the root of a slope that Newton's method alone overshoots.
  const auto along = [](double t) {
    return t < 0.4 ? MeritAlong{0.01 * (t - 0.5), 0.01} : MeritAlong{100.0 * (t - 0.4) - 0.001, 100.0};
  };
  const LineSearchStep step = LineSearch::exact(-0.005, along, 60);
  EXPECT_NEAR(step.t, 0.40001, 1e-8);
}

}  // namespace
}  // namespace conebench::newton
