#include "solvers/registry.hpp"

#include <algorithm>

namespace conebench {

namespace {

std::vector<SolverRow> make_table() { return {}; }

}  // namespace

std::span<const SolverRow> solver_table() {
  static const std::vector<SolverRow> table = make_table();
  return table;
}

const SolverRow* find_solver(const std::string& id) {
  const auto table = solver_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const SolverRow& row) { return row.info.id == id; });
  return found == table.end() ? nullptr : &*found;
}

Result<const SolverRow*> require_solver(const std::string& id) {
  if (const SolverRow* row = find_solver(id)) return row;
  std::string known;
  for (const auto& row : solver_table()) known += (known.empty() ? "" : ", ") + row.info.id;
  return Error{ErrorCode::wrong_usage, "unknown solver '" + id + "'; known: " + known};
}

}  // namespace conebench
