#include "solvers/cascade/proximal_point.hpp"

#include <gtest/gtest.h>

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench {
namespace {

/// Limits whose impulses along d, over all of them, move nothing, but d·g = −`contradiction`, so that no impulse solves
/// it. The shortest change of g, in the units in which G's diagonal is 1, takes 0.455 of the contradiction on the first
/// limit and half of that on each of the others; the one whose largest component is least is 1/(0.6 + 16 · 0.2) of it
/// on all. The largest |g_i| is 1.28.
ContactProblem contradictory(double contradiction) {
  constexpr Index limits = 17;
  Vector d = Vector::Constant(limits, 0.2);
  d[0] = 0.6;
  const Matrix g = Matrix::Identity(limits, limits) - d * d.transpose();
  ContactProblemData data;
  data.free_term = -g * Vector::Ones(limits) - contradiction * d;
  data.cones = ConeProduct::create(0, limits, {}).value();
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_dense(g, data.cones));
  return ContactProblem::create(std::move(data)).value();
}

struct Path {
  bool accepted;
  double residual;
};

/// Four Newton steps, before the path tries to finish, from impulses far along d.
Path path(const ContactProblem& problem, bool admissible) {
  cascade::Parts parts(problem);
  SilentMonitor monitor;
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 100, .stop_by = StopBy::solver};
  Vector workspace(problem.rows());
  cascade::Search search(stop, monitor, workspace);
  search.take_points_of(parts.problem());
  Vector impulse = Vector::Constant(problem.rows(), 1.0 + 1e3 * 0.2);
  impulse[0] = 1.0 + 1e3 * 0.6;
  Vector start;
  parts.problem().from_impulse(impulse, start);
  const bool accepted =
      parts.proximal_point().run(search, start, {.shift = 1e-6, .newton_steps = 4, .admissible = admissible});
  return {accepted, search.best()};
}

TEST(ProximalPoint, SpreadsAContradictionAsFarAsErrorsAreTolerated) {
  const ContactProblem problem = contradictory(3.5e-8);
  const Path plain = path(problem, false);
  EXPECT_FALSE(plain.accepted);
  EXPECT_NEAR(plain.residual, 0.455 / 1.28 * 3.5e-8, 1e-10);
  const Path spread = path(problem, true);
  EXPECT_TRUE(spread.accepted);
  EXPECT_LE(spread.residual, 1e-8);
  EXPECT_GE(spread.residual, 3.5e-8 / 3.8 / 1.28) << "no change of g leaves less";
  EXPECT_FALSE(path(contradictory(6e-8), true).accepted) << "more than all of them together can bear";
}

}  // namespace
}  // namespace conebench
