#include "solvers/lcp/facet_lcp.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "problems/scaled_natural_map.hpp"
#include "tests/solvers/cascade/mixed_problem.hpp"
#include "tests/solvers/lcp/lcp_support.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::lcp {
namespace {

using namespace conebench::testing;
using testing::run;

constexpr double pi = std::numbers::pi;

Matrix some_matrix(Index rows, double seed) {
  const Matrix root = Matrix::NullaryExpr(
      rows, rows, [seed](Index i, Index j) { return std::sin(seed + double(5 * i * i + 3 * j + i * j)); });
  return root * root.transpose() + Matrix::Identity(rows, rows);
}

TEST(FacetLcp, IsEquation25) {
  const Matrix g = some_matrix(6, 1.0);
  const Vector free = vector({0.3, -0.2, -1, 0.1, 0.4, -2});
  const FacetLcp lcp(micro(g, free, cones(0, 0, {0.5, 0.25})), 6, false);
  Matrix n = Matrix::Zero(6, 2);
  Matrix c = Matrix::Zero(6, 12);
  for (int i = 0; i < 2; ++i) {
    n(3 * i + 2, i) = 1.0;
    for (int m = 0; m < 6; ++m) {
      c(3 * i, 6 * i + m) = std::cos(2 * pi * m / 6);
      c(3 * i + 1, 6 * i + m) = std::sin(2 * pi * m / 6);
    }
  }
  Matrix e = Matrix::Zero(2, 12);
  e.row(0).head(6).setOnes();
  e.row(1).tail(6).setOnes();
  Matrix expected = Matrix::Zero(16, 16);
  expected.block(0, 0, 2, 2) = n.transpose() * g * n;
  expected.block(0, 2, 2, 12) = n.transpose() * g * c;
  expected.block(2, 0, 12, 2) = c.transpose() * g * n;
  expected.block(2, 2, 12, 12) = c.transpose() * g * c;
  expected.block(2, 14, 12, 2) = e.transpose();
  expected(14, 0) = 0.5;
  expected(15, 1) = 0.25;
  expected.block(14, 2, 2, 12) = -e;
  Vector q = Vector::Zero(16);
  q.head(2) = n.transpose() * free;
  q.segment(2, 12) = c.transpose() * free;
  EXPECT_LE((lcp.matrix() - expected).norm(), 1e-13 * expected.norm());
  EXPECT_LE((lcp.offset() - q).norm(), 1e-13);
}

TEST(FacetLcp, ScaledHasUnitDiagonalAndUnitOffset) {
  const ContactProblem problem =
      micro(1e-4 * some_matrix(7, 2.0), 300.0 * vector({1, -2, 0.3, -1, 0.2, 0.1, -1}), cones(0, 1, {0.5, 0.7}));
  const FacetLcp lcp(problem, 8, true);
  const Index with_lambda = 2;
  EXPECT_LE((lcp.matrix().diagonal().head(lcp.size() - with_lambda) - Vector::Ones(lcp.size() - with_lambda)).norm(),
            1e-12);
  EXPECT_DOUBLE_EQ(lcp.offset().cwiseAbs().maxCoeff(), 1.0);
  EXPECT_NEAR((lcp.matrix().bottomRows(with_lambda).cwiseAbs().maxCoeff()), 1.0, 0.5);
}

TEST(FacetLcp, SizeCountsOnlyWhatFrictionNeeds) {
  EXPECT_EQ(FacetLcp::size_of(cones(3, 2, {0.5, 0.0, 0.1}), 8), 2 + 10 + 1 + 10);
  EXPECT_EQ(FacetLcp::size_of(cones(0, 0, {0.5, 0.0}, 2), 8), 4 + 1);
  const FacetLcp lcp(micro(some_matrix(9, 1.0), Vector::Ones(9), cones(3, 0, {0.5, 0.0})), 8, true);
  EXPECT_EQ(lcp.size(), 11);
  EXPECT_EQ(lcp.normal_rows(), 2);
}

TEST(FacetLcp, ImpulseAndBackKeepsTheError) {
  for (const bool scaled : {true, false}) {
    const ContactProblem problem = make_problem("known-solution", {{"contacts", 6L}, {"joints", 3L}, {"limits", 2L}});
    const Answer answer = run("LEMKE-ROBUST-DF", problem, {{"scaled", scaled}});
    ASSERT_EQ(answer.summary.status, SolveStatus::converged);
    FacetLcp lcp(problem, 8, scaled);
    Vector z;
    lcp.from_impulse(answer.impulse, z);
    EXPECT_LE(lcp.residual(z), 1e-10);
    Vector again(problem.rows());
    lcp.to_impulse(z, again);
    EXPECT_LE((again - answer.impulse).norm(), 1e-10 * answer.impulse.norm());
    z[0] += 0.1;
    EXPECT_GT(lcp.residual(z), 1e-3);
    z[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(lcp.residual(z), std::numeric_limits<double>::infinity());
  }
}

/// ‖λ_T‖ of a contact of λ_N = 1 and μ = 0.5 that slides in direction `angle`.
double friction_against(double angle, long facets) {
  const ContactProblem problem =
      micro(Matrix::Identity(3, 3), vector({3 * std::cos(angle), 3 * std::sin(angle), -1}), cones(0, 0, {0.5}));
  const Answer answer = run("LEMKE-ROBUST-DF", problem, {{"facets", facets}});
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_NEAR(answer.impulse[2], 1.0, 1e-12);
  return answer.impulse.head<2>().norm();
}

TEST(Errata, DirectionsOfFrictionAreTheConesEdgesNotItsFacesNormals) {
  // Yamane calls c_m the normals of the side faces. With (17) and (22) friction along c_m is full. A pyramid whose
  // faces have these normals would hold as much there, and more between two of them: (1/cos(π/M)); (25) holds less or
  // as much.
  for (const long facets : {4L, 8L}) {
    EXPECT_NEAR(friction_against(0.0, facets), 0.5, 1e-12);
    const double between = friction_against(pi / double(facets), facets);
    EXPECT_LE(between, 0.5 + 1e-12);
    EXPECT_LT(friction_against(0.9 * pi / double(facets), facets), 0.5 + 1e-12);
    const double printed = 0.5 / std::cos(pi / double(facets));
    EXPECT_GT(printed - between, 0.03);
  }
}

TEST(Errata, ProjectedGaussSeidelHasNothingToDivideByInEquation25) {
  // The row of λ has a zero on the diagonal, scaled or not: a sweep over (25) as it stands divides by it.
  for (const bool scaled : {true, false}) {
    const FacetLcp lcp(micro(some_matrix(6, 1.0), Vector::Ones(6), cones(0, 0, {0.5, 0.3})), 8, scaled);
    EXPECT_EQ(lcp.matrix().diagonal().tail(2), Vector::Zero(2));
    EXPECT_GT(lcp.matrix().diagonal().head(lcp.size() - 2).minCoeff(), 0.0);
  }
}

TEST(FacetLcp, TendsToTheNcpAndNotToTheCcp) {
  // Slides in a direction that is a c_m of none of these M.
  const ContactProblem problem = micro(some_matrix(3, 4.0), vector({2.0, 1.1, -1.0}), cones(0, 0, {0.4}));
  double last = 1.0;
  for (const long facets : {8L, 32L, 128L}) {
    const Answer answer = run("LEMKE-ROBUST-DF", problem, {{"facets", facets}});
    ASSERT_EQ(answer.summary.status, SolveStatus::converged);
    const Judgement judgement = judge(problem, answer.impulse);
    EXPECT_LE(judgement["natural_map_scaled"].value, 0.3 * last) << facets;
    EXPECT_GE(judgement["natural_map_ccp_scaled"].value, 0.05) << "the relaxed problem has another answer";
    last = judgement["natural_map_scaled"].value;
    Vector sigma(3);
    problem.velocity(answer.impulse, sigma);
    EXPECT_GT(sigma.head<2>().norm(), 0.1);
    EXPECT_GT(answer.impulse[2], 0.1);
    EXPECT_LE(std::abs(sigma[2]), 1e-13) << "Signorini's law is kept exactly for every M";
  }
  EXPECT_LE(last, 0.02);
}

TEST(FacetLcp, LeavesAContactThatTakesOffAlone) {
  // The CCP pushes it: σ is outside of K*.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), vector({1, 0, 0.2}), cones(0, 0, {0.5}));
  const Answer answer = run("LEMKE-ROBUST-DF", problem);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_TRUE(answer.impulse.isZero(1e-15));
}

TEST(FacetLcp, InThePlaneIsTheNcp) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const ContactProblem problem =
        make_problem("known-solution", {{"contacts", 10L}, {"dimension", 2L}, {"rank_share", 0.8}}, seed);
    const Answer answer = run("LEMKE-ROBUST-DF", problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_scaled"].value), 1e-10);
  }
}

TEST(FacetLcp, WithoutFrictionIsTheNcp) {
  const ContactProblem problem =
      make_problem("known-solution", {{"contacts", 10L}, {"mu_min", 0.0}, {"mu_max", 0.0}, {"rank_share", 0.5}});
  const Answer answer = run("LEMKE-ROBUST-DF", problem);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE((judge(problem, answer.impulse)["natural_map_scaled"].value), 1e-10);
}

TEST(FacetLcp, JointsByTheSchurComplementAreThoseOfTheFullProblem) {
  // Facets of friction that sticks or is open play no part, so the full problem's answer is the NCP's.
  const ContactProblem problem = make_problem(
      "known-solution", {{"contacts", 6L}, {"joints", 5L}, {"limits", 3L}, {"stick_share", 0.7}, {"open_share", 0.3}});
  for (const bool scaled : {true, false}) {
    const Answer answer = run("LEMKE-ROBUST-DF", problem, {{"scaled", scaled}});
    ASSERT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_facets_scaled"].value), 1e-10);
    Vector sigma(problem.rows());
    problem.velocity(answer.impulse, sigma);
    EXPECT_LE(sigma.head(5).lpNorm<Eigen::Infinity>(), 1e-10);
  }
}

TEST(FacetLcp, RedundantJointsDoNoHarm) {
  // The joint of a chain twice, and once more with another sign and unit.
  const Index joints = 2;
  const Matrix j =
      Matrix::NullaryExpr(joints + 3, 6, [](Index i, Index k) { return std::sin(double(3 * i + 7 * k + i * k)); });
  Matrix redundant(joints + 2 + 3, 6);
  redundant << j.topRows(joints), j.row(0), -1000.0 * j.row(1), j.bottomRows(3);
  const Vector velocity = Vector::NullaryExpr(6, [](Index k) { return std::cos(double(2 * k + 1)); });
  const ContactProblem once = micro(j * j.transpose(), j * velocity, cones(joints, 0, {0.5}));
  const ContactProblem twice =
      micro(redundant * redundant.transpose(), redundant * velocity, cones(joints + 2, 0, {0.5}));
  const Answer expected = run("LEMKE-ROBUST-DF", once);
  const Answer answer = run("LEMKE-ROBUST-DF", twice);
  ASSERT_EQ(expected.summary.status, SolveStatus::converged);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE((answer.impulse.tail(3) - expected.impulse.tail(3)).norm(), 1e-9);
  EXPECT_LE((redundant.transpose() * answer.impulse - j.transpose() * expected.impulse).norm(), 1e-9);
}

TEST(FacetLcp, InconsistentJointsShowInTheResidual) {
  // Two joints hold the same velocity at 0 and at 1.
  const ContactProblem problem = micro(Matrix::Ones(2, 2), vector({0, 1}), cones(2, 0, {}));
  const Answer answer = run("LEMKE", problem);
  EXPECT_EQ(answer.summary.breakdown, Breakdown::error);
  EXPECT_GT(answer.summary.own_residual, 0.1);
}

TEST(FacetLcp, IntervalsAreBoxes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double lowest : {-3.0, -infinity}) {
    const ConeProduct cones = general_cones(
        0, 1, {{-0.2, 0.3}, {0.0, infinity}, {-infinity, 0.1}, {lowest, infinity}, {0.4, 0.4}, {-50.0, 50.0}});
    // One for the limit, one for each finite bound, two for a row without any, none for a given impulse.
    EXPECT_EQ(FacetLcp::size_of(cones, 8), std::isinf(lowest) ? 9 : 8);
    for (const double push : {-2.0, 0.5, 2.0}) {
      const ContactProblem problem = micro(some_matrix(7, 3.0), push * vector({-1, 1, -0.7, 0.4, 0.3, -2, 1}), cones);
      for (const PivotingSolver& pivoting : pivoting_solvers()) {
        if (pivoting.id == "LEMKE" && std::isinf(lowest)) continue;  // the row's two unknowns tie, which it can't undo
        for (const bool scaled : {true, false}) {
          SCOPED_TRACE(::testing::Message() << pivoting.id << ", push " << push << ", scaled " << scaled);
          OptionValues options = pivoting.options;
          options["scaled"] = scaled;
          const Answer answer = run(pivoting.id, problem, options);
          EXPECT_EQ(answer.summary.status, SolveStatus::converged);
          EXPECT_LE(scaled_natural_map(problem, answer.impulse), 1e-9);
          EXPECT_EQ(answer.impulse[5], 0.4);
        }
      }
    }
  }
}

TEST(FacetLcp, IntervalsWithPlanarContactsAreTheNcp) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE(seed);
    const ContactProblem problem =
        mixed_problem({.blocks = 12, .rank_share = 0.8, .joints = 2, .laws = MixedProblem::Laws::plane}, seed);
    const Answer answer = run("LEMKE-ROBUST-DF", problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE(scaled_natural_map(problem, answer.impulse), 1e-9);
    FacetLcp lcp(problem, 8, true);
    Vector z;
    lcp.from_impulse(answer.impulse, z);
    EXPECT_LE(lcp.residual(z), 1e-9) << "and back";
  }
}

TEST(FacetLcp, ComplianceEntersAsGPlusR) {
  const Matrix g = some_matrix(6, 3.0);
  const Vector r = vector({0.1, 0.1, 0.3, 0.2, 0.2, 0.7});
  const Vector free = vector({0.5, 0.1, -1, 0.2, -0.6, -1});
  const Answer compliant = run("LEMKE-LEX", micro(g, free, cones(0, 0, {0.5, 0.5}), r));
  const Answer stiff = run("LEMKE-LEX", micro(g + Matrix(r.asDiagonal()), free, cones(0, 0, {0.5, 0.5})));
  ASSERT_EQ(compliant.summary.status, SolveStatus::converged);
  EXPECT_LE((compliant.impulse - stiff.impulse).norm(), 1e-14);
}

TEST(FacetLcp, RefusesOddFacetsAndLargeProblemsWithTheReason) {
  const ContactProblem problem = cube_on_corners(4, 0.01, 0.8);
  const auto reason = [&](const OptionValues& options) {
    return find_solver("LEMKE")->make(options).value()->unsupported_reason(problem);
  };
  EXPECT_FALSE(reason({}).has_value());
  EXPECT_FALSE(reason({{"max_rows", 40L}}).has_value());
  ASSERT_TRUE(reason({{"max_rows", 39L}}).has_value());
  EXPECT_NE(reason({{"max_rows", 39L}})->find("40 rows"), std::string::npos);
  ASSERT_TRUE(reason({{"facets", 7L}}).has_value());
  EXPECT_NE(reason({{"facets", 7L}})->find("even"), std::string::npos);
}

}  // namespace
}  // namespace conebench::lcp
