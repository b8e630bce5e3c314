#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "problems/conversions.hpp"
#include "problems/scaled_rows.hpp"
#include "tests/solvers/cascade/mixed_problem.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using testing::Answer;
using ::testing::HasSubstr;
using testing::make_problem;
using testing::prepared;

constexpr double time_step = 1e-3;

ContactProblem with_time_step(const ContactProblem& problem, double step = time_step) {
  ContactProblemData data = problem.data();
  data.configuration.emplace();
  data.configuration->time_step = step;
  return ContactProblem::create(std::move(data)).value();
}

Answer own(const std::string& id, const ContactProblem& problem, const OptionValues& options, double tolerance,
           long most = 20000) {
  SilentMonitor silent;
  return testing::solve(*prepared(*find_solver(id), problem, options), problem,
                        {.tolerance = tolerance, .max_iterations = most}, silent);
}

ContactProblem stack() { return with_time_step(make_problem("box-stack", {{"boxes", 3L}, {"mass_ratio", 10.0}})); }

TEST(CommonOptions, InForcesTheOwnTestCountsNewtons) {
  // A mass point of 1 kg lands at 1 m/s. A sweep relaxed by a half halves what is missing of λ_N = 1 N s.
  Matrix delassus = Matrix::Identity(3, 3);
  const ContactProblem point =
      with_time_step(testing::micro(delassus, testing::vector({0, 0, -1}), testing::cones(0, 0, {0.5})));
  const double omega = 0.5, tolerance = 1e-6;
  const OptionValues relaxed = {{"relaxation", omega}, {"relaxation_min", omega}};
  OptionValues forces = relaxed;
  forces["units"] = std::string("force");
  const Answer impulses = own("PGS-NCP", point, relaxed, tolerance);
  const Answer newtons = own("PGS-NCP", point, forces, tolerance);
  ASSERT_EQ(impulses.summary.status, SolveStatus::converged);
  ASSERT_EQ(newtons.summary.status, SolveStatus::converged);
  // A factor of 1000 in the tolerance is log2(1000) = 9.97 more halvings.
  EXPECT_NEAR(static_cast<double>(newtons.summary.iterations - impulses.summary.iterations), std::log2(1 / time_step),
              1.0);
  EXPECT_NEAR(newtons.impulse[2], 1.0, tolerance * time_step * 2) << "impulses are still in N s";
}

TEST(CommonOptions, InForcesTheProblemIsSolvedInTheUnitOfOneStep) {
  const ContactProblem problem = stack();
  const ContactProblem scaled = in_impulse_unit(problem, time_step);
  for (const char* id : {"ADMM-NCP-SA", "ADMM-CCP", "PGS-NCP", "NSGS", "CASCADE"}) {
    SCOPED_TRACE(id);
    const Answer expected = own(id, scaled, {}, 1e-6, 200);
    const Answer actual = own(id, problem, {{"units", std::string("force")}}, 1e-6, 200);
    EXPECT_EQ(actual.summary.iterations, expected.summary.iterations);
    EXPECT_EQ(actual.impulse, Vector(time_step * expected.impulse));
  }
}

TEST(CommonOptions, ForcesNeedTheStepsLength) {
  const ContactProblem problem =
      testing::micro(Matrix::Identity(3, 3), testing::vector({0, 0, -1}), testing::cones(0, 0, {0.5}));
  const auto solver = find_solver("PGS-NCP")->make({{"units", std::string("force")}}).value();
  EXPECT_THAT(solver->unsupported_reason(problem).value_or(""),
              ::testing::AllOf(HasSubstr("units=force needs the time step"), HasSubstr("configuration/time_step")));
  EXPECT_FALSE(find_solver("PGS-NCP")->make({}).value()->unsupported_reason(problem));
}

TEST(CommonOptions, AnImpulseUnitScalesEveryForm) {
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    SCOPED_TRACE(form);
    const ContactProblem problem =
        with_time_step(make_problem("box-stack", {{"boxes", 3L}, {"form", std::string(form)}}));
    const ContactProblem scaled = in_impulse_unit(problem, 0.25);
    EXPECT_EQ(scaled.delassus().form(), problem.delassus().form());
    EXPECT_LT((scaled.blocks().dense() - 0.25 * problem.blocks().dense()).norm(),
              1e-14 * problem.blocks().dense().norm());
    EXPECT_EQ(scaled.free_term(), problem.free_term());
  }
}

TEST(CommonOptions, ASolveThatStandsStillEndsAsStalled) {
  // The error of a relaxed sweep halves: its relative change is 2^-k and falls below 1e-3 at k = 10.
  const ContactProblem point =
      testing::micro(Matrix::Identity(3, 3), testing::vector({0, 0, -1}), testing::cones(0, 0, {0.5}));
  const OptionValues options = {{"relaxation", 0.5}, {"relaxation_min", 0.5}, {"stall", 1e-3}};
  const Answer answer = own("PGS-NCP", point, options, 0.0);
  EXPECT_EQ(answer.summary.status, SolveStatus::stalled);
  EXPECT_EQ(answer.summary.iterations, 10);
  EXPECT_NEAR(answer.impulse[2], 1.0 - std::exp2(-10), 1e-12);
}

TEST(CommonOptions, StaggeredProjectionsStallWhereATurnChangesTooLittle) {
  const ContactProblem problem = stack();
  const double share = 1e-3;
  const Answer answer = own("STAGGERED", problem, {{"stall", share}}, 0.0);
  ASSERT_EQ(answer.summary.status, SolveStatus::stalled);
  const auto after = [&](long turns) { return own("STAGGERED", problem, {}, 0.0, turns).impulse; };
  const auto change = [&](long k) { return (after(k) - after(k - 1)).norm() / after(k).norm(); };
  const long last = answer.summary.iterations;
  ASSERT_GT(last, 1);
  EXPECT_EQ(answer.impulse, after(last));
  EXPECT_LT(change(last), share);
  for (long k = 2; k < last; ++k) EXPECT_GE(change(k), share) << "turn " << k;
}

TEST(CommonOptions, AcceleratedGradientStallsAtTheAnswerItself) {
  // The first step reaches the answer, so the second does not move.
  const ContactProblem point =
      testing::micro(Matrix::Identity(3, 3), testing::vector({0, 0, -1}), testing::cones(0, 0, {0.5}));
  const Answer answer = own("APGD-CCP", point, {{"stall", 1e-8}}, -1.0);  // its residual of 0 must not end it
  EXPECT_EQ(answer.summary.status, SolveStatus::stalled);
  EXPECT_EQ(answer.summary.iterations, 2);
  EXPECT_NEAR(answer.impulse[2], 1.0, 1e-15);
}

TEST(CommonOptions, AnUnknownOptionIsAnsweredWithTheCommonOnesToo) {
  const SolverRow& row = *find_solver("NSGS");
  for (const std::string& message : {row.make({{"unts", std::string("force")}}).error().message,
                                     row.effective_options({{"unts", std::string("force")}}).error().message}) {
    EXPECT_THAT(message, AllOf(HasSubstr("'unts'"), HasSubstr("did you mean 'units'?"), HasSubstr("relaxation_min"),
                               HasSubstr("stall")));
  }
}

TEST(CommonOptions, TheStallTestDoesNotEndWhatConvergesFirst) {
  const ContactProblem problem = stack();
  for (const char* id : {"ADMM-NCP-SA", "ADMM-CCP", "NSGS", "FP-DS", "RAISIM", "STAGGERED", "APGD-CCP"}) {
    SCOPED_TRACE(id);
    const Answer free = own(id, problem, {}, 1e-6, 2000);
    const Answer tested = own(id, problem, {{"stall", 1e-14}}, 1e-6, 2000);
    EXPECT_EQ(tested.summary.status, free.summary.status);
    EXPECT_EQ(tested.impulse, free.impulse);
  }
}

TEST(CommonOptions, AnImpulseOfZeroIsNoStall) {
  // ADMM's first iterates project to zero until the penalty has grown.
  const Answer answer = own("ADMM-NCP-SA", stack(), {{"stall", 1e-8}}, 1e-6);
  EXPECT_GT(answer.impulse.norm(), 0.0);
  EXPECT_NE(answer.summary.iterations, 1);
}

/// Never due, and content with whatever is proposed.
class AcceptingWhenAsked final : public Monitor {
 public:
  AcceptingWhenAsked() { next_ = std::numeric_limits<long>::max(); }

 private:
  Decision check(long, ConstVectorRef impulse, double) override {
    return impulse[2] > 0.99 ? Decision::accept : Decision::keep_going;
  }
};

TEST(CommonOptions, AStallGivesTheVerdictItsLook) {
  const ContactProblem point =
      testing::micro(Matrix::Identity(3, 3), testing::vector({0, 0, -1}), testing::cones(0, 0, {0.5}));
  const auto solver =
      prepared(*find_solver("PGS-NCP"), point, {{"relaxation", 0.5}, {"relaxation_min", 0.5}, {"stall", 1e-3}});
  AcceptingWhenAsked monitor;
  const Answer answer = testing::solve(*solver, point, {.stop_by = StopBy::judge}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_EQ(answer.summary.iterations, 10);
}

TEST(CommonOptions, DefaultsLeaveTheConfigurationAsItWas) {
  const SolverRow& row = *find_solver("PGS-NCP");
  const auto defaults = row.effective_options({}).value();
  EXPECT_FALSE(defaults.contains("units"));
  EXPECT_EQ(row.effective_options({{"units", std::string("impulse")}, {"stall", 0.0}}).value(), defaults);
  const auto changed = row.effective_options({{"units", std::string("force")}}).value();
  EXPECT_EQ(changed.at("units"), OptionValue(std::string("force")));
  EXPECT_FALSE(row.make({{"stall", 2.0}}).ok());
  EXPECT_FALSE(find_solver("LEMKE")->make({{"stall", 1e-8}}).ok()) << "pivots are no iterates";
}

ContactProblem orthotropic_problem() {
  using testing::MixedProblem;
  return testing::mixed_problem({.blocks = 9, .rank_share = 1.2, .laws = MixedProblem::Laws::orthotropic}, 2);
}

TEST(CommonOptions, OrthotropicContactsReachASolverAsIsotropicOnes) {
  const ContactProblem problem = orthotropic_problem();
  ASSERT_EQ(problem.cones().contact_type(), ConeType::friction);
  const Vector units = row_units_of(problem);
  const ContactProblem scaled = in_row_units(problem, units).value();
  ASSERT_EQ(scaled.cones().contact_type(), ConeType::coulomb_space);
  for (const char* id : {"NSGS", "ADMM-NCP-SA", "CASCADE"}) {
    SCOPED_TRACE(id);
    const Answer expected = own(id, scaled, {}, 1e-8);
    const Answer answer = own(id, problem, {}, 1e-8);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_EQ(answer.summary.iterations, expected.summary.iterations);
    EXPECT_EQ(answer.impulse, Vector(expected.impulse.cwiseProduct(units)));
  }
}

TEST(CommonOptions, SolversOfCoulombsFrictionAloneTakeOrthotropicContacts) {
  const ContactProblem orthotropic = orthotropic_problem();
  const ContactProblem torsion = testing::mixed_problem({.blocks = 9, .rank_share = 1.2}, 2);
  for (const char* id : {"LEMKE", "LEMKE-ROBUST-DF", "SSN", "PPA"}) {
    SCOPED_TRACE(id);
    const auto solver = find_solver(id)->make({}).value();
    EXPECT_EQ(solver->unsupported_reason(orthotropic), std::nullopt);
    EXPECT_TRUE(solver->prepare(orthotropic).ok());
    EXPECT_THAT(solver->unsupported_reason(torsion).value_or(""), HasSubstr("Coulomb's friction alone"));
    EXPECT_FALSE(solver->prepare(torsion).ok());
  }
}

TEST(CommonOptions, TheSecondInterfaceOfASolverIsFoundBehindThem) {
  EXPECT_NE(find_solver("COND-STRICT")->make({}).value()->velocities(), nullptr);
  EXPECT_EQ(find_solver("NSGS")->make({}).value()->velocities(), nullptr);
}

}  // namespace
}  // namespace conebench
