#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path scripts = fs::path(CONEBENCH_SOURCE_DIR) / "scripts";

/// Programs that install, build or fetch, replaced by ones that leave a trace.
class Scripts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"apt-get", "sudo", "dpkg-query", "npm", "cmake", "ctest", "conebench", "mktemp"}) {
      const std::string file = folder / name;
      std::ofstream(file) << "#!/bin/sh\necho \"$0 $*\" >>\"" << (folder / "called") << "\"\n";
      fs::permissions(file, fs::perms::owner_all);
    }
    options.folder = folder.path();
    const char* const path = std::getenv("PATH");
    options.environment = {"PATH=" + folder.path().string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path)};
  }

  bool anything_called() const { return fs::exists(folder / "called"); }

  const ScratchFolder folder;
  RunOptions options;
};

TEST_F(Scripts, HelpSaysHowEachIsCalledAndDoesNothing) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const bool has_python = fs::exists("/usr/bin/python3");
  long looked_at = 0;
  for (const auto& entry : fs::directory_iterator(scripts)) {
    const std::string name = entry.path().filename().string();
    const bool runs = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    if (!entry.is_regular_file() || !runs) continue;
    std::vector<std::string> words = {entry.path().string(), "--help"};
    if (entry.path().extension() == ".py") {
      if (!has_python) continue;
      // -S: without the modules of other packages, which --help must not need.
      words.insert(words.begin(), {"/usr/bin/python3", "-S"});
    }
    const Outcome help = run_program(words, options);
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_EQ(help.err, "") << name;
    std::string first = help.out.substr(0, help.out.find('\n'));
    std::transform(first.begin(), first.end(), first.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_THAT(first, ::testing::StartsWith("usage: ")) << name;
    EXPECT_THAT(first, HasSubstr(name));
    EXPECT_GT(std::count(help.out.begin(), help.out.end(), '\n'), 1) << name << " says nothing of what it does";
    ++looked_at;
  }
  EXPECT_GT(looked_at, has_python ? 10 : 5);
  EXPECT_FALSE(anything_called());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 8) << "a file was written";
}

TEST_F(Scripts, ASlipOfThePenBuildsNothing) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const Outcome outcome = run_program({(scripts / "build.sh").string(), "--test"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "scripts/build.sh: unknown argument '--test'; see scripts/build.sh --help\n");
  EXPECT_FALSE(anything_called());
}

TEST(ScenesTable, KeepsTolerancesApartAndCellsWithoutATime) {
  if (!python_has("sqlite3")) GTEST_SKIP() << "no Python";
  const ScratchFolder folder;
  std::ofstream(folder / "stacks.json") << R"({
    "name": "stacks", "problems": [{"scene": "box-stack", "grid": {"boxes": [2, 3]}}], "solvers": ["CASCADE"],
    "tolerances": [1e-4, 1e-8], "limits": {"iterations": 2000, "seconds": 60, "memory_mb": 2000},
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})";
  const std::string store = folder / "stacks.sqlite";
  ASSERT_EQ(conebench({"run", folder / "stacks.json", "--db", store}).code, 0);
  const auto table = [&] { return run_program({"/usr/bin/python3", scripts / "scenes_table.py", store}); };
  const Outcome solved = table();
  EXPECT_EQ(solved.code, 0) << solved.err;
  for (const char* tolerance : {"at 0.0001:", "at 1e-08:"}) EXPECT_THAT(solved.out, HasSubstr(tolerance));
  EXPECT_THAT(solved.out, HasSubstr("| 8–12 | 0 | 2 | 2 | "));
  EXPECT_THAT(solved.out, HasSubstr("2 of 2 solved"));
  EXPECT_THAT(solved.out, Not(HasSubstr("missed")));

  const Outcome changed = python(
      "import sqlite3, sys\n"
      "with sqlite3.connect(sys.argv[1]) as store:\n"
      "    store.execute(\"UPDATE cells SET status = 'crashed', solved = 0, total_median_s = NULL, verdict_value = "
      "NULL "
      "WHERE tolerance = 1e-8\")",
      {store});
  ASSERT_EQ(changed.code, 0) << changed.err;
  const Outcome crashed = table();
  EXPECT_EQ(crashed.code, 0) << crashed.err;
  EXPECT_THAT(crashed.out, HasSubstr("2 of 2 solved"));
  EXPECT_THAT(crashed.out, HasSubstr("| 8–12 | 0 | 2 | 0 | – | – | – |\n0 of 2 solved\n"));
  EXPECT_THAT(crashed.out, HasSubstr("crashed, no residual, "));
}

/// A store of CASCADE and NSGS on a box, two boxes and a contact with a limit, with these times in µs.
struct Times {
  double box, boxes, limit;
};

std::string store_with_times(const ScratchFolder& folder, const std::string& criterion, Times cascade, Times nsgs) {
  std::ofstream(folder / (criterion + ".json")) << R"({"name": "small", "problems": [
    {"scene": "box-stack", "grid": {"boxes": [1, 2]}},
    {"scene": "known-solution", "options": {"contacts": 1, "limits": 1}}],
    "solvers": ["CASCADE", "NSGS"], "tolerances": [1e-4], "criterion": ")"
                                                << criterion << R"(", "repeats": {"min": 1, "min_ms": 0, "max": 1}})";
  const std::string store = folder / (criterion + ".sqlite");
  EXPECT_EQ(conebench({"run", folder / (criterion + ".json"), "--db", store}).code, 0);
  const auto set = [&](const std::string& solver, const std::string& problem, double microseconds) {
    const Outcome changed = python(
        "import sqlite3, sys\n"
        "with sqlite3.connect(sys.argv[1]) as store:\n"
        "    assert 1 == store.execute('UPDATE cells SET solved = ? > 0, total_minimum_s = ? WHERE setting IN (SELECT "
        "hash "
        "FROM settings WHERE label = ?) AND problem IN (SELECT hash FROM problems WHERE name LIKE ?)', "
        "(float(sys.argv[4]), 1e-6 * float(sys.argv[4]), sys.argv[2], sys.argv[3])).rowcount\n",
        {store, solver, problem, std::to_string(microseconds)});
    EXPECT_EQ(changed.code, 0) << changed.err;
  };
  for (const auto& [solver, times] : {std::pair("CASCADE", cascade), std::pair("NSGS", nsgs)}) {
    set(solver, "box-stack_boxes=1%", times.box);
    set(solver, "box-stack_boxes=2%", times.boxes);
    set(solver, "known-solution%", times.limit);
  }
  return store;
}

TEST(BesideFastest, ComparesWithTheFastestOtherOnEachProblem) {
  if (!python_has("sqlite3")) GTEST_SKIP() << "no Python";
  const ScratchFolder folder;
  const std::string store = store_with_times(folder, "verdict", {2.0, 2.8, 1.1}, {4.0, 2.0, 1.0});
  const auto table = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/python3", scripts / "beside_fastest.py"});
    return run_program(words);
  };
  const Outcome all = table({store});
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* part : {"| 1e-4 | all 3 | 0.92 | 0.33 | 0.33 | 0.67 | 1.00 | 1.00 | 1.4 |\n",
                           "| 1e-4 | without joints and limits, 2 | 0.84 | 0.50 | 0.50 | 0.50 | 1.00 | 1.00 | 1.4 |\n",
                           "| 1e-4 | with joints or limits, 1 | 1.10 | 0.00 | 0.00 | 1.00 | 1.00 | 1.00 | 1.1 |\n",
                           "the fastest other is NSGS 3\n", "(8 contacts): 1.40 times, 2.8 µs; NSGS 2.0 µs\n"}) {
    EXPECT_THAT(all.out, HasSubstr(part));
  }
  EXPECT_THAT(table({store, "--solver", "NSGS"}).out, HasSubstr("| 1e-4 | all 3 | 1.09 | 0.67 | "));
  EXPECT_THAT(table({store, "--below", "8"}).out, HasSubstr("| 1e-4 | all 2 | 0.74 | 0.50 | 0.50 | 1.00 | "));
  EXPECT_THAT(table({store, "--by", "family"}).out, HasSubstr("| 1e-4 | box-stack, 2 | 0.84 | 0.50 | "));

  const Outcome unknown = table({store, "--solver", "PPA"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.err, "no cell of PPA in these bounds\n");
  const Outcome mixed = table({store, store_with_times(folder, "own", {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0})});
  EXPECT_EQ(mixed.code, 1);
  EXPECT_THAT(mixed.err, ::testing::StartsWith("several criteria, verdicts or starts: own, "));
}

TEST(BesideFastest, CountsWhatOnlyOneOfThemSolves) {
  if (!python_has("sqlite3")) GTEST_SKIP() << "no Python";
  const ScratchFolder folder;
  const std::string store = store_with_times(folder, "verdict", {2.0, 0.0, 1.1}, {4.0, 2.0, 0.0});
  const Outcome table = run_program({"/usr/bin/python3", scripts / "beside_fastest.py", store});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("| 1e-4 | all 3 | 0.50 | 0.50 | 0.50 | 0.50 | 0.50 | 0.50 | – |\n"));
  EXPECT_THAT(table.out, HasSubstr("1e-4: 1 left out that no other solves\n"));
  EXPECT_THAT(table.out, HasSubstr("(8 contacts): not solved; NSGS 2.0 µs\n"));
}

}  // namespace
}  // namespace conebench::testing
