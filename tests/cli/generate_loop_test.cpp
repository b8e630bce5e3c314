// The solver of a simulation's loop as `conebench generate` takes it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class GenerateLoop : public SimulatedScenes {
 protected:
  /// One iteration solves no step of the cube.
  Outcome unsolved(const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> words = {"generate",         "cube-sliding", "--out",   folder / out, "--set",
                                      "max_iterations=1", "--set",        "every=2", "--steps",    "6"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words);
  }
  /// The first sample in the folder.
  nlohmann::json inspected(const std::string& out) {
    const auto file = folder.path() / out / list_of(folder / out)["files"].at(0).get<std::string>();
    return conebench({"inspect", file.string(), "--json"}).json();
  }
};

TEST_F(GenerateLoop, AnUnsolvedStepIsInTheListAndTheLoopGoesOn) {
  EXPECT_EQ(unsolved("usual", {}).code, 0);
  const auto list = list_of(folder / "usual");
  EXPECT_EQ(list["unsolved_steps"], 6);
  EXPECT_EQ(list["unsolved_files"], list["files"]);
  EXPECT_THAT(list["files"], SizeIs(3));
  EXPECT_EQ(list["solver_label"], "NSGS");
  const auto sample = inspected("usual");
  EXPECT_EQ(sample["loop_outcome"], "unsolved");
  EXPECT_EQ(sample["loop_status"], "max_iterations");
  EXPECT_GT(sample["loop_residual"].get<double>(), 1e-8);
  EXPECT_EQ(list["solver_code"], "");
  EXPECT_EQ(unsolved("said", {"--on-unsolved", "continue"}).code, 0);
  EXPECT_EQ(list_of(folder / "said")["files"], list["files"]) << "what is usual is in no name";

  const auto solved = conebench({"generate", "cube-sliding", "--out", folder / "solved", "--steps", "3"});
  EXPECT_EQ(solved.code, 0);
  EXPECT_THAT(list_of(folder / "solved")["unsolved_files"], SizeIs(0));
  EXPECT_EQ(inspected("solved")["loop_outcome"], "solved");
  EXPECT_TRUE(conebench({"inspect", generate(folder, {"box-stack"}), "--json"}).json()["loop_outcome"].is_null());
}

TEST_F(GenerateLoop, ARunThatStopsSaysWhyAndKeepsItsLastStep) {
  const auto outcome = unsolved("stop", {"--on-unsolved", "stop"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("step 1 (t = 0 s): not solved by NSGS (max_iterations; residual "),
                                 HasSubstr("tolerance 1e-08"), HasSubstr("samples so far are in")));
  const auto list = list_of(folder / "stop");
  EXPECT_THAT(list["files"], SizeIs(1));
  EXPECT_EQ(list["unsolved_files"], list["files"]);
  EXPECT_FALSE(list["complete"].get<bool>());
  EXPECT_THAT(list["failure"].get<std::string>(), HasSubstr("not solved by NSGS"));
  EXPECT_EQ(inspected("stop")["loop_outcome"], "unsolved");
}

TEST_F(GenerateLoop, TheStepWithoutFrictionIsTheOptionFallback) {
  const std::vector<std::string> lemke = {"--set", "solver=LEMKE-ROBUST-DF", "--set", "stop_by=solver",
                                          "--set", "tolerance=1e-9"};
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> words = {"generate", "cube-sliding",     "--out",   folder / out,
                                      "--set",    "max_iterations=6", "--steps", "4"};
    words.insert(words.end(), lemke.begin(), lemke.end());
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(conebench(words).code, 0);
    return list_of(folder / out);
  };
  const auto list = run("flag", {"--on-unsolved", "frictionless"});
  EXPECT_EQ(list["frictionless_steps"], 4);
  EXPECT_EQ(inspected("flag")["loop_outcome"], "frictionless");
  EXPECT_EQ(list["files"], run("option", {"--set", "fallback=frictionless"})["files"]);
  EXPECT_THAT(text_of(folder.path() / "flag" / "trajectory.csv"), HasSubstr(",frictionless,"));
}

TEST_F(GenerateLoop, WhatContradictsItselfOrIsNoLoopIsRefused) {
  expect_failure(conebench({"generate", "cube-sliding", "--out", folder / "out", "--on-unsolved", "stop", "--set",
                            "fallback=none"}),
                 2, {"--on-unsolved", "fallback"});
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--on-unsolved", "stop"}, {"--plugin", "none.so"}, {"--program", "none"}}) {
    std::vector<std::string> words = {"generate", "box-stack", "--out", folder / "out"};
    words.insert(words.end(), flag.begin(), flag.end());
    expect_failure(conebench(words), 2, {flag.front() + ": scene box-stack is one problem"});
  }
  expect_failure(conebench({"generate", "cube-sliding", "--out", folder / "out", "--plugin", "none.so"}), 2,
                 {"--set solver=ID"});
  expect_failure(
      conebench({"generate", "cube-sliding", "--out", folder / "out", "--plugin", "none.so", "--set", "solver=MINE"}),
      3, {"none.so: no such file"});
  expect_failure(conebench({"generate", "cube-sliding", "--out", folder / "out", "--set", "solver=MINE"}), 2,
                 {"unknown solver 'MINE'", "--plugin FILE or --program"});
}

}  // namespace
}  // namespace conebench::testing
