#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/simulation/mechanisms.hpp"

// Closed forms of one step for what a model has besides joints, loops and Coulomb's friction.

namespace conebench::simulation {
namespace {

using namespace testing;

class ModelParts : public WithMujoco {};

constexpr double g = 9.81, rounding = 1e-9;

SimulationOptions cascade() {
  SimulationOptions options;
  options.solver = "CASCADE";
  return options;
}

/// An arm of inertia 2 kg m² about an axis along gravity.
std::string arm(const std::string& joint, const std::string& rest) {
  return world(R"(<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/><joint name="turn" axis="0 0 1" )" + joint +
                   "/></body>",
               rest);
}

struct Servo {
  double stiffness = 0.0, damping = 0.0, bound = 0.0, target = 0.0;
};

/// Velocity after one step from −0.2 rad and 0.5 rad/s, with the servo as a row of its own.
double velocity_with(const Servo& servo, double time_step) {
  SimulationOptions options = cascade();
  options.drives = "implicit";
  const std::string model =
      arm("", fmt::format("<actuator><position joint=\"turn\" kp=\"{}\" kv=\"{}\" forcerange=\"{} {}\"/></actuator>",
                          servo.stiffness, servo.damping, -servo.bound, servo.bound) +
                  keyframe("-0.2", "0.5", fmt::format("{}", servo.target)));
  Simulation simulation = simulation_of(model, time_step, options);
  const StepRecord record = step(simulation);
  EXPECT_EQ(record.problem.cones().intervals().size(), 1U);
  return simulation.state().velocity[0];
}

TEST_F(ModelParts, AnImplicitServoWithinItsRangeIsThatOfAnImplicitIntegrator) {
  const double h = 0.01, inertia = 2.0;
  const Servo servo{.stiffness = 300.0, .damping = 20.0, .bound = 1e4, .target = 0.1};
  // I (v⁺ − v) = h (k_p (u − q − h v⁺) − k_d v⁺)
  const double expected = (inertia * 0.5 + h * servo.stiffness * (servo.target + 0.2)) /
                          (inertia + h * servo.damping + h * h * servo.stiffness);
  EXPECT_NEAR(velocity_with(servo, h), expected, rounding);
}

TEST_F(ModelParts, AnImplicitServoAtItsBoundIsAConstantTorque) {
  const double h = 0.01, inertia = 2.0;
  EXPECT_NEAR(velocity_with({.stiffness = 300.0, .damping = 20.0, .bound = 7.0, .target = 1.0}, h),
              0.5 + h * 7.0 / inertia, rounding);
}

double speed_after(const std::string& model, int steps, const std::string& drives = "implicit") {
  SimulationOptions options = cascade();
  options.drives = drives;
  Simulation simulation = simulation_of(model, 0.01, options);
  for (int k = 0; k < steps; ++k) step(simulation);
  return simulation.state().velocity[0];
}

TEST_F(ModelParts, AnImplicitServoHasTheRangesOfItsJointAndTendon) {
  const std::string servo =
      R"(<actuator><position joint="turn" kp="300" kv="20"/></actuator>)" + keyframe("0", "0", "1");
  EXPECT_NEAR(speed_after(arm(R"(actuatorfrclimited="true" actuatorfrcrange="-7 7")", servo), 2), 0.07, rounding);
  const std::string of_tendon =
      R"(<tendon><fixed name="cord" actuatorfrclimited="true" actuatorfrcrange="-7 7"><joint joint="turn" coef="1"/></fixed></tendon>
      <actuator><position tendon="cord" kp="300" kv="20"/></actuator>)" +
      keyframe("0", "0", "1");
  EXPECT_NEAR(speed_after(arm("", of_tendon), 2), 0.07, rounding);
  const std::string with_motor =
      R"(<actuator><position joint="turn" kp="300" kv="20"/><motor joint="turn"/></actuator>)" +
      keyframe("0", "0", "1 5");
  EXPECT_NEAR(speed_after(arm(R"(actuatorfrclimited="true" actuatorfrcrange="-7 7")", with_motor), 2), 0.07, rounding)
      << "the range is for both, so the servo is a force";
}

TEST_F(ModelParts, DisabledActuationLeavesNoServo) {
  const std::string servo = R"(<option><flag actuation="disable"/></option>
      <actuator><position joint="turn" kp="300" kv="20"/></actuator>)" +
                            keyframe("0", "0", "1");
  EXPECT_EQ(speed_after(arm("", servo), 2), 0.0);
}

TEST_F(ModelParts, ActivationsStayInTheirRange) {
  const std::string integrated =
      R"(<actuator><intvelocity joint="turn" kp="300" kv="20" actrange="-0.1 0.1"/></actuator>
      <keyframe><key qpos="0" ctrl="5"/></keyframe>)";
  SimulationOptions options = cascade();
  Simulation simulation = simulation_of(arm("", integrated), 0.01, options);
  for (int k = 0; k < 50; ++k) step(simulation);
  EXPECT_EQ(simulation.state().activation[0], 0.1);
}

TEST_F(ModelParts, ADelayedActuatorActsAtOnceAndIsSaidTo) {
  const std::string delayed =
      R"(<actuator><motor joint="turn" delay="0.05" nsample="8"/></actuator>)" + keyframe("0", "0", "5");
  EXPECT_NEAR(speed_after(arm("", delayed), 4, "model"), 4 * 0.01 * 5.0 / 2.0, rounding);
  SimulatedModel model;
  model.mjcf = arm("", delayed);
  const auto engine = load_engine(model, "test");
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_EQ((*engine)->left_out().size(), 1U);
  EXPECT_EQ((*engine)->left_out()[0].reason, "its delay");
}

TEST_F(ModelParts, AnImplicitIntegratorsMatrixIsCalledEffective) {
  const double h = 0.01, inertia = 2.0, damping = 20.0;
  const std::string actuator = R"(<actuator><velocity joint="turn" kv="20"/></actuator>)" + keyframe("0", "0.5", "0");
  // A limit, so that there is a problem.
  const std::string joint = R"(limited="true" range="0 1")";
  const auto first_step = [&](const std::string& integrator) {
    Simulation simulation =
        simulation_of(arm(joint, "<option integrator=\"" + integrator + "\"/>" + actuator), h, cascade());
    return step(simulation).problem;
  };
  const ContactProblem implicit = first_step("implicitfast"), euler = first_step("Euler");
  ASSERT_TRUE(implicit.primal() && euler.primal());
  EXPECT_EQ(implicit.primal()->metric, Metric::effective);
  EXPECT_EQ(euler.primal()->metric, Metric::mass);
  EXPECT_NEAR(implicit.primal()->mass.coeff(0, 0), inertia + h * damping, rounding);
  EXPECT_NEAR(euler.primal()->mass.coeff(0, 0), inertia, rounding);
  EXPECT_NEAR(implicit.primal()->free_velocity[0], 0.5 - h * damping * 0.5 / (inertia + h * damping), rounding);
}

/// A ball of 1 kg on the ground, pulled up by a force.
std::string pulled_ball(double force, const std::string& sticks, const std::string& actuator = "",
                        const std::string& more_control = "") {
  return world(fmt::format(R"(<geom name="ground" type="plane" size="5 5 1"/>
      <body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1" {}/>
      <site name="centre"/></body>)",
                           sticks),
               "<actuator><motor site=\"centre\" gear=\"0 0 1 0 0 0\"/>" + actuator + "</actuator>" +
                   keyframe("0 0 0.1 1 0 0 0", "0 0 0 0 0 0", fmt::format("{}{}", force, more_control)));
}

double rise(const std::string& model) {
  Simulation simulation = simulation_of(model, 0.01, cascade());
  step(simulation);
  return simulation.state().velocity[2];
}

TEST_F(ModelParts, AnAdhesiveContactHoldsUpToItsForce) {
  const std::string sticks = R"(adhesion="3")";
  EXPECT_NEAR(rise(pulled_ball(g + 2.99, sticks)), 0.0, rounding);
  EXPECT_NEAR(rise(pulled_ball(g + 3.5, sticks)), 0.01 * 0.5, rounding);
}

TEST_F(ModelParts, AnAdhesionActuatorHoldsUpToItsForce) {
  const std::string gripper = R"(<adhesion body="ball" ctrlrange="0 10" gain="2"/>)";
  EXPECT_NEAR(rise(pulled_ball(g + 3.99, "", gripper, " 2")), 0.0, rounding);
  EXPECT_NEAR(rise(pulled_ball(g + 4.5, "", gripper, " 2")), 0.01 * 0.5, rounding);
}

TEST_F(ModelParts, AdhesionIsBesideTheFrictionThatItAllows) {
  // 1 kg at μ = 0.5 with 3 N of adhesion: 6.405 N along the ground.
  const auto pushed = [](double force) {
    const std::string model =
        world(R"(<geom name="ground" type="plane" size="5 5 1" friction="0.5"/><body pos="0 0 0.1"><freejoint/>
          <inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/>
          <geom type="sphere" size="0.1" friction="0.5" adhesion="3"/><site name="foot" pos="0 0 -0.1"/></body>)",
              "<actuator><motor site=\"foot\" gear=\"1 0 0 0 0 0\"/></actuator>" +
                  keyframe("0 0 0.1 1 0 0 0", "0 0 0 0 0 0", fmt::format("{}", force)));
    Simulation simulation = simulation_of(model, 0.01, cascade());
    step(simulation);
    return simulation.state().velocity[0];
  };
  EXPECT_NEAR(pushed(6.40), 0.0, rounding);
  EXPECT_NEAR(pushed(6.41), 0.01 * 0.005, 1e-8);
}

TEST_F(ModelParts, AMovingSurfaceTakesABoxAlongWithFriction) {
  const double h = 0.01, mu = 0.5;
  const std::string model =
      world(R"(<geom type="box" pos="0 0 -0.1" size="5 5 0.1" friction="0.5" surfacevel="1 0 0 0 0 0"/>
      <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1" friction="0.5"/></body>)");
  for (const char* const coordinates : {"reduced", "maximal"}) {
    SimulationOptions options = cascade();
    options.coordinates = coordinates;
    Simulation simulation = simulation_of(model, h, options);
    step(simulation);
    EXPECT_NEAR(simulation.state().velocity[0], mu * g * h, 1e-7) << coordinates;
    run(simulation, 0.5);
    EXPECT_NEAR(simulation.state().velocity[0], 1.0, 1e-7) << coordinates;
  }
}

TEST_F(ModelParts, ASoftBeltMovesABoxToo) {
  const std::string model =
      world(R"(<geom type="box" pos="0 0 -0.1" size="5 5 0.1" friction="0.5" surfacevel="1 0 0 0 0 0"/>
      <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1" friction="0.5"/></body>)");
  for (const char* const softening : {"mujoco", "engine"}) {
    SimulationOptions options = cascade();
    options.step.softening = softening;
    options.tolerance = 1e-9;
    Simulation simulation = simulation_of(model, 0.002, options);
    run(simulation, 0.5);
    EXPECT_NEAR(simulation.state().velocity[0], 1.0, 1e-2) << softening;
  }
}

TEST_F(ModelParts, ATurntableTurnsABallOnItByTorsion) {
  // About the normal alone: the ball stands on the axis. Torsion 0.02 m · m g slows it against the table.
  const double h = 0.01;
  const std::string model = world(
      R"(<geom type="cylinder" pos="0 0 -0.1" size="1 0.1" condim="4" friction="0.5 0.02" surfacevel="0 0 0 0 0 3"/>
      <body pos="0 0 0.1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <geom type="sphere" size="0.1" condim="4" friction="0.5 0.02"/></body>)");
  Simulation simulation = simulation_of(model, h, cascade());
  step(simulation);
  EXPECT_NEAR(simulation.state().velocity[5], h * 0.02 * g / 0.1, 1e-8);
}

TEST_F(ModelParts, FrictionOfAPairMayBeAnEllipse) {
  const std::string model =
      world(R"(<geom name="ground" type="plane" size="5 5 1"/>
      <body pos="0 0 0.1"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1"/></body>)",
            R"(<contact><pair geom1="ground" geom2="ball" condim="6" friction="0.8 0.3 0.02 0.001 0.002"/></contact>)");
  Simulation simulation = simulation_of(model, 0.01, cascade());
  const StepRecord record = step(simulation);
  const FrictionLaw law = record.problem.cones().law(0);
  EXPECT_EQ(law.groups, std::vector<int>{5});
  EXPECT_EQ(law.coefficients, (std::vector<double>{0.8, 0.3, 0.02, 0.001, 0.002}));
}

TEST_F(ModelParts, FrictionOfATendonHoldsWhatItsJointsTogetherPullWith) {
  // Two slides of 1 kg and 2 kg on one tendon of length q1 + q2: a motor of F on the first. Held up to the loss.
  const auto speeds = [](double force) {
    const std::string model = world(
        R"(<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="one" type="slide" axis="1 0 0"/></body>
        <body pos="0 1 0"><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/><joint name="two" type="slide" axis="1 0 0"/>
        </body>)",
        R"(<tendon><fixed name="both" frictionloss="4"><joint joint="one" coef="1"/><joint joint="two" coef="1"/></fixed>
        </tendon><actuator><motor tendon="both"/></actuator>)" +
            keyframe("0 0", "0 0", fmt::format("{}", force)));
    Simulation simulation = simulation_of(model, 0.01, cascade());
    step(simulation);
    return simulation.state().velocity;
  };
  EXPECT_NEAR(speeds(3.9).lpNorm<Eigen::Infinity>(), 0.0, rounding);
  EXPECT_NEAR(speeds(5.0)[0], 0.01 * 1.0, rounding);
  EXPECT_NEAR(speeds(5.0)[1], 0.01 * 1.0 / 2.0, rounding);
}

TEST_F(ModelParts, JointFrictionIsTheSameInBothCoordinates) {
  const std::string model = world(
      R"(<body name="a" pos="0 0 1"><joint axis="0 1 0" frictionloss="0.4"/><geom type="capsule" fromto="0 0 0 0.5 0 0"
         size="0.05" mass="1"/><body name="b" pos="0.5 0 0"><joint axis="0 1 0" frictionloss="0.2" damping="0.1"/>
         <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="0.5"/></body></body>)");
  const auto rotation = [&](const char* coordinates) {
    SimulationOptions options = cascade();
    options.coordinates = coordinates;
    Simulation simulation = simulation_of(model, 0.002, options);
    run(simulation, 0.2);
    return simulation.engine().body_pose(2).quaternion;
  };
  EXPECT_LE((rotation("reduced") - rotation("maximal")).norm(), 2e-3);
}

TEST_F(ModelParts, SitesJoinBodiesAsAnchorsDo) {
  const auto drop = [](const std::string& equality) {
    const std::string model =
        world(R"(<body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/>
            <site name="sa" pos="0.2 0 0"/></body><site name="fixed" pos="0.2 0 1"/>)",
              "<equality>" + equality + "</equality>");
    Simulation simulation = simulation_of(model, 0.01, cascade());
    run(simulation, 0.1);
    return simulation.state().velocity;
  };
  const Vector by_sites = drop(R"(<connect site1="sa" site2="fixed"/>)");
  const Vector by_anchor = drop(R"(<connect body1="a" anchor="0.2 0 0"/>)");
  EXPECT_GT(by_sites.norm(), 0.1);
  EXPECT_LE((by_sites - by_anchor).lpNorm<Eigen::Infinity>(), 1e-7);
}

}  // namespace
}  // namespace conebench::simulation
