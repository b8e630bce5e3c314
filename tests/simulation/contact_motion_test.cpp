#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class ContactMotion : public WithMujoco {};

Simulation box_on_plane(const OptionValues& values, double time_step) {
  OptionValues all = values;
  all["time_step"] = time_step;
  all["tolerance"] = 1e-12;
  return scene_of("box-on-plane", all);
}

TEST_F(ContactMotion, ASlidingBoxStopsAfterTheDistanceOfCoulombsLaw) {
  // LeLidec24 Fig. 10: v0² / (2 μ g), from which semi-implicit Euler is off by v0 Δt / 2.
  const double speed = 2.0, friction = 0.4;
  expect_halving(speed / (friction * g) / 40.0, [&](double time_step) {
    auto simulation = box_on_plane({{"speed", speed}, {"friction", friction}}, time_step);
    run(simulation, 0.6);
    EXPECT_LT(simulation.state().velocity.cwiseAbs().maxCoeff(), 1e-9);
    return std::abs(simulation.state().position[0] - speed * speed / (2.0 * friction * g));
  });
}

TEST_F(ContactMotion, ASlidingBoxLosesEnergyAsCoulombsLawSays) {
  const double speed = 2.0, friction = 0.4;
  auto simulation = box_on_plane({{"speed", speed}, {"friction", friction}}, 0.01);
  for (int k = 1; k <= 45; ++k) {
    const StepRecord record = step(simulation);
    const double expected = speed - friction * g * record.time;
    ASSERT_NEAR(simulation.state().velocity[0], expected, 1e-9);
    // The box stays on the plane: its corners do not hop, as they do in the cone complementarity problem.
    ASSERT_NEAR(simulation.state().position[2], 0.1, 1e-9);
    ASSERT_EQ(record.problem.cones().contacts(), 4);
  }
}

TEST_F(ContactMotion, TheConeComplementarityProblemLiftsASlidingBox) {
  auto simulation = box_on_plane(
      {{"speed", 2.0}, {"friction", 0.4}, {"solver", std::string("ADMM-CCP")}, {"stop_by", std::string("solver")}},
      0.01);
  for (int k = 0; k < 3; ++k) step(simulation);
  EXPECT_GT(simulation.state().position[2], 0.1 + 1e-3);
}

TEST_F(ContactMotion, ABoxOnASlopeJustBelowTheFrictionAngleStays) {
  auto simulation = box_on_plane({{"friction", 0.5}, {"slope", 26.5}, {"speed", 0.0}}, 0.01);
  run(simulation, 1.0);
  EXPECT_LT(std::abs(simulation.state().position[0]), 1e-9);
}

TEST_F(ContactMotion, ABoxOnASlopeJustAboveTheFrictionAngleSlides) {
  auto simulation = box_on_plane({{"friction", 0.5}, {"slope", 26.7}, {"speed", 0.0}}, 0.01);
  run(simulation, 1.0);
  const double angle = 26.7 * M_PI / 180.0;
  EXPECT_NEAR(simulation.state().velocity[0], g * (std::sin(angle) - 0.5 * std::cos(angle)), 1e-8);
}

std::string bouncing_ball(double restitution) {
  return world(R"(<geom type="plane" size="5 5 1" user=")" + std::to_string(restitution) +
                   R"("/><body><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>)",
               keyframe("0 0 1.1 1 0 0 0", "0 0 0 0 0 0"));
}

/// Height of the first apex after the first bounce [m].
double second_apex(double restitution, double time_step, const SimulationOptions& options = {}) {
  auto simulation = simulation_of(bouncing_ball(restitution), time_step, options);
  bool risen = false;
  double highest = 0.0;
  for (int k = 0; k < 2.0 / time_step; ++k) {
    step(simulation);
    const double velocity = simulation.state().velocity[2];
    risen = risen || velocity > 0.1;
    if (risen) highest = std::max(highest, simulation.state().position[2] - 0.1);
    if (risen && velocity < -0.1) break;
  }
  return highest;
}

TEST_F(ContactMotion, ABallBouncesToTheSquareOfItsRestitution) {
  for (const double restitution : {0.3, 0.5, 0.8, 1.0}) {
    const double expected = restitution * restitution;
    EXPECT_NEAR(second_apex(restitution, 0.01), expected, 0.12);
    EXPECT_NEAR(second_apex(restitution, 0.001), expected, 0.012);
    EXPECT_NEAR(second_apex(restitution, 0.0001), expected, 0.0012);
  }
}

TEST_F(ContactMotion, ABallWithoutRestitutionStaysDown) { EXPECT_LT(second_apex(0.0, 0.001), 1e-9); }

TEST_F(ContactMotion, ThePrintedSumOfImpactAndGapStopsABallInTheAir) {
  // Tsounis eq. (80) and (91b) added up: ε v⁻ + φ/Δt. The ball is let down to the plane, where it has no speed left.
  SimulationOptions printed;
  printed.step.impact_rule = "printed";
  EXPECT_LT(second_apex(0.8, 0.001, printed), 0.1);
  EXPECT_NEAR(second_apex(0.8, 0.001), 0.64, 0.012);
}

TEST_F(ContactMotion, OpenContactsDoNotPushOrHold) {
  auto simulation = simulation_of(bouncing_ball(0.0), 0.01);
  for (int k = 0; k < 60; ++k) {
    const StepRecord record = step(simulation);
    if (record.problem.rows() == 0) continue;
    if (simulation.state().position[2] > 0.1 + 1e-6) {
      EXPECT_EQ(record.impulse.norm(), 0.0);
    }
    EXPECT_GT(simulation.state().position[2], 0.1 - 1e-9);
  }
  EXPECT_NEAR(simulation.state().position[2], 0.1, 1e-9);
}

TEST_F(ContactMotion, PenetrationDecaysByTheBaumgarteFactor) {
  SimulationOptions options;
  options.step.baumgarte_contacts = 0.25;
  auto simulation = simulation_of(bouncing_ball(0.0), 0.01, options);
  State sunk = simulation.state();
  sunk.position[2] = 0.1 - 1e-3;
  simulation.set_state(sunk);
  for (int k = 1; k <= 5; ++k) {
    step(simulation);
    EXPECT_NEAR(0.1 - simulation.state().position[2], 1e-3 * std::pow(0.75, k), 1e-12);
  }
}

TEST_F(ContactMotion, ThePenetrationMarginIsToleratedDepth) {
  SimulationOptions options;
  options.step.penetration_margin = 1e-3;
  auto simulation = simulation_of(bouncing_ball(0.0), 0.01, options);
  run(simulation, 1.0);
  EXPECT_NEAR(simulation.state().position[2], 0.1 - 1e-3, 1e-9);
}

TEST_F(ContactMotion, ComplianceSinksByTheWeightsImpulse) {
  // At rest R λ_N + γ φ/Δt = 0 with λ_N = m g Δt (Carpentier24 eq. 24).
  SimulationOptions options;
  options.step.compliance = 1e-3;
  options.step.baumgarte_contacts = 0.5;
  auto simulation = simulation_of(bouncing_ball(0.0), 0.01, options);
  run(simulation, 2.0);
  EXPECT_NEAR(simulation.state().position[2] - 0.1, -1e-3 * 2.0 * g * 0.01 * 0.01 / 0.5, 1e-10);
}

std::string arm_with_limit(const std::string& range) {
  return world(R"(<body><joint type="hinge" axis="0 1 0" limited="true" range=")" + range + R"("/>
      <geom type="sphere" pos="1 0 0" size="0.05" mass="2"/></body>)");
}

TEST_F(ContactMotion, AnArmComesToRestOnItsJointLimit) {
  // Falls from the horizontal (rotation about y, downwards is positive) onto the limit at 0.5 rad.
  auto simulation = simulation_of(arm_with_limit("-1 0.5"), 0.005);
  StepRecord last = step(simulation);
  for (int k = 0; k < 400; ++k) last = step(simulation);
  EXPECT_NEAR(simulation.state().position[0], 0.5, 1e-9);
  EXPECT_NEAR(simulation.state().velocity[0], 0.0, 1e-9);
  ASSERT_EQ(last.problem.cones().limits(), 1);
  EXPECT_NEAR(last.impulse[0], 2.0 * g * 1.0 * std::cos(0.5) * 0.005, 1e-6);
}

TEST_F(ContactMotion, ALimitThatIsViolatedIsPushedBackByItsFactor) {
  SimulationOptions options;
  options.step.baumgarte_limits = 0.5;
  auto simulation = simulation_of(arm_with_limit("-1 0.5"), 0.005, options);
  State beyond = simulation.state();
  beyond.position[0] = 0.6;
  simulation.set_state(beyond);
  step(simulation);
  EXPECT_NEAR(simulation.state().position[0], 0.55, 1e-9);
}

TEST_F(ContactMotion, MoreausRuleRestsABoxOnThePlane) {
  auto simulation = box_on_plane({{"speed", 1.0}, {"integrator", std::string("moreau")}}, 0.01);
  run(simulation, 1.0);
  EXPECT_NEAR(simulation.state().position[2], 0.1, 1e-4);
  EXPECT_NEAR(simulation.state().position[0], 1.0 / (2.0 * 0.5 * g), 0.01);
}

}  // namespace
}  // namespace conebench::simulation
