#include "problems/cones/rolling.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "problems/cone_product.hpp"
#include "problems/cones/coulomb_space.hpp"
#include "tests/problems/cone_values.hpp"

namespace conebench {
namespace {

RollingVector any_vector() {
  RollingVector x;
  for (double& value : x) value = *component();
  return x;
}
RollingCone any_cone() { return {*friction(), *friction()}; }

double outside_cone(const RollingCone& cone, const RollingVector& x) {
  return std::max({x.head<2>().norm() - cone.friction * x[2], x.tail<2>().norm() - cone.rolling * x[2], -x[2]});
}
double outside_dual(const RollingCone& cone, const RollingVector& x) {
  return cone.friction * x.head<2>().norm() + cone.rolling * x.tail<2>().norm() - x[2];
}
double rounding_of(const RollingCone& cone, const RollingVector& x) {
  return 1e-14 * (1.0 + cone.friction + cone.rolling) * (x.norm() + std::numeric_limits<double>::min());
}

/// The nearest point of K by a method that knows of K only the two Coulomb cones that it is cut from: Dykstra's
/// alternating projections.
RollingVector by_dykstra(const RollingCone& cone, const RollingVector& x) {
  const auto onto = [](const RollingVector& y, int first, double mu) {
    RollingVector point = y;
    const Eigen::Vector3d part(y[first], y[first + 1], y[2]);
    const Eigen::Vector3d projected = project_friction_cone<3>(part, mu);
    point.segment<2>(first) = projected.head<2>();
    point[2] = projected[2];
    return point;
  };
  RollingVector point = x;
  RollingVector from_slide = RollingVector::Zero();
  RollingVector from_roll = RollingVector::Zero();
  for (int k = 0; k < 20000; ++k) {
    const RollingVector slide = onto(point + from_slide, 0, cone.friction);
    from_slide += point - slide;
    const RollingVector roll = onto(slide + from_roll, 3, cone.rolling);
    from_roll += slide - roll;
    const double change = (roll - point).norm();
    point = roll;
    if (change <= 1e-15 * x.norm() && (slide - roll).norm() <= 1e-15 * x.norm()) break;
  }
  return point;
}

RC_GTEST_PROP(RollingConeProperty, ProjectionIsTheNearestPoint, ()) {
  const RollingCone cone = any_cone();
  const RollingVector x = any_vector();
  const RollingVector projected = cone.project(x);
  const double rounding = rounding_of(cone, x);
  RC_ASSERT(outside_cone(cone, projected) <= rounding);
  RC_ASSERT((cone.project(projected) - projected).norm() <= rounding);
  // Characterises the projection: x − P(x) is in the polar cone and at right angles to P(x).
  const RollingVector rest = projected - x;
  RC_ASSERT(outside_dual(cone, rest) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

RC_GTEST_PROP(RollingConeProperty, DualProjectionIsTheNearestPointOfTheDual, ()) {
  const RollingCone cone = any_cone();
  const RollingVector x = any_vector();
  const RollingVector projected = cone.project_dual(x);
  const double rounding = rounding_of(cone, x);
  RC_ASSERT(outside_dual(cone, projected) <= rounding);
  RC_ASSERT((cone.project_dual(projected) - projected).norm() <= rounding);
  const RollingVector rest = projected - x;
  RC_ASSERT(outside_cone(cone, rest) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

RC_GTEST_PROP(RollingConeProperty, ProjectionIsWhatAGeneralMethodFinds, ()) {
  const RollingCone cone{*rc::gen::map(rc::gen::inRange(0, 2000), [](int v) { return 1e-3 * v; }),
                         *rc::gen::map(rc::gen::inRange(0, 2000), [](int v) { return 1e-3 * v; })};
  RollingVector x;
  for (double& value : x) value = *rc::gen::map(rc::gen::inRange(-1000, 1001), [](int v) { return 1e-3 * v; });
  RC_ASSERT((cone.project(x) - by_dykstra(cone, x)).norm() <= 1e-5 * (x.norm() + 1e-300));
}

RC_GTEST_PROP(RollingConeProperty, WithoutMomentsItIsCoulombs, ()) {
  const RollingCone cone = any_cone();
  RollingVector x = any_vector();
  x.tail<2>().setZero();
  const Eigen::Vector3d expected = project_friction_cone<3>(x.head<3>(), cone.friction);
  const RollingVector projected = cone.project(x);
  RC_ASSERT((projected.head<3>() - expected).norm() <= rounding_of(cone, x));
  RC_ASSERT(projected.tail<2>().isZero(0.0));
}

RC_GTEST_PROP(RollingConeProperty, NaturalMapIsTheDifferenceToTheProjection, ()) {
  const RollingCone cone = any_cone();
  const RollingVector impulse = any_vector();
  const RollingVector s = any_vector();
  const RollingVector expected = impulse - cone.project(impulse - s);
  RC_ASSERT((cone.natural_map(impulse, s) - expected).norm() <= rounding_of(cone, impulse) + rounding_of(cone, s));
}

RC_GTEST_PROP(RollingConeProperty, DerivativeIsThatOfDifferences, ()) {
  const RollingCone cone{*rc::gen::map(rc::gen::inRange(1, 2000), [](int v) { return 1e-3 * v; }),
                         *rc::gen::map(rc::gen::inRange(1, 2000), [](int v) { return 1e-3 * v; })};
  RollingVector x;
  for (double& value : x) value = *rc::gen::map(rc::gen::inRange(-1000, 1001), [](int v) { return 1e-3 * v + 1e-4; });
  const RollingMatrix derivative = cone.derivative(x);
  const double h = 1e-7;
  for (int k = 0; k < 5; ++k) {
    const RollingVector step = h * RollingVector::Unit(k);
    // Where a kink lies between the two points, there is no derivative to compare with.
    if ((cone.derivative(x + step) - cone.derivative(x - step)).norm() > 1e-2) continue;
    const RollingVector slope = (cone.project(x + step) - cone.project(x - step)) / (2.0 * h);
    RC_ASSERT((slope - derivative.col(k)).norm() <= 1e-3);
  }
}

TEST(RollingCone, WithoutACoefficientOfRollingThereIsNoMomentAndSpinIsFree) {
  const RollingCone cone{0.5, 0.0};
  RollingVector x;
  x << 0.1, 0.0, 1.0, 2.0, -3.0;
  RollingVector projected;
  projected << 0.1, 0.0, 1.0, 0.0, 0.0;
  EXPECT_EQ(cone.project(x), projected);
  EXPECT_EQ(cone.project_dual(x), x);
  EXPECT_EQ(cone.de_saxce(x), 0.5 * 0.1);
  EXPECT_TRUE(cone.derivative(projected).bottomRightCorner(2, 2).isZero(0.0));
}

TEST(RollingCone, WhatIsNoNumberStaysNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int k = 0; k < 5; ++k) {
    RollingVector x = RollingVector::Ones();
    x[k] = nan;
    EXPECT_FALSE((RollingCone{0.5, 0.1}.project(x).allFinite())) << k;
  }
}

TEST(RollingCone, ProductsTakeACoefficientForEveryContactAndForRollingAlone) {
  EXPECT_TRUE(ConeProduct::create(0, 1, {0.3, 0.4}, 5, {0.1, 0.0}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3, 0.4}, 5, {0.1}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3}, 3, {0.1}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3}, 5, {-0.1}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3}, 4).ok());
  const ConeProduct cones = ConeProduct::create(1, 2, {0.3, 0.4}, 5, {0.1, 0.2}).value();
  ASSERT_EQ(cones.runs().size(), 3U);
  EXPECT_EQ(cones.runs()[2].type, ConeType::rolling);
  EXPECT_EQ(cones.runs()[2].first_row, 3);
  EXPECT_EQ(cones.rows(), 13);
  EXPECT_EQ(cones.normal_row_of(4), 10);
}

}  // namespace
}  // namespace conebench
