#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "scenes/random_source.hpp"
#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class Constraints : public WithMujoco {};

/// Two trees with every kind of joint, in contact with the ground and each other, with loops of every kind.
std::string tangle() {
  return world(R"(
    <geom type="plane" size="5 5 1" friction="0.6"/>
    <body name="a" pos="0 0 0.2"><freejoint/>
      <geom type="box" size="0.3 0.2 0.21" mass="2"/>
      <body name="b" pos="0.5 0 0.1"><joint name="ball" type="ball" limited="true" range="0 0.3"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.1" mass="1"/>
        <body name="c" pos="0.6 0 0"><joint name="hinge" type="hinge" axis="0 1 0.3" limited="true" range="-0.2 0.2"/>
          <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.05" mass="0.5"/>
        </body>
      </body>
    </body>
    <body name="d" pos="0.1 0.1 0.62"><joint name="slide" type="slide" axis="0.1 0 1" limited="true" range="-0.01 1"/>
      <joint name="turn" type="hinge" axis="0 0 1"/>
      <geom type="sphere" size="0.22" mass="1.5"/>
    </body>)",
               R"(<equality>
      <connect body1="c" body2="d" anchor="0.1 0.2 0.3"/>
      <weld body1="b" body2="d"/>
      <joint joint1="hinge" joint2="slide" polycoef="0.1 0.5 0.3 0 0"/>
    </equality>)");
}

State scattered(const Engine& engine, std::uint64_t seed) {
  State state = engine.start();
  RandomSource random(seed);
  Vector offset(engine.dimensions().velocities);
  for (double& x : offset) x = 0.05 * random.normal();
  engine.advance_position(state, offset, 1.0);
  for (double& x : state.velocity) x = random.normal();
  return state;
}

const Reach wide{.time_step = 0.01, .contact_margin = 0.2, .limit_margin = 10.0};

TEST_F(Constraints, TheJacobianIsTheDerivativeOfTheKinematics) {
  SimulatedModel model;
  model.mjcf = tangle();
  const auto engine = load_engine(model, "tangle");
  ASSERT_TRUE(engine) << engine.error().message;
  const State state = scattered(**engine, 7);
  Mechanics here;
  ASSERT_TRUE((*engine)->evaluate(state, wide, here));
  const Index joints = here.joint_residuals.size();
  const Index limits = here.limit_gaps.size();
  EXPECT_EQ(joints, 3 + 6 + 1);
  EXPECT_EQ(limits, 5);
  ASSERT_GE(here.contacts.size(), 5U);
  const Matrix jacobian = here.jacobian;

  constexpr double h = 1e-6;
  double worst = 0.0;
  for (Index dof = 0; dof < jacobian.cols(); ++dof) {
    const auto moved = [&](double step) {
      State there = state;
      (*engine)->advance_position(there, Vector::Unit(jacobian.cols(), dof), step);
      Mechanics mechanics;
      EXPECT_TRUE((*engine)->evaluate(there, wide, mechanics));
      EXPECT_EQ(mechanics.limit_gaps.size(), limits);
      Vector values(jacobian.rows());
      values << mechanics.joint_residuals, mechanics.limit_gaps, Vector::Zero(jacobian.rows() - joints - limits);
      Index row = joints + limits;
      for (const ContactPoint& contact : here.contacts) {
        const Eigen::Vector3d apart = (*engine)->world_point(contact.second_body, contact.second_local) -
                                      (*engine)->world_point(contact.first_body, contact.first_local);
        values.segment<3>(row) = contact.frame.transpose() * apart;
        row += 3;
      }
      return values;
    };
    const Vector difference = (moved(h) - moved(-h)) / (2.0 * h);
    worst = std::max(worst, (difference - jacobian.col(dof)).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(worst, 1e-7);
}

TEST_F(Constraints, AContactsFrameIsRightHandedWithTheNormalLast) {
  SimulatedModel model;
  model.mjcf = tangle();
  const auto engine = load_engine(model, "tangle");
  ASSERT_TRUE(engine);
  Mechanics mechanics;
  ASSERT_TRUE((*engine)->evaluate((*engine)->start(), wide, mechanics));
  bool ground = false;
  for (const ContactPoint& contact : mechanics.contacts) {
    EXPECT_LT((contact.frame.transpose() * contact.frame - Eigen::Matrix3d::Identity()).norm(), 1e-12);
    EXPECT_NEAR(contact.frame.determinant(), 1.0, 1e-12);
    if (contact.first_body != 0) continue;
    ground = true;
    EXPECT_LT((contact.frame.col(2) - Eigen::Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_EQ(contact.friction, 1.0) << "the larger of 0.6 and MuJoCo's default of 1";
  }
  EXPECT_TRUE(ground);
}

TEST_F(Constraints, NoContactOfBoxesIsDeeperThanTheyOverlap) {
  // MuJoCo 2.2.2 gave depths of up to the boxes' size between edges that are apart.
  constexpr double half = 0.1;
  SimulatedModel model;
  const std::string box = R"(<body><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>)";
  model.mjcf = world(box + box);
  const auto engine = load_engine(model, "boxes");
  ASSERT_TRUE(engine);
  const Reach reach{.time_step = 0.01, .contact_margin = 0.02};
  State state = (*engine)->start();
  RandomSource random(5);
  Mechanics mechanics;
  int pairs = 0;
  for (int k = 0; k < 6000; ++k) {
    Eigen::Vector3d away(random.normal(), random.normal(), random.normal());
    away *= (0.2 + 0.15 * random.uniform()) / away.norm();
    for (Index b = 0; b < 2; ++b) {
      Eigen::Vector4d turn(random.normal(), random.normal(), random.normal(), random.normal());
      turn.normalize();
      state.position.segment<3>(7 * b) = b == 0 ? Eigen::Vector3d::Zero() : away;
      state.position.segment<4>(7 * b + 3) = turn;
    }
    ASSERT_TRUE((*engine)->evaluate(state, reach, mechanics));
    pairs += mechanics.contacts.empty() ? 0 : 1;
    for (const ContactPoint& contact : mechanics.contacts) {
      const Eigen::Vector3d normal = contact.frame.col(2);
      double reaches = 0.0;
      for (Index b = 0; b < 2; ++b) {
        const auto q = state.position.segment<4>(7 * b + 3);
        const Eigen::Matrix3d axes = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
        reaches += half * (axes.transpose() * normal).cwiseAbs().sum();
      }
      const double sign = contact.first_body < contact.second_body ? 1.0 : -1.0;
      EXPECT_LE(-std::min(0.0, contact.gap), std::max(0.0, reaches - sign * away.dot(normal)) + 1e-6) << "pair " << k;
    }
  }
  EXPECT_GT(pairs, 1000);
}

TEST_F(Constraints, GapsChangeAtTheNormalVelocity) {
  SimulatedModel model;
  model.mjcf = tangle();
  const auto engine = load_engine(model, "tangle");
  ASSERT_TRUE(engine);
  const State state = scattered(**engine, 3);
  Mechanics before, after;
  ASSERT_TRUE((*engine)->evaluate(state, wide, before));
  State later = state;
  constexpr double h = 1e-7;
  (*engine)->advance_position(later, state.velocity, h);
  ASSERT_TRUE((*engine)->evaluate(later, wide, after));
  ASSERT_EQ(after.contacts.size(), before.contacts.size());
  const Vector velocity = before.jacobian * state.velocity;
  Index row = before.joint_residuals.size() + before.limit_gaps.size() + 2;
  for (std::size_t c = 0; c < before.contacts.size(); ++c, row += 3) {
    EXPECT_NEAR((after.contacts[c].gap - before.contacts[c].gap) / h, velocity[row], 1e-4);
  }
}

TEST_F(Constraints, KineticEnergyIsThatOfTheMassMatrix) {
  SimulatedModel model;
  model.mjcf = tangle();
  const auto engine = load_engine(model, "tangle");
  ASSERT_TRUE(engine);
  const State state = scattered(**engine, 5);
  Mechanics mechanics;
  ASSERT_TRUE((*engine)->evaluate(state, wide, mechanics));
  const double kinetic = 0.5 * state.velocity.dot(mechanics.mass * state.velocity);
  EXPECT_NEAR((*engine)->energy().kinetic, kinetic, 1e-10 * kinetic);
}

TEST_F(Constraints, ArmatureCanBeLeftOut) {
  const std::string rotor = world(R"(<body><joint type="hinge" axis="0 0 1" armature="3"/>
      <geom type="sphere" pos="1 0 0" size="0.01" mass="2"/></body>)");
  SimulatedModel model;
  model.mjcf = rotor;
  double entries[2];
  for (const bool armature : {false, true}) {
    const auto engine = load_engine(model, "rotor", {.armature = armature});
    ASSERT_TRUE(engine);
    Mechanics mechanics;
    ASSERT_TRUE((*engine)->evaluate((*engine)->start(), wide, mechanics));
    entries[armature ? 1 : 0] = mechanics.mass.coeff(0, 0);
  }
  EXPECT_NEAR(entries[0], 2.0, 1e-3);
  EXPECT_NEAR(entries[1] - entries[0], 3.0, 1e-12);
}

/// A parallelogram of two cranks of length a (rods of mass m) and a coupler of mass M; θ from straight down. Its loop
/// is closed by a connect.
std::string fourbar(double angle) {
  const std::string crank =
      R"(<inertial pos="0 0 -0.2" mass="1" diaginertia="0.0133333333333333 0.0133333333333333 1e-4"/>)";
  const std::string hinge = R"(<joint type="hinge" axis="0 1 0"/>)";
  return world(
      "<body name=\"left\">" + hinge + crank + "<body name=\"coupler\" pos=\"0 0 -0.4\">" + hinge +
          R"(<inertial pos="0.3 0 0" mass="2" diaginertia="1e-3 0.06 0.06"/></body></body>)" +
          "<body name=\"right\" pos=\"0.6 0 0\">" + hinge + crank + "</body>",
      R"(<equality><connect body1="coupler" body2="right" anchor="0.6 0 0"/></equality>)" +
          keyframe(std::to_string(angle) + " " + std::to_string(-angle) + " " + std::to_string(angle), "0 0 0"));
}

/// θ'' = −k sin θ.
double swing(double angle, double k, double time) {
  double velocity = 0.0;
  const int steps = 400'000;
  const double h = time / steps;
  for (int i = 0; i < steps; ++i) {  // leapfrog, second order
    velocity -= 0.5 * h * k * std::sin(angle);
    angle += h * velocity;
    velocity -= 0.5 * h * k * std::sin(angle);
  }
  return angle;
}

TEST_F(Constraints, AParallelogramSwingsAsOneDegreeOfFreedom) {
  // Inertia 2 m a²/3 + M a², torque (m + M) g a sin θ, with m = 1, M = 2, a = 0.4.
  const double a = 0.4;
  const double k = (1.0 + 2.0) * g * a / (2.0 / 3.0 * a * a + 2.0 * a * a);
  const double exact = swing(0.8, k, 0.6);
  expect_halving(0.004, [&](double time_step) {
    auto simulation = simulation_of(fourbar(0.8), time_step);
    run(simulation, 0.6);
    EXPECT_LT(configuration_residual(simulation.mechanics()), 5.0 * time_step * time_step);
    return std::abs(simulation.state().position[0] - exact);
  });
}

TEST_F(Constraints, ALoopInThreeDimensionsIsRedundantAndStillSolved) {
  // Three rows for a loop that needs two: the connect's row across the plane is one that the hinges satisfy already.
  auto simulation = simulation_of(fourbar(0.8), 0.004);
  const StepRecord record = step(simulation);
  EXPECT_EQ(record.problem.cones().joints(), 3);
  EXPECT_LT(record.residual, 1e-12);
  EXPECT_NEAR(record.problem.blocks().dense()(1, 1), 0.0, 1e-12);
}

TEST_F(Constraints, ConnectsOfTwoBodiesAreIndependentRowsInBothCoordinates) {
  // A point is a ball joint, two a hinge, three a weld; what is asked for again makes no row, nor does the other order.
  const std::vector<std::pair<std::string, Index>> cases = {
      {R"(<connect body1="a" body2="b" anchor="0 0 0"/>)", 3},
      {R"(<connect body1="a" body2="b" anchor="0 0 0.1"/>)", 5},
      {R"(<connect body1="b" body2="a" anchor="-0.3 0 0.05"/>)", 5},
      {R"(<connect body1="a" body2="b" anchor="0 0 -0.3"/>)", 5},
      {R"(<connect body1="a" body2="b" anchor="0.2 0 0"/>)", 6},
      {R"(<connect body1="a" body2="b" anchor="0 0.2 0"/>)", 6}};
  std::string equalities;
  for (const auto& [equality, rows] : cases) {
    equalities += equality;
    for (const bool maximal : {false, true}) {
      SimulatedModel model;
      model.mjcf = world(R"(<body name="a"><freejoint/><geom type="sphere" size="0.1"/></body>
        <body name="b" pos="0.3 0 0"><freejoint/><geom type="sphere" size="0.1"/></body>)",
                         "<equality>" + equalities + "</equality>");
      const auto engine = load_engine(model, "pair", {.maximal = maximal});
      ASSERT_TRUE(engine) << engine.error().message;
      State state = (*engine)->start();
      Mechanics here, there;
      ASSERT_TRUE((*engine)->evaluate(state, wide, here));
      ASSERT_EQ(here.joint_residuals.size(), rows) << equalities << maximal;
      EXPECT_EQ(here.joint_softness.size(), std::size_t(rows));
      const Matrix jacobian = Matrix(here.jacobian).topRows(rows);
      EXPECT_EQ(jacobian.fullPivLu().rank(), rows) << equalities << maximal;
      // At residuals of 0 the rows are their derivatives.
      const Vector along = Vector::LinSpaced(jacobian.cols(), -1.0, 1.0);
      (*engine)->advance_position(state, along, 1e-6);
      ASSERT_TRUE((*engine)->evaluate(state, wide, there));
      EXPECT_LT((there.joint_residuals - 1e-6 * (jacobian * along)).norm(), 1e-10) << equalities << maximal;
    }
  }
}

TEST_F(Constraints, AJointsErrorDecaysByTheBaumgarteFactor) {
  SimulationOptions options;
  options.step.baumgarte_joints = 0.5;
  const std::string hung = world(R"(<body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>)",
                                 R"(<equality><connect body1="ball" anchor="0 0 0"/></equality>)");
  auto simulation = simulation_of(hung, 0.01, options);
  State off = simulation.state();
  off.position.head<3>() << 0.03, -0.02, 0.05;
  simulation.set_state(off);
  const double start = off.position.head<3>().norm();
  for (int k = 1; k <= 6; ++k) {
    step(simulation);
    EXPECT_NEAR(simulation.state().position.head<3>().norm(), start * std::pow(0.5, k), 1e-12);
  }
}

TEST_F(Constraints, ImplicitDampingOfAStiffJointDoesNotOscillate) {
  const std::string damped = world(R"(<body><joint type="hinge" axis="0 0 1" damping="1000"/>
      <geom type="sphere" pos="1 0 0" size="0.01" mass="1"/></body>)",
                                   keyframe("0", "1"));
  auto implicit = simulation_of(damped, 0.01);
  run(implicit, 0.1);
  EXPECT_GT(implicit.state().velocity[0], 0.0);
  EXPECT_LT(implicit.state().velocity[0], 1e-9);
  SimulationOptions options;
  options.step.damping = "explicit";
  auto explicitly = simulation_of(damped, 0.01, options);
  const auto blown = [&] {
    for (int k = 0; k < 20; ++k) {
      if (!explicitly.step()) return true;
    }
    return false;
  };
  EXPECT_TRUE(blown());
}

}  // namespace
}  // namespace conebench::simulation
