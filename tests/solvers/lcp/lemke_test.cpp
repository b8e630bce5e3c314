#include "solvers/lcp/lemke.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "scenes/random_source.hpp"
#include "tests/solvers/lcp/lcp_support.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::lcp {
namespace {

using namespace conebench::testing;
using testing::run;

TEST(Lemke, SolvesTextbookProblemsWithKnownSolutions) {
  struct Known {
    Matrix m;
    Vector q, z;
  };
  const std::vector<Known> all = {
      {square({2, 1, 1, 2}), vector({-5, -6}), vector({4.0 / 3.0, 7.0 / 3.0})},
      {square({1, 0, 0, 2, 1, 0, 2, 2, 1}), vector({-8, -12, -14}), vector({8, 0, 0})},
      {square({1, -1, -1, -1, -1, 1, -1, -1, 1, 1, 2, 0, 1, 1, 0, 2}), vector({3, 5, -9, -5}), vector({2, 1, 3, 1})},
      {square({0, 1, -1, 0}), vector({-1, 2}), vector({2, 1})},
  };
  for (const Known& known : all) {
    const ContactProblem problem = limits_of(known.m, known.q);
    ASSERT_LE(lcp_error(problem, known.z), 1e-12) << known.z.transpose();
    for (const PivotingSolver& pivoting : pivoting_solvers()) {
      SCOPED_TRACE(pivoting.id);
      const Answer answer = run(pivoting.id, problem, pivoting.options);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged);
      EXPECT_LE(lcp_error(problem, answer.impulse), 1e-12) << answer.impulse.transpose();
    }
  }
}

TEST(Lemke, NeedsNoPivotWhereQIsNotNegative) {
  for (const PivotingSolver& pivoting : pivoting_solvers()) {
    const Answer answer = run(pivoting.id, limits_of(square({2, 1, 1, 2}), vector({0, 3})), pivoting.options);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_EQ(answer.summary.iterations, 0);
    EXPECT_TRUE(answer.impulse.isZero(0.0));
  }
}

TEST(Lemke, ReportsThatThereIsNoSolution) {
  const ContactProblem problem = limits_of(square({-1, 0, 0, 1}), vector({-1, -1}));
  for (const char* id : {"LEMKE", "LEMKE-LEX"}) {
    const Answer answer = run(id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::breakdown);
    EXPECT_EQ(answer.summary.breakdown, Breakdown::no_solution);
  }
  for (const char* id : {"LEMKE-ROBUST", "LEMKE-ROBUST-DF"}) {
    EXPECT_EQ(run(id, problem).summary.breakdown, Breakdown::queue_exhausted);
  }
}

TEST(Lemke, SolvesDegenerateProblems) {
  // One contact's normal several times over: any split of the load is a solution.
  const ContactProblem problem = limits_of(Matrix::Ones(4, 4), Vector::Constant(4, -1.0));
  for (const PivotingSolver& pivoting : pivoting_solvers()) {
    SCOPED_TRACE(pivoting.id);
    const Answer answer = run(pivoting.id, problem, pivoting.options);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_NEAR(answer.impulse.sum(), 1.0, 1e-14);
  }
}

TEST(Lemke, CyclesOnKostrevasExampleWhichTheOthersSolve) {
  // Kostreva 1979. A P-matrix, so the solution (1, 1, 1)/3 is the only one.
  const ContactProblem problem = limits_of(square({1, 2, 0, 0, 1, 2, 2, 0, 1}), Vector::Constant(3, -1.0));
  const Answer plain = run("LEMKE", problem);
  EXPECT_EQ(plain.summary.status, SolveStatus::breakdown);
  EXPECT_EQ(plain.summary.breakdown, Breakdown::cycle);
  EXPECT_EQ(plain.summary.iterations, 8) << "the eighth pivot leads back to the second one's set";
  for (const PivotingSolver& pivoting : pivoting_solvers()) {
    if (pivoting.id == "LEMKE") continue;
    SCOPED_TRACE(pivoting.id);
    const Answer answer = run(pivoting.id, problem, pivoting.options);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE((answer.impulse - Vector::Constant(3, 1.0 / 3.0)).norm(), 1e-14);
  }
}

TEST(Lemke, TakesTwoToTheNPivotsOnMurtysExamples) {
  // Murty 1978: M lower triangular, 1 on the diagonal and 2 below; q_i = −(2^(n−i+1) + … + 2^n), i = 1 … n.
  for (Index n = 2; n <= 12; ++n) {
    Matrix m = Matrix::Identity(n, n);
    m.triangularView<Eigen::StrictlyLower>().setConstant(2.0);
    Vector q(n);
    for (Index i = 0; i < n; ++i) q[i] = -(std::pow(2.0, double(n + 1)) - std::pow(2.0, double(n - i)));
    const ContactProblem problem = limits_of(m, q);
    for (const char* id : {"LEMKE", "LEMKE-LEX"}) {
      const Answer answer = run(id, problem, {{"scaled", false}});
      EXPECT_EQ(answer.summary.status, SolveStatus::converged);
      EXPECT_EQ(answer.summary.iterations, 1L << n) << n;
    }
  }
}

/// The solution of an LCP with a P-matrix, by all complementary bases.
Vector by_enumeration(const Matrix& m, const Vector& q) {
  const Index n = q.size();
  Vector best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned long basis = 0; basis < (1UL << n); ++basis) {
    Matrix system = Matrix::Identity(n, n);  // w − M z = q, columns of w or of z
    for (Index i = 0; i < n; ++i) {
      if ((basis >> i & 1U) != 0) system.col(i) = -m.col(i);
    }
    const Vector x = system.partialPivLu().solve(q);
    if (-x.minCoeff() >= least) continue;
    least = -x.minCoeff();
    best = x;
    for (Index i = 0; i < n; ++i) {
      if ((basis >> i & 1U) == 0) best[i] = 0.0;
    }
  }
  return best;
}

TEST(Lemke, FindsTheSolutionOfRandomPMatrices) {
  RandomSource random(7);
  for (int sample = 0; sample < 60; ++sample) {
    const Index n = 2 + sample % 6;
    const auto entry = [&] { return random.uniform(-1.0, 1.0); };
    const Matrix root = Matrix::NullaryExpr(n, n, entry);
    const Matrix other = Matrix::NullaryExpr(n, n, entry);
    // Positive definite, not symmetric: a P-matrix.
    const Matrix m = root * root.transpose() + other - other.transpose() + 0.1 * Matrix::Identity(n, n);
    const Vector q = Vector::NullaryExpr(n, entry);
    const Vector expected = by_enumeration(m, q);
    const ContactProblem problem = limits_of(m, q);
    ASSERT_LE(lcp_error(problem, expected), 1e-10);
    for (const PivotingSolver& pivoting : pivoting_solvers()) {
      SCOPED_TRACE(pivoting.id);
      // Candidates of Yamane's size may end at an answer that is as far off.
      OptionValues options = pivoting.options;
      if (pivoting.id == "LEMKE-ROBUST") options["min_q"] = 1e-9;
      const Answer answer = run(pivoting.id, problem, options);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged);
      EXPECT_LE((answer.impulse - expected).norm(), 1e-8 * (1.0 + expected.norm()));
    }
  }
}

TEST(Lemke, SmallestPivotKeepsRoundingOutOfTheRatioTest) {
  // A zero that rounding has made negative, in a row at its bound: its ratio is the smallest.
  Tableau tableau(2);
  tableau.reset(square({-1e-17, 0, -1, 0}), vector({0, 1}), Vector::Ones(2));
  const Index column = tableau.column_of(2);
  EXPECT_EQ(SmallestRatio().leaving_row(tableau, column), 0);
  EXPECT_EQ(SmallestRatio(1e-12).leaving_row(tableau, column), 1);
  EXPECT_EQ(LexicographicRatio(1e-8, 1e-12).leaving_row(tableau, column), 1);
  const Answer guarded = run("LEMKE-LEX", cube_on_corners(8, 0.01, 0.8), {{"min_pivot", 1e-12}});
  EXPECT_EQ(guarded.summary.status, SolveStatus::converged);
  EXPECT_LE(guarded.summary.own_residual, 1e-12);
}

TEST(Lemke, ClaimsNothingBeyondItsLargestError) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 10L}});
  const Answer honest = run("LEMKE-ROBUST-DF", problem);
  ASSERT_EQ(honest.summary.status, SolveStatus::converged);
  ASSERT_GT(honest.summary.own_residual, 0.0);
  const Answer strict = run("LEMKE-LEX", problem, {{"min_pivot", 1e-12}, {"max_error", 0.0}});
  EXPECT_EQ(strict.summary.status, SolveStatus::breakdown);
  EXPECT_EQ(strict.summary.breakdown, Breakdown::error);
  FacetLcp lcp(problem, 8, true);
  Vector z(lcp.size());
  lcp.from_impulse(honest.impulse, z);
  EXPECT_NEAR(lcp.residual(z), honest.summary.own_residual, 1e-12);
}

TEST(Lemke, IsStalledWhereTheVerdictRefusesItsSolution) {
  // It slips between two facets, so the LCP's solution is not the NCP's.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), vector({3, 1, -1}), cones(0, 0, {0.5}));
  for (const PivotingSolver& pivoting : pivoting_solvers()) {
    const auto solver = prepared(*find_solver(pivoting.id), problem, pivoting.options);
    JudgingMonitor monitor(problem, "natural_map_scaled", 1e-9);
    const Answer answer = solve(*solver, problem, {.tolerance = 1e-9, .stop_by = StopBy::judge}, monitor);
    EXPECT_EQ(answer.summary.status, SolveStatus::stalled);
    EXPECT_LE(answer.summary.own_residual, 1e-9);
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_facets_scaled"].value), 1e-9);
  }
}

TEST(Lemke, ThresholdDecidesWhatTies) {
  Tableau tableau(3);
  // Driving z_1 after w_3 left: ratios 1 and 1 + 1e-7 in rows 1 and 2.
  const Matrix m = square({-1, 0, 0, -1, 0, 0, 1, 0, 0});
  tableau.reset(m, vector({1.0 + 1e-7, 1.0, 5.0}), Vector::Ones(3));
  const Index column = tableau.column_of(3);
  EXPECT_EQ(SmallestRatio().leaving_row(tableau, column), 1);
  LexicographicRatio sharp(1e-9);
  LexicographicRatio blunt(1e-6);
  sharp.allocate(3);
  blunt.allocate(3);
  EXPECT_EQ(sharp.leaving_row(tableau, column), 1);
  // Tied: (1, 0, 0) and (0, 1, 0) of the inverse basis over −m'; the second is lexicographically smaller.
  EXPECT_EQ(blunt.leaving_row(tableau, column), 1);
  tableau.reset(m, vector({1.0, 1.0 + 1e-7, 5.0}), Vector::Ones(3));
  EXPECT_EQ(sharp.leaving_row(tableau, column), 0);
  EXPECT_EQ(blunt.leaving_row(tableau, column), 1);
}

TEST(Tableau, PivotsKeepTheEquation) {
  RandomSource random(3);
  const Index n = 6;
  const auto entry = [&] { return random.uniform(-1.0, 1.0); };
  const Matrix m = Matrix::NullaryExpr(n, n, entry);
  const Vector q = Vector::NullaryExpr(n, entry);
  Tableau tableau(n);
  tableau.reset(m, q, Vector::Ones(n));
  const std::uint64_t start = tableau.pivot_set();
  for (const auto& [row, column] : {std::pair<Index, Index>{0, 3}, {4, 1}, {2, 6}, {0, 0}}) tableau.pivot(row, column);
  EXPECT_NE(tableau.pivot_set(), start);
  // Nonbasic variables at chosen values: the basic ones must make w = M z + q + z_0.
  Vector value = Vector::Zero(2 * n + 1);
  Vector basic = tableau.q();
  for (Index v = 0; v <= 2 * n; ++v) {
    if (tableau.is_basic(v)) continue;
    value[v] = entry();
    basic += value[v] * tableau.column(tableau.column_of(v));
  }
  for (Index row = 0; row < n; ++row) value[tableau.basic(row)] = basic[row];
  const Vector w = m * value.segment(n, n) + q + Vector::Constant(n, value[2 * n]);
  EXPECT_LE((w - value.head(n)).norm(), 1e-12 * (1.0 + value.norm()));
}

TEST(Errata, PrintedRatioTestDividesByZeroEntries) {
  // Yamane Step 1: s = argmin {−q_i/m'_i : m'_i ≤ 0}.
  class PrintedRatio final : public RatioTest {
   public:
    PrintedRatio() : RatioTest(0.0) {}
    Index first_row(const Vector& q) const override { return SmallestRatio().first_row(q); }
    Index leaving_row(const Tableau& tableau, Index column) override {
      const auto m = tableau.column(column);
      Index row = -1;
      for (Index i = 0; i < tableau.size(); ++i) {
        const auto ratio = [&](Index k) {
          return m[k] == 0.0 ? -std::numeric_limits<double>::infinity() : -tableau.q()[k] / m[k];
        };
        if (m[i] <= 0.0 && (row < 0 || ratio(i) < ratio(row))) row = i;
      }
      return row;
    }
  };
  const Matrix m = square({1, 0, 0, 0, 1, 0, 1, 0, 1});
  const Vector q = vector({-2, -1, 0});
  const auto ends_solved = [&](RatioTest& rule) {
    Tableau tableau(3);
    tableau.reset(m, q, Vector::Ones(3));
    PivotSets met;
    long pivots = 0;
    const Ending ending = run_lemke(tableau, rule, met, 100, pivots, [](long) { return std::optional<Ending>(); });
    Vector z(3);
    tableau.read_solution(z);
    const Vector w = m * z + q;
    return ending == Ending::solved && z.cwiseMin(w).lpNorm<Eigen::Infinity>() <= 1e-12;
  };
  PrintedRatio printed;
  SmallestRatio ours;
  EXPECT_FALSE(ends_solved(printed));
  EXPECT_TRUE(ends_solved(ours));
}

}  // namespace
}  // namespace conebench::lcp
