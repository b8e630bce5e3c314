#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

using nlohmann::json;

/// Two relays in Siconos' text.
std::string relays(const ScratchFolder& folder, const std::string& bounds) {
  std::ofstream(folder / "relays.dat") << "2\n0\n2\n2\n2\t2\n 2 1\n 1 2\n-0.5 0.5\n" << bounds;
  return folder / "relays.dat";
}

/// An equality of two rows, a contact in space and a complementarity, as one of Siconos' generalised problems.
std::string general(const ScratchFolder& folder) {
  std::ofstream(folder / "general.dat")
      << "1\n6\n6\n3\n3\n3\n2 5 6\n2 5 6\n4\n3\n0 1 2 3\n0 1 2\n0\n2\n0\n0\n2\n1\n3\n0\n0\n0\n3\n0\n0\n0\n3\n2\n5\n"
         "1 2 -3 4 5 6\n2\n4\n0.5\n0\n";
  return folder / "general.dat";
}

TEST(InspectBlocks, CountsRowsByTypeAndNamesTheReaders) {
  const ScratchFolder folder;
  const auto outcome = conebench({"inspect", general(folder), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json inspected = outcome.json();
  EXPECT_EQ(inspected["row_types"], json::parse(R"([{"type": "bilateral", "rows": 2}, {"type": "unilateral", "rows": 1},
                                                    {"type": "coulomb 3D", "rows": 3, "contacts": 1}])"));
  EXPECT_EQ(inspected["readers"], (json{"Siconos' text", "conebench"}));
  EXPECT_EQ(inspected["space_dimension"], 3);
  EXPECT_EQ(inspected["contacts"], 1);
  EXPECT_EQ(inspected["limits"], 1);
  EXPECT_EQ(inspected["rows"], 4);
  EXPECT_EQ(inspected["joint_rows"], 2);
  EXPECT_EQ(inspected["mu_max"], 0.5);
  const auto text = conebench({"inspect", folder / "general.dat"});
  EXPECT_NE(text.out.find("bilateral 2, unilateral 1, coulomb 3D 3 (1 contact)"), std::string::npos) << text.out;
}

TEST(InspectBlocks, OfAnFclibFileAddsTheTypesToItsKeys) {
  const ScratchFolder folder;
  const auto outcome = conebench({"inspect", generate(folder, {"box-stack", "--set", "boxes=2"}), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["readers"], (json{"FCLIB", "conebench"}));
  EXPECT_EQ(outcome.json()["row_types"], json::parse(R"([{"type": "coulomb 3D", "rows": 24, "contacts": 8}])"));
}

/// A sphere on the ground in Siconos' text: d, n_c, W, q and mu, with these entries on W's diagonal.
std::string sphere(const ScratchFolder& folder, const std::string& name, const std::array<std::string, 3>& diagonal) {
  std::ofstream(folder / name) << "3\n1\n0\n3\n3\n3\t3\n"
                               << diagonal[0] << " 0 0\n0 " << diagonal[1] << " 0\n0 0 " << diagonal[2]
                               << "\n-1 0 0\n0.5\n";
  return folder / name;
}

TEST(InspectBlocks, WarnsOfAFileWhoseRowsLookPermuted) {
  const ScratchFolder folder;
  const auto permuted = [&](const std::string& file) {
    const auto outcome = conebench({"inspect", file, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json()["permuted"];
  };
  const std::string right = sphere(folder, "right.dat", {"1", "3.5", "3.5"});
  const std::string last = sphere(folder, "last.dat", {"3.5", "3.5", "1"});
  EXPECT_EQ(permuted(right), nullptr);
  EXPECT_EQ(permuted(last), json::parse(R"({"normal_row": 2, "contacts": 1, "evidence": "lever_arms"})"));
  EXPECT_EQ(permuted(sphere(folder, "second.dat", {"3.5", "1", "3.5"}))["normal_row"], 1);
  EXPECT_EQ(conebench({"inspect", right}).out.find("warning"), std::string::npos);
  const auto text = conebench({"inspect", last}).out;
  EXPECT_NE(text.find("warning: row 2 looks like the normal of 1 contact"), std::string::npos) << text;
}

TEST(InspectBlocks, WhatFclibCannotHoldIsForConebenchOnly) {
  const ScratchFolder folder;
  const auto solved = conebench(
      {"solve", relays(folder, "-1 -inf\n1 0\n"), "--solver", "NSGS", "--write-solution", folder / "solved.hdf5"});
  ASSERT_EQ(solved.code, 0) << solved.err;
  const auto outcome = conebench({"inspect", folder / "solved.hdf5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["readers"], json::array({"conebench"}));
  EXPECT_EQ(outcome.json()["row_types"], json::parse(R"([{"type": "interval", "rows": 2}])"));
  EXPECT_EQ(outcome.json()["solution"], true);
  const auto judged =
      conebench({"judge", folder / "solved.hdf5", "--reaction", folder / "solved.hdf5", "--require-solved"});
  EXPECT_EQ(judged.code, 0) << judged.out << judged.err;
}

TEST(InspectBlocks, BoundsInTheWrongOrderAreRefusedAndNothingIsWritten) {
  const ScratchFolder folder;
  const std::string file = relays(folder, "-1 2\n1 0\n");
  expect_failure(conebench({"inspect", file}), 3, {"relays.dat", "block 1, row 1", "2 and 0"});
  expect_failure(conebench({"solve", file, "--solver", "NSGS", "--write-solution", folder / "solved.hdf5"}), 3,
                 {"block 1, row 1"});
  EXPECT_FALSE(std::filesystem::exists(folder / "solved.hdf5"));
}

/// An orthotropic contact with torsion but none of rolling, one without friction, a plain one; M is not definite.
/// Writes mixed.hdf5, an answer with an impulse where no force acts and one without into the folder.
constexpr const char* mixed_script = R"(import sys, h5py, numpy as np
nan, inf, n = np.nan, np.inf, 13
with h5py.File(sys.argv[1] + "/mixed.hdf5", "w") as file:
    group = file.create_group("conebench")
    group["version"] = 4
    group["block_rows"] = [0, 1, 7, 10, 13]
    group["cone"] = [0, 2, 1, 1]
    group["lower"] = [-inf] + 12 * [nan]
    group["upper"] = [inf] + 12 * [nan]
    group["mu"] = [0, 0, 0.8, 0.4, 0.01, 0, 0, 0, 0, 0, 0, 0.5, 0.5]
    group["shift"] = [0, 0.1, 0, 0.2]
    group["M"] = np.diag([-1.0] + 12 * [1.0])
    group["J"] = np.eye(n)
    group["v_free"] = np.linspace(-1, 1, n)
r = np.zeros(n)
np.save(sys.argv[1] + "/zeros.npy", r)
r[5] = 0.5
np.save(sys.argv[1] + "/rolls.npy", r))";

TEST(InspectBlocks, SaysWhatBecameOfRowsAndConesAndTakesMuOfSliding) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no Python with h5py and numpy";
  const ScratchFolder folder;
  ASSERT_EQ(python(mixed_script, {folder / "."}).code, 0);
  const auto outcome = conebench({"inspect", folder / "mixed.hdf5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json inspected = outcome.json();
  EXPECT_EQ(inspected["mu_min"], 0.4) << "neither torsion's 0.01 nor the first tangent's 0.8";
  EXPECT_EQ(inspected["mu_max"], 0.8);
  const std::vector<std::string> notes = inspected["notes"];
  EXPECT_EQ(
      std::ranges::count(notes, "4 rows with mu = 0 left out; 1 contact without friction read as a limit; 2 shifts"), 1)
      << inspected["notes"];
  EXPECT_EQ(std::ranges::count(notes, "M is not positive definite"), 1) << inspected["notes"];
}

TEST(InspectBlocks, AnAnswerWithAnImpulseWhereNoForceActsIsNotJudged) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no Python with h5py and numpy";
  const ScratchFolder folder;
  ASSERT_EQ(python(mixed_script, {folder / "."}).code, 0);
  const std::string file = folder / "mixed.hdf5";
  expect_failure(conebench({"judge", file, "--reaction", folder / "rolls.npy"}), 3,
                 {"rolls.npy: block 1, row 5 has mu = 0, where no force acts, but the answer has 0.5"});
  EXPECT_EQ(conebench({"judge", file, "--reaction", folder / "zeros.npy"}).code, 0);
}

TEST(InspectBlocks, TheDocumentsExampleIsReadAndSolved) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no Python with h5py and numpy";
  const ScratchFolder folder;
  const std::string document = text_of(CONEBENCH_SOURCE_DIR "/docs/sample_format.md");
  const std::size_t begin = document.find("```python\n") + 10;
  const std::size_t end = document.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  const std::string example = document.substr(begin, end - begin);
  const auto written = python("import os, sys; os.chdir(sys.argv[1])\n" + example, {folder / "."});
  ASSERT_EQ(written.code, 0) << written.err;
  const auto outcome = conebench({"inspect", folder / "step.hdf5", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["row_types"], json::parse(R"([{"type": "interval", "rows": 1},
                                                        {"type": "ellipsoid of 4 rows", "rows": 4, "contacts": 1}])"));
  const auto solved = conebench({"solve", folder / "step.hdf5", "--solver", "NSGS", "--require-solved"});
  EXPECT_EQ(solved.code, 0) << solved.out << solved.err;
}

TEST(InspectBlocks, SetsTakeTheTextsOfSiconosThatCanBeRead) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "files");
  std::filesystem::rename(general(folder), folder / "files/general.dat");
  std::ofstream(folder / "files/results.dat") << "0.1 0.2\n0.3 0.4\n";
  const auto outcome = conebench({"data", "add", "texts", folder / "files", "--json"},
                                 {.environment = {"CONEBENCH_DATA_HOME=" + (folder / "home")}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["files"], 1);
}

}  // namespace
}  // namespace conebench::testing
