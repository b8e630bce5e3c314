#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/run_command_fixture.hpp"

/// Promises of docs/trust.md, end to end.
namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class Trust : public RunCommand {};

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

}  // namespace
}  // namespace conebench::testing
