#include <gtest/gtest.h>

#include "simulation/engine.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

TEST(LoopCommand, StepsBothEnginesAndSaysWhatAStepIsMadeOf) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const Outcome run = conebench({"loop", "cube-sliding", "--steps", "20", "--rounds", "2", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = run.json();
  for (const char* const engine : {"loop", "peer"}) {
    SCOPED_TRACE(engine);
    EXPECT_TRUE(json[engine]["finished"]);
    EXPECT_EQ(json[engine]["steps"], 20);
    // The peer counts a contact only where the cube lies deeper than its soft constraint lifts it.
    EXPECT_GT(json[engine]["contacts"], 0.0);
    EXPECT_LE(json[engine]["contacts"], 4.0);
    EXPECT_NEAR(json[engine]["steps_per_s"].get<double>() * json[engine]["step_ms"].get<double>(), 1000.0, 1e-6);
  }
  const auto& loop = json["loop"];
  double parts = 0.0;
  for (const char* const part : {"assembly_ms", "collision_ms", "setup_ms", "solve_ms", "rest_ms"}) {
    parts += loop[part].get<double>();
  }
  EXPECT_LE(parts, loop["step_ms"].get<double>() * (1.0 + 1e-9)) << "of each part the shortest counts";
  EXPECT_NEAR(json["ratio"].get<double>(),
              loop["steps_per_s"].get<double>() / json["peer"]["steps_per_s"].get<double>(), 1e-9);
}

TEST(LoopCommand, ABlowUpEndsTheOneThatHasIt) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const Outcome run =
      conebench({"loop", "cube-sliding", "--steps", "20", "--rounds", "1", "--set", "max_speed=1", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_FALSE(run.json()["loop"]["finished"]);
  EXPECT_EQ(run.json()["loop"]["steps"], 0);
}

TEST(LoopCommand, SaysWhatItCannotTake) {
  expect_failure(conebench({"loop", "cube-slidin"}), 2, {"cube-slidin"});
  EXPECT_EQ(conebench({"loop", "--help"}).out.find("--plugin"), std::string::npos) << "solvers of the build alone";
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  expect_failure(conebench({"loop", "cube-sliding", "--set", "solver=NSGG"}), 2, {"NSGG"});
}

}  // namespace
}  // namespace conebench::testing
