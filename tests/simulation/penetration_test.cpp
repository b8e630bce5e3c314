#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class Penetration : public WithMujoco {};

/// Of ‖f(s)‖∞ [m, rad] with CASCADE in the loop over 300 steps: two to four times what was measured, 10 µm where that
/// was below 1 µm; more of the stack, whose missed steps are rounding's. `conebench paper own-loops --full`
/// measures it over 2,000 steps, with NSGS and ADMM-NCP-SA as well.
double bound_of(const std::string& scene) {
  const std::map<std::string, double> larger = {
      {"nunchuk", 6e-4}, {"lima-like", 1e-4}, {"ironman-like", 1e-4}, {"cube-stack-hit", 1e-4},
      {"hoist", 1e-4},   {"net", 2e-3},       {"ring", 3e-4}};
  const auto found = larger.find(scene);
  return found == larger.end() ? 1e-5 : found->second;
}

TEST_F(Penetration, StaysUnderEachScenesOwnBoundWithCascadeInTheLoop) {
  int scenes = 0;
  for (const SimulatedSceneRow& row : simulated_scene_table()) {
    if (row.id == "file" || row.elastic || row.id.starts_with("fclib-")) continue;  // those take minutes
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
    EXPECT_THAT(loop.notes(), ::testing::Each(::testing::Not(::testing::HasSubstr("overlap"))));
    // Rounding decides which steps of the stack CASCADE misses: 2 where built for this processor, 12 where for any.
    EXPECT_LE(unsolved, row.id == "cube-stack-hit" ? 15 : 1);
    ++scenes;
  }
  EXPECT_GE(scenes, 20);
}

}  // namespace
}  // namespace conebench::simulation
