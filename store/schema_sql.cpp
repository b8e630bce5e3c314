#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "store/records.hpp"
#include "store/row_checksums.hpp"
#include "store/row_visitors.hpp"
#include "store/schema.hpp"

namespace conebench {

namespace {

template <class Record>
StoredTable table_of(const char* name) {
  Columns columns;
  const Record record;
  Record::fields(columns, record);
  return {name, columns.take()};
}

/// `before` and `after`: what is no field of the record.
std::string create_table(const char* name, const std::string& before, const std::string& after,
                         const char* kind = "STRICT") {
  const auto table = std::ranges::find(stored_tables(), name, &StoredTable::name);
  std::vector<std::string> lines;
  if (!before.empty()) lines.push_back(before);
  for (const Column& column : table->columns) {
    lines.push_back(fmt::format("{} {}{}", column.name, column.type, column.may_be_null ? "" : " NOT NULL"));
  }
  if (!after.empty()) lines.push_back(after);
  return fmt::format("CREATE TABLE {} (\n  {}\n) {};\n", name, fmt::join(lines, ",\n  "), kind);
}

/// Triggers that keep the number of a table's rows and the sum of their checksums.
std::string triggers_of(const char* table) {
  return fmt::format(R"sql(
INSERT INTO checksums VALUES ('{0}', 0, 0);
CREATE TRIGGER {0}_added AFTER INSERT ON {0} BEGIN
  UPDATE checksums SET count = count + 1, sum = sum + coalesce(NEW.checksum, 0) WHERE part = '{0}';
END;
CREATE TRIGGER {0}_removed AFTER DELETE ON {0} BEGIN
  UPDATE checksums SET count = count - 1, sum = sum - coalesce(OLD.checksum, 0) WHERE part = '{0}';
END;
CREATE TRIGGER {0}_changed AFTER UPDATE OF checksum ON {0} BEGIN
  UPDATE checksums SET sum = sum + coalesce(NEW.checksum, 0) - coalesce(OLD.checksum, 0) WHERE part = '{0}';
END;)sql",
                     table);
}

std::string make_schema() {
  const std::string id = "id INTEGER PRIMARY KEY",
                    of_cell = "cell INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE";
  std::string sql = create_table("runs", id, "checksum INTEGER");
  sql += create_table("problems", "", "checksum INTEGER, PRIMARY KEY (hash)");
  sql += create_table("configurations", "", "checksum INTEGER, PRIMARY KEY (hash)");
  sql += create_table("cells", id,
                      "checksum INTEGER, residual_checksum INTEGER, UNIQUE (key), "
                      "FOREIGN KEY (run_id) REFERENCES runs(id), FOREIGN KEY (problem) REFERENCES problems(hash), "
                      "FOREIGN KEY (configuration) REFERENCES configurations(hash)");
  sql +=
      create_table("residuals", of_cell + ", name TEXT NOT NULL", "PRIMARY KEY (cell, name)", "STRICT, WITHOUT ROWID");
  sql += create_table("rounds", of_cell, "PRIMARY KEY (cell, round), FOREIGN KEY (run_id) REFERENCES runs(id)",
                      "STRICT, WITHOUT ROWID");
  sql += create_table("acceptances", id, "");
  sql += R"sql(CREATE TABLE reactions (
  cell INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  crc32 INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE traces (
  cell INTEGER PRIMARY KEY REFERENCES cells(id) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  crc32 INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE checksums (part TEXT PRIMARY KEY, count INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE file_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  current BLOB NOT NULL,
  previous BLOB NOT NULL
) STRICT;
INSERT INTO file_state VALUES (1, randomblob(16), randomblob(16));
CREATE VIEW results AS
  SELECT problems.family, problems.name AS problem, configurations.label AS solver, tolerance, status, reason, claimed,
         solved, verdict, verdict_value, iterations, factorizations, operator_products, setup_median_s, solve_median_s,
         total_median_s
  FROM cells JOIN problems ON problems.hash = cells.problem
             JOIN configurations ON configurations.hash = cells.configuration;
)sql";
  for (const Part part : all_parts) sql += triggers_of(to_string(part));
  return sql;
}

}  // namespace

const std::vector<StoredTable>& stored_tables() {
  static const std::vector<StoredTable> tables = {table_of<RunRecord>("runs"),
                                                  table_of<ProblemRecord>("problems"),
                                                  table_of<ConfigurationRecord>("configurations"),
                                                  table_of<CellRecord>("cells"),
                                                  table_of<ResidualRecord>("residuals"),
                                                  table_of<RoundRecord>("rounds"),
                                                  table_of<AcceptanceRecord>("acceptances")};
  return tables;
}

const std::string& schema_sql() {
  static const std::string sql = make_schema();
  return sql;
}

}  // namespace conebench
