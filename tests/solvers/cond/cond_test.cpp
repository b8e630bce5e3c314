// COND and CCS against solvers of other kinds, and against the numbers of an independent prototype.

#include <gtest/gtest.h>

#include "fclib_loader/fclib_file.hpp"
#include "problems/used_parts.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "solvers/cond/node_product.hpp"
#include "tests/solvers/cond/soft_problems.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
           double tolerance = 1e-12, long most = 20000) {
  const SolverRow& row = *find_solver(id);
  const auto solver = prepared(row, problem, options);
  JudgingMonitor monitor(problem, own_model_residual(row.info), tolerance);
  return solve(*solver, problem, {.tolerance = tolerance, .max_iterations = most, .stop_by = StopBy::judge}, monitor);
}

double verdict(const ContactProblem& problem, const Vector& impulse,
               const std::string& residual = "natural_map_scaled") {
  return judge(problem, impulse)[residual].value;
}

std::vector<ContactProblem> twenty_meshes() {
  std::vector<ContactProblem> all;
  for (std::uint64_t seed = 1; seed <= 14; ++seed) all.push_back(soft_mesh(seed));
  for (std::uint64_t seed = 1; seed <= 6; ++seed) all.push_back(two_soft_blocks(seed));
  return all;
}

TEST(CondStrict, FixedPointsAreTheSolutionsOfTheNcp) {
  int modes = 0;
  for (const ContactProblem& problem : twenty_meshes()) {
    SCOPED_TRACE(problem.content_hash());
    const Answer exact = run("CASCADE", problem, {}, 1e-13);
    ASSERT_EQ(exact.summary.status, SolveStatus::converged);
    for (const char* id : {"COND-STRICT", "COND-STRICT-S", "CCS"}) {
      const Answer answer = run(id, problem);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
      EXPECT_LE((answer.impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm()) << id;
    }
    Vector sigma(problem.rows());
    problem.velocity(exact.impulse, sigma);
    for (Index m = 0; m < problem.cones().contacts(); ++m) {
      const double pull = exact.impulse[3 * m + 2];
      modes |= pull == 0.0 ? 1 : sigma.segment<2>(3 * m).norm() < 1e-9 ? 2 : 4;
    }
  }
  EXPECT_EQ(modes, 7) << "contacts open, stick and slide";
}

TEST(CondProx, FixedPointsAreTheSolutionsOfTheCcp) {
  double apart = 0.0;
  for (const ContactProblem& problem : twenty_meshes()) {
    SCOPED_TRACE(problem.content_hash());
    const Answer exact = run("ADMM-CCP", problem, {}, 1e-13);
    ASSERT_EQ(exact.summary.status, SolveStatus::converged);
    for (const char* id : {"COND-PROX", "COND-PROX-S"}) {
      const Answer answer = run(id, problem);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id;
      EXPECT_LE((answer.impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm()) << id;
    }
    apart = std::max(apart, verdict(problem, exact.impulse));
  }
  EXPECT_GT(apart, 1e-2) << "the two models differ here";
}

TEST(CondProx, WithComplianceIsTheInvertibleContactOfEquation37) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ContactProblem problem = soft_mesh(seed, 1.0);
    const Answer newton = run("NEWTON-CCP", problem, {}, 1e-13);
    const Answer answer = run("COND-PROX", problem);
    EXPECT_LE((answer.impulse - newton.impulse).norm(), 1e-8 * newton.impulse.norm());
    // The impulse follows from the velocity, contact by contact: λ = P(−(J v + φ) / ω).
    Vector sigma(problem.rows()), inverse(problem.rows());
    problem.velocity(answer.impulse, sigma);
    sigma -= answer.impulse;
    project_cone(problem.cones(), -sigma, inverse);
    EXPECT_LE((inverse - answer.impulse).norm(), 1e-8 * answer.impulse.norm());
  }
}

TEST(CondProx, TakesAnotherComplianceOnTheNormal) {
  ContactProblemData data = soft_mesh(3).data();
  data.compliance = Vector::NullaryExpr(data.cones.rows(), [](Index r) { return r % 3 == 2 ? 0.3 : 2.0; });
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const Answer newton = run("NEWTON-CCP", problem, {}, 1e-13);
  EXPECT_LE((run("COND-PROX", problem).impulse - newton.impulse).norm(), 1e-8 * newton.impulse.norm());
  const Answer exact = run("CASCADE", problem, {}, 1e-13);
  EXPECT_LE((run("COND-STRICT", problem).impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm());
}

TEST(Cond, EveryChoiceOfStepsReachesOneAnswer) {
  const ContactProblem problem = soft_mesh(5);
  const Vector expected = run("CASCADE", problem, {}, 1e-13).impulse;
  for (const char* step : {"frobenius", "bb1", "bb2", "bb-alternate"}) {
    for (const bool scaled : {false, true}) {
      for (const bool chebyshev : {false, true}) {
        if (chebyshev && std::string(step) != "frobenius") continue;
        const OptionValues options{
            {"step", step}, {"scaled", scaled}, {"chebyshev", chebyshev}, {"start", scaled ? "free" : "zero"}};
        const Answer answer = run("COND-STRICT", problem, options, 1e-11);
        EXPECT_EQ(answer.summary.status, SolveStatus::converged) << step << scaled << chebyshev;
        EXPECT_LE((answer.impulse - expected).norm(), 1e-8 * expected.norm()) << step << scaled << chebyshev;
        EXPECT_EQ(answer.summary.operator_products, answer.summary.iterations);
      }
    }
  }
}

TEST(Cond, ChebyshevSavesMostOfTheIterations) {
  const ContactProblem problem = soft_mesh(6);
  const long plain = run("COND-STRICT", problem, {{"chebyshev", false}}, 1e-8).summary.iterations;
  const long fast = run("COND-STRICT", problem, {}, 1e-8).summary.iterations;
  EXPECT_LT(2 * fast, plain);
}

TEST(Cond, WorksInVelocitiesAlone) {
  const auto use = std::make_shared<ProblemUse>();
  const ContactProblem problem = soft_mesh(2).watched(use);
  for (const char* id : {"COND-STRICT", "COND-PROX-S", "CCS"}) {
    const auto solver = prepared(*find_solver(id), problem);
    SilentMonitor silent;
    solve(*solver, problem, {.max_iterations = 5, .stop_by = StopBy::judge}, silent);
    EXPECT_FALSE(solver->needs_matrix(problem));
  }
  EXPECT_EQ(to_string(used_parts(*use)), "primal");
}

TEST(Cond, GoesOnFromAGuess) {
  for (const ContactProblem& problem : {two_soft_blocks(3), box_on_corners()}) {
    for (const char* id : {"COND-STRICT", "COND-STRICT-S", "CCS"}) {
      const bool nodal = problem.cones().contacts() > 4;
      if (!nodal && std::string(id) == "COND-STRICT") continue;
      const Answer cold = run(id, problem, {}, 1e-10);
      const auto solver = prepared(*find_solver(id), problem);
      JudgingMonitor monitor(problem, "natural_map_scaled", 1e-8);
      const Answer warm = solve(*solver, problem, {.stop_by = StopBy::judge}, monitor, cold.impulse);
      EXPECT_EQ(warm.summary.iterations, 1) << id;
      EXPECT_GT(warm.summary.operator_products, 1) << "the velocities of a guess are paid for";
    }
  }
}

TEST(Cond, RecyclesStepsWhileTheNodesStayTheSame) {
  const ContactProblem first = soft_mesh(1), second = soft_mesh(8);  // another material and other velocities
  ContactProblemData data = first.data();
  data.delassus.reset();
  data.primal->mass *= 2.0;
  const ContactProblem heavier = ContactProblem::create(std::move(data)).value();
  SilentMonitor silent;
  const StopRule stop{.max_iterations = 3, .stop_by = StopBy::judge};
  const auto after_first = [&](const OptionValues& options, const ContactProblem& problem) {
    const auto solver = prepared(*find_solver("COND-STRICT"), first, options);
    if (!solver->prepare(problem)) throw std::runtime_error("unsupported");
    return solve(*solver, problem, stop, silent).impulse;
  };
  EXPECT_EQ(after_first({}, heavier),
            solve(*prepared(*find_solver("COND-STRICT"), heavier), heavier, stop, silent).impulse);
  EXPECT_NE(after_first({{"recycle", 2L}}, heavier), after_first({}, heavier));
  EXPECT_EQ(after_first({{"recycle", 2L}}, second), after_first({}, second)) << "other nodes, other steps";
}

TEST(Cond, VirtualNodesMakeACompliantProblem) {
  const ContactProblem problem = box_on_corners();
  for (const double gain : {0.1, 1.0}) {
    ContactProblemData data = problem.data();
    data.compliance = Vector::Constant(12, 1.0 / gain);
    const ContactProblem compliant = ContactProblem::create(std::move(data)).value();
    const OptionValues options{{"virtual_gain", gain}};
    for (const char* id : {"COND-STRICT", "COND-PROX"}) {
      const auto solver = prepared(*find_solver(id), problem, options);
      JudgingMonitor monitor(compliant, own_model_residual(find_solver(id)->info), 1e-10);
      const Answer answer = solve(*solver, problem, {.stop_by = StopBy::judge}, monitor);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << gain;
      EXPECT_GT(verdict(problem, answer.impulse, own_model_residual(find_solver(id)->info)), 1e-3) << id << gain;
    }
  }
}

TEST(CondShifted, TakesTheComplianceOfVirtualNodesBack) {
  for (const double push : {0.01, 0.05}) {
    const ContactProblem problem = box_on_corners(push);
    for (const char* id : {"COND-STRICT-S", "COND-PROX-S"}) {
      const Answer answer = run(id, problem, {}, 1e-9);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << " after " << answer.summary.iterations;
    }
  }
}

TEST(CondShifted, SolvesStacksOfRigidBodiesHoweverUnequal) {
  for (const double ratio : {1.0, 1000.0}) {
    const ContactProblem problem = make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", ratio}});
    for (const char* id : {"COND-STRICT-S", "COND-PROX-S"}) {
      const Answer answer = run(id, problem, {}, 1e-8, 2000);
      EXPECT_EQ(answer.summary.status, SolveStatus::converged) << id << ratio;
    }
  }
}

TEST(CondShifted, StepsOfBarzilaiAndBorweinDoNotRunAway) {
  // Under a soft virtual node the boxes fall freely at first, and the steps are made of rounding.
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 100.0}});
  const Answer answer = run("COND-STRICT-S", problem, {{"virtual_gain", 0.02}}, 1e-8, 3000);
  EXPECT_EQ(answer.summary.status, SolveStatus::max_iterations) << "slow";
  EXPECT_LE(verdict(problem, answer.impulse), 1.0);
  EXPECT_LT(answer.summary.own_residual, 1e-2);
}

TEST(NodeProduct, IsTheProductWhateverTheColumnsAre) {
  // Nodes, a rigid body and columns of their own; two_soft_blocks has nodes alone.
  const ContactProblem block = soft_mesh(2);
  const SparseMatrix& nodes = block.primal()->mass;
  const Index n = nodes.rows();
  Matrix mixed = Matrix::Zero(n + 8, n + 8);
  mixed.topLeftCorner(n, n) = nodes;
  mixed.bottomRightCorner(8, 8) = Matrix::Identity(8, 8) + Matrix::Constant(8, 8, 0.1);
  mixed.row(n + 7).head(3) << 0.1, 0.2, 0.3;
  mixed.col(n + 7).head(3) << 0.1, 0.2, 0.3;
  for (const SparseMatrix& a : {nodes, SparseMatrix(mixed.sparseView())}) {
    const Vector v = Vector::LinSpaced(a.rows(), -1.0, 2.0), b = Vector::LinSpaced(a.rows(), 0.3, 0.1);
    Vector r(a.rows());
    cond::NodeProduct{a}(v, b, r);
    const Vector expected = a * v - b;
    EXPECT_LE((r - expected).norm(), 1e-14 * (Matrix(a).cwiseAbs() * v.cwiseAbs() + b.cwiseAbs()).norm());
  }
}

TEST(Cond, TakesJointsAndLimits) {
  // A bar of four masses on the ground: one is tied to the world along x, one is held above its height.
  SparseMatrix mass(12, 12);
  for (int k = 0; k < 12; ++k) mass.insert(k, k) = 2.0;
  for (int k = 0; k + 3 < 12; ++k) {
    mass.insert(k, k + 3) = -0.8;
    mass.insert(k + 3, k) = -0.8;
  }
  std::vector<Eigen::Triplet<double>> entries{{0, 0, 2.0}, {1, 11, 0.5}};
  for (int r = 0; r < 6; ++r) entries.emplace_back(2 + r, 3 + r, 1.0);
  SparseMatrix jacobian(8, 12);
  jacobian.setFromTriplets(entries.begin(), entries.end());
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 1, {0.5, 0.2}).value();
  Vector velocity = Vector::LinSpaced(12, 0.4, -0.6);
  data.free_term = jacobian * velocity;
  data.primal = PrimalForm{mass, jacobian, velocity};
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  EXPECT_EQ(cond::nodalise(problem, {}).virtual_nodes(), 0);
  const Answer exact = run("CASCADE", problem, {}, 1e-13);
  EXPECT_GT(std::abs(exact.impulse[0]), 1e-3);
  for (const char* id : {"COND-STRICT", "COND-STRICT-S", "CCS"}) {
    EXPECT_LE((run(id, problem).impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm()) << id;
  }
}

TEST(Cond, ClipsIntervals) {
  // A bar of two masses on the ground whose ends are dragged against dry friction: one end slides in it, one stays.
  SparseMatrix mass(6, 6);
  for (int k = 0; k < 6; ++k) mass.insert(k, k) = 2.0;
  for (int k = 0; k < 3; ++k) {
    mass.insert(k, k + 3) = -0.8;
    mass.insert(k + 3, k) = -0.8;
  }
  std::vector<Eigen::Triplet<double>> entries{{0, 3, 1.0}, {1, 4, 1.0}};
  for (int r = 0; r < 3; ++r) entries.emplace_back(2 + r, r, 1.0);
  SparseMatrix jacobian(5, 6);
  jacobian.setFromTriplets(entries.begin(), entries.end());
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {{-0.1, 0.2}, {-5.0, 5.0}}, {FrictionLaw::coulomb(0.5)}).value();
  Vector velocity(6);
  velocity << 0.4, 0.1, -0.6, 0.9, 0.3, 0.2;
  data.free_term = jacobian * velocity;
  data.primal = PrimalForm{mass, jacobian, velocity};
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const Answer exact = run("NSGS", problem, {}, 1e-13);
  EXPECT_EQ(exact.impulse[0], -0.1);
  EXPECT_LT(std::abs(exact.impulse[1]), 5.0);
  // COND-STRICT diverges on this bar, also with joints or limits in place of the intervals.
  for (const char* id : {"COND-STRICT-S", "CCS"}) {
    EXPECT_LE((run(id, problem).impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm()) << id;
  }
}

TEST(Cond, SolvesAnisotropicFrictionAsTheScaledIsotropicProblem) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ContactProblem mesh = soft_mesh(seed);
    const Vector d = Vector::NullaryExpr(mesh.rows(), [](Index r) {
      return r % 3 == 0 ? 0.5 : r % 3 == 1 ? 1.5 : 1.0;
    });
    ContactProblemData data = mesh.data();
    data.delassus.reset();
    data.primal->jacobian = d.asDiagonal() * data.primal->jacobian;
    data.bias = d.cwiseProduct(*data.bias);
    data.free_term = d.cwiseProduct(data.free_term);
    const ContactProblem scaled = ContactProblem::create(std::move(data)).value();
    const Answer exact = run("CASCADE", scaled, {}, 1e-13);
    EXPECT_LE((run("COND-STRICT", scaled).impulse - exact.impulse).norm(), 1e-8 * exact.impulse.norm());
  }
}

/// Notes the first iteration at which θ is below each of these.
class ThetaMonitor final : public Monitor {
 public:
  explicit ThetaMonitor(std::vector<double> thetas) : thetas_(std::move(thetas)) {}
  std::vector<long> iterations;

 private:
  Decision check(long iteration, ConstVectorRef, double theta) override {
    while (iterations.size() < thetas_.size() && theta < thetas_[iterations.size()]) iterations.push_back(iteration);
    return iterations.size() == thetas_.size() ? Decision::accept : Decision::keep_going;
  }
  std::vector<double> thetas_;
};

/// Iterations to θ = 1e-4, 1e-6 and 1e-8 m/s, to 1 %.
void expect_counts(const ContactProblem& problem, const std::string& id, const OptionValues& options,
                   const std::vector<long>& expected) {
  const auto solver = prepared(*find_solver(id), problem, options);
  ThetaMonitor monitor({1e-4, 1e-6, 1e-8});
  solve(*solver, problem, {.stop_by = StopBy::judge}, monitor);
  ASSERT_EQ(monitor.iterations.size(), expected.size()) << id;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(double(monitor.iterations[k]), double(expected[k]), 0.01 * double(expected[k])) << id;
  }
}

std::optional<ContactProblem> sample(const std::string& name) {
  const auto path = shared_data("papers/cond/files/" + name);
  if (!path) return std::nullopt;
  return load_fclib(*path).value();
}

TEST(CondPrototype, NeedsAsManyIterationsOnTheMat) {
  const auto problem = sample("mat-01.hdf5");
  if (!problem) GTEST_SKIP() << no_shared_data;
  EXPECT_EQ(cond::nodalise(*problem, {}).virtual_nodes(), 0);
  for (const char* id : {"COND-STRICT", "COND-PROX"}) {
    expect_counts(*problem, id, {{"chebyshev", false}}, {1311, 2133, 2960});
    expect_counts(*problem, id, {}, {130, 235, 315});
  }
}

TEST(CondPrototype, NeedsAsManyIterationsUnderThePlate) {
  const auto given = sample("plate-03.hdf5");
  if (!given) GTEST_SKIP() << no_shared_data;
  // All but the plate's six velocities are nodes'.
  ContactProblemData data = given->data();
  data.configuration.emplace();
  data.configuration->nodes.emplace();
  for (Index k = 0; k + 6 < data.primal->mass.rows(); k += 3) data.configuration->nodes->push_back(k);
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const OptionValues gain{{"virtual_gain", 1.0}};
  expect_counts(problem, "COND-STRICT", gain, {80, 473, 808});
  expect_counts(problem, "COND-PROX", gain, {123, 456, 794});
}

TEST(Cond, StartsFromTheVelocityBeforeTheStep) {
  ContactProblemData data = soft_mesh(4).data();
  const ContactProblem unknown = ContactProblem::create(data).value();
  data.configuration.emplace();
  data.configuration->velocity = data.primal->free_velocity;
  const ContactProblem known = ContactProblem::create(data).value();
  EXPECT_NE(known.data_hash(), unknown.data_hash());
  EXPECT_EQ(known.content_hash(), unknown.content_hash());
  const auto first = [](const ContactProblem& problem, const char* start) {
    return run("COND-STRICT", problem, {{"start", start}}, 0.0, 1).impulse;
  };
  EXPECT_EQ(first(known, "velocity"), first(known, "free"));
  EXPECT_EQ(first(unknown, "velocity"), first(unknown, "zero"));
  EXPECT_NE(first(known, "velocity"), first(known, "zero"));
}

TEST(CondPrototype, AnisotropicSampleIsNodal) {
  const auto problem = sample("aniso.hdf5");
  if (!problem) GTEST_SKIP() << no_shared_data;
  EXPECT_EQ(cond::nodalise(*problem, {}).virtual_nodes(), 0);
  EXPECT_EQ(run("COND-STRICT", *problem, {}, 1e-10, 3000).summary.status, SolveStatus::converged);
}

}  // namespace
}  // namespace conebench
