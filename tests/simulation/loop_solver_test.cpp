// Solvers of one's own and of other libraries in the loop, and what becomes of a step that they do not solve.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "solvers/registry.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* apart_id = "APART";

struct ApartOptions {
  std::string mode = "solve";
};

void declare_options(OptionBinder& bind, ApartOptions& o) {
  bind.choice("mode", o.mode, {"solve", "crash", "exit", "throw", "hang", "refuse", "zeros"}, "what it does");
}

/// NSGS as a library of others, which goes wrong on request.
class Apart final : public Solver {
 public:
  Apart(SolverInfo info, std::string mode)
      : info_(std::move(info)), mode_(std::move(mode)), solver_((*require_solver("NSGS"))->make({}).value()) {}

  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }
  Result<void> prepare(const ContactProblem& problem) override {
    if (mode_ == "refuse") return Error{ErrorCode::unsupported, "takes nothing"};
    return solver_->prepare(problem);
  }
  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    if (mode_ == "crash") {
      std::fputs("last words\n", stderr);
      std::abort();
    }
    if (mode_ == "exit") std::exit(3);
    if (mode_ == "throw") throw std::runtime_error("no luck");
    while (mode_ == "hang") ::pause();
    if (mode_ == "zeros") {
      impulse.setZero();
      SolveSummary summary;
      summary.status = SolveStatus::converged;
      return summary;
    }
    return solver_->solve(guess, stop, monitor, impulse);
  }

 private:
  SolverInfo info_;
  std::string mode_;
  std::unique_ptr<Solver> solver_;
};

SolverInfo apart_info() {
  SolverInfo info;
  info.id = apart_id;
  info.name = "NSGS that goes wrong on request";
  info.own_process = true;
  return info;
}

const bool added = [] {
  return add_solver(make_row<ApartOptions>(apart_info(),
                                           [](const SolverInfo& info, const ApartOptions& options) {
                                             return std::make_unique<Apart>(info, options.mode);
                                           }))
      .ok();
}();

OptionValues apart(const std::string& mode, OptionValues more = {}) {
  more["solver"] = std::string(apart_id);
  more["solver_options"] = "mode=" + mode;
  return more;
}

class LoopSolvers : public WithMujoco {
 protected:
  void SetUp() override {
    WithMujoco::SetUp();
    ASSERT_TRUE(added);
  }
};

TEST_F(LoopSolvers, OneInAProcessOfItsOwnComesToTheSameBits) {
  auto here = scene_of("cube-sliding", {});
  auto there = scene_of("cube-sliding", apart("solve"));
  for (int k = 0; k < 20; ++k) {
    const StepRecord expected = step(here), record = step(there);
    EXPECT_EQ(record.impulse, expected.impulse) << "step " << k + 1;
    EXPECT_EQ(record.summary.iterations, expected.summary.iterations) << "the warm start goes there, too";
    EXPECT_TRUE(record.solved);
  }
  EXPECT_EQ(there.solver(), "APART");
  EXPECT_TRUE(there.notes().empty());
}

TEST_F(LoopSolvers, WhatEndsItsProcessLeavesAnUnsolvedStep) {
  for (const auto& [mode, reason] :
       {std::pair("crash", "signal 6 (Aborted): last words"), {"exit", "exit code 3"}, {"throw", "no luck"}}) {
    auto simulation = scene_of("cube-sliding", apart(mode));
    for (int k = 0; k < 3; ++k) {
      const StepRecord record = step(simulation);
      EXPECT_EQ(record.summary.status, SolveStatus::breakdown) << mode;
      EXPECT_EQ(record.summary.breakdown, Breakdown::error) << mode;
      EXPECT_THAT(record.summary.message, HasSubstr(reason));
      EXPECT_FALSE(record.solved) << mode;
      EXPECT_TRUE(record.impulse.isZero(0.0)) << "the start's impulses, of which the first step has none";
      EXPECT_GT(record.residual, 1e-3) << mode;
    }
    EXPECT_THAT(simulation.notes(),
                Contains(AllOf(HasSubstr("gave no answer in 3 steps; the first is step 1: "), HasSubstr(reason))));
  }
}

TEST_F(LoopSolvers, WhatTakesTooLongLeavesAnUnsolvedStep) {
  auto simulation = scene_of("cube-sliding", apart("hang", {{"solver_time_limit", 1e-3}}));
  const StepRecord record = step(simulation);
  EXPECT_EQ(record.summary.status, SolveStatus::time_limit);
  EXPECT_FALSE(record.solved);
}

TEST_F(LoopSolvers, AProblemThatItsCodeRefusesEndsTheRunWithTheReason) {
  auto simulation = scene_of("cube-sliding", apart("refuse"));
  const auto record = simulation.step();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, ErrorCode::unsupported);
  EXPECT_THAT(record.error().message, AllOf(HasSubstr("step 1"), HasSubstr("takes nothing")));
}

TEST_F(LoopSolvers, TheJudgeDecidesWhetherAStepIsSolved) {
  auto believed = scene_of("cube-sliding", apart("zeros", {{"stop_by", std::string("solver")}}));
  EXPECT_TRUE(step(believed).solved);
  auto judged = scene_of("cube-sliding", apart("zeros"));
  const StepRecord record = step(judged);
  EXPECT_EQ(record.summary.status, SolveStatus::converged) << "so it says";
  EXPECT_FALSE(record.solved);
  EXPECT_FALSE(judged.end_after(record)) << "the loop goes on";
  EXPECT_EQ(step(judged).step, 2);

  auto frictionless = scene_of("cube-sliding", apart("zeros", {{"fallback", std::string("frictionless")}}));
  EXPECT_EQ(step(frictionless).fallback, Fallback::frictionless);
  auto crashes = scene_of("cube-sliding", apart("crash", {{"fallback", std::string("frictionless")}}));
  EXPECT_EQ(step(crashes).fallback, Fallback::failed);

  auto stops = scene_of("cube-sliding", apart("zeros", {{"fallback", std::string("stop")}}));
  const auto end = stops.end_after(step(stops));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, ErrorCode::bad_input);
  EXPECT_THAT(end->message, AllOf(HasSubstr("step 1 (t = 0 s): not solved by APART mode=zeros (converged; residual "),
                                  HasSubstr("tolerance 1e-08")));
  auto solves = scene_of("cube-sliding", {{"fallback", std::string("stop")}});
  EXPECT_FALSE(solves.end_after(step(solves)));
}

TEST_F(LoopSolvers, ARunThatStopsKeepsTheStepThatStoppedIt) {
  auto simulation = scene_of("cube-sliding", apart("zeros", {{"fallback", std::string("stop")}}));
  std::vector<long> taken;
  SamplingWatch watch;
  watch.sample = [&](const StepRecord& record) -> Result<void> {
    taken.push_back(record.step);
    return {};
  };
  SamplingSummary summary;
  SampleOptions every_tenth;
  every_tenth.every = 10;
  EXPECT_FALSE(sample(simulation, 20, 1e-8, every_tenth, watch, summary));
  EXPECT_EQ(taken, std::vector{1L});
  EXPECT_EQ(summary.steps, 1);
}

TEST_F(LoopSolvers, OneThatTheCallerMadeSolvesHere) {
  const auto plan = plan_scene(**require_simulated_scene("cube-sliding"), {}, 1);
  ASSERT_TRUE(plan);
  SolverInfo info = apart_info();
  info.id = "MINE";
  auto made = simulate(*plan, std::make_unique<Apart>(info, "solve"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->solver(), "MINE");
  auto expected = scene_of("cube-sliding", {});
  for (int k = 0; k < 5; ++k) {
    const StepRecord record = step(*made);
    EXPECT_EQ(record.impulse, step(expected).impulse);
    EXPECT_EQ(record.problem.reference()->source, "MINE");
  }
}

TEST_F(LoopSolvers, SiconosMovesTheCubeAsNsgs) {
  if (find_solver("SICONOS-NSGS") == nullptr) GTEST_SKIP() << "this build has no Siconos";
  auto theirs = scene_of("cube-sliding", {{"solver", std::string("SICONOS-NSGS")}});
  auto ours = scene_of("cube-sliding", {});
  for (int k = 0; k < 20; ++k) {
    const StepRecord record = step(theirs);
    EXPECT_TRUE(record.solved) << record.summary.message;
    step(ours);
  }
  EXPECT_TRUE(theirs.state().velocity.isApprox(ours.state().velocity, 1e-6));
}

}  // namespace
}  // namespace conebench::simulation
