#pragma once

#include <span>

#include "problems/contact_problem.hpp"
#include "runners/execute/cell_run.hpp"

namespace conebench {

/// A cell of several problems: each is set up and solved, one after the other, and so again for as long as the suite's
/// repeats ask for. The record has λ of all of them, one after the other, sums of times and counts, and the ending of
/// the member that ended worst. The limit of time is that of the whole; members that it leaves no time, and those that
/// break, have no answer: their λ is not a number. Errors as solve_cell.
Result<CellRun> run_batch(std::span<const ContactProblem> members, const CellRequest& request,
                          const PhaseCallback& phase = nullptr);

/// Judges each member's part of λ: a residual is that of the worst member (blocks count through all of them), modes
/// are sums.
void judge_batch(std::span<const ContactProblem> members, CellRecord& record);

}  // namespace conebench
