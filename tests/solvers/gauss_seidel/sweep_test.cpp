#include "solvers/gauss_seidel/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/ellipse_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"
#include "solvers/gauss_seidel/relaxation.hpp"
#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench::gauss_seidel {
namespace {

using testing::make_problem;

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
template <class Local, int Dim>
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
    double next = -free_velocity(row, 1)[0] / matrix(row, row);
    if (row >= cones.first_limit_row()) next = std::max(0.0, next);
    impulse[row] = (1.0 - omega) * impulse[row] + omega * next;
  }
  for (const int contact : order) {
    const Index row = cones.contact_row(contact);
    const double mu = cones.friction()[static_cast<std::size_t>(contact)];
    const ContactMatrix<Dim> block = matrix.block<Dim, Dim>(row, row);
    const ContactVector<Dim> old = impulse.segment<Dim>(row);
    const ContactVector<Dim> next =
        local.template solve<Dim>(local.template prepare<Dim>(block, mu), ContactMatrixMap<Dim>(block.data()), mu,
                                  ContactVector<Dim>(free_velocity(row, Dim)), old);
    impulse.segment<Dim>(row) = (1.0 - omega) * old + omega * next;
  }
}

template <class Local, int Dim>
void expect_plain_sweeps(const Local& local, double compliance, double omega, const std::string& order_name) {
  const ContactProblem problem = mixed_problem(Dim, compliance);
  const auto order = contact_order(problem, order_name, 3);
  const Vector weights = velocity_weights(problem);
  Sweep<Local, Dim> sweep(problem, local, order, weights);
  Vector actual = Vector::LinSpaced(problem.rows(), 0.0, 1.0);
  Vector expected = actual;
  sweep.start(actual.data());
  for (int k = 0; k < 4; ++k) {
    const Vector before = expected;
    const SweepChange change = sweep(omega);
    sweep.write(actual.data());
    plain_sweep<Local, Dim>(problem, local, order, omega, expected);
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
      for (const double omega : {1.0, 0.7, 1.3}) {
        expect_plain_sweeps<CoulombBlock, 3>({}, compliance, omega, order);
        expect_plain_sweeps<SplitProjectionBlock, 3>({.safe_step = true}, compliance, omega, order);
        expect_plain_sweeps<BoxProjectionBlock, 3>({.safe_step = true}, compliance, omega, order);
        expect_plain_sweeps<ProxBlock, 3>({}, compliance, omega, order);
        expect_plain_sweeps<EllipseBlock<Quartic>, 3>({}, compliance, omega, order);
        expect_plain_sweeps<EllipseBlock<Bisection>, 3>({.de_saxce = true}, compliance, omega, order);
        expect_plain_sweeps<ConeProjectionBlock, 3>({.de_saxce = true}, compliance, omega, order);
      }
    }
  }
}

TEST(Sweep, IsThePapersInTwoDimensions) {
  for (const double compliance : {0.0, 0.1}) {
    expect_plain_sweeps<CoulombBlock, 2>({}, compliance, 1.0, "given");
    expect_plain_sweeps<SplitProjectionBlock, 2>({}, compliance, 0.8, "random");
    expect_plain_sweeps<BoxProjectionBlock, 2>({}, compliance, 0.9, "given");
    expect_plain_sweeps<EllipseBlock<Bisection>, 2>({.de_saxce = true}, compliance, 0.9, "given");
    expect_plain_sweeps<ConeProjectionBlock, 2>({}, compliance, 1.0, "coloured");
  }
}

TEST(Sweep, HandlesRowsOfManyContactsAsWellAsFew) {
  // Odd and even numbers of blocks in a row: the row product takes two at a time.
  for (long contacts = 1; contacts <= 6; ++contacts) {
    const ContactProblem problem = make_problem("random", {{"contacts", contacts}});
    const auto order = contact_order(problem, "given", 1);
    Sweep<CoulombBlock, 3> sweep(problem, {}, order, velocity_weights(problem));
    Vector actual = Vector::Zero(problem.rows());
    Vector expected = actual;
    sweep.start(actual.data());
    for (int k = 0; k < 3; ++k) {
      sweep(1.0);
      plain_sweep<CoulombBlock, 3>(problem, {}, order, 1.0, expected);
    }
    sweep.write(actual.data());
    EXPECT_LE((actual - expected).norm(), 1e-12 * expected.norm()) << contacts;
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
    std::vector<int> order = contact_order(problem, name, 5);
    std::sort(order.begin(), order.end());
    std::vector<int> all(static_cast<std::size_t>(problem.cones().contacts()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << name;
  }
}

TEST(ContactOrder, RandomDependsOnTheSeedAlone) {
  const ContactProblem problem = make_problem("sphere-lattice");
  EXPECT_EQ(contact_order(problem, "random", 5), contact_order(problem, "random", 5));
  EXPECT_NE(contact_order(problem, "random", 5), contact_order(problem, "random", 6));
}

TEST(ContactOrder, ColouredVisitsUncoupledContactsTogether) {
  const ContactProblem problem = make_problem("sphere-lattice");
  const std::vector<int> order = contact_order(problem, "coloured", 1);
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
