#include "solvers/lcp/robust_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fclib_loader/fclib_file.hpp"
#include "tests/solvers/lcp/lcp_support.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench::lcp {
namespace {

using namespace conebench::testing;
using testing::run;

TEST(RobustSearch, SolvesRedundantContactsToRounding) {
  const ContactProblem problem = cube_on_corners(8, 0.01, 0.8);
  const Answer robust = run("LEMKE-ROBUST-DF", problem);
  EXPECT_EQ(robust.summary.status, SolveStatus::converged);
  EXPECT_LE((judge(problem, robust.impulse)["natural_map_facets_scaled"].value), 1e-12);
}

TEST(RobustSearch, StopsWhereItMayStoreNoMoreNodes) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 5L}});
  for (const char* id : {"LEMKE-ROBUST", "LEMKE-ROBUST-DF"}) {
    const Answer answer = run(id, problem, {{"max_nodes", 3L}});
    EXPECT_EQ(answer.summary.breakdown, Breakdown::queue_exhausted);
    EXPECT_THAT(answer.summary.message, ::testing::HasSubstr("max_nodes"));
  }
}

TEST(RobustSearch, MemoryDoesNotChangeTheAnswer) {
  // What is not kept is pivoted anew, in the same order.
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 12L}, {"rank_share", 0.5}}, 2);
  const Answer rich = run("LEMKE-ROBUST", problem);
  const Answer poor = run("LEMKE-ROBUST", problem, {{"memory_mb", 1.0}});
  EXPECT_EQ(rich.summary.iterations, poor.summary.iterations);
  EXPECT_EQ(rich.impulse, poor.impulse);
}

TEST(RobustSearch, StartsNearTheAnswerWithTheNormalsThatClose) {
  const ContactProblem problem = make_problem("box-stack", {{"boxes", 3L}});
  const Answer from_nothing = run("LEMKE-ROBUST-DF", problem);
  const Answer from_normals = run("LEMKE-ROBUST-DF", problem, {{"frictionless_first", true}});
  EXPECT_EQ(from_nothing.summary.status, SolveStatus::converged);
  EXPECT_EQ(from_normals.summary.status, SolveStatus::converged);
  EXPECT_LT(from_normals.summary.iterations, from_nothing.summary.iterations);
}

TEST(RobustSearch, BreadthOfTheSearchGrowsWithTheThreshold) {
  const ContactProblem problem = cube_on_corners(4, 0.3, 0.4);
  const Answer narrow = run("LEMKE-ROBUST", problem, {{"min_q", 1e-12}});
  const Answer wide = run("LEMKE-ROBUST", problem, {{"min_q", 0.1}, {"max_error", 0.2}});
  EXPECT_GT(wide.summary.iterations, narrow.summary.iterations);
}

TEST(Errata, CheapestNodeFirstSearchesTiesBreadthFirst) {
  // Yamane Alg. 1, 2: a pivot costs exp(−q_min), about 1 wherever rows tie, so what was begun last is not cheaper. The
  // cube needs some twenty pivots; the deepest node first finds them at once.
  const ContactProblem problem = cube_on_corners(8, 0.01, 0.8);
  const Answer printed = run("LEMKE-ROBUST", problem, {{"frictionless_first", false}, {"max_nodes", 100000L}});
  const Answer deep = run("LEMKE-ROBUST-DF", problem);
  EXPECT_EQ(deep.summary.status, SolveStatus::converged);
  EXPECT_GT(printed.summary.iterations, 10 * deep.summary.iterations);
}

TEST(Errata, TwoStepStartMayEndOnARayWhereTheLcpItselfDoesNot) {
  // Yamane Sec. IV-C.
  for (const std::uint64_t seed : {6, 7, 8, 10, 18}) {
    const ContactProblem problem = make_problem(
        "known-solution", {{"contacts", 6L}, {"rank_share", 0.4}, {"open_share", 0.0}, {"stick_share", 0.3}}, seed);
    EXPECT_EQ(run("LEMKE-ROBUST-DF", problem).summary.status, SolveStatus::converged) << seed;
    const Answer answer = run("LEMKE-ROBUST-DF", problem, {{"frictionless_first", true}});
    EXPECT_EQ(answer.summary.breakdown, Breakdown::queue_exhausted) << seed;
    EXPECT_EQ(answer.summary.message, "no candidate left") << seed;
  }
}

TEST(Errata, AbsoluteThresholdsTakeAnythingWhereVelocitiesAreSmall) {
  // Yamane Sec. V: ε = e_max = 1e-3 in the units of the problem.
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 6L}});
  const ContactProblem slow =
      micro(problem.delassus().dense(), 1e-4 * problem.free_term(), ConeProduct(problem.cones()));
  const auto error = [&](bool scaled) {
    const Answer answer = run("LEMKE-ROBUST", slow, {{"scaled", scaled}, {"frictionless_first", false}});
    return judge(slow, answer.impulse)["natural_map_facets_scaled"].value;
  };
  EXPECT_GE(error(false), 0.1);
  EXPECT_LE(error(true), 1e-2);
}

TEST(RobustSearch, DepthFirstSolvesRealProblems) {
  const auto folder = shared_data("fclib/open");
  if (!folder) GTEST_SKIP() << testing::no_shared_data;
  int solved = 0;
  for (const char* name : {"Confeti-ex13-4contact-Fc3D-SBM", "FC3D_Example1", "FrictionContactProblem00031",
                           "NESpheres_10_1", "OneObject-i1028-138", "Rover1039", "Rover4396"}) {
    SCOPED_TRACE(name);
    const auto problem = load_fclib(*folder / (std::string(name) + ".hdf5"));
    ASSERT_TRUE(problem.ok());
    const Answer answer = run("LEMKE-ROBUST-DF", *problem);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged);
    EXPECT_LE((judge(*problem, answer.impulse)["natural_map_facets_scaled"].value), 1e-8);
    ++solved;
  }
  EXPECT_EQ(solved, 7);
}

}  // namespace
}  // namespace conebench::lcp
