// COND on cables: why as printed it diverges, what gains its virtual nodes ask for, and what few iterations leave.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "metrics/residuals.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "solvers/registry.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using cond::frobenius_steps;
using cond::NodalForm;
using cond::nodalise;

double largest_of(const Matrix& a, const Vector& w) {
  const Vector root = w.cwiseSqrt();
  return Eigen::SelfAdjointEigenSolver<Matrix>(root.asDiagonal() * a * root.asDiagonal()).eigenvalues().maxCoeff();
}

/// a on the diagonal, −k beside it.
NodalForm spring_chain(int links, double a, double k) {
  NodalForm form;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < links; ++i) {
    entries.emplace_back(i, i, a);
    if (i > 0) entries.emplace_back(i, i - 1, -k);
    if (i > 0) entries.emplace_back(i - 1, i, -k);
  }
  form.own = links;
  form.matrix.resize(links, links);
  form.matrix.setFromTriplets(entries.begin(), entries.end());
  return form;
}

TEST(CondOnCables, StepsOfAChainOfSpringsAreSafe) {
  // W = a/(a² + 2 k²), the largest eigenvalue of A tends to a + 2 k: λ_max(W A) ≤ (1 + √3)/2.
  for (const double a : {2.0, 3.0, 10.0}) {
    const NodalForm form = spring_chain(60, a, 1.0);
    const double largest = largest_of(Matrix(form.matrix), frobenius_steps(form, true, false));
    EXPECT_NEAR(largest, a * (a + 2.0) / (a * a + 2.0), 0.02);
    EXPECT_LT(largest, 0.5 * (1.0 + std::sqrt(3.0)));
  }
}

TEST(CondOnCables, PairedStepsOfALinkAndItsVirtualNodeDivergeAndOwnOnesDoNot) {
  Simulation loop = testing::scene_of(
      "cable-winding",
      {{"links", 40L}, {"length", 0.4}, {"solver", "CASCADE"}, {"self_contact", false}, {"tolerance", 1e-8}});
  StepRecord record = testing::step(loop);
  for (int k = 0; k < 3; ++k) record = testing::step(loop);
  const ContactProblem& problem = record.problem;
  ASSERT_GT(problem.cones().contacts(), 20);
  const auto nodes = problem.configuration()->nodes;
  const auto largest = [&](double gain, bool pair) {
    const NodalForm form = nodalise(problem, {.virtual_gain = gain, .nodes = nodes});
    EXPECT_GT(form.virtual_nodes(), 0);
    return largest_of(Matrix(form.matrix), frobenius_steps(form, pair, false));
  };
  const NodalForm bare = [&] {
    NodalForm form;
    form.matrix = problem.primal()->mass;
    return form;
  }();
  EXPECT_LT(largest_of(Matrix(bare.matrix), frobenius_steps(bare, true, false)), 1.9);
  EXPECT_GT(largest(0.0, true), 2.1);
  EXPECT_LT(largest(0.0, false), 1.9);
  // Of both nodes w = (a + k)/(‖A_i‖² + ‖A_v‖²): most where the gain k is near a; not at Lee23's own, 1e5 N s/m.
  EXPECT_LT(largest(1e3, true), 1.9);

  const auto ended = [&](bool pair) {
    auto solver = (*require_solver("COND-STRICT"))->make({{"pair", pair}}).value();
    EXPECT_TRUE(solver->prepare(problem));
    Vector impulse = Vector::Zero(problem.rows());
    SilentMonitor monitor;
    return solver->solve(impulse, {1e-12, 300, StopBy::solver}, monitor, impulse).status;
  };
  EXPECT_EQ(ended(true), SolveStatus::diverged);
  EXPECT_NE(ended(false), SolveStatus::diverged);
}

/// A post is wound up so fast that links touch within 0.3 s.
OptionValues wound() {
  return {{"links", 60L}, {"length", 0.6}, {"turns", 2.0}, {"solver", "CASCADE"}, {"tolerance", 1e-8}};
}

TEST(CondOnCables, LinksThatTouchTwiceAreSolvedWithTheGainsOfNodes) {
  Simulation loop = testing::scene_of("cable-winding", wound());
  StepRecord record = testing::step(loop);
  for (int k = 1; k < 35; ++k) record = testing::step(loop);
  const ContactProblem& problem = record.problem;
  long twice = 0;
  const NodalForm form = nodalise(problem, {.nodes = problem.configuration()->nodes});
  for (const auto& block : form.blocks) twice += block.gain > 0.0 && !block.paired ? 1 : 0;
  ASSERT_GT(twice, 5);
  const auto left_after = [&](const OptionValues& options) {
    auto solver = (*require_solver("COND-STRICT-S"))->make(options).value();
    EXPECT_TRUE(solver->prepare(problem));
    Vector impulse = Vector::Zero(problem.rows());
    SilentMonitor monitor;
    solver->solve(impulse, {1e-15, 2000, StopBy::solver}, monitor, impulse);
    return Verdict::create("natural_map_scaled", problem).value()(impulse);
  };
  EXPECT_LE(left_after({}), 1e-4);
  EXPECT_GE(left_after({{"virtual_gain", 8.0}}), 1e-3);
}

TEST(CondOnCables, OwnVelocityOfFewIterationsKeepsTheCableOutOfThePostWhereThatOfItsImpulsesDoesNot) {
  const auto run = [](const std::string& state) {
    OptionValues options = wound();
    options["turns"] = 0.5;
    options["solver"] = "COND-STRICT";
    options["solver_options"] = "pair=false,equilibrated=true";
    options["state"] = state;
    options["stop_by"] = "solver";
    options["tolerance"] = 1e-15;
    options["max_iterations"] = 100L;
    Simulation loop = testing::scene_of("cable-winding", options);
    double deepest = 0.0;
    for (int k = 0; k < 30; ++k) deepest = std::max(deepest, testing::step(loop).configuration_residual);
    return deepest;
  };
  const double impulse = run("impulse"), solver = run("solver");
  EXPECT_LT(solver, 1e-4);
  EXPECT_GT(impulse, 5.0 * solver);
}

TEST(CondOnCables, OwnVelocityIsThatOfTheImpulsesWhereItConverges) {
  for (const char* id : {"COND-STRICT", "COND-STRICT-S", "COND-PROX"}) {
    Vector positions[2];
    for (const bool own : {false, true}) {
      Simulation loop = testing::scene_of("soft-mat", {{"nx", 4L},
                                                       {"ny", 6L},
                                                       {"solver", id},
                                                       {"state", own ? "solver" : "impulse"},
                                                       {"stop_by", "solver"},
                                                       {"tolerance", 1e-12}});
      for (int k = 0; k < 10; ++k) testing::step(loop);
      positions[own] = loop.state().position;
    }
    EXPECT_LE((positions[1] - positions[0]).norm(), 1e-9) << id;
  }
}

TEST(CondOnCables, OwnVelocityIsOfTheSolveWhoseImpulsesAreKept) {
  const auto moved = [](const std::string& fallback, Fallback expected) {
    Simulation loop = testing::scene_of("soft-mat", {{"nx", 4L},
                                                     {"ny", 6L},
                                                     {"solver", "COND-STRICT"},
                                                     {"state", "solver"},
                                                     {"max_iterations", 2L},
                                                     {"stop_by", "solver"},
                                                     {"tolerance", 1e-12},
                                                     {"fallback", fallback}});
    long met = 0;
    for (int k = 0; k < 30; ++k) met += testing::step(loop).fallback == expected ? 1 : 0;
    EXPECT_GT(met, 10) << fallback;
    return loop.state().position;
  };
  // Nor do two iterations solve a step without friction: what that solve left counts for nothing.
  EXPECT_EQ(moved("frictionless", Fallback::failed), moved("none", Fallback::unused));
}

TEST(CondOnCables, SolversWithoutAVelocityOfTheirOwnAreRefused) {
  for (const auto& [solver, integrator] : {std::pair("NSGS", "midpoint"), {"COND-STRICT", "newton"}}) {
    const auto plan = plan_scene(**require_simulated_scene("soft-mat"),
                                 {{"solver", solver}, {"integrator", integrator}, {"state", "solver"}}, 1);
    ASSERT_TRUE(plan);
    const auto made = simulate(*plan);
    ASSERT_FALSE(made);
    const std::string& message = made.error().message;
    EXPECT_NE(message.find("velocities of its own"), std::string::npos) << message;
    EXPECT_NE(message.find("COND-STRICT-S"), std::string::npos) << message;
    EXPECT_EQ(message.find("NSGS,"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace conebench::simulation
