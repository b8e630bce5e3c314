#include "solvers/cascade/interior_point.hpp"

#include <gtest/gtest.h>

#include "scenes/scene_table.hpp"

namespace conebench::cascade {
namespace {

struct Fixture {
  ScaledProblem problem;
  BlockLu lu;
  PathSystem system;
  Vector r, w;

  Fixture()
      : problem((*require_scene("random"))->make({{"contacts", 4L}}, 2).value()),
        lu(problem),
        system(problem, lu),
        r(problem.size()),
        w(problem.size()) {
    srand(5);
    r = 0.3 * Vector::Random(problem.size());
    w = 0.3 * Vector::Random(problem.size());
    for (int i = 0; i < problem.contacts(); ++i) {
      r[3 * i + 2] = 1.0 + 0.1 * i;
      w[3 * i + 2] = 0.5 + 0.2 * i;
    }
    system.factor(r, w);
  }
};

TEST(PathSystem, TheScaledPointHasTheComplementarityOfThePoint) {
  const Fixture f;
  for (int i = 0; i < f.problem.contacts(); ++i) {
    const Eigen::Vector3d ri = f.r.segment<3>(3 * i);
    const Eigen::Vector3d u = de_saxce_velocity(f.w.segment<3>(3 * i));
    const Eigen::Vector3d lambda = f.system.scaled_point(i);
    // λ = W⁻¹ r = W u keeps the product of both points and of their determinants.
    EXPECT_NEAR(lambda.squaredNorm(), ri.dot(u), 1e-12);
    EXPECT_NEAR(cone_determinant(lambda) * cone_determinant(lambda), cone_determinant(ri) * cone_determinant(u), 1e-12);
  }
}

TEST(PathSystem, ADirectionIsTheNewtonStepOfTheSmoothedComplementarity) {
  Fixture f;
  PathSystem::Field d(static_cast<std::size_t>(f.problem.contacts()));
  const double m = 0.7;
  for (int i = 0; i < f.problem.contacts(); ++i) {
    const Eigen::Vector3d lambda = f.system.scaled_point(i);
    d[static_cast<std::size_t>(i)] = -jordan_product(lambda, lambda) + Eigen::Vector3d(0.0, 0.0, m);
  }
  Vector product(f.problem.size());
  f.problem.multiply(f.r, product);
  const Vector e = f.w - product - f.problem.free_term();
  PathSystem::Direction direction;
  direction.resize(f.problem.size());
  f.system.solve(d, e, direction);

  f.problem.multiply(direction.dr, product);
  EXPECT_LE((product - e - direction.dw).norm(), 1e-12 * e.norm());

  // To first order, the mean of the eigenvalues of λ∘λ, which is r·u(w), moves to m in a full step.
  const double h = 1e-6;
  for (int i = 0; i < f.problem.contacts(); ++i) {
    const auto product_at = [&](double step) {
      const Eigen::Vector3d r = f.r.segment<3>(3 * i) + step * direction.dr.segment<3>(3 * i);
      const Eigen::Vector3d w = f.w.segment<3>(3 * i) + step * direction.dw.segment<3>(3 * i);
      return r.dot(de_saxce_velocity(w));
    };
    const double slope = (product_at(h) - product_at(-h)) / (2.0 * h);
    EXPECT_NEAR(product_at(0.0) + slope, m, 1e-6);
  }
}

}  // namespace
}  // namespace conebench::cascade
