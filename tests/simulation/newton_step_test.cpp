// Implicit Euler with elastic forces at the step's end, solved by Newton's method.

#include "simulation/newton_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "simulation/deformable/soft_engine.hpp"
#include "simulation/step_problem.hpp"
#include "tests/simulation/mechanisms.hpp"

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

constexpr double short_step = 0.01;

/// −dE/du of the engine's start moved by u, and its derivative; `mechanics` are of evaluate() there, or the last call.
Mechanics linearised(Engine& engine, Mechanics& mechanics, const Vector& u, Engine::Tangent tangent) {
  EXPECT_TRUE(engine.linearise(u / short_step, short_step, tangent, mechanics));
  return mechanics;
}

/// K against differences of the forces, to this share of its columns.
void expect_derivative(Engine& engine, const Vector& u, double share) {
  Mechanics mechanics;
  ASSERT_TRUE(engine.evaluate(engine.start(), {}, mechanics));
  const Matrix k = linearised(engine, mechanics, u, Engine::Tangent::whole).stiffness;
  EXPECT_EQ((k - k.transpose()).norm(), 0.0);
  const auto force = [&](Index c, double by) -> Vector {
    Vector moved = u;
    moved[c] += by;
    return linearised(engine, mechanics, moved, Engine::Tangent::whole).force;
  };
  const double h = 1e-3;  // of the fourth order: errors of h⁴ and 1e-16 / h
  for (Index c = 0; c < u.size(); ++c) {
    const Vector difference = (8.0 * (force(c, h) - force(c, -h)) - force(c, 2 * h) + force(c, -2 * h)) / (12.0 * h);
    EXPECT_LE((difference + k.col(c)).norm(), share * k.norm()) << c;
  }
}

/// Links of a rod along x whose first hangs on a guide; soft enough to bend far in a step.
SoftModel chain(int links, const Eigen::Vector3d& spin) {
  SoftModel model;
  model.gravity = model.stiffness_damping = 0.0;
  const double length = 0.05;
  for (int k = 0; k < links; ++k) {
    RigidBody body;
    body.name = "link";
    body.mass = 0.01;
    body.inertia = {1e-5, 3e-5, 2e-5};
    body.pose.position[0] = (k + 0.5) * length;
    body.pose.rotation = Eigen::AngleAxisd(0.2 * k, Eigen::Vector3d(1, 2, -2) / 3.0).toRotationMatrix();
    body.spin = double(k % 3) * spin;
    model.rigid.push_back(body);
  }
  Guide guide;
  guide.name = "hand";
  model.guides.push_back(guide);
  for (int k = 0; k < links; ++k) {
    SpringJoint joint;
    joint.a = k == 0 ? model.guide_number(0) : model.rigid_number(std::size_t(k) - 1);
    joint.b = model.rigid_number(std::size_t(k));
    joint.at_a = k == 0 ? Eigen::Vector3d(0, 0, 0) : Eigen::Vector3d(0.5 * length, 0, 0);
    joint.at_b = Eigen::Vector3d(-0.5 * length, 0, 0);
    joint.length = length;
    joint.gain << 0.03, 0.04, 0.05, 6e-5, 7e-5, 8e-5;
    model.joints.push_back(joint);
  }
  return model;
}

TEST(NewtonStep, WholeTangentIsTheForcesDerivative) {
  for (const double stretch : {1.2, 0.7}) {
    SoftModel model = spun_block(1.0, {0, 0, 0});
    const Vector& x = model.bodies[0].position;
    Vector u = (stretch - 1.0) * x;
    for (Index k = 0; k < x.size(); ++k) u[k] += 3e-3 * std::sin(double(7 * k + 1));
    auto engine = make_soft_engine(model, "m").value();
    expect_derivative(*engine, u, 1e-7);
  }
}

TEST(NewtonStep, TangentOfJointsIsTheForcesDerivativeHoweverFarTheyTurn) {
  auto engine = make_soft_engine(chain(3, {0, 0, 0}), "m").value();
  for (const double turn : {0.0, 0.02, 0.29, 0.31, 1.0, 2.2}) {  // on both sides of where series end
    const Vector u = Vector::NullaryExpr(18, [&](Index k) {
      const double wave = std::sin(double(5 * k * k + 3 * k + 2));
      return k % 6 < 3 ? 0.05 * wave : turn * wave;
    });
    expect_derivative(*engine, u, 1e-7);
    // The force is minus the energy's derivative.
    Mechanics mechanics;
    ASSERT_TRUE(engine->evaluate(engine->start(), {}, mechanics));
    const Vector force = linearised(*engine, mechanics, u, Engine::Tangent::whole).force;
    const auto energy = [&](Index c, double by) {
      State state = engine->start();
      Vector moved = u;
      moved[c] += by;
      engine->advance_position(state, moved, 1.0);
      Mechanics unused;
      EXPECT_TRUE(engine->evaluate(state, {}, unused));
      return engine->energy().potential;
    };
    for (Index c = 0; c < 18; ++c) {
      const double h = 1e-5;
      EXPECT_NEAR(force[c], (energy(c, -h) - energy(c, h)) / (2 * h), 1e-6 * force.norm()) << c;
    }
  }
}

TEST(NewtonStep, PositiveTangentHasNoNegativeEigenvalueWhereTheForcesDerivativeHas) {
  const auto lowest = [](const SparseMatrix& k) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(Matrix(k)).eigenvalues().minCoeff();
  };
  SoftModel block = spun_block(1.0, {0, 0, 0});
  const Vector pressed = -0.4 * block.bodies[0].position;
  const Vector bent = Vector::NullaryExpr(24, [](Index k) { return 0.8 * std::sin(double(3 * k + 1)); });
  for (const auto& [model, u] : {std::pair(block, pressed), {chain(4, {0, 0, 0}), bent}}) {
    auto engine = make_soft_engine(model, "m").value();
    Mechanics mechanics;
    ASSERT_TRUE(engine->evaluate(engine->start(), {}, mechanics));
    const Mechanics whole = linearised(*engine, mechanics, u, Engine::Tangent::whole);
    const Mechanics positive = linearised(*engine, mechanics, u, Engine::Tangent::positive);
    EXPECT_LT(lowest(whole.stiffness), -1e-3 * whole.stiffness.norm());
    EXPECT_GE(lowest(positive.stiffness), -1e-9 * whole.stiffness.norm());
    EXPECT_LE((whole.force - positive.force).norm(), 1e-12 * whole.force.norm());
  }
}

TEST(NewtonStep, TakesThePositiveTangentWhereTheStepsMatrixIsIndefinite) {
  SoftModel block = spun_block(1.0, {0, 0, 0});
  const Vector velocity = -0.4 * block.bodies[0].position;  // within a step of 1 s
  auto engine = make_soft_engine(block, "m").value();
  const State start = engine->start();
  Mechanics mechanics;
  ASSERT_TRUE(engine->evaluate(start, {}, mechanics));
  const auto lowest = [&] {
    return Eigen::SelfAdjointEigenSolver<Matrix>(Matrix(mechanics.mass + mechanics.stiffness)).eigenvalues().minCoeff();
  };
  ASSERT_TRUE(engine->linearise(velocity, 1.0, Engine::Tangent::whole, mechanics));
  EXPECT_LT(lowest(), -1.0);
  NewtonStep step(*engine, start, 1.0, mechanics);
  step.linearise(velocity);
  EXPECT_GT(lowest(), 0.0);
}

TEST(NewtonStep, PassesConvergeQuadraticallyOnABentCable) {
  auto engine = make_soft_engine(chain(12, {9, -4, 7}), "m").value();
  const State start = engine->start();
  Mechanics mechanics;
  ASSERT_TRUE(engine->evaluate(start, {}, mechanics));
  NewtonStep step(*engine, start, short_step, mechanics);
  std::vector<double> errors;
  Vector v = Vector::Zero(start.velocity.size());
  for (int pass = 0; pass < 10; ++pass) {
    errors.push_back(step.linearise(v));
    const auto solved = discretise(mechanics, start.velocity, short_step, {}, "m");
    ASSERT_TRUE(solved);
    v = solved->free_velocity;
  }
  int squared = 0;
  for (std::size_t k = 1; k + 1 < errors.size(); ++k) {
    if (errors[k] > 0.1 || errors[k] < 1e-7) continue;
    EXPECT_LE(errors[k + 1], 5.0 * errors[k] * errors[k] + 1e-14) << k;
    ++squared;
  }
  EXPECT_GE(squared, 2) << ::testing::PrintToString(errors);
  EXPECT_LE(errors.back(), 1e-13);
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
  const double rate = 300.0 * (1.0 / 0.5 + 1.0 / 0.8), rest = 0.25;
  double distance = 0.3, speed = -0.3;
  for (int k = 0; k < 40; ++k) {
    EXPECT_EQ(step(newton).passes, 1);
    step(euler);
    EXPECT_LE((newton.state().position - euler.state().position).norm(), 1e-12);
    speed = (speed - rate * short_step * (distance - rest)) / (1.0 + rate * short_step * short_step);
    distance += short_step * speed;
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

TEST(NewtonStep, JointsDriftInAngularMomentumByHalfAStepsRelativeTurnAcrossTheirMoment) {
  constexpr double gain = 40.0;
  const Eigen::Vector3d spin_a(6, -2, 3), spin_b(-4, 5, 1);
  SoftModel model;
  model.gravity = model.stiffness_damping = 0.0;
  for (const Eigen::Vector3d& spin : {spin_a, spin_b}) {
    RigidBody body;
    body.name = "body";
    body.inertia.setConstant(2.0);
    body.spin = spin;
    model.rigid.push_back(body);
  }
  model.rigid[1].pose.rotation = Eigen::AngleAxisd(0.4, Eigen::Vector3d(1, -2, 2) / 3.0).toRotationMatrix();
  SpringJoint joint;
  joint.a = model.rigid_number(0);
  joint.b = model.rigid_number(1);
  joint.at_a = joint.at_b = Eigen::Vector3d::Zero();
  joint.gain.setConstant(gain);
  model.joints.push_back(joint);

  constexpr double time_step = 0.01;
  Simulation loop = soft_loop(model, "newton", time_step);
  step(loop);
  const Vector after = loop.state().velocity;
  const Eigen::Vector3d before = loop.engine().momentum().angular;  // of the state at the step's start
  step(loop);
  const Eigen::Vector3d gained = loop.engine().momentum().angular - before;
  const auto rotation = [&](std::size_t k) {
    const auto q = loop.engine().body_pose(model.rigid_number(k)).quaternion;
    return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
  };
  const Eigen::AngleAxisd turn(Eigen::Matrix3d(rotation(0).transpose() * rotation(1)));
  const Eigen::Vector3d on_b = -gain * turn.angle() * (rotation(0) * turn.axis());
  const Eigen::Vector3d relative = after.segment<3>(3) - after.segment<3>(9);
  const Eigen::Vector3d expected = time_step * 0.5 * time_step * relative.cross(on_b);
  EXPECT_GT(expected.norm(), 0.02 * time_step * on_b.norm());
  EXPECT_LE((gained - expected).norm(), 0.03 * expected.norm()) << gained.transpose() << ", " << expected.transpose();
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

TEST(NewtonStep, CableOfLinksSettlesInAFewPasses) {
  Simulation loop = scene_of(
      "cable-winding",
      {{"links", 40L}, {"length", 1.2}, {"integrator", "newton"}, {"solver", "CASCADE"}, {"tolerance", 1e-11}});
  for (int k = 0; k < 30; ++k) {
    const StepRecord record = step(loop);
    EXPECT_LE(record.newton_residual, 1e-8) << k;
    EXPECT_LE(record.passes, 4) << k;
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
