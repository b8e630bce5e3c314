#include "runners/store/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <map>
#include <set>
#include <system_error>

#include "runners/store/build_difference.hpp"
#include "runners/store/record_fields.hpp"
#include "runners/store/row_visitors.hpp"
#include "runners/store/schema.hpp"
#include "runners/store/sqlite.hpp"
#include "runners/store/store_lock.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using sqlite::Statement;

/// What must be the same in all stores: text of the value → the file where it was seen first.
using Seen = std::map<std::string, std::string>;
struct Common {
  Seen machine, mode, limits;
  /// By the side of a side-by-side run, the first build seen and its file; a difference, once one is found.
  std::map<std::string, std::pair<BuildRecord, std::string>> builds;
  std::string other_build;
};

std::vector<std::string> columns_of(const Connection& connection, const std::string& table) {
  std::vector<std::string> names;
  Statement query = connection.prepare(fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  while (query.step() == SQLITE_ROW) names.push_back(query.text(0));
  return names;
}

/// The values of `columns` in all rows of `table`, each as one text.
std::set<std::string> distinct(const Connection& connection, const std::string& table, const std::string& columns) {
  std::set<std::string> values;
  Statement query = connection.prepare(fmt::format("SELECT DISTINCT {} FROM {}", columns, table));
  while (query.step() == SQLITE_ROW) {
    std::string value;
    for (int column = 0; column < query.columns(); ++column) {
      value += (column == 0 ? "" : ", ") + query.text(column);
    }
    values.insert(value);
  }
  return values;
}

void collect_builds(const Connection& connection, Common& common) {
  ColumnNames columns;
  const BuildRecord fields;
  columns.group("build", [&](auto& inner) { visit_build(inner, fields); });
  const std::string file = connection.file().string();
  Statement query =
      connection.prepare(fmt::format("SELECT DISTINCT side, {} FROM runs", fmt::join(columns.names, ", ")));
  while (query.step() == SQLITE_ROW) {
    BuildRecord build;
    RowReader reader(query, 1);
    visit_build(reader, build);
    const auto [first, added] = common.builds.try_emplace(query.text(0), build, file);
    if (added || !common.other_build.empty()) continue;
    common.other_build = build_difference(first->second.first, build, "in " + first->second.second, "in " + file);
  }
}

void collect(const Connection& connection, Common& common) {
  const std::string file = connection.file().string();
  const auto add = [&](Seen& seen, const std::string& table, const std::string& columns) {
    for (const auto& value : distinct(connection, table, columns)) seen.emplace(value, file);
  };
  add(common.machine, "runs", "machine_cpu, machine_cores || ' cores'");
  collect_builds(connection, common);
  add(common.mode, "runs", "mode");
  // A shard without cells has no limits to compare.
  add(common.limits, "cells", "max_iterations || ' iterations', limit_s || ' s', limit_mb || ' MB'");
}

std::vector<std::string> differences(const Common& common) {
  std::vector<std::string> lines;
  const auto look = [&](const char* what, const Seen& seen) {
    if (seen.size() < 2) return;
    const auto& first = *seen.begin();
    const auto& second = *std::next(seen.begin());
    lines.push_back(
        fmt::format("{}: {} in {}, but {} in {}", what, first.first, first.second, second.first, second.second));
  };
  look("different machines", common.machine);
  if (!common.other_build.empty()) lines.push_back("different builds: " + common.other_build);
  look("timed and throughput runs", common.mode);
  look("different limits", common.limits);
  return lines;
}

/// Copies rows from one store to the other, with chosen columns replaced.
class RowCopier {
 public:
  RowCopier(const Connection& target, const char* table, const char* verb = "INSERT")
      : table_(table), columns_(columns_of(target, table)) {
    std::string marks = "?";
    for (std::size_t i = 1; i < columns_.size(); ++i) marks += ", ?";
    insert_ = target.prepare(fmt::format("{} INTO {} ({}) VALUES ({})", verb, table, fmt::join(columns_, ", "), marks));
  }

  Statement select(const Connection& source, const std::string& rest) const {
    return source.prepare(fmt::format("SELECT {} FROM {} {}", fmt::join(columns_, ", "), table_, rest));
  }

  int column(const std::string& name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == name) return static_cast<int>(i);
    }
    return -1;
  }

  /// `replaced`: column → its new value; nullopt: NULL, by which SQLite gives a new id.
  int copy(const Statement& row, const std::map<int, std::optional<std::int64_t>>& replaced = {}) {
    for (int i = 0; i < row.columns(); ++i) {
      const auto found = replaced.find(i);
      if (found == replaced.end()) {
        insert_.bind(i + 1, row.value(i));
      } else if (found->second) {
        insert_.bind(i + 1, *found->second);
      } else {
        insert_.bind_null(i + 1);
      }
    }
    return insert_.run();
  }

 private:
  std::string table_;
  std::vector<std::string> columns_;
  Statement insert_;
};

std::int64_t rounds_of(const Connection& connection, const std::string& key) {
  Statement query = connection.prepare("SELECT rounds FROM cells WHERE key = ?");
  return query.bind(1, std::string_view(key)).step() == SQLITE_ROW ? query.integer(0) : 0;
}

class Merger {
 public:
  Merger(Connection& target, const MergeOptions& options, MergeSummary& summary)
      : target_(target),
        options_(options),
        summary_(summary),
        runs_(target, "runs"),
        problems_(target, "problems", "INSERT OR IGNORE"),
        settings_(target, "settings", "INSERT OR IGNORE"),
        cells_(target, "cells"),
        find_(target.prepare(std::string(answer_query) + " WHERE key = ?")),
        name_(target.prepare("SELECT problems.name, label, tolerance FROM problems, settings, cells WHERE key = ? AND "
                             "problems.hash = cells.problem AND settings.hash = setting")),
        drop_(target.prepare("DELETE FROM cells WHERE id = ?")) {
    for (const char* table : {"residuals", "rounds", "reactions", "traces"}) parts_.emplace_back(target, table);
  }

  std::optional<Error> add(const Connection& source) {
    std::map<std::int64_t, std::int64_t> run_ids;
    Statement runs = runs_.select(source, "ORDER BY id");
    const int id_column = runs_.column("id");
    if (auto error = each(source, runs, [&] {
          const int code = runs_.copy(runs, {{id_column, std::nullopt}});
          run_ids[runs.integer(id_column)] = target_.last_row_id();
          ++summary_.runs;
          return code;
        })) {
      return error;
    }
    for (RowCopier* table : {&problems_, &settings_}) {
      Statement rows = table->select(source, "ORDER BY rowid");
      if (auto error = each(source, rows, [&] { return table->copy(rows); })) return error;
    }
    return add_cells(source, run_ids);
  }

 private:
  /// What makes two cells the same, with the id in front.
  static constexpr const char* answer_query =
      "SELECT cells.id, status, solved, claimed, iterations, coalesce(verdict_value, 'none'), "
      "coalesce(length || ':' || crc32, 'none') FROM cells LEFT JOIN reactions ON cell = cells.id";

  /// `work` for every row; it returns a code of the target.
  template <class Work>
  std::optional<Error> each(const Connection& source, Statement& rows, Work work) {
    int code = rows.step();
    for (; code == SQLITE_ROW; code = rows.step()) {
      if (const int written = work(); written != SQLITE_OK) {
        return refused_ ? refused_ : target_.error("cannot be written", written);
      }
    }
    if (code != SQLITE_DONE) return source.error("cannot be read", code);
    return std::nullopt;
  }

  std::optional<Error> add_cells(const Connection& source, const std::map<std::int64_t, std::int64_t>& run_ids) {
    Statement cells = cells_.select(source, "ORDER BY id");
    Statement answer = source.prepare(std::string(answer_query) + " WHERE cells.id = ?");
    std::vector<Statement> part_rows;
    for (const auto& part : parts_) part_rows.push_back(part.select(source, "WHERE cell = ?"));
    const int id_column = cells_.column("id");
    const int run_column = cells_.column("run_id");
    const int key_column = cells_.column("key");
    return each(source, cells, [&]() -> int {
      const std::int64_t old_id = cells.integer(id_column);
      const std::string key = cells.text(key_column);
      answer.bind(1, old_id).step();
      const bool wanted = settle(source, key, answer);
      answer.reset();
      if (refused_) return SQLITE_ABORT;
      if (!wanted) return SQLITE_OK;
      int code = cells_.copy(cells, {{id_column, std::nullopt}, {run_column, run_ids.at(cells.integer(run_column))}});
      const std::int64_t new_id = target_.last_row_id();
      for (std::size_t i = 0; i < parts_.size() && code == SQLITE_OK; ++i) {
        code = copy_part(parts_[i], part_rows[i], old_id, new_id, run_ids);
      }
      ++summary_.cells;
      return code;
    });
  }

  static int copy_part(RowCopier& part, Statement& rows, std::int64_t old_id, std::int64_t new_id,
                       const std::map<std::int64_t, std::int64_t>& run_ids) {
    const int run_column = part.column("run_id");
    std::map<int, std::optional<std::int64_t>> replaced = {{part.column("cell"), new_id}};
    rows.bind(1, old_id);
    int code = rows.step();
    while (code == SQLITE_ROW) {
      if (run_column >= 0) replaced[run_column] = run_ids.at(rows.integer(run_column));
      if (const int written = part.copy(rows, replaced); written != SQLITE_OK) return written;
      code = rows.step();
    }
    rows.reset();
    return code == SQLITE_DONE ? SQLITE_OK : code;
  }

  /// What two rows of answer_query disagree in, that of the target first; empty where they are the same.
  static std::string difference(const Statement& first, const Statement& second) {
    constexpr std::array<const char*, 7> names = {"", "", "solved", "claimed", "iterations", "verdict", ""};
    for (int i = 1; i < second.columns(); ++i) {
      const std::string before = first.text(i), now = second.text(i);
      if (before == now) continue;
      const std::string_view name = names[static_cast<std::size_t>(i)];
      if (i + 1 == second.columns()) return "the same counters and verdict, but other bits of λ";
      return fmt::format("{}{}{} there, {} here", name, name.empty() ? "" : " ", before, now);
    }
    return {};
  }

  /// As people call the cell of the target.
  std::string name_of(const std::string& key) {
    std::string name = "cell " + key;
    if (name_.bind(1, std::string_view(key)).step() == SQLITE_ROW) {
      name = fmt::format("{} on {} at {}", name_.text(1), name_.text(0), name_.real(2));
    }
    name_.reset();
    return name;
  }

  /// Whether the cell is to be copied, after making room for it. Sets refused_ where the two answers differ and the
  /// options don't say which to keep.
  bool settle(const Connection& source, const std::string& key, const Statement& answer) {
    const bool known = find_.bind(1, std::string_view(key)).step() == SQLITE_ROW;
    const std::int64_t known_id = known ? find_.integer(0) : 0;
    const std::string differs = known ? difference(find_, answer) : "";
    find_.reset();
    if (!known) return true;
    if (differs.empty()) {
      ++summary_.repeated;
      // That which more rounds have timed.
      if (rounds_of(source, key) <= rounds_of(target_, key)) return false;
      drop_.bind(1, known_id).run();
      --summary_.cells;
      return true;
    }
    ++summary_.conflicting;
    switch (options_.conflict) {
      case MergeConflict::refuse:
        refused_ = Error{ErrorCode::bad_input,
                         fmt::format("{}: {} has another answer in a store before it: {}; keep one of them with "
                                     "--on-conflict first or last",
                                     source.file().string(), name_of(key), differs)};
        return false;
      case MergeConflict::first: return false;
      case MergeConflict::last: break;
    }
    drop_.bind(1, known_id).run();
    --summary_.cells;
    return true;
  }

  Connection& target_;
  const MergeOptions& options_;
  MergeSummary& summary_;
  RowCopier runs_, problems_, settings_, cells_;
  std::vector<RowCopier> parts_;
  Statement find_, name_, drop_;
  std::optional<Error> refused_;
};

/// Adds the differences to every run's noise, so that reports of the joined store show them.
int label(Connection& target, const std::vector<std::string>& mixed) {
  if (mixed.empty()) return SQLITE_OK;
  Statement runs = target.prepare("SELECT id, noise FROM runs");
  Statement update = target.prepare("UPDATE runs SET noise = ? WHERE id = ?");
  std::vector<std::pair<std::int64_t, std::vector<std::string>>> labelled;
  while (runs.step() == SQLITE_ROW) {
    auto& [id, noise] = labelled.emplace_back();
    id = runs.integer(0);
    from_column(runs.text(1), noise);
    for (const auto& line : mixed) noise.push_back("joined from stores of " + line);
  }
  runs.reset();
  for (const auto& [id, noise] : labelled) {
    const std::string text = to_column(noise);
    if (const int code = update.bind(1, std::string_view(text)).bind(2, id).run(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

/// All of the merge, into a file that nobody else knows yet.
std::optional<Error> write_merged(std::vector<Connection>& sources, const fs::path& file, const MergeOptions& options,
                                  MergeSummary& summary) {
  auto target = open_store_file(file, true);
  if (!target) return target.error();
  sqlite::Transaction transaction(*target);
  if (const int code = transaction.begun(); code != SQLITE_OK) return target->error("cannot be written", code);
  {
    Merger merger(*target, options, summary);
    for (const auto& source : sources) {
      if (auto error = merger.add(source)) return error;
    }
  }
  int code = label(*target, summary.mixed);
  if (code == SQLITE_OK) code = transaction.commit();
  if (code == SQLITE_OK) code = target->run("PRAGMA wal_checkpoint(TRUNCATE)");
  if (code != SQLITE_OK) return target->error("cannot be written", code);
  return std::nullopt;
}

void remove_with_logs(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix, ignored);
}

std::optional<Error> check_paths(std::span<const fs::path> sources, const fs::path& out) {
  if (sources.empty()) return Error{ErrorCode::wrong_usage, "merge: no store given; name at least one"};
  if (auto error = check_named_once(sources)) return error;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored))) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: exists already; give another file for the joined store", out.string())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_named_once(std::span<const fs::path> stores) {
  std::error_code ignored;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (stores[i] == stores[k] || fs::equivalent(stores[i], stores[k], ignored)) {
        return Error{ErrorCode::bad_input, fmt::format("{}: given twice; name each store once", stores[i].string())};
      }
    }
  }
  return std::nullopt;
}

Result<MergeSummary> merge_stores(std::span<const fs::path> sources, const fs::path& out, const MergeOptions& options) {
  if (auto error = check_paths(sources, out)) return *error;
  const auto lock = StoreLock::acquire(out);
  if (!lock) return lock.error();
  std::vector<Connection> opened;
  Common common;
  for (const auto& source : sources) {
    auto connection = open_store_file(source, false);
    if (!connection) return connection.error();
    collect(*connection, common);
    opened.push_back(std::move(*connection));
  }
  MergeSummary summary;
  summary.mixed = differences(common);
  if (!summary.mixed.empty() && !options.allow_mixed) {
    return Error{ErrorCode::bad_input,
                 fmt::format("cannot join: {}; --allow-mixed joins them all the same and labels the result",
                             fmt::join(summary.mixed, "; "))};
  }

  const fs::path unfinished = out.string() + fmt::format(".unfinished-{}", getpid());
  if (auto error = write_merged(opened, unfinished, options, summary)) {
    remove_with_logs(unfinished);
    return *error;
  }
  std::error_code failure;
  fs::rename(unfinished, out, failure);
  if (failure) {
    remove_with_logs(unfinished);
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", out.string(), failure.message())};
  }
  return summary;
}

}  // namespace conebench
