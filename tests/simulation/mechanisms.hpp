#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "simulation/scene_plan.hpp"
#include "simulation/simulation.hpp"

namespace conebench::simulation::testing {

/// The world's content in a whole model.
inline std::string world(const std::string& bodies, const std::string& rest = "") {
  return "<mujoco><compiler angle=\"radian\"/><size nuser_geom=\"1\"/><option gravity=\"0 0 -9.81\" "
         "cone=\"elliptic\"/><worldbody>" +
         bodies + "</worldbody>" + rest + "</mujoco>";
}

inline std::string keyframe(const std::string& qpos, const std::string& qvel, const std::string& ctrl = "") {
  return "<keyframe><key qpos=\"" + qpos + "\" qvel=\"" + qvel + "\"" + (ctrl.empty() ? "" : " ctrl=\"" + ctrl + "\"") +
         "/></keyframe>";
}

/// A simulation of this model; stops the test program where it cannot be made.
inline Simulation simulation_of(const std::string& mjcf, double time_step, SimulationOptions options = {}) {
  SimulatedModel model;
  model.mjcf = mjcf;
  options.time_step = time_step;
  options.tolerance = options.tolerance == SimulationOptions{}.tolerance ? 1e-12 : options.tolerance;
  auto made = Simulation::create(model, options, 1, "test", "test");
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

/// A simulation of elastic bodies, which nothing drives.
inline Simulation soft_simulation(SoftModel soft, const SimulationOptions& options) {
  SimulatedModel model;
  model.control = "none";
  model.soft = std::move(soft);
  auto made = Simulation::create(model, options, 1, "test", "test");
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

/// A simulation of a built-in scene.
inline Simulation scene_of(const std::string& id, const OptionValues& values) {
  const auto plan = plan_scene(**require_simulated_scene(id), values, 1);
  if (!plan) throw std::runtime_error(plan.error().message);
  auto made = simulate(*plan);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

inline StepRecord step(Simulation& simulation) {
  auto record = simulation.step();
  if (!record) throw std::runtime_error(record.error().message);
  return std::move(*record);
}

/// Up to `time` [s].
inline void run(Simulation& simulation, double time) {
  const auto steps = std::lround(time / simulation.time_step());
  for (long k = 0; k < steps; ++k) step(simulation);
}

/// Skips a test where this build has no MuJoCo.
class WithMujoco : public ::testing::Test {
 protected:
  void SetUp() override {
    if (engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  }
};

/// Errors at Δt, Δt/2, Δt/4 and Δt/8: each must be half of the one before, within a tenth.
template <class ErrorAt>
void expect_halving(double time_step, ErrorAt error_at) {
  double coarse = error_at(time_step);
  for (int refinement = 0; refinement < 3; ++refinement) {
    time_step /= 2.0;
    const double fine = error_at(time_step);
    EXPECT_NEAR(fine / coarse, 0.5, 0.05) << "at a time step of " << time_step << ": " << coarse << " -> " << fine;
    coarse = fine;
  }
}

}  // namespace conebench::simulation::testing
