#include "problems/cone_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "problems/cones/coulomb.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

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

TEST(ConeProduct, PutsJointsThenLimitsThenContacts) {
  const auto cones = ConeProduct::create(2, 1, {0.5, 0.0}, 3);
  ASSERT_TRUE(cones.ok());
  EXPECT_EQ(cones->rows(), 9);
  EXPECT_EQ(cones->blocks(), 5);
  EXPECT_EQ(cones->block_kind(1), BlockKind::joint);
  EXPECT_EQ(cones->block_kind(2), BlockKind::limit);
  EXPECT_EQ(cones->block_kind(3), BlockKind::contact);
  EXPECT_EQ(cones->block_row(4), 6);
  EXPECT_EQ(cones->block_size(2), 1);
  EXPECT_EQ(cones->block_size(4), 3);
}

TEST(ConeProduct, MayBeEmpty) {
  const auto cones = ConeProduct::create(0, 0, {});
  ASSERT_TRUE(cones.ok());
  EXPECT_EQ(cones->rows(), 0);
  Vector none(0);
  project_cone(*cones, none, none);
  project_dual_cone(*cones, none, none);
  add_de_saxce(*cones, none, none);
}

TEST(ConeProduct, RefusesWhatIsNoCone) {
  const auto message = [](const Result<ConeProduct>& cones) { return cones.ok() ? "" : cones.error().message; };
  EXPECT_THAT(message(ConeProduct::create(-1, 0, {})), HasSubstr("must not be negative (got -1 and 0)"));
  EXPECT_THAT(message(ConeProduct::create(0, 0, {0.5}, 4)),
              HasSubstr("2 or 3 components, or 5 with rolling friction, not 4"));
  EXPECT_THAT(message(ConeProduct::create(0, 0, {0.5, -0.1})), HasSubstr("contact 1"));
  EXPECT_THAT(message(ConeProduct::create(0, 0, {std::nan("")})), HasSubstr("contact 0"));
  EXPECT_THAT(message(ConeProduct::create(0, 0, {std::numeric_limits<double>::infinity()})), HasSubstr("finite"));
}

}  // namespace
}  // namespace conebench
