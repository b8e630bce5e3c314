#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "metrics/feasibility.hpp"
#include "scenes/articulation.hpp"
#include "scenes/random_source.hpp"
#include "scenes/sphere_deposit.hpp"
#include "scenes/stones.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/official_residual.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;

constexpr double falling_speed = 9.81 * 0.01;

/// CASCADE's answer at 1e-10.
Vector cascade_answer(const ContactProblem& problem) {
  testing::JudgingMonitor monitor(problem, "natural_map_scaled", 1e-10);
  const auto solver = testing::prepared(**require_solver("CASCADE"), problem);
  return testing::solve(*solver, problem, {1e-10, 20000}, monitor).impulse;
}

/// Upward momentum that is asked of the contacts: −M v_free along z, all bodies.
double falling_momentum(const ContactProblem& problem) {
  const PrimalForm& primal = *problem.primal();
  double momentum = 0.0;
  for (Index i = 2; i < primal.free_velocity.size(); i += 6) {
    momentum -= primal.mass.coeff(i, i) * primal.free_velocity[i];
  }
  return momentum;
}

TEST(Stones, HaveTheMassOfABoxAndOfATriangle) {
  const StoneMass box = mass_of(block(1.0, 3.0, 2.0, 3.0, -1.0, 3.0));
  EXPECT_NEAR(box.volume, 8.0, 1e-14);
  EXPECT_LT((box.centre - Eigen::Vector3d(2.0, 1.0, 2.5)).norm(), 1e-14);
  const Eigen::Vector3d moments = box_inertia(8.0, {1.0, 2.0, 0.5});
  EXPECT_LT((box.moments - Eigen::Matrix3d(moments.asDiagonal())).norm(), 1e-13);
  // Legs 3 along x and 2 along z: area 3, product of inertia about the centre −3²·2²/72.
  const StoneMass triangle = mass_of({{{0.0, 0.0}, {3.0, 0.0}, {0.0, 2.0}}, 0.0, 1.0});
  EXPECT_NEAR(triangle.volume, 3.0, 1e-14);
  EXPECT_LT((triangle.centre - Eigen::Vector3d(1.0, 0.5, 2.0 / 3.0)).norm(), 1e-14);
  EXPECT_NEAR(triangle.moments(0, 2), 36.0 / 72.0, 1e-14);
  EXPECT_NEAR(triangle.moments(1, 1), 3.0 * 8.0 / 36.0 + 2.0 * 27.0 / 36.0, 1e-14);
}

TEST(Stones, TouchInTheCornersOfTheirCommonFace) {
  // A beam on two blocks, and a block behind one of them that is shifted up by half.
  const std::vector<Stone> stones = {block(0, 1, 0, 1, 0, 1), block(2, 3, 0, 1, 0, 1), block(0.5, 3, 1, 2, 0, 2),
                                     block(0, 1, 0.5, 1.0, 1, 2)};
  std::vector<int> pairs(4, 0);
  for (const StoneContact& c : contacts_of(stones)) {
    if (c.first == RigidBodies::ground) {
      ++pairs[0];
      EXPECT_EQ(c.point[2], 0.0);
      EXPECT_EQ(c.normal, Eigen::Vector3d::UnitZ());
    } else if (std::set{c.first, c.second} == std::set{0, 2}) {
      ++pairs[1];
      EXPECT_EQ(c.point[2], 1.0);
      EXPECT_GE(c.point[0], 0.5);
      EXPECT_EQ(c.normal[2], c.first == 0 ? 1.0 : -1.0);
    } else if (std::set{c.first, c.second} == std::set{0, 3}) {
      ++pairs[2];
      EXPECT_EQ(c.normal[1], c.first == 0 ? 1.0 : -1.0);
    } else {
      ++pairs[3];
    }
  }
  EXPECT_THAT(pairs, ::testing::ElementsAre(8, 4, 4, 8));  // the last: beam on the second block, and on the shifted one
}

TEST(MasonryArch, HasFourContactsAJoint) {
  const ContactProblem problem = make_problem("masonry-arch");
  EXPECT_EQ(problem.cones().contacts(), 4 * 24);
  EXPECT_EQ(*problem.configuration()->bodies, 23);
  // Half a ring of radii 2 and 2.5 as a polygon of 23 sectors, density 2400.
  const double area = 23.0 * 0.5 * std::sin(std::numbers::pi / 23.0) * (2.5 * 2.5 - 2.0 * 2.0);
  EXPECT_NEAR(falling_momentum(problem), 2400.0 * area * falling_speed, 1e-9 * area * 2400.0);
}

struct Thrusts {
  Eigen::Vector2d left = Eigen::Vector2d::Zero();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
};

/// What the ground gives the first and the last stones, along x and z: the impulses of contacts that move one body.
Thrusts thrusts_of(const ContactProblem& problem, const Vector& impulse) {
  const Matrix jacobian = problem.primal()->jacobian;
  const Index bodies = jacobian.cols() / 6;
  Thrusts thrusts;
  for (Index c = 0; c < problem.cones().contacts(); ++c) {
    std::vector<Index> moved;
    for (Index body = 0; body < bodies; ++body) {
      if (!jacobian.block(3 * c, 6 * body, 3, 6).isZero(0.0)) moved.push_back(body);
    }
    if (moved.size() != 1) continue;
    const Eigen::Vector3d force = jacobian.block(3 * c, 6 * moved[0], 3, 3).transpose() * impulse.segment<3>(3 * c);
    (moved[0] == 0 ? thrusts.left : thrusts.right) += Eigen::Vector2d(force[0], force[2]);
  }
  return thrusts;
}

TEST(MasonryArch, CarriesItsWeightWithEqualThrusts) {
  const ContactProblem problem = make_problem("masonry-arch", {{"stones", 9L}, {"thickness", 0.6}});
  const Vector answer = cascade_answer(problem);
  ASSERT_LE(testing::official_residual(problem, answer), 1e-10);
  Vector sigma(problem.rows());
  problem.velocity(answer, sigma);
  EXPECT_LT(sigma.cwiseAbs().maxCoeff(), 1e-8);
  const auto [left, right] = thrusts_of(problem, answer);
  const double weight = falling_momentum(problem);
  EXPECT_NEAR(left[1], weight / 2, 1e-6 * weight);
  EXPECT_NEAR(right[1], weight / 2, 1e-6 * weight);
  EXPECT_NEAR(left[0], -right[0], 1e-6 * weight);
  EXPECT_GT(left[0], 0.05 * weight);
}

TEST(MasonryArch, FallsWhereNoLineOfThrustFits) {
  // Thickness over mean radius: 0.1075 is the least that stands (Milankovitch 1907).
  for (const double share : {0.085, 0.13}) {
    const double thickness = 2.0 * share / (1.0 - share / 2.0);
    const ContactProblem problem =
        make_problem("masonry-arch", {{"stones", 15L}, {"thickness", thickness}, {"friction", 2.0}});
    const Vector answer = cascade_answer(problem);
    ASSERT_LE(testing::official_residual(problem, answer), 1e-10);
    Vector sigma(problem.rows());
    problem.velocity(answer, sigma);
    if (share < 0.1075) {
      EXPECT_GT(sigma.cwiseAbs().maxCoeff(), 1e-4);
    } else {
      EXPECT_LT(sigma.cwiseAbs().maxCoeff(), 1e-8);
    }
  }
}

TEST(MasonryArch, RunsInBondAsAVaultAndStandsOnFixedSpringers) {
  const ContactProblem vault = make_problem("masonry-arch", {{"stones", 5L}, {"rows", 3L}});
  EXPECT_EQ(*vault.configuration()->bodies, 3 * 3 + 2 * 4);
  const ContactProblem segment = make_problem("masonry-arch", {{"stones", 7L}, {"angle", 90.0}});
  EXPECT_EQ(segment.cones().contacts(), 4 * 8);
  EXPECT_EQ(*segment.configuration()->bodies, 7);
}

TEST(Aqueduct, HasTheSizeOfFclibs) {
  const ContactProblem problem = make_problem("aqueduct");
  EXPECT_EQ(*problem.configuration()->bodies, 322);
  EXPECT_GE(problem.cones().contacts(), 4337);
  EXPECT_LE(problem.cones().contacts(), 4811);
}

TEST(Aqueduct, IsAsHeavyAsItsOutline) {
  // The box around it without two half discs, which are polygons of 5 sectors.
  const ContactProblem problem = make_problem("aqueduct", {{"stones", 5L}, {"deck_courses", 0L}});
  const double radius = 2.5;
  const double height = 5 * 0.5 + radius + 0.6 + 0.5;
  const double length = 2 * (2 * radius + 2.0) + 2.0;
  const double disc = 5.0 * 0.5 * std::sin(std::numbers::pi / 5.0) * radius * radius;
  const double area = length * height - 2.0 * (2 * radius * 5 * 0.5 + disc);
  EXPECT_NEAR(falling_momentum(problem), 2400.0 * 2.0 * area * falling_speed, 1e-6 * area);
}

TEST(SphereDeposit, RestsOnThreeSupportsWithoutOverlap) {
  RandomSource random(3);
  DepositPlan plan{.radii = {}, .width = 1.2};
  for (int i = 0; i < 200; ++i) plan.radii.push_back(random.uniform(0.07, 0.1));
  const SphereDeposit deposit = deposit_spheres(plan, random);
  std::vector<int> supports(200, 0);
  for (const DepositContact& c : contacts_of(deposit, plan.width, 1e-4)) {
    EXPECT_GE(c.gap, -1e-5);
    EXPECT_NEAR(c.normal.norm(), 1.0, 1e-12);
    // The ground holds a sphere alone. Whatever was dropped before supports, walls too.
    if (c.second < 0) {
      supports[std::size_t(c.first)] += c.normal[2] == 1.0 ? 3 : 1;
    } else {
      ++supports[std::size_t(std::max(c.first, c.second))];
    }
  }
  EXPECT_GE(std::count_if(supports.begin(), supports.end(), [](int n) { return n >= 3; }), 195);
  for (std::size_t i = 0; i < deposit.radii.size(); ++i) {
    EXPECT_GE(deposit.centres[i].minCoeff(), deposit.radii[i] - 1e-5);
    EXPECT_LE(deposit.centres[i].head<2>().maxCoeff(), plan.width - deposit.radii[i] + 1e-5);
  }
}

TEST(SpherePack, CarriesItsWeight) {
  const ContactProblem problem = make_problem("sphere-pack", {{"spheres", 60L}});
  const Vector answer = cascade_answer(problem);
  ASSERT_LE(testing::official_residual(problem, answer), 1e-10);
  // What contacts give all bodies together is what they fall with, but for those that still roll off.
  const Vector momentum = problem.primal()->jacobian.transpose() * answer;
  double up = 0.0;
  for (Index i = 2; i < momentum.size(); i += 6) up += momentum[i];
  EXPECT_NEAR(up, falling_momentum(problem), 0.02 * falling_momentum(problem));
}

TEST(SpherePack, RollsWithFiveRowsAContact) {
  const ContactProblem problem =
      make_problem("sphere-pack", {{"spheres", 40L}, {"container", std::string("heap")}, {"rolling", 0.1}});
  EXPECT_TRUE(problem.cones().rolls());
  EXPECT_EQ(problem.rows(), 5 * problem.cones().contacts());
  EXPECT_NEAR(problem.cones().rolling_friction()[0], 0.1 * 0.1, 1e-15);
  // A sphere on the ground alone: G of its moments is 1/I.
  const ContactProblem one = make_problem(
      "sphere-pack", {{"spheres", 1L}, {"spread", 0.0}, {"container", std::string("heap")}, {"rolling", 0.1}});
  const double mass = 2500.0 * 4.0 / 3.0 * std::numbers::pi * 1e-3;
  ASSERT_EQ(one.rows(), 5);
  EXPECT_NEAR(one.blocks().dense()(3, 3), 1.0 / (0.4 * mass * 0.01), 1e-9);
  EXPECT_NEAR(one.blocks().dense()(2, 2), 1.0 / mass, 1e-12);
}

TEST(ElasticWall, HasTheSizeOfFclibsLowWall) {
  const ContactProblem problem = make_problem("elastic-wall");
  EXPECT_EQ(*problem.configuration()->generalised_velocities, 7200);  // and 12 of two plates
  EXPECT_GE(problem.cones().contacts(), 624);
  EXPECT_LE(problem.cones().contacts(), 688);
}

TEST(ElasticWall, ResistsNoTranslationAndHasItsMass) {
  const OptionValues small = {{"courses", 2L}, {"columns", 1L}, {"nx", 4L}, {"ny", 2L}, {"nz", 2L}};
  const ContactProblem problem = make_problem("elastic-wall", small);
  const SparseMatrix& matrix = problem.primal()->mass;
  const Vector up = Eigen::Vector3d::UnitZ().replicate(matrix.rows() / 3, 1);
  const double cells = 2.0 * (4.0 + 2.0) * 2.0 * 2.0;
  EXPECT_NEAR(up.dot(matrix * up), 2000.0 * cells * std::pow(0.05, 3), 1e-8);
  // The same wall of jelly: what is left of A times a translation is its lumped mass.
  auto soft = small;
  soft["young"] = 0.0;
  const ContactProblem cloud = make_problem("elastic-wall", soft);
  EXPECT_LT((matrix * up - cloud.primal()->mass * up).norm(), 1e-9);
}

TEST(ElasticWall, PressesOneCubeOnAClampedOne) {
  const ContactProblem problem = make_problem("elastic-wall", {{"courses", 2L},
                                                               {"columns", 1L},
                                                               {"half", false},
                                                               {"nx", 2L},
                                                               {"ny", 2L},
                                                               {"nz", 2L},
                                                               {"gravity", 0.0},
                                                               {"shear", 0.0},
                                                               {"foot", std::string("clamped")},
                                                               {"top", std::string("free")}});
  EXPECT_EQ(problem.cones().contacts(), 9);
  EXPECT_EQ(*problem.configuration()->generalised_velocities, 3 * (27 + 18));
  for (Index c = 0; c < 9; ++c) EXPECT_NEAR(problem.free_term()[3 * c + 2], -1e-3, 1e-18);
}

TEST(Articulation, HasTheMassOfADoublePendulum) {
  // Two points of mass on massless rods of length 1 along x, hinges about y.
  Articulation tree;
  const Eigen::Vector3d y = Eigen::Vector3d::UnitY();
  const Eigen::Matrix3d none = Eigen::Matrix3d::Zero();
  const int first = tree.add_link({Articulation::ground, 2.0, {1.0, 0.0, 0.0}, none}, {{true, y, {0.0, 0.0, 0.0}}});
  const int second = tree.add_link({first, 3.0, {2.0, 0.0, 0.0}, none}, {{true, y, {1.0, 0.0, 0.0}}});
  Eigen::Matrix2d expected;
  expected << 2.0 + 3.0 * 4.0, 3.0 * 2.0, 3.0 * 2.0, 3.0;
  EXPECT_LT((tree.mass() - expected).norm(), 1e-14);
  // Turning about y moves a point on x downwards.
  const Eigen::RowVectorXd row = tree.point_row(second, {2.0, 0.0, 0.0}, Eigen::Vector3d::UnitZ());
  EXPECT_LT((row - Eigen::RowVector2d(-2.0, -1.0)).norm(), 1e-14);
  EXPECT_LT((tree.weight({0.0, 0.0, -9.81}) - 9.81 * Eigen::Vector2d(2.0 + 6.0, 3.0)).norm(), 1e-12);
}

TEST(StiffMechanism, IsSmallSingularAndPushesOut) {
  int singular = 0;
  int compliant = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ContactProblem problem = make_problem("stiff-mechanism", {}, seed);
    const auto& cones = problem.cones();
    ASSERT_GT(cones.contacts(), 0);
    EXPECT_LE(problem.rows(), 200);
    const Matrix g = problem.blocks().dense();
    const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(g).eigenvalues();
    EXPECT_GE(eigenvalues[0], -1e-10 * eigenvalues[g.rows() - 1]);
    singular += eigenvalues[0] < 1e-10 * eigenvalues[g.rows() - 1] ? 1 : 0;
    compliant += problem.compliance().tail(3).minCoeff() > 0.0 ? 1 : 0;
    for (Index c = 0; c < cones.contacts(); ++c) {
      EXPECT_GE(cones.friction()[std::size_t(c)], 0.2);
      EXPECT_LE(cones.friction()[std::size_t(c)], 2.0);
      const double gap = (*problem.configuration()->gaps)[c];
      const double bias = (*problem.bias())[cones.contact_row(c) + 2];
      EXPECT_NEAR(bias, (gap < 0.0 ? 0.2 : 1.0) * gap / 0.002, 1e-12);
    }
  }
  EXPECT_GE(singular, 25);
  EXPECT_GE(compliant, 5);
  EXPECT_LE(compliant, 20);
}

TEST(StiffMechanism, HasNoCompliantContactIfNoneIsWanted) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ContactProblem problem = make_problem("stiff-mechanism", {{"soft_share", 0.0}}, seed);
    EXPECT_EQ(problem.compliance().tail(3 * problem.cones().contacts()), Vector::Zero(3 * problem.cones().contacts()));
  }
}

TEST(StiffMechanism, IsProvenToHaveNoSolutionBetweenTwoFingersThatStandStill) {
  // Boxes in a row that every contact has to push apart, between two walls.
  const OptionValues values = {
      {"kind", std::string("pinch")}, {"rigid_share", 1.0}, {"open_share", 0.0}, {"soft_share", 0.0}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ContactProblem problem = make_problem("stiff-mechanism", values, seed);
    // z: one on a normal of each interface, as boxes in a row pass on a squeeze.
    const Feasibility found = check_feasibility(problem, 10.0);
    if (found.state == FeasibilityState::no_library) GTEST_SKIP() << "no solver of linear programs";
    EXPECT_EQ(found.state, FeasibilityState::infeasible) << seed;
    EXPECT_LT(found.margin, 0.0);
  }
}

}  // namespace
}  // namespace conebench
