#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "count_allocations.hpp"
#include "known_answers.hpp"
#include "metrics/residuals.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;

ContactProblem mixed_problem(const std::string& form, long dimension) {
  return make_problem("random", {{"form", form},
                                 {"dimension", dimension},
                                 {"contacts", 12L},
                                 {"joints", 3L},
                                 {"limits", 4L},
                                 {"compliance", 0.02}});
}

TEST(Verdict, IsTheJudgesNumberButForRounding) {
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    for (const long dimension : {2L, 3L}) {
      const ContactProblem problem = mixed_problem(form, dimension);
      for (const ResidualInfo& info : residual_table()) {
        if (!info.usable_as_verdict) continue;
        auto verdict = Verdict::create(info.name, problem);
        ASSERT_TRUE(verdict) << verdict.error().message;
        for (int k = 0; k < 20; ++k) {
          const Vector impulse = Vector::Random(problem.rows());
          const double judged = judge(problem, impulse)[info.name].value;
          EXPECT_NEAR((*verdict)(impulse), judged, 1e-13 * judged) << info.name;
        }
        const double infinity = std::numeric_limits<double>::infinity();
        EXPECT_EQ((*verdict)(Vector::Constant(problem.rows(), infinity)), infinity);
      }
    }
  }
}

TEST(Verdict, DoesNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    const ContactProblem problem = mixed_problem(form, 3);
    const Vector impulse = Vector::Random(problem.rows());
    for (const ResidualInfo& info : residual_table()) {
      if (!info.usable_as_verdict) continue;
      auto verdict = Verdict::create(info.name, problem);
      ASSERT_TRUE(verdict);
      (*verdict)(impulse);
      const std::size_t before = testing::allocations();
      for (int k = 0; k < 3; ++k) (*verdict)(impulse);
      EXPECT_EQ(testing::allocations() - before, 0U) << info.name << ", " << form;
    }
  }
  const std::size_t before = testing::allocations();
  const Vector probe = Vector::Random(100);
  EXPECT_GT(testing::allocations(), before) << "the counter does not count";
}

TEST(Verdict, OfIntervalsAndAllLawsOfFrictionDoesNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const testing::KnownModes known = testing::problem_with_known_modes(testing::with_intervals(testing::all_laws()), 1);
  for (const ResidualInfo& info : residual_table()) {
    auto verdict = Verdict::create(info.name, known.problem);
    if (!verdict) continue;
    (*verdict)(known.impulse);
    const std::size_t before = testing::allocations();
    (*verdict)(known.impulse);
    EXPECT_EQ(testing::allocations() - before, 0U) << info.name;
  }
}

TEST(Verdict, RefusesUnknownNamesAndResidualsThatCannotDecide) {
  const ContactProblem problem = one_contact(vector_of({0, 0, 1}));
  const auto unknown = Verdict::create("natural_mop", problem);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("natural_map_scaled"));
  const auto objective = Verdict::create("objective", problem);
  ASSERT_FALSE(objective);
  EXPECT_THAT(objective.error().message, ::testing::HasSubstr("wrong answers"));
}

TEST(Verdict, OfAnImpulseOfAnotherSizeIsAProgrammingError) {
  const ContactProblem problem = one_contact(vector_of({0, 0, 1}));
  EXPECT_THROW(judge(problem, Vector::Zero(2)), std::invalid_argument);
  auto verdict = Verdict::create("natural_map", problem);
  EXPECT_THROW((*verdict)(Vector::Zero(4)), std::invalid_argument);
  EXPECT_THROW(judge(problem, Vector::Zero(3))["nothing"], std::out_of_range);
}

TEST(ResidualTable, NamesEveryResidualOnceWithFormulaUnitAndSource) {
  std::vector<std::string> names;
  for (const ResidualInfo& info : residual_table()) {
    EXPECT_THAT(names, ::testing::Not(::testing::Contains(info.name)));
    names.push_back(info.name);
    EXPECT_GE(info.version, 1);
    EXPECT_FALSE(info.formula.empty() || info.unit.empty() || info.source.empty()) << info.name;
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"primal", "dual", "complementarity", "natural_map", "natural_map_ccp",
                                              "natural_map_relative", "natural_map_scaled", "penetration"}));
  const Judgement judgement = judge(one_contact(vector_of({0, 0, 1})), Vector::Zero(3));
  ASSERT_EQ(judgement.residuals.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(judgement.residuals[i].name, names[i]);
}

TEST(IsSolved, AsksForAKnownFiniteValueWithinTheTolerance) {
  Residual residual{.name = "x", .value = 1e-6, .missing = std::nullopt, .worst_block = -1};
  EXPECT_TRUE(is_solved(residual, 1e-6));
  EXPECT_FALSE(is_solved(residual, 9.9e-7));
  EXPECT_FALSE(is_solved(residual, std::numeric_limits<double>::quiet_NaN()));
  residual.missing = "no gaps";
  EXPECT_FALSE(is_solved(residual, 1.0));
  residual.missing.reset();
  residual.value = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_solved(residual, std::numeric_limits<double>::infinity()));
  residual.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_solved(residual, 1.0));
}

}  // namespace
}  // namespace conebench
