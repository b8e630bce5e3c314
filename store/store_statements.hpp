#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/record_fields.hpp"
#include "store/row_seals.hpp"
#include "store/row_visitors.hpp"
#include "store/sqlite.hpp"

namespace conebench {

using Names = std::vector<std::string>;

inline constexpr auto run_fields = [](auto& visit, auto& run) { visit_run(visit, run); };
inline constexpr auto problem_fields = [](auto& visit, auto& problem) { visit_problem(visit, problem); };
inline constexpr auto setting_fields = [](auto& visit, auto& setting) { visit_setting(visit, setting); };
inline constexpr auto cell_fields = [](auto& visit, auto& cell) { visit_cell(visit, cell); };
inline constexpr auto round_fields = [](auto& visit, auto& round) { visit_round(visit, round); };
inline constexpr auto judgement_fields = [](auto& visit, auto& cell) { visit_judgement(visit, cell); };
inline constexpr auto time_fields = [](auto& visit, auto& cell) {
  visit("run_id", cell.run_id);
  visit_times(visit, cell);
};

/// The columns of `fields`.
template <class Record, class Fields>
Names names_of(Fields fields) {
  ColumnNames columns;
  const Record record;
  fields(columns, record);
  return columns.names;
}

/// Those of a round, the cell's in front.
Names round_columns();

std::string select_sql(const char* table, const Names& names, const char* order, const char* more = "");

/// The statements of a store that is being written, prepared once.
struct Writers {
  explicit Writers(const sqlite::Connection& connection);

  sqlite::Statement insert_run, update_run, put_problem, put_setting, put_cell, update_judgement, update_times,
      find_cell, drop_residuals, put_residual, drop_rounds, put_round, drop_reaction, put_reaction, drop_trace,
      put_trace, next_state;
  RowSeals seals;
};

/// The id that a statement returns (SELECT id …, … RETURNING id), nullopt where no row matches.
std::optional<std::int64_t> run_for_id(sqlite::Statement& statement, int& code);

}  // namespace conebench
