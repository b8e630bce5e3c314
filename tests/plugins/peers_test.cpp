#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/conebench_process.hpp"

/// Peers through the door of plug-ins, where their sources are: CONEBENCH_PINOCCHIO (its folder `include`) and
/// CONEBENCH_SCS (its folder, with out/libscsdir.a made).
namespace conebench::testing {
namespace {

std::string named_folder(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// The library of an example, built with CMake.
std::string built_peer(const ScratchFolder& folder, const std::string& name, const std::string& where) {
  const std::string build = folder / "build";
  const auto configured = run_program({"cmake", "-S", CONEBENCH_EXAMPLES "/" + name, "-B", build, where});
  EXPECT_EQ(configured.code, 0) << configured.err;
  const auto made = run_program({"cmake", "--build", build});
  EXPECT_EQ(made.code, 0) << made.out << made.err;
  return build + "/" + name + ".so";
}

/// The difference of two answers, over the larger.
constexpr const char* script = R"(import h5py, sys
a, b = (h5py.File(name)["solution/r"][...] for name in sys.argv[1:])
print("%.3g" % (abs(a - b).max() / abs(a).max()))
)";

TEST(Peers, PinocchiosGaussSeidelIsOursAndItsAdmmHasOurAnswer) {
  const std::string headers = named_folder("CONEBENCH_PINOCCHIO");
  if (headers.empty()) GTEST_SKIP() << "CONEBENCH_PINOCCHIO names no folder with Pinocchio's headers";
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  const ScratchFolder folder;
  const std::string library = built_peer(folder, "pinocchio", "-DPINOCCHIO_INCLUDE=" + headers);
  std::ofstream(folder / "script.py") << script;
  const std::string problem = generate(folder, {"sliding-box"});
  const auto after = [&](const std::string& solver, int iterations, const std::vector<std::string>& configurations) {
    const std::string file = folder / (solver + ".hdf5");
    std::vector<std::string> words = {"solve",
                                      problem,
                                      "--solver",
                                      solver,
                                      "--plugin",
                                      library,
                                      "--stop-by",
                                      "solver",
                                      "--tolerance",
                                      "1e-300",
                                      "--max-iterations",
                                      std::to_string(iterations),
                                      "--write-solution",
                                      file};
    for (const std::string& configuration : configurations) words.insert(words.end(), {"--set", configuration});
    const auto solved = conebench(words);
    EXPECT_TRUE(std::filesystem::exists(file)) << solved.err << solved.out;
    return file;
  };
  const auto difference = [&](const std::string& a, const std::string& b) {
    return std::stod(run_program({"/usr/bin/python3", folder / "script.py", a, b}).out);
  };
  for (const int n : {1, 2, 5, 20, 100}) {
    SCOPED_TRACE(n);
    EXPECT_LE(difference(after("PINOCCHIO-PGS", n, {"scaled=false"}), after("PGS-NCP", n, {})), 1e-12);
  }
  // It projects first, from a dual start of g + Gamma(g), so that its iterates are not ours.
  for (const std::string rule : {"osqp", "spectral", "linear"}) {
    for (const std::string anderson : {"0", "5"}) {
      SCOPED_TRACE(rule + " " + anderson);
      EXPECT_LE(difference(after("PINOCCHIO-ADMM", 1000, {"rule=" + rule, "anderson=" + anderson}),
                           after("ADMM-NCP-SA", 1000, {})),
                1e-7);
    }
  }
}

TEST(Peers, ScsSolvesTheConeProblem) {
  const std::string sources = named_folder("CONEBENCH_SCS");
  if (sources.empty()) GTEST_SKIP() << "CONEBENCH_SCS names no folder with SCS";
  const ScratchFolder folder;
  const std::string library = built_peer(folder, "scs", "-DSCS=" + sources);
  const auto checked = conebench({"check-solver", "SCS-CCP", "--plugin", library});
  EXPECT_EQ(checked.code, 0) << checked.out;
}

}  // namespace
}  // namespace conebench::testing
