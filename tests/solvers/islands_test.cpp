#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "problems/islands.hpp"
#include "solvers/velocity_solver.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/side_by_side.hpp"

namespace conebench {
namespace {

using testing::Answer;
using testing::bare;
using testing::JudgingMonitor;
using testing::make_problem;
using testing::prepared;
using testing::side_by_side;
using testing::SideBySide;
using testing::solve;

const OptionValues with_islands = {{"islands", 1L}};

std::vector<ContactProblem> several(const std::string& form) {
  std::vector<ContactProblem> problems = {
      bare(make_problem("box-stack", {{"boxes", 3L}, {"form", form}})),
      bare(make_problem("sphere-lattice", {{"nx", 2L}, {"ny", 2L}, {"nz", 2L}, {"push", 0.5}, {"form", form}})),
      bare(make_problem("box-on-slope", {{"form", form}}))};
  return problems;
}

Vector part_of(const Vector& whole, const std::vector<Index>& rows) {
  Vector part(static_cast<Index>(rows.size()));
  gather(whole, rows, part);
  return part;
}

/// Every solver that has the option.
std::vector<const SolverRow*> rows_with_islands() {
  std::vector<const SolverRow*> rows;
  for (const SolverRow& row : solver_table()) {
    if (std::ranges::find(row.common, "islands", &OptionSpec::name) != row.common.end()) rows.push_back(&row);
  }
  return rows;
}

TEST(Islands, EverySolverOfThisBuildInThisProcessHasTheOption) {
  for (const SolverRow& row : solver_table()) {
    const bool has = std::ranges::find(row.common, "islands", &OptionSpec::name) != row.common.end();
    EXPECT_EQ(has, !row.info.own_process) << row.info.id;
    if (has) {
      EXPECT_FALSE(row.effective_options({})->contains("islands")) << "older records keep their keys";
    }
  }
  EXPECT_GT(rows_with_islands().size(), 30U);
}

TEST(Islands, AreSolvedAsTheProblemsAloneToTheLastBit) {
  for (const char* form : {"dense", "factored"}) {
    const auto problems = several(form);
    for (const unsigned seed : {1U, 2U, 3U}) {
      const SideBySide sides = side_by_side(problems, seed);
      for (const SolverRow* row : rows_with_islands()) {
        SCOPED_TRACE(row->info.id + " " + form);
        if (row->make({}).value()->unsupported_reason(sides.whole)) continue;
        const StopRule stop{.tolerance = 1e-6, .max_iterations = 300};
        SilentMonitor silent;
        const Answer together = solve(*prepared(*row, sides.whole, with_islands), sides.whole, stop, silent);
        long most = 0, products = 0, factorizations = 0;
        for (std::size_t p = 0; p < problems.size(); ++p) {
          const Answer alone = solve(*prepared(*row, problems[p]), problems[p], stop, silent);
          EXPECT_EQ(part_of(together.impulse, sides.rows[p]), alone.impulse);
          most = std::max(most, alone.summary.iterations);
          products += alone.summary.operator_products;
          factorizations += alone.summary.factorizations;
        }
        EXPECT_EQ(together.summary.iterations, most);
        const auto counted = [](long sum) { return sum < 0 ? not_counted : sum; };
        EXPECT_EQ(together.summary.operator_products, counted(products));
        EXPECT_EQ(together.summary.factorizations, counted(factorizations));
      }
    }
  }
}

TEST(Islands, OfOneComponentLeaveTheSolverAlone) {
  const ContactProblem problem = bare(make_problem("box-stack", {{"boxes", 3L}}));
  for (const SolverRow* row : rows_with_islands()) {
    SCOPED_TRACE(row->info.id);
    if (row->make({}).value()->unsupported_reason(problem)) continue;
    const StopRule stop{.tolerance = 1e-6, .max_iterations = 300};
    SilentMonitor silent;
    const Answer plain = solve(*prepared(*row, problem), problem, stop, silent);
    const Answer answer = solve(*prepared(*row, problem, with_islands), problem, stop, silent);
    EXPECT_EQ(answer.impulse, plain.impulse);
    EXPECT_EQ(answer.summary.iterations, plain.summary.iterations);
    EXPECT_EQ(answer.summary.message, plain.summary.message);
  }
}

TEST(Islands, AreJudgedOneByOneAndInTheEndTogether) {
  const auto problems = several("factored");
  const SideBySide sides = side_by_side(problems, 4);
  constexpr double tolerance = 1e-8;
  for (const char* id : {"NSGS", "ADMM-NCP-SA", "APGD-CCP", "CASCADE", "PGS-NCP"}) {
    SCOPED_TRACE(id);
    const SolverRow& row = *find_solver(id);
    const std::string residual = testing::own_model_residual(row.info);
    JudgingMonitor monitor(sides.whole, residual, tolerance);
    const StopRule stop{.tolerance = tolerance, .max_iterations = 5000, .stop_by = StopBy::judge};
    const Answer answer = solve(*prepared(row, sides.whole, with_islands), sides.whole, stop, monitor);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
    EXPECT_LE(monitor.last, tolerance);
    EXPECT_LE((*Verdict::create(residual, sides.whole))(answer.impulse), tolerance);
    // A sweep does to each island what it does to it alone, and the verdict on the whole waits for the last of them.
    // Penalties and step sizes are shared, so others may need more.
    JudgingMonitor whole(sides.whole, residual, tolerance);
    if (row.info.id == "NSGS" || row.info.id == "PGS-NCP") {
      const Answer at_once = solve(*prepared(row, sides.whole), sides.whole, stop, whole);
      EXPECT_LE(answer.summary.iterations, at_once.summary.iterations);
    }
  }
}

/// Notes what it is shown and turned to; accepts the part's iterate number `at`.
class NotingMonitor final : public Monitor {
 public:
  explicit NotingMonitor(long at) : at_(at) {}
  std::vector<long> seen, begun;
  std::vector<Vector> shown;
  void turn_to(const ProblemPart* part, long done) override {
    begun.push_back(done);
    in_part_ = part != nullptr;
    next_ = done + 1;
  }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double) override {
    seen.push_back(iteration);
    shown.push_back(impulse);
    return !in_part_ || iteration == begun.back() + at_ ? Decision::accept : Decision::keep_going;
  }
  long at_;
  bool in_part_ = false;
};

TEST(Islands, AMonitorSeesTheWholeImpulseAndNumbersThatGoOn) {
  const auto problems = several("factored");
  const SideBySide sides = side_by_side(problems, 4);
  NotingMonitor monitor(3);
  const Vector guess = Vector::Constant(sides.whole.rows(), 0.125);
  const Answer answer = solve(*prepared(*find_solver("PGS-NCP"), sides.whole, with_islands), sides.whole,
                              {.tolerance = 0.0, .max_iterations = 100, .stop_by = StopBy::judge}, monitor, guess);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_EQ(answer.summary.iterations, 3);
  EXPECT_EQ(monitor.begun, (std::vector<long>{0, 3, 6, 9}));
  EXPECT_EQ(monitor.seen, (std::vector<long>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const Islands islands(sides.whole);
  // While the first island is solved, the others stand at the guess; once it is, it stays.
  for (const Index row : islands.rows(1)) EXPECT_EQ(monitor.shown[2][row], 0.125);
  for (const Index row : islands.rows(0)) EXPECT_EQ(monitor.shown[5][row], monitor.shown[2][row]);
  EXPECT_EQ(monitor.shown.back(), answer.impulse);
}

TEST(Islands, OneThatFailsDoesNotEndTheOthersAndIsNamed) {
  const auto problems = several("factored");
  const SideBySide sides = side_by_side(problems, 4);
  SilentMonitor silent;
  const SolverRow& row = *find_solver("PGS-NCP");
  const StopRule stop{.tolerance = 1e-10, .max_iterations = 20};
  const Answer answer = solve(*prepared(row, sides.whole, with_islands), sides.whole, stop, silent);
  EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations);
  EXPECT_THAT(answer.summary.message, ::testing::MatchesRegex("island [1-3] of 3.*"));
  for (std::size_t p = 0; p < problems.size(); ++p) {
    EXPECT_EQ(part_of(answer.impulse, sides.rows[p]),
              solve(*prepared(row, problems[p]), problems[p], stop, silent).impulse);
  }
}

TEST(Islands, TheDeadlineEndsThemAll) {
  const SideBySide sides = side_by_side(several("factored"), 4);
  testing::StoppingMonitor monitor(2, Decision::out_of_time);
  const Answer answer = solve(*prepared(*find_solver("PGS-NCP"), sides.whole, with_islands), sides.whole,
                              {.tolerance = 0.0, .stop_by = StopBy::judge}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::time_limit);
  EXPECT_EQ(monitor.iterations.size(), 2U);
  for (const Index row : Islands(sides.whole).rows(2)) EXPECT_EQ(answer.impulse[row], 0.0) << "not reached";
}

TEST(Islands, AreMeasuredByTheVelocityOfTheWhole) {
  // Two mass points of 1 kg; one lands at 1 m/s, the other at 1e-3 m/s with a residual of 5e-7 m/s.
  const auto point = [](double speed) {
    ContactProblemData data;
    data.cones = ConeProduct::create(0, 0, {0.5}).value();
    data.delassus = make_dense_delassus(Matrix::Identity(3, 3));
    data.free_term = Vector::Unit(3, 2) * -speed;
    return ContactProblem::create(std::move(data)).value();
  };
  const SideBySide sides = side_by_side({point(1.0), point(1e-3)}, 1);
  Verdict verdict = *Verdict::create("natural_map_scaled", sides.whole);
  const Islands islands(sides.whole);
  Vector impulse = Vector::Zero(6);
  const Index slow = sides.rows[1][2];
  impulse[slow] = 1e-3 - 5e-7;
  const Index island = sides.rows[1] == std::vector<Index>(islands.rows(0).begin(), islands.rows(0).end()) ? 0 : 1;
  const ProblemPart part{islands.problem(island).value(), islands.rows(island)};
  EXPECT_NEAR(verdict(impulse), 1.0, 1e-15) << "the fast one is not solved";
  verdict.restrict_to(&part);
  EXPECT_NEAR(verdict(impulse), 5e-7, 1e-15);
  EXPECT_NEAR((*Verdict::create("natural_map_scaled", part.problem))(Vector(impulse.segment(sides.rows[1][0], 3))),
              5e-4, 1e-12)
      << "alone it counts in its own velocity";
  verdict.restrict_to(nullptr);
  EXPECT_NEAR(verdict(impulse), 1.0, 1e-15);
}

TEST(Islands, VelocitiesOfTheWholeAreThoseOfItsIslands) {
  const SolverRow& row = *find_solver("COND-STRICT");
  const ContactProblem one = testing::made_fit(row, make_problem("box-on-slope"));
  ASSERT_FALSE(row.make({}).value()->unsupported_reason(one));
  const SideBySide sides = side_by_side({bare(one), bare(one)}, 2);
  const auto plain = prepared(row, sides.whole), apart = prepared(row, sides.whole, with_islands);
  SilentMonitor silent;
  const StopRule stop{.tolerance = 1e-10};
  solve(*plain, sides.whole, stop, silent);
  solve(*apart, sides.whole, stop, silent);
  ASSERT_EQ(Islands(sides.whole).count(), 2);
  EXPECT_NEAR((plain->velocities()->velocity() - apart->velocities()->velocity()).norm(), 0.0, 1e-8);
}

}  // namespace
}  // namespace conebench
