#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <tuple>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "runners/programs/ask_served.hpp"
#include "runners/programs/keeper.hpp"
#include "runners/programs/reply.hpp"
#include "runners/programs/run_once.hpp"
#include "tests/plugins/foreign_solvers.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

TEST(ProgramReplies, HaveThePythonNumbersThatAreNotFinite) {
  const auto reply = parse_reply(R"({"a": NaN, "b": [Infinity, -Infinity, 2], "c": "NaN \" Infinity", "d": null})");
  ASSERT_TRUE(reply.is_object());
  EXPECT_TRUE(std::isnan(reply["a"].get<double>()));
  EXPECT_EQ(reply["b"][0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(reply["b"][1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(reply["b"][2], 2);
  EXPECT_EQ(reply["c"], "NaN \" Infinity");
  for (const char* wrong :
       {"", "..{}", "{\"a\": NaNo}", "{\"a\": --Infinity}", "{\"a\": nan}", "{} {}", "[1]", "\"NaN", "{\"a\": \"\\"}) {
    EXPECT_FALSE(parse_reply(wrong).is_object()) << wrong;
  }
  EXPECT_FALSE(parse_reply("{\"a\": " + std::string(30000, '[') + std::string(30000, ']') + "}").is_object());
}

class ProgramExchange : public RunCommand {
 protected:
  SolverProgram shell(const std::string& body) {
    write("program.sh", body);
    static const TemporaryFolder scratch;  // one, since a process has one keeper
    SolverProgram program;
    program.scratch = scratch.path();
    program.command = {"/bin/sh", folder / "program.sh"};
    return program;
  }
};

constexpr const char* echo_numbers =
    "while read -r line; do\n"
    "  echo \"{\\\"number\\\": $(echo \"$line\" | sed 's/.*\"number\":\\([0-9]*\\).*/\\1/')}\"\ndone\n";

TEST_F(ProgramExchange, TheClockRunsUntilTheAnswerIsTaken) {
  // Taking it lasts for a while that is known.
  const auto take = [] {
    const auto end = Clock::now() + std::chrono::milliseconds(30);
    while (Clock::now() < end) continue;
  };
  SolverProgram program =
      shell("sed 's/.*\"reply\":\"\\([^\"]*\\)\".*/\\1/' \"$1\" | { read -r f; echo '{}' > \"$f\"; }\n");
  const RequestFolder request(program.scratch);
  const auto once = run_once(program, {{"request", "solve"}}, request, {}, take);
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_GE(once->wall_s, 0.03);

  program = shell(echo_numbers);
  ASSERT_TRUE(start_keeper(program.scratch));
  const auto kept = ask_served(program, {{"request", "solve"}}, 16.0, take);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_GE(kept->wall_s, 0.03);
}

/// As proc(5) has it; X where there is none.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state = "X";
  file >> number >> name >> state;
  return state.front();
}

/// Whether it comes to be one of these, which a signal that has been sent leads to at once.
bool comes_to(pid_t process, const std::string& states) {
  for (int k = 0; k < 500; ++k) {
    if (states.find(state_of(process)) != std::string::npos) return true;
    ::usleep(10'000);
  }
  return false;
}

TEST_F(ProgramExchange, AKeptProgramStandsStillBetweenRequestsWithAllThatItStarted) {
  // One child in its process group, one with a child of its own, one whose parent has ended.
  // It replies once the grandchild runs too.
  const std::string grandchild = folder / "grandchild";
  SolverProgram program = shell("(while :; do :; done) &\n/bin/sh -c 'sleep 1000 & echo $! > \"$0\"; wait' '" +
                                grandchild + "' &\n(sleep 1000 & echo $! > '" + (folder / "orphan") +
                                "')\nuntil [ -s '" + grandchild + "' ]; do :; done\n" + echo_numbers);
  ASSERT_TRUE(start_keeper(program.scratch));
  pid_t process = -1;
  std::vector<pid_t> process_tree;
  {
    auto kept = KeptProgram::lease(program.scratch, program.command);
    ASSERT_TRUE(kept) << kept.error().message;
    process = kept->process();
    kept->begins();
    ASSERT_EQ(::write(kept->talk(), "{\"number\":1}\n", 13), 13);
    char reply[64];
    ASSERT_GT(::read(kept->talk(), reply, sizeof reply), 0);
    pid_t orphan = 0;
    std::ifstream(folder / "orphan") >> orphan;
    ASSERT_GT(orphan, 0);
    kept->is_done();
    process_tree = with_descendants({process});
    EXPECT_GE(process_tree.size(), 4U);
    for (const pid_t one : process_tree) EXPECT_TRUE(comes_to(one, "T")) << one << " is " << state_of(one);
    EXPECT_TRUE(comes_to(orphan, "X")) << state_of(orphan);
    kept->begins();
    for (const pid_t one : process_tree) EXPECT_TRUE(comes_to(one, "RSD")) << one << " is " << state_of(one);
    kept->is_done();
  }
  // Stopped, it is lent again; busy, it ends with whoever has it.
  {
    auto again = KeptProgram::lease(program.scratch, program.command);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->process(), process);
    EXPECT_FALSE(again->fresh());
    again->begins();
  }
  for (const pid_t one : process_tree) EXPECT_TRUE(comes_to(one, "XZ")) << one << " is " << state_of(one);
}

TEST_F(ProgramExchange, WhoChangesTheProblemAndSetsItsTimeBackDamagesNoOtherCell) {
  for (const auto& [bad, id] : {std::pair{"bad_program", "BAD-PROGRAM"}, {"bad_server", "BAD-SERVER"}}) {
    SCOPED_TRACE(id);
    write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}],
      "solvers": ["JACOBI-PROGRAM", {"id": ")" +
                           std::string(id) + R"(", "options": {"mode": "restore"}},
                  {"id": "JACOBI-PROGRAM", "options": {"relaxation": 0.3}}],
      "tolerances": [1e-3, 1e-4], "repeats": {"min": 2, "min_ms": 0, "max": 2}})");
    const std::string store = std::string(id) + ".sqlite";
    const auto run = conebench({"run", folder / "mine.json", "--program", built(bad), "--program",
                                built("jacobi_program"), "--db", folder / store});
    EXPECT_EQ(run.code, 4) << run.err;
    EXPECT_EQ(
        query(store,
              "SELECT solver, COUNT(*), SUM(solved), MIN(status), MAX(status) FROM cells JOIN configurations ON "
              "configurations.hash = configuration GROUP BY 1 ORDER BY 1"),
        (std::vector<std::string>{std::string(id) + "|2|0|crashed|crashed", "JACOBI-PROGRAM|4|4|converged|converged"}));
    EXPECT_THAT(query(store, "SELECT reason FROM cells WHERE status = 'crashed'"),
                Each(HasSubstr(std::string(id) + " has written to its problem's file")));
  }
}

const std::string program = built("jacobi_program");

class Programs : public ForeignSolvers {
 protected:
  /// An executable script, that runs where "describe" has been answered.
  std::string script(const std::string& name, const std::string& body, const std::string& more = "") {
    write(name,
          "#!/bin/sh\nreply=$(sed 's/.*\"reply\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "answer=$(sed 's/.*\"answer\":\"\\([^\"]*\\)\".*/\\1/' \"$1\")\n"
          "if grep -q '\"request\":\"describe\"' \"$1\"; then\n"
          "echo '{\"id\": \"SCRIPT\", \"name\": \"A script\"" +
              more + "}' > \"$reply\"; exit; fi\n" + body);
    fs::permissions(folder / name, fs::perms::owner_all);
    return folder / name;
  }

  /// A file with an answer for the sliding box.
  std::string zeros() {
    write("zeros.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (12,), }" + std::string(59, ' ') + "\n" +
                           std::string(96, '\0'));
    return folder / "zeros.npy";
  }
};

TEST_F(Programs, HaveTheBitsOfThePluginOfTheSameSource) {
  const std::string problem = generate(folder, {"box-stack", "--set", "boxes=2"});
  const auto solve = [&](const std::string& solver, const std::vector<std::string>& code, const std::string& name) {
    std::vector<std::string> words = {
        "solve", problem, "--solver",       solver,   "--stop-by",        "solver",     "--tolerance",
        "1e-9",  "--set", "relaxation=0.4", "--json", "--write-solution", folder / name};
    words.insert(words.end(), code.begin(), code.end());
    const auto solved = conebench(words);
    EXPECT_EQ(solved.code, 0) << solved.err;
    return solved.json();
  };
  const auto plugged = solve("JACOBI", {"--plugin", plugin("jacobi")}, "plugin.hdf5");
  EXPECT_EQ(plugged["status"], "converged");
  // Kept alive, and started anew for each run.
  const std::string once = script("once", "exec " + program + " \"$1\"\n", R"(, "options": [{"name": "relaxation",
    "type": "real", "default": 0.2, "doc": "omega"}])");
  for (const auto& [id, words, name] :
       {std::tuple{"JACOBI-PROGRAM", program, "program.hdf5"}, {"SCRIPT", once, "once.hdf5"}}) {
    const auto programmed = solve(id, {"--program", words}, name);
    EXPECT_EQ(plugged["iterations"], programmed["iterations"]);
    EXPECT_EQ(plugged["own_residual"], programmed["own_residual"]);
    EXPECT_EQ(plugged["residuals"], programmed["residuals"]);
  }
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  const auto in_python =
      solve("JACOBI-PYTHON", {"--program", "/usr/bin/python3 " CONEBENCH_EXAMPLES "/jacobi/jacobi.py"}, "python.hdf5");
  EXPECT_EQ(plugged["iterations"], in_python["iterations"]);
  const std::string octave = "octave-cli --quiet --no-init-file " CONEBENCH_EXAMPLES "/jacobi/jacobi.m";
  const bool has_octave = run_program({"octave-cli", "--quiet", "--no-init-file", "--eval", "1;"}).code == 0;
  if (has_octave) {
    EXPECT_EQ(plugged["iterations"], solve("JACOBI-OCTAVE", {"--program", octave}, "octave.hdf5")["iterations"]);
  }
  write("compare.py", R"(import h5py, sys
first, *others = (h5py.File(name)["solution/r"][...] for name in sys.argv[1:])
print(*((first == other).all() + 2 * (abs(first - other).max() <= 1e-12) for other in others), abs(first).max() > 0)
)");
  std::vector<std::string> words = {"/usr/bin/python3", folder / "compare.py"};
  for (const char* name : {"plugin", "program", "once", "python"})
    words.push_back(folder / (std::string(name) + ".hdf5"));
  if (has_octave) words.push_back(folder / "octave.hdf5");
  // 3: equal bits; 2 or 3: equal to 1e-12.
  EXPECT_THAT(run_program(words).out, ::testing::MatchesRegex(has_octave ? "3 3 [23] [23] True\n" : "3 3 [23] True\n"));
}

TEST_F(Programs, AndPluginsAreNamedByTheCommandsThatRepeatACell) {
  fs::create_directory(folder / "my data");
  fs::rename(generate(folder, {"box-stack", "--set", "boxes=2"}), folder / "my data/stack.hdf5");
  fs::copy_file(plugin("jacobi"), folder / "jacobi.so");
  fs::create_directory(folder / "elsewhere");
  for (const auto& [solver, named] : {std::pair<std::string, std::string>{"JACOBI", R"("JACOBI")"},
                                      {"JACOBI-PROGRAM", R"({"program": [")" + program + R"("]})"}}) {
    SCOPED_TRACE(solver);
    const std::string store = folder / (solver + ".sqlite");
    write("mine.json", R"({"name": "mine", "problems": [{"fclib": "*.hdf5"}], "plugins": ["jacobi.so"],
      "solvers": [)" + named +
                           R"(], "tolerances": [1e-12],
      "limits": {"iterations": 3}, "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
    const auto ran =
        conebench({"run", folder / "mine.json", "--allow-code", "--data", folder / "my data", "--db", store});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::string key = "the first again: ";
    const auto list = conebench({"report", store, "--failed"});
    const auto at = list.out.find(key);
    ASSERT_NE(at, std::string::npos) << list.out;
    const std::string command = list.out.substr(at + key.size(), list.out.find('\n', at) - at - key.size());
    EXPECT_THAT(command,
                StartsWith("CONEBENCH_DATA='" + folder / "my data" + "' conebench solve stack.hdf5 --solver "));
    EXPECT_THAT(command, HasSubstr(solver == "JACOBI" ? " --plugin " + folder / "jacobi.so" : " --program " + program));
    const auto again =
        run_program({"sh", "-c", command},
                    {folder / "elsewhere", {"PATH=" + executable().parent_path().string() + ":/usr/bin:/bin"}, {}});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("max_iterations"));
    // The same command in the table and on the page.
    ASSERT_EQ(conebench({"report", store, "--out", folder / solver, "--format", "csv,json"}).code, 0);
    EXPECT_THAT(text_of(folder / solver + "/cells.csv"), HasSubstr("," + command + "\n"));
    const auto json = nlohmann::json::parse(text_of(folder / solver + "/report.json"));
    EXPECT_THAT(command, StartsWith(json["problems"][0]["arguments"].get<std::string>() + " " +
                                    json["solvers"][0]["arguments"].get<std::string>() + " "));
  }
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

TEST_F(Programs, OwnTimesAreKeptTooAndRankOnRequest) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  fs::copy_file(fs::path(CONEBENCH_EXAMPLES) / "jacobi" / "jacobi.py", folder / "jacobi.py");
  write("mine.json", R"({
    "name": "mine", "problems": [{"scene": "sliding-box"}],
    "solvers": [{"program": ["/usr/bin/python3", "jacobi.py"], "grid": {"times": ["wall", "self-reported"]}}],
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto run = conebench({"run", folder / "mine.json", "--allow-code", "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("JACOBI-PYTHON times=self-reported")) << "every table has the configuration's name";
  // Each cell has both clocks; the runner's counts reading the problem, too.
  EXPECT_THAT(query("mine.sqlite",
                    "SELECT label, solved, own_setup_s + own_solve_s BETWEEN 1e-9 AND wall_s, "
                    "total_median_s BETWEEN wall_s AND 1.01 * wall_s, ABS(total_median_s / (own_setup_s + own_solve_s) "
                    "- 1) < 1e-6 "
                    "FROM cells JOIN configurations ON configurations.hash = configuration ORDER BY label"),
              ElementsAre("JACOBI-PYTHON|1|1|1|0", "JACOBI-PYTHON times=self-reported|1|1|0|1"));
  ASSERT_EQ(conebench({"report", folder / "mine.sqlite", "--out", folder / "page"}).code, 0);
  const auto unreported = conebench(
      {"solve", "sliding-box", "--solver", "JACOBI-PROGRAM", "--program", program, "--set", "times=self-reported"});
  EXPECT_THAT(unreported.out, HasSubstr("does not report its own times"));
}

TEST_F(Programs, ThatCannotBeStartedSayWhyInOneLine) {
  expect_failure(conebench({"list", "solvers", "--program", folder / "none"}), 3, {"can't be started"});
  write("plain.py", "print()\n");
  expect_failure(conebench({"list", "solvers", "--program", folder / "plain.py"}), 3, {"name its interpreter"});
  expect_failure(conebench({"list", "solvers", "--program", "true"}), 3, {"wrote no reply"});
  expect_failure(conebench({"list", "solvers", "--program", "false"}), 3, {"exit code 1"});
}

TEST_F(Programs, InPythonSayTheLineThatFailed) {
  write("broken.py", "import sys\ndef f(:\n");
  const auto solve = [&] {
    return conebench(
        {"solve", "sliding-box", "--solver", "X", "--program", "/usr/bin/python3 " + folder / "broken.py"});
  };
  expect_failure(solve(), 3, {"File \"" + folder / "broken.py" + "\", line 2", "SyntaxError"});
  write("broken.py", "import json\ndef describe(text):\n    return json.loads(text)\n\ndescribe('no')\n");
  expect_failure(solve(), 3, {"File \"" + folder / "broken.py" + "\", line 3, in describe", "JSONDecodeError"});
}

TEST_F(Programs, ThatNeverEndAreEndedWithAllThatTheyStarted) {
  SolverProgram waiting;
  waiting.scratch = fs::path(folder / "scratch").parent_path();
  const std::string child = folder / "child";
  waiting.command = {"/bin/sh", "-c", "sleep 1000 & echo $! > '" + child + "'; echo it waits; wait"};
  const RequestFolder request(waiting.scratch);
  const auto reply = run_once(waiting, {{"request", "describe"}}, request, {.wall_s = 1.0});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, AllOf(HasSubstr("did not end within 1 s"), HasSubstr("it waits")));
  pid_t started = 0;
  std::ifstream(child) >> started;
  ASSERT_GT(started, 0);
  EXPECT_TRUE(comes_to(started, "ZX")) << "a zombie, where nobody has waited for it yet";
}

TEST_F(Programs, ThatGoWrongEndAsABuiltInSolverWould) {
  for (const auto& [id, name] : {std::pair{"BAD-PROGRAM", "bad_program"}, {"BAD-SERVER", "bad_server"}}) {
    SCOPED_TRACE(name);
    write("bad.json", R"({
      "name": "bad", "problems": [{"scene": "sliding-box"}],
      "solvers": [{"id": ")" +
                          std::string(id) + R"(", "grid": {"mode":
        ["crash", "exit", "hang", "leak", "print", "silent", "late", "nonsense", "other", "lie", "nan", "long", "write",
         "dots", "diverge", "count", "lease", "pipe"]}}],
      "limits": {"iterations": 100, "seconds": 1.5, "memory_mb": 300},
      "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
    const std::string store = std::string(name) + ".sqlite";
    const auto run = conebench({"run", folder / "bad.json", "--program",
                                (fs::path(CONEBENCH_PLUGIN_FOLDER) / name).string(), "--db", folder / store, "--json"});
    EXPECT_EQ(run.code, 4) << run.err;
    EXPECT_TRUE(run.json().is_object()) << run.out;
    auto found = cells(store);
    const auto cell = [&](const std::string& mode) { return found[id + (" mode=" + mode)]; };
    EXPECT_THAT(cell("crash"), AllOf(StartsWith("crashed|0|"), HasSubstr("signal 11"), HasSubstr("last words")));
    EXPECT_THAT(cell("exit"), AllOf(StartsWith("crashed|0|"), HasSubstr("exit code 3")));
    EXPECT_THAT(cell("hang"), StartsWith("timeout|0|"));
    EXPECT_THAT(cell("leak"), StartsWith("out_of_memory|0|"));
    if (id == std::string("BAD-SERVER")) {
      EXPECT_THAT(cell("print"), AllOf(StartsWith("crashed|0|"), HasSubstr(R"(printed "{"number": 0, "a line": 0}")")));
      EXPECT_THAT(cell("dots"), AllOf(StartsWith("crashed|0|"), HasSubstr(R"(printed "..{"number")")));
      EXPECT_THAT(cell("lease"), AllOf(StartsWith("crashed|0|"), HasSubstr("answer.npy: can't be read")));
    } else {
      for (const char* mode : {"print", "dots", "lease"}) {
        EXPECT_THAT(cell(mode), AnyOf(StartsWith("converged|0|"), StartsWith("stalled|0|")))
            << "its reply has a file, and its lease goes with it";
      }
    }
    EXPECT_THAT(cell("diverge"), AllOf(StartsWith("diverged|0|"), HasSubstr("its own residual is -inf")));
    EXPECT_THAT(cell("count"), StartsWith("stalled|0|"));
    EXPECT_EQ(query(store, "SELECT MAX(iterations) FROM cells"), std::vector<std::string>{"1"});
    EXPECT_THAT(cell("pipe"), AllOf(StartsWith("crashed|0|"), HasSubstr("answer.npy: is a device, a pipe")));
    EXPECT_THAT(cell("silent"), AllOf(StartsWith("crashed|0|"), HasSubstr("wrote neither answer.npy nor answer.hdf5")));
    EXPECT_THAT(cell("late"), AllOf(StartsWith("crashed|0|"), HasSubstr("says that it took 0 s + 1000 s")));
    EXPECT_THAT(cell("long"), AllOf(StartsWith("crashed|0|"), HasSubstr("more than 64 KB")));
    EXPECT_THAT(cell("write"), AllOf(StartsWith("crashed|0|"), HasSubstr("has written to its problem's file")));
    EXPECT_THAT(cell("nonsense"), AllOf(StartsWith("crashed|0|"), HasSubstr("replied with the status")));
    EXPECT_THAT(cell("other"), AllOf(StartsWith("crashed|0|"), HasSubstr("happy")));
    EXPECT_THAT(found[id], AnyOf(StartsWith("converged|0|"), StartsWith("stalled|0|"))) << "the default mode: it lies";
    EXPECT_THAT(cell("nan"), AllOf(HasSubstr("|0|"), Not(HasSubstr("crashed"))));
  }
}

TEST_F(Programs, GetTheTimeAndTheMemoryThatTheyMayUse) {
  const std::string once = script("once", R"(value() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/" "$2"; }
echo "{\"status\": \"stalled\", \"message\": \"$(value time_limit_s "$1") s, $(value memory_limit_mb "$1") MB\"}" > "$reply"
)"
                                          "cp '" +
                                              zeros() + "' \"$answer.npy\"\n");
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}], "solvers": ["SCRIPT"],
    "tolerances": [1e-6], "limits": {"seconds": 2.5, "memory_mb": 700}})");
  const auto run = conebench({"run", folder / "mine.json", "--program", once, "--db", folder / "mine.sqlite"});
  // The time that it gets and its set-up add up to the limit.
  EXPECT_EQ(query("mine.sqlite",
                  "SELECT CAST(reason AS REAL) < 2.5, ABS(CAST(reason AS REAL) + setup_median_s - 2.5) < 1e-9, "
                  "reason LIKE '% s, 700 MB', reason FROM cells")
                .at(0)
                .substr(0, 6),
            "1|1|1|")
      << run.err;
  // Those that serve end by themselves where their method would go on for days.
  std::vector<std::pair<std::string, std::string>> serving = {{"JACOBI-PROGRAM", program}};
  if (python_has("h5py, numpy")) {
    serving.emplace_back("JACOBI-PYTHON", "/usr/bin/python3 " CONEBENCH_EXAMPLES "/jacobi/jacobi.py");
  }
  for (const auto& [id, words] : serving) {
    const auto late = conebench({"solve", "box-stack", "--solver", id, "--program", words, "--stop-by", "solver",
                                 "--tolerance", "1e-300", "--max-iterations", "1000000000", "--set", "relaxation=1e-9",
                                 "--time-limit", "0.4", "--json"});
    EXPECT_EQ(late.json()["status"], "time_limit") << id << late.err;
    EXPECT_GT(late.json()["iterations"], 0) << id;
    EXPECT_EQ(late.json()["reason"], "") << id << ": it noticed by itself";
  }
}

TEST_F(Programs, ThatServeAreStartedOnceForAllCells) {
  write("counted", "#!/bin/sh\necho \"$$\" >> " + (folder / "starts") + "\nexec " + program + " \"$@\"\n");
  fs::permissions(folder / "counted", fs::perms::owner_all);
  write("mine.json", R"({
    "name": "mine", "problems": [{"scene": "sliding-box"}, {"scene": "box-stack", "options": {"boxes": 1}}],
    "solvers": [{"program": ["counted"], "grid": {"relaxation": [0.3, 0.6]}}], "tolerances": [1e-4, 1e-6],
    "repeats": {"min": 2, "min_ms": 0, "max": 2}})");
  const auto run = conebench({"run", folder / "mine.json", "--allow-code", "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(query("mine.sqlite", "SELECT COUNT(*), SUM(solved), MIN(repeats) FROM cells"),
            std::vector<std::string>{"8|8|2"});
  std::ifstream starts(folder / "starts");
  std::vector<pid_t> all;
  for (pid_t process = 0; starts >> process;) all.push_back(process);
  ASSERT_GE(all.size(), 2U + 8U) << "for its description, to serve, and to confirm the time of each cell";
  EXPECT_LE(all.size(), 2U + 20U * 8U);
  EXPECT_TRUE(comes_to(all.back(), "X")) << "it ends with the run";
}

TEST_F(Programs, ThatKeepAnswersAreTimedByWhatTheyHaveNotSeen) {
  const std::string problem = generate(folder, {"sliding-box"});
  ASSERT_EQ(conebench({"solve", problem, "--solver", "NSGS", "--tolerance", "1e-10", "--write-solution",
                       folder / "answer.hdf5"})
                .code,
            0);
  fs::copy_file(fs::path(CONEBENCH_PLUGIN_FOLDER) / "bad_server", folder / "bad_server");
  write("mine.json", R"({
    "name": "mine", "problems": [{"scene": "sliding-box"}],
    "solvers": [{"program": ["bad_server", "answer.hdf5"], "grid": {"mode": ["warm", "keep"]}}],
    "tolerances": [1e-4, 1e-6], "repeats": {"min": 5, "min_ms": 0, "max": 5, "rounds": 2}})");
  const auto run = conebench({"run", folder / "mine.json", "--allow-code", "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err << run.out;
  const auto found = query("mine.sqlite",
                           "SELECT label, tolerance, solved, label LIKE '%warm' OR total_minimum_s >= 0.03 "
                           "FROM cells JOIN configurations ON configurations.hash = configuration ORDER BY 1, 2");
  // Both worked for 0.03 s at their first request, and one of them for each problem that it had not seen.
  EXPECT_THAT(found, ElementsAre("BAD-SERVER mode=keep|1.0e-06|1|1", "BAD-SERVER mode=keep|0.0001|1|1",
                                 "BAD-SERVER mode=warm|1.0e-06|1|1", "BAD-SERVER mode=warm|0.0001|1|1"));
  const auto doubted =
      query("mine.sqlite",
            "SELECT DISTINCT label FROM cells JOIN configurations ON configurations.hash = configuration "
            "WHERE doubts LIKE '%\"kept_answers\"%'");
  EXPECT_THAT(doubted, ElementsAre("BAD-SERVER mode=keep"));
}

TEST_F(Programs, ThatRunOnceAndLeaveTheirAnswerToADaemonHaveTheTimeOfAnHonestRun) {
  ASSERT_EQ(conebench({"solve", generate(folder, {"sliding-box"}), "--solver", "NSGS", "--tolerance", "1e-10",
                       "--write-solution", folder / "answer.hdf5"})
                .code,
            0);
  // It works for a while where no daemon is there to ask.
  const std::string daemon = folder / "daemon", all = folder / "daemons";
  const std::string keeps = script(
      "keeps", "if ! { [ -s '" + daemon + "' ] && kill -0 \"$(cat '" + daemon + "')\" 2>/dev/null; }; then\n" +
                   "sleep 0.1\nrm -f '" + daemon + "'\nsetsid sh -c 'echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; " +
                   "exec sleep 1000' '" + daemon + "' > /dev/null 2>&1 &\nwhile [ ! -s '" + daemon +
                   "' ]; do :; done\ncat '" + daemon + "' >> '" + all + "'\nfi\ncp '" + (folder / "answer.hdf5") +
                   "' \"$answer.hdf5\"\necho '{\"status\": \"converged\", \"iterations\": 1}' > \"$reply\"\n");
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}], "solvers": ["SCRIPT"],
    "tolerances": [1e-4], "repeats": {"min": 3, "min_ms": 0, "max": 3}})");
  const auto run = conebench({"run", folder / "mine.json", "--program", keeps, "--db", folder / "mine.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(query("mine.sqlite", "SELECT solved, total_minimum_s >= 0.1, repeats, doubts FROM cells"),
            std::vector<std::string>{"1|1|3|[]"});
  std::ifstream daemons(all);
  int count = 0;
  for (pid_t process = 0; daemons >> process; ++count) EXPECT_TRUE(comes_to(process, "X")) << process;
  EXPECT_GE(count, 3 + 1) << "each run, and the one that confirms the time, is the first";
}

TEST_F(Programs, ThatServeRunOnTheProcessorsOfTheirCellWithAllThatTheyStarted) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}],
    "solvers": [{"id": "BAD-SERVER", "options": {"mode": "where"}}], "tolerances": [1e-4, 1e-6]})");
  const auto run = conebench({"run", folder / "mine.json", "--db", folder / "mine.sqlite", "--program",
                              (fs::path(CONEBENCH_PLUGIN_FOLDER) / "bad_server").string() + " child"});
  EXPECT_EQ(query("mine.sqlite", "SELECT DISTINCT reason FROM cells"), std::vector<std::string>{"1 and 1"}) << run.err;
}

TEST_F(Programs, ThatChangeMeanwhileAreNotTakenForWhatTheyWere) {
  const std::string changing = script("changing",
                                      "echo '#' >> \"$0\"\necho '{\"status\": \"stalled\"}' > \"$reply\"\n"
                                      "cp '" +
                                          zeros() + "' \"$answer.npy\"\n");
  write("mine.json", R"({"name": "mine", "problems": [{"scene": "sliding-box"}], "solvers": ["SCRIPT"],
    "tolerances": [1e-4, 1e-6]})");
  const auto run = conebench({"run", folder / "mine.json", "--program", changing, "--db", folder / "mine.sqlite"});
  EXPECT_EQ(run.code, 4) << run.err;
  const auto found = query("mine.sqlite", "SELECT status || ' ' || reason FROM cells ORDER BY status");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0], AllOf(StartsWith("crashed"), HasSubstr("has changed meanwhile; run again")));
  EXPECT_THAT(found[1], StartsWith("stalled"));
}

}  // namespace
}  // namespace conebench::testing
