#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// An arm of two overlapping boxes and a hand whose mesh is in the package `hand`, which is not near the file.
class GenerateUrdf : public SimulatedScenes {
 protected:
  void SetUp() override {
    SimulatedScenes::SetUp();
    std::filesystem::create_directories(folder / "robots");
    std::filesystem::create_directories(folder / "packages/hand");
    std::ofstream(folder / "packages/hand/hand.obj") << "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n"
                                                        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const std::string inertial = R"(<inertial><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>)";
    const std::string box = R"(<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>)";
    std::ofstream(file)
        << R"(<robot name="arm"><link name="base">)" << box << R"(</link><link name="arm">)" << inertial << box
        << R"(</link><link name="hand">)" << inertial
        << R"(<collision><geometry><mesh filename="package://hand/hand.obj"/></geometry></collision></link>
      <joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <origin xyz="0 0 0.05"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
      <joint name="turn" type="continuous"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/></joint></robot>)";
  }
  Outcome run(std::vector<std::string> more, const RunOptions& options = {}) const {
    std::vector<std::string> words = {"generate",     "file",         "--out",    folder / "out", "--set",
                                      "path=" + file, "--steps",      "2",        "--set",        "base=free",
                                      "--set",        "ground=plane", "--replace"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words, options);
  }

  const std::string file = folder / "robots/arm.urdf";
};

TEST_F(GenerateUrdf, PackagesAreInFoldersThatAreGiven) {
  expect_failure(run({}), 3, {"arm.urdf", "link 'hand'", "package://hand/hand.obj", "--package-dir"});
  const Outcome given = run({"--package-dir", folder / "none", "--package-dir", folder / "packages"});
  EXPECT_EQ(given.code, 0) << given.err;
  const Outcome by_ros = run({}, {.environment = {"ROS_PACKAGE_PATH=/none:" + (folder / "packages")}});
  EXPECT_EQ(by_ros.code, 0) << by_ros.err;
}

TEST_F(GenerateUrdf, WithSelfCollisionAdjacentLinksTouch) {
  const std::vector<std::string> given = {"--package-dir", folder / "packages", "--json"};
  std::vector<std::string> with_all = given;
  with_all.emplace_back("--self-collision");
  const Outcome apart = run(given), touching = run(with_all);
  EXPECT_EQ(apart.code, 0) << apart.err;
  EXPECT_THAT(apart.json()["notes"].dump(), HasSubstr("no contacts between 2 pairs of links (2 adjacent)"));
  EXPECT_EQ(touching.code, 0) << touching.err;
  EXPECT_THAT(touching.json()["notes"].dump(), Not(HasSubstr("no contacts between")));
}

TEST_F(GenerateUrdf, ItsFlagsAreForUrdfFilesAlone) {
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--self-collision"}, {"--package-dir", folder / "packages"}}) {
    std::vector<std::string> words = {"generate", "box-on-plane", "--out", folder / "out"};
    words.insert(words.end(), flag.begin(), flag.end());
    expect_failure(conebench(words), 2, {flag[0], "is for URDF files"});
  }
  std::ofstream(folder / "ball.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1">
    <freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
  expect_failure(conebench({"generate", "file", "--out", folder / "out", "--set", "path=" + (folder / "ball.xml"),
                            "--self-collision"}),
                 2, {"self_collision are for URDF files"});
}

}  // namespace
}  // namespace conebench::testing
