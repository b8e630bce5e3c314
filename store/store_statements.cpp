#include "store/store_statements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

namespace conebench {

namespace {

using sqlite::Connection;
using sqlite::Statement;

std::string placeholders(std::size_t count) {
  std::string out = "?";
  for (std::size_t i = 1; i < count; ++i) out += ", ?";
  return out;
}

std::string insert_sql(const char* table, const Names& names) {
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(names, ", "), placeholders(names.size()));
}

/// Inserts, or overwrites the row with the same `unique` column in its place.
std::string upsert_sql(const char* table, const Names& names, const char* unique) {
  std::string sql = insert_sql(table, names) + fmt::format(" ON CONFLICT({}) DO UPDATE SET ", unique);
  const char* separator = "";
  for (const auto& name : names) {
    sql += fmt::format("{}{} = excluded.{}", separator, name, name);
    separator = ", ";
  }
  return sql;
}

std::string update_sql(const char* table, const Names& names, const char* where) {
  return fmt::format("UPDATE {} SET ({}) = ({}) WHERE {}", table, fmt::join(names, ", "), placeholders(names.size()),
                     where);
}

}  // namespace

std::string select_sql(const char* table, const Names& names, const char* order, const char* more) {
  return fmt::format("SELECT {}{} FROM {} ORDER BY {}", fmt::join(names, ", "), more, table, order);
}

Names round_columns() {
  Names names = names_of<RoundRecord>();
  names.insert(names.begin(), "cell");
  return names;
}

Writers::Writers(const Connection& connection)
    : insert_run(connection.prepare(insert_sql("runs", names_of<RunRecord>()) + " RETURNING id")),
      update_run(connection.prepare(update_sql("runs", names_of<RunRecord>(), "id = ?"))),
      put_problem(connection.prepare(upsert_sql("problems", names_of<ProblemRecord>(), "hash") + " RETURNING rowid")),
      put_configuration(connection.prepare(upsert_sql("configurations", names_of<ConfigurationRecord>(), "hash") +
                                           " RETURNING rowid")),
      put_cell(connection.prepare(upsert_sql("cells", names_of<CellRecord>(), "key") + " RETURNING id")),
      update_judgement(
          connection.prepare(update_sql("cells", names_of<CellRecord, CellJudgement>(), "key = ?") + " RETURNING id")),
      update_times(
          connection.prepare(update_sql("cells", names_of<CellRecord, CellTimesOfRun>(), "key = ?") + " RETURNING id")),
      drop_residuals(connection.prepare("DELETE FROM residuals WHERE cell = ?")),
      put_residual(
          connection.prepare("INSERT INTO residuals (cell, name, value, missing, worst_block) VALUES (?, ?, ?, ?, ?)")),
      drop_rounds(connection.prepare("DELETE FROM rounds WHERE cell = ?")),
      put_round(connection.prepare(insert_sql("rounds", round_columns()))),
      drop_reaction(connection.prepare("DELETE FROM reactions WHERE cell = ?")),
      put_reaction(connection.prepare("INSERT INTO reactions (cell, length, crc32, data) VALUES (?, ?, ?, ?)")),
      drop_trace(connection.prepare("DELETE FROM traces WHERE cell = ?")),
      put_trace(connection.prepare("INSERT INTO traces (cell, length, crc32, data) VALUES (?, ?, ?, ?)")),
      find_cell(connection.prepare("SELECT id FROM cells WHERE key = ?")),
      next_state(connection.prepare("UPDATE file_state SET previous = current, current = randomblob(16)")),
      checksums(connection) {}

std::optional<std::int64_t> run_for_id(Statement& statement, int& code) {
  std::optional<std::int64_t> id;
  const int first = statement.step();
  if (first == SQLITE_ROW) id = statement.integer(0);
  if (first == SQLITE_DONE) {
    statement.reset();  // stepping on would start it again
    code = SQLITE_OK;
  } else {
    code = statement.run();
  }
  return id;
}

}  // namespace conebench
