#include "problems/cone_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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

/// Two contacts of each of three types, in this order, and one more of the first.
std::vector<FrictionLaw> mixed_contacts() {
  const FrictionLaw torsion{ConeShape::discs, {3}, {0.5, 0.5, 0.1}};
  return {FrictionLaw::coulomb(0.3),
          FrictionLaw::coulomb(0.4),
          FrictionLaw::rolling(0.3, 0.1),
          FrictionLaw::rolling(0.4, 0.2),
          torsion,
          {ConeShape::pyramid, {2}, {0.2, 0.3}},
          FrictionLaw::coulomb(0.6)};
}

TEST(ConeProduct, PutsNeighboursOfOneTypeInOneRun) {
  const ConeProduct cones = ConeProduct::create(2, 1, {{-1.0, 1.0}, {0.5, 0.5}}, mixed_contacts()).value();
  const std::vector<ConeRun> expected = {
      {ConeType::bilateral, 0, 2},         {ConeType::unilateral, 2, 1},  {ConeType::interval, 3, 2},
      {ConeType::coulomb_space, 5, 2, 0},  {ConeType::rolling, 11, 2, 2}, {ConeType::friction, 21, 2, 4},
      {ConeType::coulomb_space, 28, 1, 6},
  };
  EXPECT_EQ(std::vector<ConeRun>(cones.runs().begin(), cones.runs().end()), expected);
  ASSERT_EQ(cones.contact_runs().size(), 4U);
  EXPECT_EQ(cones.contact_runs()[0], expected[3]);
  EXPECT_EQ(cones.rows(), 31);
  EXPECT_EQ(cones.blocks(), 12);
  EXPECT_EQ(cones.first_contact_row(), 5);
  EXPECT_EQ(cones.block_kind(3), BlockKind::interval);
  EXPECT_EQ(cones.bounds(4), (Interval{0.5, 0.5}));
  EXPECT_EQ(cones.bounds(0), Interval());
  EXPECT_EQ(cones.bounds(2), (Interval{0.0, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(cones.contact_rows(2), 5);
  EXPECT_EQ(cones.normal_of(4), 3);
  EXPECT_EQ(cones.normal_row_of(5 + 4), 24);
  EXPECT_EQ(cones.normal_row_of(3), 3);
}

TEST(ConeProduct, OfContactsThatDifferHasNoSingleTypeOrSize) {
  const ConeProduct cones = ConeProduct::create(0, 0, {}, mixed_contacts()).value();
  EXPECT_EQ(cones.contact_type(), ConeType::friction);
  EXPECT_EQ(cones.contact_dimension(), 0);
  EXPECT_TRUE(cones.scales());
  EXPECT_FALSE(cones.coulomb());
  EXPECT_FALSE(cones.coulomb_when_scaled());
  const FrictionLaw orthotropic{ConeShape::discs, {2}, {0.3, 0.9}};
  const ConeProduct elliptic = ConeProduct::create(0, 0, {}, {orthotropic, FrictionLaw::coulomb(0.5)}).value();
  EXPECT_EQ(elliptic.contact_dimension(), 3);
  EXPECT_FALSE(elliptic.coulomb());
  EXPECT_TRUE(elliptic.coulomb_when_scaled()) << "elliptic cones of one size are Coulomb's in scaled rows";
}

TEST(ConeProduct, IsTheSameHoweverItsCoulombContactsWereGiven) {
  const std::vector<FrictionLaw> space{FrictionLaw::coulomb(0.3), FrictionLaw::coulomb(0.4)};
  EXPECT_EQ(ConeProduct::create(1, 2, {}, space).value(), ConeProduct::create(1, 2, {0.3, 0.4}).value());
  const std::vector<FrictionLaw> plane{FrictionLaw::coulomb(0.3, 1), FrictionLaw::coulomb(0.4, 1)};
  EXPECT_EQ(ConeProduct::create(0, 0, {}, plane).value(), ConeProduct::create(0, 0, {0.3, 0.4}, 2).value());
}

TEST(ConeProduct, TakesACoefficientForEveryContactAndForRollingAlone) {
  EXPECT_TRUE(ConeProduct::create(0, 1, {0.3, 0.4}, 5, {0.1, 0.0}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3, 0.4}, 5, {0.1}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3}, 3, {0.1}).ok());
  EXPECT_FALSE(ConeProduct::create(0, 0, {0.3}, 5, {-0.1}).ok());
  const ConeProduct cones = ConeProduct::create(1, 2, {0.3, 0.4}, 5, {0.1, 0.2}).value();
  ASSERT_EQ(cones.runs().size(), 3U);
  EXPECT_EQ(cones.runs()[2].type, ConeType::rolling);
  EXPECT_EQ(cones.runs()[2].first_row, 3);
  EXPECT_EQ(cones.rows(), 13);
  EXPECT_EQ(cones.normal_row_of(4), 10);
  EXPECT_EQ(cones.rolling_friction(), (std::vector{0.1, 0.2}));
  EXPECT_EQ(cones.law(1), FrictionLaw::rolling(0.4, 0.2));
}

TEST(ConeProduct, RefusesBoundsAndLawsThatAreNone) {
  const auto message = [](std::vector<Interval> intervals, const std::vector<FrictionLaw>& laws) {
    const auto cones = ConeProduct::create(0, 0, std::move(intervals), laws);
    return cones.ok() ? std::string() : cones.error().message;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message({{-1.0, 1.0}, {2.0, 1.0}}, {}), HasSubstr("interval 1 must be numbers with lower <= upper"));
  EXPECT_NE(message({{std::nan(""), 1.0}}, {}), "");
  EXPECT_NE(message({{infinity, infinity}}, {}), "");
  EXPECT_EQ(message({{-infinity, 0.0}, {1.0, 1.0}, {-infinity, infinity}}, {}), "");
  EXPECT_THAT(message({}, {FrictionLaw::coulomb(0.5), {ConeShape::discs, {2}, {0.5, -0.5}}}), HasSubstr("contact 1"));
}

TEST(ConeProduct, ProjectsEveryBlockByItsOwnSet) {
  const ConeProduct cones = ConeProduct::create(1, 1, {{-1.0, 2.0}}, mixed_contacts()).value();
  const Vector x = Vector::NullaryExpr(cones.rows(), [](Index i) { return 3.0 * std::sin(double(i * i + 1)); });
  Vector primal(x.size());
  Vector dual(x.size());
  Vector corrected(x.size());
  project_cone(cones, x, primal);
  project_dual_cone(cones, x, dual);
  add_de_saxce(cones, x, corrected);
  EXPECT_EQ(primal[0], x[0]);
  EXPECT_EQ(dual[0], 0.0);
  EXPECT_EQ(primal[1], std::max(0.0, x[1]));
  EXPECT_EQ(primal[2], std::clamp(x[2], -1.0, 2.0));
  EXPECT_EQ(dual[2], x[2]);
  EXPECT_EQ(corrected.head(3), x.head(3));
  for (Index i = 0; i < cones.contacts(); ++i) {
    const FrictionCone cone = cones.friction_cone(i);
    const FrictionCone::Block own = x.segment(cones.contact_row(i), cone.size());
    EXPECT_LE((primal.segment(cones.contact_row(i), cone.size()) - cone.project(own)).norm(), 1e-14) << i;
    EXPECT_LE((dual.segment(cones.contact_row(i), cone.size()) - cone.project_dual(own)).norm(), 1e-14) << i;
    EXPECT_NEAR(corrected[cones.contact_row(i) + cone.normal], own[cone.normal] + cone.de_saxce(own), 1e-14) << i;
  }
}

TEST(ConeProduct, ScalesTheBoundsOfIntervalsAlone) {
  const ConeProduct cones =
      ConeProduct::create(1, 1, {{-1.0, 3.0}, {-std::numeric_limits<double>::infinity(), 2.0}}, mixed_contacts())
          .value();
  const ConeProduct halved = cones.with_bounds_over(2.0);
  EXPECT_EQ(halved.intervals()[0], (Interval{-0.5, 1.5}));
  EXPECT_EQ(halved.intervals()[1], (Interval{-std::numeric_limits<double>::infinity(), 1.0}));
  EXPECT_EQ(halved.law(4), cones.law(4));
  Vector units = Vector::Ones(cones.rows());
  units[2] = 4.0;
  EXPECT_EQ(cones.with_bounds_over(units).intervals()[0], (Interval{-0.25, 0.75}));
  EXPECT_EQ(cones.without_joints().rows(), cones.rows() - 1);
  EXPECT_EQ(cones.without_joints().contact_runs()[1].first_row, cones.contact_runs()[1].first_row - 1);
}

TEST(ConeProduct, CountsComplementarityOfAnIntervalAtItsBoundsAlone) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const ConeProduct cones = ConeProduct::create(0, 0, {{-1.0, 2.0}, {-infinity, 0.0}}, {}).value();
  const auto largest = [&](double l1, double l2, double v1, double v2) {
    return largest_complementarity(cones, Eigen::Vector2d(l1, l2), Eigen::Vector2d(v1, v2));
  };
  EXPECT_EQ(largest(-1.0, 0.0, 5.0, -3.0), 0.0);
  EXPECT_EQ(largest(2.0, -4.0, -5.0, 0.0), 0.0);
  EXPECT_EQ(largest(0.0, 0.0, 5.0, 0.0), 5.0);
  EXPECT_EQ(largest(0.0, 0.0, -5.0, 0.0), 10.0);
  EXPECT_EQ(largest(0.0, -1.0, 0.0, -3.0), 3.0);
  EXPECT_EQ(largest(0.0, -1.0, 0.0, 3.0), 0.0) << "the dual residual has it: no bound below";
}

}  // namespace
}  // namespace conebench
