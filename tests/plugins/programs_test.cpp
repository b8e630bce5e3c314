#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "runners/programs/ask_served.hpp"
#include "runners/programs/keeper.hpp"
#include "runners/programs/reply.hpp"
#include "runners/programs/run_once.hpp"
#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

std::string built(const std::string& name) { return (fs::path(CONEBENCH_PLUGIN_FOLDER) / name).string(); }

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
    program.words = {"/bin/sh", folder / "program.sh"};
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
  ASSERT_FALSE(start_keeper(program.scratch));
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
  SolverProgram program = shell("(while :; do :; done) &\n/bin/sh -c 'sleep 1000 & wait' &\n(sleep 1000 & echo $! > '" +
                                (folder / "orphan") + "')\n" + echo_numbers);
  ASSERT_FALSE(start_keeper(program.scratch));
  pid_t process = -1;
  std::vector<pid_t> family;
  {
    auto kept = KeptProgram::lease(program.scratch, program.words);
    ASSERT_TRUE(kept) << kept.error().message;
    process = kept->process();
    kept->begins();
    // It has started them where it replies.
    ASSERT_EQ(::write(kept->talk(), "{\"number\":1}\n", 13), 13);
    char reply[64];
    ASSERT_GT(::read(kept->talk(), reply, sizeof reply), 0);
    pid_t orphan = 0;
    std::ifstream(folder / "orphan") >> orphan;
    ASSERT_GT(orphan, 0);
    kept->is_done();
    family = with_descendants({process});
    EXPECT_GE(family.size(), 4U);
    for (const pid_t one : family) EXPECT_TRUE(comes_to(one, "T")) << one << " is " << state_of(one);
    EXPECT_TRUE(comes_to(orphan, "X")) << state_of(orphan);
    kept->begins();
    for (const pid_t one : family) EXPECT_TRUE(comes_to(one, "RSD")) << one << " is " << state_of(one);
    kept->is_done();
  }
  // Stopped, it is lent again; busy, it ends with whoever has it.
  {
    auto again = KeptProgram::lease(program.scratch, program.words);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->process(), process);
    EXPECT_FALSE(again->fresh());
    again->begins();
  }
  for (const pid_t one : family) EXPECT_TRUE(comes_to(one, "XZ")) << one << " is " << state_of(one);
}

TEST_F(ProgramExchange, WhoChangesTheProblemAndSetsItsTimeBackSpoilsNoOtherCell) {
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
              "SELECT solver, COUNT(*), SUM(solved), MIN(status), MAX(status) FROM cells JOIN settings ON "
              "settings.hash = setting GROUP BY 1 ORDER BY 1"),
        (std::vector<std::string>{std::string(id) + "|2|0|crashed|crashed", "JACOBI-PROGRAM|4|4|converged|converged"}));
    EXPECT_THAT(query(store, "SELECT reason FROM cells WHERE status = 'crashed'"),
                Each(HasSubstr(std::string(id) + " has written to its problem's file")));
  }
}

}  // namespace
}  // namespace conebench::testing
