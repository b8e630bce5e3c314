#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fclib_loader/fclib_file.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;

nlohmann::json manifest(const fs::path& file) { return nlohmann::json::parse(std::ifstream(file)); }

TEST(OpenFiles, LoadAndMatchTheirManifest) {
  const auto shared = testing::shared_data("fclib");
  if (!shared) GTEST_SKIP() << testing::no_shared_data;
  const fs::path& folder = *shared;
  const testing::TemporaryFolder temporary;
  for (const nlohmann::json& entry : manifest(folder / "manifest.json")) {
    const fs::path file = folder / entry["file"].get<std::string>();
    SCOPED_TRACE(file.filename());
    const Result<FclibContent> content = read_fclib(file);
    ASSERT_TRUE(content.ok()) << content.error().message;
    const FclibSummary summary = summarise(*content);
    EXPECT_EQ(summary.kind, entry["kind"].get<std::string>());
    EXPECT_EQ(summary.space_dimension, entry["spacedim"].get<int>());
    EXPECT_EQ(summary.contacts, entry["n_contacts"].get<Index>());
    const bool local = entry.contains("W");
    const nlohmann::json& stored = entry[local ? "W" : "H"];
    EXPECT_EQ(summary.nonzeros, stored["nnz"].get<Index>());
    const double symmetry = (local ? entry["W"] : entry["W_condensed"])["sym_rel_fro"].get<double>();
    EXPECT_NEAR(summary.symmetry_error, symmetry, 1e-3 * symmetry + 2e-13);
    EXPECT_EQ(summary.mu_min.has_value(), !entry["mu_min"].is_null());
    if (summary.mu_min) {
      EXPECT_DOUBLE_EQ(*summary.mu_min, entry["mu_min"].get<double>());
      EXPECT_DOUBLE_EQ(*summary.mu_max, entry["mu_max"].get<double>());
    }
    EXPECT_EQ(summary.has_guess, entry.contains("guesses"));
    EXPECT_EQ(summary.has_solution, entry.contains("solution"));
    EXPECT_TRUE(content->notes.empty());

    const Result<ContactProblem> problem = to_problem(*content, file);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_EQ(summary.kind.ends_with("rolling"), problem->cones().rolls());
    EXPECT_NEAR(problem->free_term().norm(), entry["q_norm"].get<double>(), 1e-9 * (1 + entry["q_norm"].get<double>()));
    EXPECT_FALSE(problem->reference().has_value()) << problem->reference()->residual;

    ASSERT_TRUE(write_fclib(*problem, temporary / "copy.hdf5").ok());
    const Result<ContactProblem> copy = load_fclib(temporary / "copy.hdf5");
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_EQ(copy->content_hash(), problem->content_hash());
  }
}

TEST(BadFiles, AreRefusedOrLoadAsTheirManifestSays) {
  const auto shared = testing::shared_data("fclib/bad");
  if (!shared) GTEST_SKIP() << testing::no_shared_data;
  const fs::path& folder = *shared;
  const Result<ContactProblem> base = load_fclib(folder / "valid_base.hdf5");
  ASSERT_TRUE(base.ok());
  for (const nlohmann::json& entry : manifest(folder / "manifest.json")) {
    const fs::path file = folder / entry["file"].get<std::string>();
    SCOPED_TRACE(file.filename());
    const Result<FclibContent> content = read_fclib(file);
    const std::string expected = entry["expected"].get<std::string>();
    if (expected == "reject" || file.filename() == "decide_global_triplet_as_documented.hdf5") {
      ASSERT_FALSE(content.ok());
      EXPECT_EQ(content.error().code, ErrorCode::bad_input);
      EXPECT_TRUE(content.error().message.starts_with(file.string()));
      EXPECT_EQ(content.error().message.find('\n'), std::string::npos);
      continue;
    }
    ASSERT_TRUE(content.ok()) << content.error().message;
    const Result<ContactProblem> problem = to_problem(*content, file);
    if (file.filename() == "decide_global_M_singular.hdf5") {
      ASSERT_FALSE(problem.ok());
      EXPECT_EQ(problem.error().code, ErrorCode::bad_input);
      EXPECT_NE(problem.error().message.find("singular"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    if (expected.find("same W, q, mu as valid_base") != std::string::npos) {
      EXPECT_EQ(problem->content_hash(), base->content_hash());
    }
  }
}

TEST(FamilyFiles, AllLoad) {
  const auto shared = testing::shared_data("families");
  if (!shared) GTEST_SKIP() << testing::no_shared_data;
  const fs::path& folder = *shared;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hdf5") continue;
    SCOPED_TRACE(entry.path());
    const Result<ContactProblem> problem = load_fclib(entry.path());
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    ASSERT_TRUE(problem->reference().has_value());
    EXPECT_LT(problem->reference()->residual, 1e-2);
    EXPECT_EQ(problem->provenance().family, entry.path().parent_path().filename());
  }
}

}  // namespace
}  // namespace conebench
