#include "problems/islands.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/make_problem.hpp"
#include "tests/support/side_by_side.hpp"

namespace conebench {
namespace {

using testing::bare;
using testing::make_problem;
using testing::side_by_side;
using testing::SideBySide;

std::vector<Index> as_vector(std::span<const Index> numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<ContactProblem> problems_of(const std::string& form) {
  return {bare(make_problem("box-stack", {{"boxes", 3L}, {"form", form}})),
          bare(make_problem("sphere-lattice", {{"nx", 3L}, {"ny", 2L}, {"nz", 2L}, {"push", 0.5}, {"form", form}})),
          bare(make_problem("box-on-slope", {{"form", form}}))};
}

class IslandsOfForms : public ::testing::TestWithParam<const char*> {};

TEST_P(IslandsOfForms, AreTheProblemsThatStandSideBySide) {
  const auto problems = problems_of(GetParam());
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const SideBySide sides = side_by_side(problems, seed);
    const Islands islands(sides.whole);
    ASSERT_EQ(islands.count(), 3);
    std::set<std::size_t> found;
    for (Index i = 0; i < 3; ++i) {
      const auto same = std::ranges::find(sides.blocks, as_vector(islands.blocks(i)));
      ASSERT_NE(same, sides.blocks.end());
      const auto p = static_cast<std::size_t>(same - sides.blocks.begin());
      found.insert(p);
      EXPECT_EQ(as_vector(islands.rows(i)), sides.rows[p]);
      const ContactProblem part = islands.problem(i).value();
      // Cones, G (or M and J), R and g to the last bit, and v_free and b.
      EXPECT_EQ(part.content_hash(), problems[p].content_hash());
      EXPECT_EQ(part.data_hash(), problems[p].data_hash());
      EXPECT_EQ(part.cones(), problems[p].cones());
      EXPECT_EQ(part.form(), problems[p].form());
    }
    EXPECT_EQ(found.size(), 3U);
    EXPECT_EQ(islands.blocks(0)[0], 0) << "numbered by their first blocks";
  }
}

TEST_P(IslandsOfForms, OfAConnectedProblemAreTheProblemItself) {
  const auto problems = problems_of(GetParam());
  for (const ContactProblem& problem : problems) {
    const Islands islands(problem);
    ASSERT_EQ(islands.count(), 1);
    EXPECT_EQ(islands.problem(0)->data_hash(), problem.data_hash());
  }
}

INSTANTIATE_TEST_SUITE_P(Islands, IslandsOfForms, ::testing::Values("dense", "block_sparse", "factored"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Islands, OfEveryKindOfRowAndOfLawsThatDiffer) {
  // Two interval rows, a joint, a limit, a contact of 2 rows with torsion and an elliptic one: all apart but the joint
  // and the first contact, and the limit and the second interval.
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 1, {{-1.0, 2.0}, {0.0, 3.0}},
                                   {FrictionLaw{ConeShape::discs, {2, 1}, {0.5, 0.5, 0.1}},
                                    FrictionLaw{ConeShape::discs, {2}, {0.3, 0.6}}})
                   .value();
  const Index rows = data.cones.rows();
  ASSERT_EQ(rows, 4 + 4 + 3);
  Matrix matrix = Matrix::Identity(rows, rows);
  matrix(0, 5) = matrix(5, 0) = 0.25;
  matrix(3, 1) = 1e-300;  // one way, and small: still coupled
  data.delassus = make_dense_delassus(matrix);
  data.free_term = Vector::LinSpaced(rows, 1.0, 11.0);
  data.compliance = 0.5 * data.free_term;
  data.guess = 2.0 * data.free_term;
  data.configuration.emplace();
  data.configuration->gaps = Vector::LinSpaced(2, 0.1, 0.2);
  data.configuration->contact_identities = {{7, 9}};
  data.configuration->limit_identities = {{5}};
  data.configuration->time_step = 1e-3;
  data.configuration->bodies = 3;
  const ContactProblem problem = ContactProblem::create(data).value();
  const Islands islands(problem);
  ASSERT_EQ(islands.count(), 4);
  const std::vector<std::vector<Index>> expected = {{0, 4}, {1, 3}, {2}, {5}};
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(as_vector(islands.blocks(i)), expected[static_cast<std::size_t>(i)]);

  const ContactProblem torsion = islands.problem(0).value();
  EXPECT_EQ(torsion.cones().joints(), 1);
  EXPECT_EQ(torsion.cones().law(0), data.cones.law(0));
  EXPECT_EQ(torsion.configuration()->gaps, Vector::Constant(1, 0.1));
  EXPECT_EQ(torsion.configuration()->contact_identities, std::vector<std::int64_t>{7});
  EXPECT_EQ(torsion.configuration()->time_step, 1e-3);
  EXPECT_EQ(torsion.configuration()->bodies, std::nullopt);
  EXPECT_EQ(torsion.delassus().dense()(0, 2), 0.25);
  EXPECT_EQ(*torsion.guess(), Vector(2.0 * torsion.free_term()));
  const ContactProblem bounds = islands.problem(1).value();
  EXPECT_EQ(bounds.cones().limits(), 1);
  EXPECT_EQ(bounds.cones().bounds(1), (Interval{0.0, 3.0}));
  EXPECT_EQ(bounds.configuration()->limit_identities, std::vector<std::int64_t>{5});
  EXPECT_EQ(bounds.delassus().dense()(1, 0), 1e-300);
  EXPECT_EQ(bounds.free_term(), (Vector(2) << 2.0, 4.0).finished());
  const ContactProblem elliptic = islands.problem(3).value();
  EXPECT_EQ(elliptic.cones().law(0), data.cones.law(1));
  EXPECT_EQ(elliptic.configuration()->contact_identities, std::vector<std::int64_t>{9});
  EXPECT_EQ(elliptic.compliance(), Vector(0.5 * elliptic.free_term()));
}

TEST(Islands, WhatIsFixedToTheWorldConnectsNothing) {
  // Two boxes far apart on one plane.
  const ContactProblem box = bare(make_problem("box-on-slope"));
  const SideBySide sides = side_by_side({box, box}, 3);
  EXPECT_EQ(Islands(sides.whole).count(), 2);
}

TEST(Islands, SmallOnesStandTogether) {
  const ContactProblem box = bare(make_problem("box-on-slope"));                  // 4 contacts
  const ContactProblem stack = bare(make_problem("box-stack", {{"boxes", 3L}}));  // 12 contacts
  const SideBySide sides = side_by_side({box, stack, box, box}, 2);
  ASSERT_EQ(Islands(sides.whole, 4).count(), 4);
  const Islands two(sides.whole, 8);
  ASSERT_EQ(two.count(), 3) << "two boxes, the stack, the third box";
  std::vector<std::size_t> sizes;
  for (Index i = 0; i < 3; ++i) sizes.push_back(two.blocks(i).size());
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 8, 12}));
  EXPECT_EQ(Islands(sides.whole, 100).count(), 1);
  std::set<Index> all;
  for (Index i = 0; i < 3; ++i) {
    all.insert(two.blocks(i).begin(), two.blocks(i).end());
    EXPECT_TRUE(std::ranges::is_sorted(two.blocks(i)));
    EXPECT_EQ(two.problem(i)->cones().blocks(), static_cast<Index>(two.blocks(i).size()));
  }
  EXPECT_EQ(all.size(), 24U);
}

TEST(Islands, TakeTheMadeBlocksOfTheWholeWithTheBitsTheyWouldMake) {
  const SideBySide sides = side_by_side(problems_of("factored"), 5);
  const Islands islands(sides.whole);
  const ContactProblem alone = islands.problem(1).value();
  ASSERT_EQ(alone.made_blocks(), nullptr);
  sides.whole.blocks();
  const ContactProblem given = islands.problem(1).value();
  ASSERT_NE(given.made_blocks(), nullptr);
  EXPECT_EQ(given.made_blocks()->dense(), alone.blocks().dense());
  EXPECT_EQ(given.made_blocks()->stored_blocks(), alone.blocks().stored_blocks());
}

TEST(Islands, ReadsOfAPartCountAsReadsOfTheWhole) {
  const SideBySide sides = side_by_side(problems_of("factored"), 5);
  const auto use = std::make_shared<ProblemUse>();
  const ContactProblem part = Islands(sides.whole.watched(use)).problem(0).value();
  EXPECT_FALSE(use->delassus);
  part.blocks();
  EXPECT_TRUE(use->delassus);
}

TEST(Islands, OfAProblemWithoutRowsAreNone) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {}).value();
  data.delassus = make_dense_delassus(Matrix(0, 0));
  data.free_term = Vector(0);
  EXPECT_EQ(Islands(ContactProblem::create(data).value()).count(), 0);
}

}  // namespace
}  // namespace conebench
