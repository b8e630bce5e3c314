#include "runners/execute/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/runners/execute/sweep_fixture.hpp"

namespace conebench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<double> answer{0.25, 0.0, 1.0};

CellRecord solved_in(double median) {
  CellRecord cell;
  cell.key = "k1";
  cell.run_id = 1;
  cell.status = CellStatus::converged;
  cell.solved = cell.claimed = true;
  cell.iterations = 7;
  cell.repeats = 3;
  cell.setup.median = 0.25 * median;
  cell.solve.median = 0.75 * median;
  cell.total = {.cold = 2.0 * median, .minimum = 0.9 * median, .median = median, .deviation = 0.0};
  cell.timed_rounds = {{.minimum = 0.9 * median, .median = median}};
  cell.reaction = answer;
  return cell;
}

TEST(Rounds, TheQuietestRoundsTimesStayWhole) {
  const CellRecord before = solved_in(2.0);
  CellRecord quieter = solved_in(1.0);
  quieter.repeats = 5;
  quieter.run_id = 2;
  const RetimedCell better = retimed(before, answer, quieter);
  EXPECT_EQ(better.change, RetimedCell::Change::times);
  EXPECT_EQ(better.record.total.median, 1.0);
  EXPECT_EQ(better.record.total.cold, 2.0);
  EXPECT_EQ(better.record.setup.median, 0.25);
  EXPECT_EQ(better.record.solve.median, 0.75);
  EXPECT_EQ(better.record.repeats, 5);
  EXPECT_EQ(better.record.rounds, 2);
  EXPECT_EQ(better.record.run_id, 2);

  const RetimedCell worse = retimed(better.record, answer, solved_in(3.0));
  EXPECT_EQ(worse.record.total.median, 1.0);
  EXPECT_EQ(worse.record.run_id, 2);
  EXPECT_EQ(worse.record.repeats, 5);
  EXPECT_EQ(worse.record.rounds, 3);
  ASSERT_EQ(worse.record.timed_rounds.size(), 3U) << "every round is kept";
  EXPECT_EQ(worse.record.timed_rounds[1].median, 1.0);
  EXPECT_EQ(worse.record.timed_rounds[2].round, 3);
  EXPECT_EQ(worse.record.timed_rounds[2].minimum, 2.7);
}

TEST(Rounds, DoubtsAreOfTheTimesThatStayAndASlowFirstRunIsNotForgotten) {
  CellRecord before = solved_in(2.0);
  before.doubts = {"unconfirmed", "slow_first"};
  CellRecord slower = solved_in(3.0);
  slower.doubts = {"kept_answers"};
  EXPECT_THAT(retimed(before, answer, slower).record.doubts, ElementsAre("unconfirmed", "slow_first"));
  EXPECT_THAT(retimed(before, answer, solved_in(1.0)).record.doubts, ElementsAre("slow_first"));
  CellRecord quieter = solved_in(1.0);
  quieter.doubts = {"slow_first"};
  EXPECT_THAT(retimed(before, answer, quieter).record.doubts, ElementsAre("slow_first"));
}

TEST(Rounds, AnotherAnswerMakesTheCellFlaky) {
  const CellRecord before = solved_in(1.0);
  CellRecord longer = solved_in(0.5);
  longer.iterations = 8;
  CellRecord elsewhere = solved_in(0.5);
  elsewhere.reaction[1] = -0.0;
  CellRecord crashed;
  crashed.status = CellStatus::crashed;
  crashed.reason = "signal 11";
  const std::vector<std::pair<CellRecord, std::string>> cases{
      {longer, "round 2 took 8 iterations instead of 7"},
      {elsewhere, "round 2 gave another answer"},
      {crashed, "round 2 ended as crashed instead of converged: signal 11"}};
  for (const auto& [now, reason] : cases) {
    const RetimedCell cell = retimed(before, answer, now);
    EXPECT_EQ(cell.change, RetimedCell::Change::all);
    EXPECT_EQ(cell.record.status, CellStatus::flaky);
    EXPECT_EQ(cell.record.reason, reason);
    EXPECT_EQ(cell.record.solved, now.solved);
    EXPECT_EQ(cell.record.reaction, answer) << "from which others may have started";
    EXPECT_EQ(cell.record.iterations, 7);
  }
}

TEST(Rounds, RunningOutOfTimeMakesACellFlakyUnlessItWasNearTheLimit) {
  CellRecord before = solved_in(1.0);
  for (const CellStatus status : {CellStatus::time_limit, CellStatus::timeout}) {
    CellRecord late = solved_in(5.0);
    late.status = status;
    late.solved = false;
    before.limit_s = 5.0;
    const RetimedCell near = retimed(before, answer, late);
    EXPECT_EQ(near.change, RetimedCell::Change::times);
    EXPECT_EQ(near.record.status, CellStatus::converged);
    EXPECT_EQ(near.record.total.median, 1.0);
    EXPECT_EQ(near.record.rounds, 2);
    before.limit_s = 50.0;
    const RetimedCell far = retimed(before, answer, late);
    EXPECT_EQ(far.record.status, CellStatus::flaky);
    EXPECT_FALSE(far.record.solved);
  }
}

TEST(Rounds, ACellThatRanOutOfTimeGetsASecondChance) {
  CellRecord late = solved_in(5.0);
  late.status = CellStatus::time_limit;
  late.solved = false;
  const RetimedCell again = retimed(late, {}, late);
  EXPECT_EQ(again.change, RetimedCell::Change::times);
  EXPECT_EQ(again.record.rounds, 2);
  const RetimedCell solved = retimed(late, {}, solved_in(0.5));
  EXPECT_EQ(solved.change, RetimedCell::Change::all);
  EXPECT_EQ(solved.record.status, CellStatus::converged);
  EXPECT_TRUE(solved.record.solved);
  EXPECT_EQ(solved.record.total.median, 0.5);
  EXPECT_EQ(solved.record.rounds, 2);

  PlannedCell planned;
  planned.key = late.key;
  EXPECT_EQ(cells_for_round({planned}, {late}, 2).size(), 1U);
  EXPECT_EQ(cells_for_round({planned}, {again.record}, 3).size(), 0U) << "one";
  EXPECT_EQ(cells_for_round({planned}, {solved.record}, 3).size(), 1U);
  late.status = CellStatus::max_iterations;
  EXPECT_EQ(cells_for_round({planned}, {late}, 2).size(), 0U);
}

TEST(Rounds, AProblemThatCannotBeReadAnyMoreLeavesItsCellsAsTheyWere) {
  CellRecord gone;
  gone.status = CellStatus::bad_problem;
  const RetimedCell cell = retimed(solved_in(1.0), answer, gone);
  EXPECT_EQ(cell.change, RetimedCell::Change::none);
  EXPECT_EQ(cell.record.rounds, 1);
}

class RoundsOfASweep : public testing::SweepTest {
 protected:
  static Suite in_rounds(int rounds) {
    return suite(R"({
      "name": "rounds", "problems": [{"scene": "random", "options": {"contacts": 4}, "seeds": [1, 2]}],
      "solvers": ["NSGS", "CASCADE", {"id": "PGS-NCP", "options": {}}], "tolerances": [1e-9],
      "limits": {"iterations": 9, "seconds": 60}, "repeats": {"min": 2, "min_ms": 0, "max": 2, "rounds": )" +
                 std::to_string(rounds) + "}}");
  }
};

TEST_F(RoundsOfASweep, TimeSolvedCellsAloneAndResume) {
  Store store = open_store();
  const SweepOutcome once = sweep(in_rounds(1), store);
  EXPECT_EQ(once.run, 6);
  EXPECT_EQ(once.retimed, 0);
  ASSERT_GT(once.solved, 0);
  ASSERT_LT(once.solved, 6);
  const auto first = store.read(true);

  progress.order.clear();
  const SweepOutcome thrice = sweep(in_rounds(3), store);
  EXPECT_EQ(thrice.run, 0);
  EXPECT_EQ(thrice.resumed, 6);
  EXPECT_EQ(thrice.retimed, 2 * once.solved);
  EXPECT_EQ(thrice.solved, once.solved);
  EXPECT_EQ(static_cast<long>(progress.order.size()), 2 * once.solved);
  EXPECT_THAT(progress.notes.at(0), HasSubstr("round 2 of 3"));
  const auto last = store.read(true);
  ASSERT_EQ(last->cells.size(), first->cells.size());
  for (std::size_t i = 0; i < last->cells.size(); ++i) {
    const CellRecord& before = first->cells[i];
    const CellRecord& now = last->cells[i];
    EXPECT_EQ(now.rounds, now.solved ? 3 : 1);
    EXPECT_LE(now.total.median, before.total.median);
    EXPECT_EQ(now.status, before.status);
    EXPECT_EQ(now.reaction, before.reaction);
    EXPECT_EQ(now.run_id == before.run_id, now.total.median == before.total.median);
  }
  EXPECT_EQ(sweep(in_rounds(3), store).retimed, 0);
}

TEST_F(RoundsOfASweep, FindAnAnswerThatIsNotTheStoredOne) {
  Store store = open_store();
  sweep(in_rounds(1), store);
  auto contents = store.read(true);
  for (CellRecord& cell : contents->cells) {
    if (!cell.solved) continue;
    cell.reaction[0] += 1e-3;
    ASSERT_TRUE(store.put_cell(cell));
    break;
  }
  const SweepOutcome twice = sweep(in_rounds(2), store);
  long flaky = 0;
  const auto after = store.read();
  for (const CellRecord& cell : after->cells) flaky += cell.status == CellStatus::flaky ? 1 : 0;
  EXPECT_EQ(flaky, 1);
  EXPECT_EQ(twice.flaky, 1);
  EXPECT_EQ(sweep(in_rounds(3), store).retimed, twice.retimed - 1) << "a flaky cell is not timed again";
}

TEST_F(RoundsOfASweep, AreInterruptedAndGoOn) {
  Store store = open_store();
  const long solved = sweep(in_rounds(1), store).solved;
  progress.order.clear();
  std::atomic<bool> interrupt = false;
  progress.interrupt = &interrupt;
  progress.interrupt_after = 1;
  options.interrupted = &interrupt;
  const SweepOutcome stopped = sweep(in_rounds(2), store);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.retimed, 1);
  interrupt = false;
  progress.interrupt = nullptr;
  EXPECT_EQ(sweep(in_rounds(2), store).retimed, solved - 1);
}

}  // namespace
}  // namespace conebench
