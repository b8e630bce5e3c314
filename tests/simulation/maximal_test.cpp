#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>

#include "scenes/random_source.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class MaximalCoordinates : public WithMujoco {};

const Reach wide{.time_step = 0.01, .contact_margin = 0.2, .limit_margin = 10.0};

std::unique_ptr<Engine> engine_of(const std::string& mjcf, bool maximal, bool armature = true) {
  SimulatedModel model;
  model.mjcf = mjcf;
  auto engine = load_engine(model, "test", {.armature = armature, .maximal = maximal});
  if (!engine) throw std::runtime_error(engine.error().message);
  return std::move(*engine);
}

Mechanics evaluated(Engine& engine, const State& state) {
  Mechanics mechanics;
  const auto done = engine.evaluate(state, wide, mechanics);
  if (!done) throw std::runtime_error(done.error().message);
  return mechanics;
}

std::string numbers(const Vector& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

/// One body on the world with these joints.
std::string one_body(const std::string& joints, const std::string& qpos, const std::string& qvel) {
  return world("<body pos=\"0.1 0.2 0.3\" euler=\"0.3 -0.2 0.5\">" + joints +
                   "<geom type=\"box\" size=\"0.1 0.2 0.3\" pos=\"0.2 0.1 0\" mass=\"2\"/></body>",
               qpos.empty() ? "" : keyframe(qpos, qvel));
}

struct JointCase {
  const char* name;
  std::string joints, qpos, qvel;
  Index rows;
};

std::vector<JointCase> joint_cases() {
  const std::string hinge = R"(<joint type="hinge" axis="1 2 3" pos="0.1 0 0.2"/>)";
  const std::string slide = R"(<joint type="slide" axis="0 1 1"/>)";
  return {
      {"fixed", "", "", "", 6},
      {"hinge", hinge, "0.7", "2", 5},
      {"slide", slide, "0.4", "-1", 5},
      {"ball", R"(<joint type="ball" pos="0.1 0 0.2"/>)", "0.8 0.36 0.48 0", "1 2 3", 3},
      {"universal", hinge + R"(<joint type="hinge" axis="-2 1 0" pos="0.1 0 0.2"/>)", "0.7 -0.4", "2 1", 4},
      {"cylindrical", R"(<joint type="slide" axis="0 1 1"/><joint type="hinge" axis="0 1 1"/>)", "0.3 0.5", "1 2", 4},
      {"planar",
       R"(<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>)",
       "0.3 0.5 0.2", "1 2 3", 3},
      {"free", "<freejoint/>", "1 2 3 0.8 0.36 0.48 0", "1 2 3 4 5 6", 0}};
}

TEST_F(MaximalCoordinates, EveryJointHasAsManyIndependentRowsAsItTakesFreedoms) {
  for (const auto& joint : joint_cases()) {
    SCOPED_TRACE(joint.name);
    std::string mjcf = one_body(joint.joints, joint.qpos, joint.qvel);
    if (joint.rows == 6) mjcf.replace(mjcf.find("</worldbody>"), 0, "<body><freejoint/><geom size=\"0.1\"/></body>");
    const auto engine = engine_of(mjcf, true);
    const State state = engine->start();
    const Mechanics mechanics = evaluated(*engine, state);
    ASSERT_EQ(mechanics.joint_residuals.size(), joint.rows);
    const Matrix jacobian = Matrix(mechanics.jacobian).topRows(joint.rows);
    if (joint.rows > 0) {
      const Vector singular = jacobian.jacobiSvd().singularValues();
      EXPECT_GT(singular.minCoeff(), 0.1);
      EXPECT_LT(mechanics.joint_residuals.cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((jacobian * state.velocity).cwiseAbs().maxCoeff(), 1e-12) << "a motion that the joint allows";
    }
  }
}

/// Two trees with every kind of joint, at an arbitrary state of motion, or moving as given.
std::string tangle(const std::string& more = "", const Vector* velocity = nullptr) {
  Vector q(7 + 4 + 1 + 2), v(6 + 3 + 1 + 2);
  RandomSource random(11);
  for (double& x : v) x = random.normal();
  for (double& x : q) x = 0.05 * random.normal();
  q.segment<3>(0) += Eigen::Vector3d(0, 0, 0.25);
  q[3] += 1.0;
  q[7] += 1.0;
  if (velocity != nullptr) v = *velocity;
  return world(R"(
    <geom type="plane" size="5 5 1" friction="0.6"/>
    <body name="a" pos="0 0 0.2"><freejoint/>
      <geom type="box" size="0.3 0.2 0.21" mass="2"/>
      <body name="b" pos="0.5 0 0.1"><joint name="ball" type="ball" limited="true" range="0 0.6" damping="0.3"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.1" mass="1"/>
        <body name="c" pos="0.6 0 0"><joint name="hinge" type="hinge" axis="0 1 0.3" limited="true" range="-0.4 0.4"
             armature="0.02" stiffness="3"/>
          <geom type="capsule" fromto="0 0 0 0.4 0.1 0" size="0.05" mass="0.5"/>
        </body>
      </body>
    </body>
    <body name="d" pos="0.1 0.1 0.62"><joint name="slide" type="slide" axis="0.1 0 1" limited="true" range="-0.5 1"/>
      <joint name="turn" type="hinge" axis="0 0 1"/>
      <geom type="sphere" size="0.22" mass="1.5" pos="0.05 0 0"/>
    </body>)",
               more + keyframe(numbers(q), numbers(v)));
}

/// The twists of the bodies for each velocity of reduced coordinates at 1 and the others at 0.
Matrix twists_of_joints(Index velocities) {
  Matrix twists;
  for (Index k = 0; k < velocities; ++k) {
    const Vector velocity = Vector::Unit(velocities, k);
    const Vector twist = engine_of(tangle("", &velocity), true)->start().velocity;
    twists.conservativeResize(twist.size(), velocities);
    twists.col(k) = twist;
  }
  return twists;
}

TEST_F(MaximalCoordinates, TheMassMatrixProjectedOnTheJointsNullSpaceIsMuJoCos) {
  for (const bool armature : {false, true}) {
    const auto reduced = engine_of(tangle(), false, armature), maximal = engine_of(tangle(), true, armature);
    const Mechanics r = evaluated(*reduced, reduced->start()), m = evaluated(*maximal, maximal->start());
    const Matrix N = twists_of_joints(r.mass.rows());
    // N spans all that the joints' rows leave.
    const Index rows = m.joint_residuals.size();
    ASSERT_EQ(N.rows() - rows, N.cols());
    EXPECT_LT((Matrix(m.jacobian).topRows(rows) * N).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(Eigen::FullPivLU<Matrix>(N).rank(), N.cols());
    const Matrix expected = r.mass;
    EXPECT_LT((N.transpose() * m.mass * N - expected).norm(), 1e-12 * expected.norm()) << armature;
  }
  // Armature is what MuJoCo's own has more.
  const Mechanics with = evaluated(*engine_of(tangle(), false, true), engine_of(tangle(), false)->start());
  const Mechanics without = evaluated(*engine_of(tangle(), false, false), engine_of(tangle(), false)->start());
  Matrix more = Matrix(with.mass) - Matrix(without.mass);
  EXPECT_NEAR(more(9, 9), 0.02, 1e-12);
  more(9, 9) = 0.0;
  EXPECT_LT(more.norm(), 1e-12);
}

TEST_F(MaximalCoordinates, TheMassMatrixIsBlockDiagonalWithoutArmature) {
  const auto engine = engine_of(tangle(), true, false);
  const Mechanics mechanics = evaluated(*engine, engine->start());
  for (Index j = 0; j < mechanics.mass.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(mechanics.mass, j); it; ++it) EXPECT_EQ(it.row() / 6, it.col() / 6);
  }
}

TEST_F(MaximalCoordinates, RowsOfLimitsAndContactsHaveTheVelocitiesOfReducedCoordinates) {
  const auto reduced = engine_of(tangle(), false), maximal = engine_of(tangle(), true);
  const State v = reduced->start(), u = maximal->start();
  const Mechanics r = evaluated(*reduced, v), m = evaluated(*maximal, u);
  ASSERT_EQ(m.limit_names, r.limit_names);
  EXPECT_LT((m.limit_gaps - r.limit_gaps).cwiseAbs().maxCoeff(), 1e-9);
  ASSERT_EQ(m.contacts.size(), r.contacts.size());
  ASSERT_GE(m.contacts.size(), 3U);
  const Index common = r.rows();
  const Vector in_reduced = r.jacobian * v.velocity;
  const Vector in_maximal = (m.jacobian * u.velocity).tail(common);
  EXPECT_LT((in_maximal - in_reduced).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_F(MaximalCoordinates, EnergyAndMomentumAreThoseOfReducedCoordinates) {
  for (const bool armature : {false, true}) {
    const auto reduced = engine_of(tangle(), false, armature), maximal = engine_of(tangle(), true, armature);
    evaluated(*reduced, reduced->start());
    evaluated(*maximal, maximal->start());
    const Energy a = reduced->energy(), b = maximal->energy();
    EXPECT_NEAR(a.kinetic, b.kinetic, 1e-9) << armature;
    EXPECT_NEAR(a.potential, b.potential, 1e-9) << armature;
    const Momentum p = reduced->momentum(), q = maximal->momentum();
    EXPECT_LT((p.linear - q.linear).norm(), 1e-9);
    EXPECT_LT((p.angular - q.angular).norm(), 1e-9);
  }
}

TEST_F(MaximalCoordinates, TheJacobianIsTheDerivativeOfResidualsAndGaps) {
  const auto engine = engine_of(tangle(R"(<equality><connect body1="c" body2="d" anchor="0.1 0.2 0.3"/>
      <weld body1="b" body2="d"/><joint joint1="hinge" joint2="slide" polycoef="0.1 0.5 0.3 0 0"/></equality>)"),
                                true);
  const State state = engine->start();
  const Mechanics here = evaluated(*engine, state);
  const Index joints = here.joint_residuals.size(), limits = here.limit_gaps.size();
  EXPECT_EQ(joints, 3 + 5 + 4 + 3 + 6 + 1);
  const Matrix jacobian = here.jacobian;
  constexpr double h = 1e-6;
  // Rows of closed loops that are open at the start turn with their bodies; only tree joints are exact there.
  const Index tree = 3 + 5 + 4;
  for (Index dof = 0; dof < jacobian.cols(); ++dof) {
    const auto moved = [&](double step) {
      State there = state;
      engine->advance_position(there, Vector::Unit(jacobian.cols(), dof), step);
      const Mechanics mechanics = evaluated(*engine, there);
      EXPECT_EQ(mechanics.limit_gaps.size(), limits);
      Vector values(joints + limits + 3 * Index(here.contacts.size()));
      values << mechanics.joint_residuals, mechanics.limit_gaps, Vector::Zero(values.size() - joints - limits);
      Index row = joints + limits;
      for (const ContactPoint& contact : here.contacts) {
        values.segment<3>(row) =
            contact.frame.transpose() * (engine->world_point(contact.second_body, contact.second_local) -
                                         engine->world_point(contact.first_body, contact.first_local));
        row += 3;
      }
      return values;
    };
    const Vector difference = (moved(h) - moved(-h)) / (2.0 * h);
    EXPECT_LT((difference - jacobian.col(dof)).head(tree + 3).cwiseAbs().maxCoeff(), 1e-6) << "joints, connect " << dof;
    EXPECT_LT((difference - jacobian.col(dof)).tail(difference.size() - joints).cwiseAbs().maxCoeff(), 1e-6) << dof;
  }
}

/// Where `body`'s frame is after `time`.
Eigen::Vector3d position_after(const std::string& mjcf, const std::string& coordinates, int body, double time_step,
                               double time, bool* hit = nullptr) {
  SimulationOptions options;
  options.coordinates = coordinates;
  auto simulation = simulation_of(mjcf, time_step, options);
  for (long k = 0; k < std::lround(time / time_step); ++k) {
    const StepRecord record = step(simulation);
    if (hit != nullptr && record.impulse.size() > 0) {
      const ConeProduct& cones = record.problem.cones();
      *hit = *hit || record.impulse.tail(record.impulse.size() - cones.joints()).lpNorm<Eigen::Infinity>() > 0.0;
    }
  }
  Mechanics mechanics;
  EXPECT_TRUE(simulation.engine().evaluate(simulation.state(), wide, mechanics));
  return simulation.engine().world_point(body, Eigen::Vector3d(0.2, 0, 0));
}

std::string arm() {
  return world(R"(<body pos="0 0 1"><joint type="ball" damping="0.05"/>
      <geom type="box" size="0.2 0.03 0.03" pos="0.2 0 0" mass="1"/>
      <body pos="0.4 0 0"><joint name="elbow" type="hinge" axis="0 1 0" stiffness="1" armature="0.01"/>
        <geom type="box" size="0.2 0.03 0.03" pos="0.2 0 0" mass="0.7"/>
        <body pos="0.4 0 0"><joint name="push" type="slide" axis="1 0 0" damping="0.5"/>
          <geom type="sphere" size="0.04" mass="0.3"/></body></body></body>)",
               R"(<actuator><motor joint="elbow" gear="2"/><position joint="push" kp="20"/></actuator>)" +
                   keyframe("1 0 0 0 0.3 0", "0 1 0.5 0 0", "0.4 0.1"));
}

TEST_F(MaximalCoordinates, AnArmMovesAsInReducedCoordinates) {
  expect_halving(0.002, [](double time_step) {
    return (position_after(arm(), "maximal", 3, time_step, 0.4) - position_after(arm(), "reduced", 3, time_step, 0.4))
        .norm();
  });
}

std::string parallelogram() {
  const std::string crank = R"(<inertial pos="0 0 -0.2" mass="1" diaginertia="0.0134 0.0134 1e-4"/>)";
  const std::string hinge = R"(<joint type="hinge" axis="0 1 0"/>)";
  return world("<body name=\"left\">" + hinge + crank + "<body name=\"coupler\" pos=\"0 0 -0.4\">" + hinge +
                   R"(<inertial pos="0.3 0 0" mass="2" diaginertia="1e-3 0.06 0.06"/></body></body>)" +
                   "<body name=\"right\" pos=\"0.6 0 0\">" + hinge + crank + "</body>",
               R"(<equality><connect body1="coupler" body2="right" anchor="0.6 0 0"/>
                  <connect body1="coupler" body2="right" anchor="0.6 0.1 0"/></equality>)" +
                   keyframe("0.8 -0.8 0.8", "0 0 0"));
}

TEST_F(MaximalCoordinates, AFourBarMovesAsInReducedCoordinates) {
  const auto apart = [](double time_step) {
    return (position_after(parallelogram(), "maximal", 2, time_step, 0.2) -
            position_after(parallelogram(), "reduced", 2, time_step, 0.2))
        .norm();
  };
  // In a plane the two forms differ by O(Δt²) only.
  const double coarse = apart(0.004), fine = apart(0.002), finest = apart(0.001);
  EXPECT_NEAR(fine / coarse, 0.25, 0.03);
  EXPECT_NEAR(finest / fine, 0.25, 0.03);
}

TEST_F(MaximalCoordinates, TwoConnectsOfAPairAreOneHingeOfFiveRows) {
  const auto engine = engine_of(parallelogram(), true);
  const Mechanics mechanics = evaluated(*engine, engine->start());
  EXPECT_EQ(mechanics.joint_residuals.size(), 4 * 5);
  EXPECT_LT(mechanics.joint_residuals.cwiseAbs().maxCoeff(), 1e-9);
  // A planar loop takes three of the twenty rows twice.
  Eigen::FullPivLU<Matrix> elimination{Matrix(mechanics.jacobian)};
  elimination.setThreshold(1e-9);
  EXPECT_EQ(elimination.rank(), 17);
}

TEST_F(MaximalCoordinates, AFallingRobotLandsAsInReducedCoordinates) {
  const std::string robot = world(R"(<geom type="plane" size="5 5 1" friction="0.8"/>
      <body pos="0 0 0.45"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="3"/>
        <body pos="0.2 0 0"><joint type="hinge" axis="0 1 0" limited="true" range="-0.5 0.5" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/></body>
        <body pos="-0.2 0.08 0"><joint type="hinge" axis="0 1 0" limited="true" range="-0.5 0.5" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/></body>
        <body pos="-0.2 -0.08 0"><joint type="hinge" axis="0 1 0" limited="true" range="-0.5 0.5" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/></body></body>)");
  bool hit = false;
  const auto apart = [&](double time_step) {
    return (position_after(robot, "maximal", 1, time_step, 0.3, &hit) -
            position_after(robot, "reduced", 1, time_step, 0.3))
        .norm();
  };
  // Impacts do not halve step by step, but both forms meet.
  EXPECT_LT(apart(0.004), 0.02);
  EXPECT_LT(apart(0.0005), 0.003);
  EXPECT_TRUE(hit);
}

TEST_F(MaximalCoordinates, ALimitHoldsAnArmAsInReducedCoordinates) {
  SimulationOptions options;
  options.coordinates = "maximal";
  auto simulation = simulation_of(world(R"(<body><joint type="hinge" axis="0 1 0" limited="true" range="-1 0.5"/>
      <geom type="sphere" pos="1 0 0" size="0.05" mass="2"/></body>)"),
                                  0.005, options);
  StepRecord last = step(simulation);
  for (int k = 0; k < 400; ++k) last = step(simulation);
  ASSERT_EQ(last.problem.cones().limits(), 1);
  ASSERT_EQ(last.problem.cones().joints(), 5);
  EXPECT_NEAR(last.impulse[5], 2.0 * 9.81 * 1.0 * std::cos(0.5) * 0.005, 1e-4);
}

TEST_F(MaximalCoordinates, JointDriftIsUndoneByTheBaumgarteFactor) {
  SimulationOptions options;
  options.coordinates = "maximal";
  options.step.baumgarte_joints = 0.5;
  auto simulation = simulation_of(
      "<mujoco><option gravity=\"0 0 0\"/><worldbody><body><joint type=\"ball\"/>"
      "<geom type=\"sphere\" size=\"0.1\"/></body></worldbody></mujoco>",
      0.01, options);
  State off = simulation.state();
  off.position.head<3>() << 0.01, 0.02, -0.01;
  const double start = off.position.head<3>().norm();
  simulation.set_state(off);
  for (int k = 1; k <= 6; ++k) {
    step(simulation);
    EXPECT_NEAR(simulation.state().position.head<3>().norm(), start * std::pow(0.5, k), 1e-9);
  }
}

TEST_F(MaximalCoordinates, ABodyWithoutMassIsNamed) {
  SimulatedModel model;
  model.mjcf = world(R"(<body name="frame"><body><joint type="hinge"/><geom size="0.1"/></body></body>)");
  const auto engine = load_engine(model, "test", {.maximal = true});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::bad_input);
  EXPECT_THAT(engine.error().message, HasSubstr("body frame has no mass"));
}

}  // namespace
}  // namespace conebench::simulation
