// Printed lines of papers Carpentier24 and Tsounis on ADMM that fail, against what is done instead (see
// docs/errata.md).

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/admm/admm.hpp"
#include "tests/solvers/admm/admm_fixtures.hpp"
#include "tests/solvers/admm/literal_admm.hpp"

namespace conebench {
namespace {

using namespace admm_test;

TEST(AdmmErrata, PrintedLastTermOfTheLagrangianLosesTheMultiplier) {
  // Carpentier24 (34), (35) end in −‖z‖²/ρ. Completing the square of (33) leaves −‖z‖²/(2ρ); only then is (36c), z ← z
  // − ρ (f − y), the step of length ρ along ∂L/∂z. As printed that step is z ← −ρ (f − y), a penalty method without
  // memory.
  const Vector f = Eigen::Vector3d(0.3, -0.2, 0.7);
  const Vector y = Eigen::Vector3d(0.1, 0.4, 0.9);
  const Vector z = Eigen::Vector3d(-0.5, 0.2, 1.1);
  const double rho = 0.7;
  const double of_33 = -z.dot(f - y) + 0.5 * rho * (f - y).squaredNorm();
  const double square = 0.5 * rho * (f - y - z / rho).squaredNorm();
  EXPECT_NEAR(square - z.squaredNorm() / (2.0 * rho), of_33, 1e-14);
  EXPECT_GT(std::abs(square - z.squaredNorm() / rho - of_33), 0.5);

  // A contact that slides, so that z is not zero at the solution.
  const ContactProblem problem = micro(Matrix::Identity(3, 3), Eigen::Vector3d(3.0, 0.0, -1.0), contacts({0.5}));
  LiteralAdmm right(problem, Vector::Zero(3));
  LiteralAdmm printed = right;
  printed.printed_lagrangian = true;
  for (int k = 0; k < 400; ++k) {
    right.step();
    printed.step();
  }
  EXPECT_LE(natural_map(problem, right.y), 1e-9);
  EXPECT_GE(natural_map(problem, printed.y), 1e-2);
}

TEST(AdmmErrata, PrintedExtremeEigenvaluesHoldThePenaltyThatTheyAreToGive) {
  // Carpentier24 III-F: m and L of G + R + (η + ρ) I, and ρ = √(mL) κ^p. For p ≥ −1/2 that is ≥ m > ρ: no ρ agrees with
  // itself, and taking it again and again grows without bound.
  const Spectrum without{.largest = 4.0 + 1e-6, .smallest = 1e-6, .products = 0};
  for (const double exponent : {-0.5, 0.0, 0.2}) {
    double rho = 1.0;
    for (int k = 0; k < 50; ++k) {
      const Spectrum printed{.largest = without.largest + rho, .smallest = without.smallest + rho, .products = 0};
      const double next = spectral_penalty(printed, exponent);
      EXPECT_GT(next, rho);
      rho = next;
    }
    if (exponent >= 0.0) {
      EXPECT_GT(rho, 10.0 * without.largest) << "beyond every eigenvalue";
    }
  }
  // Without ρ in it: √(mL) κ^0.2 lies between m and L.
  EXPECT_NEAR(spectral_penalty(without, 0.2), std::sqrt(4e-6) * std::pow(4e6, 0.2), 1e-6);
}

TEST(AdmmErrata, ConditionOfOneWouldFreezeThePrintedPenalty) {
  // Carpentier24 (45), (46): with κ = 1 every exponent gives the same ρ. Nothing but compliance: L = m, far from ρ₀
  // = 1.
  const PenaltyRule printed{.update = PenaltyUpdate::spectral, .ratio = 10.0, .factor = std::pow(1.0, 0.05)};
  EXPECT_EQ(printed.updated(1.0, 1.0, 1e-3), 1.0);
  const ContactProblem problem =
      micro(Matrix::Zero(3, 3), Eigen::Vector3d(0.2, 0.0, -1.0), contacts({0.5}), Eigen::Vector3d::Constant(1e4));
  const auto answer = run("ADMM-NCP-SA", problem);
  EXPECT_GT(answer.summary.factorizations, 1) << "the linear rule has stepped in";
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_TRUE(answer.impulse.isApprox(Eigen::Vector3d(-2e-5, 0.0, 1e-4), 1e-3)) << answer.impulse.transpose();
}

TEST(AdmmErrata, AbsoluteProximalWeightTiesTheIterationsToTheUnits) {
  // Carpentier24 after (35): η = 1e-6 whatever G, and ‖G‖ runs over eight decades on real files.
  const ContactProblem problem = random_problem(3, 8, 3);
  const Matrix small = 1e-8 * problem.delassus().dense();
  const ContactProblem heavy = micro(small, problem.free_term(), ConeProduct(problem.cones()));
  const StopRule stop{.tolerance = 0.0, .max_iterations = 300};
  const auto error = [&](const std::string& id, const ContactProblem& p, const OptionValues& options = {}) {
    return natural_map(p, run(id, p, options, stop).impulse) / p.free_term().lpNorm<Eigen::Infinity>();
  };
  EXPECT_LE(error("ADMM-NCP-SA", problem), 1e-8);
  EXPECT_GE(error("ADMM-NCP-SA", heavy), 1e-2);
  EXPECT_LE(error("ADMM-NCP-SA-S", problem), 1e-8);
  EXPECT_LE(error("ADMM-NCP-SA-S", heavy), 1e-8);
  // The printed η in the scaled id's units, where G has a unit diagonal.
  const double mean = small.trace() / static_cast<double>(small.rows());
  EXPECT_GE(error("ADMM-NCP-SA-S", heavy, {{"proximal", 1e-6 / mean}}), 1e-6);
  // A relative η alone does not mend ADMM-NCP-SA: (44) compares impulses with velocities.
  EXPECT_GE(error("ADMM-NCP-SA", heavy, {{"proximal", 1e-6 * mean}}), 1e-2);
}

TEST(AdmmErrata, PrintedDualResidualMissesTheChangeOfDeSaxcesTerm) {
  // Carpentier24 (41) is the residual of (30) with the Γ(z) of the iteration before.
  const ContactProblem problem = random_problem(5, 6, 2);
  LiteralAdmm admm(problem, Vector::Zero(problem.rows()));
  double missed = 0.0;
  for (int k = 0; k < 2000; ++k) {
    admm.step();
    const Vector change = (admm.corrected(admm.z) - admm.z) - (admm.corrected(admm.z_previous) - admm.z_previous);
    const Vector gap = admm.printed_dual() - admm.exact_dual() - change;
    EXPECT_LE(gap.lpNorm<Eigen::Infinity>(), 1e-11) << k;
    missed = std::max(missed, change.lpNorm<Eigen::Infinity>() / admm.printed_dual().lpNorm<Eigen::Infinity>());
  }
  EXPECT_GT(missed, 0.5) << "on the way it misses more than half as much as it shows";
  EXPECT_LE(admm.exact_dual().lpNorm<Eigen::Infinity>(), 1e-8) << "settled: nothing left to miss";
}

TEST(AdmmErrata, PrintedDualResidualClaimsTooEarlyUnderOverRelaxation) {
  // Line 7 of Tsounis Alg. 6 moves x after the system was solved; (41), (170b) know nothing of it, even in the CCP.
  const ContactProblem problem = micro(1e3 * Matrix::Identity(3, 3), Eigen::Vector3d(0.1, 0.0, -1.0), contacts({0.5}));
  for (const double omega : {1.0, 1.9}) {
    LiteralAdmm admm(problem, Vector::Zero(3), false);
    admm.omega = omega;
    admm.eta = 0.0;
    double worst = 0.0;
    for (int k = 0; k < 20; ++k) {
      admm.step();
      worst = std::max(worst, (admm.printed_dual() - admm.exact_dual()).lpNorm<Eigen::Infinity>());
    }
    if (omega == 1.0) {
      EXPECT_LE(worst, 1e-12);
    } else {
      EXPECT_GE(worst, 0.1);
    }
  }
  const double tolerance = 1e-4;
  const StopRule stop{.tolerance = tolerance};
  const auto plain = run("ADMM-NCP-FP", problem, {}, stop);
  const auto relaxed = run("ADMM-NCP-FP", problem, {{"relaxation", 1.9}}, stop);
  EXPECT_EQ(plain.summary.status, SolveStatus::converged);
  EXPECT_EQ(relaxed.summary.status, SolveStatus::converged) << "so it says";
  EXPECT_GE(natural_map(problem, relaxed.impulse), 10.0 * tolerance);
}

TEST(AdmmErrata, PrintedDecrementOfTheLinearRuleRaisesThePenalty) {
  // Tsounis (171): ρ τ_dec where the dual residual leads, with τ_dec = 1.5 as for τ_inc. Carpentier24 (44) divides; so
  // does Tsounis (172b) by its negative exponent.
  const double tau = 1.5;
  const auto printed = [&](double rho, double primal, double dual) {
    return primal >= 10.0 * dual || dual >= 10.0 * primal ? tau * rho : rho;
  };
  const PenaltyRule rule{.update = PenaltyUpdate::linear, .ratio = 10.0, .factor = tau};
  EXPECT_GT(printed(1.0, 1e-3, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(rule.updated(1.0, 1e-3, 1.0), 1.0 / tau);
  EXPECT_DOUBLE_EQ(rule.updated(1.0, 1.0, 1e-3), tau);
  EXPECT_DOUBLE_EQ(rule.updated(1.0, 1.0, 1.0), 1.0);

  // From a penalty that is too large the printed rule runs away.
  const ContactProblem problem = random_problem(2, 6, 2);
  for (const bool as_printed : {true, false}) {
    LiteralAdmm admm(problem, Vector::Zero(problem.rows()));
    admm.rho = 1e4;
    for (int k = 0; k < 300; ++k) {
      admm.step();
      if (as_printed) {
        admm.rho = printed(admm.rho, admm.primal, admm.dual);
      } else {
        admm.adapt(10.0, tau);
      }
    }
    const double error = natural_map(problem, admm.y);
    if (as_printed) {
      EXPECT_GE(admm.rho, 1e8);
      EXPECT_GE(error, 1e-2);
    } else {
      EXPECT_LE(error, 1e-6);
    }
  }
}

}  // namespace
}  // namespace conebench
