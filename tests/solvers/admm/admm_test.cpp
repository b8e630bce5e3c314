#include "solvers/admm/admm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/solvers/admm/admm_fixtures.hpp"

namespace conebench {
namespace {

using admm_test::contacts;
using admm_test::make_problem;
using admm_test::natural_map;
using admm_test::random_problem;
using admm_test::run;

const std::vector<std::string> kNcpIds = {"ADMM-NCP-FP", "ADMM-NCP-LA", "ADMM-NCP-SA", "ADMM-NCP-SA-S"};

TEST(Admm, StickingContactStopsTheBody) {
  const Matrix delassus = Eigen::Vector3d(1.0, 1.0, 2.0).asDiagonal();
  const auto problem = make_problem(delassus, Eigen::Vector3d(0.1, -0.1, -1.0), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_TRUE(answer.impulse.isApprox(Eigen::Vector3d(-0.1, 0.1, 0.5), 1e-8)) << id << answer.impulse.transpose();
  }
}

TEST(Admm, SlidingContactKeepsSignoriniInTheNcpAndTakesOffInTheCcp) {
  const Matrix delassus = Matrix::Identity(3, 3);
  const auto problem = make_problem(delassus, Eigen::Vector3d(3.0, 0.0, -1.0), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem);
    EXPECT_TRUE(answer.impulse.isApprox(Eigen::Vector3d(-0.5, 0.0, 1.0), 1e-8)) << id << answer.impulse.transpose();
  }
  // The projection of −g onto the cone; the contact lifts off at μ times its slip: 002 Sec. III-B.
  const auto relaxed = run("ADMM-CCP", problem);
  Vector expected = -problem.free_term();
  project_cone(problem.cones(), expected, expected);
  EXPECT_TRUE(relaxed.impulse.isApprox(expected, 1e-8)) << relaxed.impulse.transpose();
  const Vector velocity = relaxed.impulse + problem.free_term();
  EXPECT_NEAR(velocity[2], 0.5 * velocity[0], 1e-8);
}

TEST(Admm, LeavingContactCarriesNothing) {
  const auto problem = make_problem(Matrix::Identity(3, 3), Eigen::Vector3d(1.0, 0.0, 0.2), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    EXPECT_LE(run(id, problem).impulse.norm(), 1e-9) << id;
  }
}

TEST(Admm, AProblemWithoutConstraintsIsSolvedAtOnce) {
  const auto problem = make_problem(Matrix(0, 0), Vector(0), ConeProduct());
  for (const auto& row : admm_rows()) {
    const auto answer = run(row.info.id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << row.info.id;
    EXPECT_EQ(answer.summary.iterations, 0);
    EXPECT_EQ(answer.summary.factorizations, 0);
  }
}

TEST(Admm, RedundantContactsAreSolved) {
  const auto problem = random_problem(1, 12, 3);
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem, {}, {.tolerance = 1e-9});
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE(natural_map(problem, answer.impulse), 1e-6) << id;
  }
  EXPECT_LE(natural_map(problem, run("ADMM-CCP", problem, {}, {.tolerance = 1e-9}).impulse, false), 1e-6);
}

}  // namespace
}  // namespace conebench
