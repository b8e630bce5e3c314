#include "solvers/admm/admm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fclib_loader/fclib_file.hpp"
#include "tests/solvers/admm/admm_fixtures.hpp"
#include "tests/solvers/admm/literal_admm.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench {
namespace {

using admm_test::contacts;
using admm_test::LiteralAdmm;
using admm_test::micro;
using admm_test::natural_map;
using admm_test::random_problem;
using admm_test::run;

const std::vector<std::string> kNcpIds = {"ADMM-NCP-FP",   "ADMM-NCP-LA",   "ADMM-NCP-SA",
                                          "ADMM-NCP-SA-S", "ADMM-NCP-ST-S", "ADMM-NCP-AA-S"};

TEST(Admm, StickingContactStopsTheBody) {
  const Matrix delassus = Eigen::Vector3d(1.0, 1.0, 2.0).asDiagonal();
  const auto problem = micro(delassus, Eigen::Vector3d(0.1, -0.1, -1.0), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_TRUE(answer.impulse.isApprox(Eigen::Vector3d(-0.1, 0.1, 0.5), 1e-8)) << id << answer.impulse.transpose();
  }
}

TEST(Admm, PenaltyDoesNotUnderflowOnJointsThatContradictEachOther) {
  // No contact: the primal residual is zero throughout, and the rule would shrink ρ for ever.
  const Eigen::Vector3d axis(1.0, 1.0, 1.0);
  const auto problem =
      micro(axis * axis.transpose(), Eigen::Vector3d(1.0, 1.001, 0.999), ConeProduct::create(3, 0, {}).value());
  for (const std::string id : {"ADMM-NCP-LA", "ADMM-NCP-SA", "ADMM-NCP-SA-S"}) {
    const auto answer = run(id, problem, {}, {.tolerance = 1e-10, .max_iterations = 5000});
    EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations) << id;
    EXPECT_TRUE(answer.impulse.allFinite()) << id;
  }
}

TEST(Admm, SlidingContactKeepsSignoriniInTheNcpAndTakesOffInTheCcp) {
  const Matrix delassus = Matrix::Identity(3, 3);
  const auto problem = micro(delassus, Eigen::Vector3d(3.0, 0.0, -1.0), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem);
    EXPECT_TRUE(answer.impulse.isApprox(Eigen::Vector3d(-0.5, 0.0, 1.0), 1e-8)) << id << answer.impulse.transpose();
  }
  // The projection of −g onto the cone; the contact lifts off at μ times its slip: LeLidec24 Sec. III-B.
  const auto relaxed = run("ADMM-CCP", problem);
  Vector expected = -problem.free_term();
  project_cone(problem.cones(), expected, expected);
  EXPECT_TRUE(relaxed.impulse.isApprox(expected, 1e-8)) << relaxed.impulse.transpose();
  const Vector velocity = relaxed.impulse + problem.free_term();
  EXPECT_NEAR(velocity[2], 0.5 * velocity[0], 1e-8);
}

TEST(Admm, LeavingContactCarriesNothing) {
  const auto problem = micro(Matrix::Identity(3, 3), Eigen::Vector3d(1.0, 0.0, 0.2), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    EXPECT_LE(run(id, problem).impulse.norm(), 1e-9) << id;
  }
}

TEST(Admm, AProblemWithoutConstraintsIsSolvedAtOnce) {
  const auto problem = micro(Matrix(0, 0), Vector(0), ConeProduct());
  for (const auto& row : admm_rows()) {
    const auto answer = run(row.info.id, problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << row.info.id;
    EXPECT_EQ(answer.summary.iterations, 0);
    EXPECT_EQ(answer.summary.factorizations, 0);
  }
}

TEST(Admm, RedundantContactsAreSolved) {
  const auto problem = random_problem(1, 12, 3);
  for (const auto& id : kNcpIds) {
    const auto answer = run(id, problem, {}, {.tolerance = 1e-9});
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE(natural_map(problem, answer.impulse), 1e-6) << id;
  }
  EXPECT_LE(natural_map(problem, run("ADMM-CCP", problem, {}, {.tolerance = 1e-9}).impulse, false), 1e-6);
}

struct Family {
  std::string id;
  OptionValues options;
  bool ncp = true;
  double eta = 1e-6;
  double omega = 1.0;
  double factor = 1.0;
};

TEST(Admm, IteratesAreThoseOfTheAlgorithmBox) {
  // Tsounis Alg. 6 line by line on dense matrices, joints, limits, both dimensions, from a guess.
  const std::vector<Family> families = {
      {"ADMM-CCP", {{"update", "fixed"}}, false, 0.0},
      {"ADMM-CCP", {}, false, 0.0, 1.0, 1.5},  // κ is infinite: the linear rule
      {"ADMM-CCP", {{"relaxation", 1.5}, {"update", "fixed"}}, false, 0.0, 1.5},
      {"ADMM-NCP-FP", {}},
      {"ADMM-NCP-FP", {{"proximal", 0.3}}, true, 0.3},
      {"ADMM-NCP-FP", {{"relaxation", 1.6}}, true, 1e-6, 1.6},
      {"ADMM-NCP-LA", {}, true, 1e-6, 1.0, 1.5},
      {"ADMM-NCP-LA", {{"relaxation", 0.8}, {"factor", 3.0}}, true, 1e-6, 0.8, 3.0},
  };
  for (const int dimension : {2, 3}) {
    const ContactProblem problem = random_problem(7, 5, 2, 0.4, dimension, 2, 3);
    const Vector guess = Vector::LinSpaced(problem.rows(), -0.5, 1.0);
    for (const Family& family : families) {
      LiteralAdmm expected(problem, guess, family.ncp);
      expected.eta = family.eta;
      expected.omega = family.omega;
      long done = 0;
      for (const long iterations : {1L, 2L, 3L, 10L, 40L}) {
        for (; done < iterations; ++done) {
          if (done > 0) expected.adapt(10.0, family.factor);
          expected.step();
        }
        const auto answer =
            run(family.id, problem, family.options, {.tolerance = 0.0, .max_iterations = iterations}, guess);
        EXPECT_LE((answer.impulse - expected.y).lpNorm<Eigen::Infinity>(), 1e-9)
            << family.id << " after " << iterations << " in " << dimension << "D";
        EXPECT_NEAR(answer.summary.own_residual, std::max({expected.primal, expected.dual, expected.complementarity}),
                    1e-9)
            << family.id << " after " << iterations;
      }
    }
  }
}

TEST(Admm, FactorsNothingAfterTheLastIteration) {
  const ContactProblem problem = random_problem(7, 5, 2, 0.4, 3, 2, 3);
  const auto factorizations = [&](long iterations) {
    return run("ADMM-NCP-LA", problem, {{"ratio", 1.0}, {"factor", 3.0}},
               {.tolerance = 0.0, .max_iterations = iterations})
        .summary.factorizations;
  };
  EXPECT_EQ(factorizations(1), 1) << "that of the set-up";
  EXPECT_EQ(factorizations(2), 2) << "the penalty has moved";
}

TEST(Admm, SpectralRuleStartsAndStepsAsPrinted) {
  // G = 2 I and η = 0.1: L = 2.1 to the last digit, m = 0.1, κ = 21; ρ₀ of Tsounis (172a), steps of (172b) =
  // Carpentier24 (46).
  const ContactProblem problem =
      micro(2.0 * Matrix::Identity(9, 9), Vector::LinSpaced(9, 1.0, -3.0), contacts({0.5, 0.2, 0.8}));
  LiteralAdmm expected(problem, Vector::Zero(9));
  expected.eta = 0.1;
  expected.rho = std::sqrt(0.1 * 2.1) * std::pow(21.0, 0.2);
  const double first = expected.rho;
  for (int k = 0; k < 60; ++k) {
    if (k > 0) expected.adapt(2.0, std::pow(21.0, 0.05));
    expected.step();
  }
  EXPECT_NE(expected.rho, first) << "it moved";
  const auto answer =
      run("ADMM-NCP-SA", problem, {{"proximal", 0.1}, {"ratio", 2.0}}, {.tolerance = 0.0, .max_iterations = 60});
  EXPECT_LE((answer.impulse - expected.y).lpNorm<Eigen::Infinity>(), 1e-12);
}

TEST(StepBalance, FollowsHowFarTheIteratesTravelInAWindow) {
  StepBalance balance;
  balance.window = 3;
  const Vector origin = Vector::Zero(2);
  const auto after_a_window = [&](double rho, const Vector& y, const Vector& z) {
    balance.start(origin, origin, 2.0);
    EXPECT_EQ(balance.updated(rho, Vector::Constant(2, 7.0), origin), rho) << "what happens on the way does not count";
    EXPECT_EQ(balance.updated(rho, origin, Vector::Constant(2, 7.0)), rho);
    return balance.updated(rho, y, z);
  };
  const Vector unit = Vector::Unit(2, 0);
  // ρ √(‖Δz‖ / (ρ ‖Δy‖))
  EXPECT_DOUBLE_EQ(after_a_window(2.0, unit, 0.5 * unit), 2.0 * std::sqrt(0.25));
  EXPECT_DOUBLE_EQ(after_a_window(2.0, unit, 32.0 * unit), 2.0 * 4.0);
  EXPECT_DOUBLE_EQ(after_a_window(2.0, unit, 1e9 * unit), 20.0);
  balance.reach = 4.0;
  EXPECT_DOUBLE_EQ(after_a_window(2.0, unit, 1e9 * unit), 8.0);
  EXPECT_DOUBLE_EQ(after_a_window(2.0, unit, 1e-9 * unit), 0.5);
  EXPECT_EQ(after_a_window(2.0, unit, 3.9 * unit), 2.0) << "within the factor 2";
  EXPECT_EQ(after_a_window(2.0, unit, origin), 2.0) << "z stands still";
  EXPECT_EQ(after_a_window(2.0, origin, unit), 2.0) << "y stands still";
}

TEST(Admm, PenaltyThatFollowsTheStepsLeavesTheDriftThatTheResidualsDoNotSee) {
  const auto folder = testing::shared_data("families/Chain");
  if (!folder) GTEST_SKIP() << testing::no_shared_data;
  for (const char* name : {"Chain-i01500-31-00080", "Chain-i01500-32-00079", "Chain-i01500-32-00291"}) {
    const auto problem = load_fclib(*folder / (std::string(name) + ".hdf5"));
    ASSERT_TRUE(problem.ok());
    const double scale = problem->free_term().lpNorm<Eigen::Infinity>();
    const StopRule stop{.tolerance = 0.0, .max_iterations = 8000};
    EXPECT_GE(natural_map(*problem, run("ADMM-NCP-SA-S", *problem, {}, stop).impulse), 5e-8 * scale) << name;
    const auto answer = run("ADMM-NCP-ST-S", *problem, {}, stop);
    EXPECT_LE(natural_map(*problem, answer.impulse), 1e-9 * scale) << name;
    EXPECT_LE(answer.summary.factorizations, 60) << name;
  }
}

TEST(Admm, UnsymmetricMatrixIsSolvedAsGivenUnlessAskedOtherwise) {
  // Real files are unsymmetric by up to 4 %; Cholesky would take another problem's G.
  Matrix delassus = Eigen::Vector3d(1.0, 1.0, 2.0).asDiagonal();
  delassus(0, 2) = 0.08;
  const auto problem = micro(delassus, Eigen::Vector3d(3.0, 0.2, -1.0), contacts({0.5}));
  for (const auto& id : kNcpIds) {
    const auto as_given = run(id, problem);
    EXPECT_FALSE(as_given.summary.solved_symmetrised) << id;
    EXPECT_LE(natural_map(problem, as_given.impulse), 1e-8) << id;
    const auto symmetrised = run(id, problem, {{"factorization", std::string("cholesky")}});
    EXPECT_TRUE(symmetrised.summary.solved_symmetrised) << id;
    EXPECT_GE(natural_map(problem, symmetrised.impulse), 1e-3) << id;
    const auto other = micro(0.5 * (delassus + delassus.transpose()), problem.free_term(), contacts({0.5}));
    EXPECT_LE(natural_map(other, symmetrised.impulse), 1e-8) << id;
  }
}

}  // namespace
}  // namespace conebench
