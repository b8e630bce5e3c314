// Printed lines of papers LeLidec24 and Tsounis that no other test of a method holds, followed to the letter (see
// docs/errata.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "problems/cones/coulomb.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench {
namespace {

using namespace testing;

constexpr double pi = std::numbers::pi;

Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
           long max_iterations = 20000) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return testing::solve(*solver, problem, {.tolerance = 1e-12, .max_iterations = max_iterations}, silent);
}

double error_of(const ContactProblem& problem, const Vector& impulse) {
  return judge(problem, impulse)["natural_map_scaled"].value;
}

TEST(PaperErrata, ContactThatDoesNotCloseIsOpenBeforeItIsDegenerate) {
  // Tsounis Alg. 4 line 9 asks for v_n = 0 inside of line 2's v_n < 0. The elliptic and hyperbolic cases that it guards
  // are open contacts, also where the tangents slide and normal and tangent are coupled.
  Matrix block(3, 3);
  block << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 1;
  const ContactProblem problem = micro(block, vector({0.3, -0.2, 0}), cones(0, 0, {1.5}));
  for (const char* id : {"NBGS", "RAISIM", "NSGS"}) EXPECT_EQ(run(id, problem).impulse, Vector::Zero(3)) << id;
  EXPECT_LE(error_of(problem, Vector::Zero(3)), 1e-15);
}

TEST(PaperErrata, PrintedInequalityOnTheNormalVelocityMakesNbgsTheConeProblem) {
  // Tsounis (152) asks for n·(D x + v_f) ≥ 0 beside the cone. The cone problem's optimum has n·σ ≥ 0 anyway (σ ∈ K*),
  // so as printed it is that optimum, which lifts off; the ellipse of the text, and RaiSim's, is the equality.
  Matrix block(3, 3);
  block << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 1;
  const Vector free = vector({2, 1, -1});
  const ContactProblem problem = micro(block, free, cones(0, 0, {0.5}));
  const auto energy = [&](const Vector& x) { return 0.5 * x.dot(block * x) + x.dot(free); };
  const Vector printed = run("ADMM-CCP", problem).impulse;
  const Vector meant = run("NBGS", problem, {{"own_test", std::string("fixed_point")}}).impulse;
  EXPECT_GE((block * printed + free)[2], 0.4);
  EXPECT_GE((block * printed)[2], 0.0);
  EXPECT_LE(energy(printed), energy(meant) - 0.1);
  EXPECT_NEAR((block * meant + free)[2], 0.0, 1e-12);
}

TEST(PaperErrata, PrintedStaggeredStepStartsTheNormalsFromTheTangents) {
  // LeLidec24 Alg. 7 line 2: g̃_N ← g_T + G_NT λ_T, which in 3D is not even of the length of λ_N. In the plane it is.
  Matrix matrix(2, 2);
  matrix << 1, 0.2, 0.2, 1;
  const Vector free = vector({3, -1});
  const double mu = 0.5;
  const ContactProblem problem = micro(matrix, free, cones(0, 0, {mu}, 2));
  for (const bool printed : {true, false}) {
    double normal = 0.0;
    double tangent = 0.0;
    for (int k = 0; k < 60; ++k) {
      normal = std::max(0.0, -((printed ? free[0] : free[1]) + matrix(1, 0) * tangent) / matrix(1, 1));
      tangent = std::clamp(-(free[0] + matrix(0, 1) * normal) / matrix(0, 0), -mu * normal, mu * normal);
    }
    const double error = error_of(problem, vector({tangent, normal}));
    if (printed) {
      EXPECT_GE(error, 0.1);
    } else {
      EXPECT_LE(error, 1e-12);
    }
  }
}

TEST(PaperErrata, NewtonsComplianceMakesAnotherProblem) {
  // LeLidec24 (22): y = −R⁻¹ (c − c*) asks for R > 0. A rigid problem lent R = α diag(G) has another answer.
  const ContactProblem rigid = cube_on_corners(4, 0.2, 0.5);
  const Vector lent = 0.01 * rigid.delassus().dense().diagonal();
  const ContactProblem compliant = micro(rigid.delassus().dense(), rigid.free_term(), ConeProduct(rigid.cones()), lent);
  const Vector impulse = run("ADMM-CCP", compliant).impulse;
  EXPECT_LE((judge(compliant, impulse)["natural_map_ccp_scaled"].value), 1e-9);
  EXPECT_GE((judge(rigid, impulse)["natural_map_ccp_scaled"].value), 1e-3);
}

TEST(PaperErrata, ProjectionInTheMetricOfRIsClosedOnlyWhereItsTangentsAreEqual) {
  // P_K^R of LeLidec24 (22). With R_t1 = R_t2 the cone stays round in the units in which R is 1; else it becomes an
  // ellipse's.
  const double mu = 0.6;
  const Vector y = vector({2.0, 1.0, 0.5});
  for (const bool equal : {true, false}) {
    const Vector r = vector({equal ? 2.0 : 0.5, 2.0, 1.0});
    const auto distance = [&](const Vector& x) { return std::sqrt((x - y).dot(r.cwiseProduct(x - y))); };
    double nearest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 20000; ++k) {
      const double angle = 2.0 * pi * k / 20000.0;
      const Vector ray = vector({mu * std::cos(angle), mu * std::sin(angle), 1.0});
      const double length = std::max(0.0, ray.dot(r.cwiseProduct(y)) / ray.dot(r.cwiseProduct(ray)));
      nearest = std::min(nearest, distance(length * ray));
    }
    const Vector unit = r.cwiseSqrt();
    const double round = std::sqrt(0.5 * (r[0] + r[1]) / r[2]);
    const Eigen::Vector3d turned(std::sqrt(0.5 * (r[0] + r[1])) * y[0], std::sqrt(0.5 * (r[0] + r[1])) * y[1],
                                 unit[2] * y[2]);
    const Eigen::Vector3d projected = project_friction_cone<3>(turned, mu * round);
    const Vector closed = vector({projected[0] / std::sqrt(0.5 * (r[0] + r[1])),
                                  projected[1] / std::sqrt(0.5 * (r[0] + r[1])), projected[2] / unit[2]});
    if (equal) {
      EXPECT_NEAR(distance(closed), nearest, 1e-6);
    } else {
      EXPECT_GE(distance(closed), 1.02 * nearest);
    }
  }
}

}  // namespace
}  // namespace conebench
