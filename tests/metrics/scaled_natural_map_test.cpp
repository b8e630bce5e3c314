#include "problems/scaled_natural_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "known_answers.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/official_residual.hpp"

namespace conebench {
namespace {

using testing::make_problem;
using testing::official_residual;

/// Three contacts with mean diagonals 1, 4 and 0: the last one's step is 1 / 2.5.
ContactProblem with_a_zero_block() {
  Matrix delassus = Matrix::Zero(9, 9);
  delassus.diagonal() << 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 0.0, 0.0, 0.0;
  return problem_of({.friction = {0.5, 0.5, 0.5}}, delassus, vector_of({0.1, 0, -1, 0, 0.2, -2, 0.3, 0.1, -0.5}));
}

TEST(ScaledNaturalMap, ABlockWithoutTraceTakesTheInverseOfTheMeanOfTheOthers) {
  const ContactProblem problem = with_a_zero_block();
  Vector inverse_steps(3);
  EXPECT_DOUBLE_EQ(natural_map_scaling(problem, inverse_steps), std::sqrt(4.04));
  EXPECT_DOUBLE_EQ(inverse_steps[2], 2.5);
  const Vector impulse = vector_of({0, 0, 1, 0, 0, 0.5, 0.4, 0, 0.1});
  const double expected = official_residual(problem, impulse);
  EXPECT_NEAR(scaled_natural_map(problem, impulse), expected, 1e-14);
}

TEST(ScaledNaturalMap, IsInfiniteWhereANumberIsNot) {
  const ContactProblem problem = with_a_zero_block();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (Index row = 0; row < problem.rows(); ++row) {
      Vector impulse = Vector::Constant(9, 0.5);
      impulse[row] = bad;
      EXPECT_EQ(scaled_natural_map(problem, impulse), std::numeric_limits<double>::infinity()) << row;
      EXPECT_EQ(official_residual(problem, impulse), std::numeric_limits<double>::infinity()) << row;
    }
  }
}

TEST(ScaledNaturalMap, IsTheJudgesOnRandomProblemsAndAnswers) {
  for (const long dimension : {2L, 3L}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ContactProblem problem = make_problem(
          "random", {{"dimension", dimension}, {"joints", 2L}, {"limits", 3L}, {"compliance", 0.1}, {"contacts", 7L}},
          seed);
      const Vector impulse = Vector::Random(problem.rows());
      const double expected = official_residual(problem, impulse);
      EXPECT_NEAR(scaled_natural_map(problem, impulse), expected, 1e-13 * expected);
    }
  }
}

TEST(ScaledNaturalMap, IsTheJudgesOnIntervalsAndAllLawsOfFriction) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const testing::KnownModes known = testing::problem_with_known_modes(testing::drawn_cones(seed, 5), seed);
    const Vector answer = known.impulse + 0.1 * Vector::Random(known.problem.rows());
    const double expected = official_residual(known.problem, answer);
    EXPECT_NEAR(scaled_natural_map(known.problem, answer), expected, 1e-12 * expected) << seed;
  }
}

}  // namespace
}  // namespace conebench
