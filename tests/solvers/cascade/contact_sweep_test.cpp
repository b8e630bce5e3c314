#include "solvers/cascade/contact_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "problems/scaled_natural_map.hpp"
#include "solvers/cascade/driver.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;
using cascade::ContactSweep;
using cascade::ContactSystem;
using cascade::first_sweep;

/// Four spheres, coupled by their normal velocities, or not: one sticks, one slips, one opens, one has no friction.
ContactProblem spheres(int dimension, double coupling) {
  const Index n = dimension - 1;
  Matrix delassus = 2.0 * Matrix::Identity(4 * dimension, 4 * dimension);
  Vector free = Vector::Zero(4 * dimension);
  const double pressed[] = {-1.0, -2.0, 3.0, -0.5};
  const double pushed[] = {0.1, -4.0, 0.3, 1.0};
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) delassus(dimension * i + n, dimension * j + n) = i == j ? 1.5 : coupling;
    free[dimension * i] = pushed[i];
    free[dimension * i + n] = pressed[i];
    if (dimension == 3) free[dimension * i + 1] = -0.7 * pushed[i];
  }
  return micro(delassus, free, cones(0, 0, {0.5, 0.3, 0.5, 0.0}, dimension));
}

std::vector<ContactProblem> swept_problems() {
  return {make_problem("random", {{"contacts", 6L}}),
          make_problem("random", {{"contacts", 5L}, {"dimension", 2L}}),
          make_problem("random", {{"contacts", 4L}, {"mu_min", 0.0}, {"mu_max", 0.0}}),
          make_problem("random", {{"contacts", 7L}, {"asymmetry", 0.02}}),
          make_problem("random", {{"contacts", 5L}, {"limits", 2L}, {"compliance", 0.01}}),
          make_problem("random", {{"contacts", 4L}, {"limits", 3L}}),
          make_problem("random", {{"contacts", 3L}, {"limits", 5L}, {"dimension", 2L}}),
          make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 3.0}}),
          spheres(2, 0.2),
          spheres(3, 0.2)};
}

/// Few contacts and limits, with all that makes Newton's steps differ.
std::vector<ContactProblem> few_contacts() {
  return {make_problem("random", {{"contacts", 6L}}),
          make_problem("random", {{"contacts", 12L}, {"rank_share", 0.5}}),
          make_problem("random", {{"contacts", 4L}, {"mu_min", 0.0}, {"mu_max", 0.0}}),
          make_problem("random", {{"contacts", 7L}, {"asymmetry", 0.02}, {"compliance", 0.01}}),
          make_problem("random", {{"contacts", 9L}, {"coupling", 2L}}),
          make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 30.0}}),
          make_problem("random", {{"contacts", 5L}, {"dimension", 2L}}),
          make_problem("random", {{"contacts", 6L}, {"limits", 3L}}),
          make_problem("random", {{"contacts", 4L}, {"limits", 5L}, {"dimension", 2L}}),
          make_problem("random", {{"contacts", 5L}, {"limits", 4L}, {"coupling", 2L}, {"compliance", 0.01}}),
          make_problem("random", {{"contacts", 2L}, {"limits", 3L}, {"mu_min", 0.0}, {"mu_max", 0.0}})};
}

TEST(ContactSweep, IsOneOfNsgs) {
  for (const ContactProblem& problem : swept_problems()) {
    SCOPED_TRACE(problem.provenance().name);
    SilentMonitor silent;
    for (const bool prepared_before : {false, true}) {
      ContactSweep sweep{ContactSystem(problem)};
      if (prepared_before) sweep.prepare();
      Vector impulse = Vector::Zero(problem.rows());
      for (const long sweeps : {1L, 2L, 3L}) {
        const StopRule stop{.tolerance = 0.0, .max_iterations = sweeps, .stop_by = StopBy::judge};
        const Answer expected = testing::solve(*prepared(*find_solver("NSGS"), problem, {}), problem, stop, silent);
        sweep.sweep(impulse);
        const double rounding = static_cast<double>(sweeps) * 1e-12;
        EXPECT_LE((impulse - expected.impulse).norm(), rounding * expected.impulse.norm());
      }
    }
  }
}

TEST(ContactSweep, ReportsHowFarItMovedTheImpulse) {
  const ContactProblem problem = spheres(3, 0.0);
  const ContactSweep sweep{ContactSystem(problem)};
  Vector impulse = Vector::Zero(problem.rows());
  EXPECT_EQ(sweep.sweep(impulse), 1.0);
  const Vector solved = impulse;
  EXPECT_LE(sweep.sweep(impulse), 1e-12);
  impulse = 1.25 * solved;
  EXPECT_NEAR(sweep.sweep(impulse), 0.25, 1e-12);
}

TEST(FirstSweep, IsOneOfNsgsOverUpToSixteenContactsAndLimits) {
  const auto stage_of_one = [](const OptionValues& scene) {
    const ContactProblem problem = make_problem("random", scene);
    Vector impulse = Vector::Zero(problem.rows());
    ContactSweep{ContactSystem(problem)}.sweep(impulse);
    SilentMonitor silent;
    const double residual = scaled_natural_map(problem, impulse);
    const StopRule stop{.tolerance = (1.0 + 1e-9) * residual, .max_iterations = 1, .stop_by = StopBy::solver};
    const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, silent);
    EXPECT_EQ(answer.impulse, impulse);
    EXPECT_NEAR(answer.summary.own_residual, judge(problem, impulse)["natural_map_scaled"].value, 1e-14);
    EXPECT_EQ(answer.summary.operator_products, 2);
    return answer.summary.stage;
  };
  EXPECT_EQ(stage_of_one({{"contacts", 16L}}), first_sweep);
  EXPECT_EQ(stage_of_one({{"contacts", 16L}, {"dimension", 2L}}), first_sweep);
  EXPECT_EQ(stage_of_one({{"contacts", 13L}, {"limits", 3L}}), first_sweep);
  const auto stage_of_any_answer = [](const OptionValues& scene) {
    const ContactProblem problem = make_problem("random", scene);
    SilentMonitor silent;
    const StopRule stop{.tolerance = 1e6, .stop_by = StopBy::solver};
    return testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, silent).summary.stage;
  };
  EXPECT_EQ(stage_of_any_answer({{"contacts", 16L}}), first_sweep);
  for (const OptionValues& more : {OptionValues{{"contacts", 17L}}, OptionValues{{"contacts", 13L}, {"limits", 4L}},
                                   OptionValues{{"contacts", 3L}, {"joints", 1L}}})
    EXPECT_EQ(stage_of_any_answer(more), "start");
}

TEST(FirstSweep, SolvesContactsThatDoNotFeelEachOtherWithoutAllocating) {
  for (const int dimension : {2, 3}) {
    const ContactProblem problem = spheres(dimension, 0.0);
    const auto solver = find_solver("CASCADE")->make({}).value();
    const Vector guess = Vector::Zero(problem.rows());
    Vector impulse(problem.rows());
    SilentMonitor silent;
    const long before = allocation_count();
    ASSERT_TRUE(solver->prepare(problem));
    const SolveSummary summary = solver->solve(guess, {.tolerance = 1e-10, .stop_by = StopBy::solver}, silent, impulse);
    if (allocations_are_counted()) {
      EXPECT_EQ(allocation_count() - before, 0);
    }
    EXPECT_EQ(summary.status, SolveStatus::converged);
    EXPECT_EQ(summary.stage, first_sweep);
    EXPECT_EQ(summary.iterations, 1);
    EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1e-10);
    const auto skipping = prepared(*find_solver("CASCADE"), problem, {{"skip", std::string(first_sweep)}});
    const Answer scaled = testing::solve(*skipping, problem, {.tolerance = 1e-10, .stop_by = StopBy::solver}, silent);
    EXPECT_NE(scaled.summary.stage, first_sweep);
    EXPECT_LE((scaled.impulse - impulse).norm(), 1e-9 * impulse.norm());
  }
}

TEST(FirstSweep, AStartThatIsTheAnswerIsTakenWithoutASweep) {
  const ContactProblem problem = make_problem("random", {{"contacts", 6L}});
  SilentMonitor silent;
  const StopRule stop{.tolerance = 1e-10, .stop_by = StopBy::solver};
  const auto solver = prepared(*find_solver("CASCADE"), problem, {});
  const Answer answer = testing::solve(*solver, problem, stop, silent);
  Vector impulse(problem.rows());
  const SolveSummary again = solver->solve(answer.impulse, stop, silent, impulse);
  EXPECT_EQ(again.status, SolveStatus::converged);
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(again.stage, "start");
  EXPECT_EQ(impulse, answer.impulse);
}

/// Returns one decision for every proposed point, and keeps the points; is due at none.
class Answering final : public Monitor {
 public:
  explicit Answering(Decision decision) : decision_(decision) { next_ = std::numeric_limits<long>::max(); }

  std::vector<long> points;
  std::vector<Vector> proposed;

 private:
  Decision check(long point, ConstVectorRef impulse, double) override {
    points.push_back(point);
    proposed.emplace_back(impulse);
    return decision_;
  }

  Decision decision_;
};

TEST(FirstSweep, APointThatWasTurnedDownIsNotProposedAgain) {
  const ContactProblem problem = spheres(3, 0.0);
  Answering monitor(Decision::keep_going);
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 1, .stop_by = StopBy::judge};
  const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
  EXPECT_EQ(monitor.points.size(), 1u);
  EXPECT_LE(answer.summary.own_residual, 1e-10);
}

TEST(FirstSweep, EndsWhereItsPointIsOutOfTime) {
  const ContactProblem problem = spheres(3, 0.0);
  Answering monitor(Decision::out_of_time);
  const StopRule stop{.tolerance = 1e-10, .stop_by = StopBy::judge};
  const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::time_limit);
  EXPECT_EQ(monitor.points.size(), 1u);
  EXPECT_EQ(answer.impulse, monitor.proposed.front());
}

/// Checks every point.
class Looking final : public Monitor {
 public:
  long checks = 0;

 private:
  Decision check(long, ConstVectorRef, double) override {
    ++checks;
    return Decision::keep_going;
  }
};

TEST(FirstSweep, WhatIsLookedAtGoesOnAsWhatIsNot) {
  for (const ContactProblem& problem : swept_problems()) {
    const auto solver = prepared(*find_solver("CASCADE"), problem, {});
    const StopRule stop{.tolerance = 1e-10, .stop_by = StopBy::solver};
    Looking monitor;
    SilentMonitor silent;
    const Answer seen = testing::solve(*solver, problem, stop, monitor);
    const Answer unseen = testing::solve(*solver, problem, stop, silent);
    EXPECT_GE(monitor.checks, 2);
    EXPECT_EQ(seen.summary.iterations, unseen.summary.iterations);
    EXPECT_EQ(seen.impulse, unseen.impulse);
  }
}

TEST(FirstSweep, WorseThanTheStartLeavesTheStartAsTheAnswer) {
  // With so much friction a sweep from rest leaves the point worse than no impulse.
  const ContactProblem problem = make_problem("random", {{"contacts", 6L}, {"mu_min", 1e3}, {"mu_max", 1e3}});
  const auto solver = prepared(*find_solver("CASCADE"), problem, {});
  SilentMonitor silent;
  const StopRule stop{.tolerance = 0.0, .max_iterations = 1, .stop_by = StopBy::solver};
  const Answer answer = testing::solve(*solver, problem, stop, silent);
  Vector swept = Vector::Zero(problem.rows());
  const double start = scaled_natural_map(problem, swept);
  ContactSweep{ContactSystem(problem)}.sweep(swept);
  ASSERT_LT(start, scaled_natural_map(problem, swept));
  EXPECT_TRUE(answer.impulse.isZero(0.0));
  EXPECT_NEAR(answer.summary.own_residual, start, 1e-12);
}

TEST(FirstSweep, LimitsOfIterationsHoldOnFewContactsAndTheBestPointIsReturned) {
  for (const long contacts : {3L, 6L, 20L}) {
    for (const long limits : {0L, 3L}) {
      const ContactProblem problem = make_problem("random", {{"contacts", contacts}, {"limits", limits}});
      const auto solver = prepared(*find_solver("CASCADE"), problem, {});
      double best = std::numeric_limits<double>::infinity();
      for (const long limit : {0L, 1L, 2L, 3L, 4L, 5L}) {
        SilentMonitor silent;
        const StopRule stop{.tolerance = 0.0, .max_iterations = limit, .stop_by = StopBy::solver};
        const Answer answer = testing::solve(*solver, problem, stop, silent);
        const double residual = judge(problem, answer.impulse)["natural_map_scaled"].value;
        EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
        EXPECT_LE(answer.summary.iterations, limit);
        EXPECT_NEAR(answer.summary.own_residual, residual, 1e-12);
        EXPECT_LE(residual, best * (1.0 + 1e-9) + 1e-14);
        best = std::min(best, residual);
      }
    }
  }
}

TEST(FewContacts, TakeAFewNewtonStepsToElevenDigits) {
  for (const ContactProblem& problem : few_contacts()) {
    SCOPED_TRACE(problem.provenance().name);
    SilentMonitor silent;
    const StopRule stop{.tolerance = 1e-11, .stop_by = StopBy::solver};
    const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, silent);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE(answer.summary.factorizations, 60);
    EXPECT_LE(judge(problem, answer.impulse)["natural_map_scaled"].value, 1.1e-11);
  }
}

TEST(FewContacts, WithoutFrictionLoseTheirTangentialImpulse) {
  const ContactProblem problem = few_contacts()[2];
  Vector impulse(problem.rows());
  SilentMonitor silent;
  prepared(*find_solver("CASCADE"), problem, {})
      ->solve(Vector::Ones(problem.rows()), {.tolerance = 1e-12, .stop_by = StopBy::solver}, silent, impulse);
  for (Index i = 0; i < problem.cones().contacts(); ++i) EXPECT_TRUE(impulse.segment<2>(3 * i).isZero(0.0));
}

TEST(FewContacts, WithLimitsThatPressOrPartAreSolvedAsByNsgs) {
  int pressing = 0;
  int parting = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem =
          make_problem("random", {{"contacts", 4L}, {"limits", 3L}, {"dimension", dimension}}, seed);
      SilentMonitor silent;
      const StopRule stop{.tolerance = 1e-12, .stop_by = StopBy::solver};
      const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, silent);
      ASSERT_EQ(answer.summary.status, SolveStatus::converged) << "seed " << seed;
      const Vector& impulse = answer.impulse;
      EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1.1e-12);
      const Answer nsgs = testing::solve(*prepared(*find_solver("NSGS"), problem, {}), problem, stop, silent);
      EXPECT_LE((impulse - nsgs.impulse).norm(), 1e-8 * nsgs.impulse.norm()) << "seed " << seed;
      Vector velocity(problem.rows());
      problem.velocity(impulse, velocity);
      for (Index row = 0; row < 3; ++row) {
        ++(impulse[row] > 1e-6 * impulse.norm() ? pressing : parting);
        EXPECT_NEAR(std::min(impulse[row] / impulse.norm(), velocity[row] / problem.free_term().norm()), 0.0, 1e-10);
      }
    }
  }
  EXPECT_GE(pressing, 10);
  EXPECT_GE(parting, 10);
}

TEST(FewContacts, WhereSweepsAreSlowNewtonGoesOnAndTheCountsAddUp) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 4L}, {"mass_ratio", 1000.0}});
  JudgingMonitor monitor(problem, "natural_map_scaled", 1e-10);
  const auto solver = prepared(*find_solver("CASCADE"), problem, {{"skip", std::string("rest")}});
  const Answer answer = testing::solve(*solver, problem, {.tolerance = 1e-10, .stop_by = StopBy::judge}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_GT(answer.summary.factorizations, 0);
  EXPECT_GT(answer.summary.iterations, answer.summary.factorizations);
}

}  // namespace
}  // namespace conebench
