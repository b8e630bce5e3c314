#include "solvers/gauss_seidel/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "scenes/random_source.hpp"
#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/ellipse_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"
#include "solvers/gauss_seidel/relaxation.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench::gauss_seidel {
namespace {

using testing::make_problem;

constexpr double infinity = std::numeric_limits<double>::infinity();

ContactProblem mixed_problem(long dimension, double compliance) {
  return make_problem("random", {{"contacts", 7L},
                                 {"joints", 2L},
                                 {"limits", 3L},
                                 {"dimension", dimension},
                                 {"coupling", 2L},
                                 {"asymmetry", 0.02},
                                 {"compliance", compliance}});
}

/// The sweep of Tsounis Alg. 5 from its text, on dense matrices.
template <class Local, class Cone>
void plain_sweep(const ContactProblem& problem, const Local& local, const std::vector<int>& order, double omega,
                 Vector& impulse) {
  const ConeProduct& cones = problem.cones();
  const Matrix matrix = problem.delassus().dense() + Matrix(problem.compliance().asDiagonal());
  const auto free_velocity = [&](Index row, Index size) -> Vector {
    Vector others = impulse;
    others.segment(row, size).setZero();
    return matrix.middleRows(row, size) * others + problem.free_term().segment(row, size);
  };
  for (Index row = 0; row < cones.first_contact_row(); ++row) {
    const auto [lower, upper] = cones.bounds(row);
    const double next = std::clamp(-free_velocity(row, 1)[0] / matrix(row, row), lower, upper);
    impulse[row] = (1.0 - omega) * impulse[row] + omega * next;
  }
  for (const int contact : order) {
    const Index row = cones.contact_row(contact);
    const Cone cone = contact_cone<Cone>(cones, contact);
    const int size = cone.size();
    const typename Cone::Square block = matrix.block(row, row, size, size);
    const typename Cone::Block old = impulse.segment(row, size);
    const typename Cone::Block free = free_velocity(row, size);
    const typename Cone::Block next =
        local.solve(local.prepare(block, cone), SquareMap<Cone>(block.data(), size, size), cone, free, old);
    impulse.segment(row, size) = (1.0 - omega) * old + omega * next;
  }
}

template <class Cone, class Local>
void expect_plain_sweeps(const ContactProblem& problem, const Local& local, double omega,
                         const std::string& order_name) {
  const auto order = contact_order(problem, order_name, 3).contacts;
  const Vector weights = velocity_weights(problem);
  Sweep<Local, Cone> sweep(problem, local, order, weights);
  Vector actual = Vector::LinSpaced(problem.rows(), 0.0, 1.0);
  Vector expected = actual;
  sweep.start(actual.data());
  for (int k = 0; k < 4; ++k) {
    const Vector before = expected;
    const SweepChange change = sweep(omega);
    sweep.write(actual.data());
    plain_sweep<Local, Cone>(problem, local, order, omega, expected);
    ASSERT_LE((actual - expected).norm(), 1e-11 * expected.norm());
    double largest = 0.0;
    for (Index b = 0; b < problem.cones().blocks(); ++b) {
      const Index row = problem.cones().block_row(b);
      const Index size = problem.cones().block_size(b);
      largest = std::max(largest, weights[b] * (expected - before).segment(row, size).norm());
    }
    EXPECT_NEAR(change.largest, largest, 1e-9 * largest);
  }
}

TEST(Sweep, IsThePapersInThreeDimensions) {
  for (const char* order : {"given", "random", "coloured"}) {
    for (const double compliance : {0.0, 0.1}) {
      const ContactProblem problem = mixed_problem(3, compliance);
      for (const double omega : {1.0, 0.7, 1.3}) {
        expect_plain_sweeps<CoulombSpace>(problem, CoulombBlock{}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, SplitProjectionBlock{.safe_step = true}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, BoxProjectionBlock{.safe_step = true}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, ProxBlock{}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, EllipseBlock<Quartic>{}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, EllipseBlock<Bisection>{.de_saxce = true}, omega, order);
        expect_plain_sweeps<CoulombSpace>(problem, ConeProjectionBlock{.de_saxce = true}, omega, order);
      }
    }
  }
}

TEST(Sweep, IsThePapersInTwoDimensions) {
  for (const double compliance : {0.0, 0.1}) {
    const ContactProblem problem = mixed_problem(2, compliance);
    expect_plain_sweeps<CoulombPlane>(problem, CoulombBlock{}, 1.0, "given");
    expect_plain_sweeps<CoulombPlane>(problem, SplitProjectionBlock{}, 0.8, "random");
    expect_plain_sweeps<CoulombPlane>(problem, BoxProjectionBlock{}, 0.9, "given");
    expect_plain_sweeps<CoulombPlane>(problem, EllipseBlock<Bisection>{.de_saxce = true}, 0.9, "given");
    expect_plain_sweeps<CoulombPlane>(problem, ConeProjectionBlock{}, 1.0, "coloured");
  }
}

TEST(Sweep, HandlesRowsOfManyContactsAsWellAsFew) {
  // Odd and even numbers of blocks in a row: the row product takes two at a time.
  for (long contacts = 1; contacts <= 6; ++contacts) {
    const ContactProblem problem = make_problem("random", {{"contacts", contacts}});
    const auto order = contact_order(problem, "given", 1).contacts;
    Sweep<CoulombBlock, CoulombSpace> sweep(problem, {}, order, velocity_weights(problem));
    Vector actual = Vector::Zero(problem.rows());
    Vector expected = actual;
    sweep.start(actual.data());
    for (int k = 0; k < 3; ++k) {
      sweep(1.0);
      plain_sweep<CoulombBlock, CoulombSpace>(problem, {}, order, 1.0, expected);
    }
    sweep.write(actual.data());
    EXPECT_LE((actual - expected).norm(), 1e-12 * expected.norm()) << contacts;
  }
}

/// A joint, two limits, three intervals and contacts of six laws and five sizes, in scaled rows.
ContactProblem every_kind_of_row(double compliance, std::uint64_t seed = 1) {
  const std::vector<Interval> intervals{{-0.1, 0.2}, {-infinity, 0.0}, {0.3, 0.3}};
  const std::vector<FrictionLaw> laws{FrictionLaw::coulomb(0.5),
                                      {ConeShape::discs, {3}, {0.4, 0.4, 0.4}},
                                      FrictionLaw::coulomb(0.3, 1),
                                      {ConeShape::discs, {2, 1}, {0.6, 0.6, 0.1}},
                                      FrictionLaw::rolling(0.4, 0.2),
                                      {ConeShape::pyramid, {2}, {0.5, 0.5}},
                                      {ConeShape::discs, {5}, {0.3, 0.3, 0.3, 0.3, 0.3}}};
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 2, intervals, laws).value();
  const Index rows = data.cones.rows();
  RandomSource random(seed);
  Matrix factor(rows, rows);
  for (double& entry : factor.reshaped()) entry = random.normal();
  data.delassus =
      make_dense_delassus(factor * factor.transpose() / static_cast<double>(rows) + Matrix::Identity(rows, rows));
  data.free_term.resize(rows);
  for (double& entry : data.free_term) entry = random.normal();
  data.compliance = Vector::Constant(rows, compliance);
  return ContactProblem::create(std::move(data)).value();
}

TEST(Sweep, IsThePapersWithIntervalsAndContactsOfManySizes) {
  for (const double compliance : {0.0, 0.1}) {
    const ContactProblem problem = every_kind_of_row(compliance);
    for (const char* order : {"given", "random"}) {
      for (const double omega : {1.0, 0.7}) {
        expect_plain_sweeps<FrictionCone>(problem, CoulombBlock{}, omega, order);
        expect_plain_sweeps<FrictionCone>(problem, SplitProjectionBlock{.safe_step = true}, omega, order);
        expect_plain_sweeps<FrictionCone>(problem, ProxBlock{}, omega, order);
        expect_plain_sweeps<FrictionCone>(problem, ConeProjectionBlock{.de_saxce = true}, omega, order);
      }
    }
  }
}

/// The answer of projected fixed-point steps on the whole problem, without blocks or sweeps.
Vector by_fixed_point(const ContactProblem& problem) {
  const Matrix matrix = problem.delassus().dense() + Matrix(problem.compliance().asDiagonal());
  const double step = 0.3 / matrix.norm();
  Vector impulse = Vector::Zero(problem.rows());
  Vector velocity(problem.rows());
  for (int k = 0; k < 200000; ++k) {
    velocity = matrix * impulse + problem.free_term();
    add_de_saxce(problem.cones(), velocity, velocity);
    const Vector before = impulse;
    impulse -= step * velocity;
    project_cone(problem.cones(), impulse, impulse);
    if ((impulse - before).norm() <= 1e-15 * impulse.norm()) break;
  }
  return impulse;
}

template <class Local, Splitting S = Splitting::gauss_seidel>
Vector after_sweeps(const ContactProblem& problem, const Local& local, int sweeps) {
  Sweep<Local, FrictionCone, S> sweep(problem, local, contact_order(problem, "given", 1).contacts,
                                      velocity_weights(problem));
  Vector impulse = Vector::Zero(problem.rows());
  sweep.start(impulse.data());
  for (int k = 0; k < sweeps; ++k) sweep(1.0);
  sweep.write(impulse.data());
  return impulse;
}

TEST(Sweep, SolvesEveryKindOfRowAtOnce) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const ContactProblem problem = every_kind_of_row(0.1, seed);
    const Vector expected = by_fixed_point(problem);
    OwnResiduals residuals(problem, OwnModel::ncp);
    ASSERT_LE(residuals.natural_map(expected), 1e-12) << seed;
    EXPECT_LE(residuals.complementarity(expected), 1e-11) << seed;
    const auto expect_solved = [&](const char* what, const Vector& impulse) {
      EXPECT_LE((impulse - expected).norm(), 1e-9 * expected.norm()) << what << ", seed " << seed;
    };
    expect_solved("NSGS", after_sweeps(problem, CoulombBlock{}, 2000));
    expect_solved("PGS-NCP-SAFE", after_sweeps(problem, SplitProjectionBlock{.safe_step = true}, 20000));
    expect_solved("PGS-CCP-DS", after_sweeps(problem, ConeProjectionBlock{.de_saxce = true}, 20000));
    expect_solved("PROX", after_sweeps(problem, ProxBlock{.factor = 0.8}, 20000));
    expect_solved("PROX-JACOBI", after_sweeps<ProxBlock, Splitting::jacobi>(problem, ProxBlock{.factor = 0.1}, 20000));
  }
}

TEST(Sweep, TakesNoMemory) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const ContactProblem problem = every_kind_of_row(0.1);
  const auto order = contact_order(problem, "given", 1).contacts;
  const auto expect_none = [&](auto local) {
    Sweep<decltype(local), FrictionCone> sweep(problem, local, order, velocity_weights(problem));
    const Vector start = Vector::Zero(problem.rows());
    sweep.start(start.data());
    const long before = testing::allocation_count();
    for (int k = 0; k < 5; ++k) sweep(1.0);
    EXPECT_EQ(testing::allocation_count(), before);
  };
  expect_none(CoulombBlock{});
  expect_none(SplitProjectionBlock{.safe_step = true});
  expect_none(ProxBlock{});
  expect_none(ConeProjectionBlock{.de_saxce = true});
}

ContactProblem one_interval(double diagonal, double velocity, Interval bounds) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {bounds}, {}).value();
  data.delassus = make_dense_delassus(Matrix::Constant(1, 1, diagonal));
  data.free_term = Vector::Constant(1, velocity);
  return ContactProblem::create(std::move(data)).value();
}

double swept_from(double start, const ContactProblem& problem) {
  Sweep<CoulombBlock, CoulombSpace> sweep(problem, {}, {}, velocity_weights(problem));
  sweep.start(&start);
  sweep(1.0);
  sweep.write(&start);
  return start;
}

TEST(Sweep, JointWithFrictionHoldsUpToItsBoundAndSlidesBeyond) {
  // A pendulum of inertia I under a torque for one step: σ = λ / I + τ Δt / I, |λ| ≤ c Δt.
  const double inertia = 0.2;
  const double dt = 0.01;
  const double c = 3.0;
  for (const double torque : {-4.0, -2.0, 0.0, 2.0, 4.0}) {
    const ContactProblem problem = one_interval(1.0 / inertia, torque * dt / inertia, {-c * dt, c * dt});
    const double impulse = swept_from(0.0, problem);
    const double speed = (impulse + torque * dt) / inertia;
    EXPECT_DOUBLE_EQ(impulse, std::clamp(-torque * dt, -c * dt, c * dt));
    EXPECT_NEAR(std::abs(speed), std::max(0.0, std::abs(torque) - c) * dt / inertia, 1e-15);
  }
}

TEST(Sweep, IntervalThatNothingMovesGoesToTheBoundOfItsVelocity) {
  EXPECT_EQ(swept_from(0.5, one_interval(0.0, 1.0, {-2.0, 3.0})), -2.0);
  EXPECT_EQ(swept_from(0.5, one_interval(0.0, -1.0, {-2.0, 3.0})), 3.0);
  EXPECT_EQ(swept_from(0.5, one_interval(0.0, 0.0, {-2.0, 3.0})), 0.5);
  EXPECT_EQ(swept_from(0.5, one_interval(0.0, -1.0, {-2.0, infinity})), 0.5);
  EXPECT_EQ(swept_from(-0.5, one_interval(0.0, 1.0, {-infinity, 0.0})), -0.5);
}

TEST(OwnResiduals, MeasureIntervalsInTheModelOfTheBoxToo) {
  const ContactProblem problem = one_interval(1.0, 1.0, {-0.25, 1.0});
  for (const OwnModel model : {OwnModel::ncp, OwnModel::box}) {
    OwnResiduals residuals(problem, model);
    EXPECT_EQ(residuals.complementarity(Vector::Constant(1, -0.25)), 0.0);
    EXPECT_EQ(residuals.complementarity(Vector::Constant(1, -0.75)), 0.5) << "outside";
    EXPECT_EQ(residuals.complementarity(Vector::Constant(1, 0.0)), 0.25) << "moves inside of its bounds";
  }
}

TEST(Sweep, RunsInUnitsWhoseSquaresOverflow) {
  const ContactProblem problem = mixed_problem(3, 0.0);
  SilentMonitor silent;
  const StopRule stop{.max_iterations = 30, .stop_by = StopBy::judge};
  for (const char* id :
       {"PGS-LCP", "PGS-LCP-SAFE", "PGS-NCP", "PGS-NCP-SAFE", "PGS-CCP", "PGS-CCP-DS", "PROX", "PROX-JACOBI"}) {
    const SolverRow& row = *find_solver(id);
    const testing::Answer usual = testing::solve(*testing::prepared(row, problem), problem, stop, silent);
    for (const double scale : {0x1p-660, 0x1p660}) {
      const testing::Transformed extreme = testing::change_units(problem, scale, 1.0);
      const testing::Answer answer =
          testing::solve(*testing::prepared(row, extreme.problem), extreme.problem, stop, silent);
      EXPECT_EQ(answer.summary.status, usual.summary.status) << id << ", impulses times " << scale;
      EXPECT_LE((extreme.old_impulse(answer.impulse) - usual.impulse).lpNorm<Eigen::Infinity>(),
                1e-12 * usual.impulse.lpNorm<Eigen::Infinity>())
          << id << ", impulses times " << scale;
    }
  }
}

TEST(ContactOrder, IsAPermutation) {
  const ContactProblem problem = make_problem("sphere-lattice");
  for (const std::string& name : contact_order_names()) {
    std::vector<int> order = contact_order(problem, name, 5).contacts;
    std::sort(order.begin(), order.end());
    std::vector<int> all(static_cast<std::size_t>(problem.cones().contacts()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << name;
  }
}

TEST(ContactOrder, RandomDependsOnTheSeedAlone) {
  const ContactProblem problem = make_problem("sphere-lattice");
  EXPECT_EQ(contact_order(problem, "random", 5).contacts, contact_order(problem, "random", 5).contacts);
  EXPECT_NE(contact_order(problem, "random", 5).contacts, contact_order(problem, "random", 6).contacts);
}

TEST(ContactOrder, ColouredVisitsUncoupledContactsTogether) {
  const ContactProblem problem = make_problem("sphere-lattice");
  const auto [order, ends] = contact_order(problem, "coloured", 1);
  const BlockSparseMatrix& matrix = problem.blocks();
  const auto coupled = [&](int a, int b) {
    for (Index k = matrix.row_begin(a); k < matrix.row_begin(a + 1); ++k) {
      if (matrix.column(k) == b) return true;
    }
    return false;
  };
  // Runs of contacts that don't act on each other: as many as there are colours, so few.
  std::vector<int> run;
  int runs = 1;
  for (const int contact : order) {
    if (std::any_of(run.begin(), run.end(), [&](int other) { return coupled(contact, other); })) {
      ++runs;
      run.clear();
    }
    run.push_back(contact);
  }
  for (std::size_t first = 0; const std::size_t end : ends) {
    for (std::size_t i = first; i < end; ++i) {
      for (std::size_t k = first; k < i; ++k) EXPECT_FALSE(coupled(order[i], order[k]) || coupled(order[k], order[i]));
    }
    first = end;
  }
  EXPECT_EQ(ends.back(), order.size());
  const std::set<int> distinct(order.begin(), order.end());
  EXPECT_EQ(distinct.size(), order.size());
  EXPECT_LE(runs, 12) << "of " << order.size() << " contacts";
}

TEST(Relaxation, DecaysToItsMinimum) {
  SweepOptions options;
  options.relaxation = 1.2;
  options.relaxation_decay = 0.9;
  options.relaxation_min = 0.7;
  Relaxation relaxation(options, false);
  EXPECT_EQ(relaxation.omega(), 1.2);
  relaxation.next(1, 1.0);
  EXPECT_DOUBLE_EQ(relaxation.omega(), 0.9 * 1.2);
  for (long k = 2; k < 100; ++k) relaxation.next(k, 1.0);
  EXPECT_EQ(relaxation.omega(), 0.7);
}

TEST(Relaxation, DecaysTowardsItsMinimumByTheSweepOrTheContact) {
  SweepOptions options;
  options.relaxation = 1.0;
  options.relaxation_decay = 0.9;
  options.relaxation_min = 0.1;
  Relaxation by_sweep(options, false, Decay::towards_minimum, 3);
  Relaxation by_contact(options, false, Decay::with_every_contact, 3);
  EXPECT_EQ(by_sweep.within_sweep().gamma, 1.0);
  EXPECT_EQ(by_contact.within_sweep().gamma, 0.9);
  double expected = 1.0;
  for (long k = 1; k <= 4; ++k) {
    by_contact.next(k, 1.0);
    for (int contact = 0; contact < 3; ++contact) {
      by_sweep.next(3 * k + contact, 1.0);
      expected = 0.9 * expected + 0.1 * 0.1;
    }
    EXPECT_NEAR(by_sweep.omega(), expected, 1e-14);
    EXPECT_NEAR(by_contact.omega(), expected, 1e-14);
  }
}

TEST(Relaxation, StaysWhereChangesFallAndDropsWhereTheyDoNot) {
  Relaxation falling(SweepOptions{}, true);
  Relaxation cycling(SweepOptions{}, true);
  Relaxation free(SweepOptions{}, false);
  for (long k = 1; k <= 5000; ++k) {
    falling.next(k, 1.0 / static_cast<double>(k));
    cycling.next(k, k % 2 == 0 ? 1.0 : 0.5);
    free.next(k, 1.0);
  }
  EXPECT_EQ(falling.omega(), 1.0);
  EXPECT_EQ(cycling.omega(), 0.5);
  EXPECT_EQ(free.omega(), 1.0);
}

}  // namespace
}  // namespace conebench::gauss_seidel
