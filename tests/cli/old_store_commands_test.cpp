#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/run_command_fixture.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Stores that builds of their time wrote (tests/store/old_stores_test.cpp has what is in them).
class OldStoreCommands : public RunCommand, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    const std::string name = "schema_" + std::to_string(GetParam()) + ".sqlite";
    fs::copy_file(fs::path(CONEBENCH_SOURCE_DIR "/tests/store/old_stores") / name, folder / "old.sqlite");
    write("old.json", query("old.sqlite", "SELECT CAST(suite_text AS BLOB) FROM runs").at(0));
  }
  long ask(const std::string& store, const std::string& sql) { return std::stol(query(store, sql).at(0)); }
};

TEST_P(OldStoreCommands, ReportCompareMergeAndRunTakeThem) {
  const std::string old = folder / "old.sqlite";
  const long cells = ask("old.sqlite", "SELECT count(*) FROM cells");
  ASSERT_GE(cells, 8);

  const auto report = conebench({"report", old, "--out", folder / "report", "--format", "csv,html"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("old-store at 1e-4"));
  EXPECT_EQ(std::ranges::count(text_of(folder / "report/cells.csv"), '\n'), cells + 1);
  EXPECT_EQ(ask("old.sqlite", "PRAGMA user_version"), GetParam()) << "reading leaves it alone";

  ASSERT_EQ(conebench({"run", folder / "old.json", "--db", folder / "new.sqlite"}).code, 0);
  const auto compared = conebench({"compare", old, folder / "new.sqlite", "--fail-on", "none", "--json"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(compared.json()["compared"], cells) << "each cell has its partner";

  const auto merged = conebench({"merge", old, "--out", folder / "merged.sqlite"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(ask("merged.sqlite", "SELECT count(*) FROM cells"), cells);

  // The verdict's version has gone up since then: every cell runs again.
  const auto resumed = conebench({"run", folder / "old.json", "--db", old, "--allow-mixed", "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["cells_stored_before"], 0);
  EXPECT_EQ(resumed.json()["cells_run_now"], cells);
  EXPECT_EQ(ask("old.sqlite", "PRAGMA user_version"), ask("new.sqlite", "PRAGMA user_version"));
  EXPECT_EQ(query("old.sqlite", "SELECT DISTINCT data_sets FROM runs"), std::vector<std::string>{"{}"});
}

INSTANTIATE_TEST_SUITE_P(Schema, OldStoreCommands, ::testing::Values(5, 8, 9));

}  // namespace
}  // namespace conebench::testing
