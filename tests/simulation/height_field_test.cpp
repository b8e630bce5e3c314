#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/simulation/height_field_ground.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class HeightField : public WithMujoco {};

std::vector<ContactPoint> contacts_of(const SimulatedModel& model, double margin, bool maximal = false) {
  auto engine = load_engine(model, "field", {.maximal = maximal}).value();
  Mechanics mechanics;
  EXPECT_TRUE(engine->evaluate(engine->start(), {.time_step = 0.01, .contact_margin = margin}, mechanics));
  return mechanics.contacts;
}

/// Each contact: its point of the ground lies on a triangle, its normal leads to the shape's axis, which is a radius
/// and the gap away and no nearer to the ground around; and the nearest of them is what is nearest of all.
void expect_exact(const Ground& ground, const Rounded& shape, const std::vector<ContactPoint>& contacts) {
  constexpr double rounding = 1e-7;  // elevations are floats
  ASSERT_FALSE(contacts.empty());
  double least = contacts[0].gap;
  for (const ContactPoint& c : contacts) {
    const Vec3 n = ground.turned.inverse() * c.frame.col(2);
    const Vec3 q = ground.turned.inverse() * (c.position - ground.position) - 0.5 * c.gap * n;
    const Vec3 p = q + (shape.radius + c.gap) * n;
    EXPECT_NEAR((ground.nearest(q) - q).norm(), 0.0, rounding);
    EXPECT_NEAR((shape.nearest(p) - p).norm(), 0.0, rounding);
    for (int k = 0; k < 24; ++k) {
      const double angle = k * std::numbers::pi / 12.0;
      const Vec3 beside = ground.above(q.x() + 1e-3 * std::cos(angle), q.y() + 1e-3 * std::sin(angle));
      EXPECT_GE((beside - p).norm(), shape.radius + c.gap - rounding);
    }
    EXPECT_NEAR((c.frame.transpose() * c.frame - Eigen::Matrix3d::Identity()).norm(), 0.0, 1e-12);
    EXPECT_NEAR(c.frame.determinant(), 1.0, 1e-12);
    least = std::min(least, c.gap);
  }
  EXPECT_NEAR(least, ground.gap(shape), rounding);
}

struct Case {
  const char* name;
  Ground ground;
  double x, y;
};

std::vector<Case> cases() {
  return {{"level", Ground::level(), 0.06, 0.021},
          {"level, on a corner", Ground::level(), 0.0, 0.0},
          {"ramp", Ground::of([](double x, double) { return 0.7 * (x + 1.0); }), 0.06, 0.021},
          {"ridge", Ground::of([](double x, double) { return 0.6 - 0.6 * std::abs(x); }), 0.001, 0.021},
          {"slanting ridge", Ground::of([](double x, double y) { return 1.0 - 0.5 * std::abs(x - y); }), 0.06, 0.058},
          {"valley", Ground::of([](double x, double) { return 0.6 * std::abs(x); }), 0.0005, 0.021},
          {"beside the valley", Ground::of([](double x, double) { return 0.6 * std::abs(x); }), 0.13, 0.021},
          {"peak", Ground::of([](double x, double y) { return std::max(0.0, 0.1 - std::hypot(x, y)); }), 0.002, 0.003},
          {"rough", Ground::random(7), 0.06, 0.021},
          {"rough, elsewhere", Ground::random(7), -0.31, 0.44}};
}

TEST_F(HeightField, EveryContactOfABallIsExact) {
  for (const Case& at : cases()) {
    for (const double radius : {0.02, 0.1}) {
      for (const double gap : {-0.003, 0.0005, 0.004}) {
        const Rounded ball = at.ground.over(Rounded{.radius = radius}, at.x, at.y, gap);
        const auto narrow = contacts_of(model_of(at.ground, ball), 0.006);
        SCOPED_TRACE(::testing::Message() << at.name << ", radius " << radius << ", gap " << gap);
        expect_exact(at.ground, ball, narrow);
        const auto wide = contacts_of(model_of(at.ground, ball), 0.03);
        expect_exact(at.ground, ball, wide);
        EXPECT_GE(wide.size(), narrow.size());
      }
    }
  }
}

TEST_F(HeightField, EveryContactOfACapsuleIsExact) {
  const double sine = std::sin(0.3), cosine = std::cos(0.3);
  for (const Case& at : cases()) {
    for (const Vec3& axis : {Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.6, 0.8, 0.0), Vec3(0.0, 0.0, 1.0),
                             Vec3(cosine, 0.0, sine), Vec3(0.6 * cosine, 0.8 * cosine, -sine)}) {
      for (const double gap : {-0.003, 0.0005}) {
        const Rounded capsule = at.ground.over(Rounded{.axis = axis, .half = 0.09, .radius = 0.02}, at.x, at.y, gap);
        for (const double margin : {0.006, 0.03}) {
          SCOPED_TRACE(::testing::Message() << at.name << ", axis " << axis.transpose() << ", gap " << gap);
          expect_exact(at.ground, capsule, contacts_of(model_of(at.ground, capsule), margin));
        }
      }
    }
  }
}

TEST_F(HeightField, ContactsAreExactInAnyPoseOfTheFieldAndInBothCoordinates) {
  for (Case at : cases()) {
    at.ground.turned = mjcf::turn(0.5, Vec3(1.0, 2.0, -0.5).normalized());
    at.ground.position = Vec3(1.0, -2.0, 3.0);
    const Rounded capsule =
        at.ground.over({.axis = Vec3(0.8, 0.0, 0.6), .half = 0.05, .radius = 0.03}, at.x, at.y, 5e-4);
    for (const bool maximal : {false, true}) {
      SCOPED_TRACE(at.name);
      expect_exact(at.ground, capsule, contacts_of(model_of(at.ground, capsule), 0.02, maximal));
    }
  }
}

std::size_t count(const Case& at, const Rounded& shape) {
  return contacts_of(model_of(at.ground, at.ground.over(shape, at.x, at.y, 5e-4)), 0.01).size();
}

TEST_F(HeightField, TouchesAsOftenAsTheShapeOfTheGroundSays) {
  const auto all = cases();
  const auto at = [&](const char* name) {
    return *std::find_if(all.begin(), all.end(), [&](const Case& c) { return std::string(c.name) == name; });
  };
  const Rounded ball{.radius = 0.05};
  const auto lying = [](const Vec3& axis) { return Rounded{.axis = axis, .half = 0.4, .radius = 0.05}; };
  for (const char* plane : {"level", "level, on a corner", "ramp", "ridge", "slanting ridge", "peak"}) {
    EXPECT_EQ(count(at(plane), ball), 1U) << plane;
  }
  EXPECT_EQ(count(at("valley"), ball), 2U);
  EXPECT_EQ(count(at("level"), lying(Vec3::UnitX())), 2U);
  EXPECT_EQ(count(at("level, on a corner"), lying(Vec3::UnitX())), 2U);
  EXPECT_EQ(count(at("level, on a corner"), lying(Vec3(1.0, 1.0, 0.0).normalized())), 2U);
  EXPECT_EQ(count(at("level"), lying(Vec3::UnitZ())), 1U);
  EXPECT_EQ(count(at("ridge"), lying(Vec3::UnitX())), 1U) << "across, balancing";
  EXPECT_EQ(count(at("ridge"), lying(Vec3::UnitY())), 2U) << "along";
  Case past = at("ridge");
  past.x = -0.23;
  EXPECT_EQ(count(past, lying(Vec3(0.6, 0.8, 0.0))), 1U) << "aslant, one end just past the edge";
  EXPECT_EQ(count(at("valley"), lying(Vec3::UnitY())), 4U) << "both ends on both faces";
  EXPECT_EQ(count(at("valley"), lying(Vec3::UnitX())), 2U) << "a bridge";
  EXPECT_EQ(count(at("peak"), lying(Vec3::UnitX())), 1U);
  const Case table{"table", Ground::of([](double x, double) { return std::abs(x) < 0.2 ? 0.2 : 0.0; }), 0.02, 0.01};
  EXPECT_EQ(count(table, lying(Vec3::UnitX())), 2U) << "at the edges, the ends in the air";
}

// However deep they are: the shortest way, not one through the field.
TEST_F(HeightField, CentresBelowTheSurfaceArePushedOut) {
  for (const Case& at : cases()) {
    const Vec3 below = at.ground.above(at.x + 0.02, at.y) - Vec3(0.0, 0.0, 0.01);
    const Rounded ball{.centre = below, .radius = 0.05};
    const auto contacts = contacts_of(model_of(at.ground, ball), 0.01);
    SCOPED_TRACE(at.name);
    ASSERT_EQ(contacts.size(), 1U);
    const Vec3 out = at.ground.nearest(below) - below;
    EXPECT_NEAR(contacts[0].gap, -0.05 - out.norm(), 1e-7);
    EXPECT_NEAR((contacts[0].frame.col(2) - out.normalized()).norm(), 0.0, 1e-5);
  }
}

TEST_F(HeightField, RollsOnALevelFieldAsOnAPlane) {
  for (const Vec3& axis : {Vec3(0.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)}) {
    const double half = axis.norm() > 0.0 ? 0.05 : 0.0;
    const Rounded shape{.centre = Vec3(-0.9, 0.021, 0.0205), .axis = axis, .half = half, .radius = 0.02};
    SimulationOptions options;
    options.time_step = 0.01;
    std::vector<Vector> ends;
    for (const bool plane : {false, true}) {
      const SimulatedModel model = model_of(Ground::level(), shape, {.plane = plane, .velocity = "3 0 0 0 0 0"});
      auto rolling = Simulation::create(model, options, 1, "test", "test").value();
      for (int k = 0; k < 60; ++k) {
        EXPECT_EQ(step(rolling).identities.size(), half > 0.0 ? 2U : 1U) << k;
        EXPECT_NEAR(rolling.state().position[1], 0.021, 1e-9);
        EXPECT_NEAR(rolling.state().position[2], 0.02, 5.1e-4);
      }
      ends.push_back(rolling.state().position);
    }
    EXPECT_GT(ends[0][0], 0.2);
    EXPECT_NEAR((ends[0] - ends[1]).norm(), 0.0, 1e-6);
  }
}

// Falls 0.1 m and comes to rest on the surface, not a margin above it.
TEST_F(HeightField, BallComesToRestOnTheSurface) {
  SimulationOptions options;
  options.time_step = 0.002;
  const Rounded ball{.centre = Vec3(0.125, 0.021, 0.2), .radius = 0.1};
  auto falling = Simulation::create(model_of(Ground::level(), ball), options, 1, "test", "test").value();
  run(falling, 0.5);
  EXPECT_NEAR(falling.state().position[2], 0.1, 2e-4);
}

// Other shapes have MuJoCo's contacts less its margin, which it puts on the upper side alone.
TEST_F(HeightField, ABoxHasItsGapOnTheFaceAndUnderTheBase) {
  const char* const box = R"(type="box" size=".05 .06 .07")";
  for (const double margin : {0.002, 0.006}) {
    for (const double slope : {0.0, 0.5}) {
      const Ground ramp =
          slope > 0.0 ? Ground::of([=](double x, double) { return slope * (x + 1.0); }) : Ground::level();
      const Vec3 normal = Vec3(-slope, 0.0, 1.0).normalized();
      // Its lowest corners' height over the plane through the triangles.
      const double reach = Vec3(0.05, 0.06, 0.07).dot(normal.cwiseAbs());
      const Vec3 centre = ramp.above(0.06, 0.021) + (reach + 0.001) * normal;
      double least = 1.0;
      for (const auto& c : contacts_of(model_of(ramp, {.centre = centre}, {.shape = box}), margin)) {
        least = std::min(least, c.gap);
        if (c.gap < 0.0015) {
          EXPECT_NEAR((c.frame.col(2) - normal).norm(), 0.0, 0.02);
        }
      }
      EXPECT_NEAR(least, 0.001, 1e-4) << slope << ' ' << margin;
    }
    const Vec3 under(0.06, 0.021, -Ground::base - 0.0705);
    const auto contacts = contacts_of(model_of(Ground::level(), {.centre = under}, {.shape = box}), margin);
    ASSERT_FALSE(contacts.empty());
    for (const auto& c : contacts) {
      EXPECT_NEAR(c.gap, 0.0005, 1e-4);
      EXPECT_NEAR(c.frame(2, 2), -1.0, 1e-3);
    }
  }
}

TEST_F(HeightField, OverriddenMarginsAreTheSearchs) {
  const std::string overridden = R"(<option o_margin="0.02"><flag override="enable"/></option>)";
  for (const char* shape : {"", R"(type="box" size=".05 .05 .05")"}) {
    const Rounded near{.centre = Vec3(0.06, 0.021, 0.051), .radius = 0.05};
    const SimulatedModel model = model_of(Ground::level(), near, {.shape = shape, .rest = overridden});
    const auto contacts = contacts_of(model, 0.006);
    ASSERT_FALSE(contacts.empty());
    for (const auto& c : contacts) EXPECT_NEAR(c.gap, 0.001, 5e-4);
  }
  const Rounded far{.centre = Vec3(0.06, 0.021, 0.065), .radius = 0.05};
  EXPECT_EQ(contacts_of(model_of(Ground::level(), far, {.rest = overridden}), -1.0).size(), 1U) << "o_margin is larger";
  EXPECT_EQ(contacts_of(model_of(Ground::level(), far), -1.0).size(), 0U);
}

TEST_F(HeightField, APairKeepsItsFriction) {
  const std::string pair =
      R"(<contact><pair geom1="shape" geom2="ground" friction="0.3 0.3 0 0 0" solref="0.07 1"/></contact>)";
  const Rounded ball{.centre = Vec3(0.06, 0.021, 0.051), .radius = 0.05};
  const auto contacts = contacts_of(model_of(Ground::level(), ball, {.rest = pair}), 0.006);
  ASSERT_EQ(contacts.size(), 1U);
  EXPECT_NEAR(contacts[0].gap, 0.001, 1e-9);
  EXPECT_EQ(contacts[0].friction, 0.3);
  EXPECT_EQ(contacts[0].softness.time_constant, 0.07);
}

}  // namespace
}  // namespace conebench::simulation
