#include "problems/conversions.hpp"

#include <gtest/gtest.h>

#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;

TEST(Symmetrised, AveragesTheMatrixWithItsTranspose) {
  const ContactProblem problem =
      make_problem("random", {{"contacts", 5L}, {"joints", 1L}, {"form", std::string("dense")}});
  ContactProblemData data = problem.data();
  Matrix matrix = problem.blocks().dense();
  matrix(0, 4) += 0.25;
  matrix(9, 2) -= 0.5;
  data.delassus = make_dense_delassus(matrix);
  const auto skewed = ContactProblem::create(data);
  ASSERT_TRUE(skewed.ok());
  ASSERT_GT(skewed->symmetry_error(), 1e-3);
  const ContactProblem result = symmetrised(*skewed);
  EXPECT_EQ(result.symmetry_error(), 0.0);
  EXPECT_EQ(result.blocks().dense(), Matrix(0.5 * (matrix + matrix.transpose())));
  EXPECT_NE(result.content_hash(), skewed->content_hash());
  EXPECT_EQ(symmetrised(result).content_hash(), result.content_hash());
}

TEST(WithCompliance, FillsRowsThatHaveNoneByAShareOfTheDiagonal) {
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 1, {0.5, 0.5}).value();
  Matrix matrix = Matrix::Zero(8, 8);
  matrix.diagonal() << 2, 3, 1, 3, 5, 0, 0, 0;
  data.delassus = make_dense_delassus(matrix);
  data.free_term = Vector::Ones(8);
  data.compliance = Vector::Zero(8);
  data.compliance[1] = 0.7;
  const auto problem = ContactProblem::create(data);
  ASSERT_TRUE(problem.ok());
  const ContactProblem compliant = with_compliance(*problem, 0.1);
  Vector expected(8);
  // The tangents share their mean, (1 + 3) / 2; a zero block takes the mean of the positive entries after that.
  const double mean = (2.0 + 3.0 + 2.0 + 2.0 + 5.0) / 5.0;
  expected << 0.2, 0.7, 0.2, 0.2, 0.5, 0.1 * mean, 0.1 * mean, 0.1 * mean;
  EXPECT_LE((compliant.compliance() - expected).norm(), 1e-15) << compliant.compliance().transpose();
  EXPECT_EQ(compliant.blocks().dense(), problem->blocks().dense());
}

TEST(WithCompliance, LeavesAProblemAloneThatHasSomeInEveryRowOrAsksForNone) {
  const ContactProblem rigid = make_problem("random", {{"contacts", 3L}});
  EXPECT_EQ(with_compliance(rigid, 0.0).content_hash(), rigid.content_hash());
  const ContactProblem compliant = with_compliance(rigid, 0.1);
  EXPECT_NE(compliant.content_hash(), rigid.content_hash());
  EXPECT_EQ(with_compliance(compliant, 0.2).content_hash(), compliant.content_hash());
}

}  // namespace
}  // namespace conebench
