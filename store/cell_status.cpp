#include "store/cell_status.hpp"

#include <algorithm>
#include <ostream>

namespace conebench {

namespace {

constexpr CellStatusRow not_known = {CellStatus::unknown, "unknown", "?", StatusClass::not_run,
                                     "not run, or ended in a way not known here"};

const CellStatusRow& row_of(CellStatus status) {
  const auto& table = cell_status_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const CellStatusRow& row) { return row.status == status; });
  return found == table.end() ? not_known : *found;
}

}  // namespace

const std::array<CellStatusRow, 13>& cell_status_table() {
  using enum CellStatus;
  using Kind = StatusClass;
  static constexpr std::array<CellStatusRow, 13> table = {{
      {converged, "converged", "claims", Kind::answer, "ended by its stopping test"},
      {max_iterations, "max_iterations", "max it.", Kind::answer, "used up its iterations"},
      {time_limit, "time_limit", "time", Kind::clock, "came back after its time"},
      {stalled, "stalled", "stalled", Kind::answer, "made no progress any more"},
      {diverged, "diverged", "diverged", Kind::answer, "left the range of numbers"},
      {breakdown, "breakdown", "break", Kind::answer, "could not go on"},
      {unsupported, "unsupported", "n/a", Kind::unsupported, "does not take the problem"},
      {timeout, "timeout", "killed", Kind::clock, "killed after its time"},
      {crashed, "crashed", "crash", Kind::broke, "its process ended without an answer"},
      {out_of_memory, "out_of_memory", "memory", Kind::broke, "used up its memory"},
      {flaky, "flaky", "flaky", Kind::answer, "gave one answer, then another"},
      {bad_problem, "bad_problem", "bad", Kind::unreadable, "the problem could not be loaded"},
      {skipped, "skipped", "", Kind::not_run, "not run"},
  }};
  return table;
}

std::string_view name(CellStatus status) { return row_of(status).name; }
std::string to_string(CellStatus status) { return std::string(name(status)); }
std::ostream& operator<<(std::ostream& out, CellStatus status) { return out << name(status); }
StatusClass class_of(CellStatus status) { return row_of(status).kind; }

CellStatus cell_status(std::string_view name) {
  const auto& table = cell_status_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const CellStatusRow& row) { return row.name == name; });
  return found == table.end() ? CellStatus::unknown : found->status;
}

}  // namespace conebench
