#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class GenerateSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    if (conebench({"doctor", "--json"}).json()["peers"]["MuJoCo"].is_null()) GTEST_SKIP() << "built without MuJoCo";
  }
  static long lines(const std::string& file) {
    std::ifstream stream(file);
    return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
  }
  static long samples(const std::filesystem::path& folder) {
    long count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.path().extension() == ".hdf5" ? 1 : 0;
    }
    return count;
  }
  const ScratchFolder folder;
};

TEST_F(GenerateSamples, WritesEveryNthStepAsAFileThatSolvesAsInTheLoop) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "20", "--set",
                                  "every=5", "--set", "tolerance=1e-9", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["steps"], 20);
  EXPECT_EQ(json["samples"], 4);
  EXPECT_EQ(json["unsolved_steps"], 0);
  EXPECT_EQ(json["contacts"]["slip"], 16);
  ASSERT_EQ(json["files"].size(), 4U);
  EXPECT_EQ(lines(folder / "out/trajectory.csv"), 21);
  for (const std::string file : json["files"]) {
    const auto judged = conebench({"judge", file, "--reaction", file, "--json"});
    ASSERT_EQ(judged.code, 0) << judged.err;
    EXPECT_LE(judged.json()["residuals"]["natural_map_scaled"], 2e-9) << file;
    EXPECT_LE(judged.json()["residuals"]["penetration"], 1e-8) << file;
  }
}

TEST_F(GenerateSamples, TheSameSeedGivesTheSameFiles) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_EQ(conebench({"generate", "box-on-plane", "--out", folder / name, "--steps", "3"}).code, 0);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a")) {
    std::ifstream one(entry.path(), std::ios::binary), two(folder / "b" / entry.path().filename(), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(one), {}),
              std::string(std::istreambuf_iterator<char>(two), {}));
  }
}

TEST_F(GenerateSamples, ImpactsAreTheStepsInWhichAContactBeginsToPush) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "60", "--set",
                                  "height=0.5", "--set", "sample=impacts", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["samples"], 1);
}

TEST_F(GenerateSamples, ABlownUpSimulationKeepsTheSamplesBefore) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "slope=60", "--set",
                                  "friction=0.1", "--set", "max_speed=2"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("blown up"));
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_GT(samples(folder / "out"), 5);
}

TEST_F(GenerateSamples, AFileOfOnesOwnIsSimulated) {
  std::ofstream(folder / "robot.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
  const auto outcome = conebench({"generate", "file", "--out", folder / "out", "--set",
                                  "path=" + (folder / "robot.xml"), "--steps", "5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["samples"], 5);
}

TEST_F(GenerateSamples, WhatIsWrongIsSaidInOneLine) {
  std::ofstream(folder / "broken.xml") << "<mujoco><worldbody><body></worldbody></mujoco>";
  std::ofstream(folder / "mesh.xml") << R"(<mujoco><asset><mesh name="arm" file="arm.stl"/></asset><worldbody><body>
    <freejoint/><geom type="mesh" mesh="arm"/></body></worldbody></mujoco>)";
  const auto file = [&](const std::string& name) {
    return conebench({"generate", "file", "--out", folder / "out", "--set", "path=" + (folder / name)});
  };
  expect_failure(file("broken.xml"), 3, {"broken.xml", "XML"});
  expect_failure(file("mesh.xml"), 3, {"mesh.xml", "arm.stl"});
  expect_failure(file("missing.xml"), 3, {"missing.xml"});
  expect_failure(conebench({"generate", "file", "--out", folder / "out"}), 2, {"path="});
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "solver=NOBODY"}), 2,
                 {"NOBODY"});
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "speed=fast"}), 2, {"speed"});
  expect_failure(conebench({"generate", "no-such-scene", "--out", folder / "out"}), 2, {"box-on-plane"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(GenerateSamplesWithoutMujoco, AreUnsupportedWithTheWayOut) {
  if (!conebench({"doctor", "--json"}).json()["peers"]["MuJoCo"].is_null()) GTEST_SKIP() << "built with MuJoCo";
  const ScratchFolder folder;
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out"}), 4, {"libmujoco-dev"});
}

TEST(ListScenes, NamesSimulatedScenesAndTheirCommonOptions) {
  const auto json = conebench({"list", "scenes", "--json"}).json();
  EXPECT_TRUE(std::any_of(json["simulated"].begin(), json["simulated"].end(),
                          [](const auto& scene) { return scene["id"] == "box-on-plane"; }));
  EXPECT_TRUE(std::any_of(json["simulation_options"].begin(), json["simulation_options"].end(),
                          [](const auto& option) { return option["name"] == "baumgarte_contacts"; }));
}

}  // namespace
}  // namespace conebench::testing
