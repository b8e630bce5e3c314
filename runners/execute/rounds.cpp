#include "runners/execute/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "store/time_doubts.hpp"

namespace conebench {

namespace {

bool out_of_time(const CellRecord& cell) { return class_of(cell.status) == StatusClass::clock; }

/// Empty where the answers are the same.
std::string difference(const CellRecord& before, const std::vector<double>& answer, const CellRecord& now) {
  if (now.status != before.status) {
    return fmt::format("ended as {} instead of {}{}{}", name(now.status), name(before.status),
                       now.reason.empty() ? "" : ": ", now.reason);
  }
  if (now.iterations != before.iterations)
    return fmt::format("took {} iterations instead of {}", now.iterations, before.iterations);
  return same_bits(answer, now.reaction) ? "" : "gave another answer";
}

}  // namespace

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

std::map<std::size_t, CellRecord> cells_for_round(const std::vector<PlannedCell>& plan,
                                                  const std::vector<CellRecord>& stored, int round) {
  std::map<std::string, const CellRecord*> record_of;
  for (const CellRecord& cell : stored) {
    const bool timed = cell.solved && cell.status != CellStatus::flaky && cell.repeats > 0;
    if (cell.rounds < (timed ? round : out_of_time(cell) ? std::min(round, 2) : 0)) record_of[cell.key] = &cell;
  }
  std::map<std::size_t, CellRecord> cells;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto found = record_of.find(plan[i].key);
    if (found != record_of.end()) cells[i] = *found->second;
  }
  return cells;
}

RetimedCell retimed(const CellRecord& before, const std::vector<double>& answer, CellRecord now) {
  using Change = RetimedCell::Change;
  constexpr double near = 0.2;  // of the limit
  RetimedCell cell{before};
  if (now.status == CellStatus::bad_problem) return cell;
  now.rounds = before.rounds + 1;
  for (RoundRecord& round : now.timed_rounds) round.round = now.rounds;
  cell.record.rounds = now.rounds;
  cell.change = Change::times;
  if (out_of_time(before)) {
    if (out_of_time(now)) return cell;
    return {std::move(now), Change::all};
  }
  if (out_of_time(now) && before.total.cold >= near * before.limit_s) return cell;
  const std::string differs = difference(before, answer, now);
  if (!differs.empty()) {
    cell.record.reason = fmt::format("round {} {}", now.rounds, differs);
    cell.record.status = CellStatus::flaky;
    cell.record.solved = before.solved && now.solved;
    cell.record.reaction = answer;
    cell.change = Change::all;
    return cell;
  }
  cell.record.timed_rounds.insert(cell.record.timed_rounds.end(), now.timed_rounds.begin(), now.timed_rounds.end());
  if (now.total.median < before.total.median) {
    cell.record.run_id = now.run_id;
    cell.record.setup = now.setup;
    cell.record.solve = now.solve;
    cell.record.total = now.total;
    cell.record.repeats = now.repeats;
    cell.record.doubts = now.doubts;
    // That stays true of a cell: only its very first run could show what later rounds find in a file.
    if (std::ranges::count(before.doubts, slow_first.code) > std::ranges::count(now.doubts, slow_first.code)) {
      cell.record.doubts.emplace_back(slow_first.code);
    }
  }
  return cell;
}

}  // namespace conebench
