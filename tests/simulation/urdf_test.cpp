#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_folder.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// A box on a leg with a round foot, 0.6 m below the box's centre; one part's shape is a mesh in a folder beside the
/// file.
class UrdfFile : public WithMujoco {
 protected:
  void SetUp() override {
    WithMujoco::SetUp();
    std::filesystem::create_directories(folder_ / "parts");
    std::ofstream(file_) << R"(<robot name="hopper">
      <mujoco><compiler meshdir="parts" discardvisual="false"/></mujoco>
      <link name="base"><inertial><mass value="2"/>
        <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><box size="0.4 0.3 0.1"/></geometry></collision></link>
      <link name="leg"><inertial><origin xyz="0 0 -0.25"/><mass value="0.5"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="tail"><inertial><mass value="0.1"/>
        <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><mesh filename="package://hopper/tail.obj"/></geometry></collision></link>
      <joint name="hip" type="revolute"><parent link="base"/><child link="leg"/><axis xyz="0 1 0"/>
        <limit lower="-0.1" upper="0.1" effort="1" velocity="1"/></joint>
      <joint name="tail" type="fixed"><parent link="base"/><child link="tail"/><origin xyz="-0.3 0 0"/></joint></robot>)";
    std::ofstream(folder_ / "parts" / "tail.obj") << "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n"
                                                     "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  }

  Result<ScenePlan> plan(const std::string& base, const std::string& ground) const {
    return plan_scene(**require_simulated_scene("file"),
                      {{"path", file_.string()}, {"base", base}, {"ground", ground}, {"time_step", 0.005}}, 1);
  }
  Simulation robot(const std::string& base, const std::string& ground) const {
    return simulate(plan(base, ground).value()).value();
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  const std::filesystem::path file_ = folder_ / "hopper.urdf";
};

TEST_F(UrdfFile, StandsFixedWithoutGroundUnlessAskedOtherwise) {
  Simulation simulation = robot("fixed", "none");
  EXPECT_EQ(simulation.engine().dimensions().velocities, 1);
  EXPECT_EQ(step(simulation).problem.cones().contacts(), 0);
}

TEST_F(UrdfFile, AFreeBaseFalls) {
  Simulation simulation = robot("free", "none");
  ASSERT_EQ(simulation.engine().dimensions().velocities, 7);
  run(simulation, 0.1);
  EXPECT_NEAR(simulation.state().velocity[2], -0.981, 1e-9);
}

TEST_F(UrdfFile, AGroundIsUnderItsLowestPoint) {
  for (const char* base : {"fixed", "free"}) {
    Simulation simulation = robot(base, "plane");
    const StepRecord first = step(simulation);
    ASSERT_EQ(first.problem.cones().contacts(), 1) << base;
    const ContactPoint& foot = simulation.mechanics().contacts[0];
    EXPECT_NEAR(foot.gap, 0.0, 1e-6);
    EXPECT_NEAR(foot.position.z(), -0.6, 1e-6);
    EXPECT_NEAR(foot.friction, 1.0, 0.0);
  }
}

TEST_F(UrdfFile, AFreeRobotStandsOnItsGround) {
  Simulation simulation = robot("free", "plane");
  const StepRecord first = step(simulation);
  const double weight = 2.6 * 9.81 * 0.005;
  EXPECT_NEAR(first.impulse[first.impulse.size() - 1], weight, 0.02 * weight) << "it begins to lean to its tail";
}

TEST_F(UrdfFile, MassesAreThoseOfTheFile) {
  for (const char* ground : {"none", "plane"}) {
    Simulation simulation = robot("free", ground);
    const auto masses = simulation.engine().body_masses();
    ASSERT_EQ(masses.size(), 2U) << "the tail is fixed to the base";
    EXPECT_NEAR(masses[0], 2.1, 1e-9);
    EXPECT_NEAR(masses[1], 0.5, 1e-9);
  }
}

TEST_F(UrdfFile, BaseAndGroundAreNotForMjcf) {
  std::ofstream(file_) << "<mujoco><worldbody><body><freejoint/><geom size=\"1\"/></body></worldbody></mujoco>";
  const auto refused = plan("fixed", "plane");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(refused.error().message, HasSubstr("MJCF has <freejoint/>"));
  EXPECT_TRUE(plan("fixed", "none"));
}

TEST_F(UrdfFile, AMissingMeshIsNamedAlsoWithAGround) {
  std::filesystem::remove(folder_ / "parts" / "tail.obj");
  const auto refused = simulate(plan("free", "plane").value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("hopper.urdf"), HasSubstr("link 'tail'"), HasSubstr("tail.obj")));
}

TEST_F(UrdfFile, AMeshWithoutCornersIsRefusedWithItsName) {
  std::ofstream(folder_ / "parts" / "tail.obj") << "v 0 0 0\n";
  const auto refused = simulate(plan("free", "plane").value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("hopper.urdf"), HasSubstr("tail")));
}

TEST_F(UrdfFile, WhatWasChangedIsNotedWithTheRobot) {
  EXPECT_THAT(robot("fixed", "none").notes(),
              Contains(HasSubstr("no contacts between 1 pair of links (1 adjacent); set self_collision=true")));
}

}  // namespace
}  // namespace conebench::simulation
