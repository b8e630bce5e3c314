#include "metrics/normal_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using Evidence = NormalDoubt::Evidence;

/// Contacts (t1, t2, n) of spheres of 2 kg, radius 0.1 m and moment of inertia 0.01 kg m², apart from each other, with
/// entry k of `order` as row k of each.
ContactProblem spheres(Index count, std::array<Index, 3> order, Index joints = 0) {
  const Vector own = vector_of({0.5 + 1.0, 0.5 + 1.0, 0.5});
  Matrix delassus = Matrix::Identity(joints + 3 * count, joints + 3 * count);
  for (Index row = 0; row < 3 * count; ++row) {
    delassus(joints + row, joints + row) = own[order[static_cast<std::size_t>(row % 3)]];
  }
  return problem_of({.joints = joints, .friction = std::vector<double>(static_cast<std::size_t>(count), 0.5)}, delassus,
                    Vector::Constant(joints + 3 * count, -1.0));
}

TEST(NormalRows, OfSpheresAreTheLeastEntriesOfTheirBlocks) {
  for (const Index joints : {0, 2}) {
    EXPECT_FALSE(doubt_normals(spheres(4, {0, 1, 2}, joints), {}));
    const auto last = doubt_normals(spheres(4, {0, 2, 1}, joints), {});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->evidence, Evidence::lever_arms);
    EXPECT_EQ(last->tangent, 1);
    EXPECT_EQ(last->contacts, 4);
    EXPECT_EQ(doubt_normals(spheres(1, {2, 0, 1}, joints), {}).value().tangent, 0);
  }
}

TEST(NormalRows, OfADiscInThePlaneAreTheLesserOfTwo) {
  const auto disc = [](double tangent, double normal) {
    Matrix delassus = Matrix::Zero(2, 2);
    delassus.diagonal() << tangent, normal;
    return problem_of({.friction = {0.5}, .dimension = 2}, delassus, vector_of({0.0, -1.0}));
  };
  EXPECT_FALSE(doubt_normals(disc(1.5, 0.5), {}));
  EXPECT_FALSE(doubt_normals(disc(1.0, 1.0), {}));
  EXPECT_EQ(doubt_normals(disc(0.5, 1.5), {}).value().tangent, 0);
}

TEST(NormalRows, AreNotDoubtedForASingleOddContact) {
  Matrix delassus = Matrix::Identity(6, 6);
  delassus.diagonal() << 1.5, 1.5, 0.5, 1.5, 0.5, 1.5;
  EXPECT_FALSE(doubt_normals(problem_of({.friction = {0.5, 0.5}}, delassus, Vector::Constant(6, -1.0)), {}));
}

TEST(NormalRows, AreWhereAnAnswerIsInTheCones) {
  const ContactProblem problem = problem_of({.friction = {0.5, 0.5}}, Matrix::Identity(6, 6), Vector::Zero(6));
  const auto doubt = [&](const Vector& answer) { return doubt_normals(problem, std::array{answer}); };
  EXPECT_FALSE(doubt(vector_of({0.2, 0.3, 1.0, -0.1, 0.0, 2.0})));
  const auto last = doubt(vector_of({0.2, 1.0, 0.3, -0.1, 2.0, 0.0}));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->evidence, Evidence::answer);
  EXPECT_EQ(last->tangent, 1);
  EXPECT_EQ(last->contacts, 2);
  EXPECT_EQ(doubt(vector_of({1.0, 0.3, 0.2, 2.0, -0.1, 0.0})).value().tangent, 0);
  // In no cone, in any, and none.
  EXPECT_FALSE(doubt(vector_of({0.2, 1.0, 0.3, -0.1, 0.0, 2.0})));
  EXPECT_FALSE(doubt(Vector::Zero(6)));
  EXPECT_FALSE(doubt(Vector::Constant(6, std::numeric_limits<double>::quiet_NaN())));
}

TEST(NormalRows, OfAnAnswerInItsConesAreNotDoubtedForLeverArms) {
  const ContactProblem problem = spheres(1, {0, 2, 1});
  EXPECT_TRUE(doubt_normals(problem, {}));
  EXPECT_FALSE(doubt_normals(problem, std::array{vector_of({0.1, 0.0, 1.0})}));
}

TEST(NormalRows, OfScenesAreNotDoubted) {
  for (const char* scene : {"box-stack", "random", "sliding-box"}) {
    EXPECT_FALSE(doubt_normals(testing::make_problem(scene), {})) << scene;
  }
}

}  // namespace
}  // namespace conebench
