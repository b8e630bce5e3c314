#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "conebench/recording.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using nlohmann::json;

constexpr double mass = 2.0, friction = 0.5, time_step = 0.01;

/// A block on the ground, with free velocity (n, t) and an answer to it. G = 1 / mass on each axis.
recording::Step block_step(double normal, double tangential, double gap, const Vector& impulse) {
  recording::Step step;
  step.friction({friction, friction}).name("block on ground").bodies(0, 1).gap(gap).identity(7);
  step.body_names = {"ground", "block"};
  step.M = mass * Matrix::Identity(3, 3);
  step.J = Matrix(Matrix::Identity(3, 3));
  step.v_free = Eigen::Vector3d(normal, tangential, 0.0);
  step.b = Vector(Eigen::Vector3d(gap / time_step, 0.0, 0.0));
  step.R = Vector::Constant(3, 0.25);
  step.time_step = time_step;
  step.time = 0.5;
  step.law = "ccp";
  recording::Answer& answer = step.answers["Engine 1.0"];
  answer.r = impulse;
  answer.iterations = 3;
  answer.seconds = 1e-4;
  answer.status = "converged";
  return step;
}

/// (G + R) λ = −g on a contact that sticks.
Vector sticking(double normal, double tangential) {
  return Eigen::Vector3d(-normal / (1.0 / mass + 0.25), -tangential / (1.0 / mass + 0.25), 0.0);
}

/// Two steps that stick, the second answered without its friction, and one in free fall.
std::string recording_in(const ScratchFolder& folder) {
  const std::string file = folder / "block.hdf5";
  recording::Recorder recorder(file);
  recorder.add(block_step(-1.0, 0.25, 0.0, sticking(-1.0, 0.25)));
  Vector frictionless = sticking(-1.0, 0.25);
  frictionless[1] = 0.0;
  recorder.add(block_step(-1.0, 0.25, -1e-3, frictionless));
  recorder.add(block_step(0.0, 0.0, 0.0, Vector::Zero(3)));
  recorder.close();
  return file;
}

TEST(RecordingCommands, JudgeWeighsEachAnswerUnderItsLawAndBetweenRigidBodies) {
  const ScratchFolder folder;
  const std::string file = recording_in(folder);
  const auto outcome = conebench({"judge", file, "--answers", "--json", "--solvers", "CASCADE,NSGS"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json judged = outcome.json();
  ASSERT_EQ(judged["steps"].size(), 3U);
  const json& first = judged["steps"][0];
  ASSERT_EQ(first["answers"].size(), 3U);
  const json& engine = first["answers"][0];
  EXPECT_EQ(engine["law"], "ccp");
  EXPECT_LT(engine["own"]["scaled"], 1e-15);
  EXPECT_LT(engine["compliant"]["scaled"], 1e-15);
  // −R λ is left over: σ = (−1, 0.25) / 3, σ_N + mu |σ_T| on the normal; and λ / r − v̂ is inside the cone.
  const double expected = std::hypot(-1.0 / 3.0 + friction / 12.0, 1.0 / 12.0);
  EXPECT_NEAR(engine["rigid"]["absolute_m_s"], expected, 1e-12);
  EXPECT_NEAR(engine["rigid"]["scaled"], expected / std::hypot(1.0, 0.25), 1e-12);
  EXPECT_EQ(engine["rigid"]["worst"],
            json::parse(R"({"block": "contact 0", "name": "block on ground", "bodies": ["ground", "block"]})"));
  EXPECT_EQ(engine["modes"], json::parse(R"({"open": 0, "stick": 1, "slip": 0})"));
  for (const json& step : {judged["steps"][0], judged["steps"][1]}) {
    EXPECT_LT(step["answers"][1]["own"]["scaled"], 1e-6);
  }

  const json& second = judged["steps"][1];
  EXPECT_EQ(second["gap_min_m"], -1e-3);
  // What no friction leaves: the tangential velocity, less than what the cone could stop.
  EXPECT_NEAR(second["answers"][0]["own"]["absolute_m_s"], 0.25, 0.1);

  EXPECT_EQ(judged["steps"][2]["answers"][0]["own"]["scaled"], 0.0);
  const json& summary = judged["summary"][0];
  EXPECT_EQ(summary["name"], "Engine 1.0");
  EXPECT_EQ(summary["claimed"], 3);
  EXPECT_EQ(summary["claimed_wrong"], 1);
  EXPECT_EQ(summary["own"]["within"], 2);
  EXPECT_EQ(summary["own"]["max_step"], 2);
}

TEST(RecordingCommands, StepsWithoutRowsCountNowhere) {
  const ScratchFolder folder;
  const std::string file = folder / "flight.hdf5";
  recording::Step flight;
  flight.M = Matrix(Matrix::Identity(3, 3));
  flight.J = Matrix(Matrix::Zero(0, 3));
  flight.v_free = Vector::Constant(3, -0.1);
  flight.answers["Engine 1.0"].status = "converged";
  recording::Recorder recorder(file);
  recorder.add(flight);
  recorder.add(flight);
  recorder.close();
  const auto outcome = conebench({"judge", file, "--answers", "--require-solved"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2 steps (2 of them without rows)"), std::string::npos) << outcome.out;
}

TEST(RecordingCommands, JudgePrintsTablesAndGatesAndWritesAPage) {
  const ScratchFolder folder;
  const std::string file = recording_in(folder);
  const auto outcome =
      conebench({"judge", file, "--answers", "--solvers", "none", "--html", folder / "page.html", "--require-solved"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("block on ground (ground, block)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("Engine 1.0 solves 2 of 3 steps"), std::string::npos) << outcome.err;
  EXPECT_NE(text_of(folder / "page.html").find("block on ground"), std::string::npos);
}

TEST(RecordingCommands, JudgeOfOneStepAndOfFilesWithoutAnswers) {
  const ScratchFolder folder;
  const std::string file = recording_in(folder);
  const auto one = conebench({"judge", file + "/000002", "--answers", "--json"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.json()["steps"].size(), 1U);
  const std::string plain = generate(folder, {"box-stack", "--set", "boxes=2"});
  expect_failure(conebench({"judge", plain, "--answers"}), 3, {plain, "has no answers"});
  expect_failure(conebench({"judge", file, "--answers", "--solvers", "NSGX"}), 2, {"NSGX"});
  expect_failure(conebench({"judge", file}), 2, {"--reaction", "--answers"});
  expect_failure(conebench({"judge", file + "/000009", "--answers"}), 3, {"000009", "is missing"});
}

TEST(RecordingCommands, InspectAndSolveTakeEveryStepOrOne) {
  const ScratchFolder folder;
  const std::string file = recording_in(folder);
  const auto inspected = conebench({"inspect", file, "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  ASSERT_EQ(inspected.json()["files"].size(), 3U);
  EXPECT_EQ(inspected.json()["files"][1]["answers"], json{"Engine 1.0"});
  EXPECT_NE(conebench({"inspect", file}).out.find("a recording of 3 steps"), std::string::npos);
  const auto one = conebench({"inspect", file + "/000001", "--json"});
  EXPECT_EQ(one.json()["contacts"], 1) << one.err;

  const auto solved = conebench({"solve", file, "--solver", "NSGS", "--json", "--require-solved"});
  ASSERT_EQ(solved.code, 0) << solved.err;
  EXPECT_EQ(solved.json()["solved"], 3);
  expect_failure(conebench({"solve", file, "--solver", "NSGS", "--trace", folder / "trace.csv"}), 2,
                 {file + "/000001"});
  expect_failure(conebench({"judge", file, "--reaction", folder / "r.npy"}), 3, {"recording of 3 steps"});
}

TEST(RecordingCommands, RunSweepsTheStepsWithTheSolversThatAreNamed) {
  const ScratchFolder folder;
  const std::string file = recording_in(folder), store = folder / "block.sqlite";
  const auto ran = conebench({"run", file, "--solvers", "NSGS,CASCADE", "--tolerances", "1e-4,1e-8", "--start",
                              "cold,previous", "--json", "--db", store});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.json()["cells"], 3 * 2 * 2 * 2) << ran.out;
  const auto again = conebench({"run", file + "/000002", "--solvers", "NSGS", "--json", "--db", folder / "one.sqlite"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["cells"], 1);
  const auto of_folder =
      conebench({"run", folder.path().string(), "--solvers", "NSGS", "--json", "--db", store, "--allow-mixed"});
  ASSERT_EQ(of_folder.code, 0) << of_folder.err;
  EXPECT_EQ(of_folder.json()["cells"], 3);
  expect_failure(conebench({"run", file}), 2, {"--solvers"});
  expect_failure(conebench({"run", folder / "none.hdf5", "--solvers", "NSGS"}), 3, {"no such file"});
  expect_failure(conebench({"run", file, "--solvers", "NSGS", "--tolerances", "fast"}), 2, {"fast is no number"});
}

}  // namespace
}  // namespace conebench::testing
