// What every row of the solver table keeps. A new row gets all of it for free; what it can't do stands in
// known_failures() with the reason.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

struct KnownFailure {
  std::string solver;
  std::string problem;
  std::string reason;
  bool may_succeed = false;  ///< rounding decides, so another compiler's code may solve it
};

constexpr const char* own_solution = "its own solution";

/// Micro problems on which a solver ends short of 1e-6 in 20,000 iterations; each is tried and must still fail.
std::vector<KnownFailure> known_failures() {
  const std::string pivots = "Yamane takes zeros that rounding has made negative for pivots (min_pivot = 0)";
  const std::string printed = "its printed step is too long where the axes of a block differ as much as mu's squares";
  const std::string proximal = "its fixed proximal step diverges there; COND-PROX-S solves it";
  return {{"PGS-NCP", "orthotropic friction that holds", printed},
          {"PGS-NCP", "torsion that holds", printed},
          {"PGS-NCP", "ball that rests", printed},
          {"PGS-NCP", "all kinds of rows and laws", printed},
          {"PGS-LCP", "orthotropic friction that holds", printed},
          {"PGS-CCP", "orthotropic friction that holds", printed},
          {"PGS-CCP-DS", "orthotropic friction that holds", printed},
          {"COND-PROX", "orthotropic friction that holds", proximal},
          {"COND-PROX", "orthotropic slip", proximal},
          {"COND-PROX", "orthotropic take-off", proximal},
          {"EXAMPLE-JACOBI", "orthotropic friction that holds", printed},
          {"EXAMPLE-JACOBI", "orthotropic slip", printed},
          {"FP-DS", "orthotropic friction that holds",
           "its step comes from a power iteration that does not see the second tangent, which nothing couples"},
          {"FP-DS", "all kinds of rows and laws", "its step is too long there, as on the one above"},
          {"LEMKE-LEX", "the same sliding contact twice", pivots, true},
          {"LEMKE", "cube held at four corners", pivots, true},
          {"LEMKE", "cube held at eight corners", pivots, true},
          {"LEMKE-LEX", "cube held at four corners", pivots, true},
          {"LEMKE-LEX", "cube held at eight corners", pivots, true},
          {"IPOPT-CCP", "a zero block that opens",
           "an open contact lies at the cone's tip, where the squared constraint has no gradient", true},
          {"SICONOS-NSN-AC", "a zero block that opens", "its step there is 1/0"},
          {"SICONOS-NSN-NM", own_solution, "it tests after a step only, and leaves the solution where M is singular",
           true}};
}

bool is_known_failure(const std::string& solver, const std::string& problem) {
  const auto list = known_failures();
  return std::any_of(list.begin(), list.end(),
                     [&](const KnownFailure& k) { return k.solver == solver && k.problem == problem; });
}

/// Coupled and redundant, with joints, limits and sliding contacts.
ContactProblem busy_problem(Index joints = 1, Index limits = 1, Index contacts = 4) {
  const Index rows = joints + limits + 3 * contacts;
  const Matrix jacobian =
      Matrix::NullaryExpr(rows, 12, [](Index i, Index j) { return std::sin(double(5 * i * i + 3 * j + i * j + 1)); });
  const Vector velocity = Vector::NullaryExpr(12, [](Index i) { return std::cos(double(3 * i + 1)); });
  return micro(jacobian * jacobian.transpose(), jacobian * velocity,
               cones(joints, limits, std::vector<double>(static_cast<std::size_t>(contacts), 0.4)));
}

bool may_succeed(const std::string& solver, const std::string& problem) {
  const auto list = known_failures();
  return std::any_of(list.begin(), list.end(), [&](const KnownFailure& k) {
    return k.solver == solver && k.problem == problem && k.may_succeed;
  });
}

/// Joint, limit, bounded rows that hold and that yield, contacts of 3, 4, 5 and 6 rows; coupled and redundant.
ContactProblem general_problem(bool intervals, bool laws) {
  const ConeProduct product = general_cones(
      1, 1, intervals ? std::vector<Interval>{{-0.3, 0.2}, {-50.0, 60.0}, {0.1, 0.1}} : std::vector<Interval>{},
      laws ? std::vector<FrictionLaw>{FrictionLaw::coulomb(0.4), FrictionLaw::rolling(0.4, 0.1),
                                      ellipsoid({0.4, 0.4, 0.1}), ellipsoid({0.5, 0.5, 0.1, 0.2, 0.2}),
                                      product_torsion(0.4, 0.1)}
           : std::vector<FrictionLaw>(3, FrictionLaw::coulomb(0.4)));
  const Matrix jacobian = Matrix::NullaryExpr(
      product.rows(), 12, [](Index i, Index j) { return std::sin(double(5 * i * i + 3 * j + i * j + 1)); });
  const Vector velocity = Vector::NullaryExpr(12, [](Index i) { return std::cos(double(3 * i + 1)); });
  return micro(jacobian * jacobian.transpose(), jacobian * velocity, product);
}

bool widened(const ContactProblem& problem) {
  return !problem.cones().intervals().empty() || !problem.cones().coulomb();
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  const SolverRow& row() const { return *find_solver(GetParam()); }

  /// A problem that the row takes, with joints and limits where it can.
  ContactProblem problem() const {
    return made_fit(row(), busy_problem(row().info.joints ? 1 : 0, row().info.limits ? 1 : 0));
  }

  /// The same, and one with all that the row takes beyond Coulomb's friction, joints and limits.
  std::vector<ContactProblem> problems() const {
    std::vector<ContactProblem> all{problem()};
    if (!row().info.intervals && !row().info.friction_cones) return all;
    const ContactProblem general = made_fit(row(), general_problem(row().info.intervals, row().info.friction_cones));
    if (!row().make({}).value()->unsupported_reason(general)) all.push_back(general);
    return all;
  }
};

TEST_P(Conformance, SolvesMicroProblemsOfItsModel) {
  for (const MicroProblem& m : micro_problems()) {
    SCOPED_TRACE(m.name);
    const auto solver = row().make({}).value();
    const ContactProblem problem = made_fit(row(), m.problem);
    if (solver->unsupported_reason(problem)) continue;
    const double tolerance = widened(m.problem) ? 1e-10 : 1e-9;
    const Answer answer = solve_to_verdict(row(), problem, tolerance);
    if (is_known_failure(GetParam(), m.name)) {
      if (may_succeed(GetParam(), m.name)) continue;
      EXPECT_NE(answer.summary.status, SolveStatus::converged) << "solved now: take it off the list";
      continue;
    }
    ASSERT_EQ(answer.summary.status, SolveStatus::converged)
        << answer.summary.message << " after " << answer.summary.iterations << " iterations";
    EXPECT_LE((judge(problem, answer.impulse)[own_model_residual(row().info)].value), tolerance);
    if (problem.content_hash() != m.problem.content_hash()) continue;  // the velocities are those of R = 0
    if (!m.velocity || (m.relaxed_differs && row().info.formulation != Formulation::ncp)) continue;
    Vector velocity(m.problem.rows());
    m.problem.velocity(answer.impulse, velocity);
    EXPECT_LE((velocity - *m.velocity).norm(), 1e-6) << velocity.transpose();
  }
}

/// Gauss-Seidel sweeps with fixed steps: a row sees another only through the blocks of G between them.
bool sweeps_by_rows(const std::string& id) {
  const std::set<std::string> list = {"NSGS",         "PGS-NCP", "PGS-NCP-SAFE", "PGS-LCP",
                                      "PGS-LCP-SAFE", "PGS-CCP", "PGS-CCP-DS"};
  return list.contains(id);
}

TEST_P(Conformance, IntervalsThatNeverActChangeNothing) {
  if (!row().info.intervals) GTEST_SKIP() << "takes no rows with bounds";
  SilentMonitor silent;
  for (const MicroProblem& m : micro_problems()) {
    SCOPED_TRACE(m.name);
    if (m.problem.rows() == 0 || is_known_failure(GetParam(), m.name)) continue;
    const ContactProblem idle = with_idle_intervals(m.problem);
    const auto solver = row().make({}).value();
    if (solver->unsupported_reason(m.problem) || solver->unsupported_reason(idle)) continue;
    const Index at = m.problem.cones().first_contact_row();
    const auto without = [&](const Vector& x) {
      Vector rows(m.problem.rows());
      rows << x.head(at), x.tail(m.problem.rows() - at);
      return rows;
    };
    if (sweeps_by_rows(GetParam())) {
      const StopRule stop{.max_iterations = 20, .stop_by = StopBy::judge};
      const Answer expected = solve(*prepared(row(), m.problem), m.problem, stop, silent);
      const Answer answer = solve(*prepared(row(), idle), idle, stop, silent);
      EXPECT_EQ(without(answer.impulse), expected.impulse);
      EXPECT_EQ(answer.impulse.segment(at, 2), Eigen::Vector2d::Zero());
      continue;
    }
    const Answer answer = solve_to_verdict(row(), idle, 1e-10);
    ASSERT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
    EXPECT_LE(answer.impulse.segment(at, 2).norm(), 1e-9);
    if (!m.velocity || (m.relaxed_differs && row().info.formulation != Formulation::ncp)) continue;
    EXPECT_LE((without(velocity(idle, answer.impulse)) - *m.velocity).norm(), 1e-6);
  }
}

TEST_P(Conformance, ClaimsOnlyWhatItMeasured) {
  for (const MicroProblem& m : micro_problems()) {
    SCOPED_TRACE(m.name);
    const auto solver = row().make({}).value();
    const ContactProblem problem = made_fit(row(), m.problem);
    if (!solver->prepare(problem)) continue;
    SilentMonitor silent;
    const Answer answer = solve(*solver, problem, {.tolerance = 1e-7, .stop_by = StopBy::solver}, silent);
    ASSERT_TRUE(answer.impulse.allFinite());
    if (answer.summary.status == SolveStatus::converged) {
      EXPECT_LE(answer.summary.own_residual, 1e-7);
    } else {
      // NBGS and RAISIM test themselves on the NCP, which their model can't meet where something slides.
      const bool other_model = m.relaxed_differs && row().info.formulation == Formulation::model;
      EXPECT_TRUE(other_model || is_known_failure(GetParam(), m.name)) << to_string(answer.summary.status);
    }
  }
}

TEST_P(Conformance, SaysWhyAProblemIsUnsupported) {
  const auto solver = row().make({}).value();
  for (const MicroProblem& m : micro_problems()) {
    SCOPED_TRACE(m.name);
    const auto reason = solver->unsupported_reason(m.problem);
    const auto ready = solver->prepare(m.problem);
    EXPECT_EQ(ready.ok(), !reason);
    if (reason) {
      EXPECT_FALSE(reason->empty());
      EXPECT_EQ(ready.error().code, ErrorCode::unsupported);
    }
    EXPECT_TRUE(reason.has_value() || !unsupported_by_flags(row().info, m.problem).has_value());
  }
}

TEST_P(Conformance, EmptyProblemIsSolvedWithoutIterations) {
  const auto empty = micro(Matrix(0, 0), Vector(0), cones(0, 0, {}));
  const auto solver = prepared(row(), empty);
  SilentMonitor silent;
  for (const StopBy stop_by : {StopBy::solver, StopBy::judge, StopBy::judge_timed}) {
    const Answer answer = solve(*solver, empty, {.stop_by = stop_by}, silent);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_EQ(answer.summary.iterations, 0);
  }
}

TEST_P(Conformance, RepeatsAreBitIdentical) {
  const StopRule stop{.max_iterations = 30, .stop_by = StopBy::judge};
  SilentMonitor silent;
  for (const ContactProblem& chosen : problems()) {
    const auto solver = prepared(row(), chosen);
    const Answer first = solve(*solver, chosen, stop, silent);
    const Answer second = solve(*solver, chosen, stop, silent);
    const Answer fresh = solve(*prepared(row(), chosen), chosen, stop, silent);
    EXPECT_EQ(first.impulse, second.impulse);
    EXPECT_EQ(first.impulse, fresh.impulse);
    EXPECT_EQ(first.summary.iterations, second.summary.iterations);
    EXPECT_EQ(first.summary.operator_products, second.summary.operator_products);
  }
}

TEST_P(Conformance, CanBePreparedForAnotherProblem) {
  const auto solver = prepared(row(), made_fit(row(), cube_on_corners(4, 0.01, 0.8)));
  ASSERT_TRUE(solver->prepare(problem()));
  const StopRule stop{.max_iterations = 30, .stop_by = StopBy::judge};
  SilentMonitor silent;
  const Answer again = solve(*solver, problem(), stop, silent);
  EXPECT_EQ(again.impulse, solve(*prepared(row(), problem()), problem(), stop, silent).impulse);
}

TEST_P(Conformance, KeepsToTheMostIterations) {
  const auto solver = prepared(row(), problem());
  SilentMonitor silent;
  for (const long most : {1L, 2L, 7L}) {
    const Answer answer =
        solve(*solver, problem(), {.tolerance = 0.0, .max_iterations = most, .stop_by = StopBy::solver}, silent);
    EXPECT_LE(answer.summary.iterations, most);
    EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
  }
}

TEST_P(Conformance, StopsAtTheIterateWhereTheMonitorAccepts) {
  const auto solver = prepared(row(), problem());
  SilentMonitor silent;
  for (const long at : {1L, 4L}) {
    const Answer plain = solve(*solver, problem(), {.max_iterations = at, .stop_by = StopBy::judge}, silent);
    StoppingMonitor monitor(at);
    const Answer stopped = solve(*solver, problem(), {.stop_by = StopBy::judge}, monitor);
    EXPECT_EQ(stopped.summary.status, SolveStatus::converged);
    EXPECT_EQ(stopped.impulse, monitor.seen) << "the monitor sees what is returned";
    StoppingMonitor clock(at, Decision::out_of_time);
    const Answer late = solve(*solver, problem(), {.stop_by = StopBy::judge}, clock);
    EXPECT_EQ(late.summary.status, SolveStatus::time_limit);
    EXPECT_EQ(late.impulse, stopped.impulse);
    if (!row().info.observed_every_iteration) continue;
    EXPECT_EQ(stopped.summary.iterations, at);
    EXPECT_EQ(monitor.iterations.size(), static_cast<std::size_t>(at)) << "it checks every iterate that is due";
    EXPECT_EQ(stopped.impulse, plain.impulse);
  }
}

class ConformanceOfMemory : public Conformance {};

TEST_P(ConformanceOfMemory, AllocatesAsDeclared) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const ContactProblem& chosen : problems()) {
    const auto solver = prepared(row(), chosen);
    const Vector guess = Vector::Zero(chosen.rows());
    Vector impulse(chosen.rows());
    SilentMonitor silent;
    for (const StopBy stop_by : {StopBy::solver, StopBy::judge}) {
      const StopRule stop{.tolerance = 0.0, .max_iterations = 200, .stop_by = stop_by};
      const long before = allocation_count();
      const SolveSummary summary = solver->solve(guess, stop, silent, impulse);
      const long allocations = allocation_count() - before;
      if (row().info.allocates == Allocation::none) {
        EXPECT_EQ(allocations, 0);
      } else {
        // Some for every factorization, none for the iterations between.
        EXPECT_LE(allocations, 100 * (summary.factorizations + 1)) << summary.iterations << " iterations";
      }
    }
  }
}

class ConformanceFromASolution : public Conformance {};

TEST_P(ConformanceFromASolution, StopsAtOnceFromItsOwnSolution) {
  const ContactProblem start = made_fit(row(), cube_on_corners(4, 0.01, 0.8));
  const Answer solved = solve_to_verdict(row(), start, 1e-10);
  ASSERT_EQ(solved.summary.status, SolveStatus::converged);
  const Answer warm = solve_to_verdict(row(), start, 1e-6, solved.impulse);
  EXPECT_EQ(warm.summary.status, SolveStatus::converged);
  // Of these rounding decides whether they take a step from there.
  if (is_known_failure(GetParam(), own_solution)) return;
  EXPECT_LE(warm.summary.iterations, 1);
}

TEST_P(Conformance, NeverReturnsNanInSilence) {
  SilentMonitor silent;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<ContactProblem, Vector>> traps;
  traps.emplace_back(problem(), Vector::Constant(problem().rows(), nan));
  traps.emplace_back(problem(), Vector::Constant(problem().rows(), 1e300));
  for (const double scale : {1e-200, 1e200}) {
    const ContactProblem base = problem();
    traps.emplace_back(micro(scale * base.delassus().dense(), base.free_term(), base.cones()), Vector());
    traps.emplace_back(micro(base.delassus().dense(), scale * base.free_term(), base.cones()), Vector());
  }
  // No impulse can stop this one.
  traps.emplace_back(micro(Matrix::Zero(3, 3), vector({1, 0, -1}), cones(0, 0, {0.5})), Vector());
  for (const auto& [trap, guess] : traps) {
    const auto solver = row().make({}).value();
    if (!solver->prepare(trap)) continue;
    for (const StopBy stop_by : {StopBy::solver, StopBy::judge}) {
      const Answer answer = solve(*solver, trap, {.max_iterations = 300, .stop_by = stop_by}, silent, guess);
      if (answer.impulse.allFinite()) continue;
      EXPECT_TRUE(answer.summary.status == SolveStatus::diverged || answer.summary.status == SolveStatus::breakdown)
          << to_string(answer.summary.status);
    }
  }
}

TEST_P(Conformance, OptionsRoundTrip) {
  const auto defaults = row().effective_options({});
  ASSERT_TRUE(defaults.ok());
  for (const OptionSpec& spec : row().options) {
    // One that came later is left out at its default, so that older records keep their names.
    if (defaults->contains(spec.name)) {
      EXPECT_EQ(defaults->at(spec.name), spec.default_value) << spec.name;
    }
    EXPECT_EQ(*row().effective_options({{spec.name, spec.default_value}}), *defaults) << spec.name;
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    const auto parsed = parse_option(spec, to_text(spec.default_value));
    ASSERT_TRUE(parsed.ok()) << spec.name;
    EXPECT_EQ(*parsed, spec.default_value) << spec.name;
    if (std::isfinite(spec.maximum)) {
      const OptionValue above = std::holds_alternative<long>(spec.default_value)
                                    ? OptionValue{static_cast<long>(spec.maximum) + 1}
                                    : OptionValue{spec.maximum * 2.0 + 1.0};
      EXPECT_FALSE(row().make({{spec.name, above}}).ok()) << spec.name;
    }
    for (const std::string& choice : spec.choices) {
      EXPECT_TRUE(row().make({{spec.name, choice}}).ok()) << choice;
      if (OptionValue(choice) == spec.default_value) continue;
      EXPECT_EQ(row().effective_options({{spec.name, choice}})->at(spec.name), OptionValue(choice)) << spec.name;
    }
  }
  EXPECT_EQ(*row().effective_options(*defaults), *defaults);
  EXPECT_TRUE(row().make(*defaults).ok());
  EXPECT_FALSE(row().make({{"no-such-option", 1L}}).ok());
}

class ConformanceInTurnedFrames : public Conformance {};

TEST_P(ConformanceInTurnedFrames, IteratesTurnWithTheTangents) {
  for (const ContactProblem& original : problems()) {
    const Transformed turned = rotate_tangents(original, random_angles(original.cones().contacts(), 1));
    SilentMonitor silent;
    const StopRule stop{.max_iterations = 10, .stop_by = StopBy::judge};
    const Answer expected = solve(*prepared(row(), original), original, stop, silent);
    const Answer actual = solve(*prepared(row(), turned.problem), turned.problem, stop, silent);
    EXPECT_LE((turned.old_impulse(actual.impulse) - expected.impulse).norm(), 1e-8 * expected.impulse.norm());
  }
}

class ConformanceInOtherUnits : public Conformance {};

TEST_P(ConformanceInOtherUnits, IteratesScaleWithTheUnits) {
  for (const ContactProblem& original : problems()) {
    SilentMonitor silent;
    const StopRule stop{.max_iterations = 10, .stop_by = StopBy::judge};
    const Answer expected = solve(*prepared(row(), original), original, stop, silent);
    for (const auto& [impulse, velocity] : {std::pair{1e-6, 1.0}, std::pair{1e6, 1e-3}, std::pair{1.0, 1e6}}) {
      const Transformed scaled = change_units(original, impulse, velocity);
      const Answer actual = solve(*prepared(row(), scaled.problem), scaled.problem, stop, silent);
      EXPECT_LE((scaled.old_impulse(actual.impulse) - expected.impulse).norm(), 1e-8 * expected.impulse.norm());
    }
  }
}

TEST_P(Conformance, HasAnInfo) {
  const SolverInfo& info = row().info;
  EXPECT_EQ(row().make({}).value()->info().id, info.id);
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.citation.empty());
  EXPECT_FALSE(info.summary.empty());
  EXPECT_GE(info.version, 1);
  EXPECT_EQ(std::count_if(solver_table().begin(), solver_table().end(),
                          [&](const SolverRow& other) { return other.info.id == info.id; }),
            1);
}

/// Those of the table whose row does so: what a solver does not declare is not tested.
auto solvers_that(bool (*declares)(const SolverRow&)) {
  std::vector<std::string> ids;
  for (const SolverRow& row : solver_table()) {
    if (declares(row)) ids.push_back(row.info.id);
  }
  return ::testing::ValuesIn(ids);
}

std::string name_of(const ::testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Solvers, Conformance, solvers_that([](const SolverRow&) { return true; }), name_of);
INSTANTIATE_TEST_SUITE_P(Solvers, ConformanceOfMemory,
                         solvers_that([](const SolverRow& row) { return row.info.allocates != Allocation::iteration; }),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Solvers, ConformanceFromASolution, solvers_that([](const SolverRow& row) {
                           return !is_known_failure(row.info.id, "cube held at four corners");
                         }),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Solvers, ConformanceInTurnedFrames,
                         solvers_that([](const SolverRow& row) { return row.info.rotation_invariant; }), name_of);
INSTANTIATE_TEST_SUITE_P(Solvers, ConformanceInOtherUnits,
                         solvers_that([](const SolverRow& row) { return row.info.scale_invariant; }), name_of);

}  // namespace
}  // namespace conebench
