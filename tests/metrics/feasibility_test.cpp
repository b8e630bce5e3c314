#include "metrics/feasibility.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "known_answers.hpp"
#include "metrics/linear_program.hpp"
#include "metrics/residuals.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;
constexpr double seconds = 20.0;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// G = 1 on all tangents and `normals` between the normals of frictional contacts.
ContactProblem coupled_normals(const Matrix& normals, const Vector& speeds) {
  const Index contacts = speeds.size();
  Matrix delassus = Matrix::Identity(3 * contacts, 3 * contacts);
  Vector free_term = Vector::Zero(3 * contacts);
  for (Index i = 0; i < contacts; ++i) {
    free_term[3 * i + 2] = speeds[i];
    for (Index j = 0; j < contacts; ++j) delassus(3 * i + 2, 3 * j + 2) = normals(i, j);
  }
  return problem_of({.friction = std::vector<double>(static_cast<std::size_t>(contacts), 0.5)}, delassus, free_term);
}

/// Two walls that a body of mass 1 is pressed between, each coming nearer at `speed`.
ContactProblem squeezed_body(double speed) {
  Matrix normals(2, 2);
  normals << 1, -1, -1, 1;
  return coupled_normals(normals, vector_of({-speed, -speed}));
}

class Feasibilities : public ::testing::Test {
 protected:
  void SetUp() override {
    const LinearProgram nothing{SparseMatrix(0, 0), Vector(), Vector(), Vector(), Vector(), Vector()};
    if (solve_linear_program(nothing, seconds).state == LinearProgramAnswer::State::no_library)
      GTEST_SKIP() << "built without CLP";
  }
};

TEST_F(Feasibilities, AContactThatNoImpulseMovesHasNoSolution) {
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(2, 2) = 0.0;
  const auto found = check_feasibility(problem_of({.friction = {0.5}}, delassus, vector_of({0.5, 0.0, -1.0})), seconds);
  EXPECT_EQ(found.state, FeasibilityState::infeasible);
  EXPECT_EQ(found.margin, -1.0);
  EXPECT_EQ(found.speed_bound, infinite);
  EXPECT_EQ(found.worst_block, 0);
}

TEST_F(Feasibilities, ALightBodyBetweenAHeavyOneAndTheGroundIsAWayOut) {
  // λ_N = (1, 1) N s solves it without friction, whatever the mass of the lower body.
  for (const int exponent : {10, 30, 40, 45}) {
    const double lightness = std::ldexp(1.0, exponent);
    Matrix normals(2, 2);
    normals << lightness, -lightness, -lightness, lightness + 1.0;
    const auto found = check_feasibility(coupled_normals(normals, vector_of({0.0, -1.0})), seconds);
    EXPECT_EQ(found.state, FeasibilityState::not_excluded) << exponent;
  }
}

TEST_F(Feasibilities, ALinkThatOverlapsItsWeldedBaseHasNoSolution) {
  // One free body that touches the ground, and a contact of two parts that can't move: J = 0, b_N = −0.6 m/s.
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, {0.5, 0.5});
  PrimalForm primal;
  primal.mass = SparseMatrix(3, 3);
  primal.mass.setIdentity();
  primal.jacobian = SparseMatrix(6, 3);
  for (int i = 0; i < 3; ++i) primal.jacobian.insert(i, i) = 1.0;
  primal.free_velocity = vector_of({0.1, 0.0, -0.2});
  data.primal = primal;
  data.bias = vector_of({0, 0, 0, 0, 0, -0.6});
  data.free_term = vector_of({0.1, 0, -0.2, 0, 0, -0.6});
  const auto problem = ContactProblem::create(std::move(data));
  ASSERT_TRUE(problem) << problem.error().message;
  const auto found = check_feasibility(*problem, seconds);
  EXPECT_EQ(found.state, FeasibilityState::infeasible);
  EXPECT_DOUBLE_EQ(found.margin, -0.6);
  EXPECT_EQ(found.worst_block, 1);
}

TEST_F(Feasibilities, ABodySqueezedByTwoWallsHasNoSolution) {
  const auto found = check_feasibility(squeezed_body(1.19), seconds);
  EXPECT_EQ(found.state, FeasibilityState::infeasible);
  EXPECT_NEAR(found.margin, -1.19, 1e-12);
  EXPECT_GT(found.speed_bound, 1e15);
}

TEST_F(Feasibilities, JointsThatContradictEachOtherHaveNoSolutionAndConsistentOnesDo) {
  const auto joints = [](double second, const Vector& compliance = {}) {
    return check_feasibility(problem_of({.joints = 2}, Matrix::Ones(2, 2), vector_of({1.0, second}), compliance),
                             seconds)
        .state;
  };
  EXPECT_EQ(joints(-1.0), FeasibilityState::infeasible);
  EXPECT_EQ(joints(1.0 + 1e-6), FeasibilityState::infeasible);
  EXPECT_NE(joints(1.0), FeasibilityState::infeasible);
  EXPECT_NE(joints(1.0 + 1e-12), FeasibilityState::infeasible);  // rounding
  EXPECT_NE(joints(-1.0, vector_of({0.1, 0.1})), FeasibilityState::infeasible);
  EXPECT_NE(joints(-1.0, vector_of({1e-13, 0.0})), FeasibilityState::infeasible);
}

TEST_F(Feasibilities, OfNearlyEqualJointsExcludesTightTolerancesOnly) {
  const ContactProblem problem = problem_of({.joints = 2}, Matrix::Ones(2, 2), vector_of({1.0, 1.0 + 1e-6}));
  const Feasibility found = check_feasibility(problem, seconds);
  EXPECT_EQ(found.state, FeasibilityState::infeasible);
  // Halfway between the two: σ = ∓5e-7 m/s.
  const double between = judge(problem, vector_of({-1.0 - 5e-7, 0.0}))["natural_map_scaled"].value;
  EXPECT_LE(found.verdict_bound, between);
  EXPECT_GE(found.verdict_bound, (1.0 - 1e-9) * between);
}

TEST_F(Feasibilities, OfSeveralContradictionsTheWorstMakesTheBound) {
  // Pairs of joints that miss each other by 1e-6 m/s, a lone one that rests, and a pair that misses by 1 m/s.
  Matrix delassus = Matrix::Zero(21, 21);
  Vector free_term = Vector::Ones(21);
  for (Index pair = 0; pair < 10; ++pair) {
    delassus.block(2 * pair, 2 * pair, 2, 2).setOnes();
    free_term[2 * pair + 1] += pair == 7 ? 1.0 : 1e-6;
  }
  delassus(20, 20) = 1.0;
  const Feasibility found = check_feasibility(problem_of({.joints = 21}, delassus, free_term), seconds);
  EXPECT_NEAR(found.verdict_bound, 0.25, 1e-9) << "0.5 m/s over V = 2 m/s";
  EXPECT_NEAR(found.margin, -0.5, 1e-9);
}

TEST_F(Feasibilities, AContactThatSlidesWhereNoImpulseHoldsItHasASolution) {
  const ContactProblem problem = problem_of({.friction = {0.5}}, Matrix::Zero(3, 3), vector_of({1.0, 0.0, 0.0}));
  EXPECT_NE(check_feasibility(problem, seconds).state, FeasibilityState::infeasible);
}

TEST_F(Feasibilities, AHeavyBodyOnALightOneIsNoContradiction) {
  // Ball of 1 kg on the ground, 1e9 kg on top of it coming down at 1 m/s.
  Matrix normals(2, 2);
  normals << 1, -1, -1, 1 + 1e-9;
  EXPECT_NE(check_feasibility(coupled_normals(normals, vector_of({0.0, -1.0})), seconds).state,
            FeasibilityState::infeasible);
}

TEST_F(Feasibilities, ABodyHeldByFrictionInASteepWedgeIsNotExcluded) {
  // Walls at ±10° to x, μ = 1, each asks for 1 m/s outwards. Sliding out along x reaches that, and friction forbids it:
  // no solution, and no certificate either.
  const double c = std::cos(M_PI / 18.0);
  const double s = std::sin(M_PI / 18.0);
  Matrix jacobian(4, 2);
  jacobian << c, -s, s, c, c, s, s, -c;
  const ContactProblem problem = problem_of({.friction = {1.0, 1.0}, .dimension = 2}, jacobian * jacobian.transpose(),
                                            vector_of({0.0, -1.0, 0.0, -1.0}));
  EXPECT_EQ(check_feasibility(problem, seconds).state, FeasibilityState::not_excluded);
}

TEST_F(Feasibilities, AreDecidedWhereTheDualSimplexGivesUp) {
  // Masses of 1 to 2⁻³⁹ kg: the dual simplex method of CLP 1.17.6 takes four of these programs, which 0 satisfies, for
  // contradictory.
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto entry = [&] { return static_cast<double>(random() % 5) - 2.0; };
    Matrix jacobian(12, 6);
    for (Index i = 0; i < 12; ++i) {
      for (Index k = 0; k < 6; ++k) jacobian(i, k) = entry();
    }
    Vector inverse_masses(6), velocity(6);
    for (double& inverse : inverse_masses) inverse = std::ldexp(1.0, static_cast<int>(random() % 40));
    for (double& one : velocity) one = entry();
    const ContactProblem problem = problem_of(
        {.joints = 4, .limits = 8}, jacobian * inverse_masses.asDiagonal() * jacobian.transpose(), jacobian * velocity);
    EXPECT_NE(check_feasibility(problem, seconds).state, FeasibilityState::undecided) << seed;
  }
}

TEST_F(Feasibilities, NoneOfTenThousandProblemsWithAKnownAnswerIsExcluded) {
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    const auto structure = make_problem("random",
                                        {{"contacts", static_cast<long>(1 + seed % 5)},
                                         {"joints", static_cast<long>(seed % 4)},
                                         {"limits", 2L},
                                         {"rank_share", seed % 2 == 0 ? 0.4 : 1.0}},
                                        seed / 10);
    const ContactProblem problem = testing::with_known_answer(structure, seed, true).problem;
    const Feasibility found = check_feasibility(problem, seconds);
    ASSERT_NE(found.state, FeasibilityState::infeasible) << seed << ": " << found.margin << ", " << found.speed_bound;
  }
}

TEST(Certificate, IsJudgedByItsSignsAndItsRows) {
  const ContactProblem problem = squeezed_body(1.0);
  const auto state = [&](std::initializer_list<double> z) { return judge_certificate(problem, vector_of(z)).state; };
  EXPECT_EQ(state({0, 0, 1, 0, 0, 1}), FeasibilityState::infeasible);
  EXPECT_EQ(state({0, 0, 3, 0, 0, 3}), FeasibilityState::infeasible);
  EXPECT_EQ(state({0, 0, -1, 0, 0, -1}), FeasibilityState::not_excluded);
  EXPECT_EQ(state({0, 0, 1, 0, 0, 0}), FeasibilityState::not_excluded);
  EXPECT_EQ(state({1e-300, 0, 1, 0, 0, 1}), FeasibilityState::not_excluded);
  EXPECT_EQ(state({0, 0, 1, 0, 0, 1 + 1e-9}), FeasibilityState::not_excluded);
  EXPECT_EQ(state({0, 0, 0, 0, 0, 0}), FeasibilityState::not_excluded);
  EXPECT_EQ(judge_certificate(problem, vector_of({1})).state, FeasibilityState::not_excluded);
  EXPECT_EQ(state({0, 0, infinite, 0, 0, infinite}), FeasibilityState::not_excluded);
}

TEST(Certificate, NoAnswerIsBetterThanItsBound) {
  // A limit at rest beside a body between two walls, in every dimension: the least verdict is searched by descent.
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const int dimension : {2, 3, 5}) {
    for (const double friction : {0.0, 0.5, 3.0}) {
      const Index rows = 1 + 2 * dimension, first = 1 + (dimension == 5 ? 2 : dimension - 1),
                  second = first + dimension;
      ContactProblemData data;
      const std::vector<double> rolling = dimension == 5 ? std::vector{0.2, 0.4} : std::vector<double>();
      data.cones = *ConeProduct::create(0, 1, {friction, friction}, dimension, rolling);
      Matrix delassus = Matrix::Identity(rows, rows);
      delassus(first, second) = delassus(second, first) = -1.0;
      data.delassus = make_dense_delassus(delassus);
      data.free_term = Vector::Constant(rows, 0.3);
      data.free_term[first] = -1.0;
      data.free_term[second] = -0.5;
      const ContactProblem problem = *ContactProblem::create(std::move(data));
      Vector z = Vector::Zero(rows);
      z[first] = z[second] = 1.0;
      const double bound = judge_certificate(problem, z).verdict_bound;
      EXPECT_GT(bound, 0.0);
      const auto verdict = [&](const Vector& impulse) { return judge(problem, impulse)["natural_map_scaled"].value; };
      Vector best = Vector::Zero(rows);
      double least = verdict(best);
      for (int attempt = 0; attempt < 1000; ++attempt) {
        Vector impulse = best;
        const double size = std::pow(10.0, 2.0 * uniform(random) - 1.0);
        for (double& entry : impulse) entry += size * uniform(random);
        if (const double value = verdict(impulse); value < least) {
          least = value;
          best = impulse;
        }
      }
      EXPECT_GE(least, bound) << dimension << ' ' << friction;
      if (friction == 0.0 && dimension < 5) {
        EXPECT_LE(least, 1.5 * bound) << "where friction adds nothing the bound is met";
      }
    }
  }
}

TEST_F(Feasibilities, TendonsThatContradictEachOtherHaveNoSolution) {
  // λ ≤ 0 and σ ≤ 0 on both, which move against each other while both come nearer by 1 m/s.
  Matrix delassus(2, 2);
  delassus << 1.0, -1.0, -1.0, 1.0;
  const auto state = [&](const std::vector<Interval>& bounds) {
    return check_feasibility(problem_with(interval_cones(bounds), delassus, vector_of({1.0, 1.0})), seconds).state;
  };
  EXPECT_EQ(state({{-infinite, 0.0}, {-infinite, 0.0}}), FeasibilityState::infeasible);
  EXPECT_EQ(state({{-infinite, 5.0}, {-infinite, -3.0}}), FeasibilityState::infeasible);
  EXPECT_EQ(state({{-infinite, infinite}, {-infinite, 0.0}}), FeasibilityState::infeasible);
  EXPECT_EQ(state({{0.0, infinite}, {-infinite, 0.0}}), FeasibilityState::not_excluded);
  EXPECT_EQ(state({{-1e9, 0.0}, {-infinite, 0.0}}), FeasibilityState::not_excluded) << "the first one gives way";
}

TEST_F(Feasibilities, NoneOfAThousandProblemsWithIntervalsAndAllLawsIsExcluded) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const auto known = testing::problem_with_known_modes(testing::drawn_cones(seed, static_cast<int>(seed % 6)), seed);
    ASSERT_NE(check_feasibility(known.problem, seconds).state, FeasibilityState::infeasible) << seed;
  }
}

TEST(Certificate, OfOtherLawsHasABoundThatNoAnswerIsBetterThan) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const FrictionLaw& law : testing::all_laws()) {
    const Index size = law.rows(), normal = law.groups[0], second = 1 + size + normal;
    Matrix delassus = Matrix::Identity(1 + 2 * size, 1 + 2 * size);
    delassus(1 + normal, second) = delassus(second, 1 + normal) = -1.0;
    Vector free_term = Vector::Constant(1 + 2 * size, 0.3);
    free_term[1 + normal] = -1.0;
    free_term[second] = -0.5;
    const ContactProblem problem =
        problem_with(interval_cones({Interval{-infinite, 1.0}}, {law, law}), delassus, free_term);
    Vector z = Vector::Zero(1 + 2 * size);
    z[1 + normal] = z[second] = 1.0;
    const double bound = judge_certificate(problem, z).verdict_bound;
    EXPECT_GT(bound, 0.0);
    const auto verdict = [&](const Vector& impulse) { return judge(problem, impulse)["natural_map_scaled"].value; };
    Vector best = Vector::Zero(z.size());
    double least = verdict(best);
    for (int attempt = 0; attempt < 1000; ++attempt) {
      Vector impulse = best;
      const double step = std::pow(10.0, 2.0 * uniform(random) - 1.0);
      for (double& entry : impulse) entry += step * uniform(random);
      if (const double value = verdict(impulse); value < least) {
        least = value;
        best = impulse;
      }
    }
    EXPECT_GE(least, bound);
  }
}

TEST(Certificate, HoldsInAnyUnits) {
  for (const double unit : {1e-100, 1e100}) {
    const ContactProblem small = squeezed_body(1.0);
    ContactProblemData data = small.data();
    data.delassus = make_dense_delassus(unit * small.blocks().dense());
    data.free_term = 1e-3 * unit * small.free_term();
    EXPECT_EQ(judge_certificate(*ContactProblem::create(std::move(data)), vector_of({0, 0, 1, 0, 0, 1})).state,
              FeasibilityState::infeasible);
  }
}

}  // namespace
}  // namespace conebench
