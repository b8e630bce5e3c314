#include "store/row_checksums.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>

namespace conebench {

namespace {

using sqlite::Connection;
using sqlite::Statement;

/// A column counts by its name, not by its index in the table.
std::vector<std::uint64_t> seeds_of(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> seeds;
  for (const auto& name : names) {
    std::uint64_t seed = 14695981039346656037U;  // FNV-1a
    for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    seeds.push_back(seed);
  }
  return seeds;
}

std::uint32_t sum_of(const Statement& row, const std::vector<std::uint64_t>& seeds) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) sum += row.fingerprint(static_cast<int>(i), seeds[i]);
  return static_cast<std::uint32_t>(sum ^ (sum >> 32));
}

std::uint32_t take(const std::unordered_map<std::int64_t, std::uint32_t>& sums, std::int64_t cell) {
  const auto found = sums.find(cell);
  return found == sums.end() ? 0 : found->second;
}

std::optional<std::int64_t> stored(const Statement& row, std::size_t column) {
  const int at = static_cast<int>(column);
  return row.is_null(at) ? std::nullopt : std::optional(row.integer(at));
}

}  // namespace

const char* to_string(Part part) {
  switch (part) {
    case Part::runs: return "runs";
    case Part::problems: return "problems";
    case Part::configurations: return "configurations";
    case Part::cells: break;
  }
  return "cells";
}

RowChecksums::RowChecksums(const Connection& connection) : connection_(connection) {
  for (const Part part : all_parts) {
    const char* const more = part == Part::cells ? ", residual_checksum" : "";
    Table& one = table(part);
    one = fields_of(to_string(part), std::string(", rowid, checksum") + more, "rowid");
    one.write = connection.prepare(fmt::format("UPDATE {} SET checksum = ?{} WHERE rowid = ?", to_string(part),
                                               part == Part::cells ? ", residual_checksum = ?" : ""));
  }
  rounds_ = fields_of("rounds", "", "cell");
  residuals_ = fields_of("residuals", "", "cell");
  reaction_ = fields_of("reactions", "", "cell");
  trace_ = fields_of("traces", "", "cell");
}

RowChecksums::Table RowChecksums::fields_of(const char* name, const std::string& more, const char* key) const {
  auto names = connection_.columns_of(name);
  // The numbers that a store gives its rows are not theirs; what answers are made of is in their crc32.
  std::erase_if(names, [](const std::string& column) {
    return column == "id" || column == "cell" || column == "data" || column.ends_with("checksum");
  });
  Table table;
  table.fields = fmt::format("{}", fmt::join(names, ", "));
  table.row = connection_.prepare(fmt::format("SELECT {}{} FROM {} WHERE {} = ?", table.fields, more, name, key));
  table.seeds = seeds_of(names);
  return table;
}

std::uint32_t RowChecksums::rows_of_cell(Table& part, std::int64_t cell, int& code) {
  std::uint32_t sum = 0;
  part.row.bind(1, cell);
  for (code = part.row.step(); code == SQLITE_ROW; code = part.row.step()) sum += sum_of(part.row, part.seeds);
  if (code == SQLITE_DONE) code = SQLITE_OK;
  part.row.reset();
  return sum;
}

/// Of the row alone; `row`: the fields, the rowid, the checksums.
RowChecksums::Sums RowChecksums::row_sums(const Statement& row, const Table& table, Part part) {
  const std::size_t fields = table.seeds.size();
  Sums found;
  found.row = sum_of(row, table.seeds) + static_cast<std::uint32_t>(row.fingerprint(static_cast<int>(fields), fields));
  found.stored_row = stored(row, fields + 1);
  if (part == Part::cells) found.stored_residuals = stored(row, fields + 2);
  return found;
}

bool RowChecksums::Sums::fit(Part part, bool with_residuals) const {
  return stored_row == row && (part != Part::cells || !with_residuals || stored_residuals == residuals);
}

std::optional<RowChecksums::Sums> RowChecksums::sums(Part part, std::int64_t rowid, bool with_residuals, int& code) {
  Table& one = table(part);
  Sums found;
  code = one.row.bind(1, rowid).step();
  if (code == SQLITE_ROW) found = row_sums(one.row, one, part);
  one.row.reset();
  if (code != SQLITE_ROW) return std::nullopt;
  code = SQLITE_OK;
  if (part != Part::cells) return found;
  for (Table* const child : {&rounds_, &reaction_, &residuals_, &trace_}) {
    const bool with = child == &residuals_ || child == &trace_;
    if (with && !with_residuals) continue;
    (with ? found.residuals : found.row) += rows_of_cell(*child, rowid, code);
    if (code != SQLITE_OK) return std::nullopt;
  }
  return found;
}

int RowChecksums::write(Part part, std::int64_t rowid, bool residuals) {
  int code = SQLITE_OK;
  const auto found = sums(part, rowid, residuals, code);
  if (!found) return code == SQLITE_DONE ? SQLITE_INTERNAL : code;
  Statement& write = table(part).write;
  int next = 1;
  write.bind(next++, static_cast<std::int64_t>(found->row));
  if (part == Part::cells) {
    write.bind(next++, residuals ? static_cast<std::int64_t>(found->residuals) : found->stored_residuals.value_or(0));
  }
  return write.bind(next, rowid).run();
}

int RowChecksums::write_all() {
  for (const Part part : all_parts) {
    Statement rows = connection_.prepare(fmt::format("SELECT rowid FROM {}", to_string(part)));
    std::vector<std::int64_t> ids;
    int code = rows.step();
    for (; code == SQLITE_ROW; code = rows.step()) ids.push_back(rows.integer(0));
    if (code != SQLITE_DONE) return code;
    for (const std::int64_t id : ids) {
      if (code = write(part, id, false); code != SQLITE_OK) return code;
    }
  }
  return SQLITE_OK;
}

bool RowChecksums::whole(Part part, std::int64_t rowid) {
  int code = SQLITE_OK;
  const auto found = sums(part, rowid, true, code);
  return found && found->fit(part, true);
}

Result<void> RowChecksums::check(bool with_residuals) {
  std::vector<std::string> damaged;
  for (const Part part : all_parts) CONEBENCH_CHECK(check_part(part, with_residuals, damaged));
  if (damaged.empty()) return {};
  return Error{ErrorCode::bad_input,
               fmt::format("{}: damaged, or changed by another program: {}; {}", connection_.file().string(),
                           fmt::join(damaged, ", "), how_to_salvage(connection_.file()))};
}

int RowChecksums::scan(const char* name, const Table& table,
                       std::unordered_map<std::int64_t, std::uint32_t>& sums) const {
  Statement rows = connection_.prepare(fmt::format("SELECT {}, cell FROM {}", table.fields, name));
  const int key = static_cast<int>(table.seeds.size());
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step()) sums[rows.integer(key)] += sum_of(rows, table.seeds);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

/// In whole tables, as Store::read goes through them: a damaged tree may show other rows to who searches it.
Result<void> RowChecksums::check_part(Part part, bool with_residuals, std::vector<std::string>& damaged) {
  const bool cells = part == Part::cells;
  std::unordered_map<std::int64_t, std::uint32_t> children, residuals;
  int code = cells ? scan("rounds", rounds_, children) : SQLITE_OK;
  if (code == SQLITE_OK && cells) code = scan("reactions", reaction_, children);
  if (code == SQLITE_OK && cells && with_residuals) code = scan("residuals", residuals_, residuals);
  if (code == SQLITE_OK && cells && with_residuals) code = scan("traces", trace_, residuals);
  if (code != SQLITE_OK) return connection_.read_error(code);

  const Table& one = table(part);
  Statement rows = connection_.prepare(fmt::format("SELECT {}, rowid, checksum{} FROM {}", one.fields,
                                                   cells ? ", residual_checksum" : "", to_string(part)));
  const std::size_t fields = one.seeds.size();
  std::int64_t count = 0, sum = 0, bad = 0, before = 0;
  bool in_order = true;
  for (code = rows.step(); code == SQLITE_ROW; code = rows.step()) {
    const std::int64_t rowid = rows.integer(static_cast<int>(fields));
    Sums found = row_sums(rows, one, part);
    if (cells) {
      found.row += take(children, rowid);
      found.residuals = take(residuals, rowid);
    }
    in_order = in_order && (count == 0 || rowid > before);
    before = rowid;
    ++count;
    sum += found.stored_row.value_or(0);
    if (!found.fit(part, with_residuals)) ++bad;
  }
  if (code != SQLITE_DONE) return connection_.read_error(code);
  Statement stored = connection_.prepare("SELECT count, sum FROM checksums WHERE part = ?");
  const bool known = stored.bind(1, std::string_view(to_string(part))).step() == SQLITE_ROW;
  const std::int64_t expected = known ? stored.integer(0) : -1;
  if (bad > 0) {
    damaged.push_back(fmt::format("{} of {} {}", bad, count, to_string(part)));
  } else if (known && count < expected) {
    damaged.push_back(fmt::format("{} of {} {} are gone", expected - count, expected, to_string(part)));
  } else if (!known || !in_order || count != expected || sum != stored.integer(1)) {
    damaged.push_back(fmt::format("the list of {}", to_string(part)));
  }
  return {};
}

std::string how_to_salvage(const std::filesystem::path& file) {
  return fmt::format("restore a copy, or save what is whole with `conebench merge {} --salvage --out NEW.sqlite`",
                     file.string());
}

}  // namespace conebench
