#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "simulation/engine.hpp"
#include "store/night_folder.hpp"
#include "store/store.hpp"
#include "tests/plugins/foreign_solvers.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Plugins : public ForeignSolvers {};

TEST_F(Plugins, MaySayWhoseCodeTheyWrap) {
  const auto listed = conebench({"list", "solvers", "BAD-CPP", "--json", "--plugin", plugin("bad_cpp")});
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(listed.json()["origin"], "foreign");
  EXPECT_EQ(listed.json()["peer_version"], "1.2");
  EXPECT_EQ(listed.json()["peer_released"], "2024-05-06");
  EXPECT_EQ(listed.json()["peer_build"], "");
  EXPECT_THAT(conebench({"list", "solvers", "BAD-CPP", "--plugin", plugin("bad_cpp")}).out,
              HasSubstr("\norigin: plug-in 1.2 (2024-05-06)\n"));
}

TEST_F(Plugins, AreListedWithTheirOptions) {
  const auto listed = conebench({"list", "solvers", "BAD", "--json", "--plugin", plugin("bad")});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto json = listed.json();
  EXPECT_EQ(json["own_process"], true);
  EXPECT_EQ(json["limits"], true);
  EXPECT_EQ(json["compliance"], false);
  std::vector<std::string> names;
  for (const auto& option : json["options"]) names.push_back(option["name"]);
  EXPECT_THAT(names, ElementsAre("mode", "count", "loud", "units", "stall")) << "its own, and those of all solvers";
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
       std::map<std::string, std::vector<std::string>>{{"bad_version", {"version 99", "takes 1 to 2"}},
                                                       {"bad_entry", {"conebench_plugin_entry"}},
                                                       {"bad_start", {"signal 6", "about to crash"}},
                                                       {"bad_id", {"NSGS already"}},
                                                       {"bad_option", {"BAD", "'stall'", "call it something else"}},
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

TEST_F(Plugins, ThatChangeFromNightToNightAreNamedWithBothHashesAndNotRunAgain) {
  fs::copy_file(plugin("jacobi"), folder / "jacobi.so");
  write("night.json", R"({"name": "night", "solvers": ["JACOBI", "NSGS", "CASCADE", "PGS-NCP"],
    "problems": [{"scene": "random", "options": {"contacts": 12}, "seeds": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}],
    "tolerances": [1e-3], "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto night = [&] {
    return conebench(
        {"nightly", folder / "night.json", "--stores", folder / "nights", "--plugin", folder / "jacobi.so"});
  };
  // Times that the test chooses; a night that was not judged is judged by the next call, which runs nothing.
  const auto set_times = [&](const fs::path& file, double of_jacobi) {
    auto store = Store::open(file, Store::Mode::read_write);
    auto contents = store->read();
    for (CellRecord& cell : contents->cells) {
      const bool its =
          std::any_of(contents->configurations.begin(), contents->configurations.end(), [&](const auto& configuration) {
            return configuration.hash == cell.configuration && configuration.solver == "JACOBI";
          });
      cell.total.minimum = 1e-3 * (its ? of_jacobi : 1.0);
      cell.total.median = 1.01 * cell.total.minimum;
      EXPECT_TRUE(store->update_times(cell));
    }
  };
  const auto newest = [&] { return read_night_folder(folder / "nights", "")->nights.back().store; };
  ASSERT_EQ(night().code, 0);
  set_times(newest(), 1.0);
  std::ofstream(folder / "jacobi.so", std::ios::app) << "a byte more";
  night();
  set_times(newest(), 4.0);
  fs::remove(night_result_file(newest()));
  const auto slower = night();
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, HasSubstr("code of JACOBI: "));
  EXPECT_THAT(slower.out, HasSubstr("JACOBI: a plug-in or program can't be run side by side with an earlier build"));
}

TEST_F(Plugins, ThatGoWrongEndAsABuiltInSolverWould) {
  write("bad.json", R"({
    "name": "bad", "problems": [{"scene": "sliding-box"}],
    "solvers": [{"id": "BAD", "grid": {"mode": ["crash", "hang", "leak", "print", "lie", "nan", "nonsense", "refuse", "tamper"]}}],
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
  EXPECT_THAT(found["BAD mode=tamper"], StartsWith("converged|0|")) << "the judge has the problem as it was";
  EXPECT_EQ(found["BAD mode=refuse"], "unsupported|0|refused with count 3 and loud 1");
}

TEST_F(Plugins, TakePartWhereASolverOfOnesOwnCan) {
  const std::vector<std::string> code = {"--plugin", plugin("jacobi")};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), code.begin(), code.end());
    return conebench(words);
  };
  const auto inverse = with({"inverse-dynamics", "sliding-box", "--set", "friction=0.3", "--velocity", "0.1,0,0",
                             "--solver", "JACOBI", "--json"});
  EXPECT_EQ(inverse.code, 0) << inverse.err << inverse.out;
  EXPECT_EQ(inverse.json()["forward"]["solver"], "JACOBI");
  EXPECT_EQ(inverse.json()["forward"]["agrees"], true);
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}], "solvers": ["NSGS", "JACOBI"]})");
  expect_failure(with({"run", folder / "mine.json", "--ab", executable().string(), "--db", folder / "mine.sqlite"}), 2,
                 {"--ab", "JACOBI", "neither build"});
  EXPECT_FALSE(fs::exists(folder / "mine.sqlite"));
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  expect_failure(with({"loop", "cube-sliding", "--steps", "3", "--set", "solver=JACOBI"}), 2, {"--plugin"});
}

TEST_F(Plugins, InCppHaveTheIterationsOfThatInC) {
  const std::string problem = generate(folder, {"box-stack", "--set", "boxes=2"});
  const auto solve = [&](const std::string& id, const std::string& file) {
    return conebench({"solve", problem, "--solver", id, "--plugin", plugin(file), "--stop-by", "solver", "--tolerance",
                      "1e-9", "--set", "relaxation=0.4", "--json"})
        .json();
  };
  const auto c = solve("JACOBI", "jacobi"), cpp = solve("JACOBI-CPP", "jacobi_cpp");
  EXPECT_EQ(cpp["status"], "converged");
  EXPECT_EQ(c["iterations"], cpp["iterations"]);
  EXPECT_EQ(conebench({"check-solver", "--plugin", plugin("jacobi_cpp")}).code, 0);
  const auto says = [&](const std::string& mode) {
    return conebench({"solve", problem, "--solver", "BAD-CPP", "--plugin", plugin("bad_cpp"), "--set", "mode=" + mode,
                      "--json"})
        .json();
  };
  EXPECT_EQ(says("throw-in-prepare")["status"], "unsupported");
  EXPECT_EQ(says("throw-in-prepare")["reason"], "no set-up today");
  EXPECT_EQ(says("throw-in-solve")["status"], "breakdown");
  EXPECT_THAT(says("throw-in-solve")["reason"].get<std::string>(), HasSubstr("no answer today"));
  EXPECT_EQ(says("refuse")["reason"], "not this one");
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
  for (const std::string way : {"--plugin", "--cpp", "--program", "--python"}) {
    SCOPED_TRACE(way);
    if (way == "--python" && !python_has("h5py, numpy")) continue;
    if (way == "--program" && run_program({"pkg-config", "--exists", "hdf5"}).code != 0) continue;
    const std::string name = "My-Solver" + way;
    ASSERT_EQ(conebench({"new", "solver", name, way}, {.folder = folder.path()}).code, 0);
    for (const auto& entry : fs::directory_iterator(folder / name)) {
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        if (line.starts_with("#ifndef ") || line.starts_with("#define "))
          EXPECT_EQ(line.substr(0, line.find('(')).find('-'), std::string::npos) << entry.path() << ": " << line;
      }
    }
    const auto tried =
        run_program({folder / (name + "/test.sh")}, {.environment = {"CONEBENCH=" + executable().string()}});
    EXPECT_EQ(tried.code, 0) << tried.err << tried.out;
    EXPECT_THAT(tried.out, HasSubstr("MY-SOLVER"));
    EXPECT_TRUE(fs::exists(folder / (name + "/report/index.html")));
    EXPECT_EQ(conebench({"new", "solver", name, way}, {.folder = folder.path()}).code, 3);
  }
  expect_failure(conebench({"new", "solver", "1st"}, {.folder = folder.path()}), 2, {"1st"});
  expect_failure(conebench({"new", "solver", "Cascade"}, {.folder = folder.path()}), 2, {"a solver CASCADE exists"});
  EXPECT_FALSE(fs::exists(folder / "Cascade"));
}

}  // namespace
}  // namespace conebench::testing
