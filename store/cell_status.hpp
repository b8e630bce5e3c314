#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace conebench {

/// How a cell ended: as its solver says, or as the runner found it.
enum class CellStatus : std::uint8_t {
  unknown,  ///< not run yet, or one that this build does not know
  converged,
  max_iterations,
  time_limit,
  stalled,
  diverged,
  breakdown,
  unsupported,
  timeout,
  crashed,
  out_of_memory,
  flaky,
  bad_problem,
  skipped,
};

/// What a status means to gates, exit codes and comparisons, and to the outcome that colours a page.
enum class StatusClass : std::uint8_t {
  answer,       ///< the solver came back by itself: data, whatever it says
  clock,        ///< the time was up: another day, or another machine, may see it end
  broke,        ///< it ended without an answer: exit code 4
  unsupported,  ///< data in a sweep; exit code 4 of `solve`
  unreadable,   ///< there was no problem to solve: exit code 4
  not_run,
};

struct CellStatusRow {
  CellStatus status;
  std::string_view name;   ///< in stores, JSON, filters and --retry
  std::string_view brief;  ///< where a table has little room
  StatusClass kind;
  std::string_view meaning;  ///< what happened
};

/// All but `unknown`, in this order.
const std::array<CellStatusRow, 13>& cell_status_table();

/// "max_iterations".
std::string_view name(CellStatus status);
std::string to_string(CellStatus status);
std::ostream& operator<<(std::ostream& out, CellStatus status);
StatusClass class_of(CellStatus status);
/// `unknown` where no status has this name.
CellStatus cell_status(std::string_view name);

/// For nlohmann's json.
template <class Json>
void to_json(Json& json, CellStatus status) {
  json = to_string(status);
}
template <class Json>
void from_json(const Json& json, CellStatus& status) {
  status = cell_status(json.template get_ref<const std::string&>());
}

}  // namespace conebench
