#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class SimulatedSweep : public SimulatedScenes {
 protected:
  /// Reports the store s.sqlite and runs the first command of its cells that begins so, to one of `ends`, in a shell.
  /// It leaves nothing behind.
  Outcome pasted_from_report(const std::string& beginning, const char* ends) const {
    EXPECT_EQ(conebench({"report", folder / "s.sqlite", "--out", folder / "r", "--format", "csv"}).code, 0);
    const std::string text = text_of(folder / "r/cells.csv");
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
};

TEST_F(SimulatedSweep, ADryRunSimulatesNothing) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 40, "every": 10},
    {"scene": "box-stack", "as": "fclib"}], "solvers": ["NSGS"]})";
  const std::vector<std::string> dry = {"run", folder / "suite.json", "--db", folder / "s.sqlite", "--dry-run"};
  const auto first = conebench(dry);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("5 problems"));
  EXPECT_THAT(first.out, HasSubstr("4 problems are known by name only"));
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "only the suite";
  ASSERT_EQ(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}).code, 0);
  EXPECT_THAT(conebench(dry).out, HasSubstr("stored already: 5; to run: 0"));
}

TEST_F(SimulatedSweep, AReportsCommandMakesTheSampleOfASweepAgain) {
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

TEST_F(SimulatedSweep, ASuiteGivesTheLoopsSolverOptionsAndTheReportsCommandRepeatsThem) {
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

TEST_F(SimulatedSweep, AReportsCommandShowsAFailedSimulationFailAgain) {
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

}  // namespace
}  // namespace conebench::testing
