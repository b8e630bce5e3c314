#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench::testing {
namespace {

/// Real problems and malformed files with their manifests, where this machine has them.
class SharedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto shared = shared_data("fclib");
    if (!shared) GTEST_SKIP() << no_shared_data;
    folder_ = *shared;
  }
  nlohmann::json manifest(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return nlohmann::json::parse(file);
  }
  std::filesystem::path folder_;
};

TEST_F(SharedFiles, EveryMalformedFileIsRefusedInOneLineWithExitCodeThree) {
  int refused = 0;
  for (const auto& entry : manifest("bad/manifest.json")) {
    const std::string name = entry["file"];
    const auto outcome = conebench({"inspect", (folder_ / "bad" / name).string(), "--json"});
    const std::string expected = entry["expected"];
    if (expected == "reject") {
      expect_failure(outcome, 3, {name});
      ++refused;
    } else if (expected.starts_with("accept:")) {
      EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
      EXPECT_TRUE(outcome.json().is_object()) << name;
    } else {
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 3) << name << ": " << outcome.code;
      EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << name;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST_F(SharedFiles, InspectAgreesWithTheManifestOfTheRealProblems) {
  const auto listed = manifest("manifest.json");
  std::vector<std::string> arguments = {"inspect", "--json"};
  std::vector<nlohmann::json> entries;
  for (const auto& entry : listed) {
    const auto file = folder_ / entry["file"].get<std::string>();
    if (!std::filesystem::exists(file)) continue;
    arguments.push_back(file.string());
    entries.push_back(entry);
  }
  const auto outcome = conebench(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  ASSERT_EQ(json["files"].size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& found = json["files"][i];
    const auto& expected = entries[i];
    const std::string name = expected["file"];
    EXPECT_EQ(found["kind"], expected["kind"]) << name;
    EXPECT_EQ(found["space_dimension"], expected["spacedim"]) << name;
    EXPECT_EQ(found["contacts"], expected["n_contacts"]) << name;
    if (expected["n_contacts"] == 0) {
      EXPECT_TRUE(found["mu_min"].is_null()) << name;
    } else {
      EXPECT_EQ(found["mu_min"], expected["mu_min"]) << name;
      EXPECT_EQ(found["mu_max"], expected["mu_max"]) << name;
    }
    const auto& matrix = expected.contains("W") ? expected["W"] : expected["H"];
    EXPECT_EQ(found["nonzeros"], matrix["nnz"]) << name;
    if (expected.contains("W") && matrix.contains("sym_rel_fro") && !matrix["sym_rel_fro"].is_null()) {
      const auto symmetry = matrix["sym_rel_fro"].get<double>();
      EXPECT_NEAR(found["symmetry_error"].get<double>(), symmetry, 1e-14 + 1e-6 * symmetry) << name;
    }
  }
}

TEST_F(SharedFiles, RollingFrictionIsNotSupportedBySolversOfOtherModels) {
  const auto outcome =
      conebench({"solve", (folder_ / "open/rockfall_14_25792.hdf5").string(), "--solver", "NBGS", "--json"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, ::testing::MatchesRegex("conebench: [^\n]*rolling[^\n]*\n"));
  const auto json = outcome.json();
  EXPECT_EQ(json["status"], "unsupported");
  EXPECT_EQ(json["solved"], false);
  EXPECT_TRUE(json["residuals"].contains("natural_map_scaled"));
  EXPECT_TRUE(json["residuals"]["natural_map_scaled"].is_null());
}

}  // namespace
}  // namespace conebench::testing
