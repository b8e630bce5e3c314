#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/simulated_scenes.hpp"
#include "tests/cli/test_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GenerateFailures : public SimulatedScenes {};

TEST_F(GenerateFailures, ABlownUpSimulationKeepsTheSamplesBefore) {
  const auto outcome = conebench({"generate", "box-on-plane", "--out", folder / "out", "--set", "slope=60", "--set",
                                  "friction=0.1", "--set", "max_speed=2"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("blown up"));
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_GT(samples(folder / "out"), 5);
  EXPECT_TRUE(list_of(folder / "out")["blown_up"].get<bool>());
}

TEST_F(GenerateFailures, AnUnstableForceKeepsTheSamplesBefore) {
  // A ball rests on the ground; another is driven away from its position by more than twice its distance a step.
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

TEST_F(GenerateFailures, AnInterruptKeepsWhatIsThere) {
  const std::string script = R"("$1" generate box-on-plane --out "$2" --steps 100000000 & pid=$!
    until ls "$2"/*.hdf5 >/dev/null 2>&1 || ! kill -0 $pid; do sleep 0.01; done
    kill -INT $pid; wait $pid)";
  const auto outcome = run_program({"bash", "-c", script, "bash", executable().string(), folder / "out"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted after"));
  EXPECT_THAT(outcome.err, HasSubstr("samples so far are in"));
  EXPECT_GE(samples(folder / "out"), 1);
}

TEST_F(GenerateFailures, ACrashInTheLoopIsOneLine) {
  expect_failure(conebench({"generate", "box-on-plane", "--set", "solver=MISBEHAVE", "--out", folder / "out"},
                           with_test_solvers({"CONEBENCH_TEST_MODE=segfault"})),
                 3, {"box-on-plane: simulating it crashed", "signal 11", "correct the model"});
}

TEST_F(GenerateFailures, ALoopThatMissesItsToleranceIsReported) {
  const std::vector<std::string> words = {"generate", "cube-stack-hit", "--out", folder / "out", "--steps", "8"};
  EXPECT_THAT(conebench(words).err, HasSubstr("NSGS missed its tolerance 1e-08 in"));

  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "cube-stack-hit", "steps": 8, "every": 4}],
    "solvers": ["CASCADE"], "tolerances": [1e-2]})";
  const std::vector<std::string> run = {"run", folder / "suite.json", "--db", folder / "s.sqlite"};
  EXPECT_THAT(conebench(run).err, HasSubstr("NSGS missed its tolerance 1e-08 in"));
  EXPECT_THAT(conebench(run).err, HasSubstr("NSGS missed its tolerance 1e-08 in")) << "reported of stored samples, too";
}

/// Two hinges let the link move in x and z alone, and it overlaps the fixed base in y.
const char* const overlapping_link = R"(<mujoco><option timestep="0.005"/><worldbody>
  <body name="base" pos="0 0 2"><geom type="box" size=".3 .2 .3"/></body>
  <body name="mid" pos="0 0 2"><joint type="hinge" axis="0 1 0"/><inertial pos="0 0 -.1" mass="1" diaginertia=".1 .1 .1"/>
    <body name="link" pos="0 .27 -.2"><joint type="hinge" axis="0 1 0"/><geom type="box" size=".08 .1 .08"/></body>
  </body></worldbody></mujoco>)";

TEST_F(GenerateFailures, AStepWithoutASolutionIsReportedWithItsBodiesAndIsInNoShare) {
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
                    HasSubstr("base and link"), Not(HasSubstr("max_iterations")), Not(HasSubstr("solver=CASCADE"))));
  const auto step = list_of(out)["infeasible_steps"].at(0);
  EXPECT_EQ(step["bodies"], nlohmann::json({"base", "link"}));
  EXPECT_NEAR(step["margin"].get<double>(), -1.0, 1e-9);  // max_depenetration

  EXPECT_EQ(inspected["feasibility"], "infeasible");
  EXPECT_NEAR(inspected["feasibility_margin"].get<double>(), -1.0, 1e-9);
  EXPECT_THAT(inspected["infeasible_block"].get<std::string>(), HasSubstr("contact "));
  EXPECT_FALSE(inspected["certificate"].empty());
  EXPECT_EQ(inspected["infeasible_bodies"], step["bodies"]);
  EXPECT_TRUE(inspected["infeasible_identity"].is_number_integer());
  EXPECT_THAT(conebench({"inspect", file, "--feasibility"}).out,
              AllOf(HasSubstr("infeasible: "), HasSubstr("-1 m/s: whatever the impulses"),
                    HasSubstr(" between base and link (identity ")));
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
              HasSubstr("1 problem does not count in shares, ranks and profiles: 1 without a solution (certified)"));
}

}  // namespace
}  // namespace conebench::testing
