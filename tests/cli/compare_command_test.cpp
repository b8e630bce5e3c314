#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/conebench_process.hpp"
#include "tests/cli/test_solvers.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

/// 12 problems and 4 configurations at one tolerance, some seconds.
constexpr const char* pair_suite = R"({
  "name": "pair", "seed": 3,
  "problems": [{"scene": "random", "options": {"contacts": 20}, "grid": {"joints": [0, 2]}, "seeds": [1, 2, 3]},
               {"scene": "box-stack", "grid": {"boxes": [2, 4, 6], "mass_ratio": [1, 100]}}],
  "solvers": ["NSGS", "SSN", "CASCADE", "NSN-AC"],
  "tolerances": [1e-6],
  "limits": {"iterations": 2000, "seconds": 5, "memory_mb": 2000},
  "repeats": {"min": 3, "min_ms": 1, "max": 20}
})";

class CompareCommand : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(folder / "pair.json") << pair_suite; }

  std::string run(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run", folder / "pair.json", "--db", folder / name};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(conebench(words).code, 0);
    return folder / name;
  }

  const ScratchFolder folder;
};

TEST_F(CompareCommand, TwoRunsOfOneBuildHaveTheSameWorkAndTheStatisticsOfAnIndependentProgram) {
  const std::string baseline = run("base.sqlite");
  const std::string candidate = run("new.sqlite");
  const auto compared = conebench({"compare", baseline, candidate, "--json", "--fail-on", "none"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  const auto json = compared.json();
  EXPECT_EQ(json["schema"], "conebench.compare/2");
  EXPECT_EQ(json["compared"], 48);
  EXPECT_EQ(json["changed_cells"].size(), 0U) << json["changed_cells"].dump();
  for (const auto& configuration : json["slices"][0]["configurations"]) {
    EXPECT_EQ(configuration["cells"]["same work"].get<int>() + configuration["cells"]["same failure"].get<int>(), 12)
        << configuration;
  }

  const auto written = conebench({"compare", baseline, candidate, "--out", folder / "out", "--fail-on", "none"});
  EXPECT_EQ(written.code, 0) << written.err;
  for (const std::string name : {"index.html", "comparison.md", "comparison.json", "comparison.xml"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "out" + "/" + name)) << name;
  }
  if (!python_has("numpy")) GTEST_SKIP() << "python3-numpy is not there";
  const std::string reference = std::string(CONEBENCH_SOURCE_DIR) + "/tests/reports/comparison_reference.py";
  const auto checked = run_program(
      {"/usr/bin/python3", reference, baseline, candidate, "--compare", folder / "out" + "/comparison.json"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const std::string parse =
      "import sys, xml.dom.minidom as m; print(len(m.parse(sys.argv[1]).getElementsByTagName('testcase')))";
  EXPECT_EQ(run_program({"/usr/bin/python3", "-c", parse, folder / "out" + "/comparison.xml"}).out, "5\n")
      << "a case a configuration, and one of all";
}

TEST_F(CompareCommand, TwoQuickRunsAreComparedByVerdictsAndCountsAndNeverByTimes) {
  const std::string baseline = run("base.sqlite", {"--quick"});
  const std::string candidate = run("new.sqlite", {"--quick"});
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--force"}}) {
    std::vector<std::string> words = {"compare", baseline, candidate, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto compared = conebench(words);
    ASSERT_EQ(compared.code, 0) << compared.err;
    EXPECT_EQ(compared.json()["times_compared"], false);
    EXPECT_EQ(compared.json()["changed_cells"].size(), 0U);
    for (const auto& configuration : compared.json()["configurations"]) {
      EXPECT_EQ(configuration["assessment"], "same") << configuration;
    }
  }
  EXPECT_THAT(conebench({"compare", baseline, candidate}).out, HasSubstr("cells ran once (--quick)"));
  EXPECT_THAT(conebench({"report", baseline}).out, HasSubstr("each cell ran once (quick mode)"));
  const auto both =
      conebench({"run", folder / "pair.json", "--quick", "--ab", executable_with_test_solvers().string()});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--ab does not go with --quick"));
}

TEST_F(CompareCommand, AMissingConfigurationFailsTheGateAndIsNamed) {
  const std::string baseline = run("base.sqlite");
  const std::string candidate = run("new.sqlite", {"--filter", "solver!=SSN"});
  const auto compared = conebench({"compare", baseline, candidate, "--fail-on", "missing"});
  EXPECT_EQ(compared.code, 1);
  EXPECT_THAT(compared.out, HasSubstr("missing configuration SSN"));
  EXPECT_THAT(compared.err, HasSubstr("gate failed: 12 missing"));
  EXPECT_EQ(conebench({"compare", candidate, baseline, "--fail-on", "missing"}).code, 0) << "what is new is no worse";
  const auto markdown = conebench({"compare", baseline, candidate, "--format", "md", "--fail-on", "none"});
  EXPECT_EQ(markdown.code, 0);
  EXPECT_THAT(markdown.out, ::testing::StartsWith("### Conebench: worse: 1 configuration missing"));
}

TEST_F(CompareCommand, OneSolverWithOtherOptionsIsSentToAReport) {
  const auto measure = [&](const std::string& solvers, const std::string& name) {
    std::ofstream(folder / "one.json") << R"({"name": "one", "problems": [{"scene": "sliding-box"}], "solvers": [)"
                                       << solvers << R"(], "repeats": {"min": 1, "min_ms": 0, "max": 1}})";
    EXPECT_EQ(conebench({"run", folder / "one.json", "--db", folder / name}).code, 0);
    return folder / name;
  };
  const std::string lower = R"({"id": "PGS-NCP", "options": {"relaxation": 0.8}})";
  const std::string a = measure(R"("PGS-NCP")", "a.sqlite"), b = measure(lower, "b.sqlite");
  const std::string with = "PGS-NCP and PGS-NCP relaxation=0.8 are one solver with different options: ";
  const auto json = conebench({"compare", a, b, "--json"});
  EXPECT_EQ(json.code, 5);
  EXPECT_EQ(json.json()["notes"][0], with + "`conebench report " + a + " " + b + " --out DIR` ranks them side by side");
  EXPECT_THAT(conebench({"report", a, b, "--out", folder / "page"}).out, HasSubstr("PGS-NCP relaxation=0.8"));
  const std::string common = measure(R"("NSGS", "PGS-NCP")", "c.sqlite"),
                    other = measure("\"NSGS\", " + lower, "d.sqlite");
  EXPECT_EQ(conebench({"compare", common, other, "--json", "--fail-on", "none"}).json()["notes"][0],
            with + "a suite that has both ranks them side by side");
}

TEST_F(CompareCommand, WithoutACommonCellNothingIsComparable) {
  const std::string baseline = run("base.sqlite", {"--filter", "solver=NSGS"});
  const std::string candidate = run("new.sqlite", {"--filter", "solver=SSN"});
  const auto compared = conebench({"compare", baseline, candidate});
  EXPECT_EQ(compared.code, 5);
  EXPECT_THAT(compared.err, HasSubstr("nothing to compare"));
  expect_failure(conebench({"compare", baseline}), 2, {"one store of one build", "--builds"});
}

TEST(CompareUsage, WrongArgumentsAreOneLine) {
  expect_failure(conebench({"compare", "a.sqlite", "b.sqlite"}), 3, {"a.sqlite", "no such file"});
  expect_failure(conebench({"compare", "a.sqlite", "b.sqlite", "--fail-on", "lots"}), 2, {"'lots'", "slower"});
  expect_failure(conebench({"compare", "a.sqlite", "b.sqlite", "--min-change", "much"}), 2, {"much", "2%"});
  expect_failure(conebench({"compare", "a.sqlite", "b.sqlite", "--format", "pdf", "--out", "x"}), 2,
                 {"'pdf'", "junit"});
  expect_failure(conebench({"compare", "a", "b", "c"}), 2, {"BASELINE and CANDIDATE"});
  expect_failure(conebench({"compare", "a", "b", "--calibrate"}), 3, {"a"});
}

}  // namespace
}  // namespace conebench::testing
