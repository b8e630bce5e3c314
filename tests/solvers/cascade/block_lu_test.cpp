#include "solvers/cascade/block_lu.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "scenes/scene_table.hpp"
#include "tests/solvers/cascade/contact_system.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench::cascade {
namespace {

using Space = BlockLu::Space;

ContactProblem boxes(long count) { return (*require_scene("box-stack"))->make({{"boxes", count}}, 1).value(); }

ContactProblem changed(const ContactProblem& problem, const auto& change) {
  ContactProblemData data = problem.data();
  change(data);
  return ContactProblem::create(std::move(data)).value();
}

void expect_solved(BlockLu& lu, const ScaledProblem& problem, const System& system, Space space) {
  ASSERT_TRUE(lu.factor(problem, system));
  EXPECT_EQ(lu.space(), space);
  const Matrix a = system.dense(problem);
  const Vector b = system.right_side();
  Vector x(problem.size());
  lu.solve(b, x);
  EXPECT_LE((a * x - b).norm(), 1e-12 * (b.norm() + x.norm())) << (space == Space::bodies ? "bodies" : "contacts");
}

void expect_solved(const ScaledProblem& problem, double shift, Space space = Space::bodies) {
  BlockLu lu;
  lu.analyse(problem, space);
  expect_solved(lu, problem, System(problem, shift), space);
}

TEST(BlockLu, SolvesTheSameSystemAmongContactsAndAmongBodies) {
  const ScaledProblem problem(boxes(5));
  for (const double shift : {1.0, 1e-3}) {
    expect_solved(problem, shift, Space::contacts);
    expect_solved(problem, shift, Space::bodies);
  }
}

TEST(BlockLu, BodiesKeepTheirDigitsWhereTheDiagonalIsSmall) { expect_solved(ScaledProblem(boxes(5)), 1e-8); }

TEST(BlockLu, BodiesKnowOfComplianceAndOfFrictionlessContacts) {
  const ContactProblem rigid = boxes(4);
  const auto soft = changed(rigid, [&](auto& data) { data.compliance = Vector::LinSpaced(rigid.rows(), 0.01, 0.2); });
  expect_solved(ScaledProblem(soft), 1e-2);
  const auto smooth = changed(rigid, [](auto& data) {
    data.cones =
        ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(data.cones.contacts()), 0.0)).value();
  });
  expect_solved(ScaledProblem(smooth), 1e-2);
}

/// Bodies of three velocities each, and contacts between them in 2D.
ContactProblem planar_boxes(Index bodies, Index contacts) {
  srand(3);
  PrimalForm primal;
  primal.mass = Matrix(Matrix::Identity(3 * bodies, 3 * bodies) * 2.0).sparseView();
  Matrix jacobian = Matrix::Zero(2 * contacts, 3 * bodies);
  for (Index i = 0; i < contacts; ++i) {
    jacobian.block<2, 3>(2 * i, 3 * (i % bodies)) = Eigen::Matrix<double, 2, 3>::Random();
    jacobian.block<2, 3>(2 * i, 3 * ((i + 1 + i / bodies) % bodies)) = Eigen::Matrix<double, 2, 3>::Random();
  }
  primal.jacobian = jacobian.sparseView();
  primal.free_velocity = Vector::Random(3 * bodies);
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(contacts), 0.5), 2).value();
  data.delassus = make_factored_delassus(primal.mass, primal.jacobian).value();
  data.free_term = jacobian * primal.free_velocity;
  data.primal = std::move(primal);
  return ContactProblem::create(std::move(data)).value();
}

TEST(BlockLu, SolvesTheSameSystemInThePlane) {
  const ScaledProblem problem(planar_boxes(6, 24));
  ASSERT_TRUE(problem.planar());
  for (const double shift : {1.0, 1e-3}) {
    expect_solved(problem, shift, Space::contacts);
    expect_solved(problem, shift, Space::bodies);
  }
}

TEST(BlockLu, BodiesSolveTheShiftedProblemsOfTheProximalPoint) {
  const ScaledProblem problem(boxes(4));
  ScaledProblem shifted = problem;
  BlockLu lu;
  lu.analyse(problem, Space::bodies);
  const System system(problem, 1e-3);
  expect_solved(lu, problem, system, Space::bodies);
  shifted.become_shifted(problem, 0.5, Vector::Zero(problem.size()));
  expect_solved(lu, shifted, system, Space::bodies);
  expect_solved(lu, problem, system, Space::bodies);
}

TEST(BlockLu, BodiesOfTheNextProblemReplaceThoseBefore) {
  const ScaledProblem problem(boxes(4));
  const ScaledProblem heavier((*require_scene("box-stack"))->make({{"boxes", 4L}, {"mass_ratio", 50.0}}, 1).value());
  ASSERT_TRUE(problem.same_pattern(heavier));
  BlockLu lu;
  lu.analyse(problem, Space::bodies);
  const System system(problem, 1e-3);
  expect_solved(lu, problem, system, Space::bodies);
  expect_solved(lu, heavier, system, Space::bodies);
}

TEST(BlockLu, FactorsAmongContactsWhatIsNotMadeOfItsBodies) {
  const ContactProblem problem = boxes(4);
  const auto other = changed(problem, [](auto& data) { data.primal->mass *= 2.0; });
  BlockLu lu;
  const ScaledProblem scaled(other);
  lu.analyse(scaled, Space::bodies);
  expect_solved(lu, scaled, System(scaled, 1e-3), Space::contacts);
}

TEST(BlockLu, FactorsAmongContactsWhereABlockOfTheDiagonalIsSingular) {
  const ScaledProblem problem(boxes(4));
  System system(problem, 1.0);
  system.diagonal[0].setZero();
  BlockLu lu;
  lu.analyse(problem, Space::bodies);
  expect_solved(lu, problem, system, Space::contacts);
}

/// Contacts at random points of a few bodies that all touch each other.
ContactProblem crowd(Index contacts, const Matrix& mass) {
  srand(3);
  const Matrix jacobian = Matrix::Random(3 * contacts, mass.rows());
  PrimalForm primal;
  primal.jacobian = jacobian.sparseView();
  primal.mass = mass.sparseView();
  primal.free_velocity = Vector::Random(mass.rows());
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(contacts), 0.5)).value();
  data.delassus = make_factored_delassus(primal.mass, primal.jacobian).value();
  data.free_term = jacobian * primal.free_velocity;
  data.primal = std::move(primal);
  return ContactProblem::create(std::move(data)).value();
}

ContactProblem crowd(Index contacts, Index velocities) {
  return crowd(contacts, Matrix(2.0 * Matrix::Identity(velocities, velocities)));
}

TEST(BlockLu, NoFactorIsMadeThatWouldTakeMoreThanItMay) {
  const ScaledProblem problem(crowd(120, 50));
  const System regular(problem, 1.0);
  System singular = regular;
  singular.diagonal[0].setZero();
  const Vector b = Vector::Ones(problem.size());
  Vector x(problem.size());
  BlockLu contacts, bodies;
  contacts.analyse(problem, Space::contacts);
  bodies.analyse(problem, Space::bodies);
  ASSERT_LT(bodies.estimate().bytes, contacts.estimate().bytes);

  // Bodies fit, contacts do not: a singular block is perturbed where it would have been the contacts' turn.
  BlockLu between;
  between.analyse(problem, Space::bodies, bodies.estimate().bytes);
  EXPECT_TRUE(between.fits());
  expect_solved(between, problem, regular, Space::bodies);
  EXPECT_FALSE(between.factor(problem, singular));
  EXPECT_EQ(between.space(), Space::bodies);
  between.solve(b, x);
  EXPECT_TRUE(x.allFinite());

  BlockLu none;
  none.analyse(problem, Space::automatic, 0.9 * bodies.estimate().bytes);
  EXPECT_FALSE(none.fits());
  EXPECT_FALSE(none.factor(problem, regular));
  none.solve(b, x);
  EXPECT_TRUE(x.isZero(0.0));
}

TEST(BlockLu, TheNextProblemIsHeldToTheSameLimit) {
  const ContactProblem source = crowd(120, 50);
  const ScaledProblem problem(source);
  const ScaledProblem stranger(changed(source, [](auto& data) { data.primal->mass *= 2.0; }));
  BlockLu bodies;
  bodies.analyse(problem, Space::bodies);
  BlockLu lu;
  lu.analyse(problem, Space::bodies, bodies.estimate().bytes);
  ASSERT_TRUE(lu.fits());
  lu.take(stranger);
  EXPECT_FALSE(lu.fits());
}

TEST(BlockLu, EstimatesOfTheNextProblemAreThoseOfAFreshAnalysis) {
  const auto problem_of = [](const char* scene, const OptionValues& options) {
    return ScaledProblem((*require_scene(scene))->make(options, 1).value());
  };
  // Where another order is found at the first factorization; and where bodies are taken.
  const OptionValues edges{{"nx", 8L}, {"ny", 8L}, {"nz", 8L}};
  for (const auto& [problem, space] :
       {std::pair{problem_of("sphere-lattice", edges), Space::contacts}, {ScaledProblem(boxes(8)), Space::bodies}}) {
    BlockLu fresh;
    fresh.analyse(problem, space);
    const BlockLu::Estimate counted = fresh.estimate();
    const System system(problem, 1.0);
    ASSERT_TRUE(fresh.factor(problem, system));
    EXPECT_EQ(fresh.space(), space);
    fresh.take(problem);
    EXPECT_EQ(fresh.estimate().flops, counted.flops);
    EXPECT_EQ(fresh.estimate().bytes, counted.bytes);
  }
}

TEST(BlockLu, BodiesOfAnyNumberOfVelocitiesAreFilledUpOnTheDiagonal) {
  for (const Index velocities : {9, 10, 11, 13, 14}) {
    SCOPED_TRACE(velocities);
    Matrix mass = 3.0 * Matrix::Identity(velocities, velocities);
    expect_solved(ScaledProblem(crowd(12, mass)), 1e-2);
    // With 11 and 14 the last rows of M are {3 k} and {0, 3 k + 1}: the block on the diagonal is met first.
    mass(velocities - 1, 0) = mass(0, velocities - 1) = 0.7;
    expect_solved(ScaledProblem(crowd(12, mass)), 1e-2);
  }
}

/// Of problems for which the first factorization takes the order of the analysis.
TEST(BlockLu, CountsTheBytesThatItAllocates) {
  if (!conebench::testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const auto expect_counted = [](const ScaledProblem& problem, Space space) {
    const System system(problem, 1e-3);
    const double before = conebench::testing::heap_bytes();
    BlockLu lu;
    lu.analyse(problem, space);
    ASSERT_TRUE(lu.factor(problem, system));
    ASSERT_EQ(lu.space(), space);
    const double taken = conebench::testing::heap_bytes() - before;
    BlockLu contacts;
    const double analysed_from = conebench::testing::heap_bytes();
    contacts.analyse(problem, Space::contacts);
    // Where bodies are taken, the analysis of the contacts stays.
    const double analysis = space == Space::bodies ? conebench::testing::heap_bytes() - analysed_from : 0.0;
    EXPECT_NEAR(lu.estimate().bytes / (taken - analysis), 1.0, 0.05) << taken << " less " << analysis;
  };
  expect_counted(ScaledProblem(crowd(200, 50)), Space::contacts);
  expect_counted(ScaledProblem(planar_boxes(200, 800)), Space::contacts);
  expect_counted(ScaledProblem(boxes(100)), Space::contacts);
  expect_counted(ScaledProblem(crowd(200, 50)), Space::bodies);
  expect_counted(ScaledProblem(planar_boxes(200, 800)), Space::bodies);
  expect_counted(ScaledProblem(boxes(100)), Space::bodies);
}

TEST(BlockLu, TakesBodiesWhereTheyCountFarFewerOperations) {
  const OptionValues edges{{"nx", 5L}, {"ny", 5L}, {"nz", 5L}};
  const auto spheres = (*require_scene("sphere-lattice"))->make(edges, 1).value();
  const OptionValues smooth_edges{{"nx", 6L}, {"ny", 6L}, {"nz", 6L}, {"friction", 0.0}};
  const auto smooth_spheres = (*require_scene("sphere-lattice"))->make(smooth_edges, 1).value();
  // 50 velocities: filled up to 51.
  for (const auto& [problem, space] : {std::pair{boxes(10), Space::contacts},
                                       {spheres, Space::contacts},
                                       {smooth_spheres, Space::bodies},
                                       {crowd(20, 50), Space::contacts},
                                       {crowd(120, 50), Space::bodies}}) {
    const ScaledProblem scaled(problem);
    BlockLu lu;
    lu.analyse(scaled);
    expect_solved(lu, scaled, System(scaled, 1e-3), space);
  }
}

}  // namespace
}  // namespace conebench::cascade
