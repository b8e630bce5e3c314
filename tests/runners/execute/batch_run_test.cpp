#include "runners/execute/batch_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "runners/execute/rejudge.hpp"
#include "runners/execute/sweep.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using BatchSweep = testing::SweepTest;

std::vector<ContactProblem> three() {
  return {testing::make_problem("box-stack", {{"boxes", 2L}}), testing::make_problem("random", {{"contacts", 5L}}),
          testing::make_problem("sliding-box", {})};
}

CellRequest request_for(const std::string& solver, double tolerance = 1e-8) {
  CellRequest request;
  request.solver = solver;
  request.tolerance = tolerance;
  request.repeats = {.minimum = 3, .minimum_ms = 0.0, .maximum = 5};
  return request;
}

CellRecord judged(std::span<const ContactProblem> members, const CellRequest& request) {
  CellRun run = run_cell(members, request).value();
  judge_cell(members, run.record);
  return run.record;
}

TEST(BatchRun, HasTheAnswersOfItsMembersAloneAndTheWorstOfTheirResiduals) {
  const auto members = three();
  const CellRequest request = request_for("NSGS");
  const CellRecord batch = judged(members, request);
  EXPECT_EQ(batch.status, CellStatus::converged) << batch.reason;
  EXPECT_TRUE(batch.solved);
  EXPECT_EQ(batch.members_solved, 3);
  EXPECT_GE(batch.repeats, 3);

  std::vector<double> reaction, verdicts;
  std::int64_t iterations = 0, open = 0;
  for (const ContactProblem& member : members) {
    const CellRecord one = solve_cell(member, request).value();
    reaction.insert(reaction.end(), one.reaction.begin(), one.reaction.end());
    verdicts.push_back(one.verdict_value.value());
    iterations += one.iterations;
    open += one.open;
  }
  EXPECT_EQ(batch.reaction, reaction);
  EXPECT_EQ(batch.iterations, iterations);
  EXPECT_EQ(batch.open, open);
  EXPECT_EQ(batch.verdict_value, std::ranges::max(verdicts));
  EXPECT_LE(batch.verdict_p95, batch.verdict_value);
  EXPECT_LE(batch.member_median_s, batch.member_p95_s);
  EXPECT_LE(batch.member_p95_s, batch.member_worst_s);
  EXPECT_LE(*batch.member_worst_s, batch.total.cold + batch.total.median + batch.total.deviation);
}

TEST(BatchRun, OneUnsolvedMemberLeavesItUnsolvedAndIsNamed) {
  const auto members = three();
  CellRequest request = request_for("NSGS", 1e-12);
  request.max_iterations = 2;
  const CellRecord batch = judged(members, request);
  EXPECT_FALSE(batch.solved);
  EXPECT_EQ(batch.status, CellStatus::max_iterations);
  long solved = 0;
  for (const ContactProblem& member : members) solved += solve_cell(member, request).value().solved ? 1 : 0;
  ASSERT_LT(solved, 3);
  EXPECT_EQ(batch.members_solved, solved);
  EXPECT_NE(batch.reason.find("of 3 problems did not converge, member "), std::string::npos) << batch.reason;
}

TEST(BatchRun, AMemberThatTheSolverDoesNotTakeMakesItUnsupported) {
  // Siconos' kind of problem for NEWTON-CCP: rigid, and so not taken in primal form.
  std::vector<ContactProblem> members = three();
  const CellRecord batch = judged(members, request_for("NEWTON-CCP"));
  EXPECT_EQ(batch.status, CellStatus::unsupported);
  EXPECT_FALSE(batch.solved);
  EXPECT_EQ(batch.reason.rfind("member 1 (", 0), 0U) << batch.reason;
  EXPECT_FALSE(batch.members_solved);
}

TEST(BatchRun, TheTimeIsThatOfTheWhole) {
  const auto members = three();
  CellRequest request = request_for("NSGS");
  request.seconds = 1e-9;
  const CellRecord batch = judged(members, request);
  EXPECT_EQ(batch.status, CellStatus::time_limit);
  EXPECT_FALSE(batch.solved);
  EXPECT_EQ(batch.members_solved, 0);
  EXPECT_EQ(static_cast<Index>(batch.reaction.size()), rows_of(members));
}

TEST(BatchRun, WhoDidNotRunIsNotSolvedThoughNoImpulseWouldSolveIt) {
  // Boxes at rest in the air: every contact opens.
  std::vector<ContactProblem> members;
  for (int k = 0; k < 3; ++k) {
    ContactProblemData data = testing::make_problem("sliding-box", {}).data();
    data.primal.reset();
    data.bias.reset();
    data.free_term.setOnes();
    members.push_back(ContactProblem::create(std::move(data)).value());
  }
  ASSERT_TRUE(judged(members, request_for("NSGS")).solved);
  CellRequest request = request_for("NSGS");
  request.seconds = 1e-9;
  const CellRecord batch = judged(members, request);
  EXPECT_EQ(batch.members_solved, 0);
  EXPECT_FALSE(batch.solved);
  EXPECT_FALSE(batch.member_worst_s) << "slower than all that is measured";
}

TEST(BatchRun, WrongAnswersOfOneMemberAreSeen) {
  const auto members = three();
  CellRecord batch = judged(members, request_for("NSGS"));
  batch.reaction.back() += 1.0;
  judge_cell(members, batch);
  EXPECT_EQ(batch.members_solved, 2);
  EXPECT_FALSE(batch.solved);
  // Blocks count through all members: the last one's last contact.
  Index blocks = 0;
  for (const ContactProblem& member : members) blocks += member.cones().blocks();
  EXPECT_EQ(batch.residuals.at("natural_map_scaled").worst_block, blocks - 1);
}

TEST_F(BatchSweep, IsOneProblemOfASuiteIsStoredAndJudgedAgain) {
  const Suite what = suite(R"({"name": "b", "problems": [
      {"scene": "random", "options": {"contacts": 4}, "seeds": {"first": 1, "last": 7}, "batch": 3}],
      "solvers": ["NSGS", "CASCADE"], "tolerances": [1e-8]})");
  Store store = open_store();
  const SweepOutcome outcome = sweep(what, store);
  EXPECT_EQ(outcome.cells, 6);
  const auto contents = store.read();
  ASSERT_EQ(contents->problems.size(), 3U);
  std::multiset<std::int64_t> sizes;
  for (const ProblemRecord& problem : contents->problems) {
    sizes.insert(problem.members);
    EXPECT_EQ(problem.contacts, 4 * problem.members);
  }
  EXPECT_EQ(sizes, (std::multiset<std::int64_t>{1, 3, 3}));
  for (const CellRecord& cell : contents->cells) EXPECT_TRUE(cell.solved) << cell.reason;

  RejudgeOptions again;
  again.problems.cache = options.cache;
  const auto judged = rejudge(store, again);
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->judged, 6);
  EXPECT_EQ(judged->newly_unsolved, 0);
  // The same suite finds all cells there.
  EXPECT_EQ(sweep(what, store).run, 0);
}

TEST(SuiteBatch, IsRefusedWhereOrderOrFeaturesCount) {
  const auto refused = [](const std::string& entry, const std::string& start) {
    const auto parsed = parse_suite(R"({"problems": [{"scene": "random", "batch": 2)" + entry +
                                        R"(}], "solvers": ["NSGS"], "start": ")" + start + R"("})",
                                    "test.json");
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(refused("", "cold"), "");
  EXPECT_NE(refused(R"(, "sequence": true)", "cold").find("problems[0].batch"), std::string::npos);
  EXPECT_NE(refused("", "previous").find("start"), std::string::npos);
  EXPECT_NE(refused(R"(, "conditioning": [1, 10])", "cold").find("conditioning"), std::string::npos);
}

}  // namespace
}  // namespace conebench
