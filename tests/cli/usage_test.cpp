#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/temporary_folder.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> commands = {"run",
                                           "solve",
                                           "judge",
                                           "inspect",
                                           "list",
                                           "generate",
                                           "report",
                                           "compare",
                                           "nightly",
                                           "paper",
                                           "compare-trajectories",
                                           "merge",
                                           "rejudge",
                                           "doctor",
                                           "completion",
                                           "worker"};

TEST(Usage, HelpOfEveryCommandIsOnStandardOutputWithAnExample) {
  const auto help = conebench({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, HasSubstr("Exit codes"));
  for (const auto& command : commands) {
    EXPECT_THAT(help.out, HasSubstr(command));
    const auto own = conebench({command, "--help"});
    EXPECT_EQ(own.code, 0) << command;
    EXPECT_EQ(own.err, "") << command;
    EXPECT_THAT(own.out, HasSubstr("Usage: conebench " + command));
    if (command != "paper") {
      EXPECT_THAT(own.out, HasSubstr("Examples:\n  "));
    }
  }
}

TEST(Usage, VersionIsOneLine) {
  const auto version = conebench({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("conebench [0-9]+\\.[0-9]+\\.[0-9]+[^\n]*\n"));
}

TEST(Usage, WrongUsageIsOneLineAndExitCodeTwo) {
  expect_failure(conebench({}), 2, {"no command", "--help"});
  expect_failure(conebench({"sovle"}), 2, {"unknown command 'sovle'; did you mean 'solve'?"});
  expect_failure(conebench({"--nonsense"}), 2, {"--nonsense"});
  expect_failure(conebench({"solve"}), 2, {"solve", "required", "conebench solve --help"});
  expect_failure(conebench({"solve", "f.hdf5"}), 2, {"--solver"});
  expect_failure(conebench({"solve", "f.hdf5", "--solver"}), 2, {"--solver"});
  expect_failure(conebench({"solve", "f.hdf5", "g.hdf5", "--solver", "NSGS"}), 2, {"g.hdf5"});
  expect_failure(conebench({"solve", "f.hdf5", "--solver", "NSGS", "--stop-by", "mine"}), 2, {"--stop-by", "mine"});
  expect_failure(conebench({"inspect"}), 2, {"inspect"});
  expect_failure(conebench({"list", "planets"}), 2, {"planets"});
  expect_failure(conebench({"list", "solvers", "--json", "--markdown"}), 2, {"--json"});
  expect_failure(conebench({"completion", "fish"}), 2, {"fish"});
  expect_failure(conebench({"merge", "a.sqlite"}), 2, {"--out"});
  expect_failure(conebench({"report", "a.sqlite", "--out", "r", "--format", "docx"}), 2, {"--format", "docx"});
}

TEST(Usage, WhatIsNotExpectedStandsInTheOrderInWhichItWasWritten) {
  expect_failure(conebench({"solve", "f.hdf5", "g", "h", "i", "--solver", "NSGS"}), 2, {"solve: not expected: g h i;"});
  expect_failure(conebench({"report", "a.sqlite", "--fitler=x", "--nonsense"}), 2,
                 {"not expected: --fitler=x --nonsense; did you mean '--filter'?"});
  expect_failure(conebench({"data", "add", "mine", "folder", "a", "b"}), 2, {"data: not expected: a b;"});
}

TEST(Usage, NumbersAreTakenWholeAndInRange) {
  const auto solve = [](const std::string& option, const std::string& value) {
    return conebench({"solve", "f.hdf5", "--solver", "NSGS", option, value});
  };
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e-6x", "", "one"}) {
    expect_failure(solve("--tolerance", bad), 2, {"--tolerance"});
  }
  for (const std::string bad : {"1.5", "1e3", "0x10", "-1", "99999999999999999999"}) {
    expect_failure(solve("--max-iterations", bad), 2, {"--max-iterations"});
  }
  expect_failure(solve("--time-limit", "0"), 2, {"--time-limit"});
  // In range: the next complaint is that there is no such file.
  expect_failure(solve("--tolerance", "1e-6"), 3, {"f.hdf5"});
  expect_failure(solve("--max-iterations", "010"), 3, {"f.hdf5"});
}

TEST(Usage, AScenesUnknownOptionIsNamedAsItWasGiven) {
  expect_failure(conebench({"solve", "box-stack box=3", "--solver", "NSGS"}), 2,
                 {"conebench: box=3: box-stack has no option 'box'; did you mean 'boxes'?"});
}

TEST(Usage, TextThatNobodyReadsEndsAsInterrupted) {
  const std::string closed =
      "import os, subprocess, sys; r, w = os.pipe(); os.close(r); "
      "print(subprocess.run(sys.argv[1:], stdout=w).returncode)";
  EXPECT_EQ(run_program({"/usr/bin/python3", "-c", closed, executable(), "list", "solvers", "--markdown"}).out,
            "130\n");
}

TEST(Usage, ASolversOptionsAreCheckedBeforeTheFileIsRead) {
  const auto solve = [](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"solve", "absent.hdf5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return conebench(arguments);
  };
  const std::string own = "; --plugin FILE or --program 'PROGRAM ARGUMENT…' if it is your own";
  expect_failure(solve({"--solver", "NSG"}), 2, {"unknown solver 'NSG'", "did you mean 'NSGS'?", own});
  expect_failure(conebench({"check-solver", "MY-C"}), 2, {"unknown solver 'MY-C'", own});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "relaxation"}), 2, {"relaxation", "key=value"});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "weight=1"}), 2, {"weight", "relaxation"});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "relaxation=big"}), 2, {"relaxation", "big"});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "relaxation=7"}), 2, {"relaxation", "7", "[0.01, 1.99]"});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "relaxation=1", "--set", "relaxation=0.5"}), 2, {"twice"});
  expect_failure(solve({"--solver", "PGS-NCP", "--set", "relaxation=1"}), 3, {"absent.hdf5"});
}

TEST(Usage, AFullStandardOutputIsAnErrorAndNotSuccess) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto outcome =
      conebench({"list", "solvers", "--markdown"}, {.folder = {}, .environment = {}, .out_to = "/dev/full"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("standard output"));
}

TEST(Usage, AFileBeyondTheLimitOfTheShellIsReportedAsAFullDiskIs) {
  const TemporaryFolder folder;
  const std::string suite = folder.path() / "limited.json", store = folder.path() / "limited.sqlite";
  std::ofstream(suite) << R"({"name": "limited", "problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]})";
  const auto limited =
      run_program({"sh", "-c", "ulimit -f 4; exec \"$0\" run \"$1\" --db \"$2\"", executable().string(), suite, store});
  EXPECT_EQ(limited.code, 3) << limited.out;
  EXPECT_THAT(limited.err, AllOf(HasSubstr("limited.sqlite"), HasSubstr("check the disk")));
}

TEST(List, IsAsWideAsTheTerminalAndOtherwiseALineEach) {
  if (run_program({"script", "--version"}).code != 0) GTEST_SKIP() << "script (Debian: bsdutils) is not installed";
  const std::string list = "'" + executable().string() + "' list suites";
  const auto narrow = run_program({"script", "-qec", "stty cols 70; " + list, "/dev/null"});
  ASSERT_EQ(narrow.code, 0) << narrow.err;
  std::istringstream lines(narrow.out);
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80 && c != '\r'; }), 70)
        << line;
  }
  const std::string plain = conebench({"list", "suites"}).out;
  EXPECT_GT(seen, static_cast<std::size_t>(std::count(plain.begin(), plain.end(), '\n'))) << "lines go on";
  const auto words = [](const std::string& text) {
    std::istringstream stream(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
  };
  EXPECT_EQ(words(narrow.out), words(plain));
}

TEST(List, TablesWithSeveralLongColumnsAreAsWideAsTheTerminal) {
  if (run_program({"script", "--version"}).code != 0) GTEST_SKIP() << "script (Debian: bsdutils) is not installed";
  for (const std::string command : {"paper list", "list solvers", "check-solver NSGS"}) {
    const std::string line = "stty cols 80; '" + executable().string() + "' " + command;
    const auto shown = run_program({"script", "-qec", line, "/dev/null"});
    EXPECT_NE(shown.out, "") << shown.err;
    std::istringstream lines(shown.out);
    for (std::string text; std::getline(lines, text);) {
      EXPECT_LE(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80 && c != '\r'; }), 80)
          << text;
    }
  }
}

TEST(List, EveryTopicHasTextMarkdownAndOneJsonObject) {
  for (const std::string topic : {"solvers", "suites", "scenes", "metrics", "fields", "sets", "tables", "commands"}) {
    const auto text = conebench({"list", topic});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out, "");
    EXPECT_THAT(conebench({"list", topic, "--markdown"}).out, ::testing::StartsWith("# "));
    const auto json = conebench({"list", topic, "--json"}).json();
    ASSERT_TRUE(json.is_object()) << topic;
    EXPECT_TRUE(json[topic].is_array()) << topic;
  }
  std::set<std::string> ids;
  const auto solvers = conebench({"list", "solvers", "--json"}).json();
  for (const auto& solver : solvers["solvers"]) {
    ids.insert(solver["id"]);
    EXPECT_TRUE(solver["options"].is_array());
    EXPECT_NE(solver["citation"], "");
  }
  EXPECT_THAT(ids, ::testing::IsSupersetOf({"NSGS", "PGS-NCP", "ADMM-NCP-SA"}));
  EXPECT_FALSE(ids.contains("MISBEHAVE")) << "test solvers are not for users";
}

TEST(List, OneSolverSceneOrSuiteComesWithItsOptions) {
  const auto solver = conebench({"list", "solvers", "ADMM-NCP-SA"});
  EXPECT_EQ(solver.code, 0);
  EXPECT_THAT(solver.out, ::testing::StartsWith("ADMM-NCP-SA: "));
  EXPECT_THAT(solver.out, HasSubstr("\norigin: a paper's\n"));
  EXPECT_THAT(solver.out, ::testing::ContainsRegex("increment +[0-9.]+ +0"));
  EXPECT_THAT(conebench({"list", "scenes", "box-stack"}).out, ::testing::ContainsRegex("mass_ratio +1 "));
  EXPECT_EQ(conebench({"list", "scenes", "box-stack", "--json"}).json()["options"][0]["name"], "boxes");
  const auto simulated = conebench({"list", "scenes", "fclib-chain"}).out;
  EXPECT_THAT(simulated, HasSubstr("of every simulated scene:"));
  EXPECT_THAT(simulated, ::testing::ContainsRegex("solver +CASCADE ")) << "its own default";
  EXPECT_EQ(conebench({"list", "suites", "default", "--json"}).json()["name"], "default");
  EXPECT_THAT(conebench({"list", "solvers", "NSGS", "--markdown"}).out, ::testing::StartsWith("## NSGS\n"));
  expect_failure(conebench({"list", "solvers", "NSGSS"}), 2, {"did you mean 'NSGS'?"});
  expect_failure(conebench({"list", "metrics", "dual"}), 2, {"takes no name"});
  const std::string all = conebench({"list", "solvers"}).out;
  EXPECT_THAT(all, HasSubstr("conebench list solvers NSGS"));
  EXPECT_THAT(all, ::testing::ContainsRegex("\nNSGS +NCP +by Conebench's authors  +contacts"));
}

TEST(List, ANameGivenAsATopicSaysWhereItIsListed) {
  const std::string topics = "known: solvers, suites, scenes, metrics, fields, sets, tables, commands";
  expect_failure(conebench({"list", "NSGS"}), 2,
                 {"list NSGS: no such topic; NSGS is a solver, see conebench list solvers NSGS; " + topics});
  expect_failure(conebench({"list", "fclib-chain"}), 2, {"is a scene, see conebench list scenes fclib-chain; "});
  expect_failure(conebench({"list", "families"}), 2, {"is a suite, see conebench list suites families; "});
  expect_failure(conebench({"list", "solver"}), 2, {"did you mean 'solvers'? " + topics});
  expect_failure(conebench({"list", "NSGSS"}), 2, {"did you mean 'NSGS'? see conebench list solvers; known: "});
  expect_failure(conebench({"list", "planets"}), 2, {"list planets: no such topic; " + topics});
}

TEST(Completion, BashCompletesCommandsOptionsSolversAndFiles) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const std::string folder = executable().parent_path().string();
  const auto complete = [&](const std::string& words) {
    const std::string script =
        "PATH='" + folder + "':$PATH; source <(conebench completion bash); COMP_WORDS=(conebench " + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _conebench; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const auto outcome = run_program({"bash", "-c", script});
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  };
  EXPECT_EQ(complete("so"), "solve\n");
  EXPECT_THAT(complete("''"), ::testing::AllOf(HasSubstr("run\n"), HasSubstr("doctor\n")));
  EXPECT_EQ(complete("solve f.hdf5 --write"), "--write-solution\n");
  EXPECT_EQ(complete("solve f.hdf5 --solver NSGS"), "NSGS\nNSGS-DAMPED\nNSGS-AA\n");
  EXPECT_EQ(complete("list so"), "solvers\n");
  EXPECT_EQ(complete("judge f.hdf5 --verdict natural_map_s"), "natural_map_scaled\n");
  EXPECT_EQ(complete("generate box-st"), "box-stack\n");
  EXPECT_EQ(complete("list scenes box-st"), "box-stack\n");
  EXPECT_EQ(complete("generate One"), "\n") << "a remark is no scene";
  EXPECT_EQ(complete("inspect /dev/nul"), "/dev/null\n");
}

}  // namespace
}  // namespace conebench::testing
