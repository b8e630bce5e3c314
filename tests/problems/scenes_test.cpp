#include <gtest/gtest.h>

#include "problems/scenes/scene_support.hpp"
#include "problems/scenes/scene_table.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench {
namespace {

ContactProblem make(const std::string& id, const OptionValues& values = {}, std::uint64_t seed = 1) {
  const auto row = require_scene(id);
  if (!row) throw std::runtime_error(row.error().message);
  auto problem = (*row)->make(values, seed);
  if (!problem) throw std::runtime_error(problem.error().message);
  return *problem;
}

TEST(SceneTable, EverySceneMakesAProblemFromItsDefaults) {
  for (const auto& row : scene_table()) {
    const ContactProblem problem = make(row.id);
    EXPECT_EQ(problem.provenance().family, row.id);
    EXPECT_EQ(problem.content_hash(), make(row.id).content_hash()) << row.id;
  }
}

TEST(BoxStack, ReferenceBalancesTheWeight) {
  const ContactProblem problem = make("box-stack", {{"boxes", 4L}, {"mass_ratio", 1000.0}});
  ASSERT_TRUE(problem.reference());
  Vector sigma(problem.rows());
  problem.velocity(problem.reference()->reaction, sigma);
  EXPECT_LT(sigma.lpNorm<Eigen::Infinity>(), 1e-13);
  EXPECT_LT(problem.reference()->residual, 1e-12);
  EXPECT_EQ(problem.cones().contacts(), 16);
}

TEST(RandomScene, FormsShareOneHash) {
  const OptionValues common = {{"contacts", 12L}, {"joints", 2L}, {"limits", 3L}, {"coupling", 2L}};
  std::string hash;
  for (const std::string form : {"dense", "block_sparse", "factored"}) {
    OptionValues values = common;
    values["form"] = form;
    const ContactProblem problem = make("random", values, 7);
    EXPECT_EQ(problem.rows(), 41);
    if (hash.empty()) hash = problem.content_hash();
    EXPECT_EQ(problem.content_hash(), hash) << form;
  }
}

}  // namespace
}  // namespace conebench
