#include "solvers/cascade/parts.hpp"

#include <gtest/gtest.h>

#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

TEST(Parts, AStepOfTheSamePatternKeepsTheAnalysisAndAnswersAsAFreshSolver) {
  const auto step = [](double push) {
    return make_problem("sphere-lattice", {{"nx", 4L}, {"ny", 4L}, {"nz", 4L}, {"push", push}, {"friction", 0.3}});
  };
  const ContactProblem first = step(0.5);
  const ContactProblem second = step(1.0);
  cascade::Parts before(first);
  const cascade::BlockLu* analysis = &before.lu();
  cascade::Parts after(second);
  after.take_analysis_of(before);
  EXPECT_EQ(&after.lu(), analysis);
  const ContactProblem smaller = make_problem("sphere-lattice", {{"nx", 3L}});
  cascade::Parts other(smaller);
  other.take_analysis_of(after);
  EXPECT_EQ(&after.lu(), analysis);

  const StopRule stop{.tolerance = 1e-10, .stop_by = StopBy::solver};
  SilentMonitor silent;
  const OptionValues options{{"sweeps", 0L}};
  const auto reused = prepared(*find_solver("CASCADE"), first, options);
  solve(*reused, first, stop, silent);
  ASSERT_TRUE(reused->prepare(second));
  const Answer again = solve(*reused, second, stop, silent);
  const Answer fresh = solve(*prepared(*find_solver("CASCADE"), second, options), second, stop, silent);
  EXPECT_GT(again.summary.factorizations, 0);
  EXPECT_EQ(again.summary.iterations, fresh.summary.iterations);
  EXPECT_EQ(again.impulse, fresh.impulse);
}

}  // namespace
}  // namespace conebench
