#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class GenerateSamples : public SimulatedScenes {
 protected:
  static long lines(const std::string& file) { return std::ranges::count(text_of(file), '\n'); }
  static std::string head_of(const std::string& file) {
    const std::string text = text_of(file);
    return text.substr(0, text.find('\n'));
  }
  /// The file; of a trajectory without the times of its solves, which differ from run to run.
  static std::string repeatable(const std::filesystem::path& file) {
    if (file.filename() != "trajectory.csv") return text_of(file);
    std::istringstream stream(text_of(file));
    constexpr long setup_ms = 21, solve_ms = 22;
    std::string kept;
    for (std::string line, cell; std::getline(stream, line); kept += '\n') {
      std::istringstream cells(line);
      for (long k = 0; std::getline(cells, cell, ','); ++k) {
        if (k != setup_ms && k != solve_ms) kept += cell + ',';
      }
    }
    return kept;
  }
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
  EXPECT_THAT(head_of(folder / "out/trajectory.csv"),
              ::testing::EndsWith(",joint_drift,r_primal,r_dual,r_ncp,r_nat,setup_ms,solve_ms,factorizations,"
                                  "own_residual,state_time_s,fallback,active,failed,passes,inverse_error_N,"
                                  "weight_N,impulse_norm,impulse_change,"
                                  "internal_force_N,internal_error_N,contact_error_N"));
  for (const std::string file : json["files"]) {
    const auto judged = conebench({"judge", file, "--reaction", file, "--json"});
    ASSERT_EQ(judged.code, 0) << judged.err;
    EXPECT_LE(judged.json()["residuals"]["natural_map_scaled"], 2e-9) << file;
    EXPECT_LE(judged.json()["residuals"]["penetration"], 1e-8) << file;
  }
}

TEST_F(GenerateSamples, TheSameSeedGivesTheSameFiles) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_EQ(
        conebench({"generate", "box-on-plane", "--out", folder / name, "--steps", "3", "--state", "--impulses"}).code,
        0);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a")) {
    EXPECT_EQ(repeatable(entry.path()), repeatable(folder / "b" / entry.path().filename())) << entry.path();
  }
}

TEST_F(GenerateSamples, StatesForcesAndImpulsesAreWrittenOnRequest) {
  const std::string out = folder / "out";
  const auto cube = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"generate", "cube-sliding", "--out", out, "--steps", "3", "--set", "every=3"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words);
  };
  const auto columns = [&] { return head_of(out + "/trajectory.csv"); };
  ASSERT_EQ(cube({"--state", "--body", "cube", "--body", "world", "--impulses"}).code, 0);
  EXPECT_THAT(columns(), HasSubstr(",q7,v1,v2,v3,v4,v5,v6,cube_x,"));
  EXPECT_THAT(columns(), ::testing::EndsWith(",world_force_x,world_force_y,world_force_z"));
  EXPECT_EQ(lines(out + "/impulses.csv"), 1 + 3 * 4);
  expect_failure(cube({"--body", "cubes"}), 2, {"--body", "did you mean 'cube'?"});
  EXPECT_EQ(lines(out + "/impulses.csv"), 1 + 3 * 4) << "a typo removes nothing";
  ASSERT_EQ(cube({}).code, 0);
  EXPECT_THAT(columns(), ::testing::EndsWith("impulse_change,internal_force_N,internal_error_N,contact_error_N"));
  EXPECT_FALSE(std::filesystem::exists(out + "/impulses.csv"));
  for (const std::string flag : {"--state", "--impulses", "--picture"}) {
    expect_failure(conebench({"generate", "sliding-box", "--out", folder / "x", flag}), 2,
                   {flag, "one problem without a simulation"});
  }
}

TEST_F(GenerateSamples, ImpactsAreTheStepsInWhichAContactBeginsToPush) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "60", "--set",
                                  "height=0.5", "--set", "sample=impacts", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["samples"], 1);
}

TEST_F(GenerateSamples, EveryThirdStepOfAFallingHumanoidIsASample) {
  const auto outcome = conebench({"generate", "humanoid", "--out", folder / "out", "--steps", "130", "--set", "every=3",
                                  "--set", "tolerance=1e-6", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GE(outcome.json()["samples"], 2);
}

TEST_F(GenerateSamples, AStratifiedSetReportsItsStrata) {
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "9", "--set", "sample=stratified",
                 "--set", "per_stratum=2", "--set", "categories=dense-contacts,single-contact", "--set", "bands=1e16"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("dense contacts, conditioning below 1e16: 2 of 2 wanted, 9 met"));
  EXPECT_THAT(outcome.out, HasSubstr("single contact, conditioning below 1e16: 0 of 2 wanted, 0 met; short"));
  const auto list = list_of(folder / "out");
  ASSERT_EQ(list["files"].size(), 2U);
  const auto reported = conebench({"inspect", folder / ("out/" + list["files"][0].get<std::string>())});
  EXPECT_THAT(reported.out, HasSubstr("dense contacts"));
}

TEST_F(GenerateSamples, ASampleSetSaysWhetherItIsTrivialAndOfWhat) {
  const std::string base = folder / "out";
  const auto lying = conebench({"generate", "box-on-plane", "--out", base, "--steps", "10", "--set", "speed=0"});
  ASSERT_EQ(lying.code, 0) << lying.err;
  EXPECT_THAT(lying.err, ::testing::AllOf(HasSubstr("0 % slip"), HasSubstr("0 % open"), HasSubstr("try ")));
  const auto summary = list_of(base);
  EXPECT_TRUE(summary["trivial"]);
  EXPECT_EQ(summary["contacts"]["stick"], 40);
}

TEST_F(GenerateSamples, NoSamplesAreAFailureThatSaysWhy) {
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5", "--set", "height=2"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("box-on-plane: no samples: none of the 5 steps had a contact"));
}

TEST_F(GenerateSamples, NoStepsAreRefused) {
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "0"}), 2,
                 {"--steps = 0 must be a whole number at least 1"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(GenerateSamples, TheLoopsSolverTakesOptionsOfItsOwn) {
  const auto loop = [&](const std::string& out, const std::string& options) {
    std::vector<std::string> words = {"generate", "box-on-plane", "--out",   folder / out, "--steps",
                                      "6",        "--set",        "every=3", "--json"};
    if (!options.empty()) words.insert(words.end(), {"--set", "solver_options=" + options});
    const auto outcome = conebench(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::pair(outcome.json(), repeatable(folder / (out + "/trajectory.csv")));
  };
  const auto [plain, usual] = loop("plain", "");
  const auto [damped, slower] = loop("damped", "relaxation=0.5,order=random");
  EXPECT_NE(slower, usual) << "a sweep goes half as far";
  EXPECT_EQ(loop("again", "relaxation=1").second, usual) << "its default";
  const std::string file = damped["files"][0];
  EXPECT_THAT(file, HasSubstr("box-on-plane_solver_options=relaxation=0.5,order=random_step=00003.hdf5"));
  EXPECT_EQ(conebench({"inspect", file, "--json"}).json()["scene"],
            "box-on-plane_solver_options=relaxation=0.5,order=random");
  if (python_has("h5py")) {
    const auto source = [](const std::string& sample) {
      return python("import sys, h5py; print(h5py.File(sys.argv[1])['conebench/reference/source'].asstr()[()])",
                    {sample})
          .out;
    };
    EXPECT_EQ(source(file), "NSGS order=random relaxation=0.5\n");
    EXPECT_EQ(source(plain["files"][0]), "NSGS\n");
  }
  EXPECT_EQ(list_of(folder / "damped")["options"]["solver_options"], "relaxation=0.5,order=random");
  const auto wrong = [&](const std::string& options) {
    return conebench({"generate", "box-on-plane", "--out", folder / "x", "--set", "solver_options=" + options});
  };
  expect_failure(wrong("relaxtion=1"), 2,
                 {"solver_options relaxtion=1: NSGS has no option", "did you mean 'relaxation'?"});
  expect_failure(wrong("relaxation=7"), 2, {"'relaxation' = 7", "[0.01, 1.99]"});
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_F(GenerateSamples, AFolderHoldsOneRun) {
  const std::string out = folder / "out";
  const auto generate_box = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"generate", "box-on-plane", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words);
  };
  ASSERT_EQ(generate_box({"--steps", "6"}).code, 0);
  ASSERT_EQ(generate_box({"--steps", "6"}).code, 0) << "the same again replaces itself";
  EXPECT_EQ(samples(out), 6);
  expect_failure(generate_box({"--steps", "3"}), 3, {out, "steps 6, not 3", "--replace"});
  expect_failure(generate_box({"--steps", "6", "--set", "speed=1"}), 3, {"speed not set, not 1"});
  expect_failure(generate_box({"--steps", "6", "--seed", "2"}), 3, {"seed 1, not 2"});
  EXPECT_EQ(samples(out), 6);
  std::ofstream(out + "/notes.hdf5") << "of one's own";
  ASSERT_EQ(generate_box({"--steps", "3", "--replace"}).code, 0);
  EXPECT_EQ(samples(out), 3 + 1) << "the earlier run's go, other files stay";
  EXPECT_EQ(lines(out + "/trajectory.csv"), 4);
  std::filesystem::remove(out + "/samples.json");
  expect_failure(generate_box({"--steps", "3"}), 3, {"trajectory.csv of another run"});
}

TEST_F(GenerateSamples, ARunThatMadeNothingIsNotInTheWay) {
  const std::string out = folder / "out";
  const auto newton = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"generate", "box-on-plane",     "--out", out, "--steps", "3",
                                      "--set",    "solver=NEWTON-CCP"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words);
  };
  expect_failure(newton({}), 4, {"needs compliance", "set solver_options=r_alpha=", ", or another solver"});
  EXPECT_EQ(samples(out), 0);
  const auto outcome = newton({"--set", "solver_options=r_alpha=1e-6"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto made = samples(out);
  EXPECT_GT(made, 0);
  expect_failure(newton({}), 3, {"holds the samples of another run", "--replace"});
  EXPECT_EQ(samples(out), made);
}

TEST_F(GenerateSamples, AChangedModelOrMeshIsAnotherRun) {
  std::ofstream(folder / "robot.xml") << R"(<mujoco><include file="part.xml"/><worldbody>
    <geom type="plane" size="1 1 1" pos="0 0 -0.1"/></worldbody></mujoco>)";
  const auto simulate = [&](const std::string& radius) {
    std::ofstream(folder / "part.xml") << R"(<mujoco><worldbody><body><freejoint/><geom type="sphere" size=")" << radius
                                       << R"("/></body></worldbody></mujoco>)";
    return conebench(
        {"generate", "file", "--out", folder / "out", "--steps", "2", "--set", "path=" + (folder / "robot.xml")});
  };
  ASSERT_EQ(simulate("0.1").code, 0);
  ASSERT_EQ(simulate("0.1").code, 0);
  expect_failure(simulate("0.2"), 3, {"the model or a file that it names has changed"});
}

TEST(GenerateSamplesWithoutMujoco, AreUnsupportedWithTheWayOut) {
  if (!simulation::engine_version().empty()) GTEST_SKIP() << "built with MuJoCo";
  const ScratchFolder folder;
  expect_failure(conebench({"generate", "box-on-plane", "--out", folder / "out"}), 4, {"MuJoCo_ROOT"});
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
