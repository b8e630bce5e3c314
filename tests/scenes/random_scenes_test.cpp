#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "scenes/random_source.hpp"
#include "scenes/scene_table.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/official_residual.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;
using testing::official_residual;

struct Spectrum {
  Index rank = 0;
  double largest = 0.0;
  double conditioning = 0.0;
};

Spectrum measure(const Matrix& matrix) {
  const Vector values = Eigen::JacobiSVD<Matrix>(matrix).singularValues();
  Spectrum spectrum;
  spectrum.rank = (values.array() > 1e-12 * values[0]).count();
  spectrum.largest = values[0];
  spectrum.conditioning = spectrum.rank > 0 ? values[0] / values[spectrum.rank - 1] : 1.0;
  return spectrum;
}

struct Prescription {
  const char* scene;
  double rank_share;
  double conditioning;
  long coupling;
  long dimension;
};

class Spectra : public ::testing::TestWithParam<Prescription> {};

TEST_P(Spectra, AreHitWithinOnePercent) {
  const auto& p = GetParam();
  const ContactProblem problem = make_problem(p.scene, {{"contacts", 40L},
                                                        {"joints", 3L},
                                                        {"limits", 5L},
                                                        {"rank_share", p.rank_share},
                                                        {"conditioning", p.conditioning},
                                                        {"coupling", p.coupling},
                                                        {"dimension", p.dimension},
                                                        {"scale", 7.0}});
  const Matrix matrix = problem.blocks().dense();
  const Spectrum spectrum = measure(matrix);
  EXPECT_EQ(spectrum.rank, std::lround(p.rank_share * double(problem.rows())));
  EXPECT_NEAR(spectrum.conditioning / p.conditioning, 1.0, 0.01);
  EXPECT_NEAR(spectrum.largest, 7.0, 1e-10);
  EXPECT_LT(problem.symmetry_error(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(
    Prescribed, Spectra,
    ::testing::Values(Prescription{"random", 1.0, 1.0, 0, 3}, Prescription{"random", 1.0, 1e6, 0, 3},
                      Prescription{"random", 0.3, 1e3, 4, 3}, Prescription{"random", 0.6, 1e2, 1, 2},
                      Prescription{"known-solution", 0.75, 1e2, 0, 3}, Prescription{"known-solution", 0.5, 1e8, 0, 3},
                      Prescription{"known-solution", 0.9, 1e4, 3, 3}, Prescription{"known-solution", 0.5, 1e3, 2, 2}));

TEST(RandomScenes, CoupleContactsInWindowsThatHangTogether) {
  const ContactProblem sparse = make_problem("random", {{"contacts", 300L}, {"coupling", 4L}});
  const auto& blocks = sparse.blocks();
  EXPECT_LT(blocks.stored_blocks(), 14 * sparse.cones().contacts());
  // Reach every contact from the first one.
  std::vector<bool> seen(300, false);
  std::vector<Index> stack{0};
  Index reached = 0;
  while (!stack.empty()) {
    const Index b = stack.back();
    stack.pop_back();
    if (seen[static_cast<std::size_t>(b)]) continue;
    seen[static_cast<std::size_t>(b)] = true;
    ++reached;
    for (Index k = blocks.row_begin(b); k < blocks.row_begin(b + 1); ++k) stack.push_back(blocks.column(k));
  }
  EXPECT_EQ(reached, 300);
  EXPECT_EQ(make_problem("random", {{"contacts", 30L}}).blocks().stored_blocks(), 900);
}

TEST(RandomScenes, HitTheAsymmetryAskedFor) {
  for (const std::string scene : {"random", "known-solution"}) {
    for (const double asymmetry : {1e-10, 1e-3, 0.04, 1.0}) {
      const ContactProblem problem = make_problem(scene, {{"asymmetry", asymmetry}, {"coupling", 2L}});
      EXPECT_NEAR(problem.symmetry_error() / asymmetry, 1.0, 1e-4) << scene;
      if (problem.reference()) {
        EXPECT_LE(official_residual(problem, problem.reference()->reaction), 1e-12);
      }
    }
  }
}

TEST(RandomScenes, DrawFrictionFromItsRange) {
  const ContactProblem problem =
      make_problem("random", {{"contacts", 200L}, {"coupling", 2L}, {"mu_min", 0.4}, {"mu_max", 0.6}});
  double lowest = 1.0;
  double highest = 0.0;
  for (const double mu : problem.cones().friction()) {
    lowest = std::min(lowest, mu);
    highest = std::max(highest, mu);
  }
  EXPECT_GE(lowest, 0.4);
  EXPECT_LT(lowest, 0.42);
  EXPECT_LE(highest, 0.6);
  EXPECT_GT(highest, 0.58);
}

TEST(RandomScenes, PutTheFreeTermOfARandomProblemInTheRangeOfItsMatrix) {
  const ContactProblem problem = make_problem("random", {{"rank_share", 0.5}});
  const Matrix matrix = problem.blocks().dense();
  const Eigen::JacobiSVD<Matrix> svd(matrix, Eigen::ComputeFullU);
  const auto range = svd.matrixU().leftCols(problem.rows() / 2);
  const Vector& g = problem.free_term();
  EXPECT_LT((g - range * (range.transpose() * g)).norm(), 1e-12 * g.norm());
}

TEST(RandomScenes, MayLackAnyKindOfBlock) {
  for (const std::string scene : {"random", "known-solution"}) {
    for (const auto& [joints, limits, contacts] :
         std::vector<std::array<long, 3>>{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 1}, {3, 2, 0}}) {
      for (const double rank_share : {0.0, 1.0}) {
        const ContactProblem problem = make_problem(
            scene, {{"joints", joints}, {"limits", limits}, {"contacts", contacts}, {"rank_share", rank_share}});
        EXPECT_EQ(problem.rows(), joints + limits + 3 * contacts);
        if (problem.reference()) {
          EXPECT_LE(problem.reference()->residual, 1e-12);
        }
      }
    }
  }
}

TEST(RandomScenes, DependOnTheSeed) {
  for (const std::string scene : {"random", "known-solution"}) {
    EXPECT_EQ(make_problem(scene, {}, 5).content_hash(), make_problem(scene, {}, 5).content_hash());
    EXPECT_NE(make_problem(scene, {}, 5).content_hash(), make_problem(scene, {}, 6).content_hash());
  }
}

TEST(RandomScenes, RefuseValuesThatContradictEachOther) {
  const auto failure = [](const std::string& scene, const OptionValues& values) {
    const auto made = (*require_scene(scene))->make(values, 1);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(failure("random", {{"mu_min", 0.9}}), HasSubstr("'mu_min' = 0.9 exceeds 'mu_max' = 0.8"));
  EXPECT_THAT(failure("known-solution", {{"open_share", 0.7}, {"stick_share", 0.7}}), HasSubstr("more than 1"));
  EXPECT_THAT(failure("random", {{"asymmetry", 0.1}, {"form", std::string("factored")}}),
              HasSubstr("'asymmetry' = 0.1"));
  EXPECT_THAT(failure("random", {{"law", std::string("ellipsoid4")}, {"dimension", 5L}}),
              HasSubstr("'law' = ellipsoid4"));
  EXPECT_THAT(failure("random", {{"dimension", 4L}}), HasSubstr("2 or 3 components, or 5 with rolling friction"));
  EXPECT_THAT(failure("random", {{"intervals", 3L}, {"given_share", 0.9}}), HasSubstr("more than 1"));
  EXPECT_THAT(failure("random", {{"conditioning", 0.5}}), HasSubstr("outside [1, "));
}

struct Modes {
  Index open = 0;
  Index stick = 0;
  Index slip = 0;
};

/// From the definitions: open λ = 0; stick σ = 0; slip λ on the boundary, opposite to σ_T.
Modes count_modes(const ContactProblem& problem) {
  const Vector& impulse = problem.reference()->reaction;
  Vector sigma(problem.rows());
  problem.velocity(impulse, sigma);
  const int d = problem.cones().contact_dimension();
  Modes modes;
  for (Index i = 0; i < problem.cones().contacts(); ++i) {
    const Index row = problem.cones().contact_row(i);
    const double mu = problem.cones().friction()[static_cast<std::size_t>(i)];
    const Vector reaction = impulse.segment(row, d);
    const Vector velocity = sigma.segment(row, d);
    const Vector tangential = reaction.head(d - 1);
    const Vector slip = velocity.head(d - 1);
    if (reaction.isZero(0.0)) {
      EXPECT_GT(velocity[d - 1], 0.0);
      ++modes.open;
    } else if (velocity.norm() < 1e-10) {
      EXPECT_LT(tangential.norm(), mu * reaction[d - 1]);
      ++modes.stick;
    } else {
      EXPECT_NEAR(tangential.norm(), mu * reaction[d - 1], 1e-12);
      EXPECT_NEAR(velocity[d - 1], 0.0, 1e-10);
      EXPECT_NEAR(tangential.dot(slip), -tangential.norm() * slip.norm(), 1e-10);
      ++modes.slip;
    }
  }
  return modes;
}

class KnownSolution : public ::testing::TestWithParam<std::tuple<long, const char*, std::uint64_t>> {};

TEST_P(KnownSolution, HasTheModesAskedForAndPassesTheJudge) {
  const auto& [dimension, form, seed] = GetParam();
  for (const auto& [open, stick] :
       std::vector<std::pair<double, double>>{{0.3, 0.4}, {0.0, 1.0}, {1.0, 0.0}, {0.0, 0.0}}) {
    const ContactProblem problem = make_problem("known-solution",
                                                {{"contacts", 60L},
                                                 {"joints", 4L},
                                                 {"limits", 6L},
                                                 {"dimension", dimension},
                                                 {"form", std::string(form)},
                                                 {"coupling", 3L},
                                                 {"conditioning", 1e6},
                                                 {"compliance", seed == 1 ? 0.0 : 1e-3},
                                                 {"open_share", open},
                                                 {"stick_share", stick}},
                                                seed);
    const Modes modes = count_modes(problem);
    EXPECT_EQ(modes.open, std::lround(open * 60.0));
    EXPECT_EQ(modes.stick, std::lround(stick * 60.0));
    EXPECT_EQ(modes.slip, 60 - modes.open - modes.stick);
    EXPECT_LE(official_residual(problem, problem.reference()->reaction), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownSolution,
                         ::testing::Combine(::testing::Values(2L, 3L),
                                            ::testing::Values("dense", "block_sparse", "factored"),
                                            ::testing::Values(1U, 2U)));

TEST(KnownSolution, PassesTheJudgeInExtremeUnitsAndWithoutFriction) {
  for (const auto& values : std::vector<OptionValues>{{{"impulse", 1e8}},
                                                      {{"impulse", 1e-8}},
                                                      {{"speed", 1e8}},
                                                      {{"scale", 1e-10}},
                                                      {{"mu_min", 0.0}, {"mu_max", 0.0}},
                                                      {{"mu_max", 100.0}},
                                                      {{"conditioning", 1e14}}}) {
    const ContactProblem problem = make_problem("known-solution", values);
    EXPECT_LE(official_residual(problem, problem.reference()->reaction), 1e-12) << problem.provenance().name;
  }
}

double scaled_norm(const Vector& x, std::span<const double> mu, double power) {
  Vector scaled = x;
  for (Index k = 0; k < x.size(); ++k) scaled[k] *= std::pow(mu[static_cast<std::size_t>(k)], power);
  return scaled.norm();
}

/// From the definitions, group by group, in the variables of the problem as given.
void expect_laws_are_kept(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  const Vector& impulse = problem.reference()->reaction;
  Vector sigma(problem.rows());
  problem.velocity(impulse, sigma);
  for (Index i = 0; i < cones.contacts(); ++i) {
    SCOPED_TRACE("contact " + std::to_string(i));
    const FrictionLaw law = cones.law(i);
    const Vector force = impulse.segment(cones.contact_row(i), law.rows());
    const Vector speed = sigma.segment(cones.contact_row(i), law.rows());
    const double normal = force[law.groups[0]];
    if (law.shape == ConeShape::pyramid) continue;  // the judge alone
    Index row = 0;
    for (std::size_t g = 0; g < law.groups.size(); ++g) {
      const Index size = law.groups[g];
      const auto mu = std::span(law.coefficients)
                          .subspan(static_cast<std::size_t>(g == 0 ? row : row - 1), static_cast<std::size_t>(size));
      const Vector own = force.segment(row, size);
      const Vector slip = speed.segment(row, size);
      row += size + (g == 0 ? 1 : 0);
      EXPECT_LE(scaled_norm(own, mu, -1.0), normal * (1.0 + 1e-14));
      const double length = scaled_norm(slip, mu, 1.0);
      if (normal == 0.0 || length < 1e-8) continue;
      for (Index k = 0; k < size; ++k) {
        const double squared = mu[static_cast<std::size_t>(k)] * mu[static_cast<std::size_t>(k)];
        EXPECT_NEAR(own[k], -normal * squared * slip[k] / length, 1e-9 * normal);
      }
    }
  }
  for (Index row = cones.first_interval_row(); row < cones.first_contact_row(); ++row) {
    const auto [lower, upper] = cones.bounds(row);
    EXPECT_GE(impulse[row], lower);
    EXPECT_LE(impulse[row], upper);
    if (lower == upper) continue;
    EXPECT_TRUE(std::abs(sigma[row]) < 1e-10 || impulse[row] == (sigma[row] > 0.0 ? lower : upper)) << row;
  }
}

class KnownLaws : public ::testing::TestWithParam<const char*> {};

TEST_P(KnownLaws, AreKeptByTheChosenSolutionAndPassTheJudge) {
  for (const auto& [form, coupling] : {std::pair{"dense", 0L}, {"block_sparse", 3L}, {"factored", 2L}}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const ContactProblem problem = make_problem("known-solution",
                                                  {{"contacts", 21L},
                                                   {"joints", 2L},
                                                   {"limits", 3L},
                                                   {"intervals", 20L},
                                                   {"lever", 0.1},
                                                   {"law", std::string(GetParam())},
                                                   {"form", std::string(form)},
                                                   {"coupling", coupling}},
                                                  seed);
      SCOPED_TRACE(problem.provenance().name);
      EXPECT_LE(official_residual(problem, problem.reference()->reaction), 1e-12);
      expect_laws_are_kept(problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownLaws,
                         ::testing::Values("coulomb", "orthotropic", "ellipsoid4", "ellipsoid6", "torsion", "rolling",
                                           "pyramid", "mixed"));

TEST(KnownLaws, AreAllInAMixture) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 14L}, {"law", std::string("mixed")}});
  std::set<std::vector<int>> groups;
  Index pyramids = 0;
  for (Index i = 0; i < 14; ++i) {
    const FrictionLaw law = problem.cones().law(i);
    groups.insert(law.groups);
    if (law.shape == ConeShape::pyramid) ++pyramids;
  }
  EXPECT_EQ(groups, (std::set<std::vector<int>>{{2}, {3}, {5}, {2, 1}, {2, 2}}));
  EXPECT_EQ(pyramids, 2);
  EXPECT_EQ(problem.cones().contact_dimension(), 0);
}

TEST(KnownLaws, OfRollingAreThoseOfDimensionFive) {
  EXPECT_EQ(make_problem("known-solution", {{"law", std::string("rolling")}}).content_hash(),
            make_problem("known-solution", {{"dimension", 5L}}).content_hash());
}

TEST(KnownSolution, HasIntervalsInEveryMode) {
  const ContactProblem problem = make_problem("known-solution", {{"intervals", 60L}, {"contacts", 0L}});
  const ConeProduct& cones = problem.cones();
  const Vector& impulse = problem.reference()->reaction;
  Index inside = 0, lower = 0, upper = 0, given = 0, one_sided = 0;
  for (Index row = 0; row < 60; ++row) {
    const Interval own = cones.bounds(row);
    if (std::isinf(own.lower) || std::isinf(own.upper)) ++one_sided;
    if (own.lower == own.upper) {
      ++given;
    } else if (impulse[row] == own.lower) {
      ++lower;
    } else if (impulse[row] == own.upper) {
      ++upper;
    } else {
      ++inside;
    }
  }
  EXPECT_EQ(given, 6);
  EXPECT_EQ(one_sided, 12);
  EXPECT_GT(inside, 15);
  EXPECT_GT(lower, 5);
  EXPECT_GT(upper, 5);
}

TEST(RandomSource, DrawsTheSequenceThatTheStandardFixes) {
  // mt19937_64 with its default seed 5489 begins with 14514284786278117030.
  RandomSource random(5489);
  EXPECT_EQ(random.uniform(), static_cast<double>(14514284786278117030ULL >> 11) / 9007199254740992.0);
}

TEST(RandomSource, HasTheMomentsOfItsDistributions) {
  RandomSource random(1);
  const int count = 100000;
  double mean = 0.0;
  double square = 0.0;
  std::vector<int> histogram(7, 0);
  for (int i = 0; i < count; ++i) {
    const double value = random.normal();
    mean += value / count;
    square += value * value / count;
    ++histogram[random.below(7)];
  }
  EXPECT_NEAR(mean, 0.0, 0.015);
  EXPECT_NEAR(square, 1.0, 0.02);
  for (const int times : histogram) EXPECT_NEAR(times, count / 7.0, 600.0);
}

TEST(RandomSource, ShufflesWithoutLoss) {
  RandomSource random(1);
  std::vector<int> values(50);
  for (int i = 0; i < 50; ++i) values[static_cast<std::size_t>(i)] = i;
  auto shuffled = values;
  random.shuffle(shuffled);
  EXPECT_NE(shuffled, values);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), values.begin()));
}

}  // namespace
}  // namespace conebench
