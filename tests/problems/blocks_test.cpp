#include "problems/blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Adds blocks one after the other.
struct TableMaker {
  BlockTable table;
  std::vector<double> lower, upper, mu, shift;

  void add(BlockCone cone, const std::vector<double>& row_lower, const std::vector<double>& row_upper,
           const std::vector<double>& row_mu, const std::vector<int>& groups, double block_shift) {
    lower.insert(lower.end(), row_lower.begin(), row_lower.end());
    upper.insert(upper.end(), row_upper.begin(), row_upper.end());
    mu.insert(mu.end(), row_mu.begin(), row_mu.end());
    table.group.insert(table.group.end(), groups.begin(), groups.end());
    table.cone.push_back(cone);
    table.first_row.push_back(table.first_row.back() + static_cast<Index>(row_mu.size()));
    shift.push_back(block_shift);
  }
  TableMaker& row(double l, double u) {
    add(BlockCone::none, {l}, {u}, {0.0}, {0}, 0.0);
    return *this;
  }
  /// `coefficients`: of the tangential rows; groups of discs from 1.
  TableMaker& contact(BlockCone cone, std::vector<double> coefficients, std::vector<int> groups = {},
                      double block_shift = 0.0) {
    if (groups.empty()) groups.assign(coefficients.size(), 1);
    coefficients.insert(coefficients.begin(), 0.0);
    groups.insert(groups.begin(), 0);
    const std::vector<double> none(coefficients.size(), not_known);
    add(cone, none, none, coefficients, groups, block_shift);
    return *this;
  }
  BlockTable done() const {
    BlockTable result = table;
    const auto vector = [](const std::vector<double>& x) {
      return Vector(Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size())));
    };
    result.lower = vector(lower);
    result.upper = vector(upper);
    result.mu = vector(mu);
    result.shift = vector(shift);
    return result;
  }
};

/// A full, symmetric G, and g.
GivenProblem given_problem(BlockTable blocks) {
  const Index n = blocks.rows();
  const Matrix random = Matrix::NullaryExpr(n, n, [](Index i, Index j) { return std::sin(double(7 * i + 3 * j * j)); });
  GivenProblem given;
  given.blocks = std::move(blocks);
  given.delassus = SparseMatrix(Matrix(random * random.transpose() + Matrix::Identity(n, n)).sparseView());
  given.free_term = Vector::LinSpaced(n, -1.0, 1.0);
  given.compliance = Vector::LinSpaced(n, 0.1, 0.5);
  given.provenance.name = "step 7";
  return given;
}

std::string failure_of(GivenProblem given) {
  const auto made = problem_from_blocks(std::move(given));
  return made ? std::string() : made.error().message;
}

/// Kinds mixed in an order that is not the problem's.
BlockTable mixed_table() {
  return TableMaker()
      .contact(BlockCone::ellipsoid, {0.5, 0.4, 0.1})                 // rows 0 … 3
      .row(-0.5, 0.5)                                                 // 4
      .contact(BlockCone::discs, {0.3, 0.3})                          // 5 … 7
      .row(0.0, unbounded)                                            // 8
      .row(-unbounded, unbounded)                                     // 9
      .contact(BlockCone::discs, {0.3, 0.3, 0.1, 0.1}, {1, 1, 2, 2})  // 10 … 14
      .contact(BlockCone::pyramid, {0.6, 0.7})                        // 15 … 17
      .row(-unbounded, 0.0)                                           // 18
      .done();
}

TEST(Blocks, AreOrderedAsJointsLimitsIntervalsAndContactsByType) {
  const ContactProblem problem = problem_from_blocks(given_problem(mixed_table())).value();
  const ConeProduct& cones = problem.cones();
  EXPECT_EQ(cones.joints(), 1);
  EXPECT_EQ(cones.limits(), 1);
  ASSERT_EQ(cones.intervals().size(), 2U);
  EXPECT_EQ(cones.intervals()[0], (Interval{-0.5, 0.5}));
  EXPECT_EQ(cones.intervals()[1], (Interval{-unbounded, 0.0}));
  ASSERT_EQ(cones.contacts(), 4);
  EXPECT_EQ(cones.law(0), FrictionLaw::coulomb(0.3));
  EXPECT_EQ(cones.law(1), FrictionLaw::rolling(0.3, 0.1));
  EXPECT_EQ(cones.law(2), (FrictionLaw{ConeShape::discs, {3}, {0.5, 0.4, 0.1}}));
  EXPECT_EQ(cones.law(3), (FrictionLaw{ConeShape::pyramid, {2}, {0.6, 0.7}}));
  // The normal is first in the table, and behind the first group in the problem.
  ASSERT_TRUE(problem.given_rows());
  std::vector<Index> row = problem.given_rows()->row;
  EXPECT_EQ(row[0], cones.contact_row(2) + 3);
  EXPECT_EQ(row[1], cones.contact_row(2));
  EXPECT_EQ(row[4], cones.first_interval_row());
  EXPECT_EQ(row[5], cones.contact_row(0) + 2);
  EXPECT_EQ(row[8], cones.first_limit_row());
  EXPECT_EQ(row[9], 0);
  EXPECT_EQ(row[10], cones.contact_row(1) + 2);
  EXPECT_EQ(row[13], cones.contact_row(1) + 3);
  EXPECT_EQ(row[15], cones.contact_row(3) + 2);
  EXPECT_EQ(row[18], cones.first_interval_row() + 1);
  std::sort(row.begin(), row.end());
  for (std::size_t k = 0; k < row.size(); ++k) EXPECT_EQ(row[k], static_cast<Index>(k));
}

TEST(Blocks, MoveMatrixFreeTermAndImpulsesTogether) {
  const GivenProblem given = given_problem(mixed_table());
  const ContactProblem problem = problem_from_blocks(given).value();
  const Vector impulse = Vector::LinSpaced(19, -1.0, 2.0);
  Vector velocity(19);
  problem.velocity(problem.given_rows()->to_problem(impulse, problem.rows()), velocity);
  const Vector expected = *given.delassus * impulse + given.compliance.cwiseProduct(impulse) + *given.free_term;
  EXPECT_LE((problem.given_rows()->velocity_to_given(velocity) - expected).norm(), 1e-13 * expected.norm());
  EXPECT_EQ(problem.given_rows()->to_given(problem.given_rows()->to_problem(impulse, 19)), impulse);
}

TEST(Blocks, OfAProductInItsOwnOrderMoveNothing) {
  const ContactProblem problem = problem_from_blocks(given_problem(mixed_table())).value();
  const BlockDescription described = describe_blocks(problem.cones());
  const ContactProblem same = problem_from_blocks(given_problem(described.table)).value();
  EXPECT_EQ(same.cones(), problem.cones());
}

TEST(Blocks, LeaveOutTangentialRowsWithoutFriction) {
  const BlockTable table = TableMaker()
                               .contact(BlockCone::ellipsoid, {0.5, 0.0, 0.1})
                               .contact(BlockCone::discs, {0.0, 0.0})
                               .contact(BlockCone::discs, {0.3, 0.3, 0.0}, {1, 1, 2})
                               .done();
  const ContactProblem problem = problem_from_blocks(given_problem(table)).value();
  const ConeProduct& cones = problem.cones();
  EXPECT_EQ(cones.limits(), 1) << "without any friction a contact is its normal";
  ASSERT_EQ(cones.contacts(), 2);
  EXPECT_EQ(cones.law(0), FrictionLaw::coulomb(0.3));
  EXPECT_EQ(cones.law(1), (FrictionLaw{ConeShape::discs, {2}, {0.5, 0.1}}));
  EXPECT_EQ(problem.rows(), 7);
  const GivenRows& rows = *problem.given_rows();
  for (const std::size_t dropped : {2U, 5U, 6U, 10U}) EXPECT_EQ(rows.row[dropped], -1) << dropped;
  const Vector given = rows.to_given(Vector::Ones(7));
  EXPECT_EQ(given[2], 0.0);
  EXPECT_EQ(given.sum(), 7.0);
  EXPECT_TRUE(std::isnan(rows.velocity_to_given(Vector::Ones(7))[2]));
}

TEST(Blocks, ShiftTheApexOfAConeToZero) {
  // λ_N ≥ −0.7: the problem's impulse is the given one plus 0.7, and its velocities are the same.
  const BlockTable table = TableMaker().row(-0.5, 0.5).contact(BlockCone::discs, {0.3, 0.3}, {}, 0.7).done();
  for (const bool primal : {false, true}) {
    GivenProblem given = given_problem(table);
    const Matrix matrix = *given.delassus;
    if (primal) {
      given.primal = PrimalForm{SparseMatrix(Matrix(matrix.inverse()).sparseView()),
                                SparseMatrix(Matrix(Matrix::Identity(4, 4)).sparseView()), Vector::LinSpaced(4, -1, 1)};
      given.delassus.reset();
      given.bias = Vector::Zero(4);
    }
    const ContactProblem problem = problem_from_blocks(given).value();
    const Vector impulse = Vector::LinSpaced(4, -1.0, 2.0);
    const Vector moved = problem.given_rows()->to_problem(impulse, 4);
    EXPECT_EQ(moved[3], impulse[1] + 0.7) << "the normal";
    Vector velocity(4);
    problem.velocity(moved, velocity);
    const Vector expected = matrix * impulse + given.compliance.cwiseProduct(impulse) + *given.free_term;
    EXPECT_LE((problem.given_rows()->velocity_to_given(velocity) - expected).norm(), 1e-12 * expected.norm());
    EXPECT_LE((problem.given_rows()->to_given(moved) - impulse).norm(), 1e-15);
  }
}

TEST(Blocks, TakeTheReferenceAlong) {
  GivenProblem given = given_problem(mixed_table());
  Vector impulse = Vector::Zero(19);
  impulse[4] = 0.25;
  impulse[9] = 3.0;
  impulse[18] = -2.0;
  given.reference = Reference{.reaction = impulse, .source = {}};
  const ContactProblem problem = problem_from_blocks(given).value();
  EXPECT_EQ(problem.given_rows()->to_given(problem.reference()->reaction), impulse);
  impulse[4] = 0.75;
  given.reference->reaction = impulse;
  EXPECT_THAT(failure_of(given), AllOf(HasSubstr("block 1, row 4"), HasSubstr("0.75"), HasSubstr("-0.5 and 0.5")));
}

TEST(Blocks, AreRefusedWithBlockRowAndValues) {
  const auto row = [](double l, double u) { return given_problem(TableMaker().row(0.0, unbounded).row(l, u).done()); };
  EXPECT_THAT(failure_of(row(0.5, -0.5)),
              AllOf(HasSubstr("step 7: block 1, row 1"), HasSubstr("lower <= upper (got 0.5 and -0.5)")));
  EXPECT_THAT(failure_of(row(not_known, 1.0)), HasSubstr("block 1, row 1"));
  EXPECT_THAT(failure_of(row(unbounded, unbounded)), HasSubstr("block 1, row 1"));
  EXPECT_EQ(failure_of(row(0.5, 0.5)), "") << "a given impulse";
  EXPECT_THAT(failure_of(given_problem(TableMaker().contact(BlockCone::discs, {0.3, -0.2}).done())),
              AllOf(HasSubstr("block 0, row 2"), HasSubstr("-0.2")));
  EXPECT_THAT(failure_of(given_problem(TableMaker().contact(BlockCone::discs, {0.3, 0.3}, {1, 3}).done())),
              AllOf(HasSubstr("block 0, row 2"), HasSubstr("got 3 after 1")));
  EXPECT_THAT(failure_of(given_problem(TableMaker().contact(BlockCone::discs, {0.3, 0.3}, {}, -1.0).done())),
              AllOf(HasSubstr("block 0, row 0"), HasSubstr("shift"), HasSubstr("-1")));
  BlockTable table = TableMaker().contact(BlockCone::discs, {0.3, 0.3}).done();
  table.mu[0] = 0.5;
  EXPECT_THAT(failure_of(given_problem(table)), HasSubstr("the normal's mu must be 0 (got 0.5)"));
  table = TableMaker().contact(BlockCone::discs, {0.3, 0.3}).done();
  table.lower[1] = 0.0;
  EXPECT_THAT(failure_of(given_problem(table)), HasSubstr("block 0, row 1: a cone's rows have the bounds NaN"));
  table = TableMaker().row(-1.0, 1.0).done();
  table.shift[0] = 1.0;
  EXPECT_THAT(failure_of(given_problem(table)), HasSubstr("only a cone has a shift (got 1)"));
  table = TableMaker().row(-1.0, 1.0).done();
  table.mu[0] = 0.5;
  EXPECT_THAT(failure_of(given_problem(table)),
              HasSubstr("block 0, row 0: only a cone's tangential rows have mu (got 0.5)"));
  table = TableMaker().row(-1.0, 1.0).done();
  table.first_row = {0, 2};
  EXPECT_THAT(failure_of(given_problem(table)), HasSubstr("lower has 1 entries, block_rows ends at 2"));
  GivenProblem given = given_problem(TableMaker().row(-1.0, 1.0).done());
  given.free_term.reset();
  EXPECT_THAT(failure_of(given), HasSubstr("neither g nor v_free"));
}

TEST(Blocks, OfOneGroupAreRefusedWithMore) {
  for (const BlockCone cone : {BlockCone::ellipsoid, BlockCone::pyramid}) {
    const auto table = [&](const std::vector<int>& groups) {
      return given_problem(TableMaker().contact(cone, {0.5, 0.5, 0.1}, groups).done());
    };
    EXPECT_THAT(failure_of(table({1, 1, 2})),
                AllOf(HasSubstr("block 0, row 3"), HasSubstr("one group (got 2 after 1)")));
    EXPECT_EQ(failure_of(table({1, 1, 1})), "");
    EXPECT_EQ(failure_of(table({0, 0, 0})), "") << "only discs are numbered";
  }
}

TEST(Blocks, RefuseAnImpulseWhereNoForceActs) {
  GivenProblem given = given_problem(TableMaker()
                                         .row(-0.5, 0.5)
                                         .contact(BlockCone::ellipsoid, {0.5, 0.0, 0.1})
                                         .contact(BlockCone::discs, {0.0, 0.0})
                                         .done());
  const ContactProblem problem = problem_from_blocks(given).value();
  Vector impulse = Vector::Zero(8);
  impulse[1] = 1.0;
  EXPECT_TRUE(problem.given_rows()->check(impulse, "r.npy", "the answer").ok());
  impulse[3] = 0.5;
  const auto checked = problem.given_rows()->check(impulse, "r.npy", "the answer");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::bad_input);
  EXPECT_EQ(checked.error().message, "r.npy: block 1, row 3 has mu = 0, where no force acts, but the answer has 0.5");
  given.guess = impulse;
  EXPECT_THAT(failure_of(given), HasSubstr("block 1, row 3 has mu = 0, where no force acts, but the guess has 0.5"));
  given.guess.reset();
  impulse[3] = 0.0;
  impulse[7] = not_known;
  given.reference = Reference{.reaction = impulse, .source = {}};
  EXPECT_THAT(failure_of(given),
              HasSubstr("block 2, row 7 has mu = 0, where no force acts, but the reference has nan"));
}

TEST(Blocks, RefuseAReferenceOutsideItsCone) {
  GivenProblem given = given_problem(TableMaker()
                                         .contact(BlockCone::discs, {0.5, 0.25}, {}, 0.5)
                                         .contact(BlockCone::pyramid, {0.5, 0.5})
                                         .contact(BlockCone::discs, {0.0, 0.0})
                                         .contact(BlockCone::discs, {0.5, 0.5, 0.1}, {1, 1, 2})
                                         .done());
  // Each at the edge of its cone; the first with the shift.
  Vector edge(13);
  edge << 0.5, 0.3, 0.2, 1.0, 0.25, -0.25, 0.0, 0.0, 0.0, 1.0, -0.3, 0.4, -0.1;
  const auto failure = [&](Index row, double value) {
    given.reference = Reference{.reaction = edge, .source = {}};
    given.reference->reaction[row] = value;
    return failure_of(given);
  };
  EXPECT_EQ(failure(0, 0.5), "");
  EXPECT_EQ(failure(6, -1e-9), "") << "rounding of the largest impulse";
  EXPECT_EQ(failure(12, 0.1 * (1.0 + 1e-8)), "");
  EXPECT_THAT(failure(2, 0.21), AllOf(HasSubstr("block 0, row 0: the reference is outside its cone"),
                                      HasSubstr("the normal impulse with the shift 1")));
  EXPECT_THAT(failure(0, -0.6), HasSubstr("block 0, row 0: the reference -0.6 is outside its cone"));
  EXPECT_THAT(failure(5, -0.3), HasSubstr("block 1, row 3: the reference is outside its cone"));
  EXPECT_THAT(failure(6, -0.1), HasSubstr("block 2, row 6: the reference -0.1 is outside its cone"));
  EXPECT_THAT(failure(12, 0.11), HasSubstr("block 3, row 9: the reference is outside its cone"));
  EXPECT_THAT(failure(1, not_known), HasSubstr("block 0, row 1: the reference is nan"));
}

TEST(Blocks, RefuseATriangularMass) {
  GivenProblem given = given_problem(TableMaker().row(-0.5, 0.5).row(0.0, unbounded).done());
  given.delassus.reset();
  given.free_term.reset();
  Matrix mass(2, 2);
  mass << 2.0, 0.5, 0.5, 1.0;
  const auto with = [&](const Matrix& m) {
    given.primal =
        PrimalForm{m.sparseView(), SparseMatrix(Matrix(Matrix::Identity(2, 2)).sparseView()), Vector::Ones(2)};
    return failure_of(given);
  };
  EXPECT_EQ(with(mass), "");
  EXPECT_EQ(with(Matrix(mass.diagonal().asDiagonal())), "");
  EXPECT_THAT(with(mass.triangularView<Eigen::Lower>()), HasSubstr("M has entries in one triangle only; give both"));
  EXPECT_THAT(with(mass.triangularView<Eigen::Upper>()), HasSubstr("M has entries in one triangle only; give both"));
}

TEST(Blocks, NameTheContactOfAWrongFrameOrIdentity) {
  GivenProblem given = given_problem(mixed_table());
  given.frames = Matrix(Matrix::Identity(3, 3)).reshaped().replicate(4, 1);
  EXPECT_EQ(failure_of(given), "");
  given.frames->segment<9>(9) *= 2.0;
  EXPECT_THAT(failure_of(given), HasSubstr("block 2: its frame (number 1) is not orthonormal"));
  given.frames.reset();
  given.identities = {7, 1, 8, 2, 3, 7, 9, 4};
  EXPECT_THAT(failure_of(given), HasSubstr("blocks 0 and 5 have the same identity 7"));
}

TEST(Blocks, WithoutGroupsTakeTwoTangentsAndTheRest) {
  BlockTable table = TableMaker().contact(BlockCone::discs, {0.3, 0.3, 0.1, 0.1}).done();
  table.group.clear();
  EXPECT_EQ(problem_from_blocks(given_problem(table)).value().cones().law(0), FrictionLaw::rolling(0.3, 0.1));
}

}  // namespace
}  // namespace conebench
