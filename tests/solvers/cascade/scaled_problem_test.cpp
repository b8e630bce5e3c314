#include "solvers/cascade/scaled_problem.hpp"

#include <gtest/gtest.h>

#include "metrics/residuals.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {
namespace {

ContactProblem random_problem(OptionValues values, std::uint64_t seed) {
  auto problem = (*require_scene("random"))->make(values, seed);
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return problem.value();
}

/// The scaled problem's residual against the judge's at an impulse that fits no cone.
void expect_the_judges_residual(const ContactProblem& problem) {
  const ScaledProblem scaled(problem);
  srand(11);
  Vector r = Vector::Random(scaled.size());
  Vector impulse(problem.rows());
  scaled.to_impulse(r, impulse);
  scaled.from_impulse(impulse, r);
  Vector back(problem.rows());
  scaled.to_impulse(r, back);
  EXPECT_LE((back - impulse).norm(), 1e-14 * impulse.norm());

  Vector w(scaled.size());
  scaled.velocity(r, w);
  const double expected = judge(problem, impulse)["natural_map_scaled"].value;
  EXPECT_NEAR(scaled.residual(r, w), expected, 1e-12 * expected);
}

TEST(ScaledProblem, MeasuresTheOfficialVerdict) { expect_the_judges_residual(random_problem({{"contacts", 12L}}, 3)); }

TEST(ScaledProblem, MeasuresTheOfficialVerdictIn2D) {
  expect_the_judges_residual(random_problem({{"contacts", 12L}, {"dimension", 2L}}, 3));
}

TEST(ScaledProblem, MeasuresTheOfficialVerdictWithLimits) {
  expect_the_judges_residual(random_problem({{"contacts", 6L}, {"limits", 5L}}, 3));
}

TEST(ScaledProblem, MeasuresTheOfficialVerdictWithJoints) {
  expect_the_judges_residual(random_problem({{"contacts", 6L}, {"limits", 3L}, {"joints", 6L}}, 3));
}

TEST(ScaledProblem, HasDiagonalBlocksOfTraceThree) {
  const ScaledProblem scaled(random_problem({{"contacts", 9L}}, 5));
  for (int i = 0; i < scaled.contacts(); ++i) EXPECT_NEAR(scaled.block(scaled.diagonal(i)).trace(), 3.0, 1e-12);
}

TEST(ScaledProblem, ShiftingMovesTheDiagonalAndTheFreeTerm) {
  const ContactProblem problem = random_problem({{"contacts", 5L}}, 1);
  const ScaledProblem base(problem);
  ScaledProblem shifted(problem);
  const Vector center = Vector::Ones(base.size());
  shifted.become_shifted(base, 0.25, center);
  Vector a(base.size());
  Vector b(base.size());
  base.velocity(center, a);
  shifted.velocity(center, b);
  EXPECT_LE((a - b).norm(), 1e-13 * a.norm());  // G c + α c + g − α c
}

/// A contact that no impulse can stop: r = (0, 0, 1e20) leaves it as fast as it was.
TEST(ScaledProblem, AResidualKeepsItsDigitsDespiteHugeImpulses) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.5}).value();
  Matrix g = Matrix::Zero(3, 3);
  g(0, 0) = g(1, 1) = 1.0;
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Zero(3);
  data.free_term[2] = -1.0;
  const ContactProblem source = ContactProblem::create(std::move(data)).value();
  const ScaledProblem problem(source);
  Vector impulse = Vector::Zero(3);
  impulse[2] = 1e20;
  Vector r;
  problem.from_impulse(impulse, r);
  Vector w(3);
  problem.velocity(r, w);
  EXPECT_NEAR(problem.residual(r, w), judge(source, impulse)["natural_map_scaled"].value, 1e-12);
  EXPECT_NEAR(problem.residual(r, w), 1.0, 1e-12);
}

}  // namespace
}  // namespace conebench::cascade
