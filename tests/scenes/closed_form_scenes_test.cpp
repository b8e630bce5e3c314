#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenes/scene_table.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/official_residual.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;
using testing::official_residual;

constexpr double gravity = 9.81;
constexpr double time_step = 0.01;
constexpr double fall = gravity * time_step;

Vector velocity_after(const ContactProblem& problem) {
  Vector sigma(problem.rows());
  problem.velocity(problem.reference()->reaction, sigma);
  return sigma;
}

Eigen::Vector3d total_impulse(const ContactProblem& problem) {
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (Index i = 0; i < problem.cones().contacts(); ++i) total += problem.reference()->reaction.segment<3>(3 * i);
  return total;
}

void expect_corners_move_at(const ContactProblem& problem, const Eigen::Vector3d& expected) {
  ASSERT_TRUE(problem.reference());
  EXPECT_LE(official_residual(problem, problem.reference()->reaction), 1e-12);
  const Vector sigma = velocity_after(problem);
  for (Index i = 0; i < problem.cones().contacts(); ++i) {
    EXPECT_LT((sigma.segment<3>(3 * i) - expected).norm(), 1e-13) << "contact " << i;
  }
}

TEST(SlidingBox, SlowsDownByFrictionTimesGravity) {
  const double angle = 30.0 * std::numbers::pi / 180.0;
  const ContactProblem problem =
      make_problem("sliding-box", {{"friction", 0.4}, {"speed", 2.0}, {"direction", 30.0}, {"mass", 3.0}});
  const double speed = 2.0 - 0.4 * fall;
  expect_corners_move_at(problem, speed * Eigen::Vector3d(std::cos(angle), std::sin(angle), 0.0));
  const Eigen::Vector3d expected = 3.0 * fall * Eigen::Vector3d(-0.4 * std::cos(angle), -0.4 * std::sin(angle), 1.0);
  EXPECT_LT((total_impulse(problem) - expected).norm(), 1e-13);
}

TEST(SlidingBox, StopsWhereFrictionCanStopIt) {
  const ContactProblem problem = make_problem("sliding-box", {{"friction", 0.4}, {"speed", 0.3 * fall}});
  expect_corners_move_at(problem, Eigen::Vector3d::Zero());
  EXPECT_NEAR(total_impulse(problem)[0], -0.3 * fall, 1e-14);
}

TEST(SlidingBox, KeepsItsSpeedWithoutFriction) {
  expect_corners_move_at(make_problem("sliding-box", {{"friction", 0.0}, {"speed", 2.0}}), {2.0, 0.0, 0.0});
}

TEST(SlidingBox, KeepsItsSpeedWithoutGravity) {
  const ContactProblem problem = make_problem("sliding-box", {{"gravity", 0.0}, {"speed", 2.0}});
  expect_corners_move_at(problem, {2.0, 0.0, 0.0});
  EXPECT_EQ(total_impulse(problem), Eigen::Vector3d::Zero());
}

TEST(SlidingBox, HasNoReferenceWhereItTips) {
  const OptionValues tall = {{"half_height", 2.0}, {"friction", 0.6}, {"speed", 1.0}};
  const ContactProblem problem = make_problem("sliding-box", tall);
  EXPECT_FALSE(problem.reference());
  EXPECT_THAT(problem.provenance().description, HasSubstr("tips"));
}

TEST(SlidingBox, CarriesWhatPenetrationNeeds) {
  const ContactProblem problem = make_problem("sliding-box");
  ASSERT_TRUE(problem.configuration());
  EXPECT_EQ(*problem.configuration()->gaps, Vector::Zero(4));
  EXPECT_EQ(*problem.configuration()->time_step, time_step);
  EXPECT_EQ(*problem.configuration()->bodies, 1);
  EXPECT_EQ(*problem.configuration()->generalised_velocities, 6);
}

TEST(BoxOnSlope, SticksUpToTheFrictionAngle) {
  const double critical = std::atan(0.5) * 180.0 / std::numbers::pi;
  const ContactProblem problem = make_problem("box-on-slope", {{"angle", critical - 0.01}, {"friction", 0.5}});
  expect_corners_move_at(problem, Eigen::Vector3d::Zero());
  const double angle = (critical - 0.01) * std::numbers::pi / 180.0;
  EXPECT_LT((total_impulse(problem) - fall * Eigen::Vector3d(-std::sin(angle), 0.0, std::cos(angle))).norm(), 1e-13);
}

TEST(BoxOnSlope, SlipsBeyondIt) {
  const double angle = 40.0 * std::numbers::pi / 180.0;
  const ContactProblem problem = make_problem("box-on-slope", {{"angle", 40.0}, {"friction", 0.5}});
  expect_corners_move_at(problem, {fall * (std::sin(angle) - 0.5 * std::cos(angle)), 0.0, 0.0});
}

TEST(BoxOnSlope, SlowsDownUphill) {
  const double angle = 20.0 * std::numbers::pi / 180.0;
  const ContactProblem problem = make_problem("box-on-slope", {{"angle", 20.0}, {"friction", 0.5}, {"speed", -1.0}});
  expect_corners_move_at(problem, {-1.0 + fall * (std::sin(angle) + 0.5 * std::cos(angle)), 0.0, 0.0});
}

TEST(BoxStack, CarriesTheWeightAboveEachInterface) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 3L}, {"mass", 2.0}, {"mass_ratio", 100.0}});
  expect_corners_move_at(problem, Eigen::Vector3d::Zero());
  const double masses[] = {2.0, 20.0, 200.0};
  for (int interface = 0; interface < 3; ++interface) {
    double above = 0.0;
    for (int box = interface; box < 3; ++box) above += masses[box];
    double normal = 0.0;
    for (int corner = 0; corner < 4; ++corner) {
      const auto impulse = problem.reference()->reaction.segment<3>(12 * interface + 3 * corner);
      EXPECT_EQ(impulse.head<2>(), Eigen::Vector2d::Zero());
      normal += impulse[2];
    }
    EXPECT_NEAR(normal, above * fall, 1e-12);
  }
  EXPECT_EQ(*problem.configuration()->bodies, 3);
}

TEST(BoxStack, IsRedundant) {
  const Matrix matrix = make_problem("box-stack", {{"boxes", 2L}}).blocks().dense();
  EXPECT_EQ(matrix.rows(), 24);
  EXPECT_LE(Eigen::FullPivLU<Matrix>(matrix).rank(), 12);
}

TEST(BoxStack, TakesAMillionfoldMassRatio) {
  for (const double ratio : {1e-6, 1e6}) {
    const ContactProblem problem = make_problem("box-stack", {{"boxes", 20L}, {"mass_ratio", ratio}});
    // Impulses of a heavy box act on the light ones below, so that rounding alone leaves ratio times some epsilons.
    EXPECT_LE(official_residual(problem, problem.reference()->reaction), std::max(1e-12, 2e-15 * ratio));
  }
}

Index lattice_contacts(Index nx, Index ny, Index nz) {
  return nx * ny + (nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1);
}

TEST(SphereLattice, RestsInColumns) {
  const ContactProblem problem = make_problem("sphere-lattice", {{"nx", 3L}, {"ny", 2L}, {"nz", 4L}});
  EXPECT_EQ(problem.cones().contacts(), lattice_contacts(3, 2, 4));
  EXPECT_EQ(*problem.configuration()->bodies, 24);
  expect_corners_move_at(problem, Eigen::Vector3d::Zero());
  // Six columns of four unit masses stand on the ground.
  double on_ground = 0.0;
  for (Index i = 0; i < problem.cones().contacts(); ++i) {
    const double normal = problem.reference()->reaction[3 * i + 2];
    if (std::abs(normal - 4.0 * fall) < 1e-12) on_ground += normal;
  }
  EXPECT_NEAR(on_ground, 24.0 * fall, 1e-12);
}

TEST(SphereLattice, HasNoReferenceOnceDisturbed) {
  EXPECT_FALSE(make_problem("sphere-lattice", {{"push", 0.5}}).reference());
  const ContactProblem disturbed = make_problem("sphere-lattice", {{"perturbation", 0.1}}, 1);
  EXPECT_FALSE(disturbed.reference());
  EXPECT_NE(disturbed.content_hash(), make_problem("sphere-lattice", {{"perturbation", 0.1}}, 2).content_hash());
}

TEST(SphereLattice, GrowsBeyondTenThousandContacts) {
  const ContactProblem problem =
      make_problem("sphere-lattice", {{"nx", 16L}, {"ny", 16L}, {"nz", 16L}, {"form", std::string("factored")}});
  EXPECT_EQ(problem.cones().contacts(), lattice_contacts(16, 16, 16));
  EXPECT_GT(problem.cones().contacts(), 10000);
  EXPECT_LT(problem.reference()->residual, 1e-12);
  // A contact couples with at most five others at each of its two spheres.
  EXPECT_LE(problem.blocks().stored_blocks(), 11 * problem.cones().contacts());
}

TEST(SphereLattice, RefusesSizesThatDoNotFitInMemory) {
  const auto made = (*require_scene("sphere-lattice"))->make({{"nx", 1000L}, {"ny", 1000L}, {"nz", 1000L}}, 1);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("more than 2000000 spheres"));
}

}  // namespace
}  // namespace conebench
