// A plug-in that takes many problems in one call.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problems/scaled_rows.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/batch/batch.hpp"
#include "tests/plugins/foreign_solvers.hpp"

namespace conebench::testing {
namespace {

TEST(ManyProblems, OfABatchGoToThePluginInOneCallInItsRowsAndAreJudged) {
  const auto added = add_plugin(plugin("many"));
  ASSERT_TRUE(added) << added.error().message;
  std::vector<ContactProblem> problems;
  // The pendulum has a row with bounds, which the plug-in does not take.
  for (const char* id : {"sliding-box", "spinning-disc", "joint-friction-pendulum", "box-on-slope"}) {
    problems.push_back((*require_scene(id))->make({}, 1).value());
  }
  auto batch = Batch::create({.solver = "ECHO"}, problems);
  ASSERT_TRUE(batch) << batch.error().message;
  const Vector guess = Vector::LinSpaced(batch->rows(), 1.0, 2.0);
  Vector impulse(batch->rows());
  const auto answers = batch->solve(guess, impulse);
  for (std::size_t k : {0U, 1U, 3U}) {
    const Vector own = guess.segment(batch->first_row(static_cast<Index>(k)), problems[k].rows());
    EXPECT_EQ(answers[k].summary.status, SolveStatus::converged) << k;
    EXPECT_EQ(answers[k].summary.iterations, 3);
    EXPECT_DOUBLE_EQ(answers[k].summary.own_residual,
                     own.cwiseQuotient(row_units_of(problems[k])).cwiseAbs().maxCoeff());
    EXPECT_LE((impulse.segment(batch->first_row(static_cast<Index>(k)), own.size()) - own).norm(), 1e-15 * own.norm());
    EXPECT_FALSE(answers[k].solved);
  }
  EXPECT_NE(row_units_of(problems[1]), Vector::Ones(problems[1].rows()).eval()) << "rows of torsion are scaled";
  EXPECT_EQ(answers[2].summary.status, SolveStatus::unsupported);
  EXPECT_EQ(impulse.segment(batch->first_row(2), problems[2].rows()).norm(), 0.0);
}

}  // namespace
}  // namespace conebench::testing
