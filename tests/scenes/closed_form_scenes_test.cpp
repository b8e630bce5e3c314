#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
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

/// λ and σ of a scene of a few rows, judged.
struct SmallAnswer {
  Vector impulse, velocity;
};
SmallAnswer answer_of(const std::string& scene, const OptionValues& values = {}) {
  const ContactProblem problem = make_problem(scene, values);
  SmallAnswer answer{problem.reference()->reaction, velocity_after(problem)};
  EXPECT_LE(official_residual(problem, answer.impulse), 1e-12) << problem.provenance().name;
  return answer;
}

TEST(JointFrictionPendulum, StandsWhileFrictionHoldsItsWeight) {
  const double torque = gravity * 0.5 * std::sin(20.0 * std::numbers::pi / 180.0);
  const SmallAnswer stands = answer_of("joint-friction-pendulum", {{"friction", torque + 1e-6}});
  EXPECT_EQ(stands.velocity[0], 0.0);
  EXPECT_NEAR(stands.impulse[0], torque * time_step, 1e-15);
  const SmallAnswer falls = answer_of("joint-friction-pendulum", {{"friction", 1.0}});
  EXPECT_EQ(falls.impulse[0], time_step);
  EXPECT_NEAR(falls.velocity[0], -(torque - 1.0) * time_step / 0.25, 1e-15);
}

TEST(JointFrictionPendulum, StopsAfterItsSpinOverFriction) {
  // Hanging: speed falls by c Δt / I = 0.04 a step.
  double speed = 0.39;
  int steps = 0;
  for (; speed > 1e-12; ++steps) {
    speed = answer_of("joint-friction-pendulum", {{"angle", 0.0}, {"speed", speed}}).velocity[0];
  }
  EXPECT_EQ(steps, 10);
}

TEST(DriveEffortLimit, IsAnImplicitPdDriveBelowItsLimit) {
  const double dt = time_step;
  const SmallAnswer free = answer_of("drive-effort-limit", {{"effort", 1e3}});
  const double compliance = 1.0 / (100.0 * dt * dt + 10.0 * dt);
  // σ is q̇⁺ + b + R λ, and τ the drive's law at the end of the step.
  const double speed = free.impulse[0];  // of inertia 1
  EXPECT_NEAR(free.velocity[0], 0.0, 1e-14);
  EXPECT_NEAR(free.impulse[0], dt * (-100.0 * (dt * speed - 0.5) - 10.0 * speed), 1e-14);
  const SmallAnswer limited = answer_of("drive-effort-limit", {{"effort", 20.0}});
  EXPECT_EQ(limited.impulse[0], 20.0 * dt);
  EXPECT_NEAR(limited.velocity[0], 20.0 * dt * (1.0 + compliance) - 50.0 / 11.0, 1e-14);
  EXPECT_EQ(answer_of("drive-effort-limit", {{"effort", 20.0}, {"target", -0.5}}).impulse[0], -20.0 * dt);
}

TEST(CoupledJoints, AreHeldByFrictionOfOneUpToTheSumOfTheirTorques) {
  const SmallAnswer stand = answer_of("coupled-joints", {{"torque_1", 3.0}, {"torque_2", -2.5}, {"friction", 0.51}});
  EXPECT_LT(stand.velocity.norm(), 1e-16);
  EXPECT_NEAR(stand.impulse[1], -0.5 * time_step, 1e-16);
  EXPECT_NEAR(stand.impulse[0], -2.5 * time_step, 1e-16);
  const SmallAnswer turn = answer_of("coupled-joints", {{"torque_1", 3.0}, {"torque_2", -2.5}, {"friction", 0.2}});
  EXPECT_NEAR(turn.velocity[0], 0.0, 1e-16);
  EXPECT_NEAR(turn.velocity[1], 0.3 * time_step / 3.0, 1e-16);
}

TEST(Tendon, PullsAndNeverPushes) {
  const SmallAnswer taut = answer_of("tendon", {{"mass", 2.0}});
  EXPECT_EQ(taut.impulse[0], -2.0 * fall);
  EXPECT_NEAR(taut.velocity[0], 0.0, 1e-16);
  const SmallAnswer slack = answer_of("tendon", {{"speed", -1.0}});
  EXPECT_EQ(slack.impulse[0], 0.0);
  EXPECT_EQ(slack.velocity[0], fall - 1.0);
}

TEST(GivenImpulse, IsGivenWhateverTheStopDoes) {
  EXPECT_EQ(answer_of("given-impulse", {{"impulse", 0.4}}).impulse, Eigen::Vector2d(0.6, 0.4));
  const SmallAnswer leaves = answer_of("given-impulse", {{"impulse", 3.0}});
  EXPECT_EQ(leaves.impulse, Eigen::Vector2d(0.0, 3.0));
  EXPECT_EQ(leaves.velocity, Eigen::Vector2d(2.0, 2.0));
}

TEST(SpinningDisc, StopsAfterItsSpinOverTorsionalFriction) {
  // I ω / (mu_t m g) with I = m r² / 2: 10 · 0.005 / (0.03 · 9.81) s, 17 steps.
  for (const char* law : {"ellipsoid", "discs"}) {
    double spin = 10.0;
    int steps = 0;
    for (; spin > 1e-9; ++steps) {
      const SmallAnswer step = answer_of("spinning-disc", {{"spin", spin}, {"law", std::string(law)}});
      spin = step.velocity[std::string(law) == "discs" ? 3 : 2];
    }
    EXPECT_EQ(steps, static_cast<int>(std::ceil(10.0 * 0.005 / (0.03 * gravity) / time_step))) << law;
  }
}

TEST(SpinningDisc, SharesOneBoundBetweenSlidingAndSpinning) {
  const SmallAnswer both = answer_of("spinning-disc", {{"speed", 1.0}});
  const Eigen::Vector3d squares(0.25, 0.25, 0.0009);
  const Eigen::Vector3d expected = -both.velocity.head<3>().cwiseProduct(squares);
  EXPECT_LT(both.impulse.head<3>().normalized().cross(expected.normalized()).norm(), 1e-14);
  EXPECT_NEAR(std::pow(both.impulse[0] / 0.5, 2) + std::pow(both.impulse[2] / 0.03, 2), fall * fall, 1e-15);
  // It slows down less in both than a disc that does one of them.
  const SmallAnswer apart = answer_of("spinning-disc", {{"speed", 1.0}, {"law", std::string("discs")}});
  EXPECT_GT(both.velocity[0], apart.velocity[0] + 1e-4);
  EXPECT_GT(both.velocity[2], apart.velocity[3] + 1e-4);
  EXPECT_NEAR(apart.velocity[0], 1.0 - 0.5 * fall, 1e-15);
}

TEST(BallOnSlope, RestsWhereTheSlopeIsBelowRollingFrictionOverItsRadius) {
  const double critical = std::atan(0.1) * 180.0 / std::numbers::pi;
  EXPECT_LT(answer_of("ball-on-slope", {{"angle", critical - 1e-6}}).velocity.norm(), 1e-15);
  EXPECT_GT(answer_of("ball-on-slope", {{"angle", critical + 0.01}}).velocity[4], 1e-5) << "rolls";
  // On one ellipsoid sliding takes its share: tan α √(1/mu² + r²/mu_r²) ≤ 1.
  const double shared = std::atan(1.0 / std::sqrt(1.0 / 0.25 + 100.0)) * 180.0 / std::numbers::pi;
  const std::string ellipsoid = "ellipsoid";
  EXPECT_LT(answer_of("ball-on-slope", {{"angle", shared - 1e-6}, {"law", ellipsoid}}).velocity.norm(), 1e-14);
  EXPECT_GT(answer_of("ball-on-slope", {{"angle", shared + 0.01}, {"law", ellipsoid}}).velocity[4], 1e-5);
  EXPECT_LT(shared, critical);
}

TEST(BallOnSlope, RollsSlidesOrDoesBoth) {
  const auto moves = [](double friction, double angle) {
    const Vector velocity = answer_of("ball-on-slope", {{"friction", friction}, {"angle", angle}}).velocity;
    return std::pair{velocity[0] > 1e-9, velocity[4] > 1e-9};
  };
  EXPECT_EQ(moves(0.5, 20.0), std::pair(false, true));
  EXPECT_EQ(moves(0.05, 20.0), std::pair(true, false));
  EXPECT_EQ(moves(0.2, 60.0), std::pair(true, true));
}

TEST(OrthotropicBlock, SlipsWhereMaximumDissipationLeadsIt) {
  const SmallAnswer moves = answer_of("orthotropic-block");
  const Eigen::Vector2d expected(-0.09 * moves.velocity[0], -0.36 * moves.velocity[1]);
  const double size = Eigen::Vector2d(0.3 * moves.velocity[0], 0.6 * moves.velocity[1]).norm();
  EXPECT_LT((moves.impulse.head<2>() - fall / size * expected).norm(), 1e-15);
  EXPECT_GT(moves.velocity[0], moves.velocity[1]) << "it turns to the axis with less friction";
  // Pushed at 45°, it stays for F √((1/mu_x² + 1/mu_y²) / 2) ≤ m g.
  const double critical = gravity / std::sqrt((1.0 / 0.09 + 1.0 / 0.36) / 2.0);
  EXPECT_LT(answer_of("orthotropic-block", {{"push", 0.999 * critical}}).velocity.norm(), 1e-15);
  EXPECT_GT(answer_of("orthotropic-block", {{"push", 1.001 * critical}}).velocity.norm(), 1e-6);
}

TEST(OrthotropicBlock, IsCoulombsWhereItsCoefficientsAreEqual) {
  const ContactProblem problem = make_problem("orthotropic-block", {{"friction_y", 0.3}});
  EXPECT_EQ(problem.cones().contact_type(), ConeType::coulomb_space);
  const Vector velocity = velocity_after(problem);
  EXPECT_NEAR(velocity[0], velocity[1], 1e-16);
  EXPECT_NEAR(velocity.norm(), 10.0 * time_step - 0.3 * fall, 1e-15);
}

}  // namespace
}  // namespace conebench
