#pragma once

#include <vector>

#include "runners/plan/cell_plan.hpp"
#include "store/records.hpp"

namespace conebench {

/// What each cell is thought to keep a worker busy for [s], repeats and judging included, between the cost of starting
/// it and the suite's limit. In this order: what `earlier` measured of the same problem, solver, options, tolerance and
/// start; the mean of what it measured of the same solver at the same tolerance on the five problems nearest in size;
/// the size of the problem alone, which tells large from small and no solver from another.
std::vector<double> estimated_costs(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedSetting>& settings, const std::vector<PlannedCell>& cells,
                                    const StoreContents& earlier);

/// Of each cell the part, 1 … `parts`, that it falls into. A sequence's cells of one setting stay together, and else
/// cells of one problem, up to an eighth of a part's share: who runs a part loads few problems, and measures a
/// problem's solvers on one processor. The dearest piece goes first, each to the part with the least so far (Graham's
/// rule), so that no part costs more than its share and one piece.
std::vector<int> balanced_parts(const std::vector<PlannedCell>& cells, const std::vector<double>& costs, int parts);

}  // namespace conebench
