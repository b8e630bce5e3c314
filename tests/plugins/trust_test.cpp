#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/cli/run_command_fixture.hpp"

/// The promises of docs/trust.md about foreign code, each against a plug-in that does its worst, through `run` and
/// `report`. The plug-in works for some 20 ms where it works, and else for microseconds, so that nothing here depends
/// on how busy the machine is.
namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string attacker = (fs::path(CONEBENCH_PLUGIN_FOLDER) / "attack.so").string();

struct Cell {
  std::string status, reason, doubts;
  bool solved = false;
  double median_s = 0.0;
  bool has_answer = false;
};

class Trust : public RunCommand {
 protected:
  static std::string suite(const std::string& attacks) {
    return R"({"name": "attacks", "problems": [{"scene": "box-stack", "options": {"boxes": 2}}],
      "solvers": ["NSGS", {"id": "ATTACK", "grid": {"attack": [)" +
           attacks + R"(]}}], "tolerances": [1e-6],
      "limits": {"iterations": 20000, "seconds": 3, "memory_mb": 1000},
      "repeats": {"min": 5, "min_ms": 0, "max": 5}})";
  }

  /// By attack; honest solvers by their label.
  std::map<std::string, Cell> cells(const std::string& store) {
    std::map<std::string, Cell> found;
    for (const std::string& row :
         query(store,
               "SELECT CASE label WHEN 'ATTACK' THEN 'ATTACK attack=none' ELSE label END, status, solved, "
               "total_median_s, reactions.data IS NOT NULL, doubts, reason FROM cells "
               "JOIN configurations ON configurations.hash = configuration LEFT JOIN reactions ON cell = cells.id")) {
      std::vector<std::string> part(1);
      for (const char c : row) {
        if (c == '|' && part.size() < 7) {
          part.emplace_back();
        } else {
          part.back() += c;
        }
      }
      const auto at = part[0].find("attack=");
      const std::string name =
          at == std::string::npos ? part[0] : part[0].substr(at + 7, part[0].find(' ', at) - at - 7);
      found[name] = {part[1], part[6], part[5], part[2] == "1", std::stod(part[3]), part[4] == "1"};
    }
    return found;
  }
};

TEST_F(Trust, NoAttackIsSolvedWithoutAnAnswerOrRanksByATimeThatItDidNotTake) {
  write("attacks.json", suite(R"("none", "frame-without-answer", "frame-with-answer", "supports", "keep-by-g",
    "keep-by-shape", "keep-and-refuse", "keep-and-sleep", "keep-file", "clock", "slow-threefold", "split-times")"));
  const auto run = conebench({"run", folder / "attacks.json", "--plugin", attacker, "--db", folder / "attacks.sqlite"},
                             {.environment = {"ATTACK_FOLDER=" + folder.path().string()}});
  ASSERT_TRUE(run.code == 0 || run.code == 4) << run.err;
  auto found = cells("attacks.sqlite");
  ASSERT_EQ(found.size(), 13U);
  for (const auto& [name, cell] : found) {
    SCOPED_TRACE(name + ": " + cell.status + ", " + cell.doubts + ", " + std::to_string(cell.median_s) + " s, " +
                 cell.reason);
    EXPECT_TRUE(cell.has_answer || !cell.solved);
    if (name == "NSGS" || name == "none") {
      EXPECT_TRUE(cell.solved);
      EXPECT_EQ(cell.doubts, "[]") << "honest";
    } else {
      EXPECT_TRUE(!cell.solved || cell.median_s > 1e-3 || cell.doubts != "[]");
    }
  }
  EXPECT_FALSE(found["frame-without-answer"].solved);
  EXPECT_THAT(found["frame-with-answer"].doubts, HasSubstr("\"clock\""));
  EXPECT_FALSE(found["split-times"].solved) << "a median below the minimum";
  for (const char* name : {"clock", "slow-threefold"}) {
    EXPECT_THAT(found[name].doubts, HasSubstr("\"clock\"")) << name;
  }
  for (const char* name : {"keep-by-g", "keep-by-shape", "keep-and-refuse"}) {
    // Other processes on the core may make the fresh run look as if its clock was wrong.
    EXPECT_THAT(found[name].doubts, AnyOf(HasSubstr("\"kept_answers\""), HasSubstr("\"clock\""))) << name;
  }
  for (const char* name :
       {"frame-with-answer", "supports", "keep-by-g", "keep-by-shape", "keep-and-refuse", "clock", "slow-threefold"}) {
    EXPECT_TRUE(found[name].solved) << name;
    EXPECT_GT(found[name].median_s, 1e-3) << name << ": the time of a fresh process";
  }
  EXPECT_TRUE(!found["keep-and-sleep"].solved || found["keep-and-sleep"].doubts != "[]");
  // It is not guarded against, but the first night shows it.
  EXPECT_THAT(found["keep-file"].doubts, HasSubstr("\"slow_first\""));

  // Every output has the doubts; the page's data are those of report.json, packed.
  ASSERT_EQ(
      conebench({"report", folder / "attacks.sqlite", "--out", folder / "report", "--format", "csv,json,md,html,latex"})
          .code,
      0);
  for (const auto& [file, mark] : std::map<std::string, std::string>{
           {"cells.csv", "kept_answers"}, {"report.json", "kept_answers"}, {"report.md", "Doubtful times"}}) {
    EXPECT_NE(text_of(folder / ("report/" + file)).find(mark), std::string::npos) << file;
  }
  for (const char* const name : {"ranking", "performance_profiles", "data_profiles", "pairs", "pair_profiles"}) {
    EXPECT_THAT(text_of(folder / ("report/" + std::string(name) + ".csv")), HasSubstr("kept_answers=1")) << name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "report/latex")) {
    if (!entry.path().filename().string().starts_with("ranking-")) continue;
    EXPECT_THAT(text_of(entry.path()), HasSubstr("$^{?}$ doubtful times: "));
  }
}

TEST_F(Trust, WhoSaysThatItIsSeenInEveryIterationAndTestsItselfIsDoubtedWhereLooksAreFree) {
  const auto doubts = [&](const std::string& stop_by) {
    std::string text = suite(R"("none", "own-tests")");
    text.insert(text.rfind('}'), R"(, "stop_by": ")" + stop_by + "\"");
    write("attacks.json", text);
    const std::string store = stop_by + ".sqlite";
    const auto run = conebench({"run", folder / "attacks.json", "--plugin", attacker, "--db", folder / store});
    EXPECT_EQ(run.code, 0) << run.err;
    auto found = cells(store);
    EXPECT_TRUE(found["own-tests"].solved) << found["own-tests"].status << " " << found["own-tests"].reason;
    EXPECT_THAT(found["none"].doubts, Not(HasSubstr("own_tests")));
    return found["own-tests"].doubts;
  };
  EXPECT_THAT(doubts("verdict"), HasSubstr("\"own_tests\""));
  EXPECT_THAT(doubts("judge_timed"), Not(HasSubstr("own_tests")));
}

TEST_F(Trust, AnIndependentJudgeAgreesOnEveryStoredAnswer) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    for (const char* dimension : {"2", "3", "5"}) {
      for (const auto& [scene, joints] : {std::pair{"known-solution", "joints=2"}, {"random", "joints=0"}}) {
        const auto made =
            conebench({"generate", scene, "--out", folder / "problems", "--set", "form=" + std::string(form), "--set",
                       "dimension=" + std::string(dimension), "--set", "contacts=3", "--set", joints});
        ASSERT_EQ(made.code, 0) << made.err;
      }
    }
  }
  write("judged.json", R"({"name": "judged", "problems": [{"fclib": "*.hdf5"}], "tolerances": [1e-4, 1e-10],
    "solvers": ["NSGS", "PGS-CCP", "CASCADE"], "limits": {"iterations": 300, "seconds": 20},
    "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto run =
      conebench({"run", folder / "judged.json", "--data", folder / "problems", "--db", folder / "judged.sqlite"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<std::string> words = {"/usr/bin/python3", CONEBENCH_JUDGE_STORE, folder / "judged.sqlite", "--data",
                                          folder / "problems"};
  const auto judged = run_program(words);
  EXPECT_EQ(judged.code, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("; 0 wrong; 0 answers to problems that are no files"));
  query("judged.sqlite",
        "UPDATE residuals SET value = value * (1 + 1e-9) WHERE value > 1e-9 AND name = 'natural_map_scaled'");
  EXPECT_EQ(run_program(words).code, 1);
}

TEST_F(Trust, APluginCannotWriteIntoTheMemoryOfTheJudgeUnlessItIsRoot) {
  write("attacks.json", suite(R"("parent-memory")"));
  std::vector<std::string> words = {executable(), "run",  folder / "attacks.json",  "--plugin",
                                    attacker,     "--db", folder / "attacks.sqlite"};
  if (geteuid() == 0) {
    fs::permissions(folder.path(), fs::perms::all);
    words.insert(words.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    if (run_program({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", executable(), "list", "metrics"})
            .code != 0) {
      GTEST_SKIP() << "root, and no other user can run the executable";
    }
  }
  const auto run = run_program(words);
  ASSERT_EQ(run.code, 0) << run.err;
  auto found = cells("attacks.sqlite");
  EXPECT_TRUE(found["NSGS"].solved);
  EXPECT_FALSE(found["parent-memory"].solved) << "zeros in place of g, and zeros as the answer";
}

}  // namespace
}  // namespace conebench::testing
