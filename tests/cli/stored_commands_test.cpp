#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RunCommand, AReportShowsWhatChangedSinceAnEarlierStoreAndLeavesFoldersOut) {
  ASSERT_EQ(run({}).code, 0);
  ASSERT_EQ(run({}, "later.sqlite").code, 0);
  const auto report = conebench({"report", folder / "later.sqlite", "--since", folder / "small.sqlite", "--out",
                                 folder / "since", "--anonymous"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(text_of(folder / "since/index.html"), HasSubstr("id=\"since\">{\"schema\":\"conebench.compare/2\""));
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "since/report.json"))["runs"][0]["machine"]["host"], "machine 1");
  // The page's data are those of report.json, packed.
  for (const std::string name :
       {"report.md", "report.json", "cells.csv", "problems.csv", "latex/report.tex", "latex/ranking-1e-6.tex"}) {
    EXPECT_THAT(text_of(folder / ("since/" + name)), Not(HasSubstr(folder.path().string()))) << name;
  }
  expect_failure(
      conebench({"report", folder / "later.sqlite", "--since", folder / "none.sqlite", "--out", folder / "r"}), 3,
      {"none.sqlite"});
}

TEST_F(RunCommand, ReportWritesEveryFormatAndTheCommandsThatRepeatACell) {
  ASSERT_EQ(run({}).code, 0);
  const auto report = conebench({"report", folder / "small.sqlite", "--out", folder / "report"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("NSGS"));
  for (const std::string name : {"index.html", "report.md", "latex/report.tex", "cells.csv", "report.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / ("report/" + name))) << name;
    EXPECT_THAT(report.out, HasSubstr(name));
  }
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {  // NOLINT(concurrency-mt-unsafe)
    EXPECT_TRUE(std::filesystem::exists(folder / "report/latex/performance-1e-6.svg"));
    EXPECT_EQ(text_of(folder / "report/latex/performance-1e-6.pdf").substr(0, 5), "%PDF-");
  }
  const auto one = conebench({"report", folder / "small.sqlite", "--rows", "1", "--columns", "solved"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, AllOf(HasSubstr("1 of 2 configurations are shown"), Not(HasSubstr("ρ(1)"))));
  expect_failure(conebench({"report", folder / "small.sqlite", "--columns", "speed"}), 2,
                 {"--columns", "time_at_limit"});
  expect_failure(conebench({"report", folder / "small.sqlite", "--solvers", "NOBODY"}), 2, {"--solvers", "'NOBODY'"});
  const auto only = conebench({"report", folder / "small.sqlite", "--out", folder / "csv", "--format", "csv"});
  EXPECT_EQ(only.code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "csv/index.html"));
  const auto sliced =
      conebench({"report", folder / "small.sqlite", "--out", folder / "sliced", "--format", "md", "--by", "category"});
  EXPECT_EQ(sliced.code, 0) << sliced.err;
  EXPECT_THAT(text_of(folder / "sliced/report.md"), HasSubstr("by category"));
  expect_failure(conebench({"report", folder / "small.sqlite", "--out", folder / "r", "--by", "size"}), 2, {"--by"});
  const auto twice = conebench({"report", folder / "small.sqlite", folder / "small.sqlite", "--out", folder / "r"});
  expect_failure(twice, 3, {"small.sqlite: given twice"});
  ASSERT_EQ(run({}, "tuesday.sqlite").code, 0);
  expect_failure(conebench({"report", folder / "small.sqlite", folder / "tuesday.sqlite", "--out", folder / "r"}), 3,
                 {"have both run 8 cells of the suite small", "conebench compare " + folder / "small.sqlite"});
  EXPECT_FALSE(std::filesystem::exists(folder / "r"));
  expect_failure(conebench({"report", folder / "absent.sqlite", "--out", folder / "r"}), 3, {"absent.sqlite"});

  // A problem's source in the store is what `solve` takes, and gives the stored cell's answer again.
  const auto rows = query(
      "small.sqlite",
      "SELECT problems.source, iterations FROM cells JOIN problems ON problems.hash = problem JOIN "
      "configurations ON configurations.hash = configuration WHERE solver = 'NSGS' AND family = 'sliding-box' AND "
      "tolerance < 1e-5");
  ASSERT_EQ(rows.size(), 1U);
  const auto bar = rows[0].find('|');
  const auto again = conebench({"solve", rows[0].substr(0, bar), "--solver", "NSGS", "--tolerance", "1e-6",
                                "--max-iterations", "2000", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["iterations"].dump(), rows[0].substr(bar + 1));
}

TEST_F(RunCommand, AReportMayBeOfAPartOfTheStore) {
  ASSERT_EQ(run({}).code, 0);
  const auto report = [&](const std::string& filter) {
    return conebench(
        {"report", folder / "small.sqlite", "--out", folder / "part", "--format", "csv", "--filter", filter});
  };
  const auto part = report("family=box-stack && solver=NSGS && contacts>=8 && tolerance<1e-5");
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.out, HasSubstr("small, family=box-stack"));
  EXPECT_THAT(part.out, ::testing::Not(HasSubstr("PGS-CCP")));
  EXPECT_THAT(part.out, ::testing::Not(HasSubstr("Not run")));
  const std::string text = text_of(folder / "part/cells.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "the heading and a cell";
  const auto none = report("solver=NGSS");
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("leaves 0 of 8 cells; did you mean 'NSGS'?"));
  expect_failure(report("colour=red"), 2, {"unknown field 'colour'"});
}

TEST_F(RunCommand, WhatIsNotSolvedIsListedWithItsReasonAndTheCommandThatRepeatsIt) {
  const auto ran = run({});
  ASSERT_EQ(ran.code, 0);
  const auto unsolved = query("small.sqlite", "SELECT status, reason FROM cells WHERE NOT solved");
  ASSERT_EQ(unsolved.size(), 2U) << "PGS-CCP on the sliding box";
  EXPECT_THAT(ran.out, HasSubstr("2 cells not solved"));
  EXPECT_THAT(ran.out,
              ::testing::ContainsRegex("stalled +PGS-CCP +2 +sliding-box +1e-4 +no step [^;]+; [0-9]+ iterations; "));
  EXPECT_THAT(ran.out, HasSubstr("each cell: conebench report " + folder / "small.sqlite" +
                                 " --failed; how to repeat it: its command in cells.csv"));

  const auto list = [&](const std::string& filter) {
    return conebench({"report", folder / "small.sqlite", "--failed", "--filter", filter});
  };
  const auto each = list("");
  EXPECT_EQ(each.code, 0) << each.err;
  EXPECT_THAT(each.out, ::testing::ContainsRegex("stalled +PGS-CCP +sliding-box +1e-4 +no step"));
  EXPECT_THAT(each.out, ::testing::ContainsRegex("stalled +PGS-CCP +sliding-box +1e-6 +no step"));
  const auto at = each.out.find("the first again: conebench solve");
  ASSERT_NE(at, std::string::npos) << each.out;
  const std::string command = each.out.substr(at + 17, each.out.find('\n', at) - at - 17);
  const auto again = run_program(
      {"sh", "-c", command}, {folder.path(), {"PATH=" + executable().parent_path().string() + ":/usr/bin:/bin"}, {}});
  EXPECT_THAT(again.out, HasSubstr("tolerance 0.0001")) << again.err;
  EXPECT_THAT(again.out, HasSubstr("stalled (no step beyond rounding"));

  EXPECT_THAT(list("solved=no && tolerance<1e-5").out, HasSubstr("1 cell not solved"));
  EXPECT_THAT(list("solver=NSGS").out, HasSubstr("all cells that ran are solved"));
  EXPECT_EQ(list("status=timeout").code, 5);
  expect_failure(list("status=timout"), 2, {"did you mean 'timeout'?"});
  expect_failure(run({"--filter", "status=timeout"}), 2, {"'status' is of cells that have run", "--retry"});
  EXPECT_FALSE(std::filesystem::exists("report"));

  query("small.sqlite", "UPDATE cells SET status = 'converged', claimed = 1, reason = '' WHERE NOT solved");
  write_checksums("small.sqlite");
  EXPECT_THAT(list("status=converged && solved=no").out,
              ::testing::ContainsRegex("converged +PGS-CCP +sliding-box +1e-4 +claims it; [0-9]+ iterations; "));
}

TEST_F(RunCommand, AReportWithoutAFolderIsTheRankingAlone) {
  ASSERT_EQ(run({}).code, 0);
  const auto report = conebench({"report", folder / "small.sqlite"});
  EXPECT_EQ(report.code, 0) << report.err;
  const auto written = conebench({"report", folder / "small.sqlite", "--out", folder / "files"});
  EXPECT_TRUE(written.out.starts_with(report.out)) << "the files' names follow";
}

TEST_F(RunCommand, AReportCanLeaveOutTheMethodsOfConebenchsAuthors) {
  ASSERT_EQ(run({}).code, 0);
  const auto report = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"report", folder / "small.sqlite", "--out", folder / "part", "--format", "csv"};
    words.insert(words.end(), more.begin(), more.end());
    return conebench(words).out;
  };
  EXPECT_THAT(report({}), HasSubstr(" NSGS * "));
  const std::string others = report({"--without-own"});
  EXPECT_THAT(others, ::testing::AllOf(HasSubstr("Without the 1 configuration of Conebench's authors: NSGS."),
                                       HasSubstr(" PGS-CCP "), ::testing::Not(HasSubstr(" NSGS * "))));
}

TEST_F(RunCommand, WhatAFilterLeavesIsAllThatIsAskedFor) {
  const auto report = [&] {
    return conebench({"report", folder / "small.sqlite", "--out", folder / "part", "--format", "csv"}).out;
  };
  const auto cells = [&] { return query("small.sqlite", "SELECT key FROM cells").size(); };
  ASSERT_EQ(run({"--filter", "solver=NSGS && family=box-stack"}).code, 0);
  EXPECT_THAT(report(), ::testing::Not(HasSubstr("Not run")));
  const std::size_t first = cells();
  // Filters add up: what an earlier one asked for stays.
  ASSERT_EQ(run({"--filter", "solver=PGS-CCP"}).code, 0);
  ASSERT_GT(cells(), first);
  EXPECT_THAT(report(),
              ::testing::AllOf(::testing::Not(HasSubstr("Not run")), ::testing::Not(HasSubstr("left out: no"))));
  ASSERT_EQ(conebench({"report", folder / "small.sqlite", "--out", folder / "part", "--format", "json"}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(folder / "part/report.json"))["cells"]["rows"].size(), cells());
}

TEST_F(RunCommand, AReportOfAPartShowsWhatWasNotRun) {
  // The whole suite is asked for; then a filter narrows nothing.
  ASSERT_EQ(run({}).code, 0);
  const std::string gone =
      "(SELECT id FROM cells WHERE tolerance < 1e-5 AND configuration = (SELECT hash FROM configurations WHERE solver "
      "= "
      "'PGS-CCP'))";
  query("small.sqlite", "DELETE FROM residuals WHERE cell IN " + gone + "; DELETE FROM reactions WHERE cell IN " +
                            gone + "; DELETE FROM cells WHERE id IN " + gone);
  write_checksums("small.sqlite");
  ASSERT_EQ(run({"--filter", "solver=NSGS && family=box-stack"}).code, 0);
  const auto report = [&](const std::string& filter) {
    return conebench(
        {"report", folder / "small.sqlite", "--out", folder / "part", "--format", "md", "--filter", filter});
  };
  EXPECT_THAT(report("tolerance<1e-5").out, HasSubstr("2 of 4 cells"));
  EXPECT_THAT(report("solver=NSGS && family=box-stack").out, ::testing::Not(HasSubstr("Not run")));
  const auto none = report("solver=PGS-CC");
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("nothing was written"));
}

TEST_F(RunCommand, ReportOfAStoreWithoutCellsSaysThatNothingWasMeasured) {
  ASSERT_EQ(run({}).code, 0);
  query("small.sqlite", "DELETE FROM residuals; DELETE FROM reactions; DELETE FROM cells");
  const auto report = conebench({"report", folder / "small.sqlite", "--out", folder / "report"});
  EXPECT_EQ(report.code, 5);
  EXPECT_THAT(report.err, HasSubstr("nothing was measured: no cell is stored"));
}

TEST_F(RunCommand, RejudgePutsBackWhatTheAnswersDeserve) {
  ASSERT_EQ(run({}).code, 0);
  const std::string judged =
      "SELECT key, solved, verdict_value, stick, name, value FROM cells JOIN residuals ON cell = "
      "cells.id ORDER BY key, name";
  const auto before = query("small.sqlite", judged);
  ASSERT_GT(before.size(), 50U);
  query("small.sqlite",
        "UPDATE cells SET solved = 1 - solved, verdict_value = 0.5, stick = 99; UPDATE residuals SET value = 1; "
        "DELETE FROM residuals WHERE name = 'dual'");
  write_checksums("small.sqlite");
  const auto rejudged = conebench({"rejudge", folder / "small.sqlite"});
  EXPECT_EQ(rejudged.code, 0) << rejudged.err;
  EXPECT_THAT(rejudged.out, HasSubstr("8 of 8 cells judged anew"));
  EXPECT_EQ(query("small.sqlite", judged), before);
}

TEST_F(RunCommand, AStoredVerdictWithoutAnswerCountsNowhereAndRejudgeTakesItBack) {
  ASSERT_EQ(run({}).code, 0);
  const auto solved = [&](const std::string& store) {
    const auto report = conebench({"report", folder / store, "--out", folder / "report", "--format", "csv"});
    EXPECT_EQ(report.code, 0) << report.err;
    std::ifstream cells(folder / "report/cells.csv");
    long count = -1;  // the head names the column
    for (std::string line; std::getline(cells, line);) count += line.find(",solved,") != std::string::npos;
    return count;
  };
  const long before = solved("small.sqlite");
  ASSERT_GT(before, 1);
  // As a build stored it that believed what a solver's process sent.
  query("small.sqlite", "DELETE FROM reactions WHERE cell = (SELECT MIN(id) FROM cells WHERE solved = 1)");
  write_checksums("small.sqlite");
  EXPECT_EQ(solved("small.sqlite"), before - 1);
  ASSERT_EQ(conebench({"merge", folder / "small.sqlite", "--out", folder / "merged.sqlite"}).code, 0);
  EXPECT_EQ(solved("merged.sqlite"), before - 1);
  ASSERT_EQ(conebench({"rejudge", folder / "small.sqlite"}).code, 0);
  EXPECT_EQ(query("small.sqlite", "SELECT COUNT(*) FROM cells WHERE solved = 1"),
            std::vector<std::string>{std::to_string(before - 1)});
}

TEST_F(RunCommand, WhatIsNotThereIsNamedAndNotMade) {
  const auto rejudged = conebench({"rejudge", folder / "none.sqlite"});
  EXPECT_EQ(rejudged.code, 3);
  EXPECT_THAT(rejudged.err, HasSubstr("none.sqlite: cannot be read: no such file"));
  EXPECT_FALSE(std::filesystem::exists(folder / "none.sqlite"));
  const auto directory = conebench({"run", folder / ".", "--db", folder / "f.sqlite"});
  EXPECT_EQ(directory.code, 2) << "a folder of problems needs solvers";
  EXPECT_THAT(directory.err, HasSubstr("say which solvers"));
}

TEST_F(RunCommand, RejudgeLeavesCellsWhoseProblemIsGoneOrAnother) {
  ASSERT_EQ(conebench({"generate", "sliding-box", "--out", folder / "data"}).code, 0);
  ASSERT_EQ(conebench({"generate", "box-stack", "--set", "boxes=2", "--out", folder / "data"}).code, 0);
  write("files.json", R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS"]})");
  ASSERT_EQ(conebench({"run", folder / "files.json", "--data", folder / "data", "--db", folder / "f.sqlite"}).code, 0);
  const auto where_it_lay = conebench({"rejudge", folder / "f.sqlite"});
  EXPECT_EQ(where_it_lay.code, 0) << where_it_lay.err;
  std::filesystem::rename(folder / "data", folder / "moved");
  const auto nowhere = conebench({"rejudge", folder / "f.sqlite"});
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("--data"));
  const auto moved = conebench({"rejudge", folder / "f.sqlite", "--data", folder / "moved"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  std::filesystem::rename(folder / "moved", folder / "data");
  // The stack's file now holds another problem.
  std::string stack;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "data")) {
    if (entry.path().filename().string().starts_with("box-stack")) stack = entry.path();
  }
  const ScratchFolder other;
  std::filesystem::copy_file(generate(other, {"random"}), stack, std::filesystem::copy_options::overwrite_existing);
  const auto partly = conebench({"rejudge", folder / "f.sqlite", "--data", folder / "data"});
  EXPECT_EQ(partly.code, 4) << partly.err;
  EXPECT_THAT(partly.out, HasSubstr("1 of 2 cells judged anew"));
  EXPECT_THAT(partly.err, HasSubstr("another problem"));
}

TEST_F(RunCommand, RejudgeFindsTheFilesOfRunsWithDifferentDataFolders) {
  write("files.json", R"({"name": "files", "problems": [{"fclib": "*.hdf5"}], "solvers": ["NSGS"]})");
  for (const std::string boxes : {"2", "3"}) {
    const std::string data = folder / ("data" + boxes);
    std::filesystem::create_directory(data);
    const ScratchFolder made;
    std::filesystem::copy_file(generate(made, {"box-stack", "--set", "boxes=" + boxes}), data + "/stack.hdf5");
    ASSERT_EQ(conebench({"run", folder / "files.json", "--data", data, "--db", folder / "f.sqlite"}).code, 0);
  }
  const auto rejudged = conebench({"rejudge", folder / "f.sqlite"});
  EXPECT_EQ(rejudged.code, 0) << rejudged.err;
  EXPECT_THAT(rejudged.out, HasSubstr("2 of 2 cells judged anew"));
}

}  // namespace
}  // namespace conebench::testing
