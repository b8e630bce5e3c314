#include "runners/execute/solve_cell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "metrics/residuals.hpp"
#include "runners/execute/cell_run.hpp"
#include "solvers/registry.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

// The table of solvers is made on its first use, after this.
const bool with_test_solvers = setenv("CONEBENCH_TEST_SOLVERS", "1", 1) == 0;

CellRequest request_for(const std::string& mode) {
  CellRequest request;
  request.solver = "MISBEHAVE";
  request.options = {{"mode", mode}};
  request.tolerance = 1e-6;
  request.seconds = 5.0;
  request.repeats = {3, 0.0, 5};
  return request;
}

ContactProblem stack() { return testing::make_problem("box-stack", {{"boxes", 2L}}); }

/// Two contacts apart from each other, with an asymmetric coupling.
ContactProblem asymmetric() {
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, {0.5, 0.5});
  Matrix g = Matrix::Identity(6, 6);
  g(0, 3) = 0.02;
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Constant(6, -1.0);
  data.free_term[0] = data.free_term[3] = 0.3;
  return *ContactProblem::create(std::move(data));
}

TEST(SolveCell, ASolvedCellIsRepeatedAndJudged) {
  const auto cell = solve_cell(stack(), request_for("none"));
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->status, CellStatus::converged) << cell->reason;
  EXPECT_TRUE(cell->claimed);
  EXPECT_TRUE(cell->solved);
  EXPECT_EQ(cell->repeats, 3);
  ASSERT_TRUE(cell->verdict_value);
  EXPECT_LE(*cell->verdict_value, 1e-6);
  EXPECT_EQ(cell->residuals.size(), residual_table().size());
  EXPECT_EQ(cell->residuals.at("natural_map_scaled").value, cell->verdict_value);
  EXPECT_GT(cell->solve.minimum, 0.0);
  EXPECT_LE(cell->solve.minimum, cell->solve.median);
  EXPECT_GE(cell->total.minimum, cell->solve.minimum);
  EXPECT_GT(cell->judge_s, 0.0);
  EXPECT_EQ(cell->open + cell->stick + cell->slip, 8);
}

TEST(SolveCell, WhatTheJudgeAloneCallsSolvedIsRepeated) {
  const ContactProblem problem = stack();
  Verdict verdict = *Verdict::create("natural_map_scaled", problem);
  CellRequest request;
  request.solver = "NSGS";
  double least = std::numeric_limits<double>::infinity();
  // The first iterate with a residual that double rounds up, and below those of the iterates before.
  for (long k = 1; k <= 100; ++k) {
    request.tolerance = 1e-300;
    request.max_iterations = k;
    request.repeats = {1, 0.0, 1};
    const auto cell = solve_cell(problem, request);
    ASSERT_TRUE(cell && cell->verdict_value);
    const double plain = verdict(Eigen::Map<const Vector>(cell->reaction.data(), problem.rows()));
    if (plain > *cell->verdict_value && least > *cell->verdict_value) {
      request.tolerance = *cell->verdict_value;
      request.repeats = {3, 0.0, 3};
      const auto again = solve_cell(problem, request);
      ASSERT_TRUE(again);
      EXPECT_TRUE(again->solved);
      EXPECT_EQ(again->status, CellStatus::max_iterations) << "the checks are in double";
      EXPECT_GE(again->repeats, 3);
      return;
    }
    least = std::min(least, plain);
  }
  FAIL() << "double rounds no residual up";
}

TEST(SolveCell, RepeatsGoOnUntilTheWantedTimeOrCount) {
  auto request = request_for("none");
  request.repeats = {2, 1e6, 7};
  const auto cell = solve_cell(stack(), request);
  ASSERT_TRUE(cell);
  EXPECT_GE(cell->repeats, 7);  // more where the core was shared meanwhile
}

TEST(SolveCell, AnUnsolvedCellRunsOnce) {
  auto request = request_for("none");
  request.max_iterations = 1;
  const auto cell = solve_cell(stack(), request);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->status, CellStatus::max_iterations);
  EXPECT_FALSE(cell->claimed);
  EXPECT_FALSE(cell->solved);
  EXPECT_EQ(cell->repeats, 1);
}

TEST(SolveCell, AStalledCellSaysWhatStandsStill) {
  struct Case {
    std::string solver;
    OptionValues options;
    std::string reason;
  };
  const std::string rounding = "no step beyond rounding for many iterations";
  const std::string option = "its step fell below the option stall";
  for (const Case& one : {Case{"PGS-CCP", {}, rounding},
                          {"NSGS", {}, rounding},
                          {"NEWTON-CCP", {{"r_alpha", 1e-6}}, rounding},
                          {"NSN-AC", {}, rounding},
                          {"NSGS", {{"stall", 0.5}}, option},
                          {"ADMM-CCP", {{"stall", 0.5}}, option},
                          {"APGD-CCP", {{"stall", 0.5}}, option},
                          {"STAGGERED", {{"stall", 0.5}}, option},
                          {"CASCADE", {}, "nothing is left that it could try"}}) {
    CellRequest request;
    request.solver = one.solver;
    request.options = one.options;
    request.tolerance = 1e-300;
    request.stop_by = StopBy::judge;
    request.max_iterations = 100'000;
    request.seconds = 20.0;
    // On the stack its last digits go round in a circle.
    const bool alone = one.solver == "NSN-AC";
    const auto cell = solve_cell(alone ? testing::make_problem("sliding-box", {}) : stack(), request);
    ASSERT_TRUE(cell) << one.solver;
    EXPECT_EQ(cell->status, CellStatus::stalled) << one.solver;
    EXPECT_EQ(cell->reason, one.reason) << one.solver;
  }
}

TEST(SolveCell, TheDeadlineEndsASolve) {
  auto request = request_for("none");
  request.options["step"] = 0.0;
  request.max_iterations = 1'000'000'000;
  request.seconds = 0.05;
  const auto cell = solve_cell(stack(), request);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->status, CellStatus::time_limit);
  EXPECT_FALSE(cell->solved);
  EXPECT_GE(cell->total.cold, 0.05);
}

TEST(SolveCell, AGoodAnswerAfterTheDeadlineIsJudgedAndNotSolved) {
  for (const StopBy stop_by : {StopBy::solver, StopBy::judge, StopBy::judge_timed}) {
    auto request = request_for("none");
    request.solver = "CASCADE";
    request.options = {};
    request.stop_by = stop_by;
    request.seconds = 1e-9;
    const auto cell = solve_cell(stack(), request);
    ASSERT_TRUE(cell);
    EXPECT_EQ(cell->status, CellStatus::time_limit);
    EXPECT_FALSE(cell->claimed);
    EXPECT_FALSE(cell->solved);
    EXPECT_TRUE(cell->verdict_value.has_value());
    EXPECT_EQ(cell->repeats, 1);
  }
}

TEST(SolveCell, ALieIsOnRecordAndNotBelieved) {
  auto request = request_for("lie");
  request.stop_by = StopBy::solver;
  const auto cell = solve_cell(stack(), request);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->status, CellStatus::converged);
  EXPECT_TRUE(cell->claimed);
  EXPECT_FALSE(cell->solved);
  EXPECT_TRUE(cell->own_residual_known);
}

TEST(SolveCell, NanIsNeverSolvedAndItsResidualsAreNull) {
  const auto cell = solve_cell(stack(), request_for("nan"));
  ASSERT_TRUE(cell);
  EXPECT_TRUE(cell->claimed);
  EXPECT_FALSE(cell->solved);
  EXPECT_FALSE(cell->verdict_value);
  EXPECT_FALSE(cell->residuals.at("natural_map").value);
  EXPECT_EQ(cell->reason, "the answer is not finite");
}

TEST(SolveCell, ARepeatWithOtherBitsIsFlaky) {
  const auto cell = solve_cell(stack(), request_for("random"));
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->status, CellStatus::flaky);
  EXPECT_NE(cell->reason.find("run 2"), std::string::npos) << cell->reason;
}

TEST(SolveCell, WhatASolverThrowsIsTheCellsStatus) {
  const auto thrown = solve_cell(stack(), request_for("throw"));
  ASSERT_TRUE(thrown);
  EXPECT_EQ(thrown->status, CellStatus::crashed);
  EXPECT_EQ(thrown->reason, "exception: thrown on request");
#if !defined(__SANITIZE_ADDRESS__)  // which aborts in place of std::bad_alloc
  const auto huge = solve_cell(stack(), request_for("huge"));
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->status, CellStatus::out_of_memory);
#endif
}

TEST(SolveCell, AnUnknownSolverOptionOrVerdictIsWrongUsage) {
  auto request = request_for("none");
  request.solver = "NOBODY";
  EXPECT_EQ(solve_cell(stack(), request).error().code, ErrorCode::wrong_usage);
  request = request_for("none");
  request.options["stepp"] = 1.0;
  EXPECT_EQ(solve_cell(stack(), request).error().code, ErrorCode::wrong_usage);
  request = request_for("none");
  request.verdict = "primal";
  EXPECT_EQ(solve_cell(stack(), request).error().code, ErrorCode::wrong_usage);
}

TEST(SolveCell, AProblemWithoutConstraintsIsSolvedInNoIterations) {
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, {});
  data.delassus = make_dense_delassus(Matrix(0, 0));
  data.free_term = Vector(0);
  const auto problem = ContactProblem::create(std::move(data));
  ASSERT_TRUE(problem);
  for (const SolverRow& row : solver_table()) {
    auto request = request_for("none");
    request.solver = row.info.id;
    request.options = {};
    const auto cell = solve_cell(*problem, request);
    ASSERT_TRUE(cell);
    EXPECT_TRUE(cell->solved) << row.info.id;
    EXPECT_EQ(cell->iterations, 0);
  }
}

TEST(SolveCell, AWarmStartNeedsAGuess) {
  auto request = request_for("none");
  request.start = Start::guess;
  const auto without = solve_cell(stack(), request);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->status, CellStatus::unsupported);

  // From the answer itself, one sweep is enough.
  ContactProblemData data;
  data.cones = asymmetric().cones();
  data.delassus = make_dense_delassus(Matrix::Identity(6, 6));
  data.free_term = asymmetric().free_term();
  const auto cold_problem = ContactProblem::create(data);
  request.start = Start::cold;
  const auto cold = solve_cell(*cold_problem, request);
  ASSERT_TRUE(cold);
  ASSERT_TRUE(cold->solved);
  data.guess = Eigen::Map<const Vector>(cold->reaction.data(), 6);
  const auto warm_problem = ContactProblem::create(data);
  request.start = Start::guess;
  const auto warm = solve_cell(*warm_problem, request);
  ASSERT_TRUE(warm);
  EXPECT_TRUE(warm->solved);
  EXPECT_EQ(warm->start, "guess");
  EXPECT_LT(warm->iterations, cold->iterations);
}

TEST(SolveCell, TwoCallsGiveTheSameBits) {
  const auto problem = testing::make_problem("random");
  for (const auto stop_by : {StopBy::judge, StopBy::judge_timed}) {
    auto request = request_for("none");
    request.stop_by = stop_by;
    const auto first = solve_cell(problem, request);
    const auto second = solve_cell(problem, request);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->reaction, second->reaction);
    EXPECT_EQ(first->iterations, second->iterations);
  }
}

TEST(SolveCell, ATraceEndsAtTheSameIterate) {
  std::string csv;
  const auto traced = solve_cell(stack(), request_for("none"), &csv);
  const auto plain = solve_cell(stack(), request_for("none"));
  ASSERT_TRUE(traced && plain);
  EXPECT_EQ(traced->status, CellStatus::converged);
  EXPECT_EQ(traced->reaction, plain->reaction);
  std::istringstream lines(csv);
  std::string line, last;
  long count = -1;
  while (std::getline(lines, line)) last = line, ++count;
  EXPECT_EQ(count, traced->iterations);
  EXPECT_EQ(last.substr(0, last.find(',')), std::to_string(traced->iterations));
}

TEST(SolveCell, ASymmetrisedProblemsVerdictStandsBeside) {
  const auto problem = asymmetric();
  CellRecord record;
  record.status = CellStatus::converged;
  record.claimed = record.solved_symmetrised = true;
  record.tolerance = 1e-6;
  record.verdict = "natural_map_scaled";
  record.reaction.assign(6, 1.0);
  judge_cell(problem, record);
  ASSERT_TRUE(record.verdict_value && record.verdict_symmetrised);
  EXPECT_NE(*record.verdict_value, *record.verdict_symmetrised);
}

TEST(SolveCell, TheVerdictWithAddedComplianceStandsBeside) {
  // G = I, g = (0, 0, -1): lambda = (0, 0, 1 / 1.25) holds with R = G / 4 and not without.
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.5}).value();
  data.delassus = make_dense_delassus(Matrix::Identity(3, 3));
  data.free_term = Eigen::Vector3d(0.0, 0.0, -1.0);
  const auto problem = ContactProblem::create(std::move(data)).value();
  CellRecord record;
  record.status = CellStatus::converged;
  record.claimed = true;
  record.compliance_share = 0.25;
  record.tolerance = 1e-6;
  record.verdict = "natural_map_scaled";
  record.reaction = {0.0, 0.0, 0.8};
  judge_cell(problem, record);
  EXPECT_FALSE(record.solved) << "the verdict is that of the problem as given";
  ASSERT_TRUE(record.verdict_value && record.verdict_compliant && record.ccp_compliant);
  EXPECT_NEAR(*record.verdict_value, 0.2, 1e-12);
  EXPECT_LE(*record.verdict_compliant, 1e-12);
  EXPECT_LE(*record.ccp_compliant, 1e-12);
}

TEST(TestSolvers, AreHiddenUnlessAskedFor) {
  ASSERT_TRUE(with_test_solvers);
  EXPECT_NE(find_solver("MISBEHAVE"), nullptr);
}

}  // namespace
}  // namespace conebench
