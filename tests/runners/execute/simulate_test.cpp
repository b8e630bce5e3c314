#include "runners/execute/simulate.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "fclib_loader/fclib_file.hpp"
#include "simulation/engine.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/suite_scope.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Simulate : public testing::SweepTest {
 protected:
  void SetUp() override {
    if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  }
  void TearDown() override { unsetenv("CONEBENCH_TEST_MODE"); }

  static SampledSimulation plan(const OptionValues& options) {
    const auto scene = std::ranges::find(simulation::sampled_scenes(), "box-on-plane", &SampledScene::id);
    auto made = scene->plan(options, 1);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(*made);
  }
  /// With a solver in the loop that misbehaves.
  std::string error_with(const std::string& mode, SuiteLimits limits = {}) const {
    setenv("CONEBENCH_TEST_MODE", mode.c_str(), 1);
    const auto made = isolated_samples(limits, nullptr)(
        folder / mode, plan({{"solver", std::string("MISBEHAVE")}, {"tolerance", 1e-6}}), 5);
    if (made) return "no error";
    EXPECT_EQ(made.error().code, ErrorCode::bad_input);
    EXPECT_EQ(made.error().message.find('\n'), std::string::npos);
    return made.error().message;
  }
};

TEST_F(Simulate, GivesTheSameFilesAsInThisProcess) {
  const SampledSimulation sliding = plan({{"every", 2L}});
  const auto made = isolated_samples({}, nullptr)(folder / "apart", sliding, 6);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(sliding.make(folder / "here", 6, nullptr));
  const auto list = sliding.made(folder / "apart");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->files.size(), 3U);
  for (const std::string& file : list->files) {
    EXPECT_EQ(load_fclib(folder / "apart" / file)->data_hash(), load_fclib(folder / "here" / file)->data_hash());
  }
}

TEST_F(Simulate, ACrashIsAnErrorThatTellsTheSceneAndTheSignal) {
  EXPECT_THAT(error_with("abort"), AllOf(HasSubstr("box-on-plane"), HasSubstr("crashed"), HasSubstr("signal 6")));
  EXPECT_THAT(error_with("exit"), HasSubstr("exit code 1"));
}

TEST_F(Simulate, AThrowIsAnError) { EXPECT_THAT(error_with("throw"), HasSubstr("thrown on request")); }

TEST_F(Simulate, EndsAtItsLimits) {
  SuiteLimits limits;
  limits.simulation_seconds = 0.3;
  EXPECT_THAT(error_with("hang", limits), HasSubstr("limits.simulation_seconds"));
  limits.simulation_seconds = 60;
  limits.memory_mb = 300;
  EXPECT_THAT(error_with("leak", limits), HasSubstr("300 MB"));
}

TEST_F(Simulate, ASweepGoesOnWithoutTheSceneThatCrashes) {
  setenv("CONEBENCH_TEST_MODE", "abort", 1);
  const Suite what = suite(R"({"name": "one-crashes", "solvers": ["NSGS"], "problems": [
      {"scene": "box-on-plane", "steps": 4, "options": {"solver": "MISBEHAVE"}},
      {"scene": "box-on-plane", "steps": 4, "every": 2}]})");
  Store store = open_store();
  const SweepOutcome outcome = sweep(what, store);
  EXPECT_EQ(outcome.bad_problems, 1);
  EXPECT_EQ(outcome.run, 3) << "the failed one has its cell, too";
  EXPECT_EQ(outcome.solved, 2);
  EXPECT_THAT(progress.notes, Contains(AllOf(HasSubstr("box-on-plane_solver=MISBEHAVE"), HasSubstr("signal 6"))));
}

TEST_F(Simulate, AFamilyThatTheFilterLeavesOutIsNeitherSimulatedNorAskedFor) {
  const Suite two = suite(R"({"name": "two", "solvers": ["NSGS"], "problems": [
      {"scene": "box-on-plane", "steps": 4}, {"scene": "box-stack"}]})");
  Store store = open_store();
  options.filter = "family=box-stack";
  EXPECT_EQ(sweep(two, store).cells, 1);
  EXPECT_THAT(progress.notes, ::testing::Not(Contains(HasSubstr("simulating"))));
  const StoreContents part = present_contents(*store.read());
  EXPECT_EQ(part.suites.at(0).cells(), 1);
  EXPECT_EQ(part.suites.at(0).present.size(), 1U);
  options.filter.clear();
  EXPECT_EQ(sweep(two, store).cells, 5);
  const StoreContents whole = present_contents(*store.read());
  EXPECT_EQ(whole.suites.at(0).present.size(), 5U);
  EXPECT_TRUE(whole.suites.at(0).missing.empty());
}

TEST_F(Simulate, ADryRunCountsTheWarmCellsBeforeTheFilteredOneAsTheRunDoes) {
  const Suite warm = suite(R"({"name": "warm", "solvers": ["NSGS"], "start": ["cold", "previous"], "problems": [
      {"scene": "box-on-plane", "steps": 8, "every": 2}, {"scene": "two-cubes", "steps": 4}]})");
  options.filter = "problem=box-on-plane_step=00006";
  const auto before = dry_run(warm, {}, options, progress);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->cells, 4) << "cold at step 6, warm at 2, 4 and 6";
  EXPECT_EQ(before->problems, 3);
  EXPECT_EQ(before->pending, 3);
  Store store = open_store();
  const SweepOutcome outcome = sweep(warm, store);
  EXPECT_EQ(outcome.cells, before->cells);
  EXPECT_EQ(outcome.problems, before->problems);
  const auto after = dry_run(warm, *store.read_outcomes(), options, progress);
  EXPECT_EQ(after->cells, before->cells);
  EXPECT_EQ(after->resumed, before->cells);
}

TEST_F(Simulate, ASuiteTakesTheCategoriesItAsksFor) {
  Store store = open_store();
  const SweepOutcome outcome = sweep(suite(R"({"name": "dense", "solvers": ["NSGS"], "problems": [
      {"scene": "box-on-plane", "steps": 4, "category": "dense contacts"},
      {"scene": "two-cubes", "steps": 2, "category": "single contact"},
      {"scene": "box-stack", "conditioning": [1, 1.0001]}]})"),
                                     store);
  EXPECT_EQ(outcome.cells, 4);
  const auto contents = store.read();
  for (const ProblemRecord& problem : contents->problems) EXPECT_EQ(problem.category, "dense contacts");
}

}  // namespace
}  // namespace conebench
