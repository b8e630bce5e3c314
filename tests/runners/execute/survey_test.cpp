#include "runners/execute/survey.hpp"

#include <gmock/gmock.h>

#include "tests/runners/execute/no_more_descriptors.hpp"
#include "tests/runners/execute/stopped_children.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"

namespace conebench {
namespace {

class Survey : public testing::SweepTest {
 protected:
  const Suite boxes = suite(R"({
    "name": "boxes", "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2]}}], "solvers": ["MISBEHAVE"]})");
  const std::vector<ProblemSource> sources = *list_sources(boxes, {}, {});
  const SurveyPlan plan{boxes, folder, false, {}, true};
};

TEST_F(Survey, LooksAtEverySource) {
  for (const SurveyedProblem& problem : survey_sources(plan, sources, 2, nullptr, progress)) {
    EXPECT_TRUE(problem.loaded);
  }
}

TEST_F(Survey, AProcessThatTheSystemRefusesSaysNothingOfAFile) {
  const testing::NoMoreDescriptors refused;
  const auto surveyed = survey_sources(plan, sources, 2, nullptr, progress);
  ASSERT_EQ(surveyed.size(), 2U);
  for (const SurveyedProblem& problem : surveyed) {
    EXPECT_FALSE(problem.loaded);
    EXPECT_TRUE(problem.killed);
  }
}

TEST_F(Survey, AProcessThatABusyMachineKeepsWaitingSaysNothingOfAFile) {
  Suite hurried = boxes;
  hurried.limits.load_seconds = 0.1;
  const std::atomic<bool> busy = true;
  const testing::StoppedChildren stopped(busy);
  const auto surveyed = survey_sources({hurried, folder, false, {}, true}, sources, 2, nullptr, progress);
  ASSERT_EQ(surveyed.size(), 2U);
  for (const SurveyedProblem& problem : surveyed) {
    EXPECT_TRUE(problem.killed);
  }
}

}  // namespace
}  // namespace conebench
