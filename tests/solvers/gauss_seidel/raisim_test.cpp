// NBGS, RAISIM, RAISIM-DS and RAISIM-DS-ES as solvers: model, relaxation, stop tests, misprints.

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/gauss_seidel/ellipse_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/relaxation.hpp"
#include "solvers/gauss_seidel/sweep.hpp"
#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::gauss_seidel {
namespace {

using namespace conebench::testing;

Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
           StopRule stop = {.tolerance = 1e-10, .max_iterations = 5000}) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return testing::solve(*solver, problem, stop, silent);
}

/// One contact that slides, normal and tangent coupled.
ContactProblem coupled_slide() {
  Matrix matrix(3, 3);
  matrix << 2, 0.3, 0.5, 0.3, 1.5, -0.4, 0.5, -0.4, 1;
  return micro(matrix, vector({2, 1, -1}), cones(0, 0, {0.5}));
}

TEST(Raisim, ViolatesMaximalDissipationAndItsCorrectionDoesNot) {
  // LeLidec24 Sec. III-C and (24); repaired as Tsounis Table I says.
  const ContactProblem problem = coupled_slide();
  const OptionValues fixed_point{{"own_test", std::string("fixed_point")}};
  const Answer nbgs = run("NBGS", problem, fixed_point);
  const Answer raisim = run("RAISIM", problem, fixed_point);
  const Answer corrected = run("RAISIM-DS", problem);
  for (const Answer* answer : {&nbgs, &raisim, &corrected}) {
    EXPECT_EQ(answer->summary.status, SolveStatus::converged);
    Vector velocity(3);
    problem.velocity(answer->impulse, velocity);
    EXPECT_NEAR(velocity[2], 0.0, 1e-9) << "Signorini's law is kept";
  }
  EXPECT_LE((nbgs.impulse - raisim.impulse).norm(), 1e-8) << "one model";
  EXPECT_GE((judge(problem, raisim.impulse)["dissipation_error"].value), 0.1);
  EXPECT_GE((judge(problem, raisim.impulse)["natural_map_scaled"].value), 1e-2);
  EXPECT_LE((judge(problem, corrected.impulse)["dissipation_error"].value), 1e-7);
  EXPECT_LE((judge(problem, corrected.impulse)["natural_map_scaled"].value), 1e-7);
}

TEST(Raisim, SolvesItsOwnModelOnManyContacts) {
  const ContactProblem problem = make_problem("random", {{"contacts", 10L}, {"mu_max", 0.4}}, 5);
  const Answer nsgs = run("NSGS", problem, {}, {.tolerance = 1e-12, .max_iterations = 20000});
  EXPECT_GE((judge(problem, nsgs.impulse)["natural_map_raisim_scaled"].value), 1e-3) << "another model";
  for (const std::string id : {"NBGS", "RAISIM"}) {
    const Answer answer =
        run(id, problem, {{"own_test", std::string("fixed_point")}}, {.tolerance = 1e-12, .max_iterations = 20000});
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_raisim_scaled"].value), 1e-9) << id;
    EXPECT_GE((judge(problem, answer.impulse)["natural_map_scaled"].value), 1e-3) << id;
  }
}

TEST(Raisim, StopsShortOfTheNcpAndSaysSo) {
  for (const std::string id : {"NBGS", "RAISIM"}) {
    const Answer answer = run(id, coupled_slide());
    EXPECT_NE(answer.summary.status, SolveStatus::converged) << "its own test is the NCP's, which its model can't meet";
    EXPECT_GE(answer.summary.own_residual, 1e-3);
  }
}

TEST(Raisim, IsCoulombsWhereSpheresTouch) {
  // Contacts through the centres of spheres: normal and tangent are coupled in no diagonal block.
  const ContactProblem problem =
      make_problem("sphere-lattice", {{"nx", 3L}, {"ny", 3L}, {"nz", 3L}, {"perturbation", 0.05}});
  for (const std::string id : {"NBGS", "RAISIM", "RAISIM-DS"}) {
    const Answer answer = run(id, problem, {}, {.tolerance = 1e-12, .max_iterations = 20000});
    EXPECT_LE((judge(problem, answer.impulse)["natural_map_scaled"].value), 1e-8) << id;
  }
}

TEST(Raisim, AlphaDecaysWithTheSweepOrWithTheContact) {
  // Contacts that do not act on each other: after one sweep contact i has α_i of its answer.
  const double gamma = 0.5;
  const double least = 0.2;
  const ContactProblem problem =
      micro(Matrix::Identity(9, 9), vector({0, 0, -1, 0, 0, -1, 0, 0, -1}), cones(0, 0, {0.5, 0.5, 0.5}));
  const auto after = [&](const char* decay, long sweeps) {
    return run("RAISIM", problem,
               {{"alpha", 0.8}, {"alpha_min", least}, {"gamma", gamma}, {"decay", std::string(decay)}},
               {.tolerance = 0.0, .max_iterations = sweeps})
        .impulse;
  };
  const auto decayed = [&](double alpha) { return gamma * alpha + (1.0 - gamma) * least; };
  const double second = decayed(0.8);
  const double third = decayed(second);
  EXPECT_TRUE(after("sweep", 1).isApprox(vector({0, 0, 0.8, 0, 0, 0.8, 0, 0, 0.8}), 1e-14));
  EXPECT_TRUE(after("contact", 1).isApprox(vector({0, 0, 0.8, 0, 0, second, 0, 0, third}), 1e-14));
  const double fourth = decayed(third);
  EXPECT_NEAR(after("contact", 2)[2], 0.8 + fourth * (1.0 - 0.8), 1e-14);
  EXPECT_NEAR(after("sweep", 2)[2], 0.8 + second * (1.0 - 0.8), 1e-14);
}

TEST(RaisimEarlyStop, ClaimsWhereTheObjectiveStandsStill) {
  // Tsounis (160), from its text: |f(λ) − f(λ⁻)| over the trace of M, here of one body of 2 kg.
  const Matrix matrix = 0.5 * Matrix::Identity(3, 3);
  const ContactProblem problem = micro(matrix, vector({0, 0, -1}), cones(0, 0, {0.5}));
  const OptionValues half{{"alpha", 0.5}, {"gamma", 1.0}, {"total_inertia", 2.0}};
  // λ_n = 1, 1.5, …: f = λ²/4 − λ.
  const Answer answer = run("RAISIM-DS-ES", problem, half, {.tolerance = 0.0, .max_iterations = 2});
  EXPECT_NEAR(answer.summary.own_residual, std::abs((2.25 / 4 - 1.5) - (1.0 / 4 - 1.0)) / 2.0, 1e-14);
}

TEST(RaisimEarlyStop, ClaimsFarFromTheAnswerOnAStack) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 10L}, {"mass_ratio", 1000.0}});
  const StopRule stop{.tolerance = 1e-6, .max_iterations = 20000};
  const Answer early = run("RAISIM-DS-ES", problem, {}, stop);
  EXPECT_EQ(early.summary.status, SolveStatus::converged);
  EXPECT_GE((judge(problem, early.impulse)["natural_map_scaled"].value), 1e-3);
}

TEST(OwnResiduals, TotalInertiaIsTheTraceOfTheMassMatrix) {
  const ContactProblem problem = make_problem("sliding-box");
  ASSERT_TRUE(problem.primal().has_value());
  EXPECT_EQ(total_inertia(problem), problem.primal()->mass.diagonal().sum());
  // Without it: a sphere's contact shows its mass by each axis.
  EXPECT_NEAR(total_inertia(micro(0.5 * Matrix::Identity(3, 3), vector({0, 0, -1}), cones(0, 0, {0.5}))), 2.0, 1e-14);
}

TEST(Errata, PrintedCasesOfTheProjectorAreReversed) {
  // Tsounis (155): 0 where v̄_n < 0. A contact that approaches is then left to, one that departs is pulled back.
  const EllipseBlock<Quartic> local{};
  const CoulombSpace cone{{0.5}};
  const Eigen::Matrix3d block = Eigen::Matrix3d::Identity();
  const auto ours = [&](const ContactVector<3>& free) {
    return local.solve(local.prepare(block, cone), Eigen::Map<const Eigen::Matrix3d>(block.data()), cone, free,
                       ContactVector<3>::Zero());
  };
  const auto printed = [&](const ContactVector<3>& free) -> ContactVector<3> {
    return free[2] < 0.0 ? ContactVector<3>(ContactVector<3>::Zero()) : ContactVector<3>(-block.inverse() * free);
  };
  const ContactVector<3> approaching(0.1, 0, -1);
  EXPECT_NEAR((block * ours(approaching) + approaching).norm(), 0.0, 1e-14);
  EXPECT_EQ((block * printed(approaching) + approaching)[2], -1.0);
  const ContactVector<3> departing(0.1, 0, 1);
  EXPECT_TRUE(ours(departing).isZero(0.0));
  EXPECT_LT(printed(departing)[2], 0.0);
}

TEST(Errata, UnconstrainedImpulseNeedsItsMinusAndItsInverse) {
  // Tsounis Alg. 4 line 1, λ⁰ = −D⁻¹ (v_f + s); some texts lose the minus, and the line below (154) prints x = −D (v_f
  // + s).
  const Eigen::Matrix3d block = Eigen::Vector3d(2, 2, 4).asDiagonal();
  const ContactVector<3> free(0.2, 0, -2);
  const double mu = 0.5;
  const ContactVector<3> right = -block.inverse() * free;
  const ContactVector<3> without_minus = block.inverse() * free;
  const ContactVector<3> without_inverse = -block * free;
  EXPECT_LE(right.head<2>().norm(), mu * right[2]) << "it sticks";
  EXPECT_NEAR((block * right + free).norm(), 0.0, 1e-15);
  EXPECT_LT(without_minus[2], 0.0);
  EXPECT_GE((block * without_inverse + free).norm(), 1.0);
}

TEST(Errata, FreeVelocityAddsWhatTheOthersDo) {
  // Tsounis Alg. 5 lines 4, 9, 15: v̄_j = v_j − Σ D_jm λ_m, against its own line 20 and (20): v⁺ = D λ + v_f.
  Matrix matrix(2, 2);
  matrix << 2, 1, 1, 2;
  const ContactProblem problem = micro(matrix, vector({-1, -1}), cones(0, 2, {}));
  const auto swept = [&](double sign) {
    Vector impulse = Vector::Zero(2);
    for (int k = 0; k < 100; ++k) {
      for (int i = 0; i < 2; ++i) {
        const double free = problem.free_term()[i] + sign * matrix(i, 1 - i) * impulse[1 - i];
        impulse[i] = std::max(0.0, -free / matrix(i, i));
      }
    }
    return impulse;
  };
  EXPECT_LE((judge(problem, swept(1.0))["natural_map_scaled"].value), 1e-14);
  EXPECT_GE((judge(problem, swept(-1.0))["natural_map_scaled"].value), 1.0);
  EXPECT_LE((run("NBGS", problem).impulse - swept(1.0)).norm(), 1e-9);
}

TEST(Errata, StickingWithDeSaxcesTermSinksFirst) {
  // Tsounis Alg. 4 line 1 with s > 0: σ = −s at the impulse that is to stick. One contact that slid and comes to rest.
  const Eigen::Matrix3d block = Eigen::Matrix3d::Identity();
  const ContactVector<3> free(0.1, 0, -1);
  const double s = 0.5 * 0.1;
  const ContactVector<3> printed = -block.inverse() * (free + s * ContactVector<3>::UnitZ());
  EXPECT_NEAR((block * printed + free)[2], -s, 1e-15);
  const EllipseBlock<Bisection> local{.de_saxce = true};
  const CoulombSpace cone{{0.5}};
  const ContactVector<3> ours = local.solve(local.prepare(block, cone), Eigen::Map<const Eigen::Matrix3d>(block.data()),
                                            cone, free, ContactVector<3>::Zero());
  EXPECT_NEAR((block * ours + free).norm(), 0.0, 1e-15);
}

}  // namespace
}  // namespace conebench::gauss_seidel
