#include "scenes/scene_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <map>
#include <set>

#include "problems/scaled_natural_map.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/official_residual.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;

class Scene : public ::testing::TestWithParam<std::string> {
 protected:
  const SceneRow& row() const { return **require_scene(GetParam()); }
  ContactProblem make(const OptionValues& values = {}, std::uint64_t seed = 1) const {
    return make_problem(GetParam(), values, seed);
  }
  /// Small enough for dense matrices.
  ContactProblem make_small(OptionValues values) const {
    static const std::map<std::string, OptionValues> small = {
        {"aqueduct", {{"spans", 1L}, {"stones", 5L}, {"pier_courses", 1L}, {"deck_courses", 0L}, {"wythes", 1L}}},
        {"elastic-wall", {{"courses", 2L}, {"columns", 1L}, {"nx", 2L}, {"ny", 1L}, {"nz", 1L}}},
        {"sphere-pack", {{"spheres", 30L}}}};
    if (const auto found = small.find(GetParam()); found != small.end()) {
      values.insert(found->second.begin(), found->second.end());
    }
    return make(values);
  }
};

TEST_P(Scene, MakesTheSameProblemFromTheSameValues) {
  const ContactProblem problem = make();
  EXPECT_GT(problem.rows(), 0);
  EXPECT_EQ(problem.provenance().family, GetParam());
  EXPECT_THAT(problem.provenance().name, HasSubstr(GetParam()));
  EXPECT_EQ(problem.provenance().form, GetParam());
  EXPECT_EQ(make().content_hash(), problem.content_hash());
  EXPECT_EQ(make().data_hash(), problem.data_hash());
}

TEST_P(Scene, HasOneContentInEveryForm) {
  // Of a problem given as M and J the content of its assembled form is an alias, where rigid bodies make G cheap.
  const auto content_of = [](const ContactProblem& problem) {
    const auto aliases = problem.aliases();
    return aliases ? aliases->content_hash : problem.content_hash();
  };
  const bool elastic = !make_small({{"form", std::string("factored")}}).condenses_sparsely();
  const std::string content = content_of(make_small({{"form", std::string("block_sparse")}}));
  for (const auto& [name, form] : {std::pair{"dense", DelassusForm::dense},
                                   {"block_sparse", DelassusForm::block_sparse},
                                   {"factored", DelassusForm::factored}}) {
    const ContactProblem problem = make_small({{"form", std::string(name)}});
    EXPECT_EQ(problem.delassus().form(), form);
    EXPECT_EQ(content_of(problem) == content, !(elastic && form == DelassusForm::factored)) << name;
  }
}

TEST_P(Scene, CondensesItsPrimalForm) {
  const ContactProblem problem = make_small({{"form", std::string("factored")}});
  ASSERT_TRUE(problem.primal());
  const Matrix mass = problem.primal()->mass;
  const Matrix jacobian = problem.primal()->jacobian;
  const Matrix condensed = jacobian * mass.inverse() * jacobian.transpose();
  EXPECT_LT((problem.blocks().dense() - condensed).norm(), 1e-12 * condensed.norm());
  const Vector free_term = jacobian * problem.primal()->free_velocity + *problem.bias();
  EXPECT_LT((problem.free_term() - free_term).norm(), 1e-12 * free_term.norm());
}

TEST_P(Scene, StatesTheResidualOfItsReference) {
  const ContactProblem problem = make();
  const std::set<std::string> open = {"random",       "soft-block",  "aqueduct",       "elastic-wall",
                                      "masonry-arch", "sphere-pack", "stiff-mechanism"};
  ASSERT_EQ(problem.reference().has_value(), !open.contains(GetParam()));
  if (!problem.reference()) return;
  const double residual = testing::official_residual(problem, problem.reference()->reaction);
  EXPECT_LE(residual, 1e-12);
  EXPECT_NEAR(problem.reference()->residual, residual, 1e-13);
}

TEST_P(Scene, ListsOptionsWithinTheirBounds) {
  std::set<std::string> names;
  for (const auto& spec : row().options) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    // The default, given by hand, is accepted and changes nothing.
    EXPECT_EQ(make({{spec.name, spec.default_value}}).data_hash(), make().data_hash()) << spec.name;
  }
}

TEST_P(Scene, NamesItselfInErrors) {
  const auto unknown = row().make({{"no_such_option", 1L}}, 1);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("scene '" + GetParam() + "': unknown option 'no_such_option'"));
}

std::vector<std::string> scene_ids() {
  std::vector<std::string> ids;
  for (const auto& row : scene_table()) ids.push_back(row.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(All, Scene, ::testing::ValuesIn(scene_ids()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(SceneTable, HasUniqueIds) {
  const auto ids = scene_ids();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  for (const std::string id : {"random",
                               "known-solution",
                               "sliding-box",
                               "box-stack",
                               "box-on-slope",
                               "sphere-lattice",
                               "soft-block",
                               "joint-friction-pendulum",
                               "drive-effort-limit",
                               "coupled-joints",
                               "tendon",
                               "given-impulse",
                               "spinning-disc",
                               "ball-on-slope",
                               "orthotropic-block",
                               "aqueduct",
                               "masonry-arch",
                               "sphere-pack",
                               "elastic-wall",
                               "stiff-mechanism"}) {
    EXPECT_TRUE(require_scene(id).ok()) << id;
  }
}

TEST(SceneTable, ListsTheKnownIdsForAnUnknownOne) {
  const auto row = require_scene("no-such-scene");
  ASSERT_FALSE(row.ok());
  EXPECT_EQ(row.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(row.error().message, HasSubstr("unknown scene 'no-such-scene'; known: sliding-box, "));
}

TEST(SceneName, HasChangedValuesAndTheSeed) {
  EXPECT_EQ(make_problem("box-stack", {{"boxes", 3L}, {"friction", 0.25}}).provenance().name,
            "box-stack_boxes=3_friction=0.25");
  EXPECT_EQ(make_problem("random", {{"contacts", 3L}}, 9).provenance().name, "random_contacts=3_seed=9");
}

TEST(ScaledNaturalMap, AgreesWithTheFormulaOnWrongAnswers) {
  for (const std::string id : {"random", "known-solution"}) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem = make_problem(
          id, {{"dimension", dimension}, {"joints", 2L}, {"limits", 3L}, {"compliance", 0.1}, {"contacts", 9L}});
      const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 2.0);
      const double expected = testing::official_residual(problem, impulse);
      EXPECT_GT(expected, 1e-3);
      EXPECT_NEAR(scaled_natural_map(problem, impulse), expected, 1e-12 * expected);
    }
  }
}

}  // namespace
}  // namespace conebench
