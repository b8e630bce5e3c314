#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/records.hpp"
#include "store/row_checksums.hpp"
#include "store/row_visitors.hpp"
#include "store/sqlite.hpp"

namespace conebench {

using Names = std::vector<std::string>;

/// The fields that Store::update_times replaces.
struct CellTimesOfRun : CellTiming {
  static void fields(auto& visit, auto& cell) {
    visit({"run_id"}, cell.run_id);
    CellTiming::fields(visit, cell);
  }
};

/// The columns of the fields that Fields lists of a Record.
template <class Record, class Fields = Record>
Names names_of() {
  Columns columns;
  const Record record;
  Fields::fields(columns, record);
  Names names;
  for (Column& column : columns.take()) names.push_back(std::move(column.name));
  return names;
}

/// Those of a round, the cell's in front.
Names round_columns();

std::string select_sql(const char* table, const Names& names, const char* order, const char* more = "");

/// The statements of a store that is being written, prepared once.
struct Writers {
  explicit Writers(const sqlite::Connection& connection);

  sqlite::Statement insert_run, update_run, put_problem, put_configuration, put_cell, update_judgement, update_times,
      drop_residuals, put_residual, drop_rounds, put_round, drop_reaction, put_reaction, drop_trace, put_trace,
      find_cell, next_state;
  RowChecksums checksums;
};

/// The id that a statement returns (SELECT id …, … RETURNING id), nullopt where no row matches.
std::optional<std::int64_t> run_for_id(sqlite::Statement& statement, int& code);

}  // namespace conebench
