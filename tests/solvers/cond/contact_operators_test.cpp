// (26) of paper Lee23 and its properties in Sec. IV.

#include "solvers/cond/contact_operators.hpp"

#include <gtest/gtest.h>

#include "solvers/cond/contact_step.hpp"
#include "tests/solvers/cond/soft_problems.hpp"

namespace conebench::cond {
namespace {

using namespace conebench::testing;

Eigen::Vector3d random_vector(RandomSource& random, double size = 1.0) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

TEST(StrictOperator, SolvesCoulombsLawWhereTheDelassusMatrixIsAMultipleOfI) {
  // Proposition 4: σ = γ λ + η.
  RandomSource random(1);
  int slips = 0, sticks = 0, opens = 0;
  for (int k = 0; k < 1000; ++k) {
    const Eigen::Vector3d eta = random_vector(random);
    const double gamma = random.uniform(0.1, 3.0), mu = random.uniform(0.0, 1.5);
    const Eigen::Vector3d lambda = strict_operator<3>(-eta / gamma, mu);
    const Eigen::Vector3d sigma = gamma * lambda + eta;
    const double bound = mu * lambda[2], pull = lambda.head<2>().norm();
    EXPECT_GE(lambda[2], 0.0);
    EXPECT_GE(sigma[2], -1e-15);
    EXPECT_LE(lambda[2] * std::abs(sigma[2]), 1e-14);
    EXPECT_LE(pull, bound * (1 + 1e-14));
    if (lambda[2] == 0.0)
      ++opens;
    else if (pull < bound * (1 - 1e-9)) {
      EXPECT_LE(sigma.head<2>().norm(), 1e-14);
      ++sticks;
    } else {
      EXPECT_NEAR(sigma.head<2>().dot(lambda.head<2>()), -sigma.head<2>().norm() * pull, 1e-14);
      ++slips;
    }
  }
  EXPECT_GT(slips, 50);
  EXPECT_GT(sticks, 50);
  EXPECT_GT(opens, 50);
}

TEST(StrictOperator, OfAnEllipseIsItsNearestPoint) {
  // σ_t = γ (λ_t − z_t) is opposite to the ellipse's normal (λ_1/μ_1², λ_2/μ_2²): most dissipation, Proposition 6.
  RandomSource random(2);
  int outside = 0;
  for (int k = 0; k < 1000; ++k) {
    const Eigen::Vector3d z = random_vector(random, 10.0);
    const double mu1 = std::pow(10.0, random.uniform(-3.0, 1.0)), mu2 = std::pow(10.0, random.uniform(-3.0, 1.0));
    const Eigen::Vector3d lambda = strict_operator(z, mu1, mu2);
    if (z[2] <= 0.0) {
      EXPECT_EQ(lambda.norm(), 0.0);
      continue;
    }
    const double a = lambda[0] / (mu1 * z[2]), b = lambda[1] / (mu2 * z[2]);
    EXPECT_LE(a * a + b * b, 1.0 + 1e-9);
    if (lambda == z) continue;
    ++outside;
    EXPECT_NEAR(a * a + b * b, 1.0, 1e-9);
    const Eigen::Vector2d out(a / mu1, b / mu2), rest = (z - lambda).head<2>();
    EXPECT_GE(out.dot(rest), (1 - 1e-8) * out.norm() * rest.norm());
  }
  EXPECT_GT(outside, 200);
  for (int k = 0; k < 100; ++k) {
    const Eigen::Vector3d z = random_vector(random);
    EXPECT_LE((strict_operator(z, 0.4, 0.4) - strict_operator<3>(z, 0.4)).norm(), 1e-12);
  }
  EXPECT_EQ(strict_operator({2, 3, 1}, 0.0, 0.5), Eigen::Vector3d(0, 0.5, 1));
}

TEST(ProximalOperator, OfUnequalGammasIsTheNearestPointInTheirNorm) {
  RandomSource random(3);
  for (int k = 0; k < 200; ++k) {
    const Eigen::Vector3d z = random_vector(random);
    const double mu = random.uniform(0.1, 1.5), t = random.uniform(0.1, 3.0), n = random.uniform(0.1, 3.0);
    const Eigen::Vector3d gamma(t, t, n), point = proximal_operator<3>(z, mu, t, n);
    // The variational inequality of the projection, tried on points of the cone.
    for (int q = 0; q < 20; ++q) {
      const Eigen::Vector3d other = project_friction_cone<3>(random_vector(random, 3.0), mu);
      EXPECT_GE(gamma.cwiseProduct(point - z).dot(other - point), -1e-12);
    }
  }
}

/// The largest ratio of ‖v** − u**‖ to ‖v* − u*‖ in the norm of W⁻¹ for one contact of two nodes.
double lipschitz_constant(Operator which, double mu) {
  SparseMatrix mass(6, 6);
  mass.setIdentity();
  const ContactProblem problem =
      primal_problem(mass, contact_jacobian({{0, 3}}, 6), Vector::Zero(6), Vector::Zero(3), {mu});
  const NodalForm form = nodalise(problem, {});
  const ContactStep step(form, problem.cones(), problem.compliance(), which);
  RandomSource random(4);
  Vector w(6), impulse(3);
  double largest = 0.0;
  for (int k = 0; k < 200000; ++k) {
    w.head<3>().setConstant(random.uniform(0.2, 2.0));
    w.tail<3>().setConstant(random.uniform(0.2, 2.0));
    const double near = std::pow(10.0, random.uniform(-4.0, 0.0));
    Vector v = Vector::NullaryExpr(6, [&](Index) { return random.uniform(-1.0, 1.0); });
    Vector u = v + near * Vector::NullaryExpr(6, [&](Index) { return random.uniform(-1.0, 1.0); });
    const Vector root = w.cwiseSqrt().cwiseInverse();
    const double before = root.cwiseProduct(v - u).norm();
    step(w, 1.0, Vector::Zero(3), v, impulse);
    step(w, 1.0, Vector::Zero(3), u, impulse);
    largest = std::max(largest, root.cwiseProduct(v - u).norm() / before);
  }
  return largest;
}

TEST(ContactStep, LipschitzConstantsAreOneAndTheRootOfOnePlusMuSquared) {
  // Theorem 2's bound, and what is sharp of Theorem 1's, in the norm of W⁻¹ and for w_i ≠ w_j.
  for (const double mu : {0.3, 1.0, 3.0}) {
    const double proximal = lipschitz_constant(Operator::proximal, mu);
    EXPECT_LE(proximal, 1.0 + 1e-9);
    EXPECT_GE(proximal, 0.99);
    const double strict = lipschitz_constant(Operator::strict, mu), bound = std::sqrt(1.0 + mu * mu);
    EXPECT_LE(strict, bound * (1.0 + 1e-9));
    EXPECT_GE(strict, 1.0 + 0.8 * (bound - 1.0)) << "the bound is nearly met";
  }
}

}  // namespace
}  // namespace conebench::cond
