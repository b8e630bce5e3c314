#include <gtest/gtest.h>

#include <cmath>

#include "problems/conversions.hpp"
#include "solvers/ipopt/cone_program.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

ContactProblem mixed_problem(long dimension) {
  return with_compliance(
      make_problem("known-solution",
                   {{"contacts", 6L}, {"joints", 2L}, {"limits", 2L}, {"rank_share", 0.7}, {"dimension", dimension}}),
      0.05);
}

Vector some_point(Index size) {
  return Vector::NullaryExpr(size, [](Index i) { return std::sin(double(3 * i + 1)); });
}

TEST(ConeProgram, DerivativesAreThoseOfCentralDifferences) {
  constexpr double h = 1e-6;
  for (const long dimension : {2L, 3L}) {
    const ipopt::ConeProgram program(mixed_problem(dimension));
    const Index n = program.variables();
    const Index m = program.constraints();
    ASSERT_EQ(m, 6);
    const Vector x = some_point(n);
    const Vector multipliers = some_point(m);
    Vector gradient(n);
    program.gradient(x.data(), gradient.data());
    Vector jacobian_values(program.jacobian_entries());
    std::vector<int> rows(static_cast<std::size_t>(program.jacobian_entries())), columns(rows);
    program.jacobian(x.data(), jacobian_values.data());
    program.jacobian_pattern(rows.data(), columns.data());
    Matrix jacobian = Matrix::Zero(m, n);
    for (Index k = 0; k < jacobian_values.size(); ++k) {
      jacobian(rows[std::size_t(k)], columns[std::size_t(k)]) += jacobian_values[k];
    }
    Vector hessian_values(program.hessian_entries());
    rows.resize(static_cast<std::size_t>(program.hessian_entries()));
    columns.resize(rows.size());
    program.hessian(0.7, multipliers.data(), hessian_values.data());
    program.hessian_pattern(rows.data(), columns.data());
    Matrix hessian = Matrix::Zero(n, n);
    for (Index k = 0; k < hessian_values.size(); ++k) {
      const int r = rows[std::size_t(k)];
      const int c = columns[std::size_t(k)];
      EXPECT_GE(r, c);
      hessian(r, c) += hessian_values[k];
      if (r != c) hessian(c, r) += hessian_values[k];
    }
    const auto lagrangian_gradient = [&](const Vector& at) {
      Vector g(n), j(program.jacobian_entries());
      program.gradient(at.data(), g.data());
      program.jacobian(at.data(), j.data());
      std::vector<int> jr(static_cast<std::size_t>(j.size())), jc(jr);
      program.jacobian_pattern(jr.data(), jc.data());
      Vector sum = 0.7 * g;
      for (Index k = 0; k < j.size(); ++k) sum[jc[std::size_t(k)]] += multipliers[jr[std::size_t(k)]] * j[k];
      return sum;
    };
    for (Index i = 0; i < n; ++i) {
      const Vector above = x + h * Vector::Unit(n, i);
      const Vector below = x - h * Vector::Unit(n, i);
      EXPECT_NEAR((program.objective(above.data()) - program.objective(below.data())) / (2 * h), gradient[i], 1e-6);
      Vector up(m), down(m);
      program.constraint_values(above.data(), up.data());
      program.constraint_values(below.data(), down.data());
      EXPECT_LE(((up - down) / (2 * h) - jacobian.col(i)).norm(), 1e-7);
      EXPECT_LE(((lagrangian_gradient(above) - lagrangian_gradient(below)) / (2 * h) - hessian.col(i)).norm(), 1e-6);
    }
  }
}

TEST(Ipopt, AgreesWithTheConeSolversInVelocities) {
  const SolverRow* const row = find_solver("IPOPT-CCP");
  if (row == nullptr) GTEST_SKIP() << "this build has no Ipopt";
  for (const long dimension : {2L, 3L}) {
    const ContactProblem problem = mixed_problem(dimension);
    const Answer answer = solve_to_verdict(*row, problem, 1e-6);
    const Answer newton = solve_to_verdict(*find_solver("ADMM-CCP"), problem, 1e-10);
    ASSERT_EQ(newton.summary.status, SolveStatus::converged);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.message;
    Vector sigma(problem.rows()), expected(problem.rows());
    problem.velocity(answer.impulse, sigma);
    problem.velocity(newton.impulse, expected);
    EXPECT_LE((sigma - expected).norm(), 1e-3);
    const auto objective = [&](const Vector& impulse, const Vector& velocity) {
      return 0.5 * impulse.dot(velocity + problem.free_term());
    };
    EXPECT_NEAR(objective(answer.impulse, sigma), objective(newton.impulse, expected), 1e-5);
  }
}

TEST(Ipopt, IsListedWithTheReasonWhereItIsMissing) {
  bool listed = false;
  for (const SolverRow& row : solver_catalogue()) {
    if (row.info.id != "IPOPT-CCP") continue;
    listed = true;
    EXPECT_EQ(row.missing.empty(), find_solver("IPOPT-CCP") != nullptr);
  }
  EXPECT_TRUE(listed);
}

}  // namespace
}  // namespace conebench
