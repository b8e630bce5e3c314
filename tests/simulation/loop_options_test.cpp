// Options of the loop that Yamane and Tsounis need: thinning of contacts, a frictionless fallback, compliant joints, a
// bounded depenetration.

#include <gtest/gtest.h>

#include <cmath>

#include "problems/scaled_natural_map.hpp"
#include "simulation/thinning.hpp"
#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

ContactPoint contact_at(double x, double gap, int first, int second) {
  ContactPoint contact{};
  contact.position = {x, 0.0, 0.0};
  contact.gap = gap;
  contact.first_body = first;
  contact.second_body = second;
  return contact;
}

TEST(Thinning, OfNearContactsOfTwoBodiesTheDeepestStaysWithItsRows) {
  Mechanics mechanics;
  // Two clusters of bodies 0 and 1 (given either way round), and one contact of other bodies in the same place.
  mechanics.contacts = {contact_at(0.0, 0.0, 0, 1), contact_at(4e-4, -1e-3, 1, 0), contact_at(8e-4, 0.0, 0, 1),
                        contact_at(2e-3, 0.0, 0, 1), contact_at(4e-4, 0.0, 0, 2)};
  const Index others = 2, rows = others + 15;
  Matrix dense(rows, 4);
  for (Index i = 0; i < dense.size(); ++i) dense.data()[i] = 1.0 + static_cast<double>(i);
  mechanics.jacobian = dense.sparseView();
  mechanics.joint_residuals = Vector::Zero(others);
  thin_contacts(mechanics, 1e-3);
  ASSERT_EQ(mechanics.contacts.size(), 3U);
  Matrix expected(others + 9, 4);
  expected << dense.topRows(others), dense.middleRows(others + 3, 3), dense.middleRows(others + 9, 6);
  EXPECT_EQ(Matrix(mechanics.jacobian), expected);
  EXPECT_EQ(mechanics.contacts[0].gap, -1e-3);
  EXPECT_EQ(mechanics.contacts[2].second_body, 2);
}

class LoopOptions : public WithMujoco {};

TEST_F(LoopOptions, FewerContactsCarryTheSameBody) {
  // Four corners 0.2 m apart are thinned to one below 0.3 m, and stay four below 0.1 m.
  const auto contacts = [](double distance) {
    auto simulation = scene_of("cube-sliding", {{"thinning", distance}, {"speed", 0.0}});
    return step(simulation).problem.cones().contacts();
  };
  EXPECT_EQ(contacts(0.0), 4);
  EXPECT_EQ(contacts(0.1), 4);
  EXPECT_EQ(contacts(0.21), 2);
  EXPECT_EQ(contacts(0.3), 1);
}

Simulation sliding(const std::string& fallback, long pivots) {
  return scene_of("cube-sliding", {{"solver", std::string("LEMKE-ROBUST-DF")},
                                   {"stop_by", std::string("solver")},
                                   {"tolerance", 1e-9},
                                   {"max_iterations", pivots},
                                   {"fallback", fallback}});
}

TEST_F(LoopOptions, WhereFrictionIsNotSolvedTheCubeSlidesFreely) {
  // The pivots suffice for the normal impulses alone: the speed stays what it was, to rounding.
  constexpr long few = 6;
  auto slides = sliding("frictionless", few);
  for (int k = 0; k < 50; ++k) {
    const StepRecord record = step(slides);
    EXPECT_EQ(record.fallback, Fallback::frictionless);
    EXPECT_NE(record.summary.status, SolveStatus::converged) << "the record has the solve with friction";
  }
  EXPECT_NEAR(slides.state().velocity[0], 2.0, 1e-12);
  EXPECT_NEAR(slides.state().velocity[2], 0.0, 1e-12);

  auto brakes = sliding("frictionless", 1000);
  for (int k = 0; k < 50; ++k) EXPECT_EQ(step(brakes).fallback, Fallback::unused);
  EXPECT_LT(brakes.state().velocity[0], 2.0 - 0.5 * 0.4 * g * 50e-3);

  auto fails = sliding("frictionless", 1);
  EXPECT_EQ(step(fails).fallback, Fallback::failed);
  auto none = sliding("none", few);
  EXPECT_EQ(step(none).fallback, Fallback::unused);
}

TEST_F(LoopOptions, ACompliantJointHangsAsFarAsItsRowsYield) {
  // Tsounis (87) at rest, v⁺ = 0: ξ λ = −(α/Δt) r with λ = m g Δt.
  const double mass = 2.0, dt = 0.01, alpha = 0.2, xi = 1e-3;
  const std::string hung = world(R"(<body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>)",
                                 R"(<equality><connect body1="ball" anchor="0 0 0"/></equality>)");
  const auto depth = [&](double compliance) {
    SimulationOptions options;
    options.step.joint_compliance = compliance;
    auto simulation = simulation_of(hung, dt, options);
    run(simulation, 2.0);
    return -simulation.state().position[2];
  };
  const double expected = xi * mass * g * dt * dt / alpha;
  EXPECT_NEAR(depth(xi), expected, 1e-9);
  EXPECT_NEAR(depth(2.0 * xi), 2.0 * expected, 1e-9);
  EXPECT_NEAR(depth(0.0), 0.0, 1e-12);
}

TEST_F(LoopOptions, SentenceAfter004Equation100HasTheBiasOfAJointWithTheWrongSign) {
  // (100), (101): J u⁺ + v* = 0 with v* = (α/Δt) r of (89b), so r⁺ = (1 − α) r. The sentence has J u⁺ − v*, by which a
  // joint's error grows.
  const double dt = 0.01, alpha = 0.2, error = 1e-3;
  const auto residual_after = [&](double sign) {
    Eigen::Matrix2d saddle;  // M = 2, J = 1, R = 0; unknowns u⁺, −λ
    saddle << 2.0, 1.0, 1.0, 0.0;
    return error + dt * saddle.fullPivLu().solve(Eigen::Vector2d(0.0, -sign * alpha / dt * error))[0];
  };
  auto simulation =
      simulation_of(world(R"(<body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>)",
                          R"(<equality><connect body1="ball" anchor="0 0 0"/></equality>)"),
                    dt, SimulationOptions{});
  State state = simulation.state();
  state.position[0] = error;
  simulation.set_state(state);
  run(simulation, dt);
  EXPECT_NEAR(simulation.state().position[0], residual_after(1.0), 1e-9 * error);
  EXPECT_NEAR(residual_after(1.0), (1.0 - alpha) * error, 1e-15);
  EXPECT_NEAR(residual_after(-1.0), (1.0 + alpha) * error, 1e-15);
}

Simulation sunk(double depth, double dt, double most) {
  SimulationOptions options;
  options.step.max_depenetration = most;
  auto simulation = simulation_of(
      world(
          R"(<geom type="plane" size="5 5 1"/><body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1"/>
               </body>)"),
      dt, options);
  State state = simulation.state();
  state.position[2] = 0.1 - depth;
  simulation.set_state(state);
  return simulation;
}

TEST_F(LoopOptions, ShapesComeApartNoFasterThanAllowed) {
  const double depth = 0.05, dt = 0.01;
  auto free = sunk(depth, dt, 1e12);
  step(free);
  EXPECT_NEAR(free.state().velocity[2], 0.2 * depth / dt, 1e-9) << "γ of the depth in one step";
  const double most = 0.25;
  auto bounded = sunk(depth, dt, most);
  double left = depth;
  // Uniform motion until γ of what is left is less than that in a step, then a geometric decay.
  for (int k = 0; k < 40; ++k) {
    step(bounded);
    const double speed = std::min(most, 0.2 * left / dt);
    EXPECT_NEAR(bounded.state().velocity[2], speed, 1e-9) << k;
    left -= dt * speed;
    EXPECT_NEAR(0.1 - bounded.state().position[2], left, 1e-9) << k;
  }
}

TEST_F(LoopOptions, ABodyRestsAtTheToleratedDepth) {
  // Tsounis (91a): r = φ + δ comes to 0, whether or not contacts are searched further away.
  for (const double search : {-1.0, 0.05}) {
    SimulationOptions options;
    options.step.penetration_margin = 2e-3;
    options.contact_margin = search;
    auto simulation = simulation_of(
        world(R"(<geom type="plane" size="5 5 1"/><body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1"
                 mass="1"/></body>)"),
        0.01, options);
    run(simulation, 2.0);
    EXPECT_NEAR(simulation.state().position[2], 0.1 - 2e-3, 1e-9) << search;
  }
}

}  // namespace
}  // namespace conebench::simulation
