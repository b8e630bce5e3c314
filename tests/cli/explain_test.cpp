#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "fclib_loader/fclib_file.hpp"
#include "tests/cli/conebench_process.hpp"
#include "tests/cli/test_solvers.hpp"
#include "tests/metrics/problem_builders.hpp"

namespace conebench::testing {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// One contact with this G (1/kg) and g (m/s) as a file.
std::string contact_file(const ScratchFolder& folder, const Matrix& delassus, const Vector& free_term) {
  const std::string file = folder / "contact.hdf5";
  EXPECT_TRUE(write_fclib(problem_of({.friction = {0.5}}, delassus, free_term), file));
  return file;
}

json facts(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  std::vector<std::string> words = {"explain"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.emplace_back("--json");
  const Outcome outcome = conebench(words, options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.json();
}

std::string text(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  std::vector<std::string> words = {"explain"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome outcome = conebench(words, options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

std::vector<std::string> findings(const json& found) { return found["findings"]; }

TEST(Explain, OfASolvedProblemSaysSoAndWhoElseSolvesIt) {
  const json found = facts({"box-stack boxes=2", "--solver", "NSGS", "--solvers", "CASCADE"});
  EXPECT_THAT(findings(found), Contains("solved"));
  EXPECT_THAT(findings(found), Contains("redundant")) << "four contacts a box are more than it needs";
  EXPECT_EQ(found["course"]["trend"], "reached");
  // The judge has more digits.
  EXPECT_NEAR(found["course"]["last"].get<double>() / found["ended"]["verdict_value"].get<double>(), 1.0, 1e-6);
  EXPECT_LT(found["facts"]["rank"], found["facts"]["rows"]);
  ASSERT_EQ(found["solvers"].size(), 1U);
  EXPECT_EQ(found["solvers"][0]["solver"], "CASCADE");
  EXPECT_EQ(found["solvers"][0]["solved"], true);
  EXPECT_EQ(found["solvers"][0]["by_conebench_authors"], true);
  EXPECT_GT(found["solvers"][0]["total_s"], 0.0);
}

TEST(Explain, AMassRatioIsASlowFallWithItsSpreadAndItsEnd) {
  const std::string stack = "box-stack boxes=2 mass_ratio=30";
  const std::vector<std::string> slow = {stack,       "--solver", "PGS-NCP",          "--tolerance", "1e-8",
                                         "--solvers", "CASCADE",  "--max-iterations", "3000"};
  const json found = facts(slow);
  EXPECT_THAT(findings(found), Contains("iterations_up"));
  EXPECT_THAT(findings(found), Contains("falls")) << found["course"].dump();
  EXPECT_THAT(findings(found), Not(Contains("solved")));
  EXPECT_DOUBLE_EQ(found["facts"]["mass"]["ratio"].get<double>(), 30.0);
  EXPECT_EQ(found["facts"]["mass"]["largest"], 1);
  EXPECT_GT(found["facts"]["conditioning"], 1000.0);
  EXPECT_EQ(found["course"]["worst"][0]["bodies"][0], 0) << "the lower, light one";
  // What it predicts comes true, to a factor of two.
  const double more = found["course"]["iterations_to_tolerance"];
  const json solved =
      conebench({"solve", stack, "--solver", "PGS-NCP", "--tolerance", "1e-8", "--max-iterations", "100000", "--json"})
          .json();
  ASSERT_EQ(solved["solved"], true);
  const double took = solved["iterations"].get<double>() - 3000.0;
  EXPECT_GT(more, 0.5 * took);
  EXPECT_LT(more, 2.0 * took);
  const std::string words = text(slow);
  EXPECT_THAT(words, HasSubstr("the residual still fell, by a factor of"));
  EXPECT_THAT(words, HasSubstr("Masses: from 1 kg (body 0) to 30 kg (body 1), a ratio of 30."));
}

TEST(Explain, AnInfeasibleProblemIsNamedWithItsCertificate) {
  const ScratchFolder folder;
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(2, 2) = 0.0;
  const std::string file = contact_file(folder, delassus, vector_of({0.5, 0.0, -1.0}));
  const json found = facts({file, "--solver", "NSGS"});
  if (found["facts"]["feasibility"] == "no_library") GTEST_SKIP() << "built without CLP";
  EXPECT_THAT(findings(found), Contains("infeasible"));
  EXPECT_EQ(found["facts"]["feasibility_margin"], -1.0);
  EXPECT_EQ(found["facts"]["infeasible_block"], "contact 0");
  EXPECT_THAT(text({file, "--solver", "NSGS"}), HasSubstr("The problem has no solution"));
}

TEST(Explain, ANoiseLevelProblemIsNamed) {
  const ScratchFolder folder;
  const double unit = std::ldexp(1.0, -63);
  const json found = facts({contact_file(folder, Matrix::Identity(3, 3), vector_of({unit, -3 * unit, -5 * unit})),
                            "--solver", "NSGS", "--no-run"});
  EXPECT_THAT(findings(found), Contains("noise_level"));
  EXPECT_LE(found["facts"]["noise_ratio"], 1.0);
  EXPECT_TRUE(found["course"].is_null()) << "--no-run";
  EXPECT_EQ(found["solvers"].size(), 0U);
}

TEST(Explain, ACycleIsFoundWithItsPeriodAndTheContactsThatFlap) {
  const std::vector<std::string> cycling = {
      "box-stack boxes=2", "--solver", "MISBEHAVE", "--set",  "mode=cycle", "--max-iterations", "300",
      "--tolerance",       "1e-10",    "--solvers", "CASCADE"};
  const json found = facts(cycling, with_test_solvers());
  EXPECT_THAT(findings(found), Contains("cycles")) << found["course"].dump();
  EXPECT_THAT(findings(found), Contains("modes_flap"));
  EXPECT_EQ(found["course"]["period"], 3);
  EXPECT_GT(found["course"]["compared"], 60);
  ASSERT_GE(found["course"]["flapping"].size(), 1U);
  EXPECT_GT(found["course"]["flapping"][0]["changes"], 30) << "every third iterate is λ = 0, where all are open";
  EXPECT_THAT(found["course"]["flapping"][0]["modes"].dump(), HasSubstr("open"));
  EXPECT_THAT(text(cycling, with_test_solvers()), HasSubstr("the last iterate is the one of 3 iterations before"));
}

TEST(Explain, GrowthAndFalseClaimsAndCrashesAreNamed) {
  const auto with_mode = [](const std::string& mode) {
    return facts({"box-stack boxes=2", "--solver", "MISBEHAVE", "--set", "mode=" + mode, "--max-iterations", "200",
                  "--tolerance", "1e-10", "--solvers", "CASCADE"},
                 with_test_solvers());
  };
  EXPECT_THAT(findings(with_mode("grow")), Contains("grows"));
  EXPECT_THAT(findings(with_mode("lie")), Contains("false_claim"));
  const json crashed = with_mode("segfault");
  EXPECT_THAT(findings(crashed), Contains("broke"));
  EXPECT_TRUE(crashed["course"].is_null());
  EXPECT_EQ(crashed["solvers"][0]["solved"], true) << "the others are run all the same";
}

TEST(Explain, TriesVariantsOneOptionAtATime) {
  const json found = facts({"box-stack boxes=2", "--solver", "PGS-NCP", "--try", "4", "--solvers", "CASCADE",
                            "--tolerance", "1e-8", "--max-iterations", "50"});
  ASSERT_EQ(found["variants"].size(), 4U);
  EXPECT_GT(found["variants_left"], 0);
  for (const auto& one : found["variants"]) {
    EXPECT_FALSE(one["option"].is_null());
    EXPECT_EQ(one["stored"], false);
    EXPECT_EQ(one["solver"], "PGS-NCP");
  }
  const std::string words = text({"box-stack boxes=2", "--solver", "PGS-NCP", "--no-run"});
  EXPECT_THAT(words, HasSubstr("--try 12"));
}

class ExplainStore : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "small.json") << R"({"name": "small",
      "problems": [{"scene": "box-stack", "grid": {"boxes": [2], "mass_ratio": [1, 1000]}}],
      "solvers": [{"id": "PGS-NCP", "grid": {"relaxation": [0.5, 1]}}, "CASCADE"],
      "tolerances": [1e-8], "limits": {"iterations": 300}})";
    store_ = folder_ / "small.sqlite";
    ASSERT_EQ(conebench({"run", folder_ / "small.json", "--db", store_, "--quick"}).code, 0);
  }
  ScratchFolder folder_;
  std::string store_;
};

TEST_F(ExplainStore, ComparesWithStoredGridsAndSolvers) {
  const std::string filter = "solver=PGS-NCP && problem~mass_ratio=1000 && configuration!~0.5";
  const json found = facts({store_, "--filter", filter});
  EXPECT_EQ(found["store"], store_);
  EXPECT_EQ(found["problem"], "box-stack_boxes=2_mass_ratio=1000");
  EXPECT_EQ(found["max_iterations"], 300);
  EXPECT_EQ(found["ended"]["status"], "max_iterations");
  EXPECT_EQ(found["ended_again"]["verdict_value"], found["ended"]["verdict_value"]) << "the same cell, run again";
  EXPECT_FALSE(found["course"].is_null());
  ASSERT_EQ(found["variants"].size(), 1U) << found["variants"].dump();
  EXPECT_EQ(found["variants"][0]["option"], "relaxation");
  EXPECT_EQ(found["variants"][0]["value"], "0.5");
  EXPECT_EQ(found["variants"][0]["stored"], true);
  ASSERT_EQ(found["solvers"].size(), 1U);
  EXPECT_EQ(found["solvers"][0]["solver"], "CASCADE");
  EXPECT_EQ(found["solvers"][0]["stored"], true);
  EXPECT_EQ(found["solvers"][0]["times_rank"], false) << "--quick";
  // By its key, and by what `report --failed` prints.
  const std::string key = found["key"];
  EXPECT_EQ(facts({store_, key.substr(0, 12), "--no-run"})["key"], key);
  EXPECT_THAT(conebench({"report", store_, "--failed"}).out, HasSubstr("why: conebench explain " + store_));
}

TEST_F(ExplainStore, AsksWhichOfSeveralCellsAndNamesMisspeltOnes) {
  const Outcome several = conebench({"explain", store_});
  EXPECT_EQ(several.code, 2);
  EXPECT_EQ(several.out, "");
  EXPECT_THAT(several.err, HasSubstr("PGS-NCP relaxation=0.5"));
  EXPECT_THAT(several.err, HasSubstr("unsolved cells fit; add the key of one"));
  expect_failure(conebench({"explain", store_, "box-stack_boxes=2_mass_ratio=100"}), 2, {"no cell is called"});
  expect_failure(conebench({"explain", store_, "--set", "relaxation=1", "--solver", "PGS-NCP"}), 2, {"--set"});
}

TEST(ExplainStored, ACellThatEndedByItsTimeIsRunAgainToTheSameIterate) {
  const ScratchFolder folder;
  std::ofstream(folder / "late.json") << R"({"name": "late",
      "problems": [{"scene": "box-stack", "options": {"boxes": 2, "mass_ratio": 1000}}],
      "solvers": ["PGS-NCP"], "tolerances": [1e-14], "limits": {"iterations": 100000000, "seconds": 0.05}})";
  const std::string store = folder / "late.sqlite";
  ASSERT_EQ(conebench({"run", folder / "late.json", "--db", store, "--quick"}).code, 0);
  const std::vector<std::string> arguments = {store, "--solver", "PGS-NCP", "--solvers", "CASCADE"};
  const json found = facts(arguments);
  if (found["ended"]["status"] != "time_limit") GTEST_SKIP() << "ended as " << found["ended"].dump();
  EXPECT_THAT(findings(found), Contains("time_up"));
  EXPECT_EQ(found["ended_again"]["iterations"], found["ended"]["iterations"]);
  EXPECT_EQ(found["ended_again"]["verdict_value"], found["ended"]["verdict_value"]);
  EXPECT_EQ(found["course"]["iterations"], found["ended"]["iterations"]);
  EXPECT_EQ(facts(arguments)["course"], found["course"]) << "the same story on each call";
}

TEST(ExplainArguments, AreCheckedInOneLine) {
  expect_failure(conebench({"explain", "box-stack boxes=2"}), 2, {"--solver ID"});
  expect_failure(conebench({"explain", "box-stack boxes=2", "--solver", "NSG"}), 2, {"NSGS"});
  expect_failure(conebench({"explain", "box-stack boxes=2", "abc", "--solver", "NSGS"}), 2, {"no store"});
  expect_failure(conebench({"explain", "none.sqlite", "--solver", "NSGS"}), 3, {"none.sqlite"});
  expect_failure(conebench({"explain", "box-stack", "--solver", "NSGS", "--solvers", "NOBODY"}), 2, {"NOBODY"});
}

}  // namespace
}  // namespace conebench::testing
