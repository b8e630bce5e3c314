#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench::testing {
namespace {

constexpr const char* reference = CONEBENCH_SOURCE_DIR "/tests/metrics/judge_reference.py";

/// What `conebench` wrote, read by programs that know nothing of it.
class PythonAgreement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!python_has("h5py, numpy")) GTEST_SKIP() << "no h5py and numpy for the system's Python";
  }

  /// Solves `file`, writes the solution, and lets the reference judge compare its residuals with those that `solve` and
  /// `judge` print.
  void compare(const std::string& file) {
    const auto solved = folder / "solved.hdf5";
    const auto solve = conebench({"solve", file, "--solver", "NSGS", "--tolerance", "1e-6", "--max-iterations", "500",
                                  "--write-solution", solved, "--json"});
    ASSERT_EQ(solve.code, 0) << file << ": " << solve.err;
    const auto judge = conebench({"judge", file, "--reaction", solved, "--json"});
    ASSERT_EQ(judge.code, 0) << file << ": " << judge.err;
    for (const auto& printed : {solve.out, judge.out}) {
      std::ofstream(folder / "printed.json") << printed;
      const auto compared = run_program({"/usr/bin/python3", reference, solved, "--compare", folder / "printed.json"});
      EXPECT_EQ(compared.code, 0) << file << ": " << compared.out << compared.err;
    }
  }

  const ScratchFolder folder;
};

TEST_F(PythonAgreement, OnGeneratedProblems) {
  for (const std::vector<std::string>& scene : {std::vector<std::string>{"box-stack", "--set", "boxes=3"},
                                                {"sliding-box"},
                                                {"box-on-slope"},
                                                {"random"},
                                                {"sphere-lattice"},
                                                {"known-solution"}}) {
    compare(generate(folder, scene));
  }
}

TEST_F(PythonAgreement, OnRealProblems) {
  const auto shared = shared_data("fclib/open");
  if (!shared) GTEST_SKIP() << no_shared_data;
  for (const std::string name :
       {"Rover1040", "GFC3D_problem-check", "FC2D_SliderCrankLagrangian00001", "local_problem_test",
        "OneObject-i1028-138", "gfc2d_granularflowonwall_00069_00350", "LMGC_GlobalFrictionContactProblem00046"}) {
    compare((*shared / (name + ".hdf5")).string());
  }
}

TEST_F(PythonAgreement, TheWrittenSolutionIsFclibsWithTheNormalFirst) {
  const auto file = generate(folder, {"sliding-box", "--set", "mass=2", "--set", "friction=0.3", "--set", "gravity=10",
                                      "--set", "time_step=0.01", "--set", "speed=1"});
  const auto solved = folder / "solved.hdf5";
  ASSERT_EQ(conebench({"solve", file, "--solver", "NSGS", "--tolerance", "1e-10", "--write-solution", solved}).code, 0);
  // The normals, which stand first, carry the weight over the step, m g Δt = 0.2; friction is μ times that.
  const auto sums = python(
      "import h5py, math, sys\n"
      "with h5py.File(sys.argv[1]) as f:\n"
      "    r, u = f['solution/r'][...].ravel(), f['solution/u'][...].ravel()\n"
      "assert len(r) == len(u) == 12, (r.shape, u.shape)\n"
      "friction = math.hypot(sum(r[1::3]), sum(r[2::3]))\n"
      "print(abs(sum(r[0::3]) - 0.2) < 1e-8, abs(friction - 0.06) < 1e-8, max(abs(u[0::3])) < 1e-8)\n",
      {solved});
  EXPECT_EQ(sums.out, "True True True\n") << sums.err;
}

}  // namespace
}  // namespace conebench::testing
