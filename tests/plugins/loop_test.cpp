// Solvers that are not part of the build in the loop of `conebench generate`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "simulation/engine.hpp"
#include "tests/plugins/foreign_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ForeignLoop : public ForeignSolvers {
 protected:
  void SetUp() override {
    if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  }

  Outcome simulate(const std::string& out, std::vector<std::string> more, const RunOptions& options = {}) {
    std::vector<std::string> words = {"generate", "cube-sliding",   "--out",   folder / out,
                                      "--set",    "tolerance=1e-6", "--steps", "6"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words, options);
  }
  nlohmann::json list(const std::string& out) {
    return nlohmann::json::parse(text_of(folder.path() / out / "samples.json"));
  }
  /// A column of trajectory.csv.
  std::vector<std::string> column(const std::string& out, const std::string& name) {
    std::ifstream file(folder.path() / out / "trajectory.csv");
    std::vector<std::string> values;
    std::size_t wanted = 0;
    for (std::string line; std::getline(file, line);) {
      std::istringstream cells(line);
      std::vector<std::string> found;
      for (std::string cell; std::getline(cells, cell, ',');) found.push_back(cell);
      if (values.empty() && wanted == 0) {
        while (found.at(wanted) != name) ++wanted;
        continue;
      }
      values.push_back(found.at(wanted));
    }
    return values;
  }
};

TEST_F(ForeignLoop, APluginAndAProgramSolveEveryStep) {
  const std::vector<std::vector<std::string>> runs = {{"JACOBI", "--plugin", plugin("jacobi")},
                                                      {"JACOBI-PROGRAM", "--program", built("jacobi_program")}};
  for (const auto& run : runs) {
    const std::string& id = run.front();
    const auto outcome = simulate(id, {run[1], run[2], "--set", "solver=" + id});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(column(id, "status"), AllOf(SizeIs(6), Each("converged")));
    const auto samples = list(id);
    EXPECT_EQ(samples["solver"], id);
    EXPECT_EQ(samples["solver_label"], id);
    EXPECT_THAT(samples["solver_code"].get<std::string>(), SizeIs(32)) << "its content";
    EXPECT_THAT(samples["unsolved_files"], SizeIs(0));
    EXPECT_THAT(outcome.out, HasSubstr(id));
  }
  const auto iterations = column("JACOBI", "iterations");
  EXPECT_LT(std::stol(iterations[1]), std::stol(iterations[0]) / 2) << "the last impulses are its start";
  EXPECT_EQ(
      simulate("listed", {"--set", "solver=JACOBI"}, {.environment = {"CONEBENCH_PLUGINS=" + plugin("jacobi")}}).code,
      0);
}

TEST_F(ForeignLoop, AProgramInPythonSolvesEveryStep) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no Python with h5py and numpy";
  const auto outcome = simulate("out", {"--program", "/usr/bin/python3 " CONEBENCH_EXAMPLES "/jacobi/jacobi.py",
                                        "--set", "solver=JACOBI-PYTHON"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(column("out", "status"), AllOf(SizeIs(6), Each("converged")));
}

TEST_F(ForeignLoop, ACrashLeavesUnsolvedStepsAndTheirReason) {
  for (const auto& [id, words] : {std::pair("BAD-PROGRAM", std::vector<std::string>{"--program", built("bad_program")}),
                                  {"BAD-SERVER", {"--program", built("bad_server")}},
                                  {"BAD", {"--plugin", plugin("bad")}}}) {
    std::vector<std::string> more = {"--set", std::string("solver=") + id, "--set", "solver_options=mode=crash"};
    more.insert(more.end(), words.begin(), words.end());
    const auto outcome = simulate(id, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(column(id, "status"), AllOf(SizeIs(6), Each("breakdown"))) << id;
    EXPECT_THAT(column(id, "failed"), Each("1")) << id;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr(std::string(id) + " mode=crash gave no answer in 6 steps"), HasSubstr("signal ")));
    EXPECT_EQ(list(id)["unsolved_files"], list(id)["files"]);
  }
}

TEST_F(ForeignLoop, AnAnswerThatTheJudgeRefusesIsNoSolvedStep) {
  const auto outcome = simulate("lie", {"--program", built("bad_server"), "--set", "solver=BAD-SERVER"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(column("lie", "failed"), AllOf(SizeIs(6), Each("1")));
  const auto file = folder.path() / "lie" / list("lie")["files"].at(0).get<std::string>();
  const auto sample = conebench({"inspect", file.string(), "--json"}).json();
  EXPECT_EQ(sample["loop_outcome"], "unsolved");
  const auto stopped =
      simulate("stop", {"--program", built("bad_server"), "--set", "solver=BAD-SERVER", "--on-unsolved", "stop"});
  EXPECT_EQ(stopped.code, 3);
  EXPECT_THAT(stopped.err, HasSubstr("step 1 (t = 0 s): not solved by BAD-SERVER"));
}

TEST_F(ForeignLoop, SamplesOfAChangedPluginAreAnotherRunsSamples) {
  const std::string copy = folder / "copy.so";
  std::filesystem::copy_file(plugin("jacobi"), copy);
  const std::vector<std::string> words = {"--plugin", copy, "--set", "solver=JACOBI"};
  EXPECT_EQ(simulate("out", words).code, 0);
  EXPECT_EQ(simulate("out", words).code, 0) << "the same again";
  std::ofstream(copy, std::ios::app) << "\n";
  expect_failure(simulate("out", words), 3, {"the files of the loop's solver have changed"});
}

}  // namespace
}  // namespace conebench::testing
