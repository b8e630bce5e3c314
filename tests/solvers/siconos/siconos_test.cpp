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

namespace conebench {
namespace {

using namespace conebench::testing;

const std::vector<std::string> ids = {"SICONOS-NSGS", "SICONOS-NSGS-PLI", "SICONOS-NSN-AC", "SICONOS-NSN-NM",
                                      "SICONOS-ADMM", "SICONOS-VI-EG",    "SICONOS-PROX",   "SICONOS-ACLM"};

bool here() { return find_solver(ids.front()) != nullptr; }

TEST(SiconosRows, AreListedWithTheReasonWhereTheyAreMissing) {
  for (const std::string& id : ids) {
    const auto catalogue = solver_catalogue();
    EXPECT_EQ(std::count_if(catalogue.begin(), catalogue.end(),
                            [&](const SolverRow& row) { return row.info.id == id && row.info.own_process; }),
              1)
        << id;
    if (here()) continue;
    const auto row = require_solver(id);
    ASSERT_FALSE(row.ok());
    EXPECT_EQ(row.error().code, ErrorCode::unsupported);
    EXPECT_NE(row.error().message.find("libsiconos-numerics-dev"), std::string::npos) << row.error().message;
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
    if (!here()) GTEST_SKIP() << "this build has no Siconos";
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
  const ContactProblem problem = make_problem("sphere-lattice", {{"push", 0.5}});
  const auto solver = prepared(*find_solver(GetParam()), problem);
  const StopRule stop{.tolerance = 1e-5, .stop_by = StopBy::judge};
  LadderMonitor first(1, 5);
  const Answer found = solve(*solver, problem, stop, first);
  ASSERT_EQ(found.summary.status, SolveStatus::converged) << found.summary.message;
  EXPECT_EQ(first.own_errors.size(), 5U);
  EXPECT_EQ(first.thrown_away, 4);
  EXPECT_LE(first.own_errors.back(), first.own_errors.front());
  LadderMonitor again(5, 5);
  const Answer repeated = solve(*solver, problem, stop, again);
  EXPECT_EQ(again.own_errors.size(), 1U);
  EXPECT_EQ(again.thrown_away, 0);
  EXPECT_EQ(repeated.impulse, found.impulse);
}

TEST_P(Siconos, ComesBackToTheLoosestRungAfterAJump) {
  const ContactProblem problem = make_problem("sphere-lattice", {{"push", 0.5}});
  const auto solver = prepared(*find_solver(GetParam()), problem);
  const StopRule stop{.tolerance = 1e-5, .stop_by = StopBy::judge};
  LadderMonitor stepwise(1, 3);
  const Answer expected = solve(*solver, problem, stop, stepwise);
  LadderMonitor jumping(1, 3, 80.0);  // 80 < 3^4: rungs 1, 5, 3, 2, and 3 again
  const Answer found = solve(*solver, problem, stop, jumping);
  ASSERT_EQ(found.summary.status, SolveStatus::converged) << found.summary.message;
  EXPECT_EQ(jumping.thrown_away, 4);
  EXPECT_EQ(found.impulse, expected.impulse);
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
  const auto cell = solve_cell(make_problem("sphere-lattice", {{"push", 0.5}}), request, &trace);
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
  const ContactProblem problem = make_problem("sphere-lattice", {{"push", 0.5}});
  const SolverRow& row = *find_solver(GetParam());
  // Siconos never ends MUMPS, which factors what is not dense.
  const bool factors =
      GetParam().find("NSN") != std::string::npos || GetParam() == "SICONOS-ADMM" || GetParam() == "SICONOS-PROX";
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

INSTANTIATE_TEST_SUITE_P(Peers, Siconos, ::testing::ValuesIn(ids), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace conebench
