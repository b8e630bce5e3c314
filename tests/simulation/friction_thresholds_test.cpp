// Friction at its thresholds, of models read from files, against the closed forms of tests/simulation/models/README.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"
#include "tests/support/paths.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

constexpr double dt = 0.01;  // s, of all these models

class FrictionThresholds : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  }
  static Simulation model(const std::string& name, OptionValues values = {}) {
    values["path"] = std::string(CONEBENCH_SOURCE_DIR "/tests/simulation/models/") + name + ".xml";
    values["solver"] = std::string(GetParam());
    values["tolerance"] = 1e-12;
    values["max_iterations"] = 20000L;
    return scene_of("file", values);
  }
};

INSTANTIATE_TEST_SUITE_P(With, FrictionThresholds, ::testing::Values("NSGS", "CASCADE"),
                         [](const auto& solver) { return std::string(solver.param); });

/// The root of a decreasing function between two values.
template <class Function>
double root(double low, double high, Function f) {
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (f(middle) > 0.0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

TEST_P(FrictionThresholds, APendulumStandsUpToItsJointsFriction) {
  constexpr double torque = 0.5 * g, inertia = 0.26;
  auto pendulums = model("held_pendulums");
  const StepRecord first = step(pendulums);
  const ConeProduct& cones = first.problem.cones();
  ASSERT_EQ(cones.intervals().size(), 3U);
  const double falls = (torque - 4.9) * dt / inertia;
  const std::array velocities = {0.0, falls, -falls};
  const std::array impulses = {-torque * dt, -4.9 * dt, 4.9 * dt};
  for (Index p = 0; p < 3; ++p) {
    EXPECT_NEAR(pendulums.state().velocity[p], velocities[std::size_t(p)], 1e-12) << p;
    EXPECT_NEAR(first.impulse[cones.first_interval_row() + p], impulses[std::size_t(p)], 1e-12) << p;
  }
  run(pendulums, 1.0);
  EXPECT_LT(std::abs(pendulums.state().velocity[0]), 1e-12);
  EXPECT_LT(std::abs(pendulums.state().position[0]), 1e-12);
  EXPECT_GT(pendulums.state().velocity[1], falls);
}

TEST_P(FrictionThresholds, FrictionInOneOfTwoCoupledJointsHoldsTheSumOfTheirTorques) {
  constexpr double inertia = 0.01;
  auto shafts = model("coupled_shafts");
  const StepRecord first = step(shafts);
  const ConeProduct& cones = first.problem.cones();
  ASSERT_EQ(cones.joints(), 2);
  ASSERT_EQ(cones.intervals().size(), 2U);
  EXPECT_NEAR(first.impulse[cones.first_interval_row()], -0.099 * dt, 1e-12);
  EXPECT_NEAR(first.impulse[cones.first_interval_row() + 1], -0.1 * dt, 1e-12);
  run(shafts, 0.99);
  const double speed = (0.101 - 0.1) * 1.0 / (2.0 * inertia);
  const std::array velocities = {0.0, 0.0, speed, speed};
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(shafts.state().velocity[j], velocities[std::size_t(j)], 1e-9) << j;
}

TEST_P(FrictionThresholds, ASpinningDiscStopsByItsTorsionalFriction) {
  // I ω / (μ_t m g) = 0.5 s; one contact.
  auto disc = model("spinning_disc");
  for (int k = 1; k <= 60; ++k) {
    const StepRecord record = step(disc);
    ASSERT_EQ(record.problem.cones().contacts(), 1);
    ASSERT_EQ(record.problem.cones().contact_rows(0), 4);
    ASSERT_NEAR(disc.state().velocity[5], std::max(0.0, 10.0 - 20.0 * k * dt), 1e-9) << k;
  }
  EXPECT_LT(disc.state().velocity.head<5>().norm(), 1e-9);
}

TEST_P(FrictionThresholds, SlidingAndSpinningShareOneEllipse) {
  // μ²/m = μ_t²/I, so both end together and their ratio stays: v' = −μ² g / √(μ² + μ_t² (ω/v)²).
  constexpr double deceleration = 0.25 * g / 0.70710678118654752;
  auto puck = model("sliding_and_spinning");
  run(puck, 0.2);
  const double speed = 1.0 - 0.2 * deceleration;
  const std::array velocities = {0.6 * speed, 0.8 * speed, 0.0, 10.0 * speed};
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(puck.state().velocity[i], velocities[std::size_t(i)], 1e-8) << i;
  run(puck, 0.2);
  EXPECT_LT(puck.state().velocity.norm(), 1e-9);
}

TEST_P(FrictionThresholds, ABoxStaysBelowItsFrictionAndSlipsAboveIt) {
  auto boxes = model("pushed_boxes");
  for (int k = 1; k <= 100; ++k) {
    step(boxes);
    ASSERT_LT(std::abs(boxes.state().velocity[0]), 1e-10) << k;
    ASSERT_NEAR(boxes.state().velocity[6], (4.91 - 0.5 * g) * k * dt, 1e-10) << k;
  }
  EXPECT_LT(std::abs(boxes.state().position[0]), 1e-10);
}

TEST_P(FrictionThresholds, ASlidingCubeDoesNotLift) {
  auto cube = model("sliding_cube");
  double height = 0.0;
  for (int k = 0; k < 140; ++k) {
    step(cube);
    height = std::max(height, std::abs(cube.state().position[2] - 0.1));
  }
  EXPECT_LT(height, 1e-9);
  // Δt Σ_k (v − k μ g Δt) over the steps in which it slides.
  constexpr double lost = 0.5 * g * dt;
  const double slides = std::floor(6.0 / lost);
  EXPECT_NEAR(cube.state().position[0], dt * (6.0 * slides - lost * slides * (slides + 1.0) / 2.0), 1e-9);
  EXPECT_LT(cube.state().velocity.norm(), 1e-10);
}

/// Acceleration down the slope of a ball that slides and rolls at once: of f = −p μ² (a − r α) and M = −p μ_r² α with
/// m a = F + f, I α = −r f + M, where p makes the ellipsoid's bound hold.
double rolling_acceleration(double push, double normal, double mu, double rolling) {
  constexpr double mass = 1.0, radius = 0.05, inertia = 0.4 * mass * radius * radius;
  const auto accelerations = [&](double p) {
    Eigen::Matrix2d matrix;
    matrix << mass + p * mu * mu, -p * mu * mu * radius, -p * mu * mu * radius,
        inertia + p * (mu * mu * radius * radius + rolling * rolling);
    return Eigen::Vector2d(matrix.inverse() * Eigen::Vector2d(push, 0.0));
  };
  const double p = root(0.0, 1e9, [&](double trial) {
    const Eigen::Vector2d a = accelerations(trial);
    return normal - trial * std::hypot(mu * (a[0] - radius * a[1]), rolling * a[1]);
  });
  return accelerations(p)[0];
}

TEST_P(FrictionThresholds, ABallOnASlopeRestsWhileItsEllipsoidHolds) {
  // tan a √(1/μ² + r²/μ_r²) is 0.998 and 1.0014.
  auto balls = model("balls_on_slope");
  run(balls, 1.0);
  EXPECT_LT(balls.state().velocity.head<6>().norm(), 1e-9);
  const double expected = rolling_acceleration(1.5, 10.0, 0.5, 0.00785);
  EXPECT_GT(expected, 1e-4);
  EXPECT_NEAR(balls.state().velocity[6] / expected, 1.0, 1e-5);
  EXPECT_NEAR(balls.state().velocity[7], 0.0, 1e-9);
}

TEST_P(FrictionThresholds, AnOrthotropicPuckSlipsWhereDissipationIsLargest) {
  // a_i = F_i − N μ_i² a_i / s, s² = Σ μ_i² a_i². MuJoCo's first tangent of a floor is y.
  constexpr double push = 5.656854249492381, normal = 10.0;
  constexpr std::array mu = {0.4, 0.8};
  const auto acceleration = [&](double s, std::size_t i) { return push / (1.0 + normal * mu[i] * mu[i] / s); };
  const double s = root(1e-9, 1e3, [&](double trial) {
    return std::hypot(mu[0] * acceleration(trial, 0), mu[1] * acceleration(trial, 1)) - trial;
  });
  auto puck = model("orthotropic_puck");
  run(puck, 0.5);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(puck.state().velocity[Index(i)], 0.5 * acceleration(s, i), 1e-8) << i;
  EXPECT_LT(std::abs(puck.state().velocity[2]), 1e-10);
}

TEST_P(FrictionThresholds, AServoIsImplicitBelowItsLimitAndAConstantTorqueAtIt) {
  constexpr double inertia = 0.02, kp = 40.0, kd = 1.5, target = 0.1, limit = 2.0;
  auto servos = model("limited_servos", {{"drives", std::string("implicit")}});
  step(servos);
  EXPECT_NEAR(servos.state().velocity[0], dt * kp * target / (inertia + dt * kd + dt * dt * kp), 1e-12);
  EXPECT_NEAR(servos.state().velocity[1], dt * limit / inertia, 1e-12);
}

}  // namespace
}  // namespace conebench::simulation
