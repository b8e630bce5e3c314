#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "known_answers.hpp"
#include "metrics/residuals.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using testing::KnownAnswer;
using testing::make_problem;
using testing::Transformed;

const char* const official = "natural_map_scaled";

/// A problem with joints, limits, contacts (some without friction) and compliance, and an answer at a drawn distance
/// (1e-12 to 10 times its size) from a solution.
struct Case {
  KnownAnswer known;
  Vector answer;
};

Case draw_case() {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000000);
  const std::string form = *rc::gen::element<std::string>("dense", "block_sparse");
  const ContactProblem problem = make_problem("random",
                                              {{"form", form},
                                               {"dimension", *rc::gen::inRange<long>(2, 4)},
                                               {"contacts", *rc::gen::inRange<long>(1, 7)},
                                               {"joints", *rc::gen::inRange<long>(0, 3)},
                                               {"limits", *rc::gen::inRange<long>(0, 3)},
                                               {"compliance", *rc::gen::element(0.0, 0.1)}},
                                              seed);
  Case drawn{testing::with_known_answer(problem, seed, true), {}};
  RandomSource random(seed + 1);
  Vector noise(problem.rows());
  for (double& value : noise) value = random.normal();
  drawn.answer = drawn.known.impulse + std::pow(10.0, *rc::gen::inRange(-12, 2)) * noise;
  return drawn;
}

/// The same decision at every tolerance, unless the value stands within rounding of it.
void assert_same_verdict(const Case& c, const Transformed& transformed) {
  const Judgement before = judge(c.known.problem, c.answer);
  const Judgement after = judge(transformed.problem, transformed.impulse(c.answer));
  const double a = before[official].value;
  const double b = after[official].value;
  RC_LOG() << "verdict " << a << " became " << b << "\n";
  RC_ASSERT(std::abs(a - b) <= 1e-13 + 1e-11 * a);
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    if (std::abs(a - tolerance) <= 1e-9 * tolerance) continue;
    RC_ASSERT(is_solved(before[official], tolerance) == is_solved(after[official], tolerance));
  }
}

RC_GTEST_PROP(OfficialVerdict, IsFreeOfTheTangentFrames, ()) {
  const Case c = draw_case();
  const Index contacts = c.known.problem.cones().contacts();
  const auto angles = testing::random_angles(contacts, *rc::gen::inRange<std::uint64_t>(1, 1000));
  assert_same_verdict(c, testing::rotate_tangents(c.known.problem, angles));
}

RC_GTEST_PROP(OfficialVerdict, IsFreeOfTheOrderOfTheContacts, ()) {
  const Case c = draw_case();
  const Index contacts = c.known.problem.cones().contacts();
  const auto order = testing::random_order(contacts, *rc::gen::inRange<std::uint64_t>(1, 1000));
  assert_same_verdict(c, testing::permute_contacts(c.known.problem, order));
}

RC_GTEST_PROP(OfficialVerdict, IsFreeOfTheUnits, ()) {
  const Case c = draw_case();
  const double impulse_scale = *rc::gen::element(1e-6, 1.0, 1e6);
  const double velocity_scale = *rc::gen::element(1e-6, 1.0, 1e6);
  assert_same_verdict(c, testing::change_units(c.known.problem, impulse_scale, velocity_scale));
}

TEST(NaturalMap, UnscaledFlipsItsVerdictWithTheUnitsWhereTheOfficialOneDoesNot) {
  const KnownAnswer known = testing::with_known_answer(make_problem("random", {{"contacts", 5L}}), 1);
  const Vector answer = 1.001 * known.impulse;
  const Transformed transformed = testing::change_units(known.problem, 1e-6, 1e-6);
  const Judgement before = judge(known.problem, answer);
  const Judgement after = judge(transformed.problem, transformed.impulse(answer));
  EXPECT_FALSE(is_solved(before["natural_map"], 1e-6));
  EXPECT_TRUE(is_solved(after["natural_map"], 1e-6));
  EXPECT_FALSE(is_solved(before[official], 1e-6));
  EXPECT_FALSE(is_solved(after[official], 1e-6));
}

RC_GTEST_PROP(OfficialVerdict, IsZeroAtAKnownSolutionAndTheModesAreThoseDrawn, ()) {
  const Case c = draw_case();
  const Judgement judgement = judge(c.known.problem, c.known.impulse);
  RC_ASSERT(judgement[official].value <= 1e-12);
  for (const char* name : {"primal", "dual", "complementarity", "natural_map"}) {
    RC_ASSERT(judgement[name].value <= 1e-12);
  }
  RC_ASSERT(judgement["dissipation_error"].value <= 1e-6);
  const auto drawn = [&](int mode) { return std::count(c.known.modes.begin(), c.known.modes.end(), mode); };
  RC_ASSERT(judgement.modes.open == drawn(0));
  RC_ASSERT(judgement.modes.stick == drawn(1));
  RC_ASSERT(judgement.modes.slip == drawn(2));
}

TEST(OfficialVerdict, OfRollingFrictionIsFreeOfTheUnitOfLength) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ContactProblem problem =
        make_problem("known-solution", {{"dimension", 5L}, {"contacts", 6L}, {"joints", 2L}, {"lever", 0.1}}, seed);
    const ContactProblem smaller = testing::in_smaller_length(problem, 1000.0);
    RandomSource random(seed);
    Vector answer = problem.reference()->reaction;
    for (Index i = 0; i < answer.size(); ++i) answer[i] *= 1.0 + 1e-6 * static_cast<double>(seed) * random.normal();
    Vector in_smaller = 1000.0 * answer;
    for (Index i = 0; i < problem.cones().contacts(); ++i) {
      in_smaller.segment(problem.cones().contact_row(i) + 3, 2) *= 1000.0;
    }
    const double before = judge(problem, answer)[official].value;
    const double after = judge(smaller, in_smaller)[official].value;
    EXPECT_GT(before, 1e-9);
    EXPECT_NEAR(after / before, 1.0, 1e-7) << seed;
  }
}

// --- Intervals and all laws of friction
// -------------------------------------------------------------------------------

struct MixedCase {
  ContactProblem problem;
  Vector answer;
};
MixedCase mixed_case(std::uint64_t seed) {
  const testing::KnownModes known = testing::problem_with_known_modes(testing::drawn_cones(seed, 5), seed);
  RandomSource random(seed + 1);
  Vector answer = known.impulse;
  for (double& value : answer) value += std::pow(10.0, -static_cast<double>(seed % 10)) * random.normal();
  return {known.problem, answer};
}

/// Row k of the result is row source[k], its impulses times scale[k], its velocities divided by it.
void expect_same_verdict(const MixedCase& c, const ConeProduct& cones, const std::vector<Index>& source,
                         const Vector& scale) {
  const Index n = cones.rows();
  const Matrix given = c.problem.blocks().dense();
  Matrix delassus(n, n);
  Vector free_term(n), answer(n);
  for (Index i = 0; i < n; ++i) {
    const Index from = source[static_cast<std::size_t>(i)];
    free_term[i] = c.problem.free_term()[from] / scale[i];
    answer[i] = c.answer[from] * scale[i];
    for (Index j = 0; j < n; ++j) {
      delassus(i, j) = given(from, source[static_cast<std::size_t>(j)]) / scale[i] / scale[j];
    }
  }
  const double before = judge(c.problem, c.answer)[official].value;
  const double after = judge(problem_with(cones, delassus, free_term), answer)[official].value;
  EXPECT_NEAR(after, before, 1e-13 + 1e-11 * before);
}

std::vector<Index> own_rows(const ConeProduct& cones) { return testing::detail::identity_order(cones.rows()); }
std::vector<FrictionLaw> laws_of(const ConeProduct& cones) {
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < cones.contacts(); ++i) laws.push_back(cones.law(i));
  return laws;
}
ConeProduct with_laws(const ConeProduct& cones, std::vector<Interval> intervals, const std::vector<FrictionLaw>& laws) {
  return *ConeProduct::create(cones.joints(), cones.limits(), std::move(intervals), laws);
}

TEST(OfficialVerdict, OfAllLawsIsFreeOfTheUnitOfLengthInMoments) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MixedCase c = mixed_case(seed);
    const ConeProduct& cones = c.problem.cones();
    std::vector<FrictionLaw> laws = laws_of(cones);
    Vector scale = Vector::Ones(cones.rows());
    for (Index i = 0; i < cones.contacts(); ++i) {
      FrictionLaw& law = laws[static_cast<std::size_t>(i)];
      for (int row = 0; row < law.rows(); ++row) {
        if (!testing::is_moment(law, row)) continue;
        scale[cones.contact_row(i) + row] = 1024.0;
        law.coefficients[static_cast<std::size_t>(row - (row > law.groups[0] ? 1 : 0))] *= 1024.0;
      }
    }
    const std::vector<Interval> intervals(cones.intervals().begin(), cones.intervals().end());
    expect_same_verdict(c, with_laws(cones, intervals, laws), own_rows(cones), scale);
  }
}

TEST(OfficialVerdict, OfAllLawsIsFreeOfTheOrderOfContactsAndIntervals) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MixedCase c = mixed_case(seed);
    const ConeProduct& cones = c.problem.cones();
    std::vector<Index> source = own_rows(cones);
    source.resize(static_cast<std::size_t>(cones.first_interval_row()));
    std::vector<Interval> intervals(cones.intervals().rbegin(), cones.intervals().rend());
    for (Index row = cones.first_contact_row(); row-- > cones.first_interval_row();) source.push_back(row);
    std::vector<FrictionLaw> laws;
    for (const Index i : testing::random_order(cones.contacts(), seed)) {
      laws.push_back(cones.law(i));
      for (int k = 0; k < cones.contact_rows(i); ++k) source.push_back(cones.contact_row(i) + k);
    }
    expect_same_verdict(c, with_laws(cones, intervals, laws), source, Vector::Ones(cones.rows()));
  }
}

TEST(OfficialVerdict, OfAllLawsIsFreeOfTheSigns) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MixedCase c = mixed_case(seed);
    const ConeProduct& cones = c.problem.cones();
    Vector scale = -Vector::Ones(cones.rows());
    scale.segment(cones.joints(), cones.limits()).setOnes();
    for (Index i = 0; i < cones.contacts(); ++i) scale[cones.contact_row(i) + cones.normal_of(i)] = 1.0;
    std::vector<Interval> intervals;
    for (const auto& [lower, upper] : cones.intervals()) intervals.push_back({-upper, -lower});
    expect_same_verdict(c, with_laws(cones, intervals, laws_of(cones)), own_rows(cones), scale);
  }
}

TEST(OfficialVerdict, OfAllLawsIsFreeOfTheUnitsOfImpulsesWhereBoundsFollow) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MixedCase c = mixed_case(seed);
    const ConeProduct& cones = c.problem.cones();
    std::vector<Interval> intervals;
    for (const auto& [lower, upper] : cones.intervals()) intervals.push_back({1e6 * lower, 1e6 * upper});
    const ContactProblem changed = problem_with(with_laws(cones, intervals, laws_of(cones)),
                                                1e-3 * c.problem.blocks().dense(), 1e3 * c.problem.free_term());
    const double before = judge(c.problem, c.answer)[official].value;
    EXPECT_NEAR(judge(changed, 1e6 * c.answer)[official].value, before, 1e-13 + 1e-11 * before);
  }
}

TEST(OfficialVerdict, OfAllLawsIsFreeOfTheFrameWhereFrictionIsAlikeInTwoDirections) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MixedCase c = mixed_case(seed);
    const ConeProduct& cones = c.problem.cones();
    Matrix q = Matrix::Identity(cones.rows(), cones.rows());
    for (Index i = 0; i < cones.contacts(); ++i) {
      const FrictionLaw law = cones.law(i);
      if (law.shape == ConeShape::pyramid || law.groups[0] < 2 || law.coefficients[0] != law.coefficients[1]) continue;
      const double angle = 0.1 + static_cast<double>(seed);
      const Index row = cones.contact_row(i);
      q.block(row, row, 2, 2) << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
    }
    const ContactProblem turned =
        problem_with(cones, q * c.problem.blocks().dense() * q.transpose(), q * c.problem.free_term());
    const double before = judge(c.problem, c.answer)[official].value;
    EXPECT_NEAR(judge(turned, q * c.answer)[official].value, before, 1e-13 + 1e-11 * before);
  }
}

}  // namespace
}  // namespace conebench
