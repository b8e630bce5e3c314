#include "store/merger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "store/blob.hpp"

namespace conebench {

namespace {

using sqlite::Connection;
using sqlite::Statement;

/// What makes two cells the same, with the id in front.
constexpr const char* answer_query =
    "SELECT cells.id, status, solved, claimed, iterations, coalesce(verdict_value, 'none'), "
    "coalesce(length || ':' || crc32, 'none') FROM cells LEFT JOIN reactions ON cell = cells.id";

std::int64_t rounds_of(const Connection& connection, const std::string& key) {
  Statement query = connection.prepare("SELECT rounds FROM cells WHERE key = ?");
  return query.bind(1, std::string_view(key)).step() == SQLITE_ROW ? query.integer(0) : 0;
}

/// What two rows of answer_query disagree in, that of the target first; empty where they are the same.
std::string difference(const Statement& first, const Statement& second) {
  constexpr std::array<const char*, 7> names = {"", "", "solved", "claimed", "iterations", "verdict", ""};
  for (int i = 1; i < second.columns(); ++i) {
    const std::string before = first.text(i), now = second.text(i);
    if (before == now) continue;
    if (i + 1 == second.columns()) return "the same counters and verdict, but other bits of λ";
    const std::string_view name = names[static_cast<std::size_t>(i)];
    return fmt::format("{}{}{} there, {} here", name, name.empty() ? "" : " ", before, now);
  }
  return {};
}

/// Error codes for invalid source rows, as opposed to a target that can't be written.
bool is_source_error(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_CORRUPT || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH || kind == SQLITE_TOOBIG ||
         kind == SQLITE_ERROR || kind == SQLITE_NOTADB;  // a table that is not there, or no page of one
}

/// A row takes at least 16 bytes, which bounds a damaged number of rows.
std::int64_t max_rows(const Connection& source) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(source.file(), failed);
  return failed ? 0 : static_cast<std::int64_t>(size / 16);
}

/// Row ids of a table. If it is damaged and `salvage` is set: all possible ids.
std::vector<std::int64_t> rowids(const Connection& source, const char* table, bool salvage, int& code) {
  std::vector<std::int64_t> ids;
  Statement rows = source.prepare(fmt::format("SELECT rowid FROM {} ORDER BY rowid", table));
  for (code = rows.step(); code == SQLITE_ROW; code = rows.step()) ids.push_back(rows.integer(0));
  if (code == SQLITE_DONE) code = SQLITE_OK;
  if (code == SQLITE_OK && !salvage) return ids;
  const auto expected = source.ask(fmt::format("SELECT count FROM checksums WHERE part = '{}'", table));
  const auto greatest = source.ask(fmt::format("SELECT max(rowid) FROM {}", table));
  const std::int64_t last =
      std::min(max_rows(source), std::max({expected.value_or(0), greatest.value_or(0), std::int64_t{0}}));
  ids.clear();
  for (std::int64_t id = 1; id <= last; ++id) ids.push_back(id);
  return ids;
}

}  // namespace

RowCopier::RowCopier(const Connection& target, const char* table, const char* verb)
    : table_(table), columns_(target.columns_of(table)) {
  std::string marks = "?";
  for (std::size_t i = 1; i < columns_.size(); ++i) marks += ", ?";
  insert_ = target.prepare(fmt::format("{} INTO {} ({}) VALUES ({})", verb, table, fmt::join(columns_, ", "), marks));
}

Statement RowCopier::select(const Connection& source, const std::string& rest) const {
  return source.prepare(fmt::format("SELECT {} FROM {} {}", fmt::join(columns_, ", "), table_, rest));
}

int RowCopier::column(const std::string& name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

int RowCopier::copy(const Statement& row, const std::map<int, std::optional<std::int64_t>>& replaced) {
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

struct Merger::Source {
  const Connection& connection;
  RowChecksums checksums;
  Statement answer;
  std::vector<Statement> children;
  std::map<std::int64_t, std::int64_t> run_ids;  ///< here → in the target
};

Merger::Merger(Connection& target, const MergeOptions& options, MergeSummary& summary)
    : target_(target),
      options_(options),
      summary_(summary),
      parts_{RowCopier(target, "runs"), RowCopier(target, "problems", "INSERT OR IGNORE"),
             RowCopier(target, "configurations", "INSERT OR IGNORE"), RowCopier(target, "cells")},
      child_tables_{RowCopier(target, "residuals"), RowCopier(target, "rounds"), RowCopier(target, "reactions"),
                    RowCopier(target, "traces")},
      acceptances_(target, "acceptances"),
      find_(target.prepare(std::string(answer_query) + " WHERE key = ?")),
      name_(target.prepare(
          "SELECT problems.name, label, tolerance FROM problems, configurations, cells WHERE key = ? AND "
          "problems.hash = cells.problem AND configurations.hash = configuration")),
      drop_(target.prepare("DELETE FROM cells WHERE id = ?")) {}

Result<void> Merger::add(const Connection& connection) {
  Source source{connection,
                RowChecksums(connection),
                connection.prepare(std::string(answer_query) + " WHERE cells.id = ?"),
                {},
                {}};
  for (const auto& table : child_tables_) source.children.push_back(table.select(connection, "WHERE cell = ?"));
  for (const Part part : all_parts) CONEBENCH_CHECK(add_rows(source, part));
  return add_acceptances(connection);
}

/// Shards that hold the same one give it several times: write_merged() leaves one.
Result<void> Merger::add_acceptances(const Connection& source) {
  Statement rows = acceptances_.select(source, "");
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    const int written = acceptances_.copy(rows, {{acceptances_.column("id"), std::nullopt}});
    if (written != SQLITE_OK && !is_source_error(written)) return target_.error("cannot be written", written);
    if (written != SQLITE_OK && !options_.salvage) return source.read_error(SQLITE_CORRUPT);
  }
  if (code != SQLITE_DONE && !options_.salvage) return source.read_error(code);
  return {};
}

/// Of a problem that the target has already: what was found out about it in the source alone (take_findings).
int Merger::keep_findings(const RowCopier& problems, const Statement& row) {
  Statement update = target_.prepare(
      "UPDATE problems SET feasibility = ?2, feasibility_margin = ?3, infeasible_block = ?4, certificate = ?5, "
      "verdict_bound = ?6 WHERE hash = ?1 AND ?2 != '' AND (coalesce(verdict_bound, -1), certificate IS NOT NULL, "
      "feasibility IN ('infeasible', 'refuted'), feasibility != '') < "
      "(coalesce(?6, -1), ?5 IS NOT NULL, ?2 IN ('infeasible', 'refuted'), 1)");
  int position = 0;
  for (const char* name :
       {"hash", "feasibility", "feasibility_margin", "infeasible_block", "certificate", "verdict_bound"})
    update.bind(++position, row.value(problems.column(name)));
  if (const int code = update.run(); code != SQLITE_OK) return code;
  Statement noise = target_.prepare(
      "UPDATE problems SET noise_ratio = ?2 WHERE hash = ?1 AND noise_ratio IS NULL AND ?2 IS NOT NULL");
  return noise.bind(1, row.value(problems.column("hash"))).bind(2, row.value(problems.column("noise_ratio"))).run();
}

Result<void> Merger::add_rows(Source& source, Part part) {
  RowCopier& copier = parts_[static_cast<std::size_t>(part)];
  int code = SQLITE_OK;
  const auto ids = rowids(source.connection, to_string(part), options_.salvage, code);
  if (code != SQLITE_OK && !options_.salvage) return source.connection.read_error(code);
  Statement row = copier.select(source.connection, "WHERE rowid = ?");
  std::int64_t damaged = 0, copied = 0;
  for (const std::int64_t id : ids) {
    code = row.bind(1, id).step();
    if (code == SQLITE_ROW && !source.checksums.whole(part, id)) code = SQLITE_CORRUPT;
    if (code == SQLITE_ROW) {
      if (part == Part::cells) {
        code = copy_cell(source, row);
        if (refused_) return *refused_;
      } else {
        code = part == Part::runs ? copier.copy(row, {{copier.column("id"), std::nullopt}}) : copier.copy(row);
        if (part == Part::problems && code == SQLITE_OK) code = keep_findings(copier, row);
        if (part == Part::runs && code == SQLITE_OK) {
          source.run_ids[id] = target_.last_row_id();
          ++summary_.runs;
        }
      }
      if (code == SQLITE_OK) ++copied;
    } else if (code == SQLITE_DONE) {
      code = SQLITE_OK;
    }
    row.reset();
    if (code == SQLITE_OK) continue;
    if (!is_source_error(code)) return target_.error("cannot be written", code);
    if (!options_.salvage) return source.connection.read_error(SQLITE_CORRUPT);
    ++damaged;
  }
  if (part != Part::cells) return {};
  if (!options_.salvage) return {};
  auto expected = source.connection.ask("SELECT count FROM checksums WHERE part = 'cells'");
  if (expected && *expected > max_rows(source.connection)) expected.reset();
  if (!expected) summary_.more_may_be_lost = true;
  summary_.damaged += std::max(damaged, expected.value_or(0) - copied);
  return {};
}

/// SQLITE_OK also if the cell is not wanted.
int Merger::copy_cell(Source& source, const Statement& cell) {
  RowCopier& copier = parts_[static_cast<std::size_t>(Part::cells)];
  const int id_column = copier.column("id"), run_column = copier.column("run_id");
  const std::int64_t old_id = cell.integer(id_column);
  const auto run = source.run_ids.find(cell.integer(run_column));
  if (run == source.run_ids.end()) return SQLITE_CORRUPT;
  source.answer.bind(1, old_id).step();
  const Wanted wanted = resolve(source, cell.text(copier.column("key")), source.answer);
  source.answer.reset();
  if (wanted != Wanted::yes) return SQLITE_OK;
  if (const int code = copier.copy(cell, {{id_column, std::nullopt}, {run_column, run->second}}); code != SQLITE_OK) {
    return code;
  }
  const std::int64_t new_id = target_.last_row_id();
  for (std::size_t table = 0; table < child_tables_.size(); ++table) {
    if (const int code = copy_children(source, table, old_id, new_id); code != SQLITE_OK) {
      drop_.bind(1, new_id).run();
      return code;
    }
  }
  ++summary_.cells;
  return SQLITE_OK;
}

int Merger::copy_children(Source& source, std::size_t table, std::int64_t old_id, std::int64_t new_id) {
  RowCopier& copier = child_tables_[table];
  Statement& rows = source.children[table];
  const int run_column = copier.column("run_id"), data_column = copier.column("data");
  std::map<int, std::optional<std::int64_t>> replaced = {{copier.column("cell"), new_id}};
  rows.bind(1, old_id);
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) {
    if (run_column >= 0) {
      const auto run = source.run_ids.find(rows.integer(run_column));
      if (run == source.run_ids.end()) break;
      replaced[run_column] = run->second;
    }
    if (data_column >= 0 && !unpack(rows.blob(data_column), rows.integer(copier.column("length")),
                                    static_cast<std::uint32_t>(rows.integer(copier.column("crc32"))))) {
      break;
    }
    if (const int written = copier.copy(rows, replaced); written != SQLITE_OK) {
      code = written;
      break;
    }
  }
  rows.reset();
  if (code == SQLITE_ROW) return SQLITE_CORRUPT;
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/// The target's cell, as text for people.
std::string Merger::name_of(const std::string& key) {
  std::string name = "cell " + key;
  if (name_.bind(1, std::string_view(key)).step() == SQLITE_ROW) {
    name = fmt::format("{} on {} at {}", name_.text(1), name_.text(0), name_.real(2));
  }
  name_.reset();
  return name;
}

/// Whether the cell is to be copied, after making room for it. Sets refused_ where the two answers differ and the
/// options don't say which to keep.
Merger::Wanted Merger::resolve(Source& source, const std::string& key, const Statement& answer) {
  const bool known = find_.bind(1, std::string_view(key)).step() == SQLITE_ROW;
  const std::int64_t known_id = known ? find_.integer(0) : 0;
  const std::string differs = known ? difference(find_, answer) : "";
  find_.reset();
  if (!known) return Wanted::yes;
  if (differs.empty()) {
    ++summary_.repeated;
    // That which more rounds have timed.
    if (rounds_of(source.connection, key) <= rounds_of(target_, key)) return Wanted::no;
  } else {
    ++summary_.conflicting;
    if (options_.conflict == MergeConflict::first) return Wanted::no;
    if (options_.conflict == MergeConflict::refuse) {
      refused_ = Error{ErrorCode::bad_input,
                       fmt::format("{}: {} has another answer in a store before it: {}; keep one of them with "
                                   "--on-conflict first or last",
                                   source.connection.file().string(), name_of(key), differs)};
      return Wanted::refused;
    }
  }
  drop_.bind(1, known_id).run();
  --summary_.cells;
  return Wanted::yes;
}

}  // namespace conebench
