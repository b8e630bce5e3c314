#include "problems/scaled_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(ScaledRows, LengthIsTheRootOfTranslationsOverRotations) {
  const Vector units = row_units_of(two_contacts(8.0, 0.5));
  EXPECT_EQ(units.head(3), Vector::Ones(3));
  EXPECT_DOUBLE_EQ(units[3], 0.5);
  EXPECT_DOUBLE_EQ(units[8], 2.0);
  EXPECT_EQ(units[9], units[8]);
}

TEST(ScaledRows, AContactThatDoesNotTurnTakesTheOthersLength) {
  EXPECT_DOUBLE_EQ(row_units_of(two_contacts(8.0, 0.0))[8], 0.5);
  EXPECT_EQ(row_units_of(two_contacts(0.0, 0.0)), Vector::Ones(10));
}

TEST(ScaledRows, TheScaledProblemIsTheSameInOtherUnits) {
  for (const bool factored : {false, true}) {
    const ContactProblem problem = two_contacts(8.0, 0.5, factored);
    const Vector units = row_units_of(problem);
    const ContactProblem scaled = in_row_units(problem).value();
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
    EXPECT_LE((row_units_of(scaled) - Vector::Ones(10)).norm(), 1e-15 * 10) << "scaling again changes nothing";
    EXPECT_NEAR(scaled_natural_map(scaled, impulse.cwiseQuotient(units)) / scaled_natural_map(problem, impulse), 1.0,
                1e-13);
  }
}

TEST(ScaledRows, OtherProblemsStayAsTheyAre) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.4}).value();
  data.free_term = Vector::Ones(3);
  data.delassus = make_dense_delassus(Matrix::Identity(3, 3));
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  EXPECT_EQ(&in_row_units(problem).value().blocks(), &problem.blocks());
}

/// A limit, two bounded rows and one contact, with a full G.
ContactProblem with_law(const FrictionLaw& law) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 1, {{-0.3, 0.2}, {-1.0, 1.0}}, {law}).value();
  const Index n = data.cones.rows();
  const Matrix random = Matrix::NullaryExpr(n, n, [](Index i, Index j) { return std::sin(double(7 * i + 3 * j * j)); });
  data.delassus = make_dense_delassus(random * random.transpose() + Matrix::Identity(n, n));
  data.free_term = Vector::LinSpaced(n, -1.0, 1.0);
  data.compliance = Vector::LinSpaced(n, 0.1, 0.5);
  return ContactProblem::create(std::move(data)).value();
}

const std::vector<FrictionLaw>& unequal_laws() {
  static const std::vector<FrictionLaw> laws = {
      {ConeShape::discs, {2}, {0.3, 0.9}},
      {ConeShape::discs, {3}, {0.5, 0.4, 0.02}},
      {ConeShape::discs, {5}, {0.5, 0.4, 0.02, 0.1, 0.3}},
      {ConeShape::discs, {2, 1}, {0.5, 0.5, 0.02}},
      {ConeShape::discs, {2, 3}, {0.3, 0.6, 0.02, 0.05, 0.07}},
      {ConeShape::pyramid, {2}, {0.3, 0.9}},
  };
  return laws;
}

TEST(ScaledRows, EveryGroupBecomesABall) {
  for (const FrictionLaw& law : unequal_laws()) {
    const ContactProblem problem = with_law(law);
    ASSERT_TRUE(problem.cones().scales());
    const ContactProblem scaled = in_row_units(problem).value();
    const FrictionLaw ball = scaled.cones().law(0);
    EXPECT_TRUE(ball.isotropic());
    EXPECT_EQ(ball.groups, law.groups);
    EXPECT_EQ(ball.shape, law.shape);
    EXPECT_EQ(ball.coefficients[0], law.coefficients[0]) << "the first group keeps its first coefficient";
    EXPECT_EQ(scaled.cones().intervals()[0], (Interval{-0.3, 0.2})) << "rows with bounds stay as they are";
    // The length of moments is measured before unequal coefficients are scaled away.
    if (law.groups.size() > 1 && !law.isotropic()) continue;
    EXPECT_TRUE(row_units_of(scaled).isApprox(Vector::Ones(scaled.rows()), 1e-14)) << "scaling again changes nothing";
  }
}

TEST(ScaledRows, KeepsWhatIsInTheConeAndItsDualInThem) {
  for (const FrictionLaw& law : unequal_laws()) {
    const ContactProblem problem = with_law(law);
    const Vector units = row_units_of(problem);
    const FrictionCone ball = in_row_units(problem, units).value().cones().friction_cone(0);
    const Index row = problem.cones().contact_row(0);
    const auto own = units.segment(row, law.rows());
    for (int trial = 0; trial < 50; ++trial) {
      FrictionCone::Block x(law.rows());
      for (Index k = 0; k < x.size(); ++k) x[k] = std::sin(double(13 * trial + 5 * k * k + k + 1));
      x[law.groups[0]] = std::abs(x[law.groups[0]]);
      // ‖D_g⁻¹ λ_g‖ ≤ λ_N, and Σ_g ‖D_g v_g‖ ≤ v_N, in the variables as given.
      double force = 0.0;
      double slip = 0.0;
      std::size_t k = 0;
      for (std::size_t g = 0; g < law.groups.size(); ++g) {
        double length = 0.0, dual = 0.0, largest = 0.0;
        for (int r = 0; r < law.groups[g]; ++r, ++k) {
          const double entry = x[static_cast<Index>(k) + (g == 0 ? 0 : 1)];
          const double mu = law.coefficients[k];
          length = law.shape == ConeShape::pyramid ? length + std::abs(entry) / mu : std::hypot(length, entry / mu);
          dual = std::hypot(dual, mu * entry);
          largest = std::max(largest, mu * std::abs(entry));
        }
        force = std::max(force, length);
        slip += law.shape == ConeShape::pyramid ? largest : dual;
      }
      const FrictionCone::Block scaled = x.cwiseQuotient(own);
      const FrictionCone::Block velocity = x.cwiseProduct(own);
      const double normal = x[law.groups[0]];
      if (std::abs(force - normal) > 1e-9) {
        EXPECT_EQ((ball.project(scaled) - scaled).norm() < 1e-14, force < normal) << trial;
      }
      EXPECT_NEAR(ball.de_saxce(velocity), slip, 1e-13) << "De Saxcé's term is the same";
    }
  }
}

TEST(ScaledRows, MovesTheProblemAndNothingElse) {
  for (const FrictionLaw& law : unequal_laws()) {
    const ContactProblem problem = with_law(law);
    const Vector units = row_units_of(problem);
    const ContactProblem scaled = in_row_units(problem, units).value();
    const Vector impulse = Vector::LinSpaced(problem.rows(), 1.0, 3.0);
    Vector velocity(problem.rows());
    Vector scaled_velocity(problem.rows());
    problem.velocity(impulse, velocity);
    scaled.velocity(impulse.cwiseQuotient(units), scaled_velocity);
    EXPECT_LE((scaled_velocity - units.cwiseProduct(velocity)).norm(), 1e-14 * velocity.norm());
    EXPECT_EQ(units.head(4), Vector::Ones(4)) << "of rows with bounds, and of the first tangent";
    EXPECT_EQ(units[problem.cones().normal_row_of(3)], 1.0);
  }
}

TEST(ScaledRows, LeavesIsotropicContactsAlone) {
  for (const FrictionLaw& law :
       {FrictionLaw::coulomb(0.5), FrictionLaw::coulomb(0.5, 1), FrictionLaw{ConeShape::discs, {3}, {0.5, 0.5, 0.5}}}) {
    EXPECT_FALSE(with_law(law).cones().scales());
    EXPECT_EQ(row_units_of(with_law(law)), Vector::Ones(4 + law.rows() - 1));
  }
}

}  // namespace
}  // namespace conebench
