#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GenerateSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    if (conebench({"doctor", "--json"}).json()["peers"]["MuJoCo"].is_null()) GTEST_SKIP() << "built without MuJoCo";
  }
  static long lines(const std::string& file) {
    std::ifstream stream(file);
    return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
  }
  /// The file; of a trajectory without the times of its solves, which differ from run to run.
  static std::string repeatable(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (file.filename() != "trajectory.csv") return {std::istreambuf_iterator<char>(stream), {}};
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
  static nlohmann::json list_of(const std::filesystem::path& folder) {
    std::ifstream stream(folder / "samples.json");
    return nlohmann::json::parse(stream);
  }
  static long samples(const std::filesystem::path& folder) {
    long count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.path().extension() == ".hdf5" ? 1 : 0;
    }
    return count;
  }
  /// Reports the store s.sqlite and runs the first command of its cells that begins so, to one of `ends`, in a shell.
  /// It leaves nothing behind.
  Outcome pasted_from_report(const std::string& beginning, const char* ends) const {
    EXPECT_EQ(conebench({"report", folder / "s.sqlite", "--out", folder / "r", "--format", "csv"}).code, 0);
    std::ifstream cells(folder / "r/cells.csv");
    const std::string text(std::istreambuf_iterator<char>(cells), {});
    const auto begin = text.find(beginning);
    EXPECT_NE(begin, std::string::npos);
    if (begin == std::string::npos) return {};
    const std::string command = text.substr(begin, text.find_first_of(ends, begin) - begin);
    const auto entries = [&] {
      const std::filesystem::recursive_directory_iterator all(folder.path());
      return std::distance(std::filesystem::begin(all), std::filesystem::end(all));
    };
    const auto before = entries();
    const ScratchFolder temporary;
    const std::string script = R"(cd "$1" && PATH="$2:$PATH" && export TMPDIR="$4" && eval "$3")";
    const auto outcome = run_program({"bash", "-c", script, "bash", folder.path().string(),
                                      executable().parent_path().string(), command, temporary.path().string()});
    EXPECT_EQ(entries(), before);
    return outcome;
  }
  /// The first command of a report gives the verdict of its cell.
  void expect_the_swept_cell_again(const char* ends) const {
    const auto outcome = pasted_from_report("conebench solve", ends);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("natural_map_scaled"));
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
  std::ifstream trajectory(folder / "out/trajectory.csv");
  std::string columns;
  std::getline(trajectory, columns);
  EXPECT_THAT(columns, ::testing::EndsWith(",joint_drift,r_primal,r_dual,r_ncp,r_nat,setup_ms,solve_ms,factorizations,"
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
  const auto columns = [&] {
    std::ifstream stream(out + "/trajectory.csv");
    std::string line;
    std::getline(stream, line);
    return line;
  };
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

TEST_F(GenerateSamples, ASampleSetSaysWhetherItIsTrivialAndOfWhat) {
  const std::string base = folder / "out";
  const auto lying = conebench({"generate", "box-on-plane", "--out", base, "--steps", "10", "--set", "speed=0"});
  ASSERT_EQ(lying.code, 0) << lying.err;
  EXPECT_THAT(lying.err, HasSubstr("these samples tell solvers little apart: of 40 contacts 0 % slip (fewer than 10 %) "
                                   "and 0 % open (fewer than 5 %); try other values of slope, speed, friction, or "
                                   "more steps"));
  std::ifstream stream(base + "/samples.json");
  const auto summary = nlohmann::json::parse(stream);
  EXPECT_TRUE(summary["trivial"]);
  EXPECT_EQ(summary["contacts"]["stick"], 40);
}

TEST_F(GenerateSamples, AStratifiedSetReportsItsStrata) {
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "9", "--set", "sample=stratified",
                 "--set", "per_stratum=2", "--set", "categories=dense-contacts,single-contact", "--set", "bands=1e16"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("dense contacts, conditioning below 1e16: 2 of 2 wanted, 9 met"));
  EXPECT_THAT(outcome.out, HasSubstr("single contact, conditioning below 1e16: 0 of 2 wanted, 0 met; short"));
  std::ifstream stream(folder / "out/samples.json");
  const auto list = nlohmann::json::parse(stream);
  ASSERT_EQ(list["files"].size(), 2U);
  const auto told = conebench({"inspect", folder / ("out/" + list["files"][0].get<std::string>())});
  EXPECT_THAT(told.out, HasSubstr("dense contacts"));
}

TEST_F(GenerateSamples, EveryThirdStepOfAFallingHumanoidIsASample) {
  const auto outcome = conebench({"generate", "humanoid", "--out", folder / "out", "--steps", "130", "--set", "every=3",
                                  "--set", "tolerance=1e-6", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GE(outcome.json()["samples"], 2);
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

TEST_F(GenerateSamples, AModelsFileInAProblemsPlaceIsToldWhatToDoWith) {
  std::ofstream(folder / "my robot.xml") << "<mujoco/>";
  const std::string file = folder / "my robot.xml";
  const std::string hint = "conebench generate file --set 'path=" + file + "' --out DIR";
  expect_failure(conebench({"solve", file, "--solver", "NSGS"}), 3, {"not a problem but a model", hint});
  expect_failure(conebench({"inspect", file}), 3, {"not a problem but a model", hint});
  expect_failure(conebench({"generate", file, "--out", folder / "out"}), 2, {"not a scene but a file", hint});
  expect_failure(conebench({"run", file, "--db", folder / "x.sqlite"}), 2, {"no suite", hint, R"("scene": "file")"});
  expect_failure(conebench({"solve", folder / "none.xml", "--solver", "NSGS"}), 3, {"no such file"});
}

TEST_F(GenerateSamples, ABlownUpSimulationKeepsTheSamplesBefore) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "slope=60", "--set",
                                  "friction=0.1", "--set", "max_speed=2"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("blown up"));
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_GT(samples(folder / "out"), 5);
  EXPECT_TRUE(list_of(folder / "out")["blown_up"].get<bool>());
}

TEST_F(GenerateSamples, AnUnstableForceKeepsTheSamplesBefore) {
  // A ball rests on the ground; another is driven away from its place by more than twice its distance a step.
  std::ofstream(folder / "spring.xml") << R"(<mujoco><option gravity="0 0 -9.81" timestep="0.01"/><worldbody>
    <geom type="plane" size="5 5 1"/><body pos="0 0 .5"><freejoint/><geom size=".5" mass="1"/></body>
    <body pos="3 0 0"><joint name="j" type="slide" axis="1 0 0"/><geom size=".1" mass="1e-3"/></body></worldbody>
    <actuator><general joint="j" gainprm="0" biastype="affine" biasprm="1e-12 10 0"/></actuator></mujoco>)";
  const auto outcome = conebench({"generate", "file", "--out", folder / "out", "--set",
                                  "path=" + (folder / "spring.xml"), "--set", "max_speed=1e12", "--steps", "2000"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_GT(samples(folder / "out"), 5);
  EXPECT_TRUE(list_of(folder / "out")["blown_up"].get<bool>());
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) {
    if (entry.path().extension() != ".hdf5") continue;
    EXPECT_EQ(conebench({"inspect", entry.path().string()}).code, 0);
  }
}

TEST_F(GenerateSamples, AFileOfOnesOwnIsSimulated) {
  std::ofstream(folder / "robot.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
  const auto outcome = conebench({"generate", "file", "--out", folder / "out", "--set",
                                  "path=" + (folder / "robot.xml"), "--steps", "5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["samples"], 5);
  EXPECT_EQ(outcome.json()["files"][0], folder / "out/robot_step=00001.hdf5");
}

TEST_F(GenerateSamples, WhatIsAdvisedOfAFileIsNoOptionThatItLacks) {
  std::ofstream(folder / "still.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1">
    <freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>)";
  const auto outcome = conebench(
      {"generate", "file", "--out", folder / "out", "--set", "path=" + (folder / "still.xml"), "--steps", "5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("try a model with a push, a slope or less friction, or more steps"));
}

TEST_F(GenerateSamples, AFilesOwnTimeStepIsTaken) {
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

TEST_F(GenerateSamples, ALoopThatMissesItsToleranceIsTold) {
  const std::vector<std::string> words = {"generate", "cube-stack-hit", "--out", folder / "out", "--steps", "8"};
  EXPECT_THAT(conebench(words).err, HasSubstr("NSGS missed its tolerance 1e-08 in"));

  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "cube-stack-hit", "steps": 8, "every": 4}],
    "solvers": ["CASCADE"], "tolerances": [1e-2]})";
  const std::vector<std::string> run = {"run", folder / "suite.json", "--db", folder / "s.sqlite"};
  EXPECT_THAT(conebench(run).err, HasSubstr("NSGS missed its tolerance 1e-08 in"));
  EXPECT_THAT(conebench(run).err, HasSubstr("NSGS missed its tolerance 1e-08 in")) << "told of stored samples, too";
}

/// Two hinges let the link move in x and z alone, and it overlaps the fixed base in y.
const char* const overlapping_link = R"(<mujoco><option timestep="0.005"/><worldbody>
  <body name="base" pos="0 0 2"><geom type="box" size=".3 .2 .3"/></body>
  <body name="mid" pos="0 0 2"><joint type="hinge" axis="0 1 0"/><inertial pos="0 0 -.1" mass="1" diaginertia=".1 .1 .1"/>
    <body name="link" pos="0 .27 -.2"><joint type="hinge" axis="0 1 0"/><geom type="box" size=".08 .1 .08"/></body>
  </body></worldbody></mujoco>)";

TEST_F(GenerateSamples, AStepWithoutASolutionIsToldWithItsBodiesAndIsInNoShare) {
  std::ofstream(folder / "robot.xml") << overlapping_link;
  const auto out = folder / "out";
  const auto made = conebench({"generate", "file", "--out", out, "--set", "path=" + (folder / "robot.xml"), "--set",
                               "every=1", "--steps", "22"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string file = out + "/robot_step=00001.hdf5";
  const auto inspected = conebench({"inspect", file, "--feasibility", "--json"}).json();
  if (inspected["feasibility"] == "no_library") GTEST_SKIP() << "built without CLP";
  EXPECT_THAT(made.err,
              AllOf(HasSubstr("20 of the first 20 of these have no solution (certified), the first is step 1"),
                    HasSubstr("base and link ask for a velocity that no impulse gives, 0.6 m/s short"),
                    Not(HasSubstr("max_iterations")), Not(HasSubstr("CASCADE"))));
  const auto step = list_of(out)["infeasible_steps"].at(0);
  EXPECT_EQ(step["bodies"], nlohmann::json({"base", "link"}));
  EXPECT_NEAR(step["margin"].get<double>(), -0.6, 1e-9);

  EXPECT_EQ(inspected["feasibility"], "infeasible");
  EXPECT_NEAR(inspected["feasibility_margin"].get<double>(), -0.6, 1e-9);
  EXPECT_THAT(inspected["infeasible_block"].get<std::string>(), HasSubstr("contact "));
  EXPECT_FALSE(inspected["certificate"].empty());
  EXPECT_EQ(inspected["infeasible_bodies"], step["bodies"]);
  EXPECT_TRUE(inspected["infeasible_identity"].is_number_integer());
  EXPECT_THAT(conebench({"inspect", file, "--feasibility"}).out,
              AllOf(HasSubstr("infeasible: it is proved that no impulses satisfy all constraints"),
                    HasSubstr("-0.6 m/s: whatever the impulses"), HasSubstr(" between base and link (identity ")));
  std::filesystem::copy_file(file, folder / "alone.hdf5");
  EXPECT_TRUE(
      conebench({"inspect", folder / "alone.hdf5", "--feasibility", "--json"}).json()["infeasible_bodies"].is_null());
  const std::string hint = "conebench inspect --feasibility " + file;
  EXPECT_THAT(conebench({"solve", file, "--solver", "NSGS"}).out, HasSubstr(hint));
  EXPECT_THAT(conebench({"judge", file, "--reaction", file}).out, HasSubstr(hint));

  const std::string possible = generate(folder, {"box-stack"});
  EXPECT_THAT(conebench({"solve", possible, "--solver", "NSGS"}).out, Not(HasSubstr("hint")));
  std::ofstream(folder / "suite.json") << nlohmann::json{
      {"problems", {{{"fclib", file}}, {{"fclib", possible}}}}, {"solvers", {"NSGS"}}, {"tolerances", {1e-6}}};
  const std::string store = folder / "s.sqlite";
  const auto run = conebench({"run", folder / "suite.json", "--db", store, "--require-solved", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 problem has no solution (certified): left out of all shares"));
  const auto rejudged = conebench({"rejudge", store});
  EXPECT_EQ(rejudged.code, 0);
  EXPECT_THAT(rejudged.err, Not(HasSubstr("no longer marked infeasible")));
  EXPECT_THAT(conebench({"report", store, "--out", folder / "report"}).out,
              HasSubstr("1 problem left out of headlines: 1 without a solution (certified)"));
}

TEST_F(GenerateSamples, AnInterruptKeepsWhatIsThere) {
  const std::string script = R"("$1" generate box-on-plane --out "$2" --steps 100000000 & pid=$!
    until ls "$2"/*.hdf5 >/dev/null 2>&1; do sleep 0.05; done
    kill -INT $pid; wait $pid)";
  const auto outcome = run_program({"bash", "-c", script, "bash", executable().string(), folder / "out"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted after"));
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_GE(samples(folder / "out"), 1);
}

TEST_F(GenerateSamples, AReportsCommandMakesTheSampleOfASweepAgain) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 12, "every": 4,
    "options": {"speed": 1.5}}], "solvers": ["NSGS"]})";
  ASSERT_EQ(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}).code, 0);
  expect_the_swept_cell_again(",\n");
  const auto json = [&](const std::string& problem) {
    return conebench({"solve", problem, "--solver", "NSGS", "--json"}).json();
  };
  const auto names = [&](const std::string& step) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (entry.path().filename().string().ends_with("step=" + step + ".hdf5")) return entry.path().string();
    }
    return std::string();
  };
  EXPECT_EQ(json("box-on-plane speed=1.5 step=8")["problem_hash"], json(names("00008"))["problem_hash"]);
  EXPECT_NE(json("box-on-plane speed=1.5 step=8")["problem_hash"], json(names("00004"))["problem_hash"]);
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
  std::ifstream stream(folder / "damped/samples.json");
  EXPECT_EQ(nlohmann::json::parse(stream)["options"]["solver_options"], "relaxation=0.5,order=random");
  const auto wrong = [&](const std::string& options) {
    return conebench({"generate", "box-on-plane", "--out", folder / "x", "--set", "solver_options=" + options});
  };
  expect_failure(wrong("relaxtion=1"), 2,
                 {"solver_options relaxtion=1: NSGS has no option", "did you mean 'relaxation'?"});
  expect_failure(wrong("relaxation=7"), 2, {"'relaxation' = 7", "[0.01, 1.99]"});
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_F(GenerateSamples, ASuiteGivesTheLoopsSolverOptionsAndTheReportsCommandRepeatsThem) {
  const auto write = [&](const std::string& options) {
    std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 6, "every": 3,
      "options": {"solver_options": ")" << options
                                         << R"("}}], "solvers": ["NSGS"]})";
  };
  write("relaxatoin=0.5");
  expect_failure(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}), 2,
                 {"suite.json: problems[0]: ", "did you mean 'relaxation'?"});
  EXPECT_FALSE(std::filesystem::exists(folder / "s.sqlite"));
  write("relaxation=0.5,order=random");
  ASSERT_EQ(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}).code, 0);
  expect_the_swept_cell_again("\"\n");
}

TEST_F(GenerateSamples, AReportsCommandShowsAFailedSimulationFailAgain) {
  std::filesystem::create_directory(folder / "my robots");
  std::ofstream(folder / "my robots/mesh.xml") << R"(<mujoco><asset><mesh name="arm" file="arm.stl"/></asset>
    <worldbody><body><freejoint/><geom type="mesh" mesh="arm"/></body></worldbody></mujoco>)";
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "file", "options": {"path": ")"
                                       << folder / "my robots/mesh.xml"
                                       << R"("}, "steps": 5}, {"scene": "box-stack"}], "solvers": ["NSGS"]})";
  const auto ran = conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("arm.stl"));
  EXPECT_THAT(ran.out, HasSubstr("1 of 2 cells solved"));
  const auto outcome = pasted_from_report("conebench generate file", "\n");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("arm.stl"));
}

TEST_F(GenerateSamples, ACrashWhileThePictureIsDrawnCostsThePictureAlone) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 4}],
    "solvers": ["NSGS"]})";
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" CONEBENCH_DEADLY_OSMESA};
  const auto ran = conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}, options);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4 of 4 cells solved"));
  EXPECT_THAT(ran.err, HasSubstr("no picture of the scene could be drawn"));
}

TEST_F(GenerateSamples, ADryRunSimulatesNothing) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 40, "every": 10},
    {"scene": "box-stack", "as": "fclib"}], "solvers": ["NSGS"]})";
  const std::vector<std::string> dry = {"run", folder / "suite.json", "--db", folder / "s.sqlite", "--dry-run"};
  const auto first = conebench(dry);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("5 problems"));
  EXPECT_THAT(first.out, HasSubstr("4 problems are known by name only and may repeat another, be none or not fit"));
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "only the suite";
  ASSERT_EQ(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}).code, 0);
  EXPECT_THAT(conebench(dry).out, HasSubstr("stored already: 5; to run: 0"));
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

TEST_F(GenerateSamples, APictureIsWrittenWhereItIsAskedFor) {
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5", "--picture", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  if (outcome.json()["picture"].is_null()) GTEST_SKIP() << outcome.err;
  const std::string picture = outcome.json()["picture"];
  EXPECT_EQ(picture, folder / "out/picture.png");
  std::ifstream stream(picture, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_GT(bytes.size(), 2000U);
  EXPECT_LT(bytes.size(), 30000U);
  ASSERT_EQ(conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(picture)) << "of the run before";
}

TEST_F(GenerateSamples, WithoutALibraryToDrawWithThePictureIsLeftOut) {
  // In the place of OSMesa, something that is no library.
  std::filesystem::create_directory(folder / "lib");
  std::ofstream(folder / "lib/libOSMesa.so.8")
      << "no library, and long enough to be looked at: " << std::string(4096, '.');
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" + (folder / "lib")};
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5", "--picture", "--json"}, options);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.json()["picture"].is_null());
  EXPECT_THAT(outcome.err, HasSubstr("no picture: "));
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install"));
  const std::size_t place = outcome.err.find("no picture: ");
  EXPECT_EQ(outcome.err.find("no picture: ", place + 1), std::string::npos) << "once, in one line";
  EXPECT_LT(outcome.err.find("apt-get install", place), outcome.err.find('\n', place));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/picture.png"));
  EXPECT_EQ(outcome.json()["samples"], 5);
}

TEST_F(GenerateSamples, ASuitesReportShowsTheScene) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 20, "every": 10},
    {"scene": "box-stack"}], "solvers": ["NSGS"]})";
  const auto ran = conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(conebench({"report", folder / "s.sqlite", "--out", folder / "report"}).code, 0);
  if (ran.err.find("no picture") != std::string::npos) GTEST_SKIP() << ran.err;
  std::ifstream stream(folder / "report/index.html", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  const std::size_t begin = page.find(R"(id="pictures">)") + std::string(R"(id="pictures">)").size();
  const auto pictures = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(pictures["images"].size(), 1U);
  EXPECT_EQ(pictures["of"].size(), 2U) << "of the samples, not of the box stack";
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

TEST_F(GenerateSamples, ATendonWithBothEndsNearHasTwoLimits) {
  std::ofstream(folder / "tendon.xml")
      << R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 1"><joint name="j" type="slide"
        axis="1 0 0"/><geom type="sphere" size="0.1" mass="1"/></body></worldbody><tendon><fixed name="t"
        limited="true" range="-0.001 0.001"><joint joint="j" coef="1"/></fixed></tendon></mujoco>)";
  const Outcome made = conebench(
      {"generate", "file", "--set", "path=" + (folder / "tendon.xml"), "--steps", "3", "--out", folder / "out"});
  EXPECT_EQ(made.code, 0) << made.err;
}

TEST_F(GenerateSamples, MassesBeyondAllNumbersLeaveAListThatIsReadAgain) {
  std::ofstream(folder / "heavy.xml") << R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1e300"/></body>
    <body pos="1 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1e-10"/></body></worldbody></mujoco>)";
  const std::vector<std::string> words = {"generate", "file", "--set", "path=" + (folder / "heavy.xml"),
                                          "--steps",  "2",    "--out", folder / "out"};
  const Outcome first = conebench(words), again = conebench(words);
  EXPECT_EQ(first.code, again.code) << again.err;
  EXPECT_EQ(again.err.find("can't be read"), std::string::npos) << again.err;
}

TEST_F(GenerateSamples, ACrashInTheLoopIsOneLine) {
  RunOptions options;
  options.environment = {"CONEBENCH_TEST_SOLVERS=1", "CONEBENCH_TEST_MODE=segfault"};
  expect_failure(conebench({"generate", "box-on-plane", "--set", "solver=MISBEHAVE", "--out", folder / "out"}, options),
                 3, {"box-on-plane: simulating it crashed", "signal 11", "correct the model"});
}

TEST_F(GenerateSamples, WhatQhullPrintsOfAFlatMeshIsNotShown) {
  std::ofstream(folder / "flat.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";
  std::ofstream(folder / "flat.xml") << R"(<mujoco><asset><mesh name="flat" file="flat.obj"/></asset><worldbody><body>
    <freejoint/><geom type="mesh" mesh="flat"/><geom type="sphere" size="1"/></body></worldbody></mujoco>)";
  expect_failure(conebench({"generate", "file", "--set", "path=" + (folder / "flat.xml"), "--out", folder / "out"}), 3,
                 {"flat.xml: MuJoCo", "can't take the model", "qhull"});
}

}  // namespace
}  // namespace conebench::testing
