#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "problems/contact_problem.hpp"
#include "problems/conversions.hpp"
#include "problems/mass_solve.hpp"
#include "problems/used_parts.hpp"
#include "scenes/random_source.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;

/// 2 joints, 1 limit and 90 contacts on 276 velocities that hang together.
ContactProblemData elastic_data(double asymmetry) {
  RandomSource random(3);
  constexpr Index velocities = 276;
  std::vector<Eigen::Triplet<double>> mass, jacobian;
  for (int i = 0; i < velocities; ++i) {
    mass.emplace_back(i, i, 4.0 + random.normal() * 0.1);
    for (const int step : {1, 17}) {
      if (i + step >= velocities) continue;
      const double value = 0.5 * random.normal();
      mass.emplace_back(i, i + step, value * (1.0 + asymmetry));
      mass.emplace_back(i + step, i, value);
    }
  }
  ContactProblemData data;
  data.cones = ConeProduct::create(2, 1, std::vector<double>(90, 0.5)).value();
  for (int row = 0; row < data.cones.rows(); ++row) {
    for (int k = 0; k < 4; ++k) jacobian.emplace_back(row, (37 * row + 61 * k) % velocities, random.normal());
  }
  PrimalForm primal;
  primal.mass = SparseMatrix(velocities, velocities);
  primal.mass.setFromTriplets(mass.begin(), mass.end());
  primal.jacobian = SparseMatrix(data.cones.rows(), velocities);
  primal.jacobian.setFromTriplets(jacobian.begin(), jacobian.end());
  primal.free_velocity = Vector::LinSpaced(velocities, -1.0, 1.0);
  data.bias = Vector::Zero(data.cones.rows());
  data.free_term = primal.jacobian * primal.free_velocity;
  data.primal = std::move(primal);
  return data;
}

Matrix condensed(const PrimalForm& primal) {
  const Matrix jacobian = primal.jacobian;
  return jacobian * Matrix(primal.mass).inverse() * jacobian.transpose();
}

TEST(GivenAsPrimal, RigidBodiesHaveTheDiagonalBlocksOfTheirMatrixToTheLastBit) {
  for (const char* scene : {"box-stack", "sphere-lattice", "known-solution"}) {
    const ContactProblem problem = make_problem(scene, {{"form", std::string("factored")}});
    ASSERT_TRUE(problem.given_as_primal());
    EXPECT_TRUE(problem.condenses_sparsely());
    EXPECT_EQ(problem.diagonal().values(), DiagonalBlocks(problem.blocks()).values()) << scene;
    EXPECT_EQ(problem.diagonal().diagonal(), Vector(problem.blocks().dense().diagonal())) << scene;
  }
}

TEST(GivenAsPrimal, ElasticBodiesHaveProductsAndDiagonalBlocksWithoutTheirMatrix) {
  for (const double asymmetry : {0.0, 3e-2}) {
    const auto problem = ContactProblem::create(elastic_data(asymmetry));
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_TRUE(problem->given_as_primal());
    EXPECT_FALSE(problem->condenses_sparsely());
    EXPECT_GT(problem->bytes_to_condense(), 0.0);
    EXPECT_FALSE(problem->aliases());
    const Matrix expected = condensed(*problem->primal());
    const double rounding = 1e-13 * expected.norm();

    Vector product(problem->rows());
    const Vector impulse = Vector::LinSpaced(problem->rows(), -1.0, 2.0);
    problem->multiply(impulse, product);
    EXPECT_LT((product - expected * impulse).norm(), rounding * impulse.norm());
    for (Index i = 0; i < problem->diagonal().count(); ++i) {
      const Index row = problem->cones().block_row(i);
      const int size = problem->cones().block_size(i);
      EXPECT_LT((problem->diagonal().block(i) - expected.block(row, row, size, size)).norm(), rounding) << i;
    }
    EXPECT_LT((problem->blocks().dense() - expected).norm(), rounding);
    EXPECT_EQ(problem->bytes_to_condense(), 0.0);
    // Unsymmetric as it is: the two triangles of G are not averaged.
    const double unsymmetric = (expected - expected.transpose()).norm() / expected.norm();
    EXPECT_NEAR(problem->blocks().symmetry_error(), unsymmetric, 1e-13);
    EXPECT_EQ(problem->symmetry_error(), asymmetry == 0.0 ? 0.0 : conebench::asymmetry(problem->primal()->mass));
    EXPECT_EQ(unsymmetric > 1e-4, asymmetry > 0.0);
  }
}

TEST(GivenAsPrimal, AnswersDoNotDependOnWhetherTheMatrixWasMade) {
  const ContactProblem untouched = ContactProblem::create(elastic_data(0.0)).value();
  const ContactProblem made = ContactProblem::create(elastic_data(0.0)).value();
  made.blocks();
  EXPECT_EQ(untouched.diagonal().values(), made.diagonal().values());
  Vector a(made.rows()), b(made.rows());
  untouched.multiply(Vector::Ones(made.rows()), a);
  made.multiply(Vector::Ones(made.rows()), b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(untouched.data_hash(), made.data_hash());
}

TEST(GivenAsPrimal, ProductsDoNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const ContactProblem problem = ContactProblem::create(elastic_data(0.0)).value();
  const Vector impulse = Vector::Ones(problem.rows());
  Vector velocity(problem.rows());
  problem.multiply(impulse, velocity);  // the thread's workspace
  const long before = testing::allocation_count();
  problem.multiply(impulse, velocity);
  problem.velocity(impulse, velocity);
  EXPECT_EQ(testing::allocation_count(), before);
}

TEST(GivenAsPrimal, NotesWhatIsLookedAt) {
  const ContactProblem problem = ContactProblem::create(elastic_data(0.0)).value();
  const auto words = [&](auto look) {
    const auto use = std::make_shared<ProblemUse>();
    look(problem.watched(use));
    return to_string(used_parts(*use));
  };
  const Vector ones = Vector::Ones(problem.rows());
  Vector velocity(problem.rows());
  EXPECT_EQ(words([](const ContactProblem& p) { EXPECT_EQ(p.cones().contacts(), 90); }), "none");
  EXPECT_EQ(words([](const ContactProblem& p) { EXPECT_TRUE(p.primal()); }), "primal");
  EXPECT_EQ(words([&](const ContactProblem& p) { p.velocity(ones, velocity); }), "products");
  EXPECT_EQ(words([&](const ContactProblem& p) { p.multiply(ones, velocity); }), "products");
  EXPECT_EQ(words([](const ContactProblem& p) { p.diagonal(); }), "diagonal");
  EXPECT_EQ(words([&](const ContactProblem& p) {
              const ContactProblem copy = p;
              copy.diagonal();
              copy.with_provenance({}).velocity(ones, velocity);
            }),
            "products+diagonal");
  EXPECT_EQ(words([](const ContactProblem& p) { p.blocks(); }), "delassus");
  EXPECT_EQ(words([](const ContactProblem& p) { with_compliance(p, 0.1).blocks(); }), "delassus");
  EXPECT_EQ(words([](const ContactProblem& p) { in_impulse_unit(p, 0.5).primal(); }), "primal");
}

TEST(GivenAsPrimal, IsAlsoCalledAsItsAssembledTwin) {
  const ContactProblem assembled = make_problem("box-stack", {{"boxes", 3L}});
  const ContactProblem factored = make_problem("box-stack", {{"boxes", 3L}, {"form", std::string("factored")}});
  EXPECT_FALSE(assembled.aliases());
  ASSERT_TRUE(factored.aliases());
  EXPECT_NE(factored.content_hash(), assembled.content_hash());
  EXPECT_EQ(factored.aliases()->content_hash, assembled.content_hash());
  EXPECT_TRUE(factored.is_called(factored.data_hash()));
  EXPECT_TRUE(factored.is_called(factored.aliases()->data_hash));
  EXPECT_FALSE(factored.is_called(assembled.data_hash()));  // its form is part of that
  EXPECT_TRUE(assembled.is_called(assembled.data_hash()));
}

TEST(GivenAsPrimal, ContentFollowsMassAndJacobian) {
  const auto hash = [](auto change) {
    ContactProblemData data = elastic_data(0.0);
    change(data);
    return ContactProblem::create(std::move(data)).value().content_hash();
  };
  const std::string plain = hash([](auto&) {});
  EXPECT_EQ(hash([](auto& d) { d.delassus = make_factored_delassus(d.primal->mass, d.primal->jacobian).value(); }),
            plain);
  EXPECT_NE(hash([](auto& d) { d.primal->mass.coeffRef(5, 5) *= 2.0; }), plain);
  EXPECT_NE(hash([](auto& d) {
              d.primal->jacobian.valuePtr()[0] *= 2.0;
              d.bias.reset();
            }),
            plain);
}

TEST(GivenAsPrimal, RefusesASingularMassAndNothingAtAll) {
  ContactProblemData data = elastic_data(0.0);
  data.primal->mass *= 0.0;
  EXPECT_THAT(ContactProblem::create(data).error().message, HasSubstr("M is singular"));
  data.primal.reset();
  data.bias.reset();
  EXPECT_THAT(ContactProblem::create(data).error().message, HasSubstr("neither a Delassus operator nor M and J"));
}

TEST(GivenAsPrimal, TakesADiagonalOfItsLayoutAlone) {
  const ContactProblem problem = ContactProblem::create(elastic_data(0.0)).value();
  ContactProblemData data = elastic_data(0.0);
  data.primal->mass *= 2.0;
  const ContactProblem heavier = ContactProblem::create(data).value();
  EXPECT_FALSE(problem.take_diagonal(make_problem("box-stack").diagonal()));
  EXPECT_TRUE(problem.take_diagonal(heavier.diagonal()));
  EXPECT_EQ(problem.diagonal().values(), heavier.diagonal().values());
}

}  // namespace
}  // namespace conebench
