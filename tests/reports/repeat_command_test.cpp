#include "reports/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/reports/synthetic_store.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench::reports {
namespace {

using ::testing::Contains;

/// What a POSIX shell makes of `command`: its words, one a line with line breaks shown as "\n".
std::vector<std::string> split_words(const std::string& command) {
  const auto folder = std::filesystem::temp_directory_path() / "conebench-words";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "script") << "conebench() { for w in \"$@\"; do printf '%s\\0' \"$w\"; done; }\n" << command;
  if (std::system(("bash '" + (folder / "script").string() + "' > '" + (folder / "out").string() + "'").c_str()) != 0) {
    return {};
  }
  std::ifstream file(folder / "out");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  std::filesystem::remove_all(folder);
  return words;
}

TEST(RepeatCommand, SurvivesAShellWhateverTheNames) {
  const StoreContents store = testing::small_store();
  ConfigurationRecord configuration = store.configurations[2];
  ProblemRecord problem = store.problems[6];
  problem.source = "-" + problem.source + "\n$(reboot)";
  configuration.changed_options = {"increment", "rule", "sparse"};
  const auto words = split_words(repeat_command(problem, configuration, store.cells[0]));
  EXPECT_THAT(words, Contains("./" + problem.source));
  EXPECT_THAT(words, Contains("rule=it's spectral"));
  EXPECT_THAT(words, Contains("increment=0.01"));
  EXPECT_THAT(words, Contains("sparse=true"));
  EXPECT_THAT(words, Contains("1e-4"));
  EXPECT_EQ(words.front(), "solve");
}

TEST(RepeatCommand, ASceneIsNamedWithoutWhatIsAtItsDefault) {
  ProblemRecord problem;
  problem.source = "box-stack boxes=5 friction=0.5 mass_ratio=1e3 seed=7";
  problem.name = "box-stack_boxes=5_mass_ratio=1e3_seed=7";
  EXPECT_EQ(problem_arguments(problem), "conebench solve 'box-stack boxes=5 mass_ratio=1e3 seed=7'");
  problem.name = "an older store's";
  EXPECT_EQ(problem_arguments(problem), "conebench solve 'box-stack boxes=5 friction=0.5 mass_ratio=1e3 seed=7'");
}

TEST(RepeatCommand, ASampleIsNamedWithItsStep) {
  ProblemRecord problem;
  problem.source = R"(file path="my arm.urdf" solver=CASCADE seed=1 step=12)";
  problem.name = "my-arm_step=00012";
  EXPECT_EQ(problem_arguments(problem), R"(conebench solve 'file path="my arm.urdf" solver=CASCADE step=12')");
}

TEST(RepeatCommand, LeavesOutWhatIsAtItsDefault) {
  ConfigurationRecord configuration;
  configuration.solver = "ADMM";
  configuration.changed_options = {"increment"};
  configuration.options_json = R"({"increment": 0.01, "rule": "spectral", "sparse": true})";
  EXPECT_EQ(solver_arguments(configuration), "--solver ADMM --set increment=0.01");
  CellRecord cell = testing::sample_cell("cell");
  // Its default depends on the solver: it is always written.
  EXPECT_EQ(request_arguments(cell), "--tolerance 1e-8 --stop-by judge");
  cell.stop_by = "solver";
  cell.start = "guess";
  cell.max_iterations = 500;
  cell.limit_s = 0.5;
  EXPECT_EQ(request_arguments(cell),
            "--tolerance 1e-8 --stop-by solver --start guess --max-iterations 500 --time-limit 0.5");
}

TEST(RepeatCommand, AFailedSimulationIsGeneratedAgainAndNotSolved) {
  ProblemRecord problem;
  problem.source = R"(file path="my arm.urdf" every=2 seed=2 steps=40)";
  const std::string command =
      "conebench generate file --out $(mktemp -d) --set 'path=my arm.urdf' --set every=2 --seed 2 --steps 40";
  EXPECT_EQ(problem_arguments(problem), command);
  EXPECT_EQ(repeat_command(problem, {}, {}), command);
  problem.source = "hand seed=2 step=0";  // of an older store
  EXPECT_EQ(problem_arguments(problem), "conebench generate hand --out $(mktemp -d) --seed 2");
}

TEST(RepeatCommand, OfAWarmCellSaysThatItIsAColdSolve) {
  CellRecord cell;
  cell.start = "previous";
  EXPECT_THAT(request_arguments(cell), ::testing::Not(::testing::HasSubstr("--start")));
  EXPECT_THAT(request_arguments(cell), ::testing::HasSubstr("  # a cold solve: "));
}

TEST(RepeatCommand, AFileIsNamedAsTheSuiteFoundItBelowItsFolder) {
  ProblemRecord problem;
  problem.source = "a/one.hdf5";
  EXPECT_EQ(problem_arguments(problem), "conebench solve a/one.hdf5");
  EXPECT_EQ(problem_arguments(problem, "/my data"), "CONEBENCH_DATA='/my data' conebench solve a/one.hdf5");
  problem.source = "/a/one.hdf5";
  EXPECT_EQ(problem_arguments(problem, "/my data"), "conebench solve /a/one.hdf5");
  problem.source.clear();
  EXPECT_EQ(problem_arguments(problem), "");
}

}  // namespace
}  // namespace conebench::reports
