#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string plugin(const std::string& name) { return (fs::path(CONEBENCH_PLUGIN_FOLDER) / (name + ".so")).string(); }

class Plugins : public RunCommand {
 protected:
  /// Cells by the setting's label: "status solved|reason".
  std::map<std::string, std::string> cells(const std::string& store) {
    std::map<std::string, std::string> found;
    for (const std::string& row : query(
             store, "SELECT label, status, solved, reason FROM cells JOIN settings ON settings.hash = cells.setting")) {
      const auto bar = row.find('|');
      found[row.substr(0, bar)] = row.substr(bar + 1);
    }
    return found;
  }
};

TEST_F(Plugins, AreListedWithTheirOptions) {
  const auto listed = conebench({"list", "solvers", "BAD", "--json", "--plugin", plugin("bad")});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto json = listed.json();
  EXPECT_EQ(json["own_process"], true);
  EXPECT_EQ(json["limits"], true);
  EXPECT_EQ(json["compliance"], false);
  ASSERT_EQ(json["options"].size(), 3U) << listed.out;
  EXPECT_EQ(json["options"][0]["default"], "none");
  EXPECT_EQ(json["options"][1]["maximum"], 9);
  EXPECT_EQ(json["options"][2]["default"], true);
  EXPECT_THAT(conebench({"list", "solvers"}, {.environment = {"CONEBENCH_PLUGINS=" + plugin("jacobi")}}).out,
              HasSubstr("JACOBI"));
}

TEST_F(Plugins, SolveWhatIsKnownInClosedForm) {
  // One box on four corners carries m g dt.
  const std::string problem = generate(folder, {"box-stack", "--set", "boxes=1"});
  const auto solved =
      conebench({"solve", problem, "--solver", "JACOBI", "--plugin", plugin("jacobi"), "--set", "relaxation=0.7",
                 "--tolerance", "1e-10", "--json", "--write-solution", folder / "solved.hdf5"});
  ASSERT_EQ(solved.code, 0) << solved.err;
  EXPECT_TRUE(solved.json()["solved"].get<bool>()) << solved.out;
  EXPECT_EQ(solved.json()["options"]["relaxation"], 0.7);
  const auto reference = conebench({"solve", problem, "--solver", "NSGS", "--tolerance", "1e-10", "--json"});
  EXPECT_GT(solved.json()["iterations"], reference.json()["iterations"]);
  expect_failure(
      conebench({"solve", problem, "--solver", "JACOBI", "--plugin", plugin("jacobi"), "--set", "relaxation=3"}), 2,
      {"relaxation", "3"});
}

TEST_F(Plugins, ThatCannotBeLoadedSayWhyInOneLine) {
  for (const auto& [name, words] :
       std::map<std::string, std::vector<std::string>>{{"bad_version", {"version 99", "has 1"}},
                                                       {"bad_entry", {"conebench_plugin_entry"}},
                                                       {"bad_start", {"signal 6", "about to crash"}},
                                                       {"bad_id", {"NSGS already"}},
                                                       {"none_there", {"no such file"}}}) {
    SCOPED_TRACE(name);
    expect_failure(conebench({"list", "solvers", "--plugin", plugin(name)}), 3, words);
  }
  write("text.so", "no library");
  expect_failure(conebench({"list", "solvers", "--plugin", folder / "text.so"}), 3, {"text.so", "can't be loaded"});
}

TEST_F(Plugins, AreNamedByASuiteOnlyWhereCodeIsAllowed) {
  fs::copy_file(plugin("jacobi"), folder / "jacobi.so");
  write("mine.json", R"({
    "name": "mine", "problems": [{"scene": "sliding-box"}], "plugins": ["jacobi.so"],
    "solvers": ["NSGS", {"id": "JACOBI", "grid": {"relaxation": [0.3, 0.6]}}],
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  expect_failure(conebench({"run", folder / "mine.json", "--db", folder / "mine.sqlite"}), 2,
                 {"plugins", "--allow-code"});
  EXPECT_FALSE(fs::exists(folder / "mine.sqlite"));
  const auto run = conebench({"run", folder / "mine.json", "--allow-code", "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("JACOBI relaxation=0.3"));
  EXPECT_EQ(query("mine.sqlite", "SELECT COUNT(*) FROM cells WHERE solved = 1"), std::vector<std::string>{"3"});
  // The judge needs the problems alone.
  const auto again = conebench({"rejudge", folder / "mine.sqlite"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(Plugins, AnotherContentIsAnotherCell) {
  fs::copy_file(plugin("jacobi"), folder / "jacobi.so");
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}], "solvers": ["JACOBI"],
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto sweep = [&] {
    const auto run =
        conebench({"run", folder / "mine.json", "--plugin", folder / "jacobi.so", "--db", folder / "mine.sqlite"});
    EXPECT_EQ(run.code, 0) << run.err;
    return query("mine.sqlite", "SELECT COUNT(*) FROM cells")[0];
  };
  EXPECT_EQ(sweep(), "1");
  EXPECT_EQ(sweep(), "1") << "it resumes";
  std::ofstream(folder / "jacobi.so", std::ios::app) << "a byte more";
  EXPECT_EQ(sweep(), "2");
}

TEST_F(Plugins, ThatGoWrongEndAsABuiltInSolverWould) {
  write("bad.json", R"({
    "name": "bad", "problems": [{"scene": "sliding-box"}],
    "solvers": [{"id": "BAD", "grid": {"mode": ["crash", "hang", "leak", "print", "lie", "nan", "nonsense", "refuse"]}}],
    "limits": {"iterations": 100, "seconds": 0.5, "memory_mb": 300},
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto run =
      conebench({"run", folder / "bad.json", "--plugin", plugin("bad"), "--db", folder / "bad.sqlite", "--json"});
  EXPECT_EQ(run.code, 4) << run.err;
  EXPECT_TRUE(run.json().is_object()) << "what it prints goes nowhere: " << run.out;
  auto found = cells("bad.sqlite");
  EXPECT_THAT(found["BAD mode=crash"], StartsWith("crashed|0|signal 6"));
  EXPECT_THAT(found["BAD mode=hang"], StartsWith("timeout|0|"));
  EXPECT_THAT(found["BAD mode=leak"], StartsWith("out_of_memory|0|"));
  EXPECT_THAT(found["BAD mode=print"], StartsWith("converged|0|"));
  EXPECT_THAT(found["BAD mode=lie"], StartsWith("converged|0|"));
  EXPECT_THAT(found["BAD mode=nan"], StartsWith("converged|0|"));
  EXPECT_THAT(found["BAD mode=nonsense"], AllOf(StartsWith("crashed|0|"), HasSubstr("status 77")));
  EXPECT_EQ(found["BAD mode=refuse"], "unsupported|0|refused with count 3 and loud 1");
}

const std::string program = (fs::path(CONEBENCH_PLUGIN_FOLDER) / "jacobi_program").string();

class Programs : public Plugins {
 protected:
  /// An executable script, that runs where "describe" has been answered.
  std::string script(const std::string& name, const std::string& body) {
    write(name,
          "#!/bin/sh\nreply=$(sed 's/.*\"reply\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "answer=$(sed 's/.*\"answer\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "if grep -q '\"request\":\"describe\"' \"$1\"; then\n"
          "echo '{\"id\": \"SCRIPT\", \"name\": \"A script\"}' > \"$reply\"; exit; fi\n" +
              body);
    fs::permissions(folder / name, fs::perms::owner_all);
    return folder / name;
  }
  Outcome solve_by_script(const std::string& body) {
    return conebench(
        {"solve", "sliding-box", "--solver", "SCRIPT", "--program", script("script", body), "--time-limit", "0.5"});
  }
};

TEST_F(Programs, HaveTheBitsOfThePluginOfTheSameSource) {
  const std::string problem = generate(folder, {"box-stack", "--set", "boxes=2"});
  const auto solve = [&](const std::string& solver, const std::vector<std::string>& code, const std::string& name) {
    std::vector<std::string> words = {
        "solve", problem, "--solver",       solver,   "--criterion",      "own",        "--tolerance",
        "1e-9",  "--set", "relaxation=0.4", "--json", "--write-solution", folder / name};
    words.insert(words.end(), code.begin(), code.end());
    const auto solved = conebench(words);
    EXPECT_EQ(solved.code, 0) << solved.err;
    return solved.json();
  };
  const auto plugged = solve("JACOBI", {"--plugin", plugin("jacobi")}, "plugin.hdf5");
  const auto programmed = solve("JACOBI-PROGRAM", {"--program", program}, "program.hdf5");
  EXPECT_EQ(plugged["status"], "converged");
  EXPECT_EQ(plugged["iterations"], programmed["iterations"]);
  EXPECT_EQ(plugged["own_residual"], programmed["own_residual"]);
  EXPECT_EQ(plugged["residuals"], programmed["residuals"]);
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  const auto in_python =
      solve("JACOBI-PYTHON", {"--program", "/usr/bin/python3 " CONEBENCH_EXAMPLES "/jacobi/jacobi.py"}, "python.hdf5");
  EXPECT_EQ(plugged["iterations"], in_python["iterations"]);
  EXPECT_THAT(in_python["reason"].get<std::string>(), HasSubstr("self-reported"));
  write("compare.py", R"(import h5py, sys
a, b, c = (h5py.File(name)["solution/r"][...] for name in sys.argv[1:])
print(int((a == b).all()), int(abs(a - c).max() <= 1e-12), int(abs(a).max() > 0))
)");
  EXPECT_EQ(run_program({"/usr/bin/python3", folder / "compare.py", folder / "plugin.hdf5", folder / "program.hdf5",
                         folder / "python.hdf5"})
                .out,
            "1 1 1\n");
}

TEST_F(Programs, TakePartInASweepAndAreTightenedUntilTheVerdictIsMet) {
  fs::copy_file(program, folder / "jacobi");
  write("mine.json", R"({
    "name": "mine", "problems": [{"scene": "sliding-box"}, {"scene": "box-stack", "options": {"boxes": 1}}],
    "solvers": ["NSGS", {"program": ["jacobi"], "grid": {"relaxation": [0.3, 0.6]}}],
    "repeats": {"min": 2, "min_ms": 0, "max": 2}})");
  expect_failure(conebench({"run", folder / "mine.json", "--db", folder / "mine.sqlite"}), 2,
                 {"solvers[1].program", "--allow-code"});
  const auto run = conebench({"run", folder / "mine.json", "--allow-code", "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(query("mine.sqlite", "SELECT COUNT(*), SUM(solved), SUM(status = 'converged') FROM cells"),
            std::vector<std::string>{"6|6|6"});
}

TEST_F(Programs, ThatGoWrongSayHow) {
  expect_failure(conebench({"list", "solvers", "--program", folder / "none"}), 3, {"can't be started"});
  expect_failure(conebench({"list", "solvers", "--program", "true"}), 3, {"wrote no reply"});
  const auto crash = solve_by_script("echo last words; kill -SEGV $$\n");
  expect_failure({crash.code, "", crash.err}, 4, {"signal 11", "last words"});
  const auto hang = solve_by_script("while :; do :; done\n");
  expect_failure({hang.code, "", hang.err}, 4, {"killed after"});
  const auto liar = solve_by_script("echo '{\"status\": \"converged\", \"solve_s\": 1000}' > \"$reply\"\n");
  expect_failure({liar.code, "", liar.err}, 4, {"says that it took 1000 s"});
  const auto silent = solve_by_script("echo '{\"status\": \"converged\"}' > \"$reply\"\n");
  expect_failure({silent.code, "", silent.err}, 4, {"answer.hdf5"});
}

TEST_F(Plugins, AreCheckedOnProblemsWithKnownAnswers) {
  const auto good = conebench({"check-solver", "--plugin", plugin("jacobi"), "--json"});
  EXPECT_EQ(good.code, 0) << good.err << good.out;
  const auto solver = good.json()["solvers"][0];
  EXPECT_EQ(solver["solver"], "JACOBI");
  std::map<std::string, std::string> outcome;
  for (const auto& check : solver["checks"]) outcome[check["problem"]] = check["outcome"];
  for (const char* name : {"stick", "slip", "take-off", "no friction", "the same contact twice", "joints only",
                           "slip in 2D", "cube held at eight corners"}) {
    EXPECT_EQ(outcome[name], "passed") << name;
  }
  EXPECT_EQ(outcome["rolling"], "unsupported");
  const auto liar = conebench({"check-solver", "BAD", "--plugin", plugin("bad"), "--set", "mode=lie"});
  EXPECT_EQ(liar.code, 1);
  EXPECT_THAT(liar.out, HasSubstr("though it claims to have converged"));
  EXPECT_EQ(conebench({"check-solver", "NSGS"}).code, 0);
  EXPECT_EQ(conebench({"check-solver"}).code, 2);
}

TEST_F(Plugins, SkeletonsBuildPassTheirTestsAndGiveAPage) {
  for (const std::string way : {"--plugin", "--program", "--python"}) {
    SCOPED_TRACE(way);
    if (way == "--python" && !python_has("h5py, numpy")) continue;
    if (way == "--program" && run_program({"pkg-config", "--exists", "hdf5"}).code != 0) continue;
    const std::string name = "My-Solver" + way;
    ASSERT_EQ(conebench({"new", "solver", name, way}, {.folder = folder.path()}).code, 0);
    const auto tried =
        run_program({folder / (name + "/test.sh")}, {.environment = {"CONEBENCH=" + executable().string()}});
    EXPECT_EQ(tried.code, 0) << tried.err << tried.out;
    EXPECT_THAT(tried.out, HasSubstr("MY-SOLVER"));
    EXPECT_TRUE(fs::exists(folder / (name + "/report/index.html")));
    EXPECT_EQ(conebench({"new", "solver", name, way}, {.folder = folder.path()}).code, 3);
  }
  expect_failure(conebench({"new", "solver", "1st"}, {.folder = folder.path()}), 2, {"1st"});
}

}  // namespace
}  // namespace conebench::testing
