#include "solvers/batch/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/residuals.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/registry.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/side_by_side.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

ContactProblem scene(const std::string& id, const OptionValues& values = {}) {
  return (*require_scene(id))->make(values, 1).value();
}

/// Of several sizes and row units.
std::vector<ContactProblem> mixed() {
  return {scene("box-stack", {{"boxes", 3L}}), scene("known-solution", {{"contacts", 7L}}), scene("sliding-box"),
          scene("spinning-disc"), scene("joint-friction-pendulum")};
}

Vector zeros(const Batch& batch) { return Vector::Zero(batch.rows()); }

TEST(Batch, AnswersAreThoseOfEachProblemAloneToTheBitWithAnyNumberOfThreads) {
  const auto problems = mixed();
  for (const int threads : {1, 3}) {
    auto batch =
        Batch::create({.solver = "CASCADE", .stop = {1e-9, 100, StopBy::solver}, .threads = threads}, problems);
    ASSERT_TRUE(batch) << batch.error().message;
    Vector all(batch->rows());
    const auto answers = batch->solve(zeros(*batch), all);
    ASSERT_EQ(answers.size(), problems.size());
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const auto alone = std::move(find_solver("CASCADE")->make({})).value();
      ASSERT_TRUE(alone->prepare(problems[k]));
      SilentMonitor silent;
      Vector impulse(problems[k].rows());
      const auto summary = alone->solve(Vector::Zero(impulse.size()), {1e-9, 100, StopBy::solver}, silent, impulse);
      const Vector same = all.segment(batch->first_row(static_cast<Index>(k)), impulse.size());
      EXPECT_EQ(same, impulse) << k;
      EXPECT_EQ(answers[k].summary.iterations, summary.iterations);
      EXPECT_TRUE(answers[k].solved);
      EXPECT_LE(judge(problems[k], impulse)["natural_map_scaled"].value, 1e-9);
    }
  }
}

TEST(Batch, StopsByTheVerdictAndGivesTheSameBitsAgain) {
  auto batch = Batch::create({.solver = "NSGS", .stop = {1e-6, 20000, StopBy::judge}}, mixed());
  ASSERT_TRUE(batch) << batch.error().message;
  Vector first(batch->rows()), again(batch->rows());
  for (const BatchAnswer& answer : batch->solve(zeros(*batch), first)) {
    EXPECT_TRUE(answer.solved) << answer.summary.message;
    EXPECT_LE(answer.verdict, 1e-6);
    EXPECT_GT(answer.solve_s, 0.0);
  }
  batch->solve(zeros(*batch), again);
  EXPECT_EQ(first, again);
  // From the answers there is hardly anything left to do.
  for (const BatchAnswer& answer : batch->solve(first, again)) EXPECT_LE(answer.summary.iterations, 2);
}

TEST(Batch, JudgesIslandsByTheirOwnRows) {
  const auto one = scene("known-solution", {{"contacts", 7L}});
  const ContactProblem two = testing::side_by_side({testing::bare(one), testing::bare(scene("box-stack"))}, 1).whole;
  auto batch = Batch::create({.solver = "NSGS", .options = {{"islands", 1L}}, .stop = {1e-8, 20000, StopBy::judge}},
                             std::vector{two});
  ASSERT_TRUE(batch) << batch.error().message;
  Vector first(batch->rows()), again(batch->rows());
  for (Vector* const impulse : {&first, &again}) {
    const BatchAnswer& answer = batch->solve(zeros(*batch), *impulse)[0];
    EXPECT_TRUE(answer.solved) << answer.summary.message;
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  }
  EXPECT_EQ(first, again);
}

TEST(Batch, ASolverThatClaimsWhatTheJudgeDoesNotFindIsNotCredited) {
  auto batch =
      Batch::create({.solver = "PGS-CCP", .stop = {1e-8, 20000, StopBy::solver}}, std::vector{scene("sliding-box")});
  ASSERT_TRUE(batch) << batch.error().message;
  Vector impulse(batch->rows());
  const auto answers = batch->solve(zeros(*batch), impulse);
  EXPECT_EQ(answers[0].summary.status, SolveStatus::converged);
  EXPECT_FALSE(answers[0].solved);
  EXPECT_GT(answers[0].verdict, 1e-3);
}

TEST(Batch, WhatTheSolverDoesNotTakeIsSaidAndTheRestRun) {
  auto batch = Batch::create({.solver = "RAISIM", .stop = {1e-6, 1000, StopBy::solver}},
                             std::vector{scene("sliding-box"), scene("spinning-disc")});
  ASSERT_TRUE(batch) << batch.error().message;
  Vector impulse = Vector::Ones(batch->rows());
  const auto answers = batch->solve(zeros(*batch), impulse);
  EXPECT_GT(answers[0].summary.iterations, 0);
  EXPECT_EQ(answers[1].summary.status, SolveStatus::unsupported);
  EXPECT_FALSE(answers[1].summary.message.empty());
  EXPECT_FALSE(answers[1].solved);
  EXPECT_EQ(impulse.tail(scene("spinning-disc").rows()).norm(), 0.0);
}

TEST(Batch, OfNoProblemIsEmpty) {
  auto batch = Batch::create({.solver = "NSGS"}, {});
  ASSERT_TRUE(batch);
  Vector nothing(0);
  EXPECT_TRUE(batch->solve(nothing, nothing).empty());
}

TEST(Batch, SolvingAllocatesNothing) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  auto batch = Batch::create({.solver = "NSGS", .stop = {1e-6, 20000, StopBy::judge}}, mixed());
  ASSERT_TRUE(batch);
  Vector impulse(batch->rows());
  const Vector guess = zeros(*batch);
  batch->solve(guess, impulse);
  const long before = testing::allocation_count();
  batch->solve(guess, impulse);
  EXPECT_EQ(testing::allocation_count(), before);
}

TEST(Batch, WrongWordsAreErrors) {
  const auto problems = std::vector{scene("sliding-box")};
  const auto error = [&](const BatchOptions& options) {
    const auto batch = Batch::create(options, problems);
    return batch ? std::string() : batch.error().message;
  };
  EXPECT_THAT(error({.solver = "NSG"}), HasSubstr("NSG"));
  EXPECT_THAT(error({.solver = "NSGS", .options = {{"relax", 1.0}}}), HasSubstr("relax"));
  EXPECT_THAT(error({.solver = "NSGS", .verdict = "good"}), HasSubstr("good"));
  EXPECT_THAT(error({.solver = "NSGS", .threads = 0}), HasSubstr("threads"));
}

}  // namespace
}  // namespace conebench
