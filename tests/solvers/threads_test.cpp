#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

bool has_threads(const SolverRow& row) {
  return std::ranges::find(row.options, "threads", &OptionSpec::name) != row.options.end();
}

TEST(Threads, NoBitOfAnAnswerDependsOnThem) {
  // Enough contacts of a colour to be worth sharing: 12 colours of 3,000 contacts.
  const ContactProblem problem =
      testing::make_problem("sphere-lattice", {{"nx", 11L}, {"ny", 10L}, {"nz", 10L}, {"perturbation", 0.5}});
  ASSERT_GT(problem.cones().contacts(), 3000);
  int shared = 0;
  for (const SolverRow& row : solver_table()) {
    if (!has_threads(row)) continue;
    SCOPED_TRACE(row.info.id);
    OptionValues options;
    const auto order = std::ranges::find(row.options, "order", &OptionSpec::name);
    const bool sweeps = order != row.options.end() && std::ranges::count(order->choices, "coloured") > 0;
    if (sweeps) options["order"] = std::string("coloured");
    const StopRule stop{.tolerance = 1e-12, .max_iterations = 6};
    SilentMonitor silent;
    const testing::Answer alone = testing::solve(*testing::prepared(row, problem, options), problem, stop, silent);
    for (const long threads : {2L, 3L}) {
      options["threads"] = threads;
      const testing::Answer answer = testing::solve(*testing::prepared(row, problem, options), problem, stop, silent);
      EXPECT_EQ(answer.impulse, alone.impulse) << threads;
      EXPECT_EQ(answer.summary.iterations, alone.summary.iterations);
      EXPECT_EQ(answer.summary.status, alone.summary.status);
    }
    ++shared;
  }
  EXPECT_GT(shared, 15);
}

TEST(Threads, OneIsNoPartOfAConfiguration) {
  for (const SolverRow& row : solver_table()) {
    if (!has_threads(row)) continue;
    EXPECT_FALSE(row.effective_options({})->contains("threads")) << row.info.id;
    EXPECT_EQ(row.effective_options({{"threads", 1L}}).value(), row.effective_options({}).value()) << row.info.id;
  }
  const SolverRow& row = *find_solver("NSGS");
  const auto shared = row.effective_options({{"order", std::string("coloured")}, {"threads", 2L}});
  EXPECT_EQ(shared->at("threads"), OptionValue(2L));
}

TEST(Threads, ContactsThatActOnEachOtherAreNotShared) {
  using ::testing::HasSubstr;
  EXPECT_THAT(find_solver("NSGS")->make({{"threads", 2L}}).error().message, HasSubstr("order=coloured"));
  EXPECT_THAT(find_solver("RAISIM")
                  ->make({{"threads", 2L}, {"order", std::string("coloured")}, {"decay", std::string("contact")}})
                  .error()
                  .message,
              HasSubstr("decay=sweep"));
}

}  // namespace
}  // namespace conebench
