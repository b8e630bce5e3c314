#pragma once

#include <vector>

#include "runners/plan/cell_plan.hpp"
#include "store/records.hpp"

namespace conebench {

/// Estimated time of a worker for each cell [s], including repeats and judging, between the cost of starting a cell and
/// the suite's limit. The estimate is, if known, the time in `earlier` of the same problem, solver, options, tolerance
/// and start; else the mean in `earlier` of the same solver and tolerance over the five problems nearest in size; else
/// a function of the problem's size, which does not distinguish solvers.
std::vector<double> estimated_costs(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedConfiguration>& configurations,
                                    const std::vector<PlannedCell>& cells, const StoreContents& earlier);

/// The part, 1 … `parts`, of each cell. Pieces that stay together are: the cells of a sequence and one configuration;
/// otherwise the cells of one problem, up to an eighth of a part's cost. So a part loads few problems, and one machine
/// measures all solvers on a problem. The pieces are taken by falling cost, and each goes to the part that costs least
/// so far (Graham's rule). So no part costs more than an equal share plus one piece.
std::vector<int> balanced_parts(const std::vector<PlannedCell>& cells, const std::vector<double>& costs, int parts);

}  // namespace conebench
