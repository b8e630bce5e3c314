#include "metrics/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "known_answers.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::make_problem;

TEST(Diagnosis, OfAContactThatImpulsesCannotStopIsNoSolution) {
  // No impulse moves the normal, which closes at 1 m/s.
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(2, 2) = 0.0;
  const ContactProblem problem = problem_of({.friction = {0.5}}, delassus, vector_of({0.5, 0.0, -1.0}));
  const Diagnosis diagnosis = diagnose(problem);
  ASSERT_TRUE(diagnosis.ncp_gap);
  EXPECT_TRUE(diagnosis.ncp_gap->apart);
  EXPECT_NEAR(diagnosis.ncp_gap->distance, 1.0 / std::sqrt(1.25), 1e-9);
  EXPECT_NEAR((diagnosis.ncp_gap->certificate - vector_of({0, 0, 1})).norm(), 0.0, 1e-9);
  EXPECT_TRUE(diagnosis.ccp_gap->apart);
  EXPECT_THAT(diagnosis.findings, Contains(HasSubstr("NCP has no solution")));
  EXPECT_THAT(diagnosis.findings, Contains(HasSubstr("diagonal entry")));
}

TEST(Diagnosis, FindsTwoJointsThatContradictEachOther) {
  // Two rows of one joint with different free velocities: rank 1, g not in the range.
  const ContactProblem problem = problem_of({.joints = 2}, Matrix::Ones(2, 2), vector_of({1.0, -1.0}));
  const Diagnosis diagnosis = diagnose(problem);
  EXPECT_TRUE(diagnosis.ncp_gap->apart);
  EXPECT_NEAR(diagnosis.ncp_gap->distance, 1.0, 1e-9);
  EXPECT_THAT(diagnosis.findings, Contains(HasSubstr("rank 1 of 2 rows")));
  const ContactProblem consistent = problem_of({.joints = 2}, Matrix::Ones(2, 2), vector_of({1.0, 1.0}));
  EXPECT_FALSE(diagnose(consistent).ncp_gap->apart);
}

TEST(Diagnosis, TellsAnUnsolvableCcpFromAnUnsolvableNcp) {
  // A frictional contact dragged sideways whose normal no impulse can move: it may slide (NCP), but σ_N ≥ mu ‖σ_T‖
  // (CCP) can't be reached, as σ_T can't be stopped either.
  const ContactProblem problem = problem_of({.friction = {0.5}}, Matrix::Zero(3, 3), vector_of({1.0, 0.0, 0.0}));
  const Diagnosis diagnosis = diagnose(problem);
  EXPECT_FALSE(diagnosis.ncp_gap->apart);
  EXPECT_TRUE(diagnosis.ccp_gap->apart);
  EXPECT_THAT(diagnosis.findings, Contains(HasSubstr("CCP has no solution")));
}

TEST(Diagnosis, ExcludesNoSolutionWhereOneIsKnown) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ContactProblem structure =
        make_problem("random", {{"contacts", 8L}, {"joints", 3L}, {"limits", 2L}, {"rank_share", 0.4}}, seed);
    const ContactProblem problem = testing::with_known_answer(structure, seed, true).problem;
    const Diagnosis diagnosis = diagnose(problem);
    EXPECT_LT(diagnosis.features.spectrum.rank, problem.rows());
    EXPECT_FALSE(diagnosis.ncp_gap->apart) << seed << ": " << diagnosis.ncp_gap->distance;
  }
}

TEST(Diagnosis, ComplianceMakesAContradictionSolvable) {
  const ContactProblem problem =
      problem_of({.joints = 2}, Matrix::Ones(2, 2), vector_of({1.0, -1.0}), vector_of({0.1, 0.1}));
  EXPECT_FALSE(diagnose(problem).ncp_gap->apart);
}

TEST(Diagnosis, SaysWhatIsOddAboutTheMatrix) {
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(0, 0) = -1.0;
  delassus(1, 2) = 0.25;
  const Diagnosis indefinite = diagnose(problem_of({.friction = {0.5}}, delassus, vector_of({0, 0, 1})));
  EXPECT_THAT(indefinite.findings, Contains(HasSubstr("indefinite")));
  EXPECT_THAT(indefinite.findings, Contains(HasSubstr("not symmetric")));
  const Diagnosis negative = diagnose(problem_of({.friction = {0.5}}, -Matrix::Identity(3, 3), vector_of({0, 0, 1})));
  EXPECT_THAT(negative.findings, Contains(HasSubstr("negative definite")));
  const Diagnosis large = diagnose(make_problem("random", {{"contacts", 10L}}), {.exact_rows = 5});
  EXPECT_FALSE(large.ncp_gap);
  EXPECT_THAT(large.findings, Contains(HasSubstr("not looked at")));
  EXPECT_THAT(diagnose(problem_of({}, Matrix(0, 0), Vector(0))).findings, Contains(HasSubstr("no constraints")));
}

}  // namespace
}  // namespace conebench
