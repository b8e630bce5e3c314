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

/// Empty where there is no library to look with.
FeasibilityRecord record_of(const Feasibility& found);

/// Processor time of the search. Thousands of contacts take a second or two; what takes longer costs a sweep more than
/// it gains.
struct CertifyBudget {
  double problem_s = 10.0;
  double total_s = 60.0;
};

/// Looks for a proof that a problem has no solution, for each of `problems` (indices into `set`) of which the store has
/// cells, none that is solved at the tightest tolerance of them, and no finding of an earlier search. Stores what it
/// finds (ProblemRecord::feasibility), that there is no proof too; in the place of a mark only what knows more. Each in
/// a process of its own. What the budget is too short for, and what is ended from outside, is left to the next run, and
/// the progress is told.
Result<void> certify_unsolved(Store& store, const ProblemSet& set, const std::set<std::size_t>& problems,
                              const std::filesystem::path& cache, const std::atomic<bool>* interrupted,
                              Progress& progress, const CertifyBudget& budget = {});

}  // namespace conebench
