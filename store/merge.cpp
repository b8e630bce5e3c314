#include "store/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/unfinished.hpp"
#include "store/build_difference.hpp"
#include "store/merger.hpp"
#include "store/row_checksums.hpp"
#include "store/row_visitors.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"
#include "store/store_lock.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using sqlite::Statement;

/// What must be the same in all stores: text of the value → the file where it was seen first.
using Seen = std::map<std::string, std::string>;
struct Common {
  Seen machine, mode, limits;
  std::map<std::string, Seen> data;  ///< versions by the name of a data set
  /// By the side of a side-by-side run, the first build seen and its file; a difference, once one is found.
  std::map<std::string, std::pair<BuildRecord, std::string>> builds;
  std::string different_build;
};

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
  Columns columns;
  const BuildRecord none;
  columns.group("build", [&](auto& inner) { BuildRecord::fields(inner, none); });
  std::string names;
  for (const Column& column : columns.take()) names += ", " + column.name;
  const std::string file = connection.file().string();
  Statement query = connection.prepare("SELECT DISTINCT side" + names + " FROM runs");
  while (query.step() == SQLITE_ROW) {
    BuildRecord build;
    RowReader reader(query, 1);
    BuildRecord::fields(reader, build);
    const auto [first, added] = common.builds.try_emplace(query.text(0), build, file);
    if (added || !common.different_build.empty()) continue;
    common.different_build = build_difference(first->second.first, build, "in " + first->second.second, "in " + file);
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
  for (const auto& text : distinct(connection, "runs", "data_sets")) {
    std::map<std::string, std::string> sets;
    from_column(text, sets);
    for (const auto& [name, version] : sets) common.data[name].emplace(version, file);
  }
  // A shard without cells has no limits to compare.
  add(common.limits, "cells", "max_iterations || ' iterations', limit_s || ' s', limit_mb || ' MB'");
}

std::vector<std::string> differences(const Common& common) {
  std::vector<std::string> lines;
  const auto compare = [&](const char* what, const Seen& seen) {
    if (seen.size() < 2) return;
    const auto& first = *seen.begin();
    const auto& second = *std::next(seen.begin());
    lines.push_back(
        fmt::format("{}: {} in {}, but {} in {}", what, first.first, first.second, second.first, second.second));
  };
  compare("different machines", common.machine);
  if (!common.different_build.empty()) lines.push_back("different builds: " + common.different_build);
  compare("timed and throughput runs", common.mode);
  for (const auto& [name, versions] : common.data)
    compare(("different versions of the data set " + name).c_str(), versions);
  compare("different limits", common.limits);
  return lines;
}

/// Adds the differences to every run's noise, so that reports of the joined store show them.
int label(Connection& target, const std::vector<std::string>& mixed) {
  if (mixed.empty()) return SQLITE_OK;
  Statement runs = target.prepare("SELECT id, noise FROM runs");
  Statement update = target.prepare("UPDATE runs SET noise = ? WHERE id = ?");
  std::vector<std::pair<std::int64_t, std::vector<NoiseRecord>>> labelled;
  while (runs.step() == SQLITE_ROW) {
    auto& [id, noise] = labelled.emplace_back();
    id = runs.integer(0);
    from_column(runs.text(1), noise);
    for (const auto& line : mixed) noise.push_back({NoiseKind::joined, 0.0, line});
  }
  runs.reset();
  for (const auto& [id, noise] : labelled) {
    const std::string text = to_column(noise);
    if (const int code = update.bind(1, std::string_view(text)).bind(2, id).run(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

/// One store, as it is now: a run may append to it meanwhile.
Result<void> add_source(const fs::path& source, const MergeOptions& options, Common& common, Merger& merger,
                        MergeSummary& summary) {
  CONEBENCH_TRY(auto connection, open_store_file(source, false, options.salvage));
  if (const int code = connection.run("BEGIN"); code != SQLITE_OK) return connection.read_error(code);
  if (!options.salvage) {
    CONEBENCH_CHECK(RowChecksums(connection).check(true));
    collect(connection, common);
    summary.mixed = differences(common);
  }
  if (!summary.mixed.empty() && !options.allow_mixed) {
    return Error{ErrorCode::bad_input,
                 fmt::format("cannot join: {}; --allow-mixed joins them all the same and labels the result",
                             fmt::join(summary.mixed, "; "))};
  }
  return merger.add(connection);
}

/// The journal of a store. `mode`: another one; empty: as it is.
std::string journal(const Connection& store, const std::string& mode = "") {
  Statement query = store.prepare("PRAGMA journal_mode" + (mode.empty() ? "" : " = " + mode));
  return query.step() == SQLITE_ROW ? query.text(0) : "";
}

/// All of the merge, into a file that nobody else knows yet: no log, and its indices stay in memory. One source is open
/// at a time: there may be more than a process may open.
Result<void> write_merged(std::span<const fs::path> sources, const fs::path& file, const MergeOptions& options,
                          MergeSummary& summary) {
  CONEBENCH_TRY(auto target, open_store_file(file, true));
  const std::string mode = journal(target);
  journal(target, "MEMORY");
  target.run("PRAGMA cache_size = -200000");  // KiB
  sqlite::Transaction transaction(target);
  if (const int code = transaction.begun(); code != SQLITE_OK) return target.error("cannot be written", code);
  {
    Common common;
    Merger merger(target, options, summary);
    for (const auto& source : sources) CONEBENCH_CHECK(add_source(source, options, common, merger, summary));
  }
  int code = label(target, summary.mixed);
  // As reading has it (clear_unanswered), for who asks the file itself.
  if (code == SQLITE_OK) {
    code = target.run(
        "UPDATE cells SET solved = 0, claimed = 0, verdict_value = NULL WHERE solved AND EXISTS "
        "(SELECT 1 FROM problems WHERE hash = problem AND rows > 0 AND NOT EXISTS "
        "(SELECT 1 FROM reactions WHERE cell = cells.id AND length = 8 * rows))");
  }
  if (code == SQLITE_OK) {
    code = target.run(
        "DELETE FROM acceptances WHERE id NOT IN "
        "(SELECT min(id) FROM acceptances GROUP BY alarm, who, why, accepted_utc)");
  }
  if (code == SQLITE_OK && !options.state.empty()) {
    code = target.run(fmt::format("UPDATE file_state SET current = x'{0}', previous = x'{0}'", options.state));
  }
  // Rows have other runs now. Residuals have none, and came with their checksums.
  if (code == SQLITE_OK) code = RowChecksums(target).write_all();
  if (code == SQLITE_OK) code = transaction.commit();
  if (code == SQLITE_OK && journal(target, mode) != mode) code = SQLITE_IOERR;
  if (code != SQLITE_OK) return target.error("cannot be written", code);
  return {};
}

void remove_with_logs(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix, ignored);
}

Result<void> check_paths(std::span<const fs::path> sources, const fs::path& out, bool salvage) {
  if (sources.empty()) return Error{ErrorCode::wrong_usage, "merge: no store given; name at least one"};
  // Damaged rows cannot tell whether two stores belong together.
  if (salvage && sources.size() > 1) {
    return Error{ErrorCode::wrong_usage, "merge: --salvage takes one store; join what it saves in a second step"};
  }
  CONEBENCH_CHECK(check_named_once(sources));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored))) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: exists already; give another file for the joined store", out.string())};
  }
  return {};
}

}  // namespace

Result<void> check_named_once(std::span<const fs::path> stores) {
  std::set<fs::path> names;
  std::set<std::pair<dev_t, ino_t>> files;
  for (const fs::path& store : stores) {
    struct stat file = {};
    const bool there = ::stat(store.c_str(), &file) == 0;
    if (!names.insert(store).second || (there && !files.emplace(file.st_dev, file.st_ino).second)) {
      return Error{ErrorCode::bad_input, fmt::format("{}: given twice; name each store once", store.string())};
    }
  }
  return {};
}

Result<MergeSummary> merge_stores(std::span<const fs::path> sources, const fs::path& out, const MergeOptions& options) {
  CONEBENCH_CHECK(check_paths(sources, out, options.salvage));
  CONEBENCH_TRY(const auto lock, StoreLock::acquire(out, {.break_lock = options.break_lock}));
  MergeSummary summary;
  summary.lock_note = lock.note();
  const auto check_saved = [&]() -> Result<void> {
    if (!options.salvage || summary.cells > 0 || (summary.damaged == 0 && !summary.more_may_be_lost)) {
      return {};
    }
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: nothing of it can be saved; restore a copy, or run the suite into a new store",
                             sources.front().string())};
  };
  const fs::path unfinished = unfinished_path(out);
  remove_unfinished(out.parent_path());
  auto written = write_merged(sources, unfinished, options, summary);
  if (written) written = check_saved();
  if (!written) {
    remove_with_logs(unfinished);
    return written.error();
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
