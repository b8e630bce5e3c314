#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>

#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class FreeMotion : public WithMujoco {};

std::string ball(const std::string& key) {
  return world(R"(<body><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>)", key);
}

TEST_F(FreeMotion, AFallingBodyIsWhereSemiImplicitEulerPutsIt) {
  auto simulation = simulation_of(ball(keyframe("0 0 5 1 0 0 0", "1 0 2 0 0 0")), 0.01);
  run(simulation, 0.5);
  const double n = 50.0;
  EXPECT_NEAR(simulation.state().velocity[2], 2.0 - g * 0.5, 1e-12);
  EXPECT_NEAR(simulation.state().position[0], 0.5, 1e-12);
  EXPECT_NEAR(simulation.state().position[2], 5.0 + 2.0 * 0.5 - g * 1e-4 * n * (n + 1.0) / 2.0, 1e-12);
}

TEST_F(FreeMotion, AFallingBodysErrorHalvesWithTheTimeStep) {
  expect_halving(0.02, [](double time_step) {
    auto simulation = simulation_of(ball(keyframe("0 0 5 1 0 0 0", "0 0 2 0 0 0")), time_step);
    run(simulation, 0.4);
    return std::abs(simulation.state().position[2] - (5.0 + 2.0 * 0.4 - 0.5 * g * 0.16));
  });
}

TEST_F(FreeMotion, MoreausRuleIsExactInFreeFall) {
  SimulationOptions options;
  options.integrator = "moreau";
  auto simulation = simulation_of(ball(keyframe("0 0 5 1 0 0 0", "0 0 2 0 0 0")), 0.02, options);
  run(simulation, 0.4);
  EXPECT_NEAR(simulation.state().position[2], 5.0 + 2.0 * 0.4 - 0.5 * g * 0.16, 1e-12);
}

/// A rod of mass m and length l that hangs from a hinge; θ from straight down.
std::string pendulum(double angle) {
  return world(R"(<body pos="0 0 0"><joint name="hinge" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.01" mass="1" contype="0" conaffinity="0"/>
      <inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333333 0.0833333333333333 0.0001"/></body>)",
               keyframe(std::to_string(angle), "0"));
}

/// θ'' = −k sin θ by the classical Runge–Kutta method in small steps.
double pendulum_angle(double angle, double k, double time) {
  std::array<double, 2> x{angle, 0.0};
  const int steps = 20000;
  const double h = time / steps;
  const auto slope = [&](const std::array<double, 2>& at) {
    return std::array<double, 2>{at[1], -k * std::sin(at[0])};
  };
  const auto moved = [](const std::array<double, 2>& at, const std::array<double, 2>& by, double share) {
    return std::array<double, 2>{at[0] + share * by[0], at[1] + share * by[1]};
  };
  for (int i = 0; i < steps; ++i) {
    const auto a = slope(x), b = slope(moved(x, a, h / 2)), c = slope(moved(x, b, h / 2)), d = slope(moved(x, c, h));
    for (std::size_t j = 0; j < 2; ++j) x[j] += h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]);
  }
  return x[0];
}

TEST_F(FreeMotion, APendulumsErrorHalvesWithTheTimeStep) {
  // The rod about its end: m g (l/2) / (m l²/3) = 3 g / (2 l).
  const double exact = pendulum_angle(1.0, 1.5 * g, 0.8);
  expect_halving(0.01, [&](double time_step) {
    auto simulation = simulation_of(pendulum(1.0), time_step);
    run(simulation, 0.8);
    return std::abs(simulation.state().position[0] - exact);
  });
}

TEST_F(FreeMotion, APendulumKeepsItsEnergyWithinTheTimeStepsOrder) {
  auto simulation = simulation_of(pendulum(1.5), 0.001);
  step(simulation);
  const auto total = [&] {
    const Energy energy = simulation.engine().energy();
    return energy.kinetic + energy.potential;
  };
  const double start = total();
  double worst = 0.0;
  for (int k = 0; k < 10'000; ++k) {
    step(simulation);
    worst = std::max(worst, std::abs(total() - start));
  }
  // Semi-implicit Euler is symplectic: the energy swings by O(Δt), and does not drift in ten thousand steps.
  EXPECT_LT(worst, 0.02);
  EXPECT_GT(worst, 1e-6);
}

TEST_F(FreeMotion, ASymmetricTopPrecessesAsEulerSays) {
  const std::string top = world(R"(<body><freejoint/><geom type="sphere" size="0.1" contype="0" conaffinity="0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.02"/></body>)",
                                "<option gravity=\"0 0 0\"/>" + keyframe("0 0 0 1 0 0 0", "0 0 0 1 0 5"));
  // In the body's frame ω turns about the axis at (I3 − I1)/I1 ω3.
  const double turn = 5.0 * 0.8;
  expect_halving(0.01, [&](double time_step) {
    auto simulation = simulation_of(top, time_step);
    run(simulation, 0.8);
    const Eigen::Vector3d spin = simulation.state().velocity.tail<3>();
    return (spin - Eigen::Vector3d(std::cos(turn), std::sin(turn), 5.0)).norm();
  });
}

TEST_F(FreeMotion, SpinningBodiesKeepTheirAngularMomentumToFirstOrder) {
  const std::string body = world(R"(<body><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="3"/></body>)",
                                 "<option gravity=\"0 0 0\"/>" + keyframe("0 0 0 1 0 0 0", "0 0 0 1 2 3"));
  expect_halving(0.002, [&](double time_step) {
    auto simulation = simulation_of(body, time_step);
    step(simulation);
    const Eigen::Vector3d start = simulation.engine().momentum().angular;
    run(simulation, 0.5);
    return (simulation.engine().momentum().angular - start).norm();
  });
}

TEST_F(FreeMotion, CollidingSpheresKeepLinearAndAngularMomentum) {
  const std::string spheres =
      world(R"(<body><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.5"/></body>
               <body><freejoint/><geom type="sphere" size="0.2" mass="3" friction="0.5"/></body>)",
            "<option gravity=\"0 0 0\"/>" + keyframe("-0.4 0.1 0 1 0 0 0 0.2 0 0 1 0 0 0", "3 0 0 0 5 1 -1 0 0 0 0 2"));
  auto simulation = simulation_of(spheres, 0.01);
  step(simulation);
  const Momentum start = simulation.engine().momentum();
  double impulse = 0.0;
  for (int k = 0; k < 30; ++k) {
    const StepRecord record = step(simulation);
    if (record.impulse.size() > 0) impulse = std::max(impulse, record.impulse.lpNorm<Eigen::Infinity>());
    const Momentum now = simulation.engine().momentum();
    EXPECT_LT((now.linear - start.linear).norm(), 1e-12);
    EXPECT_LT((now.angular - start.angular).norm(), 1e-12);
  }
  EXPECT_GT(impulse, 0.1);
}

}  // namespace
}  // namespace conebench::simulation
