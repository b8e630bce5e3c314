#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class GenerateFromFile : public SimulatedScenes {};

TEST_F(GenerateFromFile, AFileOfOnesOwnIsSimulated) {
  std::ofstream(folder / "robot.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
  const auto outcome = conebench({"generate", "file", "--out", folder / "out", "--set",
                                  "path=" + (folder / "robot.xml"), "--steps", "5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["samples"], 5);
  EXPECT_EQ(outcome.json()["files"][0], folder / "out/robot_step=00001.hdf5");
}

TEST_F(GenerateFromFile, AFilesOwnTimeStepIsTaken) {
  const auto step_of = [&](const std::string& option, const std::vector<std::string>& more) {
    std::ofstream(folder / "robot.xml") << "<mujoco>" << option << R"(<worldbody><body><freejoint/>
      <geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
    std::vector<std::string> words = {"generate", "file", "--out",  folder / "out", "--replace",
                                      "--steps",  "2",    "--json", "--set",        "path=" + (folder / "robot.xml")};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words).json()["time_step_s"].get<double>();
  };
  EXPECT_DOUBLE_EQ(step_of(R"(<option timestep="0.0042"/>)", {}), 0.0042);
  EXPECT_DOUBLE_EQ(step_of("", {}), 0.002);
  EXPECT_DOUBLE_EQ(step_of(R"(<option timestep="0.0042"/>)", {"--set", "time_step=0.01"}), 0.01);
}

TEST_F(GenerateFromFile, WhatIsAdvisedOfAFileIsNoOptionThatItLacks) {
  // The name of a scene that has options to push it.
  std::ofstream(folder / "humanoid.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1">
    <freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>)";
  const auto outcome = conebench(
      {"generate", "file", "--out", folder / "out", "--set", "path=" + (folder / "humanoid.xml"), "--steps", "5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("try a model with a push, a slope or less friction, or more steps"));
}

TEST_F(GenerateFromFile, AModelFileGivenAsAProblemGetsAHint) {
  std::ofstream(folder / "my robot.xml") << "<mujoco/>";
  const std::string file = folder / "my robot.xml";
  const std::string hint = "conebench generate file --set 'path=" + file + "' --out DIR";
  expect_failure(conebench({"solve", file, "--solver", "NSGS"}), 3, {"not a problem but a model", hint});
  expect_failure(conebench({"inspect", file}), 3, {"not a problem but a model", hint});
  expect_failure(conebench({"generate", file, "--out", folder / "out"}), 2, {"not a scene but a file", hint});
  expect_failure(conebench({"run", file, "--db", folder / "x.sqlite"}), 2, {"no suite", hint, R"("scene": "file")"});
  expect_failure(conebench({"solve", folder / "none.xml", "--solver", "NSGS"}), 3, {"no such file"});
}

TEST_F(GenerateFromFile, ATendonWithBothEndsNearHasTwoLimits) {
  std::ofstream(folder / "tendon.xml")
      << R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 1"><joint name="j" type="slide"
        axis="1 0 0"/><geom type="sphere" size="0.1" mass="1"/></body></worldbody><tendon><fixed name="t"
        limited="true" range="-0.001 0.001"><joint joint="j" coef="1"/></fixed></tendon></mujoco>)";
  const Outcome made = conebench(
      {"generate", "file", "--set", "path=" + (folder / "tendon.xml"), "--steps", "3", "--out", folder / "out"});
  EXPECT_EQ(made.code, 0) << made.err;
}

TEST_F(GenerateFromFile, MassesBeyondAllNumbersLeaveAListThatIsReadAgain) {
  std::ofstream(folder / "heavy.xml") << R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1e300"/></body>
    <body pos="1 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1e-10"/></body></worldbody></mujoco>)";
  const std::vector<std::string> words = {"generate", "file", "--set", "path=" + (folder / "heavy.xml"),
                                          "--steps",  "2",    "--out", folder / "out"};
  const Outcome first = conebench(words), again = conebench(words);
  EXPECT_EQ(first.code, again.code) << again.err;
  EXPECT_EQ(again.err.find("can't be read"), std::string::npos) << again.err;
}

TEST_F(GenerateFromFile, AFlatMeshIsRefusedInOneLine) {
  std::ofstream(folder / "flat.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";
  std::ofstream(folder / "flat.xml") << R"(<mujoco><asset><mesh name="flat" file="flat.obj"/></asset><worldbody><body>
    <freejoint/><geom type="mesh" mesh="flat"/><geom type="sphere" size="1"/></body></worldbody></mujoco>)";
  expect_failure(conebench({"generate", "file", "--set", "path=" + (folder / "flat.xml"), "--out", folder / "out"}), 3,
                 {"flat.xml: MuJoCo", "can't take the model", "coplanar"});
}

TEST_F(GenerateFromFile, ErrorsAreOneLine) {
  std::ofstream(folder / "broken.xml") << "<mujoco><worldbody><body></worldbody></mujoco>";
  std::ofstream(folder / "mesh.xml") << R"(<mujoco><asset><mesh name="arm" file="arm.stl"/></asset><worldbody><body>
    <freejoint/><geom type="mesh" mesh="arm"/></body></worldbody></mujoco>)";
  const auto file = [&](const std::string& name) {
    return conebench({"generate", "file", "--out", folder / "out", "--set", "path=" + (folder / name)});
  };
  expect_failure(file("broken.xml"), 3, {"broken.xml", "XML"});
  expect_failure(file("mesh.xml"), 3, {"mesh.xml", "arm.stl"});
  expect_failure(file("missing.xml"), 3, {"missing.xml"});
  std::ofstream(folder / "screw.xml") << R"(<mujoco><worldbody><body><joint type="screw"/><geom size="1"/></body>
    </worldbody></mujoco>)";
  expect_failure(file("screw.xml"), 3, {"screw.xml", "'screw'", "joint"});
  std::ofstream(folder / "helical.urdf") << R"(<robot name="arm"><link name="base"/><link name="arm"><inertial>
    <mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn" type="helical"><parent link="base"/><child link="arm"/></joint></robot>)";
  expect_failure(file("helical.urdf"), 3, {"helical.urdf", "URDF joints: revolute"});
  expect_failure(conebench({"generate", "file", "--out", folder / "out"}), 2, {"path="});
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "solver=NOBODY"}), 2,
                 {"NOBODY"});
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "speed=fast"}), 2, {"speed"});
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "per_stratum=2"}), 2,
                 {"'per_stratum' is for stratified samples alone", "sample=stratified"});
  expect_failure(conebench({"generate", "no-such-scene", "--out", folder / "out"}), 2, {"box-on-plane"});
  expect_failure(conebench({"generate", "quadrupd", "--out", folder / "out"}), 2, {"did you mean 'quadruped'?"});
  expect_failure(conebench({"generate", "box-stack", "--out", folder / "out", "--picture"}), 2,
                 {"--picture: scene box-stack is one problem"});
  expect_failure(conebench({"solve", "box-on-plane speed=2", "--solver", "NSGS"}), 2,
                 {"add step=K", "conebench generate box-on-plane --out"});
  expect_failure(conebench({"solve", "box-on-plane step=2 every=2", "--solver", "NSGS"}), 2, {"'every'"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace conebench::testing
