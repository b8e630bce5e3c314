#include "metrics/noise_level.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

TEST(NoiseLevel, IsWhatRoundingLeavesOfJVAndB) {
  const auto ratio_of = [](double bias) {
    ContactProblemData data;
    data.cones = *ConeProduct::create(0, 0, {0.5}, 2);
    PrimalForm primal;
    primal.mass = SparseMatrix(2, 2);
    primal.mass.setIdentity();
    primal.jacobian = SparseMatrix(2, 2);
    primal.jacobian.insert(1, 0) = 0.1;
    primal.jacobian.insert(1, 1) = 0.2;
    primal.free_velocity = vector_of({1.0, 1.0});
    data.free_term = vector_of({0.0, 0.1 + 0.2 + bias});
    data.bias = vector_of({0.0, bias});
    data.primal = primal;
    return noise_ratio(*ContactProblem::create(std::move(data)));
  };
  EXPECT_LE(ratio_of(-0.3).value(), 1.0);  // 0.1 + 0.2 − 0.3 = 5.6e-17
  EXPECT_GT(ratio_of(-0.3 + 1e-12).value(), 1e3);
  EXPECT_GT(ratio_of(0.0).value(), 1e14);
}

TEST(NoiseLevel, IsSeenInWholeMultiplesOfOneTinyUnit) {
  const double unit = std::ldexp(1.0, -63);
  EXPECT_LE(noise_ratio(one_contact(vector_of({unit, -3 * unit, 5 * unit}))).value(), 1.0);
  EXPECT_FALSE(noise_ratio(one_contact(vector_of({unit, -3 * unit, 1.1e3 * unit}))));
  EXPECT_FALSE(noise_ratio(one_contact(vector_of({1.234e-19, -3.456e-19, 5e-19}))));
  EXPECT_FALSE(noise_ratio(one_contact(vector_of({0.0, 1.0, -2.0}))));  // by hand, not by rounding
  EXPECT_FALSE(noise_ratio(one_contact(vector_of({0.0, 0.0, 0.0}))));
}

TEST(NoiseLevel, IsWhatRoundingLeavesOfGTimesTheAnswer) {
  Matrix delassus(2, 2);
  delassus << 1.0, -1.0, -1.0, 1.0;
  const auto problem = [&](double speed) { return problem_of({.limits = 2}, delassus, vector_of({-speed, speed})); };
  const auto ratio = [&](double speed, const Vector& answer) {
    return noise_ratio(problem(speed).with_reference({answer, 0.0, {}}));
  };
  EXPECT_FALSE(noise_ratio(problem(1e-10)));
  EXPECT_GT(ratio(1e-10, vector_of({1e-3, 0.0})).value(), 1e7);
  EXPECT_LE(ratio(1e-10, vector_of({1e6, 1e6})).value(), 1.0);
  // An answer may be inflated by what G does not see, or be none.
  EXPECT_FALSE(ratio(1e-3, vector_of({1e13, 1e13})));
}

TEST(NoiseLevel, IsNoSceneThatMoves) {
  for (const char* scene : {"box-stack", "random"})
    EXPECT_GT(noise_ratio(testing::make_problem(scene)).value_or(2.0), 1.0) << scene;
}

}  // namespace
}  // namespace conebench
