#include "metrics/residuals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "known_answers.hpp"
#include "problem_builders.hpp"

namespace conebench {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double round_off = 1e-15;

const std::vector<std::string> zero_at_solutions = {"primal",
                                                    "dual",
                                                    "complementarity",
                                                    "natural_map",
                                                    "natural_map_scaled",
                                                    "natural_map_relative",
                                                    "natural_map_relative_g",
                                                    "r_primal",
                                                    "r_dual",
                                                    "r_ncp",
                                                    "r_nat"};

void expect_solution(const ContactProblem& problem, const Vector& impulse) {
  const Judgement judgement = judge(problem, impulse);
  for (const std::string& name : zero_at_solutions) EXPECT_NEAR(judgement[name].value, 0.0, round_off) << name;
}

bool solved(const ContactProblem& problem, const Vector& impulse, double tolerance = 1e-4) {
  return is_solved(judge(problem, impulse)["natural_map_scaled"], tolerance);
}

// --- Closed forms on one contact, G = 2 I, mu = 0.5 -----------------------------------------------------------------

TEST(Residuals, AreZeroAtASeparatingContact) {
  const ContactProblem problem = one_contact(vector_of({0.3, -0.4, 1.0}));
  expect_solution(problem, Vector::Zero(3));
  EXPECT_EQ(judge(problem, Vector::Zero(3)).modes.open, 1);
}

TEST(Residuals, AreZeroAtAStickingContact) {
  const ContactProblem problem = one_contact(vector_of({0.3, -0.4, -2.0}));
  const Vector impulse = vector_of({-0.15, 0.2, 1.0});
  expect_solution(problem, impulse);
  EXPECT_EQ(judge(problem, impulse).modes.stick, 1);
}

TEST(Residuals, AreZeroAtASlippingContact) {
  // sigma = 2 (-0.3, 0.4, 1) + (3, -4, -2) = (2.4, -3.2, 0): friction mu λ_N = 0.5 against the slip.
  const ContactProblem problem = one_contact(vector_of({3.0, -4.0, -2.0}));
  const Vector impulse = vector_of({-0.3, 0.4, 1.0});
  expect_solution(problem, impulse);
  const Judgement judgement = judge(problem, impulse);
  EXPECT_EQ(judgement.modes.slip, 1);
  EXPECT_NEAR(judgement["dissipation_error"].value, 0.0, 1e-7);
}

TEST(Residuals, OfZeroImpulseOnAnApproachingContactMatchTheirFormulas) {
  // sigma = g = (3, -4, -2), ‖sigma_T‖ = 5, v = (3, -4, 0.5); K* = {0.5 ‖v_T‖ <= v_N}.
  const ContactProblem problem = one_contact(vector_of({3.0, -4.0, -2.0}));
  const Judgement judgement = judge(problem, Vector::Zero(3));
  EXPECT_EQ(judgement["primal"].value, 0.0);
  // Distance of (5, 0.5) to the half plane 0.5 t <= n: (0.5·5 − 0.5)/√1.25.
  EXPECT_NEAR(judgement["dual"].value, 2.0 / std::sqrt(1.25), 1e-15);
  // For λ = 0 the natural map is P_K(−v), the same vector by Moreau.
  EXPECT_NEAR(judgement["natural_map"].value, 2.0 / std::sqrt(1.25), 1e-15);
  EXPECT_EQ(judgement["complementarity"].value, 0.0);
  // P_K commutes with r = 1/2, so the scaled map is the same over V = ‖g‖ = √29.
  EXPECT_NEAR(judgement["natural_map_scaled"].value, 2.0 / std::sqrt(1.25) / std::sqrt(29.0), 1e-15);
  EXPECT_NEAR(judgement["natural_map_relative"].value, 2.0 / std::sqrt(1.25) / std::sqrt(29.0), 1e-15);
  // v − P_K*(v) = (t̂ ·0.5, −1)·2/1.25 with t̂ = (0.6, −0.8): components 0.48, 0.64, 1.6.
  EXPECT_NEAR(judgement["r_dual"].value, 1.6, 1e-15);
  EXPECT_NEAR(judgement["r_nat"].value, 1.6, 1e-15);
  // The CCP's: sigma = (5, −2) in the slip plane, outside by (0.5·5 + 2)/√1.25.
  EXPECT_NEAR(judgement["dual_ccp"].value, 4.5 / std::sqrt(1.25), 1e-15);
  EXPECT_NEAR(judgement["natural_map_ccp"].value, 4.5 / std::sqrt(1.25), 1e-15);
  EXPECT_EQ(judgement["natural_map_scaled"].worst_block, 0);
}

TEST(Residuals, OfAnImpulseOutsideTheConeGiveItsDistance) {
  const ContactProblem problem = one_contact(vector_of({0.0, 0.0, -2.0}));
  // ‖λ_T‖ = 5 over mu λ_N = 1: distance (5 − 1)/√1.25 along (t̂, −0.5)/√1.25.
  const Judgement judgement = judge(problem, vector_of({3.0, -4.0, 2.0}));
  EXPECT_NEAR(judgement["primal"].value, 4.0 / std::sqrt(1.25), 1e-14);
  EXPECT_NEAR(judgement["r_primal"].value, 0.8 * 4.0 / 1.25, 1e-14);
}

TEST(Residuals, ComplementarityIsThePowerOfTheContact) {
  const ContactProblem problem = one_contact(vector_of({3.0, -4.0, -2.0}));
  // λ = (0, 0, 2): sigma = (3, −4, 2), v_N = 2 + 0.5·5 = 4.5, λ·v = 9, λ·sigma = 4.
  const Judgement judgement = judge(problem, vector_of({0.0, 0.0, 2.0}));
  EXPECT_DOUBLE_EQ(judgement["complementarity"].value, 9.0);
  EXPECT_DOUBLE_EQ(judgement["r_ncp"].value, 9.0);
  EXPECT_DOUBLE_EQ(judgement["complementarity_ccp"].value, 4.0);
  EXPECT_DOUBLE_EQ(judgement["duality_gap_ccp"].value, 4.0);
  // f = ½ λ·2λ + λ·g = 4 − 4, f_NCP = f + λ_N mu ‖sigma_T‖.
  EXPECT_DOUBLE_EQ(judgement["objective"].value, 0.0);
  EXPECT_DOUBLE_EQ(judgement["objective_ncp"].value, 5.0);
}

TEST(Residuals, TheCcpSolutionIsSolvedForTheCcpAlone) {
  // A sliding contact of the CCP lifts off: sigma ∈ boundary of K*, σ_N = mu ‖σ_T‖, λ on the boundary of K against it.
  const ContactProblem free = one_contact(Vector::Zero(3), 1.0);
  const Vector impulse = vector_of({-0.5, 0.0, 1.0});
  const Vector sigma = vector_of({1.0, 0.0, 0.5});
  const ContactProblem problem = one_contact(sigma - impulse, 1.0);
  const Judgement judgement = judge(problem, impulse);
  for (const char* name :
       {"primal", "dual_ccp", "complementarity_ccp", "natural_map_ccp", "natural_map_ccp_scaled", "duality_gap_ccp"}) {
    EXPECT_NEAR(judgement[name].value, 0.0, round_off) << name;
  }
  EXPECT_GT(judgement["natural_map_scaled"].value, 0.1);
  // It pushes by 1 while it opens by 0.5; r = 1, V = ‖(1.5, 0, −0.5)‖.
  EXPECT_NEAR(judgement["signorini"].value, 0.5 / std::sqrt(2.5), round_off);
}

// --- Wrong answers --------------------------------------------------------------------------------------------------

TEST(Residuals, RefuseFrictionInTheWrongDirection) {
  // The slipping contact's impulse turned round; the contact now accelerates: G_TT is small so that it still slides.
  const ContactProblem problem = one_contact(vector_of({3.0, -4.0, -2.0}));
  const Vector impulse = vector_of({0.3, -0.4, 1.0});
  const Judgement judgement = judge(problem, impulse);
  EXPECT_NEAR(judgement["primal"].value, 0.0, round_off) << "the doubles 0.3, 0.4 are not quite at mu λ_N";
  EXPECT_NEAR(judgement["dual"].value, 0.0, round_off);
  // σ = (3.6, −4.8, 0), v_N = 3: power 3 + 3, and the natural map sees it.
  EXPECT_NEAR(judgement["complementarity"].value, 6.0, 1e-14);
  EXPECT_NEAR(judgement["dissipation_error"].value, std::numbers::pi, 1e-7);
  EXPECT_NEAR(judgement["signorini"].value, 0.0, round_off) << "friction is not its business";
  EXPECT_GT(judgement["natural_map_scaled"].value, 0.1);
  EXPECT_FALSE(solved(problem, impulse));
}

TEST(Residuals, SeeFrictionTurnedByASmallAngle) {
  const ContactProblem problem = one_contact(vector_of({3.0, 0.0, -2.0}));
  const double angle = 1e-2;
  const Judgement judgement = judge(problem, vector_of({-0.5 * std::cos(angle), -0.5 * std::sin(angle), 1.0}));
  // The slip turns a little too, by about G λ_t sin(angle) / slip = 1·0.01 / 2.
  EXPECT_NEAR(judgement["dissipation_error"].value, 1.5e-2, 1e-4);
  EXPECT_GT(judgement["natural_map_scaled"].value, 1e-3);
}

TEST(Residuals, RefuseAnApproachThatIsNotStopped) {
  const ContactProblem problem = one_contact(vector_of({0.0, 0.0, -2.0}));
  const Judgement judgement = judge(problem, Vector::Zero(3));
  EXPECT_EQ(judgement["primal"].value, 0.0);
  EXPECT_EQ(judgement["complementarity"].value, 0.0);
  EXPECT_DOUBLE_EQ(judgement["dual"].value, 2.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map_scaled"].value, 1.0);
}

TEST(Residuals, TheScaledMapRefusesAnInflatedImpulseThatTheRelativeOneAccepts) {
  const ContactProblem problem = one_contact(vector_of({0.0, 0.0, -1.0}), 1e-5);
  const Vector impulse = vector_of({0.0, 0.0, 1e7});
  const Judgement judgement = judge(problem, impulse);
  EXPECT_TRUE(is_solved(judgement["natural_map_relative"], 1e-4));
  EXPECT_GT(judgement["natural_map_scaled"].value, 1.0);
  EXPECT_FALSE(is_solved(judgement["natural_map_scaled"], 1e-4));
}

TEST(Residuals, OfAnImpulseThatIsNotFiniteAreInfiniteAndNeverSolved) {
  const ContactProblem problem = problem_of({.friction = {0.5, 0.5}}, Matrix::Identity(6, 6), Vector::Constant(6, 1.0));
  for (const double bad : {nan, inf, -inf}) {
    Vector impulse = Vector::Zero(6);
    impulse[4] = bad;
    const Judgement judgement = judge(problem, impulse);
    for (const Residual& residual : judgement.residuals) {
      EXPECT_EQ(residual.value, inf) << residual.name;
      EXPECT_FALSE(is_solved(residual, inf)) << residual.name;
      if (residual.known()) {
        EXPECT_EQ(residual.worst_block, 1) << residual.name;
      }
    }
    EXPECT_EQ(judgement.modes.open + judgement.modes.stick + judgement.modes.slip, 0);
  }
}

TEST(Residuals, OfHugeFiniteImpulsesNeverPass) {
  Matrix delassus(6, 6);
  // Blocks of opposite sign, so that products overflow to inf − inf.
  delassus << Matrix::Identity(3, 3), -Matrix::Identity(3, 3), -Matrix::Identity(3, 3), Matrix::Identity(3, 3);
  const ContactProblem problem = problem_of({.friction = {0.5, 0.0}}, 1e10 * delassus, vector_of({1, 0, -1, 0, 1, -1}));
  for (const double size : {1e100, 1e160, 1e200, 1e300, 1.7e308}) {
    for (const Vector& direction : {vector_of({0, 0, 1, 0, 0, 0}), vector_of({1, 1, 1, 0, 0, 1}),
                                    vector_of({1, 0, 1, 0, 0, -1}), vector_of({0, 0, 1, 0, 0, 1})}) {
      const Judgement judgement = judge(problem, size * direction);
      EXPECT_FALSE(is_solved(judgement["natural_map_scaled"], 1e-4)) << size;
      EXPECT_FALSE(std::isnan(judgement["natural_map_scaled"].value));
      for (const Residual& residual : judgement.residuals) EXPECT_FALSE(std::isnan(residual.value)) << residual.name;
    }
  }
}

// --- Shapes of problems ---------------------------------------------------------------------------------------------

TEST(Residuals, OfAProblemWithoutConstraintsAreZero) {
  const ContactProblem problem = problem_of({}, Matrix(0, 0), Vector(0));
  const Judgement judgement = judge(problem, Vector(0));
  for (const Residual& residual : judgement.residuals) {
    EXPECT_TRUE(residual.known()) << residual.name;
    EXPECT_EQ(residual.value, 0.0) << residual.name;
    EXPECT_EQ(residual.worst_block, -1) << residual.name;
  }
  EXPECT_TRUE(solved(problem, Vector(0)));
}

TEST(Residuals, OfTheZeroProblemAreZeroAtZeroAndNotAtAnInadmissibleImpulse) {
  const ContactProblem problem = problem_of({.friction = {0.5}}, Matrix::Zero(3, 3), Vector::Zero(3));
  EXPECT_TRUE(solved(problem, Vector::Zero(3)));
  EXPECT_TRUE(solved(problem, vector_of({0.0, 0.0, 1.0})));
  EXPECT_FALSE(solved(problem, vector_of({1.0, 0.0, 1.0})));
}

TEST(Residuals, OfAJointAreItsVelocity) {
  Matrix delassus = Matrix::Identity(2, 2);
  const ContactProblem problem = problem_of({.joints = 2}, delassus, vector_of({4.0, -2.0}));
  const Judgement judgement = judge(problem, vector_of({-1.0, 2.0}));
  EXPECT_DOUBLE_EQ(judgement["dual"].value, 3.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map"].value, 3.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map_scaled"].value, 0.75);
  EXPECT_EQ(judgement["natural_map_scaled"].worst_block, 0);
  EXPECT_EQ(judgement["primal"].value, 0.0);
  EXPECT_EQ(judgement["complementarity"].value, 0.0);
  expect_solution(problem, vector_of({-4.0, 2.0}));
}

TEST(Residuals, OfALimitAreThoseOfSignorini) {
  const ContactProblem problem = problem_of({.limits = 3}, 2.0 * Matrix::Identity(3, 3), vector_of({-2.0, 1.0, -4.0}));
  expect_solution(problem, vector_of({1.0, 0.0, 2.0}));
  const Judgement judgement = judge(problem, vector_of({1.0, -0.25, 3.0}));
  EXPECT_DOUBLE_EQ(judgement["primal"].value, 0.25);
  EXPECT_DOUBLE_EQ(judgement["complementarity"].value, 6.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map"].value, 2.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map_scaled"].value, 0.5);
  EXPECT_EQ(judgement["natural_map_scaled"].worst_block, 2);
}

TEST(Residuals, CountBlocksThroughJointsLimitsAndContacts) {
  Vector free_term = vector_of({1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, -7.0});
  const ContactProblem problem =
      problem_of({.joints = 1, .limits = 1, .friction = {0.5, 0.5}}, Matrix::Identity(8, 8), free_term);
  const Judgement judgement = judge(problem, vector_of({-1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(judgement["dual"].worst_block, 3);
  EXPECT_DOUBLE_EQ(judgement["dual"].value, 7.0);
}

TEST(Residuals, InTheZeroFrictionLimitAskForNoTangentialImpulseAndLeaveTheSlipFree) {
  const ContactProblem problem = one_contact(vector_of({3.0, -4.0, -2.0}), 2.0, 0.0);
  expect_solution(problem, vector_of({0.0, 0.0, 1.0}));
  EXPECT_DOUBLE_EQ(judge(problem, vector_of({0.0, 0.1, 1.0}))["primal"].value, 0.1);
  EXPECT_DOUBLE_EQ(judge(problem, vector_of({0.0, 0.0, -1.0}))["primal"].value, 1.0);
  EXPECT_FALSE(solved(problem, vector_of({0.0, 0.0, -1.0})));
  EXPECT_DOUBLE_EQ(judge(problem, Vector::Zero(3))["dual"].value, 2.0);
}

TEST(Residuals, HoldInTwoDimensions) {
  const ContactProblem problem = one_contact(vector_of({3.0, -2.0}));
  expect_solution(problem, vector_of({-0.5, 1.0}));
  EXPECT_EQ(judge(problem, vector_of({-0.5, 1.0})).modes.slip, 1);
  EXPECT_FALSE(solved(problem, vector_of({0.5, 1.0})));
  EXPECT_NEAR(judge(problem, vector_of({0.5, 1.0}))["dissipation_error"].value, std::numbers::pi, 1e-12);
  expect_solution(one_contact(vector_of({0.5, -2.0})), vector_of({-0.25, 1.0}));
}

TEST(Residuals, CountComplianceInTheVelocityAlsoInsideDeSaxce) {
  // With R = diag(1, 1, 2): sigma = 3 λ_T + g_T, 4 λ_N + g_N.
  const Vector compliance = vector_of({1.0, 1.0, 2.0});
  const ContactProblem problem =
      problem_of({.friction = {0.5}}, 2.0 * Matrix::Identity(3, 3), vector_of({3.0, -4.0, -4.0}), compliance);
  const Vector impulse = vector_of({-0.3, 0.4, 1.0});
  expect_solution(problem, impulse);
  EXPECT_FALSE(solved(one_contact(problem.free_term()), impulse));
  // sigma_T = (2.1, -2.8): Γ = 0.5·3.5.
  EXPECT_NEAR(judge(problem, impulse)["objective_ncp"].value - judge(problem, impulse)["objective"].value, 1.75, 1e-14);
  // r = 3 / (3 + 3 + 4): v = (2.1, −2.8, −2.25), λ − r v = (−0.93, 1.24, 0.675), projected to (−0.348, 0.464, 1.16).
  EXPECT_NEAR(judge(problem, vector_of({-0.3, 0.4, 0.0}))["natural_map_scaled"].value,
              std::sqrt(1.352) / (0.3 * std::sqrt(41.0)), 1e-14);
}

TEST(Residuals, OfABlockWithoutTraceAreScaledByTheMeanOfTheOthers) {
  // Means of the diagonals: 0 (contact 0), 2 and 4: r of contact 0 is 1/3.
  Vector diagonal(9);
  diagonal << 0, 0, 0, 2, 2, 2, 4, 4, 4;
  const ContactProblem problem =
      problem_of({.friction = {0.5, 0.5, 0.5}}, Matrix(diagonal.asDiagonal()), vector_of({0, 0, 10, 0, 0, 1, 0, 0, 1}));
  // λ_N − max(0, λ_N − v_N/3) = min(1, 10/3) = 1, over r V = 10/3.
  const Judgement judgement = judge(problem, vector_of({0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(judgement["natural_map_scaled"].value, 0.3);
  EXPECT_EQ(judgement["natural_map_scaled"].worst_block, 0);
}

TEST(Residuals, UseTheMatrixAsGivenWhereItIsNotSymmetric) {
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(2, 0) = 0.5;  // σ_N depends on λ_T, not the other way round
  const ContactProblem problem = problem_of({.friction = {1.0}}, delassus, vector_of({1.0, 0.0, -2.0}));
  // Stick: λ_T = −1, λ_N = 2 + 0.5.
  expect_solution(problem, vector_of({-1.0, 0.0, 2.5}));
}

TEST(Residuals, OfTheBoxAcceptItsCornersThatTheConeRefuses) {
  const ContactProblem problem = one_contact(vector_of({5.0, 5.0, -2.0}));
  const Vector corner = vector_of({-0.5, -0.5, 1.0});
  const Judgement judgement = judge(problem, corner);
  EXPECT_NEAR(judgement["natural_map_box_scaled"].value, 0.0, round_off);
  EXPECT_GT(judgement["natural_map_scaled"].value, 1e-2);
  // One component of the box at its bound although it does not slide that way.
  EXPECT_GT(judge(problem, vector_of({-0.5, 0.5, 1.0}))["natural_map_box_scaled"].value, 0.1);
}

TEST(Residuals, OfRaisimsModelAcceptFrictionThatDoesNotOpposeTheSlip) {
  // LeLidec24 (24): σ_T ∝ −λ_T − mu² λ_N / G_NN G_NT, here −(0.3, 0.4) − 0.25 (0.5, −0.4).
  Matrix coupled(3, 3);
  coupled << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 1;
  const Vector impulse = vector_of({0.3, 0.4, 1.0});
  const auto at_slip = [&](const Matrix& delassus, double along_x, double along_y) {
    const Vector sigma = vector_of({3.0 * along_x, 3.0 * along_y, 0.0});
    return judge(problem_of({.friction = {0.5}}, delassus, sigma - delassus * impulse), impulse);
  };
  const Judgement raisim = at_slip(coupled, -0.425, -0.3);
  EXPECT_NEAR(raisim["natural_map_raisim_scaled"].value, 0.0, round_off);
  EXPECT_GT(raisim["natural_map_scaled"].value, 1e-2);
  const Judgement coulomb = at_slip(coupled, -0.3, -0.4);
  EXPECT_GT(coulomb["natural_map_raisim_scaled"].value, 1e-2);
  EXPECT_NEAR(coulomb["natural_map_scaled"].value, 0.0, round_off);
  // Without coupling the models are one, at any answer.
  const Judgement wrong = at_slip(Matrix::Identity(3, 3), 0.4, -0.2);
  EXPECT_NEAR(wrong["natural_map_raisim_scaled"].value, wrong["natural_map_scaled"].value, round_off);
  EXPECT_GT(wrong["natural_map_scaled"].value, 1e-2);
}

TEST(Residuals, OfRaisimsModelAreZeroWhereAContactOpensOrSticks) {
  Matrix coupled(3, 3);
  coupled << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 0.2;  // mu ‖G_NT‖ > G_NN: a hyperbola, without a root
  for (const Vector& free : {vector_of({1, 0, 0.2}), vector_of({-1, -1, 0.0})}) {
    const Judgement open = judge(problem_of({.friction = {0.5}}, coupled, free), Vector::Zero(3));
    EXPECT_NEAR(open["natural_map_raisim_scaled"].value, 0.0, round_off);
  }
  const Vector stick = vector_of({0.1, -0.2, 1.0});
  const Judgement stuck = judge(problem_of({.friction = {0.5}}, coupled, Vector(-coupled * stick)), stick);
  EXPECT_NEAR(stuck["natural_map_raisim_scaled"].value, 0.0, round_off);
}

TEST(Residuals, OfTheFacetsAcceptCornersAndSidesOfTheOctagon) {
  // G = 2 I. Slip towards a corner: friction of full size.
  const double diagonal = 0.5 * std::sqrt(0.5);
  const ContactProblem corner = one_contact(vector_of({5.0, 5.0, -2.0}));
  EXPECT_NEAR((judge(corner, vector_of({-diagonal, -diagonal, 1.0}))["natural_map_facets_scaled"].value), 0.0,
              round_off);
  EXPECT_GT((judge(corner, vector_of({-0.9 * diagonal, -0.9 * diagonal, 1.0}))["natural_map_facets_scaled"].value),
            1e-2);
  // Slip straight at a side: all of its points dissipate as much, and the circle's friction is outside.
  const double angle = std::numbers::pi / 8.0;
  const Eigen::Vector2d normal(std::cos(angle), std::sin(angle));
  const Eigen::Vector2d along(-normal[1], normal[0]);
  const Eigen::Vector2d friction = -0.5 * std::cos(angle) * normal - 0.05 * along;
  const Eigen::Vector2d free = 3.0 * normal + 0.1 * along;
  const ContactProblem side = one_contact(vector_of({free[0], free[1], -2.0}));
  const Judgement judgement = judge(side, vector_of({friction[0], friction[1], 1.0}));
  EXPECT_NEAR(judgement["natural_map_facets_scaled"].value, 0.0, round_off);
  EXPECT_GT(judgement["natural_map_scaled"].value, 1e-3);
  EXPECT_GT((judge(side, vector_of({-0.5 * normal[0], -0.5 * normal[1], 1.0}))["natural_map_facets_scaled"].value),
            1e-3);
}

TEST(Residuals, OfTheFacetsAreThoseOfTheBoxInThePlane) {
  const ContactProblem problem =
      problem_of({.friction = {0.5}, .dimension = 2}, Matrix::Identity(2, 2), vector_of({3.0, -1.0}));
  for (const Vector& impulse : {vector_of({-0.5, 1.0}), vector_of({0.7, 0.4}), vector_of({-2.0, 3.0})}) {
    const Judgement judgement = judge(problem, impulse);
    EXPECT_NEAR(judgement["natural_map_facets_scaled"].value, judgement["natural_map_box_scaled"].value, 1e-15);
  }
}

// --- Rows with bounds and other laws of friction
// ----------------------------------------------------------------------

/// One row with G = 2.
ContactProblem one_interval(double free_velocity, double lower, double upper) {
  return problem_with(interval_cones({Interval{lower, upper}}), 2.0 * Matrix::Identity(1, 1),
                      vector_of({free_velocity}));
}

TEST(Residuals, AreZeroWhereAJointsFrictionHoldsAndWhereItSlips) {
  for (const auto& [free, impulse, sigma] :
       {std::tuple(-1.0, 0.5, 0.0), std::tuple(-4.0, 1.0, -2.0), std::tuple(4.0, -1.0, 2.0)}) {
    const ContactProblem problem = one_interval(free, -1.0, 1.0);
    expect_solution(problem, vector_of({impulse}));
    const ContactModes modes = judge(problem, vector_of({impulse})).modes;
    EXPECT_EQ(modes.inside, sigma == 0.0 ? 1 : 0);
    EXPECT_EQ(modes.at_upper, sigma < 0.0 ? 1 : 0);
    EXPECT_EQ(modes.at_lower, sigma > 0.0 ? 1 : 0);
    EXPECT_EQ(modes.all(), 0);
  }
}

TEST(Residuals, OfAnIntervalMatchTheirFormulas) {
  const ContactProblem problem = one_interval(-4.0, -1.0, 1.0);
  // λ = 0.5: σ = −3 could go on to u = 1, which is nearer than σ: the map is −0.5, over r V = 1/2 · 4.
  const Judgement inside = judge(problem, vector_of({0.5}));
  EXPECT_EQ(inside["primal"].value, 0.0);
  EXPECT_EQ(inside["dual"].value, 0.0) << "every σ is right at some λ";
  EXPECT_DOUBLE_EQ(inside["complementarity"].value, 1.5);
  EXPECT_DOUBLE_EQ(inside["natural_map"].value, 0.5);
  EXPECT_DOUBLE_EQ(inside["natural_map_scaled"].value, 0.25);
  EXPECT_DOUBLE_EQ(inside["duality_gap_ccp"].value, 1.5);
  EXPECT_EQ(inside["signorini"].value, 0.0);
  const Judgement outside = judge(problem, vector_of({3.0}));
  EXPECT_DOUBLE_EQ(outside["primal"].value, 2.0);
  EXPECT_DOUBLE_EQ(outside["natural_map_scaled"].value, 1.0);
  // A wrong way round: λ = −1 with σ = −6 asks for u, 2 away.
  EXPECT_DOUBLE_EQ(judge(problem, vector_of({-1.0}))["natural_map_scaled"].value, 1.0);
  EXPECT_DOUBLE_EQ(judge(problem, vector_of({-1.0}))["complementarity"].value, 12.0);
}

TEST(Residuals, OfAnInfiniteBoundAreThoseOfTheDual) {
  // A tendon pulls: λ ≤ 0, so σ ≤ 0.
  const ContactProblem tendon = one_interval(3.0, -inf, 0.0);
  expect_solution(tendon, vector_of({-1.5}));
  expect_solution(one_interval(-3.0, -inf, 0.0), vector_of({0.0}));
  const Judgement judgement = judge(tendon, vector_of({-1.0}));
  EXPECT_DOUBLE_EQ(judgement["dual"].value, 1.0);
  EXPECT_EQ(judgement["complementarity"].value, 0.0);
  EXPECT_DOUBLE_EQ(judgement["natural_map"].value, 1.0);
  EXPECT_EQ(judge(one_interval(-3.0, -inf, 0.0), vector_of({-1.0}))["dual"].value, 0.0);
}

TEST(Residuals, OfAGivenImpulseAskForItAlone) {
  const ContactProblem problem = one_interval(-4.0, 0.7, 0.7);
  expect_solution(problem, vector_of({0.7}));
  EXPECT_DOUBLE_EQ(judge(problem, vector_of({0.2}))["natural_map"].value, 0.5);
  EXPECT_EQ(judge(problem, vector_of({0.7})).modes.at_upper, 1);
}

TEST(Residuals, OfAnIntervalWithoutBoundsAreThoseOfAJoint) {
  const ContactProblem joint = problem_of({.joints = 1}, 2.0 * Matrix::Identity(1, 1), vector_of({0.3}));
  const Judgement of_joint = judge(joint, vector_of({0.7}));
  const Judgement of_interval = judge(one_interval(0.3, -inf, inf), vector_of({0.7}));
  for (const Residual& residual : of_joint.residuals) {
    EXPECT_EQ(of_interval[residual.name].value, residual.value) << residual.name;
  }
}

/// One contact with G = 1.
ContactProblem one_law(const FrictionLaw& law, const Vector& free_term) {
  const Index n = free_term.size();
  return problem_with(interval_cones({}, {law}), Matrix::Identity(n, n), free_term);
}

TEST(Residuals, AskFrictionForMostDissipationWhereItDiffersBetweenDirections) {
  // λ_T = −λ_N D² σ_T / ‖D σ_T‖ with D = diag(0.5, 0.25).
  const FrictionLaw law{ConeShape::discs, {2}, {0.5, 0.25}};
  const double size = std::hypot(0.5, 0.25);
  const Vector impulse = vector_of({-0.25 / size, -0.0625 / size, 1.0});
  const Vector sigma = vector_of({1.0, 1.0, 0.0});
  expect_solution(one_law(law, sigma - impulse), impulse);
  const Judgement judgement = judge(one_law(law, sigma - impulse), impulse);
  EXPECT_NEAR(judgement["dissipation_error"].value, 0.0, 1e-15);
  EXPECT_EQ(judgement.modes.slip, 1);
  // Γ = ‖D σ_T‖.
  EXPECT_NEAR(judgement["objective_ncp"].value - judgement["objective"].value, size, round_off);
  // As large, straight against the slip: (a/0.5)² + (a/0.25)² = 1.
  const double a = 1.0 / std::sqrt(20.0);
  const Vector straight = vector_of({-a, -a, 1.0});
  const Judgement wrong = judge(one_law(law, sigma - straight), straight);
  EXPECT_NEAR(wrong["primal"].value, 0.0, round_off);
  EXPECT_GT(wrong["natural_map_scaled"].value, 0.1);
}

TEST(Residuals, OfBoxFacetsAndRaisimAreThoseOfScaledRowsWhereFrictionDiffersBetweenDirections) {
  // λ'_2 = 2 λ_2, σ'_2 = σ_2 / 2: an isotropic contact with mu = 0.5, G_22 = 1/4.
  const Vector free = vector_of({2.0, 3.0, -1.0});
  const ContactProblem given = one_law({ConeShape::discs, {2}, {0.5, 0.25}}, free);
  Matrix delassus = Matrix::Identity(3, 3);
  delassus(1, 1) = 0.25;
  const ContactProblem scaled = problem_of({.friction = {0.5}}, delassus, vector_of({2.0, 1.5, -1.0}));
  const Judgement of_given = judge(given, vector_of({-0.3, -0.2, 1.1}));
  for (const Residual& residual : judge(scaled, vector_of({-0.3, -0.4, 1.1})).residuals) {
    EXPECT_EQ(of_given[residual.name].known(), residual.known()) << residual.name;
    if (residual.known()) {
      EXPECT_DOUBLE_EQ(of_given[residual.name].value, residual.value) << residual.name;
    }
  }
}

TEST(Residuals, CoupleSlidingAndSpinningInAnEllipsoidAndNotInAProduct) {
  const double mu = 0.5, spin = 0.1;
  // Rows t1, t2, m_n, n of the ellipsoid; t1, t2, n, m_n of the product.
  const FrictionLaw ellipsoid{ConeShape::discs, {3}, {mu, mu, spin}};
  const double size = std::hypot(mu * 3.0, spin * 20.0);
  const Vector coupled = vector_of({-mu * mu * 3.0 / size, 0.0, -spin * spin * 20.0 / size, 1.0});
  const Vector velocity = vector_of({3.0, 0.0, 20.0, 0.0});
  expect_solution(one_law(ellipsoid, velocity - coupled), coupled);
  EXPECT_EQ(judge(one_law(ellipsoid, velocity - coupled), coupled).modes.moment_slip, 0) << "one group";

  const FrictionLaw product{ConeShape::discs, {2, 1}, {mu, mu, spin}};
  const Vector apart = vector_of({-mu, 0.0, 1.0, -spin});
  const Vector both = vector_of({3.0, 0.0, 0.0, 20.0});
  expect_solution(one_law(product, both - apart), apart);
  const ContactModes modes = judge(one_law(product, both - apart), apart).modes;
  EXPECT_EQ(modes.slip, 1);
  EXPECT_EQ(modes.moment_slip, 1);
  // It slides and does not spin: the moment is free within its bound.
  const Vector held = vector_of({-mu, 0.0, 1.0, 0.04});
  const Vector slide = vector_of({3.0, 0.0, 0.0, 0.0});
  expect_solution(one_law(product, slide - held), held);
  EXPECT_EQ(judge(one_law(product, slide - held), held).modes.moment_stick, 1);
  // In the ellipsoid that moment would be too much.
  const Vector too_much = vector_of({-mu, 0.0, 0.04, 1.0});
  EXPECT_FALSE(solved(one_law(ellipsoid, vector_of({3.0, 0.0, 0.0, 0.0}) - too_much), too_much));
}

TEST(Residuals, OfAPyramidAskForItsCorners) {
  const FrictionLaw law{ConeShape::pyramid, {2}, {0.5, 0.25}};
  // 0.5 · 1 > 0.25 · 1.5: all friction is along the first row.
  const Vector sigma = vector_of({1.0, -1.5, 0.0});
  const Vector corner = vector_of({-0.5, 0.0, 1.0});
  expect_solution(one_law(law, sigma - corner), corner);
  const Judgement judgement = judge(one_law(law, sigma - corner), corner);
  EXPECT_FALSE(judgement["dissipation_error"].known());
  EXPECT_FALSE(judgement["natural_map_box_scaled"].known());
  EXPECT_THAT(*judgement["natural_map_raisim_scaled"].missing, ::testing::HasSubstr("Coulomb"));
  EXPECT_EQ(judgement.modes.slip, 1);
  // Where both rows ask as much, every point of the side is right; none of the disc.
  const Vector even = vector_of({1.0, -2.0, 0.0});
  const Vector side = vector_of({-0.25, 0.125, 1.0});
  expect_solution(one_law(law, even - side), side);
  EXPECT_FALSE(solved(one_law({ConeShape::discs, {2}, {0.5, 0.25}}, even - side), side));
}

TEST(Residuals, OfContactsOfSeveralSizesWithIntervalsAreZeroAtAKnownAnswer) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const testing::KnownModes known = testing::problem_with_known_modes(testing::drawn_cones(seed, 5), seed);
    const Judgement judgement = judge(known.problem, known.impulse);
    for (const std::string& name : zero_at_solutions) EXPECT_LE(judgement[name].value, 1e-12) << name << ' ' << seed;
    const auto counts = [](const ContactModes& m) {
      return std::array{m.open, m.stick, m.slip, m.moment_stick, m.moment_slip, m.inside, m.at_lower, m.at_upper};
    };
    EXPECT_EQ(counts(judgement.modes), counts(known.modes)) << seed;
    if (judgement["dissipation_error"].known()) {
      EXPECT_LE(judgement["dissipation_error"].value, 1e-6) << seed;
    }
  }
}

TEST(Verdicts, OfIntervalsAndAllLawsAreTheJudgesInDouble) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const testing::KnownModes known = testing::problem_with_known_modes(testing::drawn_cones(seed, 4), seed);
    const Vector answer = known.impulse + 0.01 * Vector::Random(known.problem.rows());
    const Judgement judgement = judge(known.problem, answer);
    for (const Residual& residual : judgement.residuals) {
      auto verdict = Verdict::create(residual.name, known.problem);
      if (!verdict || !residual.known()) continue;
      EXPECT_NEAR((*verdict)(answer), residual.value, 1e-12 * (1.0 + residual.value)) << residual.name;
    }
  }
}

// --- Penetration ----------------------------------------------------------------------------------------------------

TEST(Penetration, IsUnknownWithTheReasonWhereTheConfigurationIsMissing) {
  const Residual penetration = judge(one_contact(vector_of({0, 0, 1})), Vector::Zero(3))["penetration"];
  EXPECT_FALSE(penetration.known());
  EXPECT_THAT(*penetration.missing, ::testing::HasSubstr("the gaps, the time step, the bias b"));
  EXPECT_FALSE(is_solved(penetration, inf));
}

TEST(Penetration, IsTheDepthAfterTheStepWithoutBiasAndCompliance) {
  ContactProblemData data =
      problem_data({.friction = {0.5, 0.5}}, Matrix::Identity(6, 6), vector_of({0, 0, -3, 0, 0, 1}));
  data.compliance = vector_of({0, 0, 0.5, 0, 0, 0});
  data.bias = vector_of({0, 0, -1, 0, 0, 2});
  data.configuration.emplace();
  data.configuration->gaps = vector_of({0.01, -0.02});
  data.configuration->time_step = 0.1;
  const ContactProblem problem = *ContactProblem::create(std::move(data));
  // c_N = λ_N + g_N − b_N = (0 − 2, 1 − 2): depths 0.2 − 0.01 and 0.1 + 0.02.
  EXPECT_NEAR(judge(problem, Vector::Zero(6))["penetration"].value, 0.19, 1e-15);
  // λ_N = 2 on contact 0: c_N = 0, gap 0.01; contact 1 is the worst.
  const Residual penetration = judge(problem, vector_of({0, 0, 2, 0, 0, 0}))["penetration"];
  EXPECT_NEAR(penetration.value, 0.12, 1e-15);
  EXPECT_EQ(penetration.worst_block, 1);
  EXPECT_EQ(judge(problem, vector_of({0, 0, 9, 0, 0, 9}))["penetration"].value, 0.0);
}

}  // namespace
}  // namespace conebench
