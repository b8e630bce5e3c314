// The cubes of LeLidec24's figures against closed forms, with the solvers whose models differ.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

constexpr double friction = 0.4;

class CubeLaws : public WithMujoco {};

/// Each solver by its own test: the others' models are not the verdict's.
Simulation cube(const std::string& scene, const std::string& solver, OptionValues values) {
  values["solver"] = solver;
  values["stop_by"] = std::string("solver");
  values.emplace("friction", friction);
  return scene_of(scene, values);
}

/// Where a sliding cube comes to rest, along its direction and to the left of it [m].
Eigen::Vector2d rest_of_sliding(const std::string& solver, double degrees, double tolerance) {
  auto simulation = cube("cube-sliding", solver, {{"direction", degrees}, {"tolerance", tolerance}});
  run(simulation, 0.9);
  EXPECT_LT(simulation.state().velocity.norm(), 1e-5) << solver << " " << degrees;
  return Eigen::Rotation2Dd(-degrees * std::numbers::pi / 180.0) * simulation.state().position.head<2>();
}

TEST_F(CubeLaws, ALinearisedConePushesASlidingCubeOffItsLine) {
  // LeLidec24 Figs. 6 and 9. Friction μ m g along either axis, each until its speed is spent: v_i²/(2 μ g).
  const double speed = 2.0;
  for (const double degrees : {0.0, 22.5, 45.0}) {
    const double angle = degrees * std::numbers::pi / 180.0;
    const Eigen::Vector2d v = speed * Eigen::Vector2d(std::cos(angle), std::sin(angle));
    const Eigen::Vector2d rest = v.cwiseAbs2() / (2.0 * friction * g);
    const Eigen::Vector2d expected = Eigen::Rotation2Dd(-angle) * rest;
    const Eigen::Vector2d found = rest_of_sliding("PGS-LCP", degrees, 1e-8);
    EXPECT_NEAR(found[0], expected[0], 2e-3) << degrees;
    EXPECT_NEAR(found[1], expected[1], 1e-3) << degrees;
    if (degrees == 22.5) {
      EXPECT_NEAR(found[0], 0.430, 1e-3);
      EXPECT_NEAR(found[1], -0.097, 1e-3) << "a fifth of the way";
    }
    if (degrees == 45.0) {
      EXPECT_NEAR(found[0], speed * speed / (2.0 * friction * g) / std::numbers::sqrt2, 2e-3);
    }
  }
}

TEST_F(CubeLaws, ARoundConeStopsASlidingCubeOnItsLine) {
  for (const char* solver : {"NSGS", "PGS-NCP", "ADMM-NCP-SA", "ADMM-CCP"}) {
    const Eigen::Vector2d found = rest_of_sliding(solver, 22.5, 1e-9);
    EXPECT_LT(std::abs(found[1]), 1e-6) << solver;
    if (std::string(solver) != "ADMM-CCP") {
      EXPECT_NEAR(found[0], 4.0 / (2.0 * friction * g), 2e-3) << solver;
    }
  }
}

TEST_F(CubeLaws, ALinearisedConeHoldsADraggedCubeBetweenItsAxes) {
  // Its friction at 45° is √2 μ m g.
  const double slips = friction * g / 20.0;
  for (const auto& [solver, moves] : {std::pair("PGS-LCP", false), {"NSGS", true}}) {
    auto simulation = cube("cube-dragged", solver, {{"direction", 45.0}, {"tolerance", 1e-9}});
    run(simulation, 1.3 * slips);
    EXPECT_EQ(simulation.state().velocity.norm() > 0.01, moves) << solver;
  }
}

/// ∫‖q − q̄‖ dt of a dragged cube over a second against the closed form [m s], and the height it ends at [m].
std::pair<double, double> error_of_dragging(double time_step, const OptionValues& more) {
  const double slips = friction * g / 20.0;
  OptionValues values = more;
  values["time_step"] = time_step;
  auto simulation = cube("cube-dragged", "ADMM-CCP", values);
  double integral = 0.0;
  while (simulation.state().time < 1.0 - 0.5 * time_step) {
    step(simulation);
    const double sliding = std::max(0.0, simulation.state().time - slips);
    const Eigen::Vector3d expected(20.0 * std::pow(sliding, 3) / 6.0, 0.0, 0.1);
    integral += (simulation.state().position.head<3>() - expected).norm() * time_step;
  }
  return {integral, simulation.state().position[2] - 0.1};
}

TEST_F(CubeLaws, TheConeModelsErrorIsProportionalToTheTimeStep) {
  // LeLidec24 Fig. 11; the cube slides at the height Δt μ v.
  const double speed = 20.0 * std::pow(1.0 - friction * g / 20.0, 2) / 2.0;
  for (const OptionValues& margin : {OptionValues{}, OptionValues{{"contact_margin", 0.2}}}) {
    double coarse = 0.0;
    for (const double time_step : {1e-2, 1e-3, 2e-4}) {
      const auto [error, height] = error_of_dragging(time_step, margin);
      EXPECT_NEAR(height / (time_step * friction * speed), 1.0, 0.02) << time_step;
      EXPECT_NEAR(error / (0.74 * time_step), 1.0, 0.05) << time_step;
      if (coarse > 0.0) {
        EXPECT_LT(error, coarse / 4.0);
      }
      coarse = error;
    }
  }
}

/// The largest sideways force on a corner of a dragged cube that still sticks [N].
double sideways(const std::string& solver, const OptionValues& more) {
  OptionValues values = more;
  values.emplace("tolerance", 1e-9);
  auto simulation = cube("cube-dragged", solver, values);
  StepRecord last = step(simulation);
  while (simulation.state().time < 0.1) last = step(simulation);
  double largest = 0.0;
  for (Index c = 0; c < last.problem.cones().contacts(); ++c) {
    const Eigen::Vector3d force = simulation.mechanics().contacts[std::size_t(c)].frame *
                                  last.impulse.segment<3>(last.problem.cones().contact_row(c));
    largest = std::max(largest, std::abs(force.y()) / simulation.time_step());
  }
  return largest;
}

TEST_F(CubeLaws, SweepsLeaveInternalForcesInACubeThatSticksAndProximalMethodsDoNot) {
  // LeLidec24 Fig. 12: nothing pushes sideways.
  for (const char* solver : {"PGS-NCP", "PGS-CCP", "RAISIM", "NSGS"}) EXPECT_GT(sideways(solver, {}), 0.1) << solver;
  for (const char* solver : {"ADMM-CCP", "ADMM-NCP-SA", "STAGGERED"}) EXPECT_LT(sideways(solver, {}), 1e-3) << solver;
}

TEST_F(CubeLaws, TangentialComplianceTakesInternalForcesAway) {
  EXPECT_LT(sideways("NSGS", {{"tangential_compliance", 0.1}, {"max_iterations", 20000L}}), 1e-3);
}

TEST_F(CubeLaws, TangentialComplianceLetsABoxCreepByItsShareOfTheWeight) {
  // At rest each of four corners takes m g sin θ Δt / 4, and moves by R times that.
  const double slope = 10.0, dt = 0.01;
  for (const double compliance : {0.0, 1e-3, 1e-2}) {
    auto box = scene_of("box-on-plane", {{"slope", slope},
                                         {"speed", 0.0},
                                         {"time_step", dt},
                                         {"tolerance", 1e-11},
                                         {"tangential_compliance", compliance}});
    run(box, 0.2);
    const double mass = box.engine().body_masses().front();
    const double weight = mass * g * std::sin(slope * std::numbers::pi / 180.0);
    EXPECT_NEAR(box.state().velocity.head<3>().norm(), compliance * weight * dt / 4.0, 1e-9) << compliance;
  }
}

}  // namespace
}  // namespace conebench::simulation
