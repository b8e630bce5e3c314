#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/cli/conebench_process.hpp"
#include "tests/cli/run_command_fixture.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RunCommand, RunsEveryCellPrintsTheRankingAndResumes) {
  const auto first = run({});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("NSGS"), HasSubstr("8 run now")));
  EXPECT_EQ(query("small.sqlite", "SELECT count(*) FROM cells"), std::vector<std::string>{"8"});
  EXPECT_EQ(query("small.sqlite",
                  "SELECT count(*) FROM cells JOIN configurations ON hash = configuration WHERE solver = 'NSGS' AND "
                  "solved"),
            std::vector<std::string>{"4"});
  const auto before = query("small.sqlite", answers);
  const auto second = run({});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, AllOf(HasSubstr("0 run now"), HasSubstr("8 stored before")));
  EXPECT_EQ(query("small.sqlite", answers), before);
  EXPECT_EQ(run({"--retry", "converged"}).code, 0);
  EXPECT_EQ(query("small.sqlite", answers), before) << "a second run must give bit-identical answers";
}

TEST_F(RunCommand, AnotherExecutableOfTheSameCommitIsReportedAndAddsOnlyWithPermission) {
  ASSERT_EQ(run({}).code, 0);
  // As a build with an edited source that git does not track: the same commit, other bytes.
  const std::string other = folder / "conebench";
  std::filesystem::copy_file(executable(), other);
  std::ofstream(other, std::ios::app | std::ios::binary) << "edited";
  const std::vector<std::string> again = {other, "run", folder / "small.json", "--db", folder / "small.sqlite"};
  expect_failure(
      run_program(again), 3,
      {"another build", "the same commit with other sources", "new store", "keep its 8 cells", "--allow-mixed"});
  auto mixed = again;
  mixed.push_back("--allow-mixed");
  const auto added = run_program(mixed);
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_THAT(added.out, HasSubstr("8 stored before"));
  auto anew = again;
  anew.back() = folder / "new.sqlite";
  EXPECT_EQ(run_program(anew).code, 0);
  const auto stamps = query("new.sqlite", "SELECT build_executable FROM runs");
  ASSERT_EQ(stamps.size(), 1U);
  EXPECT_NE(stamps, query("small.sqlite", "SELECT build_executable FROM runs LIMIT 1"));
}

TEST_F(RunCommand, ABatchIsOneCellWithItsProblemsASecondItsSlowestAndItsWorst) {
  const std::string suite = folder / "batch.json", store = folder / "batch.sqlite", report = folder / "report";
  std::ofstream(suite)
      << R"({"problems": [{"scene": "random", "options": {"contacts": 4}, "seeds": {"first": 1, "last": 6},
      "batch": 6, "family": "small"}], "solvers": ["NSGS", "CASCADE"], "tolerances": [1e-8]})";
  const auto ran = conebench({"run", suite, "--db", store});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("2 run now"), HasSubstr("solved/s"), HasSubstr("6/6"), HasSubstr("p95")));
  EXPECT_EQ(query("batch.sqlite",
                  "SELECT count(*) FROM cells WHERE members_solved = 6 AND solved AND verdict_p95 <= "
                  "verdict_value AND member_median_s <= member_p95_s AND member_p95_s <= member_worst_s"),
            std::vector<std::string>{"2"});
  EXPECT_EQ(query("batch.sqlite", "SELECT name, members, contacts FROM problems"),
            std::vector<std::string>{"small_batch=1-6|6|24"});
  EXPECT_EQ(conebench({"report", store, "--out", report}).code, 0);
  std::stringstream text;
  text << std::ifstream(report + "/report.md").rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("### Batches"), HasSubstr("| 6/6 |")));
  const auto again = conebench({"rejudge", store});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(query("batch.sqlite", "SELECT sum(members_solved) FROM cells"), std::vector<std::string>{"12"});
}

TEST_F(RunCommand, AStoreThatAnotherHostHasLockedIsLeftAloneUnlessTheLockIsBroken) {
  ASSERT_EQ(run({}).code, 0);
  const auto before = query("small.sqlite", answers);
  const std::string lock =
      R"({"process": 1, "started": 1, "host": "node7", "boot": "b", "processes": "p", "since": "2026-01-01 02:00:00 UTC"})";
  write("small.sqlite.lock", lock);
  const std::vector<std::string> who = {"process 1 on node7 since 2026-01-01 02:00:00 UTC", "--break-lock"};
  expect_failure(run({"--retry", "converged"}), 3, who);
  expect_failure(conebench({"rejudge", folder / "small.sqlite"}), 3, who);
  EXPECT_EQ(query("small.sqlite", answers), before);
  EXPECT_EQ(conebench({"report", folder / "small.sqlite", "--out", folder / "report"}).code, 0)
      << "who reads needs none";
  const auto broken = run({"--break-lock"});
  EXPECT_EQ(broken.code, 0);
  EXPECT_THAT(broken.err, HasSubstr("taken over from process 1 on node7"));
  EXPECT_FALSE(std::filesystem::exists(folder / "small.sqlite.lock"));
}

TEST_F(RunCommand, AStoreThatAnotherOneWritesIsNeitherMadeNorChanged) {
  const std::string lock =
      R"({"process": 1, "started": 1, "host": "node7", "boot": "b", "processes": "p", "since": "2026-01-01 02:00:00 UTC"})";
  write("new.sqlite.lock", lock);
  expect_failure(conebench({"run", folder / "small.json", "--db", folder / "new.sqlite"}), 3, {"node7"});
  EXPECT_FALSE(std::filesystem::exists(folder / "new.sqlite"));
}

TEST_F(RunCommand, RejudgeAndMergeBreakALockToo) {
  ASSERT_EQ(run({}).code, 0);
  for (const char* name : {"small.sqlite.lock", "all.sqlite.lock"}) write(name, "left by another host");
  const std::vector<std::vector<std::string>> commands = {
      {"merge", folder / "small.sqlite", "--out", folder / "all.sqlite"}, {"rejudge", folder / "small.sqlite"}};
  for (std::vector<std::string> words : commands) {
    expect_failure(conebench(words), 3, {"--break-lock"});
    words.emplace_back("--break-lock");
    const auto broken = conebench(words);
    EXPECT_EQ(broken.code, 0) << broken.err;
    EXPECT_THAT(broken.err, HasSubstr("taken over"));
  }
}

TEST_F(RunCommand, AStoreOfAnotherSchemaIsRefusedByEveryCommandAndStaysAsItIs) {
  ASSERT_EQ(run({}).code, 0);
  const std::string store = folder / "small.sqlite";
  for (const std::string version : {"12", "1000"}) {
    query("small.sqlite", "PRAGMA user_version = " + version);
    const std::string held = text_of(store);
    const std::vector<std::vector<std::string>> commands = {
        {"report", store, "--out", folder / "report"},
        {"compare", store, store},
        {"history", store},
        {"merge", store, "--out", folder / "all.sqlite"},
        {"merge", store, "--salvage", "--out", folder / "all.sqlite"},
        {"rejudge", store},
        {"run", folder / "small.json", "--db", store},
        {"run", folder / "small.json", "--db", folder / "next.sqlite", "--baseline", store}};
    for (const auto& words : commands) {
      expect_failure(conebench(words), 3,
                     {"small.sqlite", "schema " + version, version == "12" ? "conebench run SUITE --db" : "update"});
    }
    EXPECT_EQ(text_of(store), held) << version;
  }
  for (const char* name : {"all.sqlite", "next.sqlite"}) EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
}

TEST_F(RunCommand, ADamagedStoreIsRefusedAndWhatIsWholeOfItSaved) {
  ASSERT_EQ(run({}).code, 0);
  query("small.sqlite", "UPDATE cells SET iterations = iterations + 1 WHERE id = 3");
  const std::vector<std::string> reported = {"1 of 8 cells", "--salvage"};
  expect_failure(conebench({"report", folder / "small.sqlite", "--out", folder / "report"}), 3, reported);
  expect_failure(conebench({"merge", folder / "small.sqlite", "--out", folder / "joined.sqlite"}), 3, reported);
  expect_failure(run({}), 3, reported);
  const auto saved = conebench({"merge", folder / "small.sqlite", "--salvage", "--out", folder / "saved.sqlite"});
  EXPECT_EQ(saved.code, 0) << saved.err;
  EXPECT_THAT(saved.out, AllOf(HasSubstr("7 cells"), HasSubstr("1 cell damaged and left out")));
  const auto completed = run({}, "saved.sqlite");
  EXPECT_EQ(completed.code, 0) << completed.err;
  EXPECT_THAT(completed.out, AllOf(HasSubstr("1 run now"), HasSubstr("7 stored before")));
}

TEST_F(RunCommand, ShardsJoinToTheWholeSuite) {
  ASSERT_EQ(run({}, "whole.sqlite").code, 0);
  for (const std::string part : {"1", "2", "3"}) {
    const auto outcome = run({"--shard", part + "/3"}, "shard" + part + ".sqlite");
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 5) << outcome.err;
  }
  const auto merged = conebench({"merge", folder / "shard1.sqlite", folder / "shard2.sqlite", folder / "shard3.sqlite",
                                 "--out", folder / "all.sqlite"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("8 cells"));
  EXPECT_EQ(query("all.sqlite", answers), query("whole.sqlite", answers));
  expect_failure(conebench({"merge", folder / "shard1.sqlite", "--out", folder / "all.sqlite"}), 3, {"exists already"});
  expect_failure(conebench({"merge", folder / "absent.sqlite", "--out", folder / "x.sqlite"}), 3, {"absent.sqlite"});
}

TEST_F(RunCommand, DryRunCountsCellsAndRunsNone) {
  const auto plan = run({"--dry-run"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("2 problems"), HasSubstr("8 cells"),
                              HasSubstr("at worst 12 min 16 s: 8 solves killed after 92 s each")));
  EXPECT_FALSE(std::filesystem::exists(folder / "small.sqlite"));
}

TEST_F(RunCommand, ADryRunListsWhatCannotBeLoadedOnce) {
  ASSERT_EQ(conebench({"generate", "sliding-box", "--out", folder / "data"}).code, 0);
  write("data/broken.hdf5", "not HDF5 at all");
  write("files.json", R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS", "PGS-CCP"]})");
  const auto dry = [&](const std::string& filter) {
    return conebench({"run", folder / "files.json", "--data", folder / "data", "--db", folder / "files.sqlite",
                      "--dry-run", "--filter", filter});
  };
  const auto plan = dry("tolerance<1");
  EXPECT_EQ(plan.code, 0);
  EXPECT_EQ(plan.err, "");
  EXPECT_THAT(plan.out, HasSubstr("2 problems (0 supported by no solver, 1 could not be loaded)"));
  const auto first = plan.out.find("broken.hdf5");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(plan.out.find("broken.hdf5", first + 1), std::string::npos) << plan.out;
  EXPECT_THAT(dry("contacts>1").out, HasSubstr("broken.hdf5")) << "nobody knows how many contacts it would have";
}

TEST_F(RunCommand, RequireSolvedIsAGate) {
  const auto gated = run({"--require-solved", "1"});
  EXPECT_EQ(gated.code, 1);
  EXPECT_THAT(gated.err, HasSubstr("gate failed"));
  EXPECT_EQ(run({"--require-solved", "0.5"}).code, 0);
}

TEST_F(RunCommand, AGateMayNameASolverAndItsSupportedCells) {
  EXPECT_EQ(run({"--require-solved", "NSGS:1", "--require-solved", "0.5"}).code, 0);
  const auto gated = run({"--require-solved", "PGS-CCP:0.9@supported", "--require-solved", "NSGS:1"});
  EXPECT_EQ(gated.code, 1);
  EXPECT_THAT(gated.err, HasSubstr("supported cells of PGS-CCP solved, a share of 0.5 where"));
  expect_failure(run({"--require-solved", "NGSS:1"}), 2, {"no solver NGSS", "did you mean 'NSGS'?"});
  expect_failure(run({"--require-solved", "NSGS"}), 2, {"--require-solved NSGS", "CASCADE:0.99@supported"});
}

/// Rolling friction in the plane, which is read and which no solver takes.
constexpr const char* write_planar_rolling = R"(
import h5py, numpy, sys
with h5py.File(sys.argv[1], "w") as file:
    group = file.create_group("fclib_global_rolling")
    group["spacedim"] = numpy.array([3], "i4")
    for matrix in "MH":
        for name, value in {"m": [3], "n": [3], "nz": [3], "nzmax": [3], "i": [0, 1, 2], "p": [0, 1, 2]}.items():
            group[f"{matrix}/{name}"] = numpy.array(value, "i4")
        group[f"{matrix}/x"] = numpy.ones(3)
    for name, value in {"f": [-1, 0, 0], "w": [0, 0, 0], "mu": [0.5], "mu_r": [0.1]}.items():
        group[f"vectors/{name}"] = numpy.array(value, "f8")
)";

TEST_F(RunCommand, UnsupportedCellsAreDataAndEndWithZero) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "python3-h5py is not there";
  write("own.json", R"({"name": "own", "problems": [{"scene": "sliding-box"}, {"fclib": "rolling.hdf5"}],
    "solvers": ["NBGS", "PGS-LCP"], "tolerances": [1e-4]})");
  ASSERT_EQ(python(write_planar_rolling, {folder / "rolling.hdf5"}).code, 0);
  const std::vector<std::string> command = {"run", folder / "own.json", "--db", folder / "own.sqlite"};
  const auto first = conebench(command);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("rolling.hdf5"));
  EXPECT_THAT(first.out, HasSubstr("not supported, which is no failure: 2 of 4 cells; of 2 problems 1 supported by no"));
  const auto again = conebench(command);
  EXPECT_EQ(again.code, 0) << "and so does a run that finds all in the store";
  EXPECT_THAT(again.err, Not(HasSubstr("rolling.hdf5"))) << "what no solver takes is reported once";
  EXPECT_THAT(again.out, HasSubstr("1 supported by no solver"));
  auto all_unsupported = command;
  all_unsupported.insert(all_unsupported.end(), {"--filter", "source~rolling"});
  EXPECT_EQ(conebench(all_unsupported).code, 5) << "stored or not, nothing was measured";
}

TEST_F(RunCommand, ABaseIsAnEarlierStoreOfTheSuite) {
  ASSERT_EQ(run({}, "monday.sqlite").code, 0);
  const std::string monday = folder / "monday.sqlite";
  EXPECT_EQ(run({"--base", monday, "--require-solved", "NSGS:1@supported"}, "tuesday.sqlite").code, 0);
  // On Wednesday one of the two problems is gone.
  write("small.json", R"({"name": "small", "seed": 3, "problems": [{"scene": "sliding-box"}],
    "solvers": ["NSGS", "PGS-CCP"], "tolerances": [1e-4, 1e-6], "limits": {"iterations": 2000, "seconds": 60,
    "memory_mb": 2000}, "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto fewer = run({"--base", monday, "--require-solved", "NSGS:1@supported"}, "wednesday.sqlite");
  EXPECT_EQ(fewer.code, 1);
  EXPECT_THAT(fewer.err, HasSubstr("2 cells of NSGS are supported, 4 in the base"));
  expect_failure(run({"--base", monday}, "monday.sqlite"), 2, {"--base", "the store that is written"});
  expect_failure(run({"--base", folder / "none.sqlite"}, "tuesday.sqlite"), 3, {"none.sqlite"});
  write("other.json", R"({"name": "other", "problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]})");
  expect_failure(conebench({"run", folder / "other.json", "--db", folder / "other.sqlite", "--base", monday}), 3,
                 {"holds no run of the suite other"});
}

TEST_F(RunCommand, AMemoryEndThatTheBaseDidNotHaveBrokeTheRun) {
  const auto run_with = [&](const std::string& megabytes, const std::string& store, const std::string& base) {
    write("tight.json", R"({"name": "tight", "problems": [{"scene": "sliding-box"}, {"scene": "random",
      "options": {"contacts": 150}}], "solvers": ["NSGS", "LEMKE"], "tolerances": [1e-4],
      "repeats": {"min": 1, "min_ms": 0, "max": 1}, "limits": {"memory_mb": )" +
                            megabytes + "}}");
    std::vector<std::string> command = {"run", folder / "tight.json", "--db", folder / store};
    if (!base.empty()) command.insert(command.end(), {"--base", folder / base});
    return conebench(command);
  };
  ASSERT_EQ(run_with("4000", "sunday.sqlite", "").code, 0);
  const auto monday = run_with("48", "monday.sqlite", "sunday.sqlite");
  if (query("monday.sqlite", "SELECT 1 FROM cells WHERE status = 'out_of_memory'").empty()) {
    GTEST_SKIP() << "48 MB are enough, or no limit in this build";
  }
  EXPECT_EQ(monday.code, 4);
  EXPECT_THAT(monday.err, AllOf(HasSubstr("1 cell crashed or ran out of memory and did not in"),
                                HasSubstr("sunday.sqlite; the report says why")));
  const auto tuesday = run_with("48", "tuesday.sqlite", "monday.sqlite");
  EXPECT_EQ(tuesday.code, 0) << tuesday.err;
  EXPECT_THAT(tuesday.out, HasSubstr("1 cell crashed or ran out of memory as in"));
}

TEST_F(RunCommand, PrintsOneObjectForScripts) {
  const auto planned = run({"--dry-run", "--json"});
  EXPECT_EQ(planned.code, 0);
  EXPECT_EQ(planned.json()["schema"], "conebench.dry_run/2");
  EXPECT_EQ(planned.json()["cells_to_run"], 8);
  const auto outcome = run({"--json", "--require-solved", "0.5", "--require-solved", "NSGS:1@supported"});
  EXPECT_EQ(outcome.code, 0);
  const auto object = outcome.json();
  ASSERT_TRUE(object.is_object()) << outcome.out;
  EXPECT_EQ(object["schema"], "conebench.run/2");
  EXPECT_EQ(object["store"], folder / "small.sqlite");
  EXPECT_EQ(object["exit_code"], 0);
  EXPECT_EQ(object["cells"], 8);
  EXPECT_EQ(object["cells_run_now"], 8);
  EXPECT_EQ(object["statuses"]["converged"], object["statuses_run_now"]["converged"]);
  ASSERT_EQ(object["gates"].size(), 2U);
  EXPECT_EQ(object["gates"][1]["solver"], "NSGS");
  EXPECT_EQ(object["gates"][1]["found"], 1.0);
  EXPECT_EQ(object["gates"][1]["passed"], true);
  EXPECT_TRUE(object["noise"].is_array());
  const auto failed = run({"--json", "--require-solved", "1"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.json()["exit_code"], 1);
  EXPECT_EQ(failed.json()["cells_stored_before"], 8);
  EXPECT_THAT(failed.json()["reasons"][0].get<std::string>(), HasSubstr("gate failed"));
}

TEST_F(RunCommand, WrongUsageAndBadInputAreOneLine) {
  expect_failure(run({"--shard", "3/2"}), 2, {"--shard"});
  expect_failure(run({"--shard", "0/2"}), 2, {"--shard"});
  expect_failure(run({"--shard", "two"}), 2, {"--shard"});
  expect_failure(run({"--jobs", "0"}), 2, {"--jobs"});
  expect_failure(run({"--require-solved", "2"}), 2, {"--require-solved"});
  expect_failure(conebench({"run", folder / "absent.json"}), 3, {"absent.json"});
  write("typo.json",
        R"({"name": "x", "problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"], "tolerences": [1]})");
  expect_failure(conebench({"run", folder / "typo.json", "--db", folder / "x.sqlite"}), 2, {"typo.json", "tolerences"});
  write("noglob.json", R"({"name": "x", "problems": [{"fclib": "absent/*.hdf5"}], "solvers": ["NSGS"]})");
  expect_failure(conebench({"run", folder / "noglob.json", "--db", folder / "x.sqlite"}), 3,
                 {"noglob.json: problems[0]", "absent/*.hdf5"});
  EXPECT_FALSE(std::filesystem::exists(folder / "x.sqlite"));
  write("text.sqlite", "this file is no database and long enough to be read as one");
  expect_failure(run({}, "text.sqlite"), 3, {"text.sqlite", "not a Conebench store"});
  expect_failure(run({}, "no/folder.sqlite"), 3, {"no folder"});
  expect_failure(conebench({"run", folder / "small.jsn", "--db", folder / "x.sqlite"}), 3,
                 {"small.jsn: no such suite file; did you mean 'small.json'?"});
  expect_failure(conebench({"run", "defalt", "--db", folder / "x.sqlite"}), 3, {"did you mean 'default'?"});
}

TEST_F(RunCommand, AFilterThatFitsNothingMeasuresNothing) {
  const auto outcome = run({"--filter", "family=nowhere"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("nothing was measured"));
  EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr("family=nowhere"), HasSubstr("NSGS, PGS-CCP"),
                                            HasSubstr("box-stack, sliding-box")));
  EXPECT_EQ(run({"--filter", "solver=ELSE"}).code, 5);
  EXPECT_THAT(run({"--filter", "solver=NSGS, PGS-CCP"}).err, HasSubstr("did you mean 'solver~^(NSGS|PGS-CCP)$'?"));
  EXPECT_THAT(run({"--filter", "solver=NGSS"}).err, HasSubstr("did you mean 'NSGS'?"));
  EXPECT_THAT(run({"--filter", "family=box-stak && solver=NSGS"}).err, HasSubstr("did you mean 'box-stack'?"));
  EXPECT_EQ(run({"--filter", "beauty=1"}).code, 2);
  expect_failure(run({"--filter", "category=dense-contact"}), 2, {"did you mean 'dense contacts'?"});
  expect_failure(run({"--filter", "family=box-stack || solver=NSGS"}), 2, {"only && joins terms"});
  EXPECT_FALSE(std::filesystem::exists(folder / "small.sqlite"));
  const auto half = run({"--filter", "family=sliding-box"});
  EXPECT_EQ(half.code, 0) << half.err;
  EXPECT_THAT(half.out, HasSubstr("4 run now"));
}

TEST_F(RunCommand, AFileThatCannotBeLoadedEndsWithFourAndTheRestIsRun) {
  ASSERT_EQ(conebench({"generate", "sliding-box", "--out", folder / "data"}).code, 0);
  write("data/broken.hdf5", "not HDF5 at all");
  write("files.json", R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS"]})");
  const auto outcome =
      conebench({"run", folder / "files.json", "--data", folder / "data", "--db", folder / "files.sqlite"});
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 problems could not be loaded"));
  EXPECT_EQ(query("files.sqlite", "SELECT status FROM cells ORDER BY status"),
            (std::vector<std::string>{"bad_problem", "converged"}));
}

TEST_F(RunCommand, WhereNoSolverAnsweredItSaysHowTheCellsEnded) {
  std::filesystem::create_directory(folder / "data");
  write("data/broken.hdf5", "not HDF5 at all");
  write("files.json", R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS", "PGS-CCP"]})");
  const std::vector<std::string> command = {"run",  folder / "files.json",  "--data", folder / "data",
                                            "--db", folder / "files.sqlite"};
  const auto outcome = conebench(command);
  EXPECT_EQ(outcome.code, 4) << "what broke goes before 'nothing was measured'";
  EXPECT_THAT(outcome.err, HasSubstr("1 of 1 problem could not be loaded"));
  const auto report = conebench({"report", folder / "files.sqlite", "--out", folder / "report"});
  EXPECT_EQ(report.code, 5);
  EXPECT_THAT(report.err, HasSubstr("files.sqlite: nothing was measured"));
  EXPECT_TRUE(std::filesystem::exists(folder / "report/index.html"));
  const auto empty = run({"--shard", "9/1000000"}, "shard.sqlite");
  EXPECT_EQ(empty.code, 5);
  EXPECT_THAT(empty.err, HasSubstr("nothing was measured: --shard 9/1000000 leaves no cell"));
}

TEST(Doctor, NamesMachineLibrariesAndPeers) {
  const auto text = conebench({"doctor"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const auto& part : {"governor", "load", "Eigen", "HDF5", "SQLite", "Siconos", "Ipopt", "CLP", "compiler"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const auto json = conebench({"doctor", "--json"}).json();
  ASSERT_TRUE(json.is_object());
  EXPECT_GT(json["machine"]["cores"], 0);
  EXPECT_TRUE(json["libraries"].contains("HDF5"));
  EXPECT_TRUE(json["peers"].contains("Siconos"));
  const auto clp = json["peers"].at("CLP");
  if (!clp.is_null()) {
    EXPECT_THAT(clp.get<std::string>(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+.*"));
  }
  EXPECT_TRUE(json["hints"].is_array());
  if (!json["peers"]["Siconos"].is_null()) {
    const std::string blas = json["libraries"]["Siconos' BLAS"];
    EXPECT_THAT(blas, ::testing::AnyOf(::testing::EndsWith(", 1 thread"), HasSubstr("number of threads not known")));
  }
  EXPECT_TRUE(json["machine"]["others_took"].is_number());
  EXPECT_TRUE(json["machine"].contains("busy_processors"));
}

/// `signal` comes when the run has made `sign` true, a shell's test in the folder.
Outcome interrupted_run(const std::string& suite, const std::string& signal, const std::string& sign) {
  const ScratchFolder folder;
  std::ofstream(folder / "suite.json") << suite;
  const std::string script = R"(cd "$2"; "$1" run suite.json --db out.sqlite 2>err & pid=$!
    until eval "$4" || ! kill -0 $pid; do sleep 0.01; done
    kill -"$3" $pid; wait $pid; code=$?; cat err >&2; exit $code)";
  return run_program(
      {"bash", "-c", script, "bash", executable().string(), folder.path().string(), signal, sign + " 2>/dev/null"});
}

TEST(RunInterrupted, EndsWith130AndSaysHowToGoOn) {
  const std::string slow = R"({"problems": [{"scene": "box-stack", "options": {"boxes": 10,
    "mass_ratio": 1e6}}], "solvers": ["NSGS", "PGS-NCP-SAFE"], "tolerances": [1e-12],
    "limits": {"iterations": 1000000000, "seconds": 60}})";
  for (const char* const signal : {"INT", "TERM", "HUP", "QUIT", "PIPE"}) {
    const auto outcome = interrupted_run(slow, signal, "grep -q 'to run' err");
    EXPECT_EQ(outcome.code, 130) << signal;
    EXPECT_THAT(outcome.err, HasSubstr("2 cells to run")) << signal;
  }
}

TEST(RunInterrupted, WhileProblemsAreReadItSaysSo) {
  std::string seeds = "0";
  for (int seed = 1; seed < 500; ++seed) seeds += ", " + std::to_string(seed);
  const auto outcome = interrupted_run(R"({"problems": [{"scene": "random", "options": {"contacts": 100}, "seeds": [)" +
                                           seeds + R"(]}], "solvers": ["NSGS"], "tolerances": [1e-4]})",
                                       "INT", "test -e out.sqlite.lock");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("while the problems were read"));
}

TEST_F(RunCommand, WhoeverStopsReadingTheRankingDoesNotChangeTheEnd) {
  const std::string script = R"("$1" run "$2" --db "$3" | true; exit ${PIPESTATUS[0]})";
  const auto outcome = run_program(
      {"bash", "-c", script, "bash", executable().string(), folder / "small.json", folder / "small.sqlite"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(query("small.sqlite", "SELECT count(*) FROM cells"), std::vector<std::string>{"8"});
}

}  // namespace
}  // namespace conebench::testing
