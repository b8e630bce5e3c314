// Paper Lee23's baselines that are no solvers: springs under contacts, position-based dynamics.

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "simulation/deformable/position_based.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using testing::scene_of;
using testing::soft_simulation;
using testing::step;

TEST(Penalty, BoxOfTable1MovesAsItsRecursion) {
  const double k = 100.0, c = 3.0, d = 10.0, m = 0.5, g = 9.81, mu = 0.2, push = 2.0, dt = 0.01;
  Simulation loop =
      scene_of("box-penalty",
               {{"integrator", "penalty"}, {"penalty_stiffness", k}, {"penalty_damping", c}, {"penalty_drag", d}});
  double y = 0.0, z = 0.0, vy = 0.0, vz = 0.0;
  for (int n = 0; n < 100; ++n) {
    const StepRecord record = step(loop);
    const double normal = z < 0.0 ? std::max(0.0, -4 * k * z - 4 * c * vz) : 0.0;
    const double friction = std::copysign(std::min(mu * normal, z < 0.0 ? 4 * d * std::abs(vy) : 0.0), vy);
    vz += dt * (normal / m - g);
    vy += dt * (push - friction) / m;
    z += dt * vz;
    y += dt * vy;
    // In height and way it is that of a point; the push about the ground turns it by what is left of 1e-3.
    EXPECT_NEAR(loop.state().position[2] - 0.1, z, 0.05 * std::abs(z) + 1e-5) << n;
    EXPECT_NEAR(loop.state().position[1], y, 0.02 * y + 2e-4) << n;
    EXPECT_EQ(record.summary.iterations, 0);
  }
}

TEST(Penalty, RestsAtTheDepthOfItsWeight) {
  // In the scene's steps of 10 ms the box rocks ever more, from rounding on.
  Simulation loop = scene_of("box-penalty", {{"integrator", "penalty"},
                                             {"penalty_stiffness", 1000.0},
                                             {"penalty_damping", 10.0},
                                             {"push", 0.0},
                                             {"time_step", 0.001}});
  for (int n = 0; n < 3000; ++n) step(loop);
  EXPECT_NEAR(0.1 - loop.state().position[2], 0.5 * 9.81 / 4000.0, 1e-9);
}

RigidBody rod(const Eigen::Vector3d& at, double mass) {
  RigidBody body;
  body.name = "rod";
  body.mass = mass;
  body.inertia = {2e-3, 2e-3, 1e-4};
  body.pose.position = at;
  return body;
}

TEST(Penalty, SurfacesThatMoveDragWhatLiesOnThem) {
  const double stiffness = 1e3, drag = 10.0, speed = 0.3, dt = 0.01;
  SoftModel model;
  model.rigid = {rod({0, 0, 0.05}, 0.5)};
  RigidBody& box = model.rigid[0];
  box.inertia.setConstant(10.0);  // so that it does not tip
  for (const double x : {-0.1, 0.1}) {
    for (const double y : {-0.1, 0.1}) box.points.push_back({x, y, -0.05});
  }
  box.pose.position[2] -= box.mass * model.gravity / (4.0 * stiffness);
  Guide plate;
  plate.moves.push_back({.until = 10.0, .by = {10.0 * speed, 0, 0}, .steady = true});
  model.guides = {plate};
  model.shapes.emplace_back();
  model.shapes[0].carrier = model.guide_number(0);
  model.shapes[0].friction = 10.0;  // dampers alone hold it
  SimulationOptions options;
  options.integrator = "penalty";
  options.time_step = dt;
  options.penalty.stiffness = stiffness;
  options.penalty.drag = drag;
  Simulation loop = soft_simulation(model, options);
  double velocity = 0.0;
  for (int k = 0; k < 20; ++k) {
    velocity += dt * 4.0 * drag / box.mass * (speed - velocity);
    step(loop);
    EXPECT_NEAR(loop.state().velocity[0], velocity, 5e-3 * speed) << k;
  }
}

Simulation by_positions(const SoftModel& model, long substeps, bool self_contact = false) {
  SimulationOptions options;
  options.integrator = "positions";
  options.substeps = substeps;
  options.self_contact = self_contact;
  options.step.form = "factored";
  return soft_simulation(model, options);
}

TEST(PositionBased, FallsAndTurnsFreely) {
  SoftModel model;
  model.rigid = {rod({0, 0, 1}, 0.5)};
  model.rigid[0].velocity = {1, 0, 2};
  model.rigid[0].spin = {0, 0, 3};
  Simulation loop = by_positions(model, 10);
  for (int k = 0; k < 20; ++k) step(loop);
  const double t = 0.2, h = 1e-3;
  const Vector& q = loop.state().position;
  EXPECT_NEAR(q[0], t, 1e-10);
  EXPECT_NEAR(q[2], 1.0 + 2.0 * t - 0.5 * 9.81 * t * (t + h), 1e-10);
  EXPECT_NEAR(2.0 * std::atan2(q[6], q[3]), 0.6, 1e-9);
}

TEST(PositionBased, SpringIsImplicitEulersOfTheSubsteps) {
  SoftModel model;
  model.gravity = 0.0;
  model.stiffness_damping = 2e-3;
  model.rigid = {rod({0, 0, 0}, 0.5), rod({0.3, 0, 0}, 0.8)};
  SpringJoint joint;
  joint.a = model.rigid_number(0);
  joint.b = model.rigid_number(1);
  joint.at_a = {0.1, 0, 0};
  joint.at_b = {-0.15, 0, 0};
  joint.length = 0.2;
  joint.gain.setConstant(0.2 * 0.2 * 300.0);
  model.joints = {joint};
  Simulation loop = by_positions(model, 5);
  const double rate = 300.0 * (1.0 / 0.5 + 1.0 / 0.8), h = 2e-3, rest = 0.25, b = 2e-3;
  double distance = 0.3, speed = 0.0;
  for (int k = 0; k < 40; ++k) {
    step(loop);
    for (int s = 0; s < 5; ++s) {
      speed = (speed - rate * h * (distance - rest)) / (1.0 + rate * h * (h + b));
      distance += h * speed;
    }
    EXPECT_NEAR(loop.state().position[7] - loop.state().position[0], distance, 1e-10) << k;
  }
}

/// A rod on two balls.
SoftModel lying(double friction) {
  SoftModel model;
  model.rigid = {rod({0, 0, 0.02}, 0.5)};
  model.rigid[0].pose.rotation = Eigen::AngleAxisd(std::acos(0.0), Eigen::Vector3d::UnitY()).toRotationMatrix();
  model.rigid[0].inertia[2] = 4e-3;  // so that it slides for long before it rolls
  for (const double z : {-0.2, 0.2}) model.rigid[0].points.push_back({0, 0, z});
  model.rigid[0].point_radius = 0.02;
  model.shapes.emplace_back();
  model.shapes[0].friction = friction;
  return model;
}

TEST(PositionBased, SlidesByCoulombsLawAndBearsItsWeight) {
  SoftModel model = lying(0.3);
  model.rigid[0].velocity = {0, 1.0, 0};
  Simulation loop = by_positions(model, 20);
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (int k = 0; k < 20; ++k) {
    const StepRecord record = step(loop);
    ASSERT_EQ(record.problem.cones().contacts(), 2);
    for (std::size_t c = 0; c < 2; ++c) {
      total += loop.mechanics().contacts[c].frame * record.impulse.segment<3>(3 * Index(c));
    }
  }
  EXPECT_NEAR(total[2], 0.5 * 9.81 * 0.2, 1e-2 * 0.5 * 9.81 * 0.2);
  EXPECT_NEAR(0.5 * (loop.state().velocity[1] - 1.0), total[1], 1e-9);
  EXPECT_NEAR(total[1], -0.3 * total[2], 1e-2 * total[2]);
}

TEST(PositionBased, CapsulesBearEachOther) {
  SoftModel model = lying(0.5);
  model.rigid[0].half_length = 0.2;
  model.rigid.push_back(rod({0, 0, 0.06}, 0.1));
  model.rigid[1].pose.rotation = Eigen::AngleAxisd(std::acos(0.0), Eigen::Vector3d::UnitX()).toRotationMatrix();
  model.rigid[1].half_length = 0.2;
  model.rigid[1].point_radius = 0.02;
  Simulation loop = by_positions(model, SimulationOptions{}.substeps, true);
  for (int k = 0; k < 30; ++k) step(loop);
  EXPECT_NEAR(loop.state().position[7 + 2], 0.06, 1e-4);
  EXPECT_NEAR(loop.state().position[2], 0.02, 1e-4);
}

TEST(PositionBased, CableComesNearerToItsOwnStepTheMoreSubstepsThereAre) {
  const auto at_end = [](const char* integrator, long substeps, double time_step) {
    Simulation loop = scene_of("cable-winding", {{"links", 20L},
                                                 {"length", 0.8},
                                                 {"integrator", integrator},
                                                 {"solver", "CASCADE"},
                                                 {"substeps", substeps},
                                                 {"time_step", time_step},
                                                 {"tolerance", 1e-9}});
    testing::run(loop, 0.3);
    return Vector(loop.state().position);
  };
  const Vector fine = at_end("newton", 1, 1e-3);
  const auto apart = [&](const Vector& q) {
    double most = 0.0;
    for (Index k = 0; k < q.size(); k += 7) most = std::max(most, (q.segment<3>(k) - fine.segment<3>(k)).norm());
    return most;
  };
  const double few = apart(at_end("positions", 5, 1e-2)), many = apart(at_end("positions", 200, 1e-2));
  EXPECT_LT(many, 0.5 * few);
  EXPECT_LT(many, 0.02);
}

TEST(PositionBased, RefusesWhatItDoesNotMove) {
  SoftModel model;
  EXPECT_FALSE(PositionBased::fault_of(model));
  model.rigid = {rod({0, 0, 0}, 1.0), rod({0, 0, 0}, 1.0)};
  model.rigid[1].slide.emplace();
  EXPECT_NE(PositionBased::fault_of(model)->find("slides"), std::string::npos);
  model.bodies.emplace_back();
  EXPECT_NE(PositionBased::fault_of(model)->find("tetrahedra"), std::string::npos);
}

}  // namespace
}  // namespace conebench::simulation
