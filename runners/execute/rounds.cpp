#include "runners/execute/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

namespace conebench {

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Empty where the answers are the same.
std::string difference(const CellRecord& before, const std::vector<double>& answer, const CellRecord& now) {
  if (now.status != before.status) {
    return fmt::format("ended as {} instead of {}{}{}", now.status, before.status, now.reason.empty() ? "" : ": ",
                       now.reason);
  }
  if (now.iterations != before.iterations)
    return fmt::format("took {} iterations instead of {}", now.iterations, before.iterations);
  return same_bits(answer, now.reaction) ? "" : "gave another answer";
}

}  // namespace

std::map<std::size_t, CellRecord> cells_for_round(const std::vector<PlannedCell>& plan,
                                                  const std::vector<CellRecord>& stored, int round) {
  std::map<std::string, const CellRecord*> record_of;
  for (const CellRecord& cell : stored) {
    if (cell.solved && cell.status != "flaky" && cell.repeats > 0 && cell.rounds < round) record_of[cell.key] = &cell;
  }
  std::map<std::size_t, CellRecord> cells;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto found = record_of.find(plan[i].key);
    if (found != record_of.end()) cells[i] = *found->second;
  }
  return cells;
}

RetimedCell retimed(const CellRecord& before, const std::vector<double>& answer, CellRecord now) {
  static const std::set<std::string> untold{"time_limit", "timeout", "bad_problem", "unsupported"};
  now.rounds = before.rounds + 1;
  RetimedCell cell{before};
  cell.record.rounds = now.rounds;
  if (untold.contains(now.status)) return cell;
  const std::string differs = difference(before, answer, now);
  if (!differs.empty()) {
    now.reason = fmt::format("round {} {}", now.rounds, differs);
    now.status = "flaky";
    return {std::move(now), true};
  }
  if (now.total.median < before.total.median) {
    cell.record.run_id = now.run_id;
    cell.record.setup = now.setup;
    cell.record.solve = now.solve;
    cell.record.total = now.total;
    cell.record.repeats = now.repeats;
  }
  return cell;
}

}  // namespace conebench
