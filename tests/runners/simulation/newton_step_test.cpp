// Implicit Euler with elastic forces at the step's end, solved by Newton's method.

#include "runners/simulation/newton_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "runners/simulation/deformable/soft_engine.hpp"
#include "tests/runners/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using testing::scene_of;
using testing::step;

/// A block without gravity or damping, stretched and set spinning.
SoftModel spun_block(double stretch, const Eigen::Vector3d& spin) {
  SoftModel model;
  model.gravity = model.stiffness_damping = 0.0;
  SoftBody& body = model.bodies.emplace_back();
  body.mesh = block_mesh(2, 1, 2, {0.2, 0.1, 0.15});
  const Index size = 3 * Index(body.mesh.nodes.size());
  body.young = 2e4;
  body.position.resize(size);
  body.velocity.resize(size);
  const Eigen::Matrix3d turned = Eigen::AngleAxisd(0.8, Eigen::Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  for (Index k = 0; k < size; k += 3) {
    Eigen::Vector3d x = body.mesh.nodes[std::size_t(k / 3)] - Eigen::Vector3d(0.1, 0.05, 0.075);
    x[0] *= stretch;
    x[2] /= stretch;
    body.position.segment<3>(k) = turned * x;
    body.velocity.segment<3>(k) = spin.cross(turned * x);
  }
  return model;
}

/// Two bodies on a line, with a spring between them that is drawn along it.
SoftModel two_on_a_line() {
  SoftModel model;
  model.gravity = model.stiffness_damping = 0.0;
  for (const double x : {0.0, 0.3}) {
    RigidBody body;
    body.name = "body";
    body.mass = 0.5 + x;
    body.pose.position[0] = x;
    body.velocity[0] = 1.0 - x;
    model.rigid.push_back(body);
  }
  SpringJoint joint;
  joint.a = model.rigid_number(0);
  joint.b = model.rigid_number(1);
  joint.at_a = Eigen::Vector3d(0.1, 0.0, 0.0);
  joint.at_b = Eigen::Vector3d(-0.15, 0.0, 0.0);
  joint.length = 0.2;
  joint.gain.setConstant(0.2 * 0.2 * 300.0);
  model.joints.push_back(joint);
  return model;
}

Simulation soft_loop(const SoftModel& soft, const std::string& integrator, double time_step) {
  SimulationOptions options;
  options.integrator = integrator;
  options.time_step = time_step;
  options.solver = "CASCADE";
  options.tolerance = 1e-10;
  options.step.form = "factored";
  return testing::soft_simulation(soft, options);
}

double total(Simulation& loop) {
  const Energy energy = loop.engine().energy();
  return energy.kinetic + energy.potential;
}

TEST(NewtonStep, ExactTangentIsTheForcesDerivativeWhereItIsPositive) {
  // Stretched all round, so that nothing is left out.
  SoftModel model = spun_block(1.0, {0, 0, 0});
  Vector& x = model.bodies[0].position;
  x *= 1.2;
  for (Index k = 0; k < x.size(); ++k) x[k] += 3e-3 * std::sin(double(7 * k + 1));
  auto engine = make_soft_engine(model, "m").value();
  Mechanics mechanics;
  ASSERT_TRUE(engine->evaluate(engine->start(), {}, mechanics));
  ASSERT_TRUE(engine->linearise(x, 0.01, mechanics));
  const Matrix k = mechanics.stiffness;
  EXPECT_EQ((k - k.transpose()).norm(), 0.0);
  const double h = 1e-6;
  for (Index c = 0; c < x.size(); c += 4) {
    Vector moved = x;
    moved[c] += h;
    engine->linearise(moved, 0.01, mechanics);
    const Vector ahead = mechanics.force;
    moved[c] -= 2 * h;
    engine->linearise(moved, 0.01, mechanics);
    EXPECT_LE(((mechanics.force - ahead) / (2 * h) - k.col(c)).norm(), 1e-6 * k.col(c).norm()) << c;
  }
}

TEST(NewtonStep, TangentHasNoNegativeEigenvalueWhereTheForcesDerivativeHas) {
  SoftModel model = spun_block(1.0, {0, 0, 0});
  auto engine = make_soft_engine(model, "m").value();
  Mechanics mechanics;
  ASSERT_TRUE(engine->evaluate(engine->start(), {}, mechanics));
  Vector pressed = 0.6 * model.bodies[0].position;
  engine->linearise(pressed, 0.01, mechanics);
  const Matrix k = mechanics.stiffness;
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(k).eigenvalues().minCoeff(), -1e-9 * k.norm());
  // A turn of the pressed body against its forces.
  Vector turn(pressed.size());
  for (Index c = 0; c < turn.size(); c += 3) {
    turn.segment<3>(c) = Eigen::Vector3d(0.3, -0.5, 0.8).cross(Eigen::Vector3d(pressed.segment<3>(c)));
  }
  const double h = 1e-6;
  engine->linearise(pressed + h * turn, 0.01, mechanics);
  const Vector ahead = mechanics.force;
  engine->linearise(pressed - h * turn, 0.01, mechanics);
  EXPECT_LT(turn.dot(mechanics.force - ahead) / (2 * h), -1e-3 * turn.squaredNorm());
}

TEST(NewtonStep, HoldsTheEquationAtTheStepsEnd) {
  Simulation loop = soft_loop(spun_block(1.3, {8, -6, 5}), "newton", 0.01);
  for (int k = 0; k < 5; ++k) {
    const State before = loop.state();
    const StepRecord record = step(loop);
    EXPECT_LE(record.newton_residual, 1e-8);
    EXPECT_GT(record.passes, 1);
    EXPECT_LE(record.passes, 8);
    // M (v⁺ − v) = Δt f(q⁺), with forces by another way.
    const Vector force = loop.engine().internal_force(loop.state().position, 0.01);
    const Vector gained = loop.mechanics().mass * (loop.state().velocity - before.velocity);
    EXPECT_LE((gained - 0.01 * force).norm(), 1e-7 * (loop.mechanics().mass * before.velocity).norm());
  }
  EXPECT_TRUE(loop.notes().empty());
}

TEST(NewtonStep, IsEulersWhereForcesAreLinear) {
  Simulation newton = soft_loop(two_on_a_line(), "newton", 0.01);
  Simulation euler = soft_loop(two_on_a_line(), "euler", 0.01);
  // And both the closed form: of the distance d, d⁺ = d + Δt u, u = (u⁻ − ω² Δt (d⁻ − d0)) / (1 + ω² Δt²).
  const double rate = 300.0 * (1.0 / 0.5 + 1.0 / 0.8), dt = 0.01, rest = 0.25;
  double distance = 0.3, speed = -0.3;
  for (int k = 0; k < 40; ++k) {
    EXPECT_EQ(step(newton).passes, 1);
    step(euler);
    EXPECT_LE((newton.state().position - euler.state().position).norm(), 1e-12);
    speed = (speed - rate * dt * (distance - rest)) / (1.0 + rate * dt * dt);
    distance += dt * speed;
    EXPECT_NEAR(newton.state().position[7] - newton.state().position[0], distance, 1e-12);
  }
}

TEST(NewtonStep, KeepsLinearMomentumAndFallsFreely) {
  SoftModel model = spun_block(1.2, {4, 3, -5});
  model.gravity = 9.81;
  Simulation loop = soft_loop(model, "newton", 0.01);
  step(loop);
  const Momentum before = loop.engine().momentum();
  const Eigen::Vector3d from = loop.engine().body_pose(1).position;
  const int steps = 20;
  for (int k = 0; k < steps; ++k) step(loop);
  const double mass = loop.engine().body_masses()[0], t = steps * 0.01;
  const Eigen::Vector3d gained = loop.engine().momentum().linear - before.linear;
  EXPECT_LE((gained + Eigen::Vector3d(0, 0, mass * 9.81 * t)).norm(), 1e-10);
  const Eigen::Vector3d fall(0, 0, 0.5 * 9.81 * t * (t + 0.01));
  EXPECT_LE((loop.engine().body_pose(1).position - from - t * before.linear / mass + fall).norm(), 1e-9);
}

TEST(NewtonStep, EnergyNeverGrows) {
  for (const char* integrator : {"euler", "newton"}) {
    // Linearised steps of a body that turns leave its circle, so that Euler's is only stretched.
    const bool newton = std::string(integrator) == "newton";
    Simulation loop =
        soft_loop(spun_block(1.15, newton ? Eigen::Vector3d(6, 2, -4) : Eigen::Vector3d(0, 0, 0)), integrator, 2e-3);
    step(loop);
    double last = total(loop);
    const double start = last;
    for (int k = 0; k < 100; ++k) {
      step(loop);
      const double now = total(loop);
      EXPECT_LE(now, last * (1.0 + 1e-9)) << integrator << ", step " << k;
      last = now;
    }
    EXPECT_LT(last, 0.9 * start);
    EXPECT_GT(last, 0.0);
  }
}

TEST(NewtonStep, IsOfFirstOrder) {
  const auto after = [](double time_step) {
    Simulation loop = soft_loop(spun_block(1.1, {3, -2, 1}), "newton", time_step);
    testing::run(loop, 0.02);
    return loop.state().position;
  };
  const Vector fine = after(1.25e-5);
  const double coarse = (after(4e-4) - fine).norm(), finer = (after(2e-4) - fine).norm();
  EXPECT_NEAR(finer / coarse, 0.5, 0.06);
}

TEST(NewtonStep, CableOfLinksComesNearInItsPasses) {
  // Joints leave the negative part of their curvature out, one by one.
  Simulation loop =
      scene_of("cable-winding",
               {{"links", 40L}, {"length", 1.2}, {"integrator", "newton"}, {"solver", "CASCADE"}, {"tolerance", 1e-9}});
  for (int k = 0; k < 30; ++k) {
    const StepRecord record = step(loop);
    EXPECT_LE(record.newton_residual, 1e-6) << k;
  }
}

TEST(NewtonStep, MatOnTheGroundTakesItsContactsInEveryPass) {
  Simulation loop = scene_of("soft-mat", {{"nx", 4L},
                                          {"ny", 6L},
                                          {"grip_duration", 0.5},
                                          {"integrator", "newton"},
                                          {"solver", "CASCADE"},
                                          {"tolerance", 1e-9}});
  long passes = 0;
  for (int k = 0; k < 25; ++k) {
    const StepRecord record = step(loop);
    EXPECT_LE(record.newton_residual, 1e-8) << k;
    EXPECT_LE(record.residual, 1e-9);
    EXPECT_GE(record.summary.iterations, record.passes);
    EXPECT_GE(loop.state().position(2), -1e-3);
    passes += record.passes;
  }
  EXPECT_GT(passes, 30);
}

TEST(NewtonStep, IsForElasticBodies) {
  SimulatedModel model;
  model.mjcf = testing::world("<body><freejoint/><geom size='1'/></body>");
  SimulationOptions options;
  options.integrator = "newton";
  const auto made = Simulation::create(model, options, 1, "test", "test");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("elastic bodies"), std::string::npos);
}

}  // namespace
}  // namespace conebench::simulation
