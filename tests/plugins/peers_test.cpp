#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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
std::string built(const ScratchFolder& folder, const std::string& name, const std::string& where) {
  const std::string build = folder / "build";
  const auto configured = run_program({"cmake", "-S", CONEBENCH_EXAMPLES "/" + name, "-B", build, where});
  EXPECT_EQ(configured.code, 0) << configured.err;
  const auto made = run_program({"cmake", "--build", build});
  EXPECT_EQ(made.code, 0) << made.out << made.err;
  return build + "/" + name + ".so";
}

/// Pinocchio's penalty at the start and its factor, from the L of its power iteration; the difference of two answers.
constexpr const char* script = R"(import h5py, numpy as np, sys
def dense(group):
    p, i, x = (group[key][...] for key in ("p", "i", "x"))
    w = np.zeros((int(group["m"][0]), int(group["n"][0])))
    for c in range(len(p) - 1):
        w[i[p[c]:p[c + 1]], c] = x[p[c]:p[c + 1]]
    return w
if sys.argv[1] == "rho":
    with h5py.File(sys.argv[2]) as file:
        w = dense(file["fclib_local/W"])
    n = len(w)
    order = [c + k for c in range(0, n, 3) for k in (1, 2, 0)]
    w = (w + w.T)[np.ix_(order, order)] / 2
    v, size = np.full(n, 1 / np.sqrt(n)), 1.0
    for _ in range(20):
        v = v / size
        y = w @ v
        new = np.linalg.norm(y)
        near = abs(new - size) <= 1e-8 * max(new, size)
        v, size = y, new
        if near:
            break
    print("%.17g %.17g" % (np.sqrt(size * 1e-6) * (size / 1e-6) ** 0.2, (size / 1e-6) ** 0.05))
else:
    a, b = (h5py.File(name)["solution/r"][...] for name in sys.argv[2:])
    print("%.3g" % (abs(a - b).max() / abs(a).max()))
)";

TEST(Peers, PinocchiosIteratesAreOurs) {
  const std::string headers = named_folder("CONEBENCH_PINOCCHIO");
  if (headers.empty()) GTEST_SKIP() << "CONEBENCH_PINOCCHIO names no folder with Pinocchio's headers";
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "Python has no numpy and h5py";
  const ScratchFolder folder;
  const std::string library = built(folder, "pinocchio", "-DPINOCCHIO_INCLUDE=" + headers);
  std::ofstream(folder / "script.py") << script;
  // Where many impulses are answers, rounding errors move along them, by a factor of 1/proximal.
  const std::string problem = generate(folder, {"sliding-box"});
  const std::string local = folder / "local.hdf5";
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
    return std::stod(run_program({"/usr/bin/python3", folder / "script.py", "difference", a, b}).out);
  };
  for (const int n : {1, 2, 5, 20, 100}) {
    SCOPED_TRACE(n);
    EXPECT_LE(difference(after("PINOCCHIO-PGS", n, {}), after("PGS-NCP", n, {})), 1e-12);
  }
  // Its penalty at the start and the factor by which that moves are not ours by default. A program is given G.
  std::ofstream(folder / "copy.sh") << R"sh(value() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" "$request"; }
request=$1
if grep -q '"describe"' "$request"; then echo '{"id": "COPY", "name": "Keeps the problem"}' > "$(value reply)"; exit; fi
cp "$(value problem)" )sh" << local << "\nexit 1\n";
  conebench({"solve", problem, "--solver", "COPY", "--program", "sh " + (folder / "copy.sh")});
  std::istringstream words(run_program({"/usr/bin/python3", folder / "script.py", "rho", local}).out);
  std::string penalty, factor;
  ASSERT_TRUE(words >> penalty >> factor);
  for (const int n : {1, 2, 5, 20, 100}) {
    SCOPED_TRACE(n);
    EXPECT_LE(difference(after("PINOCCHIO-ADMM", n, {"tau=1"}),
                         after("ADMM-NCP-LA", n, {"initial_penalty=" + penalty, "factor=" + factor})),
              1e-12);
  }
}

TEST(Peers, ScsSolvesTheConeProblem) {
  const std::string sources = named_folder("CONEBENCH_SCS");
  if (sources.empty()) GTEST_SKIP() << "CONEBENCH_SCS names no folder with SCS";
  const ScratchFolder folder;
  const std::string library = built(folder, "scs", "-DSCS=" + sources);
  const auto checked = conebench({"check-solver", "SCS-CCP", "--plugin", library});
  EXPECT_EQ(checked.code, 0) << checked.out;
}

}  // namespace
}  // namespace conebench::testing
