// The peers of Siconos. Where the build lacks them, all but the first test are skipped.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fclib_loader/fclib_file.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/attempts.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

const std::vector<std::string> ids = {"SICONOS-NSGS", "SICONOS-NSGS-PLI", "SICONOS-NSN-AC", "SICONOS-NSN-NM",
                                      "SICONOS-ADMM", "SICONOS-VI-EG",    "SICONOS-PROX",   "SICONOS-ACLM"};
/// Of versions after 4.5 alone.
const std::vector<std::string> later_ids = {"SICONOS-NSN-AC-NEW", "SICONOS-IPM-SNM"};

std::vector<std::string> every_id() {
  std::vector<std::string> all = ids;
  all.insert(all.end(), later_ids.begin(), later_ids.end());
  return all;
}

bool here() { return find_solver(ids.front()) != nullptr; }

TEST(SiconosRows, AreListedWithTheReasonWhereTheyAreMissing) {
  for (const std::string& id : every_id()) {
    const auto catalogue = solver_catalogue();
    EXPECT_EQ(std::count_if(catalogue.begin(), catalogue.end(),
                            [&](const SolverRow& row) { return row.info.id == id && row.info.own_process; }),
              1)
        << id;
    if (find_solver(id) != nullptr) continue;
    const auto row = require_solver(id);
    ASSERT_FALSE(row.ok());
    EXPECT_EQ(row.error().code, ErrorCode::unsupported);
    const char* const advice = here() ? "SiconosNumerics_ROOT" : "libsiconos-numerics-dev";
    EXPECT_NE(row.error().message.find(advice), std::string::npos) << row.error().message;
  }
}

TEST(SiconosRows, TakeNeitherIntervalsNorConesOfOtherLaws) {
  for (const SolverRow& row : solver_catalogue()) {
    if (row.info.id.find("SICONOS") == std::string::npos) continue;
    EXPECT_FALSE(row.info.intervals) << row.info.id;
    EXPECT_FALSE(row.info.friction_cones) << row.info.id;
  }
}

class Siconos : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (find_solver(GetParam()) == nullptr) GTEST_SKIP() << "the Siconos of this build has no such solver";
  }
  /// Its tests are absolute: by default it is given a problem free of units.
  bool scales() const { return GetParam() == "SICONOS-NSN-AC-NEW" || interior_point(); }
  bool interior_point() const { return GetParam() == "SICONOS-IPM-SNM"; }
  /// A problem that all of them solve in little time.
  ContactProblem easy_problem() const {
    return interior_point() ? make_problem("known-solution", {{"contacts", 6L}, {"rank_share", 1.0}})
                            : make_problem("sphere-lattice", {{"push", 0.5}});
  }
  /// 4.4 repeats an answer to the bit. Later versions do so to rounding where MUMPS factors, which moves impulses that
  /// are not unique; velocities are.
  static void expect_repeated(const ContactProblem& problem, const Vector& again, const Vector& impulse) {
    if (find_solver(later_ids.front()) == nullptr) {
      EXPECT_EQ(again, impulse);
      return;
    }
    Vector velocity(problem.rows()), expected(problem.rows());
    problem.velocity(again, velocity);
    problem.velocity(impulse, expected);
    EXPECT_LE((velocity - expected).norm(), 1e-3);  // both are within own tolerances of 1e-4
  }
};

/// Real 3D problems of contacts alone, or generated ones where there is no shared folder.
std::vector<ContactProblem> problems(Index max_contacts) {
  std::vector<ContactProblem> all;
  if (const auto folder = shared_data("fclib/open")) {
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
      const auto problem = load_fclib(entry.path());
      if (!problem) continue;
      const ConeProduct& cones = problem->cones();
      if (cones.contact_dimension() != 3 || cones.contacts() == 0 || cones.first_contact_row() > 0) continue;
      if (cones.contacts() <= max_contacts) all.push_back(*problem);
    }
  } else {
    all.push_back(make_problem("box-stack", {{"boxes", 4L}, {"mass_ratio", 30.0}}));
    all.push_back(make_problem("sphere-lattice", {{"push", 0.5}}));
    all.push_back(make_problem("known-solution", {{"contacts", 12L}, {"rank_share", 0.5}}));
  }
  return all;
}

TEST_P(Siconos, OwnErrorIsTheJudgesOnEveryProblem) {
  if (interior_point()) GTEST_SKIP() << "its error is that of its smoothed equations";
  // variationalInequality_ExtraGradient divides by ‖g‖ alone, everything else by the largest of ‖g‖, ‖λ‖ and ‖σ‖.
  const std::string measure = GetParam() == "SICONOS-VI-EG" ? "natural_map_relative_g" : "natural_map_relative";
  std::size_t compared = 0;
  std::string left_out;
  const std::vector<ContactProblem> all = problems(600);
  for (const ContactProblem& problem : all) {
    SCOPED_TRACE(problem.provenance().name);
    CellRequest request;
    request.solver = GetParam();
    if (GetParam() == "SICONOS-VI-EG") request.options = {{"error_evaluation", std::string("full")}};
    if (scales()) request.options = {{"scaling", std::string("none")}};
    request.tolerance = 1e-10;
    request.max_iterations = 3;
    request.stop_by = StopBy::solver;
    request.repeats = {1, 0.0, 1};
    const auto cell = solve_cell(problem, request);
    ASSERT_TRUE(cell);
    if (cell->status == CellStatus::unsupported || cell->status == CellStatus::diverged ||
        cell->status == CellStatus::timeout) {
      left_out += "\n" + problem.provenance().name + ": " + to_string(cell->status) + " " + cell->reason;
      continue;
    }
    ASSERT_NE(cell->status, CellStatus::crashed) << cell->reason;
    ASSERT_TRUE(cell->own_residual_known);
    const double judged = cell->residuals.at(measure).value.value();
    EXPECT_NEAR(cell->own_residual, judged, 0.01 * judged + 1e-13);
    ++compared;
  }
  EXPECT_EQ(compared, all.size()) << left_out;
}

TEST_P(Siconos, EveryFormOfTheMatrixGivesTheSameVelocities) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 12L}, {"rank_share", 1.0}});
  Vector expected(problem.rows());
  problem.velocity(problem.reference()->reaction, expected);
  const SolverRow& row = *find_solver(GetParam());
  const auto& choices = row.options.front().choices;
  ASSERT_EQ(row.options.front().name, "storage");
  for (const std::string& storage : choices) {
    SCOPED_TRACE(storage);
    const auto solver = prepared(row, problem, {{"storage", storage}});
    JudgingMonitor monitor(problem, "natural_map_scaled", 1e-9);
    const Answer answer = solve(*solver, problem, {.tolerance = 1e-9, .stop_by = StopBy::judge}, monitor);
    ASSERT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
    Vector velocity(problem.rows());
    problem.velocity(answer.impulse, velocity);
    EXPECT_LE((velocity - expected).norm(), 1e-6);
  }
}

/// Accepts at a rung of the ladder, and counts the runs.
class LadderMonitor final : public Monitor, public Attempts {
 public:
  LadderMonitor(long first_due, long accepted, double behind = NAN) : accepted_(accepted), verdict_ratio_(behind) {
    next_ = first_due;
  }
  void start_over() override { ++thrown_away; }
  double verdict_ratio() const override { return verdict_ratio_; }
  std::vector<double> own_errors;
  int thrown_away = 0;

 private:
  Decision check(long iteration, ConstVectorRef, double own_residual) override {
    own_errors.push_back(own_residual);
    return iteration >= accepted_ ? Decision::accept : Decision::keep_going;
  }
  long accepted_;
  double verdict_ratio_;
};

TEST_P(Siconos, TightensUntilAcceptedAndRepeatsThatRunAlone) {
  const ContactProblem problem = easy_problem();
  const auto solver = prepared(*find_solver(GetParam()), problem);
  const StopRule stop{.tolerance = 1e-5, .stop_by = StopBy::judge};
  LadderMonitor first(1, 5);
  const Answer found = solve(*solver, problem, stop, first);
  ASSERT_EQ(found.summary.status, SolveStatus::converged) << found.summary.message;
  EXPECT_EQ(first.own_errors.size(), 5U);
  EXPECT_EQ(first.thrown_away, 4);
  EXPECT_LE(first.own_errors.back(), first.own_errors.front() + 1e-15);
  LadderMonitor again(5, 5);
  const Answer repeated = solve(*solver, problem, stop, again);
  EXPECT_EQ(again.own_errors.size(), 1U);
  EXPECT_EQ(again.thrown_away, 0);
  expect_repeated(problem, repeated.impulse, found.impulse);
}

TEST_P(Siconos, ComesBackToTheLoosestRungAfterAJump) {
  const ContactProblem problem = easy_problem();
  const auto solver = prepared(*find_solver(GetParam()), problem);
  const StopRule stop{.tolerance = 1e-5, .stop_by = StopBy::judge};
  LadderMonitor stepwise(1, 3);
  const Answer expected = solve(*solver, problem, stop, stepwise);
  LadderMonitor jumping(1, 3, 80.0);  // 80 < 3^4: rungs 1, 5, 3, 2, and 3 again
  const Answer found = solve(*solver, problem, stop, jumping);
  ASSERT_EQ(found.summary.status, SolveStatus::converged) << found.summary.message;
  EXPECT_EQ(jumping.thrown_away, 4);
  expect_repeated(problem, found.impulse, expected.impulse);
}

TEST_P(Siconos, ARunThatCantBeStoppedEndsAsATimeoutAndNotWithTheCaller) {
  CellRequest request;
  request.solver = GetParam();
  request.tolerance = 1e-300;
  request.max_iterations = 2'000'000'000;
  request.seconds = 0.05;
  request.stop_by = StopBy::solver;
  const auto cell = solve_cell(make_problem("random", {{"contacts", 20L}}), request);
  ASSERT_TRUE(cell);
  EXPECT_FALSE(cell->solved);
  EXPECT_NE(cell->status, CellStatus::crashed) << cell->reason;
}

TEST_P(Siconos, TracesItsRunsInTheirProcess) {
  CellRequest request;
  request.solver = GetParam();
  request.tolerance = 1e-6;
  request.repeats = {1, 0.0, 1};
  std::string trace;
  const auto cell = solve_cell(easy_problem(), request, &trace);
  ASSERT_TRUE(cell);
  EXPECT_TRUE(cell->solved) << cell->status << " " << cell->reason;
  EXPECT_EQ(trace.rfind("iteration,", 0), 0U);
  EXPECT_GE(std::count(trace.begin(), trace.end(), '\n'), 2);
}

std::size_t allocated_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_P(Siconos, RunsGiveTheirMemoryBack) {
  const ContactProblem problem = easy_problem();
  const SolverRow& row = *find_solver(GetParam());
  // Siconos never ends MUMPS, which factors what is not dense.
  const bool factors = GetParam().find("NSN") != std::string::npos || GetParam() == "SICONOS-ADMM" ||
                       GetParam() == "SICONOS-PROX" || interior_point();
  for (const std::string& storage : row.options.front().choices) {
    if (factors && storage != "dense") continue;
    const auto run = [&] {
      const auto solver = prepared(row, problem, {{"storage", storage}});
      SilentMonitor silent;
      solve(*solver, problem, {.tolerance = 1e-4, .max_iterations = 20, .stop_by = StopBy::solver}, silent);
    };
    for (int i = 0; i < 3; ++i) run();  // what is made once
    const std::size_t before = allocated_bytes();
    constexpr int runs = 20;
    for (int i = 0; i < runs; ++i) run();
    EXPECT_LE(allocated_bytes(), before + 1000 * runs) << storage << ": more than what Siconos forgets itself";
  }
}

TEST_P(Siconos, JointsLimitsAndPlanesAreRefusedWithAReason) {
  const SolverRow& row = *find_solver(GetParam());
  const auto refuses = [&](const OptionValues& values) {
    const auto reason = row.make({}).value()->unsupported_reason(make_problem("random", values));
    return reason.has_value() && !reason->empty();
  };
  EXPECT_TRUE(refuses({{"contacts", 3L}, {"joints", 2L}}));
  EXPECT_TRUE(refuses({{"contacts", 3L}, {"limits", 2L}}));
  EXPECT_EQ(refuses({{"contacts", 3L}, {"dimension", 2L}}), GetParam() != "SICONOS-NSGS");
}

TEST_P(Siconos, UnitsDoNotChangeWhatIsSolvedWhereItIsScaled) {
  if (!scales()) GTEST_SKIP() << "it has no scaling";
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 12L}, {"rank_share", 1.0}});
  const auto solver = prepared(*find_solver(GetParam()), problem);
  const StopRule stop{.tolerance = 1e-9, .stop_by = StopBy::solver};
  SilentMonitor silent;
  const Answer answer = solve(*solver, problem, stop, silent);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
  constexpr double impulse_scale = 1e6;
  const ContactProblem other = change_units(problem, impulse_scale, 1e-3).problem;
  const auto again = prepared(*find_solver(GetParam()), other);
  const Answer scaled = solve(*again, other, stop, silent);
  ASSERT_EQ(scaled.summary.status, SolveStatus::converged) << scaled.summary.message;
  EXPECT_EQ(scaled.summary.iterations, answer.summary.iterations);
  EXPECT_LE((scaled.impulse / impulse_scale - answer.impulse).norm(), 1e-6 * answer.impulse.norm());
}

TEST_P(Siconos, RollingFrictionIsSolvedWhereItIsTaken) {
  const SolverRow& row = *find_solver(GetParam());
  if (!row.info.rolling) GTEST_SKIP() << "it takes no rolling friction";
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 4L}, {"dimension", 5L}, {"lever", 0.1}});
  const auto solver = prepared(row, problem);
  JudgingMonitor monitor(problem, "natural_map_scaled", 1e-6);
  const Answer answer = solve(*solver, problem, {.tolerance = 1e-6, .stop_by = StopBy::judge}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
}

TEST_P(Siconos, TheInteriorPointMethodRefusesContactsWithoutFriction) {
  if (!interior_point()) GTEST_SKIP() << "it takes them";
  const auto reason =
      find_solver(GetParam())
          ->make({})
          .value()
          ->unsupported_reason(make_problem("random", {{"contacts", 3L}, {"mu_min", 0.0}, {"mu_max", 0.0}}));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("contact 0"), std::string::npos) << *reason;
}

INSTANTIATE_TEST_SUITE_P(Peers, Siconos, ::testing::ValuesIn(every_id()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace conebench
