#include <gtest/gtest.h>

#include "problems/scenes/scene_support.hpp"
#include "problems/scenes/scene_table.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;

TEST(SceneTable, EverySceneMakesAProblemFromItsDefaults) {
  for (const auto& row : scene_table()) {
    const ContactProblem problem = make_problem(row.id);
    EXPECT_EQ(problem.provenance().family, row.id);
    EXPECT_EQ(problem.content_hash(), make_problem(row.id).content_hash()) << row.id;
  }
}

TEST(BoxStack, ReferenceBalancesTheWeight) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 4L}, {"mass_ratio", 1000.0}});
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
    const ContactProblem problem = make_problem("random", values, 7);
    EXPECT_EQ(problem.rows(), 41);
    if (hash.empty()) hash = problem.content_hash();
    EXPECT_EQ(problem.content_hash(), hash) << form;
  }
}

}  // namespace
}  // namespace conebench
