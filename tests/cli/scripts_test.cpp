#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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

TEST_F(Scripts, APackageThatTheDistributionLacksKeepsNoOtherOneAway) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  // A distribution without `absent`: apt-get refuses a call that has it, as a whole.
  const std::string installed = folder / "installed";
  std::ofstream(folder / "apt-get") << "#!/bin/sh\ncase \"$*\" in *absent*) exit 100 ;; esac\n"
                                       "for word; do last=$word; done\necho \"$last\" >>'"
                                    << installed << "'\n";
  std::ofstream(folder / "sudo") << "#!/bin/sh\nexec \"$@\"\n";
  std::ofstream(folder / "dpkg-query") << "#!/bin/sh\nfor word; do last=$word; done\n"
                                          "grep -qx \"$last\" '"
                                       << installed << "' 2>/dev/null && echo install ok installed\n";
  const Outcome asked = run_program({"bash", "-c",
                                     "set -euo pipefail; source '" + (scripts / "packages.sh").string() +
                                         "'; install_each 'its solvers are left out' absent present; echo went on"},
                                    options);
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("went on"));
  EXPECT_EQ(asked.err, "No absent: its solvers are left out\n");
  EXPECT_THAT(text_of(installed), HasSubstr("present\n"));
}

TEST_F(Scripts, AnOptionalPackageIsMissingUntilDpkgHasIt) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const std::string list =
      "source '" + (scripts / "packages.sh").string() + "'; missing_of \"${optional_packages[@]}\"";
  const Outcome none = run_program({"bash", "-c", list}, options);
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.out, HasSubstr("python3-pip\n"));
  EXPECT_THAT(none.out, HasSubstr("patchelf\n"));
  std::ofstream(folder / "dpkg-query") << "#!/bin/sh\necho install ok installed\n";
  EXPECT_EQ(run_program({"bash", "-c", list}, options).out, "");
}

TEST_F(Scripts, MujocoThatCannotBeFetchedIsLeftOutInOneLine) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const fs::path copies = folder / "scripts";
  fs::create_directory(copies);
  for (const char* name : {"fetch_mujoco.sh", "mujoco-requirements.txt", "usage.sh"})
    fs::copy_file(scripts / name, copies / name);
  const fs::path python = folder / "python3";
  std::ofstream(python) << "#!/bin/sh\n[ \"$3\" = --version ] || { echo ERROR: no network; exit 1; }\n";
  fs::permissions(python, fs::perms::owner_all);
  const Outcome outcome = run_program({copies / "fetch_mujoco.sh"}, options);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, ::testing::StartsWith("MuJoCo could not be fetched (ERROR: no network): "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_TRUE(fs::is_empty(folder / "build"));
}

TEST_F(Scripts, ASlipOfThePenBuildsNothing) {
  if (run_program({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash";
  const Outcome outcome = run_program({(scripts / "build.sh").string(), "--test"}, options);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "scripts/build.sh: unknown argument '--test'; see scripts/build.sh --help\n");
  EXPECT_FALSE(anything_called());
}

}  // namespace
}  // namespace conebench::testing
