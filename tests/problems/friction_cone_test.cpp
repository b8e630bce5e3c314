#include "problems/cones/friction_cone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "problems/cones/contact_cones.hpp"
#include "tests/problems/cone_values.hpp"

namespace conebench {
namespace {

using ConeVector = FrictionCone::Block;

/// One coefficient a group, as the projections have it.
FrictionCone cone_of(const std::vector<int>& groups, const std::vector<double>& mu,
                     ConeShape shape = ConeShape::discs) {
  std::vector<double> coefficients;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    coefficients.insert(coefficients.end(), static_cast<std::size_t>(groups[g]), mu[g]);
  }
  return {shape, groups, coefficients};
}

FrictionCone rolling_cone(double mu, double mu_r) { return cone_of({2, 2}, {mu, mu_r}); }

FrictionCone any_friction_cone(const rc::Gen<double>& coefficient) {
  static const std::vector<std::vector<int>> sizes = {
      {1}, {2}, {3}, {5}, {7}, {2, 1}, {2, 2}, {2, 3}, {1, 1, 1}, {3, 1, 2}, {1, 1, 1, 1, 1, 1, 1}};
  const std::vector<int> groups = *rc::gen::elementOf(sizes);
  std::vector<double> mu;
  for (std::size_t g = 0; g < groups.size(); ++g) mu.push_back(*coefficient);
  return cone_of(groups, mu);
}

FrictionCone any_pyramid(const rc::Gen<double>& coefficient) {
  return cone_of({*rc::gen::inRange(1, 8)}, {*coefficient}, ConeShape::pyramid);
}

/// Of a size at which differences and slow methods are accurate.
rc::Gen<double> moderate(int least) {
  return rc::gen::map(rc::gen::inRange(least, 2000), [](int v) { return 1e-3 * v; });
}

ConeVector any_cone_vector(int size) {
  ConeVector x(size);
  for (double& value : x) value = *component();
  return x;
}

ConeVector moderate_vector(int size, double offset = 0.0) {
  ConeVector x(size);
  for (double& value : x) value = *rc::gen::map(rc::gen::inRange(-1000, 1001), [](int v) { return 1e-3 * v; }) + offset;
  return x;
}

double bounded_norm(const FrictionCone& cone, const ConeVector& part) {
  return cone.shape() == ConeShape::pyramid ? part.lpNorm<1>() : part.norm();
}
double dual_norm(const FrictionCone& cone, const ConeVector& part) {
  return cone.shape() == ConeShape::pyramid ? part.lpNorm<Eigen::Infinity>() : part.norm();
}

double beyond_cone(const FrictionCone& cone, const ConeVector& x) {
  double beyond = -x[cone.normal];
  for (const auto& [first, size, mu] : cone.groups()) {
    beyond = std::max(beyond, bounded_norm(cone, x.segment(first, size)) - mu * x[cone.normal]);
  }
  return beyond;
}
double beyond_dual(const FrictionCone& cone, const ConeVector& x) {
  double sum = -x[cone.normal];
  for (const auto& [first, size, mu] : cone.groups()) sum += mu * dual_norm(cone, x.segment(first, size));
  return sum;
}
double cone_rounding(const FrictionCone& cone, const ConeVector& x) {
  double sum = 1.0;
  for (const auto& group : cone.groups()) sum += group.coefficient * group.size;
  return 2e-14 * sum * (x.norm() + std::numeric_limits<double>::min());
}

void check_is_nearest_point(const FrictionCone& cone, const ConeVector& x) {
  const ConeVector projected = cone.project(x);
  const double rounding = cone_rounding(cone, x);
  RC_ASSERT(beyond_cone(cone, projected) <= rounding);
  RC_ASSERT((cone.project(projected) - projected).norm() <= rounding);
  // Characterises the projection: x − P(x) is in the polar cone and at right angles to P(x).
  const ConeVector rest = projected - x;
  RC_ASSERT(beyond_dual(cone, rest) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

void check_is_nearest_point_of_dual(const FrictionCone& cone, const ConeVector& x) {
  const ConeVector projected = cone.project_dual(x);
  const double rounding = cone_rounding(cone, x);
  RC_ASSERT(beyond_dual(cone, projected) <= rounding);
  RC_ASSERT((cone.project_dual(projected) - projected).norm() <= rounding);
  const ConeVector rest = projected - x;
  RC_ASSERT(beyond_cone(cone, rest) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

RC_GTEST_PROP(FrictionConeProperty, ProjectionIsTheNearestPoint, ()) {
  const FrictionCone cone = any_friction_cone(friction());
  check_is_nearest_point(cone, any_cone_vector(cone.size()));
}

RC_GTEST_PROP(FrictionConeProperty, DualProjectionIsTheNearestPointOfTheDual, ()) {
  const FrictionCone cone = any_friction_cone(friction());
  check_is_nearest_point_of_dual(cone, any_cone_vector(cone.size()));
}

RC_GTEST_PROP(FrictionConeProperty, PyramidsAreProjectedToTheNearestPointToo, ()) {
  const FrictionCone cone = any_pyramid(friction());
  check_is_nearest_point(cone, any_cone_vector(cone.size()));
  check_is_nearest_point_of_dual(cone, any_cone_vector(cone.size()));
}

/// The nearest point of K by a method that knows of K only the cones of one group that it is cut from, and of these
/// only the plane of x_g and the normal: Dykstra's alternating projections.
ConeVector by_dykstra(const FrictionCone& cone, const ConeVector& x) {
  const auto onto = [&](const ConeVector& y, const FrictionCone::Group& group) {
    ConeVector point = y;
    const double length = y.segment(group.first, group.size).norm();
    const Eigen::Vector2d projected =
        project_friction_cone<2>(Eigen::Vector2d(length, y[cone.normal]), group.coefficient);
    if (length > 0.0) point.segment(group.first, group.size) *= projected[0] / length;
    point[cone.normal] = projected[1];
    return point;
  };
  ConeVector point = x;
  std::vector<ConeVector> from(cone.groups().size(), ConeVector::Zero(x.size()));
  for (int k = 0; k < 20000; ++k) {
    const ConeVector before = point;
    for (std::size_t g = 0; g < from.size(); ++g) {
      const ConeVector moved = point + from[g];
      point = onto(moved, cone.groups()[g]);
      from[g] = moved - point;
    }
    if ((point - before).norm() <= 1e-15 * x.norm()) break;
  }
  return point;
}

RC_GTEST_PROP(FrictionConeProperty, ProjectionIsWhatAGeneralMethodFinds, ()) {
  const FrictionCone cone = any_friction_cone(moderate(0));
  const ConeVector x = moderate_vector(cone.size());
  RC_ASSERT((cone.project(x) - by_dykstra(cone, x)).norm() <= 1e-5 * (x.norm() + 1e-300));
}

/// The nearest of all points that are nearest on a face's plane and in K.
ConeVector by_faces(const FrictionCone& pyramid, const ConeVector& x) {
  const auto& [first, size, mu] = pyramid.groups()[0];
  ConeVector best = ConeVector::Zero(x.size());
  double nearest = x.norm();
  const auto take = [&](const ConeVector& y) {
    if (beyond_cone(pyramid, y) > 1e-12 || (y - x).norm() >= nearest) return;
    best = y;
    nearest = (y - x).norm();
  };
  take(x);
  for (unsigned kept = 0; kept < (1U << size); ++kept) {
    for (unsigned signs = 0; signs < (1U << size); ++signs) {
      if ((signs & ~kept) != 0) continue;
      ConeVector y = x;
      ConeVector normal = ConeVector::Zero(x.size());
      normal[pyramid.normal] = -mu;
      for (int k = 0; k < size; ++k) {
        if ((kept >> k & 1U) == 0)
          y[first + k] = 0.0;
        else
          normal[first + k] = (signs >> k & 1U) != 0 ? 1.0 : -1.0;
      }
      if (normal.squaredNorm() > 0.0) take(y - normal * (normal.dot(y) / normal.squaredNorm()));
      take(y);
    }
  }
  return best;
}

RC_GTEST_PROP(FrictionConeProperty, APyramidsProjectionIsTheBestOfAllFaces, ()) {
  const FrictionCone cone = cone_of({*rc::gen::inRange(1, 5)}, {*moderate(0)}, ConeShape::pyramid);
  const ConeVector x = moderate_vector(cone.size());
  RC_ASSERT((cone.project(x) - by_faces(cone, x)).norm() <= 1e-12 * (1.0 + x.norm()));
}

/// The projection for two discs in closed form, case by case.
ConeVector by_cases(double mu, double mu_r, const ConeVector& x) {
  const double a = x.head(2).norm();
  const double b = x.tail(2).norm();
  if (mu * a + mu_r * b <= -x[2]) return ConeVector::Zero(5);
  const double slide = a - mu * x[2];
  const double roll = b - mu_r * x[2];
  double raised = 0.0;
  if (slide > 0.0 || roll > 0.0) {
    const double by_slide = mu * slide / (1.0 + mu * mu);
    const double by_roll = mu_r * roll / (1.0 + mu_r * mu_r);
    if (slide > 0.0 && roll <= mu_r * by_slide) {
      raised = by_slide;
    } else if (roll > 0.0 && slide <= mu * by_roll) {
      raised = by_roll;
    } else {
      raised = (mu * slide + mu_r * roll) / (1.0 + mu * mu + mu_r * mu_r);
    }
  }
  const double normal = x[2] + raised;
  ConeVector projected = x;
  projected[2] = normal;
  if (a > mu * normal) projected.head(2) *= mu * normal / a;
  if (b > mu_r * normal) projected.tail(2) *= mu_r * normal / b;
  return projected;
}

RC_GTEST_PROP(FrictionConeProperty, TwoDiscsAreRollingFrictionInClosedForm, ()) {
  const double mu = *moderate(0);
  const double mu_r = *moderate(0);
  const ConeVector x = any_cone_vector(5);
  RC_ASSERT((rolling_cone(mu, mu_r).project(x) - by_cases(mu, mu_r, x)).norm() <= 1e-13 * (1.0 + x.norm()));
}

RC_GTEST_PROP(FrictionConeProperty, OneDiscIsCoulombs, ()) {
  const double mu = *friction();
  const ConeVector x = any_cone_vector(3);
  const CoulombSpace coulomb{{mu}};
  const FrictionCone cone = cone_of({2}, {mu});
  const double rounding = cone_rounding(cone, x);
  RC_ASSERT((cone.project(x) - coulomb.project(x)).norm() <= rounding);
  RC_ASSERT((cone.project_dual(x) - coulomb.project_dual(x)).norm() <= rounding);
  RC_ASSERT(std::abs(cone.de_saxce(x) - coulomb.de_saxce(x)) <= 1e-15 * coulomb.de_saxce(x));
  RC_ASSERT((cone.de_saxce_gradient(x) - coulomb.de_saxce_gradient(x)).norm() <= 1e-14 * (1.0 + mu));
  const ConeVector plane = any_cone_vector(2);
  const FrictionCone line = cone_of({1}, {mu});
  RC_ASSERT((line.project(plane) - CoulombPlane{{mu}}.project(plane)).norm() <= cone_rounding(line, plane));
}

RC_GTEST_PROP(FrictionConeProperty, AGroupWithoutEntriesIsAsIfItWereNot, ()) {
  const double mu = *friction();
  ConeVector x = any_cone_vector(5);
  x.tail(2).setZero();
  const FrictionCone cone = rolling_cone(mu, *friction());
  const ConeVector projected = cone.project(x);
  const Eigen::Vector3d expected = project_friction_cone<3>(x.head<3>(), mu);
  RC_ASSERT((projected.head(3) - expected).norm() <= cone_rounding(cone, x));
  RC_ASSERT(projected.tail(2).isZero(0.0));
}

RC_GTEST_PROP(FrictionConeProperty, NaturalMapIsTheDifferenceToTheProjection, ()) {
  const bool pyramid = *rc::gen::arbitrary<bool>();
  const FrictionCone cone = pyramid ? any_pyramid(friction()) : any_friction_cone(friction());
  const ConeVector impulse = any_cone_vector(cone.size());
  const ConeVector s = any_cone_vector(cone.size());
  const ConeVector expected = impulse - cone.project(impulse - s);
  RC_ASSERT((cone.natural_map(impulse, s) - expected).norm() <= cone_rounding(cone, impulse) + cone_rounding(cone, s));
}

RC_GTEST_PROP(FrictionConeProperty, DerivativesAreThoseOfDifferences, ()) {
  const bool pyramid = *rc::gen::arbitrary<bool>();
  const FrictionCone cone = pyramid ? any_pyramid(moderate(1)) : any_friction_cone(moderate(1));
  const ConeVector x = moderate_vector(cone.size(), 1e-4);
  const FrictionCone::Square derivative = cone.derivative(x);
  const ConeVector gradient = cone.de_saxce_gradient(x);
  const double h = 1e-7;
  for (int k = 0; k < cone.size(); ++k) {
    const ConeVector step = h * ConeVector::Unit(cone.size(), k);
    const ConeVector after = x + step;
    const ConeVector before = x - step;
    // Where a kink lies between the two points, there is no derivative to compare with.
    if ((cone.derivative(after) - cone.derivative(before)).norm() <= 1e-2) {
      const ConeVector slope = (cone.project(after) - cone.project(before)) / (2.0 * h);
      RC_ASSERT((slope - derivative.col(k)).norm() <= 1e-3);
    }
    if ((cone.de_saxce_gradient(after) - cone.de_saxce_gradient(before)).norm() <= 1e-2) {
      const double slope = (cone.de_saxce(after) - cone.de_saxce(before)) / (2.0 * h);
      RC_ASSERT(std::abs(slope - gradient[k]) <= 1e-3);
    }
  }
}

RC_GTEST_PROP(FrictionConeProperty, DeSaxcesTermIsTheSupportFunctionOfTheGroups, ()) {
  // Γ(v) = max over the tangential part of K at λ_N = 1 of −λ_T · v_T, which maximum dissipation attains.
  const bool pyramid = *rc::gen::arbitrary<bool>();
  const FrictionCone cone = pyramid ? any_pyramid(moderate(0)) : any_friction_cone(moderate(0));
  const ConeVector v = moderate_vector(cone.size());
  ConeVector force = cone.de_saxce_gradient(v) * -1.0;
  RC_ASSERT(std::abs(-force.dot(v) - cone.de_saxce(v)) <= 1e-12);
  force[cone.normal] = 1.0;
  RC_ASSERT(beyond_cone(cone, force) <= 1e-12);
  // So that λ ⟂ σ + Γ(σ) where it slides.
  ConeVector corrected = v;
  corrected[cone.normal] = cone.de_saxce(v);
  RC_ASSERT(beyond_dual(cone, corrected) <= 1e-12);
  RC_ASSERT(std::abs(force.dot(corrected)) <= 1e-12);
}

TEST(FrictionCone, WithoutACoefficientOfAGroupThereIsNoForceInItAndItsVelocityIsFree) {
  const FrictionCone cone = rolling_cone(0.5, 0.0);
  ConeVector x(5);
  x << 0.1, 0.0, 1.0, 2.0, -3.0;
  ConeVector projected(5);
  projected << 0.1, 0.0, 1.0, 0.0, 0.0;
  EXPECT_EQ(cone.project(x), projected);
  EXPECT_EQ(cone.project_dual(x), x);
  EXPECT_EQ(cone.de_saxce(x), 0.5 * 0.1);
  EXPECT_TRUE(cone.derivative(projected).bottomRightCorner(2, 2).isZero(0.0));
}

TEST(FrictionCone, WhatIsNoNumberStaysNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const FrictionCone& cone :
       {rolling_cone(0.5, 0.1), cone_of({3}, {0.5}), cone_of({3}, {0.5}, ConeShape::pyramid)}) {
    for (int k = 0; k < cone.size(); ++k) {
      ConeVector x = ConeVector::Ones(cone.size());
      x[k] = nan;
      EXPECT_FALSE(cone.project(x).allFinite()) << k;
    }
  }
}

TEST(FrictionCone, PutsTheNormalBehindTheFirstGroup) {
  const FrictionCone cone = cone_of({3, 1, 2}, {0.5, 0.1, 0.2});
  EXPECT_EQ(cone.size(), 7);
  EXPECT_EQ(cone.normal, 3);
  ASSERT_EQ(cone.groups().size(), 3U);
  EXPECT_EQ(cone.groups()[0].first, 0);
  EXPECT_EQ(cone.groups()[1].first, 4);
  EXPECT_EQ(cone.groups()[2].first, 5);
  EXPECT_EQ(cone.groups()[2].coefficient, 0.2);
}

TEST(FrictionLaw, SaysWhatIsWrong) {
  const auto message = [](const FrictionLaw& law) {
    const auto checked = law.check();
    return checked ? std::string() : checked.error().message;
  };
  const auto discs = [](std::vector<int> groups, std::vector<double> mu) {
    return FrictionLaw{ConeShape::discs, std::move(groups), std::move(mu)};
  };
  EXPECT_EQ(message(discs({2, 1}, {0.5, 0.4, 0.1})), "");
  EXPECT_THAT(message(discs({}, {})), ::testing::HasSubstr("no group"));
  EXPECT_THAT(message(discs({2, 1}, {0.5, 0.4})), ::testing::HasSubstr("groups of 3 tangential rows"));
  EXPECT_THAT(message(discs({2, 0}, {0.5, 0.4})), ::testing::HasSubstr("a group of 0 rows"));
  EXPECT_THAT(message(discs({8}, std::vector<double>(8, 0.1))), ::testing::HasSubstr("9 rows; the most is 8"));
  EXPECT_THAT(message(discs({2}, {0.5, -0.4})), ::testing::HasSubstr("row 2: -0.4"));
  EXPECT_THAT(message(discs({2}, {0.5, 0.0})), ::testing::HasSubstr("leave out the rows without"));
  EXPECT_THAT(message({ConeShape::pyramid, {1, 1}, {0.5, 0.5}}), ::testing::HasSubstr("pyramid of several groups"));
}

}  // namespace
}  // namespace conebench
