#include "solvers/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/suggestion.hpp"
#include "solvers/admm/admm.hpp"
#include "solvers/cascade/cascade.hpp"
#include "solvers/common_options.hpp"
#include "solvers/cond/ccs.hpp"
#include "solvers/cond/cond.hpp"
#include "solvers/dvi/dvi.hpp"
#include "solvers/first_order/apgd.hpp"
#include "solvers/first_order/barzilai_borwein.hpp"
#include "solvers/first_order/fixed_point.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/ipopt/ipopt_rows.hpp"
#include "solvers/lcp/lcp_rows.hpp"
#include "solvers/newton/newton_ccp.hpp"
#include "solvers/newton/nonsmooth_newton.hpp"
#include "solvers/newton/staggered.hpp"
#include "solvers/siconos/siconos_rows.hpp"

namespace conebench {

namespace {

void append(std::vector<SolverRow>& table, std::vector<SolverRow> rows, StallTest stall = StallTest::none) {
  for (auto& row : rows) table.push_back(with_common_options(std::move(row), stall));
}

std::vector<SolverRow> make_catalogue() {
  std::vector<SolverRow> table;
  append(table, gauss_seidel::solver_rows(), StallTest::on_shown);
  append(table, admm_rows(), StallTest::on_shown);
  append(table, fixed_point_rows(), StallTest::on_shown);
  append(table, apgd_rows(), StallTest::by_solver);
  append(table, barzilai_borwein_rows(), StallTest::by_solver);
  append(table, cascade_rows());
  append(table, nonsmooth_newton_rows(), StallTest::on_shown);
  append(table, newton_ccp_rows(), StallTest::on_shown);
  append(table, staggered_rows(), StallTest::by_solver);
  append(table, cond_rows(), StallTest::on_shown);
  append(table, ccs_rows(), StallTest::on_shown);
  append(table, dvi_rows(), StallTest::on_shown);
  append(table, lcp_rows());
  append(table, ipopt_rows());
  append(table, siconos_rows());
  return table;
}

std::vector<SolverRow>& catalogue() {
  static std::vector<SolverRow> rows = make_catalogue();
  return rows;
}

/// Those of the catalogue that this build can run.
std::vector<SolverRow>& table() {
  static std::vector<SolverRow> rows = [] {
    std::vector<SolverRow> here;
    for (const SolverRow& row : catalogue()) {
      if (row.missing.empty()) here.push_back(row);
    }
    return here;
  }();
  return rows;
}

SolverOffer& offer() {
  static SolverOffer offered;
  return offered;
}

const SolverRow* find_in(std::span<const SolverRow> rows, const std::string& id) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SolverRow& row) { return row.info.id == id; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::vector<OptionSpec> SolverRow::all_options() const {
  std::vector<OptionSpec> all = options;
  all.insert(all.end(), common.begin(), common.end());
  return all;
}

SolverRow with_default_left_out(SolverRow row, const std::string& option) {
  const OptionValue usual = std::ranges::find(row.options, option, &OptionSpec::name)->default_value;
  row.effective_options = [effective = row.effective_options, option, usual](const OptionValues& values) {
    auto all = effective(values);
    if (all && all->at(option) == usual) all->erase(option);
    return all;
  };
  return row;
}

std::span<const SolverRow> solver_catalogue() { return catalogue(); }

std::span<const SolverRow> solver_table() { return table(); }

Result<void> add_solver(SolverRow row) {
  if (const SolverRow* const known = find_in(catalogue(), row.info.id)) {
    if (!row.content_hash.empty() && known->content_hash == row.content_hash) return {};
    return Error{ErrorCode::bad_input, "there is a solver " + row.info.id + " already; give it another id"};
  }
  table().push_back(row);
  catalogue().push_back(std::move(row));
  return {};
}

void offer_solvers(SolverOffer offered) { offer() = std::move(offered); }

const SolverRow* find_solver(const std::string& id) { return find_in(solver_table(), id); }

Result<const SolverRow*> require_solver(const std::string& id) {
  if (const SolverRow* row = find_solver(id)) return row;
  if (const SolverRow* row = find_in(solver_catalogue(), id)) {
    return Error{ErrorCode::unsupported, id + ": " + row->missing};
  }
  if (std::ranges::find(offer().ids, id) != offer().ids.end()) {
    CONEBENCH_CHECK(offer().add(id));
    if (const SolverRow* row = find_solver(id)) return row;
  }
  std::vector<std::string> ids;
  for (const auto& row : solver_table()) ids.push_back(row.info.id);
  ids.insert(ids.end(), offer().ids.begin(), offer().ids.end());
  std::string known;
  for (const std::string& one : ids) known += (known.empty() ? "" : ", ") + one;
  return Error{ErrorCode::wrong_usage, "unknown solver '" + id + "'; " + did_you_mean(id, ids) + "known: " + known};
}

}  // namespace conebench
