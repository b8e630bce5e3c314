// What paper Lee23 prints otherwise than it means. Each test shows the printed formula's consequence (docs/errata.md).

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "solvers/cond/contact_step.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "tests/solvers/cond/soft_problems.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

TEST(Lee23, PrintedStepOfNewtonsMethodLacksTheInverse) {
  // (10) on the linear g(v) = A v − b: v − A⁻¹ g is the root, v − A g is not.
  Matrix a(2, 2);
  a << 2, -0.5, -0.5, 3;
  const Vector b = Vector::LinSpaced(2, 1, -1), v = Vector::Ones(2), g = a * v - b;
  EXPECT_LE((a * (v - a.inverse() * g) - b).norm(), 1e-15);
  EXPECT_GT((a * (v - a * g) - b).norm(), 1.0);
}

TEST(Lee23, PrintedSplittingOfChebyshevsMethodIsNotOneOfA) {
  // (38): A = A_1 − A_2 and v = A_1⁻¹ (A_2 v − b), with A_1 = −W⁻¹, A_2 = W⁻¹ − A in the text.
  Matrix a(3, 3);
  a << 2, -0.5, 0.1, -0.5, 3, 0.2, 0.1, 0.2, 1;
  const Vector w = Vector(a.diagonal()).cwiseInverse();
  const Matrix inverse = w.cwiseInverse().asDiagonal();
  EXPECT_GT((-inverse - (inverse - a) - a).norm(), 1.0);
  EXPECT_LE((inverse - (inverse - a) - a).norm(), 1e-15);
  const Vector b = Vector::LinSpaced(3, 1, -1), v = a.inverse() * b;
  const auto step = [&](double sign_of_first, double sign_of_b) -> Vector {
    return sign_of_first * w.asDiagonal() * ((inverse - a) * v + sign_of_b * b);
  };
  EXPECT_LE((step(1.0, 1.0) - v).norm(), 1e-15) << "the solution stays where it is";
  EXPECT_GT((step(-1.0, -1.0) - v).norm(), 0.4) << "as printed, it leaves it";
}

TEST(Lee23, StepOfEquation22ProjectsInTheInverseOfThePrintedMetric) {
  // Two nodes of unequal steps that close on each other without friction: v** is nearest to v* in the norm of W⁻¹.
  SparseMatrix mass(6, 6);
  mass.setIdentity();
  const ContactProblem problem =
      primal_problem(mass, contact_jacobian({{0, 3}}, 6), Vector::Zero(6), Vector::Zero(3), {0.0});
  const cond::NodalForm form = cond::nodalise(problem, {});
  const cond::ContactStep step(form, problem.cones(), problem.compliance(), cond::Operator::strict);
  Vector w(6), v(6), impulse(3);
  w << 1, 1, 1, 0.2, 0.2, 0.2;
  v << 0.3, 0, -1, 0, 0.1, 1;
  const auto nearest = [&](const Vector& metric) -> Vector {
    Vector direction = Vector::Zero(6);
    direction[2] = 1.0 / metric[2];
    direction[5] = -1.0 / metric[5];
    return v + (v[5] - v[2]) / (direction[2] - direction[5]) * direction;
  };
  const Vector inverse_metric = nearest(w.cwiseInverse()), printed = nearest(w);
  Vector after = v;
  step(w, 1.0, Vector::Zero(3), after, impulse);
  EXPECT_LE((after - inverse_metric).norm(), 1e-14);
  EXPECT_GT((after - printed).norm(), 0.5);
}

TEST(Lee23, PrintedFrobeniusNormLacksATwoAndASquare) {
  const ContactProblem problem = soft_mesh(3);
  const cond::NodalForm form = cond::nodalise(problem, {});
  const Vector w = cond::frobenius_steps(form, true);
  const Matrix a = form.matrix;
  const auto n = static_cast<double>(a.rows());
  const double norm = (Matrix::Identity(a.rows(), a.rows()) - w.asDiagonal() * a).squaredNorm();
  double right = n, printed = n;
  for (Index i = 0; i < a.rows(); ++i) {
    right += w[i] * w[i] * a.row(i).squaredNorm() - 2.0 * w[i] * a(i, i);
    printed += a.row(i).squaredNorm() - w[i] * a(i, i);
  }
  EXPECT_NEAR(right, norm, 1e-9 * norm);
  EXPECT_GT(std::abs(printed - norm), 0.1 * norm);
  // The printed minimum is right: other steps of the same nodes are worse.
  for (const double factor : {0.9, 1.1}) {
    Vector other = w;
    for (const int c : form.blocks[1].i) other[c] *= factor;
    EXPECT_GT((Matrix::Identity(a.rows(), a.rows()) - other.asDiagonal() * a).squaredNorm(), norm);
  }
}

TEST(Lee23, FrobeniusStepsMayDivergeAndSafeOnesDoNot) {
  // A = 0.9 I + 0.1 1 1ᵀ: λ_max(W A) is 7.7, so that the iteration diverges without any contact closed.
  const Index n = 300;
  const Matrix dense = 0.9 * Matrix::Identity(n, n) + Matrix::Constant(n, n, 0.1);
  const ContactProblem problem = primal_problem(dense.sparseView(), contact_jacobian({{0, -1}}, n),
                                                Vector::Constant(n, -0.1), Vector::Zero(3), {0.3});
  const Vector w = cond::frobenius_steps(cond::nodalise(problem, {}), true);
  const Matrix scaled = w.cwiseSqrt().asDiagonal() * dense * w.cwiseSqrt().asDiagonal();
  EXPECT_NEAR(Eigen::SelfAdjointEigenSolver<Matrix>(scaled).eigenvalues().maxCoeff(), 7.7, 0.05);
  const auto status = [&](const OptionValues& options) {
    const auto solver = prepared(*find_solver("COND-STRICT"), problem, options);
    JudgingMonitor monitor(problem, "natural_map_scaled", 1e-8);
    return solve(*solver, problem, {.max_iterations = 3000, .stop_by = StopBy::judge}, monitor).summary.status;
  };
  EXPECT_EQ(status({}), SolveStatus::diverged);
  EXPECT_EQ(status({{"safe", true}}), SolveStatus::converged);
}

TEST(Lee23, PrintedFactorOfTheoremOneIsTwiceTheRightOne) {
  // A = 2 M + t²/2 K and W = M̂⁻¹ = (2 M)⁻¹: ‖I − W A‖ is t²/4 ‖M⁻¹ K‖, not t²/2.
  Matrix k(2, 2);
  k << 3e4, -2e4, -2e4, 5e4;
  const Vector m = Vector::LinSpaced(2, 0.5, 0.7);
  const double t = 0.01;
  const Matrix a = Matrix((2.0 * m).asDiagonal()) + 0.5 * t * t * k;
  const Matrix rest = Matrix::Identity(2, 2) - (2.0 * m).cwiseInverse().asDiagonal() * a;
  const double factor = rest.norm() / (m.cwiseInverse().asDiagonal() * k).norm();
  EXPECT_NEAR(factor, 0.25 * t * t, 1e-12);
}

TEST(Lee23, ThetaIsBlindToStiffVirtualNodes) {
  // At θ = 1e-4 m/s, the paper's, the answer on a rigid body is still far off.
  const ContactProblem problem = box_on_corners();
  const auto solver = prepared(*find_solver("COND-STRICT"), problem, {{"virtual_gain", 1e4}});
  SilentMonitor silent;
  const Answer answer =
      solve(*solver, problem, {.tolerance = 1e-4, .max_iterations = 100000, .stop_by = StopBy::solver}, silent);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.summary.own_residual, 1e-4);
  EXPECT_GT(judge(problem, answer.impulse)["natural_map_scaled"].value, 1e-2);
}

}  // namespace
}  // namespace conebench
