#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

class ForeignInput : public ::testing::Test {
 protected:
  Outcome dry_run(const std::string& name, const std::string& suite) const {
    std::ofstream(folder / name) << suite;
    return conebench({"run", name, "--dry-run"}, here());
  }
  RunOptions here() const {
    RunOptions options;
    options.folder = folder.path();
    return options;
  }
  static std::string suite_with(const std::string& key, const std::string& value) {
    return R"({"problems": [{"scene": "box-stack"}], "solvers": ["NSGS"], ")" + key + "\": " + value + "}";
  }
  const ScratchFolder folder;
};

TEST_F(ForeignInput, DeepBracketsHugeNumbersAndPathsInNamesAreWrongUsage) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  expect_failure(dry_run("deep.json", deep), 2, {"deep.json", "more than 64 deep"});
  expect_failure(dry_run("name.json", suite_with("name", deep)), 2, {"name.json", "more than 64 deep"});
  expect_failure(dry_run("seed.json", suite_with("seed", std::string(500, '9'))), 2, {"no number is as large as '999"});
  expect_failure(dry_run("evil.json", suite_with("name", R"("../../evil")")), 2,
                 {"evil.json: name", "plain file name"});
}

TEST_F(ForeignInput, AFilterOfTwentyThousandParenthesesIsOneReadableLine) {
  const Outcome outcome =
      conebench({"run", "default", "--dry-run", "--filter", "problem~" + std::string(20'000, '(')}, here());
  expect_failure(outcome, 2, {"--filter"});
  EXPECT_LT(outcome.err.size(), 2500U);
}

TEST_F(ForeignInput, DevicesAndPipesAreNoSuitesAndNoModels) {
  const std::string pipe = folder / "pipe.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& file : {pipe, std::string("/dev/zero")}) {
    expect_failure(conebench({"run", file, "--dry-run"}, here()), 3, {file + ": is a device, a pipe or a socket"});
    expect_failure(conebench({"generate", "file", "--set", "path=" + file, "--out", folder / "out"}), 3,
                   {file + ": is a device, a pipe or a socket"});
  }
}

TEST_F(ForeignInput, WhatAModelNamesIsNoDeviceAndNoPipe) {
  std::filesystem::create_directory(folder / "meshes");
  ASSERT_EQ(mkfifo((folder / "meshes/arm.stl").c_str(), 0600), 0);
  const auto mjcf = [](const std::string& more) { return "<mujoco>" + more + "</mujoco>"; };
  std::ofstream(folder / "part.xml") << mjcf("<asset><texture fileup='/dev/zero'/></asset>");
  const std::vector<std::pair<std::string, std::string>> models = {
      {mjcf("<compiler meshdir='meshes'/><asset><mesh file='arm.stl'/></asset>"), "meshes/arm.stl"},
      {"<robot><link><mesh filename=\"package://r/arm.stl\"/></link><mujoco><compiler "
       "meshdir=\"meshes\"/></mujoco></robot>",
       "meshes/arm.stl"},
      {mjcf("<include file=\"part.xml\"/>"), "/dev/zero"},
      {mjcf("<include file=\"meshes/arm.stl\"/>"), "meshes/arm.stl"},
  };
  for (const auto& [model, named] : models) {
    std::ofstream(folder / "robot.xml") << model;
    const std::string suite =
        R"({"problems": [{"scene": "file", "options": {"path": "robot.xml"}}], "solvers": ["NSGS"]})";
    for (const Outcome& outcome :
         {dry_run("s.json", suite), conebench({"run", "s.json", "--db", "s.sqlite"}, here())}) {
      expect_failure(outcome, 3, {"robot.xml: ", named, "is a device, a pipe or a socket; give a file"});
    }
  }
  std::ofstream(folder / "robot.xml") << mjcf("<!-- <mesh file='meshes/arm.stl'/> -->");
  EXPECT_EQ(conebench({"generate", "file", "--set", "path=robot.xml", "--out", "out"}, here()).err.find("pipe"),
            std::string::npos);
}

TEST_F(ForeignInput, AFileNameThatIsNoUtf8EntersTheStoreAsUtf8) {
  std::ofstream(folder / "caf\xE9.hdf5") << "no HDF5";
  std::ofstream(folder / "s.json") << R"({"problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS"]})";
  const Outcome run = conebench({"run", "s.json", "--db", "s.sqlite"}, here());
  EXPECT_EQ(run.code, 4) << run.err;
  // SQLite says nothing of bytes that are no UTF-8, Python refuses to read them.
  if (!python_has("sqlite3")) GTEST_SKIP() << "no Python with sqlite3";
  std::ofstream(folder / "read.py") << "import sqlite3, sys\n"
                                       "for row in sqlite3.connect(sys.argv[1]).execute('select * from problems'):\n"
                                       "    if any('caf\\ufffd.hdf5' in str(value) for value in row): print('ok')\n"
                                       "for row in sqlite3.connect(sys.argv[1]).execute('select * from cells'): pass\n";
  const Outcome read = run_program({"/usr/bin/python3", folder / "read.py", folder / "s.sqlite"});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(read.out, "ok\n");
}

}  // namespace
}  // namespace conebench::testing
