#include "simulation/redundant_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>
#include <string>

#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class RedundantRows : public WithMujoco {};

/// A parallelogram that tumbles freely in space: a planar loop of four hinges, whose closing hinge has three rows too
/// many.
std::string tumbling(const std::string& more = "") {
  const std::string crank = R"(<inertial pos="0 0 -0.2" mass="1" diaginertia="0.0134 0.0134 1e-3"/>)";
  const std::string hinge = R"(<joint type="hinge" axis="0 1 0"/>)";
  return "<mujoco><compiler angle=\"radian\"/><option gravity=\"0 0 0\"/><worldbody><body name=\"base\"><freejoint/>"
         "<inertial pos=\"0.3 0 0\" mass=\"2\" diaginertia=\"0.01 0.06 0.05\"/>"
         "<body name=\"left\">" +
         hinge + crank + "<body name=\"coupler\" pos=\"0 0 -0.4\">" + hinge +
         R"(<inertial pos="0.3 0 0" mass="2" diaginertia="1e-2 0.06 0.06"/></body></body>)" +
         "<body name=\"right\" pos=\"0.6 0 0\">" + hinge + crank + "</body></body></worldbody>" +
         R"(<equality><connect body1="coupler" body2="right" anchor="0.6 0 0"/>
            <connect body1="coupler" body2="right" anchor="0.6 0.1 0"/></equality>)" +
         more + keyframe("0 0 0 1 0 0 0 0.8 -0.8 0.8", "0.3 0 0 1 2 3 2 -2 2") + "</mujoco>";
}

Simulation tumbling_in(const std::string& coordinates, double time_step) {
  SimulationOptions options;
  options.coordinates = coordinates;
  options.solver = "CASCADE";
  options.tolerance = 1e-10;
  return simulation_of(tumbling(), time_step, options);
}

Vector singular_values(const Matrix& jacobian) { return jacobian.jacobiSvd().singularValues(); }

/// The velocity nearest to v_free in the metric of M with J v + b = 0, all rows taken as they are.
Vector held(const StepData& step) {
  const Eigen::LLT<Matrix> mass{Matrix(step.mass)};
  const Matrix whitened = mass.matrixL().solve(Matrix(step.jacobian.transpose())).transpose();
  Eigen::CompleteOrthogonalDecomposition<Matrix> rows(whitened);
  rows.setThreshold(1e-13);
  const Vector change = rows.solve(Vector(-step.bias - step.jacobian * step.free_velocity));
  return step.free_velocity + mass.matrixU().solve(change);
}

struct TwoForms {
  StepData drifted, exact;
  Vector before;  ///< the velocity

  /// How much of the motion a step changes, with all rows of `step` fulfilled.
  double change(const StepData& step) const {
    const Vector moved = held(step) - before;
    return std::sqrt(moved.dot(step.mass * moved) / before.dot(step.mass * before));
  }
};

TwoForms after_a_while(double baumgarte = 0.2) {
  Simulation simulation = tumbling_in("maximal", 0.002);
  for (int k = 0; k < 50; ++k) step(simulation);
  const Vector before = simulation.state().velocity;
  step(simulation);
  StepOptions drifted, exact;
  drifted.redundant_rows = "drifted";
  drifted.baumgarte_joints = exact.baumgarte_joints = baumgarte;
  return {discretise(simulation.mechanics(), before, 0.002, drifted, "test").value(),
          discretise(simulation.mechanics(), before, 0.002, exact, "test").value(), before};
}

TEST_F(RedundantRows, OfADriftedLoopAreNearlyDependentAndStopItsMotion) {
  const TwoForms forms = after_a_while(0.0);
  const Vector singular = singular_values(Matrix(forms.drifted.jacobian));
  ASSERT_EQ(singular.size(), 20);
  EXPECT_GT(singular[16], 0.1);
  EXPECT_LT(singular[17], 1e-4) << "a planar loop takes three rows twice";
  EXPECT_GT(singular[18], 1e-7) << "and its joints' errors make them take motions that it has";
  EXPECT_GT(forms.change(forms.drifted), 0.2);
}

TEST_F(RedundantRows, MadeExactLeaveTheLoopItsMotion) {
  const TwoForms forms = after_a_while(0.0);
  const Vector singular = singular_values(Matrix(forms.exact.jacobian));
  EXPECT_GT(singular[16], 0.1);
  EXPECT_LT(singular[17], 1e-14);
  EXPECT_LT(forms.change(forms.exact), 0.02);
}

TEST_F(RedundantRows, MadeExactHaveAnImpulse) {
  const StepData exact = after_a_while().exact;
  EXPECT_LT((exact.jacobian * held(exact) + exact.bias).lpNorm<Eigen::Infinity>(), 1e-12);
  EXPECT_GT(exact.bias.lpNorm<Eigen::Infinity>(), 1e-6);
}

TEST_F(RedundantRows, MadeExactDifferFromTheirOwnByTheDrift) {
  const TwoForms forms = after_a_while();
  const Matrix apart = Matrix(forms.exact.jacobian) - Matrix(forms.drifted.jacobian);
  EXPECT_LT(apart.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_GT(apart.cwiseAbs().maxCoeff(), 0.0);
  EXPECT_EQ(apart.topRows(15).cwiseAbs().maxCoeff(), 0.0) << "rows of the tree's joints stay";
  int changed = 0;
  for (Index row = 15; row < 20; ++row) changed += apart.row(row).isZero(0.0) ? 0 : 1;
  EXPECT_EQ(changed, 3);
}

TEST_F(RedundantRows, AreNoneInAnOpenChainOrASpatialLoop) {
  for (const char* id : {"quadruped", "nunchuk"}) {
    Simulation loop =
        simulate(plan_scene(**require_simulated_scene(id), {{"coordinates", std::string("maximal")}}, 1).value())
            .value();
    for (int k = 0; k < 20; ++k) step(loop);
    EXPECT_FALSE(exact_redundancy(loop.mechanics())) << id;
  }
}

TEST_F(RedundantRows, ATumblingLoopMovesAsInReducedCoordinates) {
  const auto apart = [](double time_step) {
    Eigen::Vector3d positions[2];
    int which = 0;
    for (const char* coordinates : {"maximal", "reduced"}) {
      Simulation simulation = tumbling_in(coordinates, time_step);
      run(simulation, 0.4);
      Mechanics mechanics;
      EXPECT_TRUE(simulation.engine().evaluate(simulation.state(), {}, mechanics));
      positions[which++] = simulation.engine().world_point(3, {0.3, 0, 0});
    }
    return (positions[0] - positions[1]).norm();
  };
  expect_halving(0.002, apart);
}

TEST_F(RedundantRows, RobotsWithManyLoopsAreSolvedInEveryStep) {
  struct Case {
    const char *scene, *solver;
  };
  for (const Case& c :
       {Case{"walker-like", "CASCADE"}, Case{"gazelle-like", "CASCADE"}, Case{"ironman-like", "CASCADE"},
        Case{"gazelle-like", "ADMM-NCP-SA"}, Case{"ironman-like", "ADMM-NCP-SA"}}) {
    SCOPED_TRACE(std::string(c.scene) + " by " + c.solver);
    const OptionValues values{
        {"coordinates", std::string("maximal")}, {"solver", std::string(c.solver)}, {"tolerance", 1e-6}};
    Simulation loop = simulate(plan_scene(**require_simulated_scene(c.scene), values, 1).value()).value();
    double worst = 0.0;
    for (int k = 0; k < 60; ++k) worst = std::max(worst, step(loop).residual);
    EXPECT_LE(worst, 1e-6);
  }
}

}  // namespace
}  // namespace conebench::simulation
