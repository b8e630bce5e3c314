#include "tests/support/transforms.hpp"

#include <gtest/gtest.h>

#include "problems/scaled_natural_map.hpp"
#include "scenes/scene_support.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;
using testing::Transformed;

/// σ of the rewritten problem at the rewritten λ is the rewritten σ, in every form of G.
void expect_same_physics(const ContactProblem& problem, const Transformed& transformed) {
  const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 2.0);
  Vector sigma(problem.rows());
  problem.velocity(impulse, sigma);
  Vector sigma_transformed(problem.rows());
  transformed.problem.velocity(transformed.impulse(impulse), sigma_transformed);
  const Vector expected = transformed.velocity(sigma);
  EXPECT_LT((sigma_transformed - expected).norm(), 1e-12 * expected.norm());
  EXPECT_LT((transformed.old_impulse(transformed.impulse(impulse)) - impulse).norm(), 1e-12);
  EXPECT_EQ(transformed.problem.delassus().form(), problem.delassus().form());
  if (problem.primal()) {
    const PrimalForm& primal = *transformed.problem.primal();
    const Vector free_term = primal.jacobian * primal.free_velocity + *transformed.problem.bias();
    EXPECT_LT((free_term - transformed.problem.free_term()).norm(), 1e-12 * (1.0 + free_term.norm()));
  }
}

class Transforms : public ::testing::TestWithParam<std::tuple<const char*, long>> {
 protected:
  ContactProblem problem() const {
    return make_problem("random", {{"form", std::string(std::get<0>(GetParam()))},
                                   {"dimension", std::get<1>(GetParam())},
                                   {"contacts", 7L},
                                   {"joints", 2L},
                                   {"limits", 3L},
                                   {"compliance", 0.01}});
  }
};

TEST_P(Transforms, KeepThePhysics) {
  const ContactProblem original = problem();
  expect_same_physics(original, testing::permute_contacts(original, testing::random_order(7, 3)));
  expect_same_physics(original, testing::rotate_tangents(original, testing::random_angles(7, 4)));
  expect_same_physics(original, testing::change_units(original, 1e3, 1e-2));
}

INSTANTIATE_TEST_SUITE_P(Forms, Transforms,
                         ::testing::Combine(::testing::Values("dense", "block_sparse", "factored"),
                                            ::testing::Values(2L, 3L)));

TEST(Transforms, KeepAnswersOfEveryLawRight) {
  for (const char* law : {"orthotropic", "ellipsoid4", "ellipsoid6", "torsion", "rolling", "pyramid", "mixed"}) {
    SCOPED_TRACE(law);
    const ContactProblem problem = make_problem(
        "known-solution", {{"law", std::string(law)}, {"contacts", 14L}, {"intervals", 6L}, {"lever", 0.1}});
    for (const Transformed& other : {testing::permute_contacts(problem, testing::random_order(14, 3)),
                                     testing::rotate_tangents(problem, testing::random_angles(14, 4)),
                                     testing::change_units(problem, 1e3, 1e-2)}) {
      expect_same_physics(problem, other);
      EXPECT_LT(scaled_natural_map(other.problem, other.problem.reference()->reaction), 1e-12);
    }
  }
}

TEST(Transforms, KeepAReferenceRight) {
  const ContactProblem stack = make_problem("box-stack", {{"boxes", 3L}});
  const auto turned = testing::rotate_tangents(stack, testing::random_angles(12, 1));
  const auto& reference = *turned.problem.reference();
  EXPECT_LT(scaled_natural_map(turned.problem, reference.reaction), 1e-12);
  const auto scaled = testing::change_units(stack, 1e6, 1e-6);
  EXPECT_LT(scaled_natural_map(scaled.problem, scaled.problem.reference()->reaction), 1e-12);
}

}  // namespace
}  // namespace conebench
