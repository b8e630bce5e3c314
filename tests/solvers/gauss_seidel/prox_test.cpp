// PROX and PROX-JACOBI, held to Erleben's algorithm from its text.

#include <Eigen/Eigenvalues>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/coulomb.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/relaxation.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::gauss_seidel {
namespace {

using namespace conebench::testing;

Vector after(const std::string& id, const ContactProblem& problem, long sweeps, const OptionValues& options = {}) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return testing::solve(*solver, problem, {.tolerance = 0.0, .max_iterations = sweeps}, silent).impulse;
}

/// Erleben 2017 on dense matrices, contacts in 3D, joints and limits; returns the iterate after `sweeps`.
Vector plain_prox(const ContactProblem& problem, bool jacobi, double rho, double nu, long sweeps, int& taken_back) {
  const ConeProduct& cones = problem.cones();
  const Matrix matrix = problem.delassus().dense() + Matrix(problem.compliance().asDiagonal());
  const Vector weights = velocity_weights(problem);
  Vector accepted = Vector::Zero(problem.rows());
  double last = std::numeric_limits<double>::infinity();
  for (long k = 0; k < sweeps; ++k) {
    Vector x = accepted;
    double change = 0.0;
    for (Index b = 0; b < cones.blocks(); ++b) {
      const Index row = cones.block_row(b);
      const Index size = cones.block_size(b);
      const Vector sigma =
          matrix.middleRows(row, size) * (jacobi ? accepted : x) + problem.free_term().segment(row, size);
      const Vector old = x.segment(row, size);
      if (size == 1) {
        x[row] -= rho / matrix(row, row) * sigma[0];
        if (cones.block_kind(b) == BlockKind::limit) x[row] = std::max(0.0, x[row]);
      } else {
        const double mu = cones.friction()[static_cast<std::size_t>(b - cones.first_contact_row())];
        const Eigen::Matrix2d tangents = matrix.block<2, 2>(row, row);
        const Eigen::Matrix2d symmetric = 0.5 * (tangents + tangents.transpose());
        const double largest = symmetric.selfadjointView<Eigen::Lower>().eigenvalues().maxCoeff();
        x[row + 2] = std::max(0.0, x[row + 2] - rho / matrix(row + 2, row + 2) * sigma[2]);
        Eigen::Vector2d z = x.segment<2>(row) - rho / largest * sigma.head<2>();
        const double radius = mu * x[row + 2];
        x.segment<2>(row) = z.norm() > radius ? Eigen::Vector2d(z * radius / z.norm()) : z;
      }
      change = std::max(change, weights[b] * (x.segment(row, size) - old).norm());
    }
    if (change >= (1.0 - 1e-10) * last) {
      rho *= nu;
      ++taken_back;
    } else {
      last = change;
      accepted = x;
    }
  }
  return accepted;
}

TEST(Prox, FollowsThePapersAlgorithm) {
  const ContactProblem problem = make_problem(
      "random", {{"contacts", 6L}, {"joints", 2L}, {"limits", 3L}, {"asymmetry", 0.02}, {"compliance", 0.1}}, 4);
  for (const bool jacobi : {false, true}) {
    const std::string id = jacobi ? "PROX-JACOBI" : "PROX";
    for (const long sweeps : {1L, 2L, 5L, 30L}) {
      int taken_back = 0;
      const Vector expected = plain_prox(problem, jacobi, 1.9, 0.8, sweeps, taken_back);
      const Vector actual = after(id, problem, sweeps, {{"factor", 1.9}, {"reduction", 0.8}});
      EXPECT_LE((actual - expected).norm(), 1e-10 * expected.norm()) << id << " after " << sweeps;
      if (sweeps == 30) {
        EXPECT_GE(taken_back, 1) << "nothing is shown where no step is too long";
      }
    }
  }
}

TEST(Prox, JacobiSeesTheIterateBeforeAndGaussSeidelTheNewOne) {
  Matrix matrix(2, 2);
  matrix << 2, 1, 1, 2;
  const ContactProblem problem = micro(matrix, vector({-1, -1}), cones(0, 2, {}));
  EXPECT_TRUE(after("PROX", problem, 1).isApprox(vector({0.5, 0.25}), 1e-15));
  EXPECT_TRUE(after("PROX-JACOBI", problem, 1).isApprox(vector({0.5, 0.5}), 1e-15));
}

TEST(Prox, JacobiNeedsTheAdaptedFactor) {
  // Eight limits that share one body: the full Jacobi step overshoots eight times and comes back, with equal changes.
  const Matrix matrix = Matrix::Ones(8, 8) + 0.1 * Matrix::Identity(8, 8);
  const ContactProblem problem = micro(matrix, -Vector::Ones(8), cones(0, 8, {}));
  const auto full_step = [&](const Vector& x) {
    return Vector((x - (matrix * x + problem.free_term()) / 1.1).cwiseMax(0.0));
  };
  const Vector zero = Vector::Zero(8);
  EXPECT_GT(full_step(zero).minCoeff(), 0.9);
  EXPECT_EQ(full_step(full_step(zero)), zero);
  EXPECT_LE((judge(problem, after("PROX-JACOBI", problem, 500))["natural_map_scaled"].value), 1e-8);
}

TEST(Prox, StepFactorTakesBackWhatMovesFarther) {
  StepFactor factor(ProxOptions{.order = {}, .factor = 2.0, .reduction = 0.5});
  EXPECT_TRUE(factor.accepts(1.0));
  EXPECT_FALSE(factor.accepts(1.5));
  EXPECT_EQ(factor.rho(), 1.0);
  EXPECT_FALSE(factor.accepts(1.1)) << "against the last that was accepted";
  EXPECT_EQ(factor.rho(), 0.5);
  EXPECT_FALSE(factor.accepts(1.0)) << "to and fro";
  EXPECT_EQ(factor.rho(), 0.25);
  EXPECT_TRUE(factor.accepts(0.9));
  EXPECT_EQ(factor.rho(), 0.25);
}

TEST(Errata, FactorsOfTheirOwnForBothTangentsTurnFriction) {
  // Erleben's local strategy, r = 1/A_ii row by row: the prox of the disk along diag(r_x, r_y) σ_T comes to rest where
  // friction opposes that vector, not the slip.
  const Matrix matrix = vector({1, 4, 1}).asDiagonal();
  const ContactProblem problem = micro(matrix, vector({3, 3, -1}), cones(0, 0, {0.5}));
  const auto settle = [&](const Eigen::Vector2d& r) {
    Eigen::Vector2d friction = Eigen::Vector2d::Zero();
    for (int k = 0; k < 500; ++k) {
      const Eigen::Vector2d sigma = matrix.topLeftCorner<2, 2>() * friction + problem.free_term().head<2>();
      const Eigen::Vector2d z = friction - r.cwiseProduct(sigma);
      friction = z * std::min(1.0, 0.5 / z.norm());
    }
    return vector({friction[0], friction[1], 1.0});
  };
  EXPECT_GE((judge(problem, settle({1.0, 0.25}))["dissipation_error"].value), 0.3);
  EXPECT_LE((judge(problem, settle({0.25, 0.25}))["dissipation_error"].value), 1e-8);
  EXPECT_LE((after("PROX", problem, 500) - settle({0.25, 0.25})).norm(), 1e-10);
}

}  // namespace
}  // namespace conebench::gauss_seidel
