#include "solvers/registry.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "solvers/admm/admm.hpp"
#include "solvers/cascade/cascade.hpp"
#include "solvers/first_order/apgd.hpp"
#include "solvers/first_order/fixed_point.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/ipopt/ipopt_rows.hpp"
#include "solvers/lcp/lcp_rows.hpp"
#include "solvers/newton/newton_ccp.hpp"
#include "solvers/newton/nonsmooth_newton.hpp"
#include "solvers/newton/staggered.hpp"
#include "solvers/siconos/siconos_rows.hpp"
#include "solvers/testing/misbehave.hpp"

namespace conebench {

namespace {

void append(std::vector<SolverRow>& table, std::vector<SolverRow> rows) {
  for (auto& row : rows) table.push_back(std::move(row));
}

std::vector<SolverRow> make_catalogue() {
  std::vector<SolverRow> table;
  append(table, gauss_seidel::solver_rows());
  append(table, admm_rows());
  append(table, fixed_point_rows());
  append(table, apgd_rows());
  append(table, cascade_rows());
  append(table, nonsmooth_newton_rows());
  append(table, newton_ccp_rows());
  append(table, staggered_rows());
  append(table, lcp_rows());
  append(table, ipopt_rows());
  append(table, siconos_rows());
  if (test_solvers_wanted()) table.push_back(misbehave_row());
  return table;
}

const SolverRow* find_in(std::span<const SolverRow> rows, const std::string& id) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SolverRow& row) { return row.info.id == id; });
  return found == rows.end() ? nullptr : &*found;
}

/// Letters to insert, drop or change to turn one into the other; capitals and small letters are the same.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const bool same =
          std::toupper(static_cast<unsigned char>(a[i])) == std::toupper(static_cast<unsigned char>(b[k]));
      const std::size_t changed = diagonal + (same ? 0 : 1);
      diagonal = std::exchange(row[k + 1], std::min({changed, row[k] + 1, row[k + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::span<const SolverRow> solver_catalogue() {
  static const std::vector<SolverRow> catalogue = make_catalogue();
  return catalogue;
}

std::span<const SolverRow> solver_table() {
  static const std::vector<SolverRow> table = [] {
    std::vector<SolverRow> here;
    for (const SolverRow& row : solver_catalogue()) {
      if (row.missing.empty()) here.push_back(row);
    }
    return here;
  }();
  return table;
}

const SolverRow* find_solver(const std::string& id) { return find_in(solver_table(), id); }

Result<const SolverRow*> require_solver(const std::string& id) {
  if (const SolverRow* row = find_solver(id)) return row;
  if (const SolverRow* row = find_in(solver_catalogue(), id)) {
    return Error{ErrorCode::unsupported, id + ": " + row->missing};
  }
  std::string nearest;
  std::size_t least = id.size();
  std::string known;
  for (const auto& row : solver_table()) {
    known += (known.empty() ? "" : ", ") + row.info.id;
    const std::size_t edits = edit_distance(id, row.info.id);
    if (edits < least) {
      least = edits;
      nearest = row.info.id;
    }
  }
  const std::string meant = nearest.empty() ? "" : "did you mean " + nearest + "? ";
  return Error{ErrorCode::wrong_usage, "unknown solver '" + id + "'; " + meant + "known: " + known};
}

}  // namespace conebench
