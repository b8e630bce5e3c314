#include "simulation/scenes/urdf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace conebench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string arm = R"(<?xml version="1.0"?>
<!-- <link name="old"/> -->
<robot name="r">
  <link name='base'/><link type="x" name="arm"></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link = "arm"/></joint>
</robot>)";

TEST(Urdf, IsRecognisedByItsRoot) {
  EXPECT_TRUE(is_urdf(arm));
  EXPECT_TRUE(is_urdf("<!-- <mujoco/> --><robot/><x/>"));
  EXPECT_FALSE(is_urdf("<mujoco model=\"robot\"><!-- <robot> --></mujoco>"));
  EXPECT_FALSE(is_urdf("<robots/>"));
  EXPECT_FALSE(is_urdf(""));
}

TEST(Urdf, ItsRootLinkIsTheOneThatIsNoJointsChild) {
  const auto free = with_floating_base(arm);
  ASSERT_TRUE(free) << free.error().message;
  EXPECT_THAT(*free,
              HasSubstr(R"(type="floating"><parent link="conebench_world"/><child link="base"/></joint></robot>)"));
}

TEST(Urdf, WithoutOneRootLinkNothingCanBeFreed) {
  const auto two = with_floating_base("<robot><link name=\"a\"/><link name=\"b\"/></robot>");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::bad_input);
  EXPECT_THAT(two.error().message, HasSubstr("the robot has 2"));
  EXPECT_FALSE(with_floating_base("<robot/>"));
  const auto world = with_floating_base("<robot><link name=\"world\"/></robot>");
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().message, HasSubstr("the world itself"));
}

TEST(Urdf, MeshesAreLookedForWhereTheFileWas) {
  EXPECT_THAT(with_mesh_folder(arm, "/robots"), HasSubstr(R"(<mujoco><compiler meshdir="/robots"/></mujoco></robot>)"));
  EXPECT_EQ(with_mesh_folder(R"(<robot><mujoco><compiler angle="radian"/></mujoco></robot>)", "/robots"),
            R"(<robot><mujoco><compiler meshdir="/robots" angle="radian"/></mujoco></robot>)");
  EXPECT_EQ(with_mesh_folder(R"(<robot><mujoco><compiler a="b" meshdir="parts"/></mujoco></robot>)", "/robots"),
            R"(<robot><mujoco><compiler a="b" meshdir="/robots/parts"/></mujoco></robot>)");
  EXPECT_EQ(with_mesh_folder(R"(<robot><mujoco><compiler meshdir="/parts"/></mujoco></robot>)", "/robots"),
            R"(<robot><mujoco><compiler meshdir="/parts"/></mujoco></robot>)");
}

}  // namespace
}  // namespace conebench
