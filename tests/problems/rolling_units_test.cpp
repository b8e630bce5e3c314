#include "problems/rolling_units.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "problems/scaled_natural_map.hpp"

namespace conebench {
namespace {

/// Two contacts of 5 rows; G's blocks have the mean diagonals 2 on translations and `rotations` on rotations.
ContactProblem two_contacts(double first_rotations, double second_rotations, bool factored = false) {
  Vector diagonal(10);
  diagonal << 1, 2, 3, first_rotations, first_rotations, 1, 2, 3, second_rotations, second_rotations;
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.4, 0.5}, 5, {0.1, 0.2}).value();
  data.free_term = Vector::LinSpaced(10, -1.0, 1.0);
  if (factored) {
    PrimalForm primal;
    primal.mass = SparseMatrix(Matrix::Identity(10, 10).sparseView());
    primal.jacobian = SparseMatrix(Matrix(diagonal.cwiseSqrt().asDiagonal()).sparseView());
    primal.free_velocity = Vector::Zero(10);
    data.bias = data.free_term;
    data.delassus = make_factored_delassus(primal.mass, primal.jacobian).value();
    data.primal = primal;
  } else {
    data.delassus = make_dense_delassus(diagonal.asDiagonal());
  }
  return ContactProblem::create(std::move(data)).value();
}

TEST(RollingUnits, LengthIsTheRootOfTranslationsOverRotations) {
  const Vector units = rolling_row_units(two_contacts(8.0, 0.5));
  EXPECT_EQ(units.head(3), Vector::Ones(3));
  EXPECT_DOUBLE_EQ(units[3], 0.5);
  EXPECT_DOUBLE_EQ(units[8], 2.0);
  EXPECT_EQ(units[9], units[8]);
}

TEST(RollingUnits, AContactThatDoesNotTurnTakesTheOthersLength) {
  EXPECT_DOUBLE_EQ(rolling_row_units(two_contacts(8.0, 0.0))[8], 0.5);
  EXPECT_EQ(rolling_row_units(two_contacts(0.0, 0.0)), Vector::Ones(10));
}

TEST(RollingUnits, TheScaledProblemIsTheSameInOtherUnits) {
  for (const bool factored : {false, true}) {
    const ContactProblem problem = two_contacts(8.0, 0.5, factored);
    const Vector units = rolling_row_units(problem);
    const ContactProblem scaled = in_rolling_units(problem).value();
    EXPECT_EQ(scaled.delassus().form(), problem.delassus().form());
    EXPECT_DOUBLE_EQ(scaled.cones().rolling_friction()[0], 0.1 / 0.5);
    EXPECT_DOUBLE_EQ(scaled.cones().rolling_friction()[1], 0.2 / 2.0);
    const Vector impulse = Vector::LinSpaced(10, 1.0, 3.0);
    Vector velocity(10);
    Vector scaled_velocity(10);
    problem.velocity(impulse, velocity);
    scaled.velocity(impulse.cwiseQuotient(units), scaled_velocity);
    EXPECT_LE((scaled_velocity - units.cwiseProduct(velocity)).norm(), 1e-14 * velocity.norm());
    const Matrix expected = units.asDiagonal() * problem.blocks().dense() * units.asDiagonal();
    EXPECT_TRUE(scaled.blocks().dense().isApprox(expected, 1e-15));
    EXPECT_EQ(scaled.delassus().dense(), scaled.blocks().dense());
    EXPECT_EQ(scaled.diagonal().diagonal(), Vector(scaled.blocks().dense().diagonal()));
    EXPECT_LE((rolling_row_units(scaled) - Vector::Ones(10)).norm(), 1e-15 * 10) << "scaling again changes nothing";
    EXPECT_NEAR(scaled_natural_map(scaled, impulse.cwiseQuotient(units)) / scaled_natural_map(problem, impulse), 1.0,
                1e-13);
  }
}

TEST(RollingUnits, OtherProblemsStayAsTheyAre) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.4}).value();
  data.free_term = Vector::Ones(3);
  data.delassus = make_dense_delassus(Matrix::Identity(3, 3));
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  EXPECT_EQ(&in_rolling_units(problem).value().blocks(), &problem.blocks());
}

}  // namespace
}  // namespace conebench
