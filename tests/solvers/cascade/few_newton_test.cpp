#include "solvers/cascade/few_newton.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "problems/delassus_operator.hpp"
#include "problems/scaled_natural_map.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;
using cascade::FewNewton;

std::vector<ContactProblem> hard_problems() {
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

struct Scaling {
  explicit Scaling(const ContactProblem& problem)
      : inverse_steps(problem.cones().blocks()), velocity(natural_map_scaling(problem, inverse_steps)) {}
  Vector inverse_steps;
  double velocity;
};

/// What `use` makes of the FewNewton for the problem's dimension, with or without limits.
template <class Use>
auto with_newton(const ContactProblem& problem, Use use) {
  const Scaling scaling(problem);
  const auto make = [&]<int Dim, bool Limits>() {
    FewNewton<Dim, Limits> newton(problem, scaling.inverse_steps.data(), scaling.velocity);
    return use(newton);
  };
  const bool plane = problem.cones().contact_dimension() == 2;
  if (problem.cones().limits() == 0)
    return plane ? make.template operator()<2, false>() : make.template operator()<3, false>();
  return plane ? make.template operator()<2, true>() : make.template operator()<3, true>();
}

Vector after_sweeps(const ContactProblem& problem, long sweeps) {
  SilentMonitor silent;
  const StopRule stop{.tolerance = 0.0, .max_iterations = sweeps, .criterion = Criterion::verdict};
  return testing::solve(*prepared(*find_solver("NSGS"), problem, {}), problem, stop, silent).impulse;
}

/// FewNewton's steps from `impulse`, which becomes where they end; at most `most`. Their number.
int steps_to(double tolerance, int most, const ContactProblem& problem, Vector& impulse) {
  return with_newton(problem, [&](auto& newton) {
    newton.start_from(impulse.data());
    double residual = newton.measure();
    int steps = 0;
    for (; residual > tolerance && steps < most; ++steps) {
      newton.step(residual);
      residual = newton.measure();
    }
    newton.write(impulse.data());
    return steps;
  });
}

TEST(FewNewton, AStepOpensContactsThatAllPart) {
  const ContactProblem given = make_problem("random", {{"contacts", 3L}});
  ContactProblemData data;
  data.cones = given.cones();
  data.delassus = make_block_sparse_delassus(given.blocks());
  data.free_term = Vector::Zero(given.rows());
  for (Index row = 2; row < given.rows(); row += 3) data.free_term[row] = 1.0;
  const ContactProblem parting = ContactProblem::create(std::move(data)).value();
  Vector impulse = Vector::Zero(parting.rows());
  for (Index row = 2; row < parting.rows(); row += 3) impulse[row] = 1e-3;
  EXPECT_EQ(steps_to(1e-12, 5, parting, impulse), 1);
  EXPECT_EQ(impulse, Vector::Zero(parting.rows()));
}

TEST(FewNewton, MeasuresWhatTheJudgeDoes) {
  for (const ContactProblem& problem : hard_problems()) {
    SCOPED_TRACE(problem.provenance().name);
    const Vector impulse = after_sweeps(problem, 2);
    Vector back(impulse.size());
    const double residual = with_newton(problem, [&](auto& newton) {
      newton.start_from(impulse.data());
      newton.write(back.data());
      return newton.measure();
    });
    EXPECT_NEAR(residual, judge(problem, impulse)["natural_map_scaled"].value, 1e-13);
    EXPECT_LE((back - impulse).norm(), 1e-14 * impulse.norm());
  }
}

/// Where SSN's first step leads to with the regularisation `relative`; nothing where that is no better than `guess`.
std::optional<Vector> step_of_ssn(const ContactProblem& problem, const Vector& guess, double relative) {
  SilentMonitor silent;
  const StopRule stop{.tolerance = 0.0, .max_iterations = 1, .criterion = Criterion::own};
  Vector impulse(problem.rows());
  prepared(*find_solver("SSN"), problem, {{"relative", relative}, {"steps", 1L}})->solve(guess, stop, silent, impulse);
  if ((impulse - guess).norm() <= 1e-14 * guess.norm()) return std::nullopt;
  return impulse;
}

TEST(FewNewton, AStepIsThatOfSsnWithTheSameRegularisation) {
  int compared = 0;
  for (long seed = 1; seed <= 10; ++seed) {
    for (const auto& [dimension, limits] : {std::pair{2L, 0L}, {3L, 0L}, {2L, 3L}, {3L, 3L}}) {
      SCOPED_TRACE(fmt::format("seed {}, {}D, {} limits", seed, dimension, limits));
      const OptionValues options{{"contacts", 6L}, {"limits", limits}, {"dimension", dimension}};
      const ContactProblem problem = make_problem("random", options, static_cast<std::uint64_t>(seed));
      const Vector swept = after_sweeps(problem, 3);
      Vector impulse = swept;
      steps_to(0.0, 1, problem, impulse);
      const auto ssn = step_of_ssn(problem, swept, 0.1);
      if (!ssn) continue;
      ++compared;
      EXPECT_LE((impulse - *ssn).norm(), 1e-10 * ssn->norm());
    }
  }
  EXPECT_GE(compared, 10);
}

TEST(FewNewton, ArrivesFromASweep) {
  for (const ContactProblem& problem : hard_problems()) {
    SCOPED_TRACE(problem.provenance().name);
    Vector impulse = after_sweeps(problem, 1);
    EXPECT_LE(steps_to(1e-11, 25, problem, impulse), 20);
    EXPECT_LE(judge(problem, impulse)["natural_map_scaled"].value, 1.1e-11);
  }
}

TEST(FewNewton, ContactsWithoutFrictionLoseTheirTangentialImpulse) {
  const ContactProblem problem = hard_problems()[2];
  Vector impulse = Vector::Ones(problem.rows());
  steps_to(1e-12, 20, problem, impulse);
  for (Index i = 0; i < problem.cones().contacts(); ++i) EXPECT_TRUE(impulse.segment<2>(3 * i).isZero(0.0));
}

}  // namespace
}  // namespace conebench
