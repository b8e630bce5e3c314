#include "problems/cones/coulomb.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Geometry>
#include <limits>

#include "problems/cone_product.hpp"
#include "tests/problems/cone_values.hpp"
#include "tests/support/coulomb_projection.hpp"

namespace conebench {
namespace {

template <int Dim>
ContactVector<Dim> any_vector() {
  ContactVector<Dim> x;
  for (int i = 0; i < Dim; ++i) x[i] = *component();
  return x;
}

/// Signed distance beyond the cone's boundary, measured along the tangent: positive outside.
template <int Dim>
double outside_cone(const ContactVector<Dim>& x, double mu) {
  return std::max(tangential_norm<Dim>(x) - mu * x[Dim - 1], -x[Dim - 1]);
}
template <int Dim>
double outside_dual(const ContactVector<Dim>& x, double mu) {
  return mu * tangential_norm<Dim>(x) - x[Dim - 1];
}

template <int Dim>
void check_projection(const ContactVector<Dim>& x, double mu) {
  const ContactVector<Dim> projected = project_friction_cone<Dim>(x, mu);
  const double rounding = 1e-14 * (1.0 + mu) * (x.norm() + std::numeric_limits<double>::min());
  RC_ASSERT(outside_cone<Dim>(projected, mu) <= rounding);
  RC_ASSERT((project_friction_cone<Dim>(projected, mu) - projected).norm() <= rounding);
  // Characterises the projection: x − P(x) is in the polar cone and at right angles to P(x).
  const ContactVector<Dim> rest = projected - x;
  RC_ASSERT(outside_dual<Dim>(rest, mu) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

template <int Dim>
void check_dual_projection(const ContactVector<Dim>& x, double mu) {
  const ContactVector<Dim> projected = project_dual_friction_cone<Dim>(x, mu);
  const double rounding = 1e-14 * (1.0 + mu) * (x.norm() + std::numeric_limits<double>::min());
  RC_ASSERT(outside_dual<Dim>(projected, mu) <= rounding);
  RC_ASSERT((project_dual_friction_cone<Dim>(projected, mu) - projected).norm() <= rounding);
  const ContactVector<Dim> rest = projected - x;
  RC_ASSERT(outside_cone<Dim>(rest, mu) <= rounding);
  RC_ASSERT(std::abs(rest.dot(projected)) <= rounding * x.norm());
}

RC_GTEST_PROP(ConeProjectionProperty, IsTheNearestPointOfTheCone, ()) {
  check_projection<3>(any_vector<3>(), *friction());
  check_projection<2>(any_vector<2>(), *friction());
}

RC_GTEST_PROP(ConeProjectionProperty, DualIsTheNearestPointOfTheDualCone, ()) {
  check_dual_projection<3>(any_vector<3>(), *friction());
  check_dual_projection<2>(any_vector<2>(), *friction());
}

RC_GTEST_PROP(ConeProjectionProperty, AgreesWithTheGeometryInScalars, ()) {
  const auto x = any_vector<3>();
  const double mu = *friction();
  const auto expected = testing::coulomb_projection({x[0], x[1], x[2]}, mu);
  const auto projected = project_friction_cone<3>(x, mu);
  for (int i = 0; i < 3; ++i) {
    RC_ASSERT(std::abs(projected[i] - expected[static_cast<std::size_t>(i)]) <= 1e-14 * (1.0 + mu) * x.norm());
  }
}

RC_GTEST_PROP(ConeProjectionProperty, PlanarIsASliceOfTheSpatialOne, ()) {
  const auto x = any_vector<2>();
  const double mu = *friction();
  const ContactVector<3> lifted(x[0], 0.0, x[1]);
  const auto projected = project_friction_cone<3>(lifted, mu);
  RC_ASSERT(projected[1] == 0.0);
  RC_ASSERT((ContactVector<2>(projected[0], projected[2]) - project_friction_cone<2>(x, mu)).norm() <=
            1e-15 * x.norm());
  const auto dual = project_dual_friction_cone<3>(lifted, mu);
  RC_ASSERT((ContactVector<2>(dual[0], dual[2]) - project_dual_friction_cone<2>(x, mu)).norm() <= 1e-15 * x.norm());
}

RC_GTEST_PROP(ConeProjectionProperty, TurnsWithTheTangentFrame, ()) {
  const auto x = any_vector<3>();
  const double mu = *friction();
  const double angle = 1e-3 * *rc::gen::inRange(-3141, 3142);
  const Eigen::AngleAxisd rotation(angle, Eigen::Vector3d::UnitZ());
  const ContactVector<3> turned = rotation * x;
  const ContactVector<3> expected = rotation * project_friction_cone<3>(x, mu);
  RC_ASSERT((project_friction_cone<3>(turned, mu) - expected).norm() <= 1e-14 * (1.0 + mu) * x.norm());
}

RC_GTEST_PROP(ConeProjectionProperty, WithoutFrictionIsTheNormalRayAndItsDualTheHalfSpace, ()) {
  const auto x = any_vector<3>();
  RC_ASSERT(project_friction_cone<3>(x, 0.0) == ContactVector<3>(0.0, 0.0, std::max(0.0, x[2])));
  RC_ASSERT(project_dual_friction_cone<3>(x, 0.0) == ContactVector<3>(x[0], x[1], std::max(0.0, x[2])));
}

TEST(ConeProjection, KeepsNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(project_friction_cone<3>(ContactVector<3>(nan, 0.0, 1.0), 0.5).allFinite());
  EXPECT_FALSE(project_friction_cone<3>(ContactVector<3>(0.0, 0.0, nan), 0.5).allFinite());
}

/// Cones with every kind of block, and an x for them.
struct AnyProduct {
  ConeProduct cones;
  Vector x;
};
AnyProduct any_product(int dimension) {
  const auto joints = *rc::gen::inRange<Index>(0, 4);
  const auto limits = *rc::gen::inRange<Index>(0, 4);
  const auto mus = *rc::gen::container<std::vector<double>>(friction());
  AnyProduct any{ConeProduct::create(joints, limits, mus, dimension).value(), {}};
  any.x.resize(any.cones.rows());
  for (double& value : any.x) value = *component();
  return any;
}

RC_GTEST_PROP(ConeProductProperty, SatisfiesMoreausDecomposition, ()) {
  const auto [cones, x] = any_product(*rc::gen::element(2, 3));
  Vector primal(x.size());
  Vector dual(x.size());
  project_cone(cones, x, primal);
  project_dual_cone(cones, -x, dual);
  // x = P_K(x) + P_{−K*}(x), with the parts at right angles.
  RC_ASSERT((primal - dual - x).norm() <= 1e-13 * x.norm());
  RC_ASSERT(std::abs(primal.dot(dual)) <= 1e-11 * x.squaredNorm());
  Vector in_place = x;
  project_cone(cones, in_place, in_place);
  RC_ASSERT(in_place == primal);
}

RC_GTEST_PROP(ConeProductProperty, CorrectionLiftsNormalsByTheSlipAlone, ()) {
  const auto [cones, sigma] = any_product(*rc::gen::element(2, 3));
  Vector corrected(sigma.size());
  add_de_saxce(cones, sigma, corrected);
  Vector expected = sigma;
  const int normal = cones.contact_dimension() - 1;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    expected[row + normal] += cones.friction()[static_cast<std::size_t>(i)] * sigma.segment(row, normal).norm();
  }
  RC_ASSERT((corrected - expected).norm() <= 1e-14 * (1.0 + expected.norm()));
  Vector in_place = sigma;
  add_de_saxce(cones, in_place, in_place);
  RC_ASSERT(in_place == corrected);
}

}  // namespace
}  // namespace conebench
