// Joints that move as commanded, whatever acts: Yamane's high-gain control.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

/// A free body with an arm that its servo swings, without gravity.
const std::string swimmer =
    "<mujoco><compiler angle=\"radian\"/><size nuser_actuator=\"3\"/><option gravity=\"0 0 0\"/><worldbody>"
    "<body pos=\"0 0 1\"><freejoint/><geom type=\"box\" size=\".2 .1 .1\" mass=\"2\"/>"
    "<body pos=\".2 0 0\"><joint name=\"j\" axis=\"0 1 0\"/>"
    "<geom type=\"capsule\" fromto=\"0 0 0 .5 0 0\" size=\".05\" mass=\"1\"/></body></body></worldbody>"
    "<actuator><position joint=\"j\" kp=\"1\" ctrllimited=\"true\" ctrlrange=\"-1 1\" user=\"0.5 1 0\"/></actuator>"
    "</mujoco>";

SimulationOptions prescribed(const std::string& control) {
  SimulationOptions options;
  options.drives = "prescribed";
  options.control.control = control;
  return options;
}

class PrescribedJoints : public WithMujoco {};

TEST_F(PrescribedJoints, AreWhereTheyAreCommandedToBeAndMomentaAreKept) {
  const double time_step = 1e-3;
  auto simulation = simulation_of(swimmer, time_step, prescribed("sine"));
  double fastest = 0.0;
  for (int k = 1; k <= 250; ++k) {
    const StepRecord record = step(simulation);
    EXPECT_NEAR(simulation.state().position[7], 0.5 * std::sin(2.0 * M_PI * k * time_step), 1e-12);
    EXPECT_LT(simulation.engine().momentum().linear.norm(), 2e-3) << "integrated to the first order";
    fastest = std::max(fastest, simulation.state().velocity.head<3>().norm());
  }
  EXPECT_GT(fastest, 0.02) << "the body is moved by its arm";
}

TEST_F(PrescribedJoints, MomentumErrorsFallWithTheTimeStep) {
  // The bodies' momentum about y and along x and z at 0.25 s, which was 0 at the start.
  expect_halving(4e-3, [](double time_step) {
    auto simulation = simulation_of(swimmer, time_step, prescribed("sine"));
    run(simulation, 0.25);
    step(simulation);
    return simulation.engine().momentum().linear.norm();
  });
}

TEST_F(PrescribedJoints, ContactsAnswerWithTheFreeBodysInertiaAlone) {
  auto simulation = scene_of("humanoid-squat", {{"drives", std::string("prescribed")}, {"tolerance", 1e-10}});
  for (int k = 0; k < 20; ++k) {
    const Vector before = simulation.state().position;
    const StepRecord record = step(simulation);
    ASSERT_GT(record.problem.cones().contacts(), 0);
    EXPECT_FALSE(record.problem.primal());
    const Mechanics& mechanics = simulation.mechanics();
    const Matrix base = Matrix(mechanics.jacobian).leftCols(6);
    const Matrix expected = base * Matrix(mechanics.mass).topLeftCorner(6, 6).inverse() * base.transpose();
    EXPECT_LT((record.problem.blocks().dense() - expected).norm(), 1e-10 * expected.norm());
    // The contacts' velocity is J v of the velocity after the step.
    Vector sigma(record.problem.rows());
    record.problem.velocity(record.impulse, sigma);
    const Vector after = mechanics.jacobian * simulation.state().velocity + *record.problem.bias();
    EXPECT_LT((sigma - after).norm(), 1e-9 * (1.0 + after.norm()));
  }
}

TEST_F(PrescribedJoints, NeedServos) {
  const auto made = [](const std::string& scene, const OptionValues& values) {
    const auto plan = plan_scene(**require_simulated_scene(scene), values, 1);
    return simulate(*plan);
  };
  const auto without = made("cube-sliding", {{"drives", std::string("prescribed")}});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::wrong_usage);
  EXPECT_FALSE(
      made("humanoid-squat", {{"drives", std::string("prescribed")}, {"coordinates", std::string("maximal")}}));
}

}  // namespace
}  // namespace conebench::simulation
