#include "solvers/newton/primal_problem.hpp"

#include <gtest/gtest.h>

#include <random>

#include "problems/cone_product.hpp"
#include "problems/conversions.hpp"
#include "solvers/newton/metric_projection.hpp"
#include "solvers/newton/primal_hessian.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/newton/mixed_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::newton {
namespace {

using namespace conebench::testing;

ContactProblem mixed_problem(long dimension = 3) {
  return make_problem("known-solution", {{"contacts", 8L},
                                         {"joints", 2L},
                                         {"limits", 3L},
                                         {"compliance", 0.05},
                                         {"rank_share", 0.6},
                                         {"dimension", dimension}});
}

/// `compliance_of(row)`: equal in the rows of a group.
template <class Cone, class ComplianceOf>
void expect_projection_in_metric(const Cone& cone, ComplianceOf compliance_of) {
  using Block = typename Cone::Block;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const Block diagonal = Block::NullaryExpr(cone.size(), compliance_of);
  for (int trial = 0; trial < 50; ++trial) {
    const Block y = Block::NullaryExpr(cone.size(), [&] { return normal(random); });
    const MetricProjection<Cone> p = project_in_metric(cone, y, diagonal);
    // K ∋ γ ⟂ R (γ − y) ∈ K*: the conditions of optimality.
    const Block multiplier = diagonal.cwiseProduct(p.point - y);
    EXPECT_LE((cone.project(p.point) - p.point).norm(), 1e-13);
    EXPECT_LE((cone.project_dual(multiplier) - multiplier).norm(), 1e-13);
    EXPECT_NEAR(p.point.dot(multiplier), 0.0, 1e-13);
    constexpr double h = 1e-6;
    for (Index c = 0; c < y.size(); ++c) {
      const Block step = h * Block::Unit(y.size(), c);
      const Block derivative = (project_in_metric(cone, Block(y + step), diagonal).point -
                                project_in_metric(cone, Block(y - step), diagonal).point) /
                               (2.0 * h * diagonal[c]);
      EXPECT_LE((derivative - p.weight.col(c)).norm(), 1e-7) << trial;
    }
    EXPECT_LE((p.weight - p.weight.transpose()).norm(), 1e-14);
  }
}

TEST(MetricProjection, IsOptimalAndHasItsDerivativeForCoulombsCones) {
  for (const double mu : {0.0, 0.4, 0.8, 1.2}) {
    expect_projection_in_metric(CoulombSpace{{mu}}, [](Index row) { return row == 2 ? 2.0 : 0.3; });
    expect_projection_in_metric(CoulombPlane{{mu}}, [](Index row) { return row == 1 ? 2.0 : 0.3; });
  }
}

TEST(MetricProjection, IsOptimalAndHasItsDerivativeForEveryLaw) {
  const auto expect = [](const FrictionLaw& law) {
    const FrictionCone cone(law.shape, law.groups, law.coefficients);
    expect_projection_in_metric(cone, [&](Index row) {
      return row == cone.normal ? 2.0 : row < cone.normal ? 0.3 : 0.7;
    });
  };
  expect(FrictionLaw::rolling(0.5, 0.2));
  expect({ConeShape::discs, {3}, {0.4, 0.4, 0.4}});
  expect({ConeShape::discs, {2, 1}, {0.6, 0.6, 0.1}});
  expect({ConeShape::pyramid, {2}, {0.5, 0.5}});
}

TEST(PrimalProblem, FactorGivesBackTheMatrixAndItsRank) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 10L}, {"rank_share", 0.5}});
  const auto data = factored_primal(problem);
  ASSERT_TRUE(data.has_value());
  const Matrix dense = problem.delassus().dense();
  EXPECT_LE((Matrix(data->jacobian * data->jacobian.transpose()) - dense).norm(), 1e-13 * dense.norm());
  EXPECT_EQ(data->jacobian.cols(), 15);
  EXPECT_EQ(data->bias, problem.free_term());
}

TEST(PrimalProblem, FactorOfAnIndefiniteMatrixIsNone) {
  Matrix matrix = Matrix::Identity(3, 3);
  matrix(0, 1) = matrix(1, 0) = 2.0;
  EXPECT_FALSE(factored_primal(micro(matrix, vector({1, 0, -1}), cones(0, 0, {0.5}))).has_value());
}

/// The primal of a problem and a velocity at which some rows act and some don't.
struct Point {
  PrimalProblem primal;
  Vector v;
};

Point point_of(const ContactProblem& problem) {
  Point p{PrimalProblem(*factored_primal(problem), problem.cones(), problem.compliance()), {}};
  p.v = Vector::NullaryExpr(p.primal.data().mass.rows(), [](Index i) { return 0.3 * std::sin(double(3 * i + 1)); });
  return p;
}

/// In the plane, in space, and with intervals and several laws of friction.
std::vector<Point> points() {
  return {point_of(mixed_problem(2)), point_of(mixed_problem(3)), point_of(with_compliance(mixed_laws(), 0.05))};
}

double objective(const PrimalProblem& primal, const Vector& v) {
  Vector c, lambda(primal.data().bias.size());
  primal.constraint_velocity(v, c);
  const Vector moved = v - primal.data().free_velocity;
  return 0.5 * moved.dot(primal.data().mass * moved) + primal.impulse(c, lambda);
}

/// LeLidec24 Alg. 4 line 2.
Vector gradient(const PrimalProblem& primal, const Vector& v) {
  Vector c, lambda(primal.data().bias.size());
  primal.constraint_velocity(v, c);
  primal.impulse(c, lambda);
  return primal.data().mass * (v - primal.data().free_velocity) - primal.data().jacobian.transpose() * lambda;
}

/// ∇²ℓ by central differences of the gradient.
Matrix hessian_by_differences(const PrimalProblem& primal, const Vector& v) {
  constexpr double h = 1e-6;
  Matrix hessian(v.size(), v.size());
  for (Index i = 0; i < v.size(); ++i) {
    const Vector step = h * Vector::Unit(v.size(), i);
    hessian.col(i) = (gradient(primal, v + step) - gradient(primal, v - step)) / (2.0 * h);
  }
  return hessian;
}

Matrix weight_matrix(const Point& p) {
  const ConeProduct& all = p.primal.cones();
  BlockDiagonal weights(all.blocks(), [&](Index i) { return all.block_size(i); });
  Vector c, lambda(all.rows());
  p.primal.constraint_velocity(p.v, c);
  p.primal.linearise(c, lambda, weights);
  Matrix w = Matrix::Zero(all.rows(), all.rows());
  for (Index i = 0; i < all.blocks(); ++i) {
    const int size = all.block_size(i);
    w.block(all.block_row(i), all.block_row(i), size, size) = weights.block(i);
  }
  return w;
}

TEST(PrimalProblem, GradientIsThatOfTheObjective) {
  for (const Point& p : points()) {
    const Vector expected = gradient(p.primal, p.v);
    for (Index i = 0; i < p.v.size(); ++i) {
      const Vector step = 1e-5 * Vector::Unit(p.v.size(), i);
      EXPECT_NEAR((objective(p.primal, p.v + step) - objective(p.primal, p.v - step)) / 2e-5, expected[i],
                  1e-7 * expected.norm());
    }
  }
}

TEST(PrimalHessian, DenseAndSparseInvertTheDerivativeOfTheGradient) {
  for (const Point& p : points()) {
    const Matrix expected = hessian_by_differences(p.primal, p.v);
    const ConeProduct& all = p.primal.cones();
    BlockDiagonal weights(all.blocks(), [&](Index i) { return all.block_size(i); });
    Vector c, lambda(all.rows());
    p.primal.constraint_velocity(p.v, c);
    p.primal.linearise(c, lambda, weights);
    const Vector right = Vector::LinSpaced(p.v.size(), -1.0, 1.0);
    for (const Storage storage : {Storage::dense, Storage::sparse}) {
      PrimalHessian hessian(p.primal.data(), p.primal.cones(), storage);
      EXPECT_EQ(hessian.dense(), storage == Storage::dense);
      Vector solution(p.v.size());
      ASSERT_TRUE(hessian.factor(weights));
      hessian.solve(right, solution);
      EXPECT_LE((expected * solution - right).norm(), 1e-6 * right.norm());
    }
  }
}

TEST(PrimalErrata, PrintedHessianIsNotTheDerivativeOfThePrintedGradient) {
  // LeLidec24 Alg. 4 line 3: H ← M + Jᵀ ∇_v P(y(Jv)) J. With y = −R⁻¹ (Jv − c*) the derivative of line 2 is
  // M + Jᵀ (∂P/∂y) R⁻¹ J. Taken over c = Jv the printed ∇P is −(∂P/∂y) R⁻¹: the sign is wrong and H indefinite. Taken
  // over y it lacks R⁻¹. Taken over v it holds J already, and the product has no meaning.
  const Point p = point_of(mixed_problem());
  const Matrix jacobian = p.primal.data().jacobian;
  const Matrix mass = p.primal.data().mass;
  const Matrix w = weight_matrix(p);
  const Matrix compliance = mixed_problem().compliance().asDiagonal();
  const Matrix expected = hessian_by_differences(p.primal, p.v);
  const double scale = expected.norm();
  EXPECT_LE((mass + jacobian.transpose() * w * jacobian - expected).norm(), 1e-6 * scale);
  const Matrix over_c = mass - jacobian.transpose() * w * jacobian;
  EXPECT_GE((over_c - expected).norm(), 0.5 * scale);
  EXPECT_LT(Eigen::SelfAdjointEigenSolver<Matrix>(over_c).eigenvalues().minCoeff(), 0.0);
  const Matrix over_y = mass + jacobian.transpose() * (w * compliance) * jacobian;
  EXPECT_GE((over_y - expected).norm(), 0.5 * scale);
}

}  // namespace
}  // namespace conebench::newton
