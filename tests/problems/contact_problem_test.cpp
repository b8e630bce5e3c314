#include "problems/contact_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "scenes/random_source.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::make_problem;

/// A complete problem with all optional parts: one joint, one limit, two contacts, six velocities.
ContactProblemData complete_data() {
  RandomSource random(11);
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 1, {0.5, 0.25}).value();
  PrimalForm primal;
  primal.mass = SparseMatrix(6, 6);
  primal.mass.setIdentity();
  Matrix jacobian(8, 6);
  for (double& value : jacobian.reshaped()) value = random.normal();
  primal.jacobian = jacobian.sparseView();
  primal.free_velocity = Vector::LinSpaced(6, -1.0, 1.0);
  data.delassus = make_factored_delassus(primal.mass, primal.jacobian).value();
  data.bias = Vector::LinSpaced(8, 0.0, 0.1);
  data.free_term = primal.jacobian * primal.free_velocity + *data.bias;
  data.compliance = Vector::Constant(8, 0.01);
  data.primal = primal;
  Configuration configuration;
  configuration.gaps = Vector::Zero(2);
  configuration.time_step = 0.01;
  configuration.bodies = 1;
  data.configuration = configuration;
  data.guess = Vector::Ones(8);
  data.reference = Reference{Vector::Ones(8), 1.0, "nowhere"};
  data.provenance.name = "sample";
  return data;
}

using Change = std::function<void(ContactProblemData&)>;

struct BadCase {
  const char* name;
  Change change;
  std::vector<std::string> says;
};

const double nan_value = std::numeric_limits<double>::quiet_NaN();

const std::vector<BadCase>& bad_cases() {
  static const std::vector<BadCase> cases = {
      {"NothingToMakeItOf",
       [](auto& d) {
         d.delassus = nullptr;
         d.primal.reset();
       },
       {"neither a Delassus operator nor M and J"}},
      {"OperatorSize",
       [](auto& d) { d.delassus = make_dense_delassus(Matrix::Identity(7, 7)); },
       {"Delassus matrix has 7 rows", "cones have 8"}},
      {"FreeTermSize", [](auto& d) { d.free_term = Vector::Zero(9); }, {"g has 9 entries, expected 8"}},
      {"FreeTermNan", [](auto& d) { d.free_term[3] = nan_value; }, {"g is not finite at row 3"}},
      {"FreeTermNotJvPlusB", [](auto& d) { d.free_term[4] += 1e-3; }, {"g is not J v_free + b at row 4"}},
      {"ComplianceSize", [](auto& d) { d.compliance = Vector::Zero(2); }, {"compliance R has 2 entries"}},
      {"ComplianceNegative", [](auto& d) { d.compliance[5] = -1e-9; }, {"compliance R is negative at row 5"}},
      {"ComplianceInfinite",
       [](auto& d) { d.compliance[1] = std::numeric_limits<double>::infinity(); },
       {"compliance R is not finite at row 1"}},
      {"BiasSize", [](auto& d) { d.bias = Vector::Zero(1); }, {"bias b has 1 entries"}},
      {"GuessNan", [](auto& d) { (*d.guess)[0] = nan_value; }, {"guess is not finite at row 0"}},
      {"GuessSize", [](auto& d) { d.guess = Vector::Zero(0); }, {"guess has 0 entries"}},
      {"ReferenceSize", [](auto& d) { d.reference->reaction = Vector::Zero(3); }, {"reference solution has 3 entries"}},
      {"JacobianSize",
       [](auto& d) { d.primal->jacobian = SparseMatrix(8, 5); },
       {"primal form's sizes", "J 8 x 5", "M 6 x 6"}},
      {"MassNan", [](auto& d) { d.primal->mass.coeffRef(2, 2) = nan_value; }, {"M is not finite at row 2, column 2"}},
      {"JacobianNan", [](auto& d) { d.primal->jacobian.coeffRef(7, 1) = nan_value; }, {"J is not finite at row 7"}},
      {"FreeVelocityNan", [](auto& d) { d.primal->free_velocity[1] = nan_value; }, {"v_free is not finite at row 1"}},
      {"GapsSize", [](auto& d) { d.configuration->gaps = Vector::Zero(3); }, {"gaps has 3 entries, expected 2"}},
      {"TimeStep", [](auto& d) { d.configuration->time_step = 0.0; }, {"time step must be finite and positive"}},
      {"Bodies", [](auto& d) { d.configuration->bodies = -1; }, {"negative"}},
      {"MassesSize",
       [](auto& d) { d.configuration->body_masses = Vector::Ones(2); },
       {"masses has 2 entries, expected 1"}},
      {"MassNegative", [](auto& d) { d.configuration->body_masses = -Vector::Ones(1); }, {"mass is negative"}},
      {"IdentitiesSize",
       [](auto& d) { d.configuration->contact_identities = {{1}}; },
       {"identities of the contacts are 1, expected 2"}},
      {"IdentityTwice",
       [](auto& d) {
         d.configuration->contact_identities = {{4, 4}};
       },
       {"two contacts have the identity 4"}},
      {"LimitIdentitiesSize",
       [](auto& d) {
         d.configuration->limit_identities = {{1, 2}};
       },
       {"identities of the limits are 2, expected 1"}},
      {"MatrixNan",
       [](auto& d) {
         Matrix matrix = Matrix::Identity(8, 8);
         matrix(6, 2) = nan_value;
         d.delassus = make_dense_delassus(matrix);
       },
       {"Delassus matrix has entries that are not finite"}},
  };
  return cases;
}

class BadProblem : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BadProblem, IsRefusedByNameInOneLine) {
  const BadCase& bad = bad_cases()[GetParam()];
  ContactProblemData data = complete_data();
  bad.change(data);
  const auto problem = ContactProblem::create(std::move(data));
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.error().code, ErrorCode::bad_input);
  EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  EXPECT_THAT(problem.error().message, HasSubstr("sample"));
  for (const auto& words : bad.says) EXPECT_THAT(problem.error().message, HasSubstr(words));
}

INSTANTIATE_TEST_SUITE_P(Parts, BadProblem, ::testing::Range(std::size_t{0}, bad_cases().size()),
                         [](const auto& test) { return std::string(bad_cases()[test.param].name); });

TEST(ContactProblem, TakesCompleteData) {
  const auto problem = ContactProblem::create(complete_data());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->rows(), 8);
  EXPECT_FALSE(problem->rigid());
  const Vector impulse = Vector::LinSpaced(8, 0.0, 1.0);
  Vector sigma(8);
  problem->velocity(impulse, sigma);
  const Vector expected = problem->delassus().dense() * impulse + 0.01 * impulse + problem->free_term();
  EXPECT_LT((sigma - expected).norm(), 1e-13);
}

TEST(ContactProblem, IsRigidWithoutCompliance) {
  ContactProblemData data = complete_data();
  data.compliance = Vector();
  const auto problem = ContactProblem::create(data);
  ASSERT_TRUE(problem.ok());
  EXPECT_TRUE(problem->rigid());
  EXPECT_EQ(problem->compliance(), Vector::Zero(8));
}

TEST(ContactProblem, MayHaveNoConstraints) {
  ContactProblemData data;
  data.delassus = make_dense_delassus(Matrix(0, 0));
  const auto problem = ContactProblem::create(data);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  Vector none(0);
  problem->velocity(none, none);
  EXPECT_EQ(problem->symmetry_error(), 0.0);
  EXPECT_EQ(problem->content_hash().size(), 32U);
}

TEST(ContactProblem, VelocityDoesNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const auto problem = ContactProblem::create(complete_data()).value();
  const Vector impulse = Vector::Ones(8);
  Vector sigma(8);
  const long before = testing::allocation_count();
  problem.velocity(impulse, sigma);
  EXPECT_EQ(testing::allocation_count(), before);
}

struct HashCase {
  const char* name;
  Change change;
  bool content;  ///< whether the content hash changes
  bool data;     ///< whether the data hash changes
};

Matrix complete_matrix() { return complete_data().delassus->dense(); }

const std::vector<HashCase>& hash_cases() {
  static const std::vector<HashCase> cases = {
      {"Nothing", [](auto&) {}, false, false},
      {"Provenance", [](auto& d) { d.provenance.name = "other"; }, false, false},
      {"Reference", [](auto& d) { d.reference.reset(); }, false, false},
      {"FreeTerm", [](auto& d) { d.free_term[7] = std::nextafter(d.free_term[7], 9.0); }, true, true},
      {"Compliance", [](auto& d) { d.compliance[0] *= 2.0; }, true, true},
      {"NoCompliance", [](auto& d) { d.compliance = Vector(); }, true, true},
      {"Friction",
       [](auto& d) {
         d.cones = ConeProduct::create(1, 1, {0.5, 0.2500001}).value();
       },
       true, true},
      {"JointForLimit",
       [](auto& d) {
         d.cones = ConeProduct::create(2, 0, {0.5, 0.25}).value();
       },
       true, true},
      {"MatrixEntry",
       [](auto& d) {
         Matrix matrix = complete_matrix();
         matrix(0, 7) = std::nextafter(matrix(0, 7), 99.0);
         d.delassus = make_dense_delassus(matrix);
       },
       true, true},
      // As G in place of M and J; the alias shows that it is the same.
      {"Form", [](auto& d) { d.delassus = make_dense_delassus(complete_matrix()); }, true, true},
      {"Guess", [](auto& d) { (*d.guess)[2] = 5.0; }, false, true},
      {"NoGuess", [](auto& d) { d.guess.reset(); }, false, true},
      {"Gap", [](auto& d) { (*d.configuration->gaps)[1] = 1e-3; }, false, true},
      {"TimeStep", [](auto& d) { d.configuration->time_step = 0.02; }, false, true},
      {"Coordinates", [](auto& d) { d.configuration->coordinates = Coordinates::maximal; }, false, true},
      {"Masses", [](auto& d) { d.configuration->body_masses = Vector::Ones(1); }, false, true},
      {"ContactIdentities",
       [](auto& d) {
         d.configuration->contact_identities = {{7, 8}};
       },
       false, true},
      {"LimitIdentities", [](auto& d) { d.configuration->limit_identities = {{7}}; }, false, true},
      {"Scene", [](auto& d) { d.configuration->scene = "box"; }, false, true},
      {"Step", [](auto& d) { d.configuration->step = 0; }, false, true},
      {"Seed", [](auto& d) { d.configuration->seed = 0; }, false, true},
      {"NoPrimal", [](auto& d) { d.primal.reset(); }, true, true},
      {"NoBias", [](auto& d) { d.bias.reset(); }, false, true},
  };
  return cases;
}

class Hashes : public ::testing::TestWithParam<std::size_t> {};

TEST(FreeTerm, OfARowAtRestMayBeRoundingOfTheOthers) {
  ContactProblemData data = complete_data();
  for (Index k = 0; k < 6; ++k) data.primal->jacobian.coeffRef(4, k) = 0.0;
  data.delassus = make_factored_delassus(data.primal->mass, data.primal->jacobian).value();
  (*data.bias)[4] = 0.0;
  data.free_term[4] = 1e-17;
  EXPECT_TRUE(ContactProblem::create(data));
  data.free_term[4] = 1e-12;
  EXPECT_FALSE(ContactProblem::create(data));
}

TEST_P(Hashes, ChangeWithWhatTheyCover) {
  const HashCase& test = hash_cases()[GetParam()];
  const auto base = ContactProblem::create(complete_data()).value();
  ContactProblemData data = complete_data();
  test.change(data);
  const auto changed = ContactProblem::create(std::move(data));
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->content_hash() != base.content_hash(), test.content);
  EXPECT_EQ(changed->data_hash() != base.data_hash(), test.data);
}

INSTANTIATE_TEST_SUITE_P(Parts, Hashes, ::testing::Range(std::size_t{0}, hash_cases().size()),
                         [](const auto& test) { return std::string(hash_cases()[test.param].name); });

TEST(ContentHash, DoesNotSeeExplicitZerosOrTheSignOfZero) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 4L}});
  Eigen::SparseMatrix<double, Eigen::RowMajor> padded = problem.blocks().sparse();
  padded.coeffRef(0, problem.rows() - 1) += 0.0;
  ContactProblemData data = problem.data();
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_sparse(padded, problem.cones()));
  for (double& value : data.free_term) {
    if (value == 0.0) value = -0.0;
  }
  const auto same = ContactProblem::create(std::move(data));
  ASSERT_TRUE(same.ok());
  EXPECT_GT(same->blocks().stored_blocks(), problem.blocks().stored_blocks());
  EXPECT_EQ(same->content_hash(), problem.content_hash());
}

TEST(ContentHash, IsPinned) {
  // Stored results are found again by it: a change of this value is a change of every key.
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 0, {0.5}).value();
  data.delassus = make_dense_delassus(Matrix::Identity(4, 4));
  data.free_term = Vector::LinSpaced(4, 0.0, 3.0);
  EXPECT_EQ(ContactProblem::create(data)->content_hash(), "5d08d2eece876f791d11739782a3044d");
}

TEST(WithReference, RefusesAnotherSize) {
  const ContactProblem problem = make_problem("box-stack");
  EXPECT_THROW(problem.with_reference({Vector::Zero(1), 0.0, ""}), std::invalid_argument);
}

}  // namespace
}  // namespace conebench
