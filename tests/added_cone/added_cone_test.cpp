// The cone of docs/add_a_cone.md, in a product that has its type.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "problems/cones/contact_cones.hpp"

namespace conebench {
namespace {

using Space = ContactVector<3>;

rc::Gen<double> coefficient() {
  return rc::gen::map(rc::gen::inRange(1, 2000), [](int v) { return 1e-3 * v; });
}
Space any_point() {
  Space x;
  for (double& value : x) {
    value = *rc::gen::oneOf(rc::gen::just(0.0),
                            rc::gen::map(rc::gen::inRange(-1000000, 1000001), [](int v) { return 1e-5 * v; }));
  }
  return x;
}
OrthotropicSpace any_cone() { return OrthotropicSpace(std::vector{*coefficient(), *coefficient()}); }

double beyond(const OrthotropicSpace& cone, const Space& x) {
  return std::hypot(x[0] / cone.mu_1, x[1] / cone.mu_2) - x[2];
}
double beyond_dual(const OrthotropicSpace& cone, const Space& x) {
  return std::hypot(cone.mu_1 * x[0], cone.mu_2 * x[1]) - x[2];
}
double rounding(const OrthotropicSpace& cone, const Space& x) {
  return 1e-13 * (1.0 + cone.mu_1 + cone.mu_2 + 1.0 / cone.mu_1 + 1.0 / cone.mu_2) *
         (x.norm() + std::numeric_limits<double>::min());
}

RC_GTEST_PROP(AddedConeProperty, ProjectionIsIdempotentAndSatisfiesMoreau, ()) {
  const OrthotropicSpace cone = any_cone();
  const Space x = any_point();
  const double small = rounding(cone, x);
  const Space projected = cone.project(x);
  RC_ASSERT(beyond(cone, projected) <= small);
  RC_ASSERT((cone.project(projected) - projected).norm() <= small);
  // x = P_K(x) − P_{K*}(−x), the parts at right angles.
  const Space reflected = -x;
  const Space dual = cone.project_dual(reflected);
  RC_ASSERT(beyond_dual(cone, dual) <= small);
  RC_ASSERT((projected - dual - x).norm() <= small);
  RC_ASSERT(std::abs(projected.dot(dual)) <= small * x.norm());
}

RC_GTEST_PROP(AddedConeProperty, WithEqualCoefficientsItIsCoulombs, ()) {
  const double mu = *coefficient();
  const OrthotropicSpace cone(std::vector{mu, mu});
  const Space x = any_point();
  RC_ASSERT((cone.project(x) - CoulombSpace{{mu}}.project(x)).norm() <= rounding(cone, x));
}

RC_GTEST_PROP(AddedConeProperty, HasTheSolutionsOfTheScaledIsotropicCone, ()) {
  // λ_T = −λ_N D² σ / ‖D σ‖: both natural maps vanish, in the variables as given and in those where D is mu_1.
  const OrthotropicSpace cone = any_cone();
  const CoulombSpace ball{{cone.mu_1}};
  Space sigma = any_point();
  sigma[2] = 0.0;
  const Space corrected = sigma + cone.de_saxce(sigma) * Space::UnitZ();
  const Space impulse = Space::UnitZ() - cone.de_saxce_gradient(sigma);
  const Space units(1.0, cone.mu_2 / cone.mu_1, 1.0);
  const Space scaled_impulse = impulse.cwiseQuotient(units);
  const Space scaled_sigma = sigma.cwiseProduct(units);
  const Space scaled_corrected = scaled_sigma + ball.de_saxce(scaled_sigma) * Space::UnitZ();
  const double small = rounding(cone, impulse) + rounding(cone, corrected);
  RC_ASSERT(std::abs(cone.de_saxce(sigma) - ball.de_saxce(scaled_sigma)) <= small);
  RC_ASSERT(cone.natural_map(impulse, corrected).norm() <= small);
  RC_ASSERT(ball.natural_map(scaled_impulse, scaled_corrected).norm() <= small * (1.0 + units[1]));
  // What one cone holds, the other holds.
  const Space x = any_point();
  if (std::abs(beyond(cone, x)) <= rounding(cone, x)) return;
  RC_ASSERT((cone.project(x) == x) == (ball.project(x.cwiseQuotient(units)) == x.cwiseQuotient(units)));
}

TEST(AddedCone, IsReachedFromAProductThatHasIt) {
  const FrictionLaw orthotropic{ConeShape::discs, {2}, {0.3, 0.9}};
  const ConeProduct cones =
      ConeProduct::create(0, 0, {}, {FrictionLaw::coulomb(0.5), orthotropic, orthotropic}).value();
  ASSERT_EQ(cones.contact_runs().size(), 2U);
  EXPECT_EQ(cones.contact_runs()[1].type, ConeType::orthotropic);
  EXPECT_EQ(cones.contact_runs()[1].count, 2);
  int seen = 0;
  for_each_contact(cones, [&]<class Cone>(Index, Index, const Cone& cone) {
    if constexpr (std::is_same_v<Cone, OrthotropicSpace>) {
      EXPECT_EQ(cone.mu_2, 0.9);
      ++seen;
    }
  });
  EXPECT_EQ(seen, 2);
  const Vector x = Vector::LinSpaced(9, -1.0, 2.0);
  Vector projected(9);
  project_cone(cones, x, projected);
  EXPECT_EQ(projected.segment<3>(3), OrthotropicSpace(std::vector{0.3, 0.9}).project(x.segment<3>(3)));
}

}  // namespace
}  // namespace conebench
