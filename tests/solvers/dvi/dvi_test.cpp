#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <string>

#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

Vector after(const ContactProblem& problem, long iterations, OptionValues options = {}) {
  const auto solver = prepared(*find_solver("DVI"), problem, options);
  StoppingMonitor monitor(iterations + 1);
  return solve(*solver, problem, {.tolerance = 0.0, .max_iterations = iterations, .stop_by = StopBy::judge}, monitor)
      .impulse;
}

/// The method on dense matrices, with two sweeps, ω = 1 and contacts in space.
class Literal {
 public:
  Literal(const ContactProblem& problem, double epsilon)
      : cones_(problem.cones()), g_(problem.free_term()), d_(problem.blocks().dense()), epsilon_(epsilon) {
    d_.diagonal() += problem.compliance();
    lambda_ = Vector::Zero(g_.size());
    solve_joints();
  }

  Vector iterate() {
    for (const bool backwards : {false, true}) {
      for (Index row = cones_.joints(); row < cones_.first_contact_row(); ++row) {
        const Interval bounds = cones_.bounds(row);
        lambda_[row] = std::clamp(lambda_[row] - sigma(row) / raised(d_(row, row)), bounds.lower, bounds.upper);
      }
      for (Index i = 0; i < cones_.contacts(); ++i) {
        const Index n = cones_.contact_row(i) + 2;
        lambda_[n] = std::max(0.0, lambda_[n] - sigma(n) / raised(d_(n, n)));
      }
      for (Index k = 0; k < cones_.contacts(); ++k) tangents(backwards ? cones_.contacts() - 1 - k : k);
    }
    solve_joints();
    return lambda_;
  }
  int slipping = 0, sticking = 0;

 private:
  double sigma(Index row) const { return d_.row(row).dot(lambda_) + g_[row]; }
  double raised(double diagonal) const { return diagonal * (1.0 + epsilon_); }

  void tangents(Index contact) {
    const Index t = cones_.contact_row(contact);
    const double radius = cones_.friction()[static_cast<std::size_t>(contact)] * lambda_[t + 2];
    const Eigen::Vector2d v(sigma(t), sigma(t + 1));
    Eigen::Matrix2d own = d_.block<2, 2>(t, t);
    own.diagonal() *= 1.0 + epsilon_;
    Eigen::Vector2d next = lambda_.segment<2>(t) - own.inverse() * v;
    if (next.norm() > radius) {
      next = lambda_.segment<2>(t) - v / own.diagonal().maxCoeff();
      ++slipping;
    } else {
      ++sticking;
    }
    if (next.norm() > radius) next *= radius / next.norm();
    lambda_.segment<2>(t) = next;
  }
  void solve_joints() {
    const Index joints = cones_.joints(), others = g_.size() - joints;
    if (joints == 0) return;
    lambda_.head(joints) = d_.topLeftCorner(joints, joints)
                               .partialPivLu()
                               .solve(-(g_.head(joints) + d_.topRightCorner(joints, others) * lambda_.tail(others)));
  }

  ConeProduct cones_;
  Vector g_, lambda_;
  Matrix d_;
  double epsilon_;
};

TEST(Dvi, IterationsAreSweepsAndADirectSolveOfTheJoints) {
  const ContactProblem problem =
      make_problem("known-solution", {{"contacts", 6L}, {"joints", 3L}, {"limits", 2L}, {"rank_share", 1.0}}, 2);
  Literal literal(problem, 0.125);
  for (long k = 1; k <= 5; ++k) {
    const Vector expected = literal.iterate();
    EXPECT_LE((after(problem, k, {{"regularisation", 0.125}, {"joint_floor", 0.0}}) - expected).norm(),
              1e-12 * expected.norm())
        << k;
  }
  EXPECT_GT(literal.slipping, 5);
  EXPECT_GT(literal.sticking, 5);
}

TEST(Dvi, TheFloorOfTheJointsDoesNotMoveTheSolution) {
  const ContactProblem problem =
      make_problem("known-solution", {{"contacts", 6L}, {"joints", 3L}, {"rank_share", 1.0}}, 2);
  const Answer exact = solve_to_verdict(*find_solver("CASCADE"), problem, 1e-12);
  ASSERT_EQ(exact.summary.status, SolveStatus::converged);
  const auto solver = prepared(*find_solver("DVI"), problem, {{"joint_floor", 0.1}});
  JudgingMonitor monitor(problem, "natural_map_scaled", 1e-10);
  const Answer answer = solve(*solver, problem, {.max_iterations = 20000, .stop_by = StopBy::judge}, monitor);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE((velocity(problem, answer.impulse) - velocity(problem, exact.impulse)).norm(), 1e-8);
}

TEST(Dvi, JointsHoldAfterEveryIterationAndRedundantOnesToo) {
  const ContactProblem given =
      make_problem("known-solution", {{"contacts", 4L}, {"joints", 2L}, {"rank_share", 1.0}}, 5);
  for (const bool twice : {false, true}) {
    ContactProblem problem = given;
    if (twice) {  // the first joint once more
      const Index n = given.rows();
      Matrix copy = Matrix::Zero(n + 1, n);
      copy(0, 0) = 1.0;
      copy.bottomRows(n).setIdentity();
      const auto& friction = given.cones().friction();
      problem = micro(copy * given.blocks().dense() * copy.transpose(), copy * given.free_term(),
                      cones(given.cones().joints() + 1, 0, {friction.begin(), friction.end()}));
    }
    for (const long k : {1L, 7L}) {
      const Vector sigma = velocity(problem, after(problem, k));
      EXPECT_LE(sigma.head(problem.cones().joints()).norm(), 1e-5 * problem.free_term().norm()) << k << twice;
      const Vector exact = velocity(problem, after(problem, k, {{"joint_floor", 1e-14}}));
      EXPECT_LE(exact.head(problem.cones().joints()).norm(), 1e-9 * problem.free_term().norm()) << k << twice;
    }
  }
}

}  // namespace
}  // namespace conebench
