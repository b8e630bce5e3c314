#include "metrics/features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "problem_builders.hpp"
#include "scenes/random_source.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;

Matrix random_orthogonal(Index n, std::uint64_t seed) {
  RandomSource random(seed);
  Matrix q = Matrix::Identity(n, n);
  for (int k = 0; k < 12; ++k) {
    Vector v(n);
    for (double& value : v) value = random.normal();
    v.normalize();
    q -= 2.0 * v * (v.transpose() * q);
  }
  return q;
}

BlockSparseMatrix joints_matrix(const Matrix& matrix) {
  return BlockSparseMatrix::from_dense(matrix, *ConeProduct::create(matrix.rows(), 0, {}));
}

TEST(Spectrum, OfASymmetricMatrixHasItsRankConditioningAndSigns) {
  Vector values(6);
  values << 8.0, 4.0, 2.0, 0.5, 0.0, 0.0;
  const Matrix q = random_orthogonal(6, 1);
  const Spectrum spectrum = analyse_spectrum(joints_matrix(q * values.asDiagonal() * q.transpose()));
  EXPECT_FALSE(spectrum.estimated);
  EXPECT_EQ(spectrum.rank, 4);
  EXPECT_NEAR(spectrum.largest, 8.0, 1e-13);
  EXPECT_NEAR(*spectrum.conditioning, 16.0, 1e-12);
  EXPECT_NEAR(spectrum.min_eigenvalue, 0.0, 1e-13);
  EXPECT_TRUE(spectrum.positive_semidefinite);
  values[5] = -1e-7;
  EXPECT_FALSE(analyse_spectrum(joints_matrix(q * values.asDiagonal() * q.transpose())).positive_semidefinite);
}

TEST(Spectrum, OfAnUnsymmetricMatrixCountsSingularValues) {
  for (const Index n : {1, 2, 3, 7, 40}) {
    Vector values = Vector::Zero(n);
    const Index rank = (n + 1) / 2;
    for (Index i = 0; i < rank; ++i) values[i] = std::pow(10.0, -static_cast<double>(i) / 10.0);
    const Matrix matrix = random_orthogonal(n, 2) * values.asDiagonal() * random_orthogonal(n, 3).transpose();
    const Spectrum spectrum = analyse_spectrum(joints_matrix(matrix));
    EXPECT_EQ(spectrum.rank, rank) << n;
    EXPECT_NEAR(spectrum.largest, 1.0, 1e-13) << n;
    EXPECT_NEAR(spectrum.smallest_on_range, values[rank - 1], 1e-13) << n;
  }
  Matrix nilpotent = Matrix::Zero(2, 2);
  nilpotent(0, 1) = 3.0;
  const Spectrum spectrum = analyse_spectrum(joints_matrix(nilpotent));
  EXPECT_EQ(spectrum.rank, 1);
  EXPECT_NEAR(spectrum.min_eigenvalue, -1.5, 1e-15);
}

TEST(Spectrum, OfNothingAndOfZeroHaveNoConditioning) {
  EXPECT_FALSE(analyse_spectrum(BlockSparseMatrix()).conditioning);
  const Spectrum zero = analyse_spectrum(joints_matrix(Matrix::Zero(3, 3)));
  EXPECT_EQ(zero.rank, 0);
  EXPECT_FALSE(zero.conditioning);
  EXPECT_TRUE(zero.positive_semidefinite);
}

TEST(Spectrum, MeetsThePrescriptionOfTheGenerator) {
  const ContactProblem problem = make_problem(
      "random", {{"contacts", 30L}, {"rank_share", 0.5}, {"conditioning", 1e4}, {"scale", 7.0}, {"coupling", 0L}});
  const Spectrum spectrum = analyse_spectrum(problem.blocks());
  EXPECT_EQ(spectrum.rank, 45);
  EXPECT_NEAR(*spectrum.conditioning / 1e4, 1.0, 0.01);
  EXPECT_NEAR(spectrum.largest / 7.0, 1.0, 0.01);
}

TEST(Spectrum, EstimatedComesNearTheExactOneAndSaysSo) {
  const ContactProblem problem =
      make_problem("random", {{"contacts", 60L}, {"rank_share", 0.6}, {"conditioning", 100.0}, {"coupling", 0L}});
  const Spectrum exact = analyse_spectrum(problem.blocks());
  const Spectrum estimated = analyse_spectrum(problem.blocks(), {.exact_rows = 10});
  EXPECT_FALSE(exact.estimated);
  EXPECT_TRUE(estimated.estimated);
  EXPECT_EQ(exact.rank, 108);
  EXPECT_NEAR(static_cast<double>(estimated.rank), 108.0, 11.0);
  EXPECT_NEAR(estimated.largest, exact.largest, 1e-6 * exact.largest);
  EXPECT_LE(*estimated.conditioning, *exact.conditioning * (1.0 + 1e-9));
  EXPECT_GE(*estimated.conditioning, 0.3 * *exact.conditioning);
  EXPECT_TRUE(estimated.positive_semidefinite);
  const Spectrum again = analyse_spectrum(problem.blocks(), {.exact_rows = 10});
  EXPECT_EQ(again.rank, estimated.rank);
  EXPECT_EQ(again.smallest_on_range, estimated.smallest_on_range);
}

TEST(Features, CouplingIsTheLargestShareOfTheNormalThatTheTangentsHear) {
  Matrix delassus = Matrix::Identity(6, 6);
  delassus(2, 0) = delassus(0, 2) = 0.3;
  delassus(2, 1) = delassus(1, 2) = 0.4;
  delassus(5, 5) = 4.0;
  delassus(5, 3) = 1.0;  // row of contact 1 alone: 1 / 4
  const ContactProblem problem = problem_of({.friction = {0.5, 0.5}}, delassus, Vector::Zero(6));
  EXPECT_DOUBLE_EQ(*extract_features(problem).coupling, 0.5);
  EXPECT_FALSE(extract_features(problem_of({.joints = 1}, Matrix::Identity(1, 1), Vector::Zero(1))).coupling);
  EXPECT_FALSE(extract_features(problem_of({.friction = {0.5}}, Matrix::Zero(3, 3), Vector::Zero(3))).coupling);
}

TEST(Features, OfContactsOfSeveralSizesCountTheirRowsAndTheirOwnNormals) {
  // Rows (t, n) and (t1, t2, n, m): G_NT of 0.5 in the second, whose moment row does not count.
  const ConeProduct cones = interval_cones({Interval{-1.0, 1.0}},
                                           {FrictionLaw::coulomb(0.5, 1), {ConeShape::discs, {2, 1}, {0.5, 0.5, 0.1}}});
  Matrix delassus = Matrix::Identity(7, 7);
  delassus(5, 3) = delassus(3, 5) = 0.5;
  delassus(5, 6) = delassus(6, 5) = 0.7;
  ContactProblemData data = problem_with(cones, delassus, Vector::Zero(7)).data();
  data.configuration.emplace();
  data.configuration->bodies = 2;
  const Features features = extract_features(*ContactProblem::create(std::move(data)));
  EXPECT_DOUBLE_EQ(*features.coupling, 0.5);
  EXPECT_DOUBLE_EQ(features.densities->contacts, 0.5);
  EXPECT_DOUBLE_EQ(features.densities->all, 7.0 / 12.0);
  EXPECT_EQ(features.category, SampleCategory::sparse_contacts);
}

SampleCategory category(const Shape& shape, Index rank, std::optional<Index> bodies,
                        std::optional<Index> velocities = std::nullopt,
                        std::optional<Coordinates> coordinates = std::nullopt) {
  const auto rows = static_cast<Index>(shape.friction.size()) * shape.dimension + shape.joints + shape.limits;
  Vector diagonal = Vector::Zero(rows);
  diagonal.head(rank).setOnes();
  ContactProblemData data = problem_data(shape, Matrix(diagonal.asDiagonal()), Vector::Zero(rows));
  data.configuration.emplace();
  data.configuration->bodies = bodies;
  data.configuration->generalised_velocities = velocities;
  data.configuration->coordinates = coordinates;
  return extract_features(*ContactProblem::create(std::move(data))).category;
}

TEST(SampleCategories, AreDecidedInTheirOrder) {
  using enum SampleCategory;
  const std::vector<double> two(2, 0.5);
  const std::vector<double> four(4, 0.5);
  const std::vector<double> five(5, 0.5);
  EXPECT_EQ(category({}, 0, 2), no_constraint);
  EXPECT_EQ(category({.joints = 6}, 6, 2), independent_joints);
  EXPECT_EQ(category({.joints = 6}, 5, 2), redundant_joints);
  EXPECT_EQ(category({.joints = 12}, 10, 2), dense_joints);
  EXPECT_EQ(category({.limits = 2}, 2, 2), other);
  EXPECT_EQ(category({.joints = 7, .friction = two}, 10, 2), dense_constraints);
  EXPECT_EQ(category({.joints = 10, .friction = {0.5}}, 10, 2), dense_constraints);
  EXPECT_EQ(category({.joints = 6, .friction = {0.5}}, 9, 2), single_contact);
  EXPECT_EQ(category({.friction = {0.5}}, 3, 2), single_contact);
  EXPECT_EQ(category({.friction = two}, 6, 2), sparse_contacts);
  EXPECT_EQ(category({.friction = four}, 12, 2), sparse_contacts);  // n_c = 2 n_b
  EXPECT_EQ(category({.friction = five}, 12, 2), dense_contacts);
  EXPECT_EQ(category({.friction = five}, 12, std::nullopt), unknown);
}

/// Those of Tsounis Sec. VII-C whose printed conditions hold: rows of joints and limits, contacts, bodies, rank of J.
std::vector<SampleCategory> printed_categories(int joints, int limits, int contacts, int bodies, int rank) {
  using enum SampleCategory;
  const double freedom = 6.0 * bodies;
  const double d_j = joints / freedom;
  const double d_c = 3.0 * contacts / freedom;
  const double d_jlc = (joints + limits + 3.0 * contacts) / freedom;
  std::vector<SampleCategory> hold;
  if (contacts == 0 && joints >= 1 && rank == joints) hold.push_back(independent_joints);
  if (contacts == 0 && joints >= 1 && rank < joints && d_j < 1.0) hold.push_back(redundant_joints);
  if (contacts == 0 && joints >= 1 && rank < joints && d_j >= 1.0) hold.push_back(dense_joints);
  if (contacts == 1) hold.push_back(single_contact);
  if (contacts >= 2 && contacts <= 2 * bodies && d_c < 1.0) hold.push_back(sparse_contacts);
  if (contacts > 2 * bodies && d_c > 1.0) hold.push_back(dense_contacts);
  if (contacts >= 1 && joints >= 1 && d_jlc > 1.0) hold.push_back(dense_constraints);
  return hold;
}

TEST(SampleCategories, PrintedOnesOverlapAndLeaveGapsThatTheOrderCloses) {
  using enum SampleCategory;
  const std::vector<double> four(4, 0.5);
  const std::vector<double> five(5, 0.5);
  EXPECT_EQ(printed_categories(10, 0, 1, 2, 10), (std::vector{single_contact, dense_constraints}));
  EXPECT_EQ(category({.joints = 10, .friction = {0.5}}, 10, 2), dense_constraints);
  EXPECT_EQ(printed_categories(1, 0, 5, 2, 12), (std::vector{dense_contacts, dense_constraints}));
  EXPECT_EQ(category({.joints = 1, .friction = five}, 12, 2), dense_constraints);
  EXPECT_TRUE(printed_categories(0, 0, 4, 2, 12).empty()) << "n_c = 2 n_b, where d_c = 1";
  EXPECT_EQ(category({.friction = four}, 12, 2), sparse_contacts);
  EXPECT_TRUE(printed_categories(0, 2, 0, 2, 2).empty()) << "limits alone";
  EXPECT_EQ(category({.limits = 2}, 2, 2), other);
}

TEST(SampleCategories, TakeGeneralisedVelocitiesForTheBodiesAndSaySo) {
  const std::vector<double> five(5, 0.5);
  EXPECT_EQ(category({.friction = five}, 12, std::nullopt, 12), SampleCategory::dense_contacts);
  EXPECT_EQ(category({.friction = five}, 12, std::nullopt, 15), SampleCategory::sparse_contacts);
  const ContactProblem stack = make_problem("box-stack", {{"boxes", 3L}});
  const Features features = extract_features(stack);
  ASSERT_TRUE(features.densities);
  EXPECT_EQ(features.densities->degrees_of_freedom, 18);
  EXPECT_DOUBLE_EQ(features.densities->contacts, 2.0);  // 12 contacts · 3 rows / 18
  EXPECT_DOUBLE_EQ(features.densities->all, 2.0);
  EXPECT_EQ(features.category, SampleCategory::dense_contacts);
}

// An arm of two links and two hinges: 6 n_b = 12 with every body free, n_v = 2 in the joints' own coordinates.
TEST(SampleCategories, CountVelocitiesInReducedAndBodiesInMaximalCoordinates) {
  const std::vector<double> four(4, 0.5);
  EXPECT_EQ(category({.friction = four}, 2, 2, 2, Coordinates::reduced), SampleCategory::dense_contacts);
  EXPECT_EQ(category({.friction = four}, 12, 2, 12, Coordinates::maximal), SampleCategory::sparse_contacts);
  EXPECT_EQ(category({.joints = 3}, 2, 2, 2, Coordinates::reduced), SampleCategory::dense_joints);
  EXPECT_EQ(category({.joints = 3}, 2, 2, 12, Coordinates::maximal), SampleCategory::redundant_joints);
  EXPECT_EQ(category({.friction = four}, 2, 2, std::nullopt, Coordinates::reduced), SampleCategory::sparse_contacts)
      << "n_v is not known";
}

TEST(SampleCategories, AreNamedWithBlanksOrHyphens) {
  ASSERT_EQ(category_names().size(), 10U);
  for (std::string name : category_names()) {
    const auto with_blanks = category_of(name);
    ASSERT_TRUE(with_blanks) << name;
    EXPECT_EQ(to_string(*with_blanks), name);
    std::replace(name.begin(), name.end(), ' ', '-');
    EXPECT_EQ(category_of(name), with_blanks);
  }
  EXPECT_FALSE(category_of("dense"));
  EXPECT_FALSE(category_of(""));
  EXPECT_NE(unknown_category("dense-contcts").find("did you mean 'dense contacts'?"), std::string::npos);
}

TEST(SampleCategories, CountThreeDegreesOfFreedomABodyInThePlane) {
  const std::vector<double> three(3, 0.5);
  const std::vector<double> five(5, 0.5);
  EXPECT_EQ(category({.friction = three, .dimension = 2}, 6, 2), SampleCategory::sparse_contacts);
  // Two contacts a body are sparse in either dimension.
  EXPECT_EQ(category({.friction = {0.5, 0.5, 0.5, 0.5}, .dimension = 2}, 6, 2), SampleCategory::sparse_contacts);
  EXPECT_EQ(category({.friction = five, .dimension = 2}, 6, 2), SampleCategory::dense_contacts);
}

}  // namespace
}  // namespace conebench
