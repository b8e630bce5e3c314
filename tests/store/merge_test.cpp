#include "store/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/sqlite.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using conebench::testing::sample_cell;
using conebench::testing::sample_configuration;
using conebench::testing::sample_problem;
using conebench::testing::sample_run;
using conebench::testing::ScratchFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A store with cells of these keys and one run.
void make_store(const fs::path& file, const std::vector<CellRecord>& cells, const RunRecord& run = sample_run()) {
  auto store = Store::open(file, Store::Mode::read_write);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->begin_run(run));
  ASSERT_TRUE(store->put_problem(sample_problem("p1")));
  ASSERT_TRUE(store->put_configuration(sample_configuration("s1")));
  for (const auto& cell : cells) ASSERT_TRUE(store->put_cell(cell));
}

StoreContents read_all(const fs::path& file) {
  auto store = Store::open(file, Store::Mode::read_only);
  EXPECT_TRUE(store);
  return store->read(true).value();
}

std::vector<std::string> keys(const StoreContents& contents) {
  std::vector<std::string> out;
  for (const auto& cell : contents.cells) out.push_back(cell.key);
  return out;
}

std::string refusal(const std::vector<fs::path>& sources, const fs::path& out, const MergeOptions& options = {}) {
  const auto merged = merge_stores(sources, out, options);
  EXPECT_FALSE(merged);
  return merged ? "" : merged.error().message;
}

TEST(Merge, KeepsACertificateThatOneShardAloneHas) {
  const ScratchFolder folder;
  // A certificate of a problem that is solved would be refuted.
  CellRecord first = sample_cell("k1"), second = sample_cell("k2");
  first.solved = second.solved = false;
  make_store(folder / "a", {first});
  make_store(folder / "b", {second});
  make_store(folder / "older", {first});  // whose mark came without z
  const std::vector<double> z = {0.0, 0.0, 1.0, 0.0, 0.0, 1.0 / 3.0};
  const auto certify = [&](const char* name, const FeasibilityRecord& feasibility) {
    auto store = Store::open(folder / name, Store::Mode::read_write);
    ProblemRecord certified = sample_problem("p1");
    certified.feasibility = feasibility;
    ASSERT_TRUE(store && store->put_problem(certified));
  };
  certify("b", {"infeasible", -0.6, 3, z});
  certify("older", {"infeasible", -0.5, 3, {}});
  const std::vector<std::vector<fs::path>> orders = {{folder / "a", folder / "b"},
                                                     {folder / "b", folder / "a"},
                                                     {folder / "older", folder / "b"},
                                                     {folder / "b", folder / "older"}};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const fs::path out = folder / ("all" + std::to_string(i));
    ASSERT_TRUE(merge_stores(orders[i], out));
    const auto contents = read_all(out);
    ASSERT_EQ(contents.problems.size(), 1U);
    EXPECT_TRUE(contents.problems[0].infeasible());
    EXPECT_EQ(contents.problems[0].feasibility.margin, -0.6);
    EXPECT_EQ(contents.problems[0].feasibility.worst_block, 3);
    EXPECT_EQ(contents.problems[0].feasibility.certificate, z);
  }
}

TEST(Merge, KeepsTheLargestBoundAndTheNoiseThatOneStoreAloneKnows) {
  const ScratchFolder folder;
  CellRecord unsolved = sample_cell("k1");
  unsolved.solved = false;
  const std::vector<double> weak = {1.0, 1.0}, strong = {0.0, 1.0};
  const auto make = [&](const char* name, const FeasibilityRecord& feasibility, std::optional<double> noise) {
    make_store(folder / name, {unsolved});
    auto store = Store::open(folder / name, Store::Mode::read_write);
    ProblemRecord problem = sample_problem("p1");
    problem.feasibility = feasibility;
    problem.noise_ratio = noise;
    ASSERT_TRUE(store && store->put_problem(problem));
  };
  make("old", {}, std::nullopt);
  make("searched", {"not_excluded", {}, {}, {}}, 7.0);
  make("weak", {"infeasible", -0.5, 1, weak, 1e-5}, 0.25);
  make("strong", {"infeasible", -0.5, 3, strong, 1e-3}, std::nullopt);
  const auto merged = [&](std::vector<fs::path> sources) {
    for (fs::path& source : sources) source = folder / source;
    const fs::path out = folder / ("out" + std::to_string(std::distance(fs::directory_iterator(folder.path()), {})));
    EXPECT_TRUE(merge_stores(sources, out));
    return read_all(out).problems.at(0);
  };
  EXPECT_EQ(merged({"old", "searched"}).feasibility.state, "not_excluded");
  EXPECT_EQ(merged({"old", "searched"}).noise_ratio, 7.0);
  for (const auto& order : {std::vector<fs::path>{"weak", "old", "strong", "searched"},
                            std::vector<fs::path>{"old", "searched", "strong", "weak"}}) {
    const ProblemRecord problem = merged(order);
    EXPECT_TRUE(problem.infeasible());
    EXPECT_EQ(problem.feasibility.verdict_bound, 1e-3);
    EXPECT_EQ(problem.feasibility.certificate, strong);
    EXPECT_EQ(problem.feasibility.worst_block, 3);
    EXPECT_EQ(problem.noise_ratio, order[0] == "weak" ? 0.25 : 7.0) << "the first that is known";
  }
}

TEST(Merge, ShardsGiveOneStoreWithEveryCellItsRunAndItsTrace) {
  const ScratchFolder folder;
  auto second_run = sample_run();
  second_run.machine.host = "node8";  // another node of the same kind
  make_store(folder / "a", {sample_cell("k1"), sample_cell("k2")});
  make_store(folder / "b", {sample_cell("k3")}, second_run);
  const std::vector<fs::path> sources = {folder / "a", folder / "b"};
  const auto merged = merge_stores(sources, folder / "all");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->runs, 2);
  EXPECT_EQ(merged->cells, 3);
  EXPECT_THAT(merged->mixed, IsEmpty());
  const auto contents = read_all(folder / "all");
  EXPECT_THAT(keys(contents), ElementsAre("k1", "k2", "k3"));
  EXPECT_EQ(contents.problems.size(), 1U);
  EXPECT_EQ(contents.configurations.size(), 1U);
  const auto run_of = [&](const CellRecord& cell) {
    return std::find_if(contents.runs.begin(), contents.runs.end(), [&](auto& run) { return run.id == cell.run_id; });
  };
  EXPECT_EQ(run_of(contents.cells[0])->machine.host, "node7");
  EXPECT_EQ(run_of(contents.cells[2])->machine.host, "node8");
  EXPECT_EQ(contents.cells[2].residuals.size(), 2U);
  ASSERT_EQ(contents.cells[2].timed_rounds.size(), 1U);
  EXPECT_EQ(contents.cells[2].timed_rounds[0].run_id, contents.cells[2].run_id) << "the run's new number";
  EXPECT_EQ(contents.cells[2].reaction.size(), 12U);
  // Nothing but the three stores is left in the folder.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 3);
}

TEST(Merge, KeepsTheAcceptancesOfAllStoresEachOnce) {
  const ScratchFolder folder;
  make_store(folder / "a", {sample_cell("k1")});
  make_store(folder / "b", {sample_cell("k2")});
  const AcceptanceRecord by_ann{"3fa9c1d2", "ann", "agreed", "2024-05-03T09:00:00Z", R"({"kind":"slower"})"};
  const AcceptanceRecord by_bob{"01234567", "bob", "known", "2024-05-04T09:00:00Z"};
  {
    auto a = Store::open(folder / "a", Store::Mode::read_write), b = Store::open(folder / "b", Store::Mode::read_write);
    ASSERT_TRUE(a && a->put_acceptance(by_ann));
    ASSERT_TRUE(b && b->put_acceptance(by_bob) && b->put_acceptance(by_ann));
  }
  for (const bool salvage : {false, true}) {
    const std::vector<fs::path> sources =
        salvage ? std::vector<fs::path>{folder / "b"} : std::vector<fs::path>{folder / "a", folder / "b"};
    const fs::path out = folder / (salvage ? "saved" : "all");
    const auto merged = merge_stores(sources, out, {.salvage = salvage});
    ASSERT_TRUE(merged) << merged.error().message;
    std::vector<std::string> kept;
    for (const AcceptanceRecord& one : read_all(out).acceptances) kept.push_back(one.who + one.facts);
    EXPECT_THAT(kept, ::testing::UnorderedElementsAre("ann" + by_ann.facts, "bob{}"));
  }
}

TEST(Merge, ACellWithoutAnswerIsNotSolvedInTheFileEither) {
  const ScratchFolder folder;
  CellRecord without = sample_cell("k1");
  without.reaction.clear();
  make_store(folder / "a", {without, sample_cell("k2")});
  ASSERT_TRUE(merge_stores(std::vector<fs::path>{folder / "a"}, folder / "out"));
  EXPECT_EQ(read_all(folder / "out").cells.size(), 2U);
  sqlite::Connection merged;
  ASSERT_EQ(merged.open(folder / "out", sqlite::Connection::Access::read_only), 0);
  EXPECT_EQ(merged.ask("SELECT solved FROM cells WHERE key = 'k1'"), 0);
  EXPECT_EQ(merged.ask("SELECT solved FROM cells WHERE key = 'k2'"), 1);
}

TEST(Merge, TheSameAnswerTwiceIsKeptOnceWithTheFirstTimes) {
  const ScratchFolder folder;
  auto again = sample_cell("k1");
  again.total.median = 77.0;
  make_store(folder / "a", {sample_cell("k1")});
  make_store(folder / "b", {again, sample_cell("k2")});
  const std::vector<fs::path> sources = {folder / "a", folder / "b"};
  const auto merged = merge_stores(sources, folder / "all");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->repeated, 1);
  EXPECT_EQ(merged->conflicting, 0);
  const auto contents = read_all(folder / "all");
  EXPECT_THAT(keys(contents), ElementsAre("k1", "k2"));
  EXPECT_EQ(contents.cells[0].total.median, sample_cell("k1").total.median);
}

TEST(Merge, OfTheSameAnswerTheOneThatMoreRoundsTimedIsKept) {
  const ScratchFolder folder;
  CellRecord once = sample_cell("k1");
  CellRecord thrice = once;
  thrice.rounds = 3;
  thrice.total.median = 0.5 * once.total.median;
  make_store(folder / "a", {once, sample_cell("k2")});
  make_store(folder / "b", {thrice});
  for (const auto& sources :
       {std::vector<fs::path>{folder / "a", folder / "b"}, std::vector<fs::path>{folder / "b", folder / "a"}}) {
    const fs::path out = folder / ("all" + sources[0].filename().string());
    const auto merged = merge_stores(sources, out);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(merged->cells, 2);
    EXPECT_EQ(merged->repeated, 1);
    for (const CellRecord& cell : read_all(out).cells) {
      if (cell.key != "k1") continue;
      EXPECT_EQ(cell.rounds, 3);
      EXPECT_EQ(cell.total.median, thrice.total.median);
      EXPECT_EQ(cell.reaction.size(), once.reaction.size());
    }
  }
}

TEST(Merge, AnotherAnswerIsRefusedUnlessThePolicySaysWhichToKeep) {
  auto crashed = sample_cell("k1");
  crashed.status = CellStatus::crashed;
  auto one_bit = sample_cell("k1");
  one_bit.reaction[0] = 5e-324;
  for (const auto& other : {crashed, one_bit}) {
    const ScratchFolder folder;
    make_store(folder / "a", {sample_cell("k0"), sample_cell("k1")});
    make_store(folder / "b", {other, sample_cell("k2")});
    const std::vector<fs::path> sources = {folder / "a", folder / "b"};
    EXPECT_THAT(
        refusal(sources, folder / "all"),
        AllOf(HasSubstr("NSGS(order=shuffled) on stack-p1 at 1e-08 has another answer"),
              HasSubstr(other.status == CellStatus::crashed ? "converged there, crashed here" : "other bits of λ")));
    EXPECT_FALSE(fs::exists(folder / "all"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);

    const auto first = merge_stores(sources, folder / "first", {.conflict = MergeConflict::first});
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->conflicting, 1);
    EXPECT_EQ(first->cells, 3);
    const auto last = merge_stores(sources, folder / "last", {.conflict = MergeConflict::last});
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(last->cells, 3);
    EXPECT_THAT(keys(read_all(folder / "first")), ElementsAre("k0", "k1", "k2"));
    const auto contents = read_all(folder / "last");
    ASSERT_EQ(contents.cells.size(), 3U);
    EXPECT_EQ(contents.cells[1].key, "k1");
    EXPECT_EQ(contents.cells[1].status, other.status);
    EXPECT_EQ(contents.cells[1].reaction[0], other.reaction[0]);
    EXPECT_EQ(contents.cells[1].residuals.size(), 2U);
  }
}

TEST(Merge, MixedMachinesBuildsModesAndLimitsAreRefusedOrLabelled) {
  auto machine = sample_run();
  machine.machine.cpu = "Another CPU";
  auto build = sample_run();
  build.build.flags = "-O0";
  auto mode = sample_run();
  mode.mode = "throughput";
  auto limits = sample_cell("k2");
  limits.limit_s = 60.0;
  struct Case {
    std::string name;
    RunRecord run;
    CellRecord cell;
    std::string expected;
  };
  const std::vector<Case> cases = {{"machine", machine, sample_cell("k2"), "different machines"},
                                   {"build", build, sample_cell("k2"), "different builds"},
                                   {"mode", mode, sample_cell("k2"), "timed and throughput"},
                                   {"limits", sample_run(), limits, "different limits"}};
  for (const auto& one : cases) {
    const ScratchFolder folder;
    make_store(folder / "a", {sample_cell("k1")});
    make_store(folder / "b", {one.cell}, one.run);
    const std::vector<fs::path> sources = {folder / "a", folder / "b"};
    EXPECT_THAT(refusal(sources, folder / "all"), AllOf(HasSubstr(one.expected), HasSubstr("--allow-mixed")));
    const auto merged = merge_stores(sources, folder / "all", {.allow_mixed = true});
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_THAT(merged->mixed, ElementsAre(HasSubstr(one.expected)));
    for (const auto& run : read_all(folder / "all").runs) {
      EXPECT_EQ(run.noise.size(), sample_run().noise.size() + 1);
      EXPECT_EQ(run.noise.back().kind, NoiseKind::joined);
      EXPECT_THAT(run.noise.back().text, HasSubstr(one.expected));
    }
  }
}

TEST(Merge, RefusesNoSourcesTheSameTwiceBadFilesAndAnExistingTarget) {
  const ScratchFolder folder;
  make_store(folder / "a", {sample_cell("k1")});
  EXPECT_EQ(merge_stores({}, folder / "all").error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(refusal({folder / "a", folder / "." / "a"}, folder / "all"), HasSubstr("given twice"));
  EXPECT_THAT(refusal({folder / "a", folder / "none"}, folder / "all"), HasSubstr("no such file"));
  EXPECT_THAT(refusal({folder / "a"}, folder / "a"), HasSubstr("exists already"));
  EXPECT_THAT(refusal({folder / "a"}, folder / "no/folder/all"), HasSubstr("no folder"));
  EXPECT_THAT(keys(read_all(folder / "a")), ElementsAre("k1"));
}

}  // namespace
}  // namespace conebench
