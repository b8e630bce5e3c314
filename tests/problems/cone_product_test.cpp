#include "problems/cone_product.hpp"

#include <gtest/gtest.h>

#include "problems/cone_projection.hpp"

namespace conebench {
namespace {

TEST(ConeProjection, KeepsAPointInsideTheCone) {
  const ContactVector<3> inside(0.1, -0.2, 1.0);
  EXPECT_EQ(project_friction_cone<3>(inside, 0.5), inside);
}

TEST(ConeProjection, SendsThePolarConeToZero) {
  const ContactVector<3> polar(0.1, 0.0, -1.0);
  EXPECT_TRUE(project_friction_cone<3>(polar, 0.5).isZero(0.0));
}

TEST(ConeProjection, WithoutFrictionIsTheNormalRay) {
  const ContactVector<3> x(0.3, -0.4, 2.0);
  EXPECT_EQ(project_friction_cone<3>(x, 0.0), ContactVector<3>(0.0, 0.0, 2.0));
  EXPECT_EQ(project_dual_friction_cone<3>(x, 0.0), x);
  EXPECT_TRUE(project_friction_cone<3>(ContactVector<3>(0.0, 0.0, -1.0), 0.0).isZero(0.0));
  EXPECT_TRUE(project_friction_cone<2>(ContactVector<2>(0.0, -1.0), 0.0).isZero(0.0));
}

}  // namespace
}  // namespace conebench
