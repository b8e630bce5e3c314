#pragma once

#include <atomic>
#include <filesystem>
#include <set>

#include "base/result.hpp"
#include "metrics/feasibility.hpp"
#include "runners/execute/progress.hpp"
#include "runners/plan/problem_survey.hpp"
#include "store/store.hpp"

namespace conebench {

FeasibilityRecord record_of(const Feasibility& found);

/// Looks for a proof that a problem has no solution, for each of `problems` (indices into `set`) of which the store has
/// cells and none that is solved, and stores what it finds (ProblemRecord::feasibility). Each in a process of its own,
/// with 10 s; after a minute in all the rest is left, and the progress is told.
Result<std::monostate> certify_unsolved(Store& store, const ProblemSet& set, const std::set<std::size_t>& problems,
                                        const std::filesystem::path& cache, const std::atomic<bool>* interrupted,
                                        Progress& progress);

}  // namespace conebench
