#include "store/store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "store/blob.hpp"
#include "store/certificates.hpp"
#include "store/schema.hpp"
#include "store/store_statements.hpp"
#include "store/unanswered.hpp"

namespace conebench {

namespace {

using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;

/// Writes between two syncs to the disk. Each write reaches the kernel at once, so a kill loses nothing. A sync takes
/// milliseconds, as long as many solves. This number bounds the loss by a power cut (store.hpp).
constexpr int writes_per_sync = 16;

/// Device and inode of the file at a path, zero where there is none.
std::pair<dev_t, ino_t> identity_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace

struct Store::Database {
  explicit Database(Connection opened, bool writable) : connection(std::move(opened)) {
    if (writable) writers.emplace(connection);
    identities[0] = identity_of(connection.file());
  }
  ~Database() {
    static_cast<void>(commit());
    // A reader that is still there would be the last to close, and leaves the log alone.
    if (writers) connection.run("PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /// Whether the files that SQLite has open are still found by their names.
  bool in_place() const {
    return identity_of(connection.file()) == identities[0] &&
           (!identities[1].second || identity_of(log_file()) == identities[1]);
  }
  std::filesystem::path log_file() const { return connection.file().string() + "-wal"; }

  int put_residuals(std::int64_t id, const CellRecord& cell) {
    if (const int code = writers->drop_residuals.bind(1, id).run(); code != SQLITE_OK) return code;
    for (const auto& [name, residual] : cell.residuals) {
      RowBinder binder(writers->put_residual.bind(1, id).bind(2, std::string_view(name)), 3);
      ResidualRecord::fields(binder, residual);
      if (const int code = writers->put_residual.run(); code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
  }

  int put_rounds(std::int64_t id, const CellRecord& cell) {
    if (const int code = writers->drop_rounds.bind(1, id).run(); code != SQLITE_OK) return code;
    for (const RoundRecord& round : cell.timed_rounds) {
      RowBinder binder(writers->put_round.bind(1, id), 2);
      RoundRecord::fields(binder, round);
      if (const int code = writers->put_round.run(); code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
  }

  static int put_packed(Statement& statement, std::int64_t id, const PackedBytes& packed) {
    return statement.bind(1, id)
        .bind(2, packed.length)
        .bind(3, static_cast<std::int64_t>(packed.crc32))
        .bind(4, std::span<const unsigned char>(packed.data))
        .run();
  }

  enum class Sync { now, in_turn };

  /// Runs `work` in a transaction. `doing`: the action that an error message names.
  template <class Work>
  Result<void> transact(const std::string& doing, Sync sync, Work work) {
    if (!writers) {
      return Error{ErrorCode::internal, connection.file().string() + ": " + doing + ": the store was opened to read"};
    }
    if (!open) {
      open_is_to_disk = limits.max_s > 0.0 || sync == Sync::now || ++writes_since_sync >= writes_per_sync;
      if (open_is_to_disk) {
        connection.run("PRAGMA synchronous = FULL");
        writes_since_sync = 0;
      }
      open.emplace(connection);
      opened_at = Clock::now();
      open_writes = 0;
    }
    int code = open->begun();
    if (code == SQLITE_OK) code = work();
    if (code != SQLITE_OK) {
      Error error = connection.error(doing, code);  // before another call replaces its reason
      roll_back();
      return error;
    }
    ++open_writes;
    return sync == Sync::in_turn && !due() ? Result<void>() : commit(doing);
  }

  void roll_back() {
    open.reset();
    if (open_is_to_disk) connection.run("PRAGMA synchronous = NORMAL");
  }

  bool due() const {
    return open && (open_writes >= limits.max_writes ||
                    std::chrono::duration<double>(Clock::now() - opened_at).count() >= limits.max_s);
  }

  Result<void> commit(const std::string& doing = "the newest cells cannot be stored") {
    if (!open) return {};
    int code = writers->next_state.run();
    if (code == SQLITE_OK) code = open->commit();
    Result<void> done;
    if (code != SQLITE_OK) done = connection.error(doing, code);
    roll_back();  // nothing, after a commit
    if (done && !identities[1].second) identities[1] = identity_of(log_file());
    if (done && !in_place()) {
      return Error{ErrorCode::bad_input,
                   connection.file().string() +
                       ": the file, or its -wal, was deleted, moved or replaced while it was written, so what was "
                       "stored is lost; find out by whom (a solver may do that, too) and run again"};
    }
    return done;
  }

  /// Puts a row whose `writer` returns its rowid.
  template <class Record>
  Result<void> put(const std::string& what, Sync sync, Statement Writers::*writer, const Record& record, Part part) {
    return transact(what + " cannot be stored", sync, [&] {
      Statement& statement = *writers.*writer;
      RowBinder binder(statement);
      Record::fields(binder, record);
      int code = SQLITE_OK;
      const auto rowid = run_for_id(statement, code);
      if (code == SQLITE_OK && !rowid) return SQLITE_INTERNAL;
      return code == SQLITE_OK ? writers->checksums.write(part, *rowid) : code;
    });
  }

  /// Replaces the Fields of the stored cell with `record`'s; `then` goes on with its id.
  template <class Fields, class Then>
  Result<void> update(const char* what, Statement Writers::*writer, const CellRecord& record, Then then) {
    bool found = true;
    auto done = transact(fmt::format("{} of cell {} cannot be stored", what, record.key), Sync::in_turn, [&] {
      Statement& statement = *writers.*writer;
      RowBinder binder(statement);
      Fields::fields(binder, record);
      int code = SQLITE_OK;
      const auto id = run_for_id(statement.bind(binder.next(), std::string_view(record.key)), code);
      found = id.has_value();
      if (code == SQLITE_OK && id) code = then(*id);
      return code == SQLITE_OK && id ? writers->checksums.write(Part::cells, *id) : code;
    });
    if (!done || found) return done;
    return Error{ErrorCode::internal, fmt::format("{}: there is no cell {} whose {} to replace",
                                                  connection.file().string(), record.key, what)};
  }

  Result<void> read_residuals(std::vector<CellRecord>& cells,
                              const std::unordered_map<std::int64_t, std::size_t>& index_of) const;
  Result<void> read_rounds(std::vector<CellRecord>& cells,
                           const std::unordered_map<std::int64_t, std::size_t>& index_of) const;
  Result<void> read_reactions(std::vector<CellRecord>& cells,
                              const std::unordered_map<std::int64_t, std::size_t>& index_of) const;
  Result<void> read_traces(std::vector<CellRecord>& cells,
                           const std::unordered_map<std::int64_t, std::size_t>& index_of) const;
  Result<StoreContents> read(bool with_residuals, bool with_reactions) const;
  /// In one view of the file, also while a run appends to it.
  Result<StoreContents> read_at_once(bool with_residuals, bool with_reactions);

  Error damaged(const std::string& what) const {
    return {ErrorCode::bad_input, fmt::format("{}: {} is damaged (its checksum does not match); run the cell again",
                                              connection.file().string(), what)};
  }

  Connection connection;
  std::optional<Writers> writers;
  using Clock = std::chrono::steady_clock;
  std::optional<Transaction> open;  ///< of the writes that are not committed
  bool open_is_to_disk = false;
  Clock::time_point opened_at;
  int open_writes = 0;
  Batch limits;
  int writes_since_sync = 0;
  std::array<std::pair<dev_t, ino_t>, 2> identities{};  ///< of the file and its log; the latter is made by a write
};

namespace {

/// Calls `row` for every row; SQLITE_OK or the code of what failed.
template <class Row>
int for_each_row(Statement& query, Row row) {
  int code = query.step();
  for (; code == SQLITE_ROW; code = query.step()) row();
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

template <class Record>
int read_table(const Connection& connection, const char* table, const char* order, std::vector<Record>& into) {
  Statement query = connection.prepare(select_sql(table, names_of<Record>(), order));
  return for_each_row(query, [&] {
    RowReader reader(query);
    Record::fields(reader, into.emplace_back());
  });
}

}  // namespace

Result<void> Store::Database::read_residuals(std::vector<CellRecord>& cells,
                                             const std::unordered_map<std::int64_t, std::size_t>& index_of) const {
  Statement query = connection.prepare("SELECT cell, name, value, missing, worst_block FROM residuals");
  std::size_t most = 0;  // that a cell has
  const int code = for_each_row(query, [&] {
    const auto found = index_of.find(query.integer(0));
    if (found == index_of.end()) return;
    ResidualList& residuals = cells[found->second].residuals;
    if (residuals.empty()) residuals.reserve(most);
    RowReader reader(query, 2);
    ResidualRecord residual;
    ResidualRecord::fields(reader, residual);
    residuals.set(query.text(1), residual);
    most = std::max(most, residuals.size());
  });
  if (code != SQLITE_OK) return connection.read_error(code);
  return {};
}

Result<void> Store::Database::read_rounds(std::vector<CellRecord>& cells,
                                          const std::unordered_map<std::int64_t, std::size_t>& index_of) const {
  Statement query = connection.prepare(select_sql("rounds", round_columns(), "cell, round"));
  const int code = for_each_row(query, [&] {
    const auto found = index_of.find(query.integer(0));
    if (found == index_of.end()) return;
    RowReader reader(query, 1);
    RoundRecord::fields(reader, cells[found->second].timed_rounds.emplace_back());
  });
  if (code != SQLITE_OK) return connection.read_error(code);
  return {};
}

Result<void> Store::Database::read_reactions(std::vector<CellRecord>& cells,
                                             const std::unordered_map<std::int64_t, std::size_t>& index_of) const {
  Statement query = connection.prepare("SELECT cell, length, crc32, data FROM reactions");
  Result<void> whole;
  const int code = for_each_row(query, [&] {
    const auto found = index_of.find(query.integer(0));
    if (found == index_of.end() || !whole) return;
    CellRecord& cell = cells[found->second];
    auto values = unpack_values(query.blob(3), query.integer(1), static_cast<std::uint32_t>(query.integer(2)));
    if (values) {
      cell.reaction = std::move(*values);
    } else {
      whole = damaged("the answer of cell " + cell.key);
    }
  });
  if (code != SQLITE_OK) return connection.read_error(code);
  return whole;
}

Result<void> Store::Database::read_traces(std::vector<CellRecord>& cells,
                                          const std::unordered_map<std::int64_t, std::size_t>& index_of) const {
  Statement query = connection.prepare("SELECT cell, length, crc32, data FROM traces");
  Result<void> whole;
  const int code = for_each_row(query, [&] {
    const auto found = index_of.find(query.integer(0));
    if (found == index_of.end() || !whole) return;
    CellRecord& cell = cells[found->second];
    const auto values = unpack_values(query.blob(3), query.integer(1), static_cast<std::uint32_t>(query.integer(2)));
    auto trace = values ? trace_of_values(*values) : std::nullopt;
    if (trace) {
      cell.trace = std::move(*trace);
    } else {
      whole = damaged("the trace of cell " + cell.key);
    }
  });
  if (code != SQLITE_OK) return connection.read_error(code);
  return whole;
}

Result<StoreContents> Store::Database::read(bool with_residuals, bool with_reactions) const {
  CONEBENCH_CHECK(RowChecksums(connection).check(with_residuals));
  StoreContents contents;
  Names run_names = names_of<RunRecord>();
  run_names.insert(run_names.begin(), "id");
  Statement runs = connection.prepare(select_sql("runs", run_names, "id"));
  std::map<std::string, std::size_t> scoped;  // by suite, its last run with a scope
  int code = for_each_row(runs, [&] {
    auto& run = contents.runs.emplace_back();
    run.id = runs.integer(0);
    RowReader reader(runs, 1);
    RunRecord::fields(reader, run);
    if (run.scope_json.empty()) return;
    // A megabyte in each of hundreds of shards: the last one says it for all.
    const auto [index, is_new] = scoped.try_emplace(run.suite_name, contents.runs.size() - 1);
    if (is_new) return;
    RunRecord& before = contents.runs[std::exchange(index->second, contents.runs.size() - 1)];
    if (before.scope_json == run.scope_json) std::string().swap(before.scope_json);  // gives its memory back
  });
  if (code == SQLITE_OK) code = read_table(connection, "problems", "rowid", contents.problems);
  if (code == SQLITE_OK) code = read_table(connection, "configurations", "rowid", contents.configurations);
  if (code == SQLITE_OK) code = read_table(connection, "acceptances", "id", contents.acceptances);

  std::unordered_map<std::int64_t, std::size_t> index_of;
  if (code == SQLITE_OK) {
    const Names names = names_of<CellRecord>();
    Statement count = connection.prepare("SELECT count(*) FROM cells");
    code = for_each_row(count, [&] { contents.cells.reserve(static_cast<std::size_t>(count.integer(0))); });
    Statement cells = connection.prepare(select_sql("cells", names, "id", ", id"));
    const int id_column = static_cast<int>(names.size());
    const auto take_cell = [&] {
      RowReader reader(cells);
      index_of.emplace(cells.integer(id_column), contents.cells.size());
      CellRecord::fields(reader, contents.cells.emplace_back());
    };
    if (code == SQLITE_OK) code = for_each_row(cells, take_cell);
    // One of another size was judged on no row of this problem.
    Statement answers = connection.prepare(
        "SELECT cell, crc32 FROM reactions JOIN cells ON cells.id = cell LEFT JOIN problems ON hash = problem "
        "WHERE rows IS NULL OR length = 8 * rows");
    const auto take_answer = [&] {
      const auto found = index_of.find(answers.integer(0));
      if (found != index_of.end())
        contents.cells[found->second].answer_crc = static_cast<std::uint32_t>(answers.integer(1));
    };
    if (code == SQLITE_OK) code = for_each_row(answers, take_answer);
  }
  if (code != SQLITE_OK) return connection.read_error(code);
  CONEBENCH_CHECK(read_rounds(contents.cells, index_of));
  if (with_residuals) CONEBENCH_CHECK(read_residuals(contents.cells, index_of));
  if (with_residuals) CONEBENCH_CHECK(read_traces(contents.cells, index_of));
  if (with_reactions) CONEBENCH_CHECK(read_reactions(contents.cells, index_of));
  clear_unanswered(contents);
  resolve_certificates(contents);
  return contents;
}

Result<StoreContents> Store::Database::read_at_once(bool with_residuals, bool with_reactions) {
  if (open) return read(with_residuals, with_reactions);
  if (const int code = connection.run("BEGIN"); code != SQLITE_OK) return connection.read_error(code);
  auto contents = read(with_residuals, with_reactions);
  connection.run("COMMIT");
  return contents;
}

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Result<Store> Store::open(const std::filesystem::path& file, Mode mode) {
  CONEBENCH_TRY(auto connection, open_store_file(file, mode == Mode::read_write));
  return Store(std::make_unique<Database>(std::move(connection), mode == Mode::read_write));
}

void Store::batch(const Batch& batch) { database_->limits = batch; }

bool Store::uncommitted() const { return database_->open.has_value(); }

bool Store::due() const { return database_->due(); }

Result<void> Store::commit() { return database_->commit(); }

bool Store::in_place() const { return database_->in_place(); }

Result<std::int64_t> Store::begin_run(const RunRecord& run) {
  CONEBENCH_CHECK(database_->put("a run", Database::Sync::now, &Writers::insert_run, run, Part::runs));
  return database_->connection.last_row_id();
}

Result<void> Store::finish_run(const RunRecord& run) {
  return database_->transact("a run cannot be stored", Database::Sync::now, [&] {
    Writers& writers = *database_->writers;
    RowBinder binder(writers.update_run);
    RunRecord::fields(binder, run);
    const int code = writers.update_run.bind(binder.next(), run.id).run();
    return code == SQLITE_OK ? writers.checksums.write(Part::runs, run.id) : code;
  });
}

Result<void> Store::put_problem(const ProblemRecord& problem) {
  return database_->put("problem " + problem.name, Database::Sync::in_turn, &Writers::put_problem, problem,
                        Part::problems);
}

Result<void> Store::put_configuration(const ConfigurationRecord& configuration) {
  return database_->put("configuration " + configuration.label, Database::Sync::in_turn, &Writers::put_configuration,
                        configuration, Part::configurations);
}

Result<void> Store::put_cell(const CellRecord& cell) {
  return database_->transact("cell " + cell.key + " cannot be stored", Database::Sync::in_turn, [&] {
    Writers& writers = *database_->writers;
    RowBinder binder(writers.put_cell);
    CellRecord::fields(binder, cell);
    int code = SQLITE_OK;
    const auto id = run_for_id(writers.put_cell, code);
    if (code == SQLITE_OK && !id) code = SQLITE_INTERNAL;
    if (code == SQLITE_OK) code = database_->put_residuals(*id, cell);
    if (code == SQLITE_OK) code = database_->put_rounds(*id, cell);
    if (code == SQLITE_OK) code = writers.drop_reaction.bind(1, *id).run();
    if (code == SQLITE_OK && !cell.reaction.empty()) {
      code = Database::put_packed(writers.put_reaction, *id, pack_values(cell.reaction));
    }
    if (code == SQLITE_OK) code = writers.drop_trace.bind(1, *id).run();
    if (code == SQLITE_OK && !cell.trace.empty()) {
      code = Database::put_packed(writers.put_trace, *id, pack_values(values_of_trace(cell.trace)));
    }
    return code == SQLITE_OK ? writers.checksums.write(Part::cells, *id) : code;
  });
}

Result<void> Store::drop_trace(const std::string& key) {
  return database_->transact("the traces cannot be thinned", Database::Sync::in_turn, [&] {
    Writers& writers = *database_->writers;
    int code = SQLITE_OK;
    const auto id = run_for_id(writers.find_cell.bind(1, std::string_view(key)), code);
    if (code == SQLITE_OK && id) code = writers.drop_trace.bind(1, *id).run();
    return code == SQLITE_OK && id ? writers.checksums.write(Part::cells, *id) : code;
  });
}

Result<void> Store::update_judgement(const CellRecord& cell) {
  return database_->update<CellJudgement>("the judgement", &Writers::update_judgement, cell,
                                          [&](std::int64_t id) { return database_->put_residuals(id, cell); });
}

Result<void> Store::update_times(const CellRecord& cell) {
  return database_->update<CellTimesOfRun>("the times", &Writers::update_times, cell,
                                           [&](std::int64_t id) { return database_->put_rounds(id, cell); });
}

Result<void> Store::put_acceptance(const AcceptanceRecord& acceptance) {
  return database_->transact("the acceptance of " + acceptance.alarm + " cannot be stored", Database::Sync::now, [&] {
    Statement put = database_->connection.prepare(
        "INSERT INTO acceptances (alarm, who, why, accepted_utc, facts) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS"
        " (SELECT 1 FROM acceptances WHERE alarm = ?1 AND who = ?2 AND why = ?3 AND accepted_utc = ?4)");
    RowBinder binder(put);
    AcceptanceRecord::fields(binder, acceptance);
    return put.run();
  });
}

Result<std::vector<AcceptanceRecord>> Store::acceptances() const {
  std::vector<AcceptanceRecord> found;
  const int code = read_table(database_->connection, "acceptances", "id", found);
  if (code != SQLITE_OK) return database_->connection.read_error(code);
  return found;
}

Result<std::vector<std::pair<std::string, std::string>>> Store::cell_states() const {
  CONEBENCH_CHECK(RowChecksums(database_->connection).check(false));
  std::vector<std::pair<std::string, std::string>> states;
  Statement query = database_->connection.prepare("SELECT key, status FROM cells ORDER BY id");
  const int code = for_each_row(query, [&] { states.emplace_back(query.text(0), query.text(1)); });
  if (code != SQLITE_OK) return database_->connection.read_error(code);
  return states;
}

Result<StoreContents> Store::read(bool with_reactions) const { return database_->read_at_once(true, with_reactions); }

Result<StoreContents> Store::read_outcomes() const { return database_->read_at_once(false, false); }

Result<std::optional<std::vector<double>>> Store::reaction(const std::string& key) const {
  const Connection& connection = database_->connection;
  // A writer's indices were checked when it opened the file; those of a reader may be damaged, so it goes through the
  // tables.
  Statement query =
      connection.prepare(std::string("SELECT length, crc32, data FROM reactions WHERE ") +
                         (database_->writers ? "cell = (SELECT id FROM cells WHERE key = ?)"
                                             : "+cell = (SELECT id FROM cells NOT INDEXED WHERE key = ?)"));
  const int code = query.bind(1, std::string_view(key)).step();
  if (code == SQLITE_DONE) return std::optional<std::vector<double>>{};
  if (code != SQLITE_ROW) return connection.read_error(code);
  auto values = unpack_values(query.blob(2), query.integer(0), static_cast<std::uint32_t>(query.integer(1)));
  if (!values) return database_->damaged("the answer of cell " + key);
  return values;
}

}  // namespace conebench
