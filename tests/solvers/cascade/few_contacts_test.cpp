#include "solvers/cascade/few_contacts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;
using cascade::FewContacts;

/// Four spheres, coupled by their normal velocities: one sticks, one slips, one opens, one has no friction.
ContactProblem spheres(int dimension) {
  const Index n = dimension - 1;
  Matrix delassus = 2.0 * Matrix::Identity(4 * dimension, 4 * dimension);
  Vector free = Vector::Zero(4 * dimension);
  const double pressed[] = {-1.0, -2.0, 3.0, -0.5};
  const double pushed[] = {0.1, -4.0, 0.3, 1.0};
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) delassus(dimension * i + n, dimension * j + n) = i == j ? 1.5 : 0.2;
    free[dimension * i] = pushed[i];
    free[dimension * i + n] = pressed[i];
    if (dimension == 3) free[dimension * i + 1] = -0.7 * pushed[i];
  }
  return micro(delassus, free, cones(0, 0, {0.5, 0.3, 0.5, 0.0}, dimension));
}

std::vector<ContactProblem> problems() {
  return {make_problem("random", {{"contacts", 6L}}),
          make_problem("random", {{"contacts", 5L}, {"dimension", 2L}}),
          make_problem("random", {{"contacts", 4L}, {"mu_min", 0.0}, {"mu_max", 0.0}}),
          make_problem("random", {{"contacts", 7L}, {"asymmetry", 0.02}}),
          make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 3.0}}),
          make_problem("random", {{"contacts", 4L}, {"limits", 3L}}),
          make_problem("random", {{"contacts", 3L}, {"limits", 5L}, {"dimension", 2L}}),
          make_problem("random", {{"contacts", 3L}, {"limits", 4L}, {"mu_min", 0.0}, {"mu_max", 0.0}}),
          make_problem("random", {{"contacts", 5L}, {"limits", 2L}, {"compliance", 0.01}}),
          spheres(2),
          spheres(3)};
}

std::vector<std::pair<long, long>> contacts_and_limits() {
  return {{1, 0}, {4, 0}, {8, 0}, {12, 0}, {16, 0}, {1, 1}, {2, 8}, {4, 3}, {8, 8}, {12, 8}};
}

/// Three contacts and none to two limits, on some of which Newton's steps miss.
ContactProblem rough_contacts(double conditioning, long seed) {
  const OptionValues options{
      {"contacts", 3L}, {"limits", seed % 3}, {"mu_min", 1.0}, {"mu_max", 2.0}, {"conditioning", conditioning}};
  return make_problem("random", options, static_cast<std::uint64_t>(seed));
}

TEST(FewContacts, SweepsAreThoseOfNsgs) {
  for (const ContactProblem& problem : problems()) {
    SCOPED_TRACE(problem.provenance().name);
    const auto nsgs = prepared(*find_solver("NSGS"), problem, {});
    SilentMonitor silent;
    for (const long sweeps : {1L, 2L, 4L}) {
      const StopRule stop{.tolerance = 0.0, .max_iterations = sweeps, .criterion = Criterion::verdict};
      const testing::Answer expected = testing::solve(*nsgs, problem, stop, silent);
      Vector impulse(problem.rows());
      const FewContacts count =
          FewContacts::solve(problem, Vector::Zero(problem.rows()), {sweeps, false}, stop, silent, impulse);
      EXPECT_EQ(count.sweeps, sweeps);
      EXPECT_LE((impulse - expected.impulse).norm(), 1e-12 * expected.impulse.norm());
    }
  }
}

TEST(FewContacts, TenContactsGetDenseStepsHoweverTheyAreCoupled) {
  const auto apart = [](Index contacts) {
    const auto count = static_cast<std::size_t>(contacts);
    return micro(Matrix::Identity(3 * contacts, 3 * contacts), Vector::Constant(3 * contacts, -1.0),
                 cones(0, 0, std::vector<double>(count, 0.5)));
  };
  EXPECT_TRUE(FewContacts::dense_enough(apart(10)));
  EXPECT_FALSE(FewContacts::dense_enough(apart(11)));
  EXPECT_TRUE(FewContacts::dense_enough(make_problem("random", {{"contacts", 16L}})));
}

TEST(FewContacts, ResidualIsTheJudges) {
  for (const ContactProblem& problem : problems()) {
    SCOPED_TRACE(problem.provenance().name);
    SilentMonitor silent;
    Vector impulse(problem.rows());
    const StopRule stop{.tolerance = 0.0, .max_iterations = 2, .criterion = Criterion::own};
    const FewContacts count =
        FewContacts::solve(problem, Vector::Zero(problem.rows()), {10, false}, stop, silent, impulse);
    EXPECT_TRUE(count.halted);
    EXPECT_NEAR(count.residual, judge(problem, impulse)["natural_map_scaled"].value, 1e-14);
  }
}

TEST(FewContacts, LimitOfIterationsHoldsAndTheLastIterateIsMeasured) {
  for (const long contacts : {3L, 6L, 20L}) {
    for (const long limits : {0L, 3L}) {
      const ContactProblem problem = make_problem("random", {{"contacts", contacts}, {"limits", limits}});
      const auto solver = prepared(*find_solver("CASCADE"), problem, {});
      for (const long limit : {0L, 1L, 2L, 3L, 4L, 5L}) {
        SilentMonitor silent;
        const StopRule stop{.tolerance = 0.0, .max_iterations = limit, .criterion = Criterion::own};
        const Answer answer = testing::solve(*solver, problem, stop, silent);
        EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
        EXPECT_LE(answer.summary.iterations, limit);
        EXPECT_NEAR(answer.summary.own_residual, judge(problem, answer.impulse)["natural_map_scaled"].value, 1e-12);
      }
    }
  }
}

TEST(FewContacts, AStartThatIsTheAnswerIsTakenWithoutASweep) {
  const ContactProblem problem = make_problem("random", {{"contacts", 6L}});
  SilentMonitor silent;
  const StopRule stop{.tolerance = 1e-10, .criterion = Criterion::own};
  const Answer answer = testing::solve(*prepared(*find_solver("CASCADE"), problem, {}), problem, stop, silent);
  Vector impulse(problem.rows());
  const FewContacts again = FewContacts::solve(problem, answer.impulse, {}, stop, silent, impulse);
  EXPECT_TRUE(again.accepted);
  EXPECT_EQ(again.sweeps, 0);
  EXPECT_EQ(impulse, answer.impulse);
}

TEST(FewContacts, FitsWithoutJointsOnly) {
  EXPECT_TRUE(FewContacts::fit(make_problem("random", {{"contacts", 40L}})));
  EXPECT_FALSE(FewContacts::fit(make_problem("random", {{"contacts", 41L}})));
  EXPECT_TRUE(FewContacts::fit(make_problem("random", {{"contacts", 37L}, {"limits", 3L}})));
  EXPECT_FALSE(FewContacts::fit(make_problem("random", {{"contacts", 37L}, {"limits", 4L}})));
  EXPECT_FALSE(FewContacts::fit(make_problem("random", {{"contacts", 3L}, {"joints", 1L}})));
}

TEST(FewContacts, LimitsCountByTheirRowsWhereStepsAreDense) {
  EXPECT_TRUE(FewContacts::dense_enough(make_problem("random", {{"contacts", 13L}, {"limits", 9L}})));
  EXPECT_FALSE(FewContacts::dense_enough(make_problem("random", {{"contacts", 13L}, {"limits", 10L}})));
  const OptionValues plane{{"contacts", 13L}, {"limits", 6L}, {"dimension", 2L}};
  EXPECT_TRUE(FewContacts::dense_enough(make_problem("random", plane)));
  const OptionValues fuller{{"contacts", 13L}, {"limits", 7L}, {"dimension", 2L}};
  EXPECT_FALSE(FewContacts::dense_enough(make_problem("random", fuller)));
}

TEST(FewContacts, LimitsPressOrPart) {
  int pressing = 0;
  int parting = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem =
          make_problem("random", {{"contacts", 4L}, {"limits", 3L}, {"dimension", dimension}}, seed);
      SilentMonitor silent;
      Vector impulse(problem.rows());
      const StopRule stop{.tolerance = 1e-12, .criterion = Criterion::own};
      const FewContacts count = FewContacts::solve(problem, Vector::Zero(problem.rows()), {}, stop, silent, impulse);
      ASSERT_TRUE(count.accepted) << "seed " << seed;
      EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1.1e-12);
      const Answer nsgs = testing::solve(*prepared(*find_solver("NSGS"), problem, {}), problem,
                                         {.tolerance = 1e-12, .criterion = Criterion::own}, silent);
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

TEST(FewContacts, CascadeAllocatesNothingWhereAFewSweepsSuffice) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const ContactProblem problem = make_problem("sliding-box", {});
  const auto solver = find_solver("CASCADE")->make({}).value();
  const Vector guess = Vector::Zero(problem.rows());
  Vector impulse(problem.rows());
  SilentMonitor silent;
  const long before = allocation_count();
  ASSERT_FALSE(solver->prepare(problem));
  const SolveSummary summary = solver->solve(guess, {.tolerance = 1e-10, .criterion = Criterion::own}, silent, impulse);
  EXPECT_EQ(allocation_count() - before, 0);
  EXPECT_EQ(summary.status, SolveStatus::converged);
  EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1e-10);
}

TEST(FewContacts, CascadeAllocatesNothingBeforeItHasTriedASweep) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const auto& [contacts, limits] : contacts_and_limits()) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem =
          make_problem("random", {{"contacts", contacts}, {"limits", limits}, {"dimension", dimension}});
      const auto solver = find_solver("CASCADE")->make({}).value();
      const Vector guess = Vector::Zero(problem.rows());
      Vector impulse(problem.rows());
      SilentMonitor silent;
      const StopRule stop{.tolerance = 0.0, .max_iterations = 1, .criterion = Criterion::own};
      const long before = allocation_count();
      ASSERT_FALSE(solver->prepare(problem));
      const SolveSummary summary = solver->solve(guess, stop, silent, impulse);
      EXPECT_EQ(allocation_count() - before, 0) << contacts << " contacts, " << limits << " limits";
      EXPECT_EQ(summary.iterations, 1);
      EXPECT_GT(impulse.norm(), 0.0);
    }
  }
}

TEST(FewContacts, NewtonSolvesUpToSixteenContactsInAFewStepsWithoutAllocating) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const auto& [contacts, limits] : contacts_and_limits()) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem =
          make_problem("random", {{"contacts", contacts}, {"limits", limits}, {"dimension", dimension}});
      SilentMonitor silent;
      const Vector guess = Vector::Zero(problem.rows());
      Vector impulse(problem.rows());
      const StopRule stop{.tolerance = 1e-12, .criterion = Criterion::own};
      const long before = allocation_count();
      const FewContacts count = FewContacts::solve(problem, guess, {}, stop, silent, impulse);
      EXPECT_EQ(allocation_count() - before, 0);
      EXPECT_TRUE(count.accepted);
      EXPECT_EQ(count.sweeps, 1);
      EXPECT_LE(count.newton_steps, 9);
      EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1.01e-12);
    }
  }
}

TEST(FewContacts, NewtonComesBeforeTheSweepsWhereABodyRestsOrSlidesAsAWhole) {
  SilentMonitor silent;
  const StopRule stop{.tolerance = 1e-12, .criterion = Criterion::own};
  for (const auto& [scene, options] :
       std::vector<std::pair<std::string, OptionValues>>{{"box-stack", {{"boxes", 1L}}},
                                                         {"sliding-box", {}},
                                                         {"box-on-slope", {{"angle", 10.0}}},
                                                         {"box-on-slope", {{"angle", 40.0}}}}) {
    const ContactProblem problem = make_problem(scene, options);
    Vector impulse(problem.rows());
    const FewContacts count = FewContacts::solve(problem, Vector::Zero(problem.rows()), {}, stop, silent, impulse);
    EXPECT_TRUE(count.accepted) << scene;
    EXPECT_EQ(count.sweeps, 0) << scene;
    EXPECT_LE(count.newton_steps, 4) << scene;
    const FewContacts swept =
        FewContacts::solve(problem, Vector::Constant(problem.rows(), 1e-9), {}, stop, silent, impulse);
    EXPECT_GE(swept.sweeps, 1) << "from elsewhere";
  }
}

TEST(FewContacts, NewtonTakesRedundantContacts) {
  const ContactProblem problem = make_problem("random", {{"contacts", 3L}, {"rank_share", 0.5}});
  SilentMonitor silent;
  Vector impulse(problem.rows());
  const StopRule stop{.tolerance = 1e-12, .criterion = Criterion::own};
  const FewContacts count = FewContacts::solve(problem, Vector::Zero(problem.rows()), {}, stop, silent, impulse);
  EXPECT_TRUE(count.accepted);
  EXPECT_GE(count.newton_steps, 1);
}

TEST(FewContacts, WhereNewtonDoesNotArriveTheSweepsGoOnFromWhereTheyWere) {
  int missed = 0;
  for (long seed = 1; seed <= 40; ++seed) {
    const ContactProblem problem = rough_contacts(1e4, seed);
    SilentMonitor silent;
    const Vector guess = Vector::Zero(problem.rows());
    Vector with(problem.rows());
    Vector without(problem.rows());
    const FewContacts first =
        FewContacts::solve(problem, guess, {1, true}, {.tolerance = 1e-10, .criterion = Criterion::own}, silent, with);
    if (first.accepted) continue;
    ++missed;
    const long sweeps = first.sweeps;
    FewContacts::solve(problem, guess, {sweeps, false},
                       {.tolerance = 0.0, .max_iterations = sweeps, .criterion = Criterion::own}, silent, without);
    EXPECT_EQ(with, without) << "seed " << seed;
  }
  EXPECT_GE(missed, 3);
}

TEST(FewContacts, AfterNewtonsMissTheSweepsArriveAsTheyWouldHave) {
  int missed = 0;
  for (long seed = 1; seed <= 40; ++seed) {
    const ContactProblem problem = rough_contacts(1e2, seed);
    SilentMonitor silent;
    const Vector guess = Vector::Zero(problem.rows());
    Vector with(problem.rows());
    Vector without(problem.rows());
    const StopRule stop{.tolerance = 1e-10, .max_iterations = 1000, .criterion = Criterion::own};
    const FewContacts first = FewContacts::solve(problem, guess, {4, true}, stop, silent, with);
    if (first.newton_steps == 0 || first.sweeps < 2) continue;
    ++missed;
    const FewContacts second = FewContacts::solve(problem, guess, {4, false}, stop, silent, without);
    EXPECT_EQ(first.sweeps, second.sweeps) << "seed " << seed;
    EXPECT_EQ(first.accepted, second.accepted) << "seed " << seed;
    EXPECT_EQ(with, without) << "seed " << seed;
  }
  EXPECT_GT(missed, 3);
}

TEST(FewContacts, LimitHoldsWhereNewtonMissesAndTheBetterPointIsReturned) {
  for (long seed = 1; seed <= 30; ++seed) {
    const ContactProblem problem = rough_contacts(1e4, seed);
    const auto solver = prepared(*find_solver("CASCADE"), problem, {{"sweeps", 1L}});
    SilentMonitor silent;
    const auto after = [&](long limit) {
      return testing::solve(*solver, problem,
                            {.tolerance = 1e-10, .max_iterations = limit, .criterion = Criterion::own}, silent);
    };
    const double sweep = judge(problem, after(1).impulse)["natural_map_scaled"].value;
    for (const long limit : {2L, 3L, 4L}) {
      const Answer answer = after(limit);
      EXPECT_LE(answer.summary.iterations, limit) << "seed " << seed;
      EXPECT_LE(judge(problem, answer.impulse)["natural_map_scaled"].value, sweep * (1.0 + 1e-9)) << "seed " << seed;
    }
  }
}

TEST(FewContacts, WithoutNewtonNoneIsTried) {
  const ContactProblem problem = make_problem("random", {{"contacts", 3L}});
  SilentMonitor silent;
  const StopRule stop{.tolerance = 1e-12, .max_iterations = 2, .criterion = Criterion::own};
  for (const bool newton : {true, false}) {
    const std::string skip = newton ? "" : "few-newton";
    const auto solver = prepared(*find_solver("CASCADE"), problem, {{"skip", skip}});
    EXPECT_EQ(solve(*solver, problem, stop, silent).summary.factorizations > 0, newton);
  }
}

TEST(FewContacts, WhereSweepsAreSlowNewtonGoesOnAndTheCountsAddUp) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 4L}, {"mass_ratio", 1000.0}});
  ASSERT_TRUE(FewContacts::fit(problem));
  JudgingMonitor monitor(problem, "natural_map_scaled", 1e-10);
  const auto solver = prepared(*find_solver("CASCADE"), problem, {});
  const Answer answer =
      testing::solve(*solver, problem, {.tolerance = 1e-10, .criterion = Criterion::verdict}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_GT(answer.summary.factorizations, 0);
  EXPECT_GT(answer.summary.iterations, answer.summary.factorizations);
}

}  // namespace
}  // namespace conebench
