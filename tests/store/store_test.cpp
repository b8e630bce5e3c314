#include "store/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "store/json.hpp"
#include "store/merge.hpp"
#include "store/sqlite.hpp"
#include "tests/store/records_text.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

using conebench::testing::new_store;
using conebench::testing::sample_cell;
using conebench::testing::sample_configuration;
using conebench::testing::sample_problem;
using conebench::testing::sample_run;
using conebench::testing::ScratchFolder;
using conebench::testing::write_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Runs SQL on a file from outside the store.
void change(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

std::string shell(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  return pclose(pipe) == 0 ? output : "failed: " + command;
}

std::string open_error(const std::filesystem::path& file, Store::Mode mode) {
  auto store = Store::open(file, mode);
  if (store) return "no error";
  EXPECT_EQ(store.error().code, ErrorCode::bad_input);
  EXPECT_THAT(store.error().message, Not(HasSubstr("\n")));
  return store.error().message;
}

/// NaN equals NaN, bit by bit.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

TEST(Store, RecordsComeBackAsTheyWereAfterReopening) {
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  auto problem = sample_problem("p1");
  problem.conditioning = 1e17;
  problem.features_estimated = true;
  problem.zero_impulse = {{"natural_map_scaled", 0.25}};
  problem.copies = {"b.hdf5", "c, d.hdf5"};
  problem.duplicate_of = "p0";
  problem.feasibility.certificate = {0.0, 1.0 / 3.0, -1e-300};
  problem.feasibility.verdict_bound = 1.0 / 3.0;
  const auto configuration = sample_configuration("s1");
  auto cell = sample_cell("k1");
  auto run = sample_run();
  {
    auto store = Store::open(file, Store::Mode::read_write);
    ASSERT_TRUE(store) << store.error().message;
    const auto id = store->begin_run(run);
    ASSERT_TRUE(id) << id.error().message;
    run.id = cell.run_id = cell.timed_rounds[0].run_id = *id;
    ASSERT_TRUE(store->put_problem(problem));
    ASSERT_TRUE(store->put_configuration(configuration));
    ASSERT_TRUE(store->put_cell(cell));
    run.finished_utc = "2024-05-01T03:00:00Z";
    ASSERT_TRUE(store->finish_run(run));
  }
  auto store = Store::open(file, Store::Mode::read_only);
  ASSERT_TRUE(store) << store.error().message;
  const auto contents = store->read(true);
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->cells.size(), 1U);
  // Every field is in the JSON of its record, so equal JSON means equal records.
  EXPECT_TRUE(contents->cells[0].answer_crc);
  cell.answer_crc = contents->cells[0].answer_crc;
  EXPECT_EQ(to_json(contents->runs.at(0)), to_json(run));
  EXPECT_EQ(to_json(contents->problems.at(0)), to_json(problem));
  EXPECT_EQ(to_json(contents->configurations.at(0)), to_json(configuration));
  EXPECT_EQ(to_json(contents->cells.at(0)), to_json(cell));
  EXPECT_EQ(contents->runs[0].seed, run.seed);
  EXPECT_TRUE(same_bits(contents->cells[0].reaction, cell.reaction));
  EXPECT_EQ(contents->cells[0].residuals.at("penetration").missing, "no gaps are known");
  const auto lazy = store->read();
  ASSERT_TRUE(lazy);
  EXPECT_TRUE(lazy->cells[0].reaction.empty());
  const auto reaction = store->reaction("k1");
  ASSERT_TRUE(reaction && reaction->has_value());
  EXPECT_TRUE(same_bits(**reaction, cell.reaction));
  EXPECT_FALSE(store->reaction("unknown")->has_value());
}

TEST(Store, ACellWithoutAnswerIsNotSolvedWhoeverWroteIt) {
  const ScratchFolder folder;
  Store store = new_store(folder / "store.sqlite");
  ProblemRecord empty = sample_problem("p0");
  empty.rows = 0;
  ASSERT_TRUE(store.put_problem(empty));
  CellRecord cell = sample_cell("k1");
  cell.reaction.clear();
  ASSERT_TRUE(store.put_cell(cell));
  cell.key = "k0";
  cell.problem = "p0";
  ASSERT_TRUE(store.put_cell(cell));
  ASSERT_TRUE(store.put_cell(sample_cell("k2")));
  for (const bool with_residuals : {true, false}) {
    const auto contents = with_residuals ? store.read() : store.read_outcomes();
    ASSERT_TRUE(contents);
    ASSERT_EQ(contents->cells.size(), 3U);
    const CellRecord& without = contents->cells[0];
    EXPECT_FALSE(without.solved);
    EXPECT_FALSE(without.claimed);
    EXPECT_FALSE(without.verdict_value);
    EXPECT_TRUE(without.residuals.empty());
    EXPECT_EQ(without.status, CellStatus::crashed);
    EXPECT_TRUE(contents->cells[1].solved) << "a problem without rows has no answer to store";
    EXPECT_TRUE(contents->cells[2].solved);
  }
}

TEST(Store, ACellWithAnAnswerOfAnotherLengthIsNotSolved) {
  const ScratchFolder folder;
  {
    Store store = new_store(folder / "store.sqlite");
    for (const std::size_t rows : {11U, 12U, 13U}) {
      CellRecord cell = sample_cell("k" + std::to_string(rows));
      cell.reaction.resize(rows, 0.5);
      ASSERT_TRUE(store.put_cell(cell));
    }
  }
  const std::vector<std::filesystem::path> sources = {folder / "store.sqlite"};
  ASSERT_TRUE(merge_stores(sources, folder / "merged.sqlite"));
  for (const char* name : {"store.sqlite", "merged.sqlite"}) {
    const auto store = Store::open(folder / name, Store::Mode::read_only);
    ASSERT_TRUE(store);
    const auto contents = store->read();
    ASSERT_TRUE(contents);
    for (const CellRecord& cell : contents->cells) {
      EXPECT_EQ(cell.solved, cell.key == "k12") << name << ' ' << cell.key;
      EXPECT_EQ(cell.status, cell.key == "k12" ? CellStatus::converged : CellStatus::crashed) << name;
    }
  }
  sqlite::Connection merged;
  ASSERT_EQ(merged.open(folder / "merged.sqlite", sqlite::Connection::Access::read_only), SQLITE_OK);
  EXPECT_EQ(merged.ask("SELECT count(*) FROM cells WHERE solved"), 1) << "for who asks the file itself";
}

TEST(Store, OutcomesAreAllThatIsReadButTheResiduals) {
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  auto store = new_store(file);
  ASSERT_TRUE(store.put_cell(sample_cell("k1")));
  auto all = store.read();
  const auto outcomes = store.read_outcomes();
  ASSERT_TRUE(all && outcomes);
  ASSERT_FALSE(all->cells.at(0).residuals.empty());
  for (auto& cell : all->cells) cell.residuals.clear();
  EXPECT_EQ(testing::records_text(*outcomes), testing::records_text(*all));
}

TEST(Store, WhatASuiteAskedForIsReadOfItsLastRunWhereOthersSayTheSame) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  for (const auto& [suite, scope] : {std::pair{"a", "{}"}, {"a", "{1}"}, {"b", "{1}"}, {"a", "{1}"}, {"a", ""}}) {
    RunRecord run = sample_run();
    run.suite_name = suite;
    run.scope_json = scope;
    ASSERT_TRUE(store.begin_run(run));
  }
  std::vector<std::string> scopes;
  const auto stored = store.read();
  for (const RunRecord& run : stored->runs) scopes.push_back(run.scope_json);
  EXPECT_EQ(scopes, (std::vector<std::string>{"", "{}", "", "{1}", "{1}", ""}));
}

TEST(Store, NumbersThatAreNotFiniteAreNull) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  auto cell = sample_cell("k1");
  cell.verdict_value = std::numeric_limits<double>::infinity();
  cell.own_residual = std::nan("");
  cell.residuals.set("dual", {-std::numeric_limits<double>::infinity(), "", 0});
  ASSERT_TRUE(store.put_cell(cell));
  const auto contents = store.read();
  ASSERT_TRUE(contents);
  EXPECT_FALSE(contents->cells[0].verdict_value.has_value());
  EXPECT_TRUE(std::isnan(contents->cells[0].own_residual));
  EXPECT_FALSE(contents->cells[0].residuals.at("dual").value.has_value());
  const nlohmann::json json = to_json(contents->cells[0]);
  EXPECT_TRUE(json["verdict_value"].is_null());
  EXPECT_TRUE(json["own_residual"].is_null());
}

TEST(Store, ACellWithTheSameKeyIsReplacedInItsPlace) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  ASSERT_TRUE(store.put_cell(sample_cell("k1")));
  ASSERT_TRUE(store.put_cell(sample_cell("k2")));
  auto again = sample_cell("k1");
  again.status = CellStatus::crashed;
  again.reason = "signal 11";
  again.residuals.clear();
  again.reaction.clear();
  ASSERT_TRUE(store.put_cell(again));
  const auto states = store.cell_states();
  ASSERT_TRUE(states);
  using State = std::pair<std::string, std::string>;
  EXPECT_THAT(*states, ::testing::ElementsAre(State("k1", "crashed"), State("k2", "converged")));
  const auto contents = store.read(true);
  ASSERT_TRUE(contents);
  EXPECT_TRUE(contents->cells[0].residuals.empty());
  EXPECT_TRUE(contents->cells[0].reaction.empty());
  EXPECT_EQ(contents->cells[1].residuals.size(), 2U);
}

TEST(Store, ANewJudgementLeavesTheAnswerAndTheTimesAlone) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  const auto cell = sample_cell("k1");
  ASSERT_TRUE(store.put_cell(cell));
  auto judged = cell;
  judged.solved = false;
  judged.verdict_value = 0.5;
  judged.residuals.clear();
  judged.residuals.set("dual", {0.5, "", 1});
  judged.iterations = 9999;
  judged.reaction.clear();
  ASSERT_TRUE(store.update_judgement(judged));
  const auto contents = store.read(true);
  ASSERT_TRUE(contents);
  const auto& stored = contents->cells.at(0);
  EXPECT_FALSE(stored.solved);
  EXPECT_EQ(stored.verdict_value, 0.5);
  EXPECT_EQ(stored.residuals.size(), 1U);
  EXPECT_EQ(stored.iterations, cell.iterations);
  EXPECT_TRUE(same_bits(stored.reaction, cell.reaction));
}

TEST(Store, NewTimesReplaceTimesAndNumbersOfRunsAlone) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  const CellRecord cell = sample_cell("k1");
  ASSERT_TRUE(store.put_cell(cell));
  CellRecord timed;
  timed.key = "k1";
  timed.run_id = cell.run_id;
  timed.setup = {.cold = 1.0, .minimum = 0.5, .median = 0.75, .deviation = 0.25};
  timed.total.median = 2.0;
  timed.repeats = 12;
  timed.rounds = 3;
  timed.timed_rounds = {{1, cell.run_id, 1.5, 1.6, 0.5, 7}, {3, cell.run_id, 1.9, 2.0, std::nullopt, std::nullopt}};
  ASSERT_TRUE(store.update_times(timed));
  const auto contents = store.read(true);
  ASSERT_TRUE(contents);
  const CellRecord& stored = contents->cells.at(0);
  EXPECT_EQ(stored.setup.cold, 1.0);
  EXPECT_EQ(stored.setup.deviation, 0.25);
  EXPECT_EQ(stored.total.median, 2.0);
  ASSERT_EQ(stored.timed_rounds.size(), 2U);
  EXPECT_EQ(stored.timed_rounds[0].switches, 7);
  EXPECT_EQ(stored.timed_rounds[1].round, 3);
  EXPECT_EQ(stored.timed_rounds[1].minimum, 1.9);
  EXPECT_FALSE(stored.timed_rounds[1].cpu_share);
  EXPECT_EQ(stored.repeats, 12);
  EXPECT_EQ(stored.rounds, 3);
  EXPECT_EQ(stored.status, cell.status);
  EXPECT_EQ(stored.solved, cell.solved);
  EXPECT_EQ(stored.residuals.size(), cell.residuals.size());
  EXPECT_TRUE(same_bits(stored.reaction, cell.reaction));
  timed.key = "nowhere";
  EXPECT_FALSE(store.update_times(timed));
}

TEST(Store, ARecordThatRefersToNothingIsRefusedAndLeavesNoTrace) {
  const ScratchFolder folder;
  auto store = new_store(folder / "a.sqlite");
  auto cell = sample_cell("k1");
  cell.problem = "nowhere";
  const auto put = store.put_cell(cell);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::internal);
  EXPECT_THAT(put.error().message, AllOf(HasSubstr("a.sqlite"), HasSubstr("k1"), HasSubstr("FOREIGN KEY")));
  EXPECT_TRUE(store.read()->cells.empty());
  EXPECT_FALSE(store.update_judgement(cell));
  EXPECT_TRUE(store.put_cell(sample_cell("k1"))) << "a failed call must not damage the next";
}

TEST(Store, AStoreOpenedToReadCannotBeWritten) {
  const ScratchFolder folder;
  { new_store(folder / "a.sqlite"); }
  auto store = Store::open(folder / "a.sqlite", Store::Mode::read_only);
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->put_cell(sample_cell("k1")));
}

TEST(Store, ATraceComesBackInSinglePrecisionAndGoesAlone) {
  const ScratchFolder folder;
  auto cell = sample_cell("k1");
  cell.trace = {{1.0, 1.0 / 3.0, TracePoint::unknown, std::numeric_limits<double>::infinity()},
                {20000.0, 0.5, 0.1, 1e-9}};
  {
    auto store = new_store(folder / "a.sqlite");
    ASSERT_TRUE(store.put_cell(cell));
    const auto trace = store.read()->cells.at(0).trace;
    ASSERT_EQ(trace.size(), 2U);
    EXPECT_EQ(trace[0].seconds, static_cast<double>(static_cast<float>(1.0 / 3.0)));
    EXPECT_TRUE(std::isnan(trace[0].own_residual));
    EXPECT_TRUE(std::isinf(trace[0].residual));
    EXPECT_EQ(trace[1].iteration, 20000.0);
    EXPECT_TRUE(store.read_outcomes()->cells.at(0).trace.empty());
    ASSERT_TRUE(store.drop_trace("k1"));
    ASSERT_TRUE(store.drop_trace("none such"));
  }
  auto store = Store::open(folder / "a.sqlite", Store::Mode::read_only);
  const auto read = store->read(true);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->cells.at(0).trace.empty());
  EXPECT_TRUE(same_bits(read->cells.at(0).reaction, cell.reaction));
}

TEST(Store, ALostOrDamagedTraceIsNoticed) {
  for (const char* sql : {"DELETE FROM traces", "UPDATE traces SET data = zeroblob(length(data))"}) {
    const ScratchFolder folder;
    {
      auto store = new_store(folder / "a.sqlite");
      ASSERT_TRUE(store.put_cell(sample_cell("k1")));
    }
    change(folder / "a.sqlite", sql);
    auto store = Store::open(folder / "a.sqlite", Store::Mode::read_only);
    const auto read = store->read();
    ASSERT_FALSE(read) << sql;
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
    EXPECT_TRUE(store->read_outcomes()) << "does not need it";
  }
}

TEST(Store, ADamagedAnswerIsAnErrorThatNamesTheCell) {
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  {
    auto store = new_store(file);
    ASSERT_TRUE(store.put_cell(sample_cell("k1")));
  }
  change(file, "UPDATE reactions SET data = CAST(substr(data, 1, length(data) - 1) || x'00' AS BLOB)");
  auto store = Store::open(file, Store::Mode::read_only);
  ASSERT_TRUE(store);
  const auto read = store->read(true);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("k1"), HasSubstr("checksum")));
  EXPECT_FALSE(store->reaction("k1"));
  EXPECT_TRUE(store->read(false));
  change(file, "UPDATE reactions SET length = 1000000000000");
  EXPECT_FALSE(store->reaction("k1"));
  EXPECT_FALSE(store->read(false)) << "what tells answers apart is in the cell's checksum";
  change(file, "UPDATE reactions SET data = x'00'");
  EXPECT_FALSE(store->reaction("k1"));
}

TEST(StoreOpen, RefusesWhatIsNoStoreInOneLine) {
  const ScratchFolder folder;
  for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    EXPECT_THAT(open_error(folder.path(), mode), AllOf(HasSubstr(folder.path().string()), HasSubstr("folder")));
    write_text(folder / "text", "these are not the bytes of a database, but there are enough of them to look at");
    EXPECT_THAT(open_error(folder / "text", mode), AllOf(HasSubstr("text"), HasSubstr("no SQLite file")));
    change(folder / "other.db", "CREATE TABLE IF NOT EXISTS t (x)");
    EXPECT_THAT(open_error(folder / "other.db", mode), HasSubstr("another program"));
    EXPECT_THAT(open_error("/dev/null", mode), HasSubstr("no regular file"));
  }
  EXPECT_THAT(shell("sqlite3 '" + (folder / "other.db").string() + "' 'PRAGMA journal_mode'"), HasSubstr("delete"))
      << "a refused file must stay as it is";
  EXPECT_THAT(open_error(folder / "absent", Store::Mode::read_only), HasSubstr("no such file"));
  EXPECT_THAT(open_error(folder / "absent/a.sqlite", Store::Mode::read_write), HasSubstr("there is no folder"));
}

TEST(StoreOpen, AnEmptyFileIsNoStoreToReadButMayBeWritten) {
  const ScratchFolder folder;
  const auto file = folder / "empty";
  write_text(file, "");
  EXPECT_THAT(open_error(file, Store::Mode::read_only), HasSubstr("empty"));
  // What a run leaves that was killed between making the file and its tables.
  change(folder / "blank", "PRAGMA journal_mode = WAL");
  EXPECT_THAT(open_error(folder / "blank", Store::Mode::read_only), HasSubstr("nothing was stored"));
  for (const auto* name : {"empty", "blank"}) {
    auto store = new_store(folder / name);
    EXPECT_TRUE(store.put_cell(sample_cell("k1"))) << name;
  }
}

TEST(StoreOpen, ANewerSchemaIsRefused) {
  const ScratchFolder folder;
  { new_store(folder / "a.sqlite"); }
  change(folder / "a.sqlite", "PRAGMA user_version = 1000");
  for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    EXPECT_THAT(open_error(folder / "a.sqlite", mode), AllOf(HasSubstr("newer Conebench"), HasSubstr("1000")));
  }
}

TEST(StoreOpen, NamesWithSpecialCharactersAreJustNames) {
  const ScratchFolder folder;
  const auto file = folder / "100% of #1? λ & mode=ro.sqlite";
  { new_store(file); }
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(Store::open(file, Store::Mode::read_only));
}

/// Acts as a user without rights on the files of the test, where the test runs as root.
class Unprivileged {
 public:
  Unprivileged() : changed_(geteuid() == 0 && seteuid(65534) == 0) {}
  ~Unprivileged() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool changed_;
};

TEST(StoreOpen, AReadOnlyFileInAReadOnlyFolderCanBeReadAndNotWritten) {
  namespace fs = std::filesystem;
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  { ASSERT_TRUE(new_store(file).put_cell(sample_cell("k1"))); }
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const Unprivileged user;
    EXPECT_THAT(open_error(file, Store::Mode::read_write), HasSubstr("read-only"));
    auto store = Store::open(file, Store::Mode::read_only);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(store->read()->cells.size(), 1U);
    EXPECT_THAT(open_error(folder / "new.sqlite", Store::Mode::read_write),
                AllOf(HasSubstr("cannot be created"), HasSubstr("is read-only; make it writable")));
  }
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST(Store, CanBeReadWhileItIsWritten) {
  const ScratchFolder folder;
  auto writer = new_store(folder / "a.sqlite");
  ASSERT_TRUE(writer.put_cell(sample_cell("k1")));
  auto reader = Store::open(folder / "a.sqlite", Store::Mode::read_only);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->read()->cells.size(), 1U);
  ASSERT_TRUE(writer.put_cell(sample_cell("k2")));
  EXPECT_EQ(reader->read()->cells.size(), 2U);
}

TEST(Store, TheCommandLineToolOfSqliteReadsIt) {
  if (std::system("command -v sqlite3 >/dev/null") != 0) GTEST_SKIP() << "sqlite3 is not installed";
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  {
    auto store = new_store(file);
    ASSERT_TRUE(store.put_cell(sample_cell("k1")));
  }
  const auto ask = [&](const std::string& sql) { return shell("sqlite3 '" + file.string() + "' \"" + sql + "\""); };
  EXPECT_EQ(ask("SELECT family, problem, solver, status, solved, iterations FROM results"),
            "box-stack|stack-p1|NSGS(order=shuffled)|converged|1|57\n");
  EXPECT_EQ(ask("SELECT name, value IS NULL, worst_block FROM residuals ORDER BY name"),
            "natural_map_scaled|0|2\npenetration|1|-1\n");
  EXPECT_EQ(ask("SELECT json_extract(build_libraries, '$.eigen') FROM runs"), "3.4.0\n");
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(ask("PRAGMA foreign_key_check"), "");
}

TEST(Store, PythonUnpacksAnAnswerWithItsStandardLibrary) {
  if (std::system("/usr/bin/python3 -c 'import sqlite3' 2>/dev/null") != 0) GTEST_SKIP() << "no system Python";
  const ScratchFolder folder;
  const auto file = folder / "a.sqlite";
  {
    auto store = new_store(file);
    ASSERT_TRUE(store.put_cell(sample_cell("k1")));
  }
  const std::string script =
      "import sqlite3, struct, sys, zlib\n"
      "n, crc, data = sqlite3.connect(sys.argv[1]).execute('SELECT length, crc32, data FROM reactions').fetchone()\n"
      "raw = zlib.decompress(data)\n"
      "assert len(raw) == n and zlib.crc32(raw) == crc\n"
      "print(struct.unpack('<%dd' % (n // 8), raw))\n";
  write_text(folder / "read.py", script);
  EXPECT_EQ(shell("/usr/bin/python3 '" + (folder / "read.py").string() + "' '" + file.string() + "'"),
            "(0.0, -1.5, nan, inf, 1e-308, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)\n");
}

}  // namespace
}  // namespace conebench
