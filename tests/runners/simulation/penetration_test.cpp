#include <algorithm>
#include <map>
#include <string>

#include "problems/scenes/simulated/simulated_scene.hpp"
#include "runners/simulation/scene_plan.hpp"
#include "tests/runners/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class Penetration : public WithMujoco {};

/// Of ‖f(s)‖∞ [m, rad], as docs/simulated_scenes.md states it.
double bound_of(const std::string& scene) {
  const std::map<std::string, double> larger = {
      {"lima-like", 5e-3}, {"walker-like", 3e-2}, {"cube-stack-hit", 1e-2}, {"hand", 5e-2}, {"net", 3e-2}};
  const auto found = larger.find(scene);
  return found == larger.end() ? 1e-3 : found->second;
}

TEST_F(Penetration, StaysUnderTheStatedBoundOfEachScene) {
  int scenes = 0;
  for (const SimulatedSceneRow& row : simulated_scene_table()) {
    if (row.id == "file" || row.id.starts_with("fclib-")) continue;  // those take minutes
    SCOPED_TRACE(row.id);
    const OptionValues options = {
        {"solver", "CASCADE"}, {"tolerance", 1e-6}, {"max_iterations", 1000L}, {"start", "previous"}};
    Simulation loop = simulate(plan_scene(row, options, 1).value()).value();
    double worst = 0.0;
    int unsolved = 0;
    for (int k = 0; k < 300; ++k) {
      const StepRecord record = step(loop);
      worst = std::max(worst, record.configuration_residual);
      unsolved += record.residual > 1e-6 ? 1 : 0;
    }
    EXPECT_LE(worst, bound_of(row.id));
    // Rounding decides which steps of the stack CASCADE misses: 2 where built for this processor, 12 where for any.
    EXPECT_LE(unsolved, 15);
    ++scenes;
  }
  EXPECT_GE(scenes, 20);
}

}  // namespace
}  // namespace conebench::simulation
