#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <string>

#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class CapsulePoints : public WithMujoco {};

/// Two capsules of 2 m between their ends' centres and 0.2 m radius, one above the other, turned by `yaw` and `pitch`
/// [rad] against each other, 5 mm apart at their middles.
std::string crossed(double yaw, double pitch) {
  const Eigen::Quaterniond turned =
      Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(pitch, Eigen::Vector3d::UnitY());
  const std::string quat = std::to_string(turned.w()) + " " + std::to_string(turned.x()) + " " +
                           std::to_string(turned.y()) + " " + std::to_string(turned.z());
  return world(R"(<geom type="capsule" fromto="-1 0 0 1 0 0" size="0.2"/>
    <body pos="0 0 0.405" quat=")" +
               quat + R"("><freejoint/><geom type="capsule" fromto="-1 0 0 1 0 0" size="0.2" mass="1"/></body>)");
}

std::vector<ContactPoint> contacts_of(const std::string& mjcf, double margin, bool maximal = false) {
  SimulatedModel model;
  model.mjcf = mjcf;
  auto engine = load_engine(model, "capsules", {.maximal = maximal}).value();
  Mechanics mechanics;
  EXPECT_TRUE(engine->evaluate(engine->start(), {.time_step = 0.01, .contact_margin = margin}, mechanics));
  return mechanics.contacts;
}

TEST_F(CapsulePoints, CapsulesAlongEachOtherTouchAtBothEndsOfWhatTheyShare) {
  for (const bool maximal : {false, true}) {
    for (const double yaw : {0.02, -0.05}) {
      auto contacts = contacts_of(crossed(yaw, 0.0), 0.05, maximal);
      std::erase_if(contacts, [](const ContactPoint& c) { return std::abs(c.position.x()) < 0.1; });
      ASSERT_EQ(contacts.size(), 2U);
      // An end's axis point is 0.405 m above the other's axis and sin(yaw) beside it.
      const double gap = std::hypot(0.405, std::sin(yaw)) - 0.4;
      for (const ContactPoint& c : contacts) {
        EXPECT_NEAR(c.gap, gap, 1e-5);
        EXPECT_NEAR(std::abs(c.position.x()), 1.0, 2e-3);
        EXPECT_GT(c.frame(2, 2), 0.99);
        EXPECT_NEAR((c.frame.transpose() * c.frame - Eigen::Matrix3d::Identity()).norm(), 0.0, 1e-12);
        EXPECT_NEAR(c.frame.determinant(), 1.0, 1e-12);
      }
      EXPECT_LT(contacts[0].position.x() * contacts[1].position.x(), 0.0);
    }
  }
}

TEST_F(CapsulePoints, MoreThanMujocosListHoldsAreAnError) {
  // 40,000 pairs with a contact that MuJoCo finds, and two beside it that it leaves out: its memory holds some 100,000.
  std::string lower, upper;
  for (int i = 0; i < 200; ++i) {
    lower += R"(<geom type="capsule" fromto="-1 0 0 1 0 0" size="0.2"/>)";
    upper += R"(<geom type="capsule" fromto="-1 0 0 1 0 0" size="0.2" mass="1"/>)";
  }
  SimulatedModel model;
  model.mjcf = world(lower + R"(<body pos="0 0 0.405" euler="0 0 0.02"><freejoint/>)" + upper + "</body>");
  for (const bool maximal : {false, true}) {
    auto engine = load_engine(model, "capsules", {.maximal = maximal}).value();
    Mechanics mechanics;
    const auto full = engine->evaluate(engine->start(), {.time_step = 0.01, .contact_margin = 0.05}, mechanics);
    ASSERT_FALSE(full) << mechanics.contacts.size() << " contacts";
    EXPECT_EQ(full.error().code, ErrorCode::bad_input);
    EXPECT_NE(full.error().message.find("use fewer"), std::string::npos) << full.error().message;
  }
}

TEST_F(CapsulePoints, CapsulesThatCrossTouchOnce) {
  EXPECT_EQ(contacts_of(crossed(0.5, 0.0), 0.05).size(), 1U);
  EXPECT_EQ(contacts_of(crossed(1.5, 0.0), 0.05).size(), 1U);
}

TEST_F(CapsulePoints, PointsBeyondTheMarginAreLeftOut) {
  // Pitched, one end is 0.385 m above the axis and 15 mm deep, the other 25 mm away.
  const double pitch = std::asin(0.02);
  EXPECT_EQ(contacts_of(crossed(0.0, pitch), 0.03).size(), 2U);
  EXPECT_EQ(contacts_of(crossed(0.0, pitch), 0.02).size(), 1U);
}

TEST_F(CapsulePoints, ExactlyParallelCapsulesKeepMuJoCosTwo) {
  EXPECT_EQ(contacts_of(crossed(0.0, 0.0), 0.05).size(), 2U);
}

}  // namespace
}  // namespace conebench::simulation
