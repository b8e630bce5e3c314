// What the solvers that take rolling friction have in common, from the outside.

#include <gtest/gtest.h>

#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

ContactProblem problem(std::uint64_t seed) {
  return make_problem("known-solution", {{"dimension", 5L}, {"contacts", 6L}, {"lever", 0.1}, {"mu_max", 0.5}}, seed);
}

bool takes_rolling(const SolverInfo& info) { return info.rolling || info.friction_cones; }

TEST(RollingFriction, AnotherUnitOfLengthChangesNoIteration) {
  int compared = 0;
  for (const SolverRow& row : solver_table()) {
    if (!takes_rolling(row.info) || row.info.formulation != Formulation::ncp || !row.info.scale_invariant) continue;
    if (row.info.own_process) continue;
    SCOPED_TRACE(row.info.id);
    const ContactProblem given = problem(4);
    const ContactProblem smaller = in_smaller_length(given, 1000.0);
    const Answer before = solve_to_verdict(row, given, 1e-6);
    const Answer after = solve_to_verdict(row, smaller, 1e-6);
    EXPECT_EQ(before.summary.status, after.summary.status);
    EXPECT_EQ(before.summary.iterations, after.summary.iterations);
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(RollingFriction, IsRefusedWithTheReason) {
  int refused = 0;
  for (const SolverRow& row : solver_table()) {
    if (takes_rolling(row.info)) continue;
    const auto reason = row.make({}).value()->unsupported_reason(problem(1));
    ASSERT_TRUE(reason) << row.info.id;
    refused += reason->find("rolling friction") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(refused, 5);
}

}  // namespace
}  // namespace conebench
