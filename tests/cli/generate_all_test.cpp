#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/simulated_scenes.hpp"
#include "tests/cli/test_solvers.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* models = CONEBENCH_SOURCE_DIR "/examples/models";
constexpr const char* refused_models = CONEBENCH_SOURCE_DIR "/tests/simulation/models";

constexpr const char* ball_on_plane = R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1">
  <freejoint/><geom size="0.1"/></body></worldbody></mujoco>)";

class GenerateAll : public SimulatedScenes {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  /// The models of a run with --json by their paths.
  static std::map<std::string, nlohmann::json> by_path(const Outcome& outcome) {
    std::map<std::string, nlohmann::json> found;
    const nlohmann::json all = outcome.json();
    for (const auto& model : all["models"]) found[model["path"]] = model;
    return found;
  }
};

TEST_F(GenerateAll, EveryExampleIsWholeAndNoneCrashes) {
  const Outcome outcome = conebench({"generate", "--all", models, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto found = by_path(outcome);
  ASSERT_EQ(found.size(), 20U);
  for (const auto& [path, model] : found) {
    EXPECT_EQ(model["status"], "whole") << model.dump();
    EXPECT_EQ(model["steps"], 50) << path;
    EXPECT_EQ(model["infeasible_steps"], 0) << path;
  }
  EXPECT_EQ(found.at("pendulum.xml")["rows"], (nlohmann::json{{"interval", 2}}));
  EXPECT_GT(found.at("four_bar.xml")["rows"].value("bilateral", 0), 1);
  EXPECT_EQ(found.at("quadruped.xml")["rows"].value("interval", 0), 12);
  EXPECT_TRUE(found.at("spinning_disc.xml")["contacts"].contains("4"));
  EXPECT_TRUE(found.at("sled.xml")["contacts"].contains("6"));
  EXPECT_EQ(outcome.json()["totals"]["whole"], 20);
}

TEST_F(GenerateAll, WhatNoProblemHoldsIsRefusedByItsElement) {
  for (const char* name : {"flex.xml", "sdf.xml", "plugin.xml"}) {
    fs::copy_file(fs::path(refused_models) / name, folder.path() / name);
  }
  const auto found = by_path(conebench({"generate", "--all", folder.path().string(), "--steps", "2", "--json"}));
  ASSERT_EQ(found.size(), 3U);
  for (const auto& [name, element] : {std::pair("flex.xml", "flex"), {"sdf.xml", "SDF"}}) {
    const auto& model = found.at(name);
    EXPECT_EQ(model["status"], "refused") << model.dump();
    EXPECT_THAT(model["reason"].get<std::string>(), HasSubstr(element));
  }
  // MuJoCo itself refuses a plugin whose library is not there.
  const auto& plugin = found.at("plugin.xml");
  EXPECT_TRUE(plugin["status"] == "refused" || plugin["status"] == "not_loaded") << plugin.dump();
  EXPECT_THAT(plugin["reason"].get<std::string>(), HasSubstr("plugin"));
}

TEST_F(GenerateAll, ModelsAreToldFromOtherFilesAndComeInTheOrderOfTheirPaths) {
  write("b/scene.xml", R"(<mujoco><include file="robot.xml"/><include file="part.xml"/></mujoco>)");
  write("b/robot.xml", ball_on_plane);
  write("b/part.xml", R"(<mujoco><worldbody><body name="hand"><joint class="defined elsewhere"/></body></worldbody>
    </mujoco>)");
  write("b/colours.xml", "<mujoco><asset/></mujoco>");
  write("b/list.xml", "<!-- <mujoco><worldbody/></mujoco> --><mujocoinclude><worldbody/></mujocoinclude>");
  write("a.urdf", R"(<robot name="arm"><link name="base"/></robot>)");
  write("a.txt", ball_on_plane);
  write("broken.xml", "<mujoco><worldbody><body></worldbody></mujoco>");
  write("still.xml", R"(<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>)");
  const Outcome outcome = conebench({"generate", "--all", folder.path().string(), "--steps", "3", "--json"});
  std::vector<std::string> paths;
  const nlohmann::json all = outcome.json();
  for (const auto& model : all["models"]) paths.push_back(model["path"]);
  // part.xml can't stand alone, scene.xml can't stand with it.
  EXPECT_EQ(paths, (std::vector<std::string>{"a.urdf", "b/robot.xml", "b/scene.xml", "broken.xml", "still.xml"}));
  const auto found = by_path(outcome);
  EXPECT_EQ(found.at("b/robot.xml")["status"], "whole");
  EXPECT_EQ(found.at("b/robot.xml")["contacts"], (nlohmann::json{{"3", 1}}));
  EXPECT_EQ(found.at("broken.xml")["status"], "not_loaded");
  EXPECT_THAT(found.at("broken.xml")["reason"].get<std::string>(), HasSubstr("XML"));
  EXPECT_EQ(found.at("still.xml")["status"], "no_rows");
  EXPECT_EQ(all["totals"]["statuses"]["not_loaded"], 3);
}

TEST_F(GenerateAll, ItsTableHasALineForEachModelAndTheTotals) {
  write("ball.xml", ball_on_plane);
  write("broken.xml", "<mujoco><worldbody><body></worldbody></mujoco>");
  const Outcome outcome = conebench({"generate", "--all", folder.path().string(), "--steps", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("loaded"), HasSubstr("left out"), HasSubstr("no contact"),
                                 HasSubstr("infeasible"), HasSubstr("ball.xml"), HasSubstr("not loaded: ")));
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("2 models +1 +1 +0 +0 +0 "));
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 4);
  EXPECT_EQ(fs::directory_iterator(folder.path()) == fs::directory_iterator(), false);
}

TEST_F(GenerateAll, SamplesAreKeptWhereAskedFor) {
  write("models/one/ball.xml", ball_on_plane);
  const std::vector<std::string> words = {"generate", "--all", folder / "models", "--steps", "3", "--json"};
  conebench(words);
  EXPECT_FALSE(fs::exists(folder / "out"));
  std::vector<std::string> keeping = words;
  keeping.insert(keeping.end(), {"--out", folder / "out"});
  const auto found = by_path(conebench(keeping));
  EXPECT_EQ(found.at("one/ball.xml")["samples"], 3);
  EXPECT_EQ(samples(folder / "out/one/ball.xml"), 3);
  EXPECT_EQ(list_of(folder / "out/one/ball.xml")["steps_done"], 3);
}

TEST_F(GenerateAll, AModelThatTakesTooLongIsEnded) {
  write("ball.xml", ball_on_plane);
  const auto found = by_path(conebench(
      {"generate", "--all", folder.path().string(), "--steps", "100000000", "--time-limit", "0.5", "--json"}));
  EXPECT_EQ(found.at("ball.xml")["status"], "timed_out");
  EXPECT_GT(found.at("ball.xml")["steps"], 0);
}

TEST_F(GenerateAll, ACrashIsToldAndTheNextModelIsRun) {
  write("a.xml", ball_on_plane);
  write("b.xml", ball_on_plane);
  const Outcome outcome =
      conebench({"generate", "--all", folder.path().string(), "--steps", "3", "--set", "solver=MISBEHAVE", "--json"},
                with_test_solvers({"CONEBENCH_TEST_MODE=segfault"}));
  EXPECT_EQ(outcome.code, 4);
  const auto found = by_path(outcome);
  for (const char* name : {"a.xml", "b.xml"}) {
    EXPECT_EQ(found.at(name)["status"], "crashed");
    EXPECT_THAT(found.at(name)["reason"].get<std::string>(), HasSubstr("signal 11"));
  }
}

TEST_F(GenerateAll, ABlownUpModelSaysSo) {
  write("fast.xml", R"(<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody>
    <keyframe><key qvel="1e6 0 0 0 0 0"/></keyframe></mujoco>)");
  const auto found = by_path(conebench({"generate", "--all", folder.path().string(), "--steps", "3", "--json"}));
  EXPECT_EQ(found.at("fast.xml")["status"], "blown_up");
}

TEST_F(GenerateAll, OptionsOfUrdfFilesAreNotThoseOfOthers) {
  write("ball.xml", ball_on_plane);
  write("ball.urdf", R"(<robot name="ball"><link name="ball"><inertial><mass value="1"/><inertia ixx="0.004" iyy="0.004"
    izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision>
    </link></robot>)");
  const auto found = by_path(conebench({"generate", "--all", folder.path().string(), "--steps", "3", "--json", "--set",
                                        "base=free", "--set", "ground=plane"}));
  EXPECT_EQ(found.at("ball.xml")["status"], "whole");
  EXPECT_EQ(found.at("ball.urdf")["status"], "whole") << found.at("ball.urdf").dump();
}

TEST_F(GenerateAll, ErrorsAreOneLine) {
  expect_failure(conebench({"generate", "--all", folder / "none"}), 3, {"none", "no such folder"});
  expect_failure(conebench({"generate", "--all", folder.path().string()}), 3, {"no MJCF or URDF model"});
  expect_failure(conebench({"generate", "--all", models, "--set", "path=x.xml"}), 2, {"path", "--all"});
  expect_failure(conebench({"generate", "--all", models, "--set", "solver=NOBODY"}), 2, {"NOBODY"});
  expect_failure(conebench({"generate", "--all", models, "--picture"}), 2, {"--picture", "--all"});
  expect_failure(conebench({"generate", "quadruped", "--all", models}), 2, {"SCENE", "--all"});
  expect_failure(conebench({"generate", "quadruped", "--out", folder / "out", "--time-limit", "3"}), 2,
                 {"--time-limit", "--all"});
  expect_failure(conebench({"generate", "quadruped"}), 2, {"--out is required"});
  expect_failure(conebench({"generate", "--out", folder / "out"}), 2, {"SCENE is required"});
}

/// Folders of models that may be on this machine: CONEBENCH_MODELS, and those of Python packages.
std::vector<fs::path> installed_models() {
  std::vector<fs::path> folders;
  if (const char* const own = std::getenv("CONEBENCH_MODELS")) folders.emplace_back(own);
  for (const char* package : {"dm_control", "example_robot_data"}) {
    const Outcome where = run_program(
        {"python3", "-c",
         "import importlib.util, os, sys; print(os.path.dirname(importlib.util.find_spec(sys.argv[1]).origin))",
         package});
    std::string path = where.out.substr(0, where.out.find('\n'));
    if (where.code == 0 && fs::is_directory(path)) folders.emplace_back(path);
  }
  return folders;
}

TEST_F(GenerateAll, InstalledModelsNeitherCrashNorGoOnWithoutAReason) {
  const auto folders = installed_models();
  if (folders.empty()) GTEST_SKIP() << "no folder of models (CONEBENCH_MODELS, dm_control, example-robot-data)";
  for (const fs::path& path : folders) {
    const Outcome outcome =
        conebench({"generate", "--all", path.string(), "--steps", "3", "--time-limit", "30", "--json"});
    EXPECT_EQ(outcome.code, 0) << path << outcome.err;
    for (const auto& [name, model] : by_path(outcome)) {
      EXPECT_NE(model["status"], "crashed") << name << model.dump();
      const bool done = model["status"] == "whole" || model["status"] == "partial" || model["status"] == "no_rows";
      EXPECT_NE(done, !model["reason"].get<std::string>().empty()) << model.dump();
    }
  }
}

}  // namespace
}  // namespace conebench::testing
