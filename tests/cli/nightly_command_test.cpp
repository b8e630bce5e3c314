#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/sqlite.hpp"
#include "tests/cli/night_process.hpp"
#include "tests/cli/test_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* nightly_suite = R"({
  "name": "small-night", "seed": 3,
  "problems": [{"scene": "box-stack", "grid": {"boxes": [2, 3]}}, {"fclib": "*.hdf5"}],
  "solvers": ["NSGS", "CASCADE"],
  "tolerances": [1e-6],
  "limits": {"iterations": 2000, "seconds": 5, "memory_mb": 2000},
  "repeats": {"min": 2, "min_ms": 0, "max": 2}
})";

class NightlyCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    write_suite(nightly_suite);
    std::filesystem::create_directories(folder / "data");
    file = generate(folder, {"sliding-box"});
    std::filesystem::rename(file, folder / "data/box.hdf5");
    file = folder / "data/box.hdf5";
  }

  void write_suite(const std::string& text) const { std::ofstream(folder / "night.json") << text; }

  Outcome night(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {folder / "night.json", "--stores", folder / "nights", "--data", folder / "data"};
    words.insert(words.end(), more.begin(), more.end());
    return run_night(words);
  }

  /// A night of MISBEHAVE and the `other` solvers; CONEBENCH_TEST_MODE makes the same executable another solver.
  Outcome with_mode(const std::string& mode, const std::string& other = R"("NSGS", )") const {
    write_suite(R"({"name": "small-night", "problems": [{"scene": "box-stack", "grid": {"boxes": [2, 3]}}],
      "solvers": [)" +
                other + R"("MISBEHAVE"], "tolerances": [1e-6], "repeats": {"min": 2, "min_ms": 0, "max": 2}})");
    return run_night({folder / "night.json", "--stores", folder / "nights"},
                     with_test_solvers({"CONEBENCH_TEST_MODE=" + mode}));
  }

  std::vector<std::string> stores() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "nights")) {
      if (entry.path().extension() == ".sqlite") names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const ScratchFolder folder;
  std::string file;
};

/// Times of so few cells are never judged, so that the gate is of what ran.
TEST_F(NightlyCommand, AFirstNightPassesAndASecondIsComparedWithIt) {
  const auto first = night();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, StartsWith("## small-night: first night, 6 of 6 cells solved\n"));
  EXPECT_THAT(first.out, HasSubstr("page of it: run conebench report "));
  ASSERT_EQ(stores().size(), 1U);
  const auto second = night();
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, StartsWith("## small-night: nothing worse"));
  ASSERT_EQ(stores().size(), 2U) << "a finished night is not written to again";
  EXPECT_THAT(stores()[0], HasSubstr("-2.sqlite"));
  const std::string pages = std::filesystem::path(stores()[0]).replace_extension(".comparison").string();
  for (const char* name : {"/index.html", "/comparison.md", "/comparison.json", "/night.xml"}) {
    EXPECT_TRUE(std::filesystem::exists(pages + name)) << name;
  }
}

TEST_F(NightlyCommand, TheSummaryAsTextHasNoMarkup) {
  ASSERT_EQ(night().code, 0);
  const auto second = night({"--format", "text"});
  EXPECT_THAT(second.out, StartsWith("small-night: nothing worse"));
  EXPECT_THAT(second.out, Not(HasSubstr("<details>")));
  EXPECT_THAT(second.out, HasSubstr("comparison/index.html"));
}

TEST_F(NightlyCommand, AQuickNightIsComparedByVerdictsAndCountsWithQuickNightsAlone) {
  expect_failure(night({"--jobs", "2"}), 2, {"--jobs", "--quick"});
  ASSERT_EQ(night().code, 0);
  const auto first = night({"--quick", "--jobs", "2"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, StartsWith("## small-night (quick): first night, 6 of 6 cells solved")) << "no timed baseline";
  const std::filesystem::path builds = folder / "nights/builds";
  const auto kept = std::distance(std::filesystem::directory_iterator(builds), {});
  std::filesystem::remove_all(builds);
  const auto second = night({"--quick"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, StartsWith("## small-night (quick): nothing worse"));
  EXPECT_EQ(kept, 1);
  EXPECT_FALSE(std::filesystem::exists(builds)) << "no A/B run will ask for a quick night's executable";
}

TEST_F(NightlyCommand, AQuickNightFailsWhereACellIsLost) {
  const auto quick = [&](const std::string& mode) {
    write_suite(R"({"name": "small-night", "problems": [{"scene": "box-stack", "grid": {"boxes": [2, 3]}}],
      "solvers": ["NSGS", "MISBEHAVE"], "tolerances": [1e-6]})");
    return run_night({folder / "night.json", "--stores", folder / "nights", "--quick"},
                     with_test_solvers({"CONEBENCH_TEST_MODE=" + mode}));
  };
  ASSERT_EQ(quick("none").code, 0);
  const auto second = quick("lie");
  EXPECT_EQ(second.code, 1) << second.out;
  EXPECT_THAT(second.out, HasSubstr("lost"));
  EXPECT_THAT(text_of(folder / "nights/history/badge.svg"), HasSubstr("alarm"));
}

TEST_F(NightlyCommand, ArtifactsAreTonightsPagesAndLinksBetweenThemWork) {
  namespace fs = std::filesystem;
  const fs::path artifacts = folder / "artifacts";
  ASSERT_EQ(night().code, 0);
  ASSERT_EQ(night({"--artifacts", artifacts.string(), "--pin", stores().front()}).code, 0);
  EXPECT_TRUE(fs::exists(artifacts / "night.xml"));
  EXPECT_THAT(text_of(artifacts / "history/badge.svg"), HasSubstr("of 3 solved · 20"));
  const auto nights = nlohmann::json::parse(text_of(artifacts / "history/history.json"))["suites"][0]["nights"];
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_EQ(nights[0]["page"], "") << "nothing to compare a first night with";
  EXPECT_EQ(nights[1]["exit_code"], 0);
  EXPECT_THAT(nights[1]["headline"].get<std::string>(), StartsWith("nothing worse"));
  const fs::path page = artifacts / "history" / nights[1]["page"].get<std::string>();
  EXPECT_TRUE(fs::exists(page)) << page;
  EXPECT_TRUE(fs::exists(page.parent_path() / "pinned/index.html"));
  for (const auto& entry : fs::recursive_directory_iterator(artifacts)) {
    EXPECT_NE(entry.path().extension(), ".sqlite") << entry.path();
  }
}

TEST_F(NightlyCommand, AFileThatCanNoLongerBeReadFailsTheGateAndIsNoBaselineForTheNextNight) {
  ASSERT_EQ(night().code, 0);
  const std::string good = stores().front();
  std::filesystem::resize_file(file, 1000);
  const auto broken = night({"--fail-on", "lost"});
  EXPECT_EQ(broken.code, 4) << broken.out << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("box.hdf5"));
  const auto gated = night();
  EXPECT_EQ(gated.code, 1) << "the gate goes before what broke";
  EXPECT_THAT(gated.out, HasSubstr("broke"));
}

TEST_F(NightlyCommand, AMissingFileAndALostConfigurationAreNamed) {
  ASSERT_EQ(night().code, 0);
  std::filesystem::remove(file);
  generate(folder, {"box-stack", "--set", "boxes=4"});
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".hdf5") std::filesystem::rename(entry.path(), folder / "data/other.hdf5");
  }
  const auto outcome = night();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("missing problem"));
}

TEST_F(NightlyCommand, ABrokenNightIsResumed) {
  std::filesystem::create_directories(folder / "nights");
  const std::string store = folder / "nights/2024-05-01-0123abcd.sqlite";
  const auto begun =
      conebench({"run", folder / "night.json", "--db", store, "--data", folder / "data", "--filter", "solver=NSGS"});
  ASSERT_EQ(begun.code, 0) << begun.err;
  const auto resumed = night();
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(stores(), std::vector<std::string>{store});
  EXPECT_THAT(resumed.out, HasSubstr("first night"));
}

TEST_F(NightlyCommand, KeepsTheNewestNightsAndThePinnedOne) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(night().code, 0);
  const std::string pinned = stores().front();
  const auto fourth = night({"--keep", "2", "--pin", pinned});
  EXPECT_EQ(fourth.code, 0) << fourth.err;
  EXPECT_THAT(fourth.out, HasSubstr("pinned"));
  const auto left = stores();
  EXPECT_EQ(left.size(), 3U);
  EXPECT_EQ(left.front(), pinned);
}

TEST_F(NightlyCommand, OfOldNightsTheSummaryIsEnoughForThePageOfAllNights) {
  namespace fs = std::filesystem;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(night({"--quick"}).code, 0);
  const auto third = night({"--quick", "--keep-stores", "2"});
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_THAT(third.err, HasSubstr("deleted 1 store; their summaries are kept"));
  EXPECT_EQ(stores().size(), 2U);
  const auto fourth = night({"--quick", "--keep-stores", "1"});
  EXPECT_EQ(fourth.code, 0) << fourth.err;
  EXPECT_EQ(stores().size(), 2U) << "tonight's and the one that it was compared with";
  const auto history = nlohmann::json::parse(text_of(folder / "nights/history/history.json"));
  EXPECT_EQ(history["suites"][0]["nights"].size(), 4U);
  // --keep deletes the rest of them as well.
  ASSERT_EQ(night({"--quick", "--keep", "2"}).code, 0);
  const auto left = std::count_if(fs::directory_iterator(folder / "nights"), {}, [](const fs::directory_entry& entry) {
    return entry.path().string().ends_with(".summary.json");
  });
  EXPECT_LE(left, 2);
}

TEST_F(NightlyCommand, APinnedLastGoodNightIsReportedOnce) {
  ASSERT_EQ(night().code, 0);
  const auto second = night({"--pin", stores().front()});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("Against the last good night, the pinned reference"));
  const std::size_t once = second.out.find("### ");
  ASSERT_NE(once, std::string::npos);
  EXPECT_EQ(second.out.find("### ", once + 1), std::string::npos) << second.out;
}

TEST_F(NightlyCommand, AFilterMakesASuiteOfItsOwn) {
  const std::vector<std::string> only = {"--filter", "solver=NSGS && boxes!=4"};
  expect_failure(night(only), 2, {"--filter", "boxes"});
  const std::vector<std::string> part = {"--filter", "solver=NSGS && problem~^box-stack"};
  const auto first = night(part);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out,
              StartsWith("## small-night where solver=NSGS &amp;&amp; problem\\~^box-stack: first night, 2 of 2"));
  const std::string reference = stores().front();
  const auto whole = night();
  EXPECT_THAT(whole.out, StartsWith("## small-night: first night, 6 of 6")) << "no baseline of another filter";
  const auto second = night(part);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr(": nothing worse"));
  EXPECT_THAT(second.out, HasSubstr("2 cells")) << "and none that is missing";
  EXPECT_EQ(stores().size(), 3U) << "a night of a part is a whole one";

  const std::string all = std::filesystem::path(reference).parent_path() / "all.sqlite";
  ASSERT_EQ(conebench({"run", folder / "night.json", "--db", all, "--data", folder / "data"}).code, 0);
  const auto pinned = night({"--filter", part[1], "--pin", all});
  EXPECT_EQ(pinned.code, 0) << pinned.out << pinned.err;
  EXPECT_THAT(pinned.out, HasSubstr("pinned reference"));
  EXPECT_EQ(night({"--filter", "family=none"}).code, 5);
}

TEST_F(NightlyCommand, AReferenceOfAnotherSuiteIsNamedAndTheNightKeepsItsOwnCode) {
  const std::string reference = folder / "reference.sqlite";
  std::ofstream(folder / "other.json")
      << R"({"name": "other", "problems": [{"scene": "box-stack", "grid": {"boxes": [5]}}],
    "solvers": ["NSGS"], "tolerances": [1e-3]})";
  ASSERT_EQ(conebench({"run", folder / "other.json", "--db", reference}).code, 0);
  const auto first = night({"--pin", reference, "--fail-on", "lost"});
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("Nothing of --pin " + reference + " can be compared"));
}

TEST_F(NightlyCommand, AStoreThatARunWroteIntoTheFolderIsNeitherComparedWithNorDeleted) {
  ASSERT_EQ(night().code, 0);
  const std::string release = folder / "nights/release-1.sqlite";
  ASSERT_EQ(conebench({"run", folder / "night.json", "--db", release, "--data", folder / "data"}).code, 0);
  const auto second = night({"--keep", "1"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, Not(HasSubstr("release-1")));
  EXPECT_TRUE(std::filesystem::exists(release));
}

TEST_F(NightlyCommand, NightsOfAnotherSchemaAreLeftOutAsTheyAre) {
  ASSERT_EQ(night().code, 0);
  const std::string old = stores().front();
  {
    sqlite::Connection connection;
    ASSERT_EQ(connection.open(old, sqlite::Connection::Access::read_write_create), SQLITE_OK);
    ASSERT_EQ(connection.run("PRAGMA user_version = 12"), SQLITE_OK);
  }
  const std::string held = text_of(old);
  const auto next = night();
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_THAT(next.out, StartsWith("## small-night: first night, 6 of 6 cells solved\n"));
  EXPECT_THAT(next.err, HasSubstr("left out: " + old + ": written by an older Conebench (schema 12"));
  EXPECT_EQ(stores().size(), 2U);
  EXPECT_EQ(text_of(old), held);
}

TEST_F(NightlyCommand, WhatIsWrongIsOneLine) {
  expect_failure(conebench({"nightly", folder / "absent.json", "--stores", folder / "nights"}), 3, {"absent.json"});
  expect_failure(night({"--pin", folder / "absent.sqlite"}), 3, {"absent.sqlite", "no such store"});
  expect_failure(night({"--fail-on", "lots"}), 2, {"'lots'"});
}

TEST_F(NightlyCommand, HostileNamesLeaveTheSummaryAndItsFilesReadable) {
  std::string hostile = nightly_suite;
  hostile.replace(hostile.find("small-night"), 11, "=a|<b>*x*");
  write_suite(hostile);
  const std::string name = folder / "data/=1|<i>\n\"&'`.hdf5";
  std::filesystem::rename(file, name);
  const auto first = night();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("## =a\\|&lt;b&gt;\\*x\\*: "));
  std::filesystem::resize_file(name, 1000);
  const auto second = night();
  EXPECT_EQ(second.code, 1) << second.err;
  EXPECT_THAT(second.out, HasSubstr("=1\\|&lt;i&gt; \"&amp;'\\`"));
  for (const char* raw : {"<b>", "<i>", "|<"}) EXPECT_THAT(second.out, ::testing::Not(HasSubstr(raw)));
  if (!python_has("xml.dom.minidom")) GTEST_SKIP() << "no Python";
  const auto read = python(
      "import json, pathlib, sys, xml.dom.minidom\n"
      "night = next(pathlib.Path(sys.argv[1]).glob('*/night.xml'))\n"
      "tests = xml.dom.minidom.parse(str(night)).getElementsByTagName('testcase')\n"
      "assert any('=1|<i> \"&' in test.toxml().replace('&lt;', '<').replace('&gt;', '>').replace('&quot;', "
      "'\"').replace('&amp;', '&') for test in tests), [test.toxml() for test in tests]\n"
      "json.loads((night.parent / 'comparison.json').read_text(encoding='utf-8'))\n"
      "json.loads((pathlib.Path(sys.argv[1]) / 'history/history.json').read_text(encoding='utf-8'))\n",
      {folder / "nights"});
  EXPECT_EQ(read.code, 0) << read.err;
}

TEST_F(NightlyCommand, ANightThatBrokeIsNoBaselineThoughTheGateGaveItsExitCode) {
  ASSERT_EQ(night().code, 0);
  const std::string good = std::filesystem::path(stores().front()).filename().string();
  std::filesystem::resize_file(file, 1000);
  for (int again = 0; again < 2; ++again) {
    const auto broken = night();
    EXPECT_EQ(broken.code, 1);
    EXPECT_THAT(broken.out, HasSubstr(good)) << "the second too is compared with the last good night";
  }
}

TEST_F(NightlyCommand, WhereEveryNightBreaksNightsAreComparedAllTheSame) {
  std::filesystem::resize_file(file, 1000);
  EXPECT_EQ(night().code, 4);
  const auto second = night();
  EXPECT_EQ(second.code, 4) << second.out;
  EXPECT_THAT(second.out, HasSubstr("something broke in it"));
}

TEST_F(NightlyCommand, AnEditOfTheLimitsEndsOneNightWithFiveAndTheNextIsComparedWithIt) {
  ASSERT_EQ(night().code, 0);
  std::string edited = nightly_suite;
  edited.replace(edited.find("2000,"), 5, "1900,");
  write_suite(edited);
  const auto after = night();
  EXPECT_EQ(after.code, 5) << after.out << after.err;
  const auto next = night();
  EXPECT_EQ(next.code, 0) << next.out << next.err;
  EXPECT_THAT(next.out, Not(HasSubstr("broke")));
}

TEST_F(NightlyCommand, ADamagedPinIsReportedBeforeAnythingIsRun) {
  std::ofstream(folder / "pin.sqlite") << "no store";
  expect_failure(night({"--pin", folder / "pin.sqlite"}), 3, {"pin.sqlite"});
  EXPECT_THAT(stores(), ::testing::IsEmpty());
}

TEST_F(NightlyCommand, ALossIsReportedThoughThePagesCannotBeWrittenAndAgainWhenTheNightIsJudged) {
  ASSERT_EQ(with_mode("none").code, 0);
  std::filesystem::remove_all(folder / "nights/history");
  std::ofstream(folder / "nights/history") << "in the way";
  const auto lost = with_mode("nan");
  EXPECT_EQ(lost.code, 3) << lost.err;
  EXPECT_THAT(lost.out, HasSubstr("lost"));
  std::filesystem::remove(folder / "nights/history");
  const auto judged = with_mode("none");
  EXPECT_EQ(judged.code, 1) << "nothing is run: " << judged.out;
  EXPECT_THAT(judged.out, HasSubstr("lost"));
  EXPECT_EQ(stores().size(), 2U);
}

TEST_F(NightlyCommand, ANightInWhichEveryCellCrashedSwallowsNoLoss) {
  ASSERT_EQ(with_mode("none", "").code, 0);
  const auto crashed = with_mode("segfault", "");
  EXPECT_EQ(crashed.code, 1) << crashed.out << crashed.err;
  const auto unsolved = with_mode("nan", "");
  EXPECT_EQ(unsolved.code, 1) << unsolved.out << unsolved.err;
  EXPECT_THAT(unsolved.out, HasSubstr("lost"));
}

TEST_F(NightlyCommand, WhatCrashesOnAFirstNightIsNotNewUnlessAllOfIt) {
  const auto some = with_mode("segfault");
  EXPECT_EQ(some.code, 0) << some.out << some.err;
  EXPECT_THAT(some.out, HasSubstr("2 crashed or out of memory"));
  std::filesystem::remove_all(folder / "nights");
  EXPECT_EQ(with_mode("segfault", "").code, 4);
}

TEST_F(NightlyCommand, AFirstNightAtItsLimitsIsANightAndSaysSo) {
  write_suite(R"({"name": "small-night", "problems": [{"scene": "sliding-box"}], "solvers": ["MISBEHAVE"],
      "tolerances": [1e-6], "limits": {"seconds": 0.1}, "repeats": {"min": 1, "min_ms": 0, "max": 1}})");
  const auto hung = conebench({"nightly", folder / "night.json", "--stores", folder / "nights"},
                              with_test_solvers({"CONEBENCH_TEST_MODE=hang"}));
  EXPECT_EQ(hung.code, 0) << hung.out << hung.err;
  EXPECT_THAT(hung.out, HasSubstr("first night, 0 of 1 cell solved (1 timeout)"));
}

TEST_F(NightlyCommand, AKillFromOutsideIsNotMissingAndTheNextCallGoesOn) {
  ASSERT_EQ(with_mode("none").code, 0);
  const std::string words = executable_with_test_solvers().string() + " nightly '" + (folder / "night.json") +
                            "' --stores '" + (folder / "nights") + "'";
  const auto killed = run_program({"sh", "-c",
                                   "export CONEBENCH_TEST_SOLVERS=1 CONEBENCH_TEST_MODE=hang; " + words +
                                       " & main=$!; (while :; do"
                                       " for worker in $(cat /proc/$main/task/$main/children); do"
                                       " for cell in $(cat /proc/$worker/task/$worker/children); do kill -9 $cell;"
                                       " done; done; sleep 0.05; done) 2>/dev/null & killer=$!;"
                                       " wait $main; code=$?; kill $killer; exit $code"});
  EXPECT_EQ(killed.code, 4) << killed.out << killed.err;
  EXPECT_THAT(killed.err, HasSubstr("goes on"));
  const auto next = with_mode("none");
  EXPECT_EQ(next.code, 0) << next.out << next.err;
  EXPECT_EQ(stores().size(), 2U);
}

TEST_F(NightlyCommand, ALostProblemFailsTheNightAndStandsInTheHistoryOfAll) {
  const auto first = with_mode("none");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("history/index.html"));
  const auto second = with_mode("nan");
  EXPECT_EQ(second.code, 1) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("lost"));
  EXPECT_EQ(with_mode("nan").code, 1) << "and stands";
  const auto history = conebench({"history", folder / "nights", "--json"}).json();
  const auto& changes = history["suites"][0]["cell_changes"];
  ASSERT_EQ(changes.size(), 1U) << changes;
  EXPECT_EQ(changes[0]["lost"].size(), 2U);
  EXPECT_EQ(changes[0]["night"], 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "nights/history/index.html"));
}

TEST_F(NightlyCommand, ASecondRunnerOfOneFolderIsRefused) {
  write_suite(R"({"name": "small-night", "problems": [{"scene": "sliding-box"}], "solvers": ["MISBEHAVE"],
    "tolerances": [1e-6], "limits": {"iterations": 10, "seconds": 600, "memory_mb": 2000}})");
  const std::string words = executable_with_test_solvers().string() + " nightly '" + (folder / "night.json") +
                            "' --stores '" + (folder / "nights") + "'";
  const auto outcome = run_program({"sh", "-c",
                                    "export CONEBENCH_TEST_SOLVERS=1 CONEBENCH_TEST_MODE=hang; " + words +
                                        " >/dev/null 2>&1 & first=$!; while [ ! -s '" +
                                        (folder / "nights/nightly.lock") + "' ]; do kill -0 $first || exit 99; done; " +
                                        words + "; code=$?; kill $first; wait $first; exit $code"});
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("nightly"));
}

TEST_F(NightlyCommand, AFullDiskOrAFolderWithoutProblemsIsNeverZero) {
  const std::string words = executable().string() + " nightly '" + (folder / "night.json") + "' --stores '" +
                            (folder / "nights") + "' --data '" + (folder / "data") + "'";
  const auto full = run_program({"sh", "-c", "trap '' XFSZ; ulimit -f 40; " + words});
  EXPECT_EQ(full.code, 3) << full.out << full.err;
  std::filesystem::remove(file);
  const auto without = night();
  EXPECT_EQ(without.code, 3);
  EXPECT_THAT(without.err, HasSubstr("*.hdf5"));
}

TEST_F(NightlyCommand, OfAMeasuredStoreTheLogOfAKilledRunCountsToo) {
  namespace fs = std::filesystem;
  const std::string held = folder / "held.sqlite", measured = folder / "measured.sqlite";
  std::vector<std::string> run = {"run", folder / "night.json", "--data", folder / "data", "--db", held};
  const auto times = [](const std::string& store) {
    std::vector<std::string> rows;
    sqlite::Connection connection;
    EXPECT_EQ(connection.open(store, sqlite::Connection::Access::read_only), SQLITE_OK);
    auto query = connection.prepare("SELECT key || ' ' || total_minimum_s FROM cells ORDER BY key");
    while (query.step() == SQLITE_ROW) rows.push_back(query.text(0));
    return rows;
  };
  std::vector<std::string> part = run;
  part.insert(part.end(), {"--filter", "solver=CASCADE"});
  ASSERT_EQ(conebench(part).code, 0);
  {
    // Who reads keeps the writer from copying its log into the file.
    sqlite::Connection reader;
    ASSERT_EQ(reader.open(held, sqlite::Connection::Access::read_only), SQLITE_OK);
    ASSERT_EQ(reader.run("BEGIN; SELECT count(*) FROM cells"), SQLITE_OK);
    ASSERT_EQ(conebench(run).code, 0);
    for (const char* ending : {"", "-wal"}) fs::copy_file(held + ending, measured + ending);
  }
  ASSERT_EQ(times(measured).size(), 6U);
  const auto judged = night({"--measured", measured});
  EXPECT_EQ(judged.code, 0) << judged.err;
  ASSERT_EQ(stores().size(), 1U);
  EXPECT_EQ(times(stores()[0]), times(measured)) << "nothing was run again";
}

}  // namespace
}  // namespace conebench::testing
