#include "runners/execute/rejudge.hpp"

#include <fmt/format.h>

#include <map>

#include "metrics/noise_level.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/certify.hpp"

namespace conebench {

namespace {

/// Whether the cell has an answer to judge: one of a problem without constraints has no rows.
bool answered(const CellRecord& cell, Index rows) {
  return rows == 0 ? cell.claimed : static_cast<Index>(cell.reaction.size()) == rows;
}

}  // namespace

Result<RejudgeOutcome> rejudge(Store& store, const RejudgeOptions& options) {
  const auto contents = store.read();
  if (!contents) return contents.error();
  CONEBENCH_TRY(const auto problems, StoredProblems::list(contents->runs, options.problems));
  std::map<std::string, std::vector<const CellRecord*>> cells_of;
  for (const auto& cell : contents->cells) cells_of[cell.problem].push_back(&cell);

  RejudgeOutcome outcome;
  outcome.cells = static_cast<long>(contents->cells.size());
  long done = 0;
  for (const ProblemRecord& record : contents->problems) {
    const auto& cells = cells_of[record.hash];
    if (cells.empty()) continue;
    if (!record.error.empty()) {
      outcome.without_answer += static_cast<long>(cells.size());
      continue;
    }
    const auto members = problems.load(record);
    if (!members) {
      outcome.unavailable += static_cast<long>(cells.size());
      outcome.notes.push_back(
          fmt::format("{}: {} cells left as they were: {}", record.name, cells.size(), members.error().message));
      continue;
    }
    ProblemRecord judged = record;
    if (!judged.noise_ratio && members->size() == 1) judged.noise_ratio = noise_ratio(members->front());
    const bool marked = record.infeasible() || record.feasibility.state == "refuted";
    if (marked) {
      const auto& z = record.feasibility.certificate;
      const Feasibility found =
          judge_certificate(members->front(), Eigen::Map<const Vector>(z.data(), static_cast<Index>(z.size())));
      const bool holds = found.state == FeasibilityState::infeasible;
      judged.feasibility = holds ? record_of(found) : FeasibilityRecord{};
      if (!holds) ++outcome.certificates_dropped;
    }
    if (marked || judged.noise_ratio != record.noise_ratio) CONEBENCH_CHECK(store.put_problem(judged));
    for (const CellRecord* stored : cells) {
      CellRecord cell = *stored;
      auto reaction = store.reaction(cell.key);
      if (!reaction) return reaction.error();
      if (*reaction) cell.reaction = std::move(**reaction);
      if (!answered(cell, rows_of(*members))) {
        // An older build may have stored that it is solved; it was read without that.
        if (const auto updated = store.update_judgement(cell); !updated) return updated.error();
        ++outcome.without_answer;
      } else {
        judge_cell(*members, cell);
        if (const auto updated = store.update_judgement(cell); !updated) return updated.error();
        ++outcome.judged;
        if (cell.solved && !stored->solved) ++outcome.newly_solved;
        if (!cell.solved && stored->solved) ++outcome.newly_unsolved;
      }
      if (options.progress) options.progress(++done, outcome.cells);
    }
  }
  return outcome;
}

}  // namespace conebench
