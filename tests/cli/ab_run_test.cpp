#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "store/store.hpp"
#include "tests/cli/test_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

/// 12 problems and two configurations: a second or two for a block.
constexpr const char* suite = R"({
  "name": "turns", "seed": 3,
  "problems": [{"scene": "random", "options": {"contacts": 8}, "seeds": [1, 2, 3, 4, 5, 6]},
               {"scene": "sliding-box", "grid": {"friction": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}}],
  "solvers": ["CASCADE", {"id": "MISBEHAVE"}],
  "tolerances": [1e-4], "limits": {"iterations": 20000, "seconds": 5, "memory_mb": 1000},
  "repeats": {"min": 3, "min_ms": 1, "max": 20}
})";

class AbRun : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(folder / "turns.json") << suite; }

  /// An executable that is the one under test, with something before it.
  std::string build(const std::string& name, const std::string& before) {
    const std::string path = folder / name;
    std::ofstream(path) << "#!/bin/sh\n"
                        << before << "\nexec '" << executable_with_test_solvers().string() << "' \"$@\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  Outcome run(const std::string& other, const std::vector<std::string>& more = {},
              std::vector<std::string> environment = {}) {
    std::vector<std::string> words = {"run", folder / "turns.json", "--ab", other, "--db", folder / "ab.sqlite"};
    words.insert(words.end(), more.begin(), more.end());
    const auto counts = [](const std::string& word) { return word == "--rounds" || word == "--passes"; };
    if (std::none_of(more.begin(), more.end(), counts)) words.insert(words.end(), {"--rounds", "2"});
    RunOptions options = with_test_solvers(std::move(environment));
    options.folder = folder.path();
    return conebench(words, options);
  }

  StoreContents stored() const {
    const auto store = Store::open(folder / "ab.sqlite", Store::Mode::read_only);
    return *store->read();
  }
  std::vector<CellRecord> side(const std::string& name) const {
    const StoreContents contents = stored();
    std::set<std::int64_t> runs;
    for (const RunRecord& one : contents.runs) {
      if (one.side == name) runs.insert(one.id);
    }
    std::vector<CellRecord> cells;
    std::copy_if(contents.cells.begin(), contents.cells.end(), std::back_inserter(cells),
                 [&](const CellRecord& cell) { return runs.contains(cell.run_id); });
    return cells;
  }

  const ScratchFolder folder;
};

TEST_F(AbRun, ABuildAgainstItselfStoresBothSidesWithTheirRoundsAndTheSameAnswers) {
  const auto outcome = run(executable_with_test_solvers(), {"--fail-on", "lost,missing,broke"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto baseline = side("baseline"), candidate = side("candidate");
  ASSERT_EQ(baseline.size(), 24U);
  ASSERT_EQ(candidate.size(), 24U);
  std::map<std::pair<std::string, std::string>, const CellRecord*> of_baseline;
  for (const CellRecord& cell : baseline) of_baseline[{cell.problem, cell.configuration}] = &cell;
  for (const CellRecord& cell : candidate) {
    const CellRecord& other = *of_baseline.at({cell.problem, cell.configuration});
    EXPECT_NE(cell.key, other.key);
    EXPECT_EQ(cell.answer_crc, other.answer_crc);
    EXPECT_EQ(cell.verdict_value, other.verdict_value);
    for (const CellRecord* one : {&cell, &other}) {
      ASSERT_EQ(one->timed_rounds.size(), one->solved ? 2U : 1U);
      EXPECT_TRUE(one->timed_rounds[0].cpu_share);
      EXPECT_GT(one->timed_rounds.back().minimum, 0.0);
    }
  }
  const auto compared = conebench({"compare", folder / "ab.sqlite", "--json", "--fail-on", "none"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(compared.json()["compared"], 24);
}

TEST_F(AbRun, MoreRoundsResumeAndAddToThoseThatAreStored) {
  ASSERT_EQ(run(executable_with_test_solvers(), {"--fail-on", "none"}).code, 0);
  ASSERT_EQ(run(executable_with_test_solvers(), {"--fail-on", "none", "--rounds", "4"}).code, 0);
  for (const std::string name : {"baseline", "candidate"}) {
    for (const CellRecord& cell : side(name)) {
      if (!cell.solved) continue;
      ASSERT_EQ(cell.timed_rounds.size(), 4U) << name;
      EXPECT_EQ(cell.timed_rounds[3].round, 4);
      EXPECT_EQ(cell.rounds, 4);
    }
  }
}

TEST_F(AbRun, ABuildWhoseSolverTakesFourTimesAsLongWithEqualAnswersIsSlower) {
  const auto outcome = run(build("plain", "unset CONEBENCH_TEST_BURN"), {}, {"CONEBENCH_TEST_BURN=CASCADE:300"});
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("slower"));
}

TEST_F(AbRun, AConfigurationThatTheBaselineBuildLacksIsNamedAndTheRestCompared) {
  const auto outcome = run(build("without", "unset CONEBENCH_TEST_SOLVERS"), {"--fail-on", "lost,missing,broke"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the baseline lacks MISBEHAVE: unknown solver"));
  EXPECT_EQ(side("baseline").size(), 12U);
  EXPECT_EQ(side("candidate").size(), 24U);
}

TEST_F(AbRun, ACrashInEitherBuildIsThatCellsStatus) {
  const auto won = run(build("crashing", "export CONEBENCH_TEST_MODE=segfault"), {"--fail-on", "lost,missing,broke"});
  EXPECT_EQ(won.code, 0) << won.err;
  long crashed = 0;
  for (const CellRecord& cell : side("baseline")) crashed += cell.status == CellStatus::crashed ? 1 : 0;
  EXPECT_EQ(crashed, 12);
  std::filesystem::remove(folder / "ab.sqlite");
  const auto broke = run(build("healthy", "unset CONEBENCH_TEST_MODE"), {}, {"CONEBENCH_TEST_MODE=segfault"});
  EXPECT_EQ(broke.code, 1) << broke.err;
  EXPECT_THAT(broke.err, HasSubstr("12 broke"));
}

TEST_F(AbRun, ACellThatIsKilledFromOutsideIsReportedAndLeftForTheNextRun) {
  // The first answers the greeting, ten more are the tries of one round.
  const std::string other =
      build("killed", "n=$(cat '" + (folder / "starts") + "' 2>/dev/null || echo 0)\necho $((n + 1)) >'" +
                          (folder / "starts") + "'\ntest $n -ge 1 && test $n -le 10 && kill -TERM $$");
  const std::vector<std::string> gate = {"--fail-on", "lost,missing,broke"};
  const auto killed = run(other, gate);
  EXPECT_EQ(killed.code, 4) << killed.err;
  EXPECT_THAT(killed.err, HasSubstr("1 cell left, because a process was terminated externally"));
  EXPECT_EQ(side("baseline").size(), 23U);
  EXPECT_EQ(side("candidate").size(), 23U);
  for (const RunRecord& one : stored().runs) EXPECT_EQ(one.finished_utc, "");
  EXPECT_EQ(run(other, gate).code, 0) << "the rest is run";
  EXPECT_EQ(side("baseline").size(), 24U);
}

TEST_F(AbRun, ABaselineWithAnotherVersionOrDefaultHasItsOwnConfiguration) {
  const auto configuration_of_baseline = [&] {
    const std::string hash = side("baseline").front().configuration;
    const StoreContents contents = stored();
    return *std::find_if(contents.configurations.begin(), contents.configurations.end(),
                         [&](const ConfigurationRecord& one) { return one.hash == hash; });
  };
  const std::vector<std::string> only = {"--filter", "solver=MISBEHAVE", "--fail-on", "missing"};
  const auto version = run(build("version", "export CONEBENCH_TEST_VERSION=7"), only);
  EXPECT_EQ(version.code, 0) << version.err;
  EXPECT_THAT(version.err, HasSubstr("the baseline's MISBEHAVE is another configuration: version 7, here 1"));
  EXPECT_EQ(configuration_of_baseline().solver_version, 7);
  const auto compared = conebench({"compare", folder / "ab.sqlite", "--json", "--fail-on", "none"});
  EXPECT_EQ(compared.json()["compared"], 12);
  std::filesystem::remove(folder / "ab.sqlite");

  // As between stores: a configuration is the same when its solver has another default.
  const auto step = run(build("step", "export CONEBENCH_TEST_STEP=0.5"), only);
  EXPECT_EQ(step.code, 0) << step.err;
  EXPECT_THAT(step.err, HasSubstr("step 0.5, here 1.0"));
  EXPECT_THAT(configuration_of_baseline().options_json, HasSubstr("\"step\":0.5"));
}

TEST_F(AbRun, AnEarlierNameOfTheRoundsCountsPairsOfThem) {
  ASSERT_EQ(run(executable_with_test_solvers(), {"--fail-on", "none", "--passes", "1"}).code, 0);
  for (const CellRecord& cell : side("candidate")) EXPECT_EQ(cell.timed_rounds.size(), cell.solved ? 2U : 1U);
  expect_failure(run(executable_with_test_solvers(), {"--rounds", "3"}), 2, {"--rounds 3", "even"});
}

TEST_F(AbRun, WhatIsNoConebenchOrAnotherStoreIsRefusedBeforeAnythingRuns) {
  expect_failure(run("/bin/true"), 3, {"/bin/true", "protocol"});
  expect_failure(run(build("old", "test \"$1\" = worker && exit 2")), 3, {"old", "exit code 2", "protocol"});
  expect_failure(run(folder / "nowhere"), 3, {"no executable file"});
  expect_failure(run(executable_with_test_solvers(), {"--jobs", "2"}), 2, {"--ab", "--jobs"});
  std::filesystem::remove(folder / "ab.sqlite");
  ASSERT_EQ(conebench({"run", folder / "turns.json", "--db", folder / "ab.sqlite", "--filter", "solver=CASCADE"},
                      with_test_solvers())
                .code,
            0);
  expect_failure(run(executable_with_test_solvers()), 3, {"an ordinary run"});
}

}  // namespace
}  // namespace conebench::testing
