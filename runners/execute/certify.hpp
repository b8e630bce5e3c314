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

/// Empty if this build has no library to search with.
FeasibilityRecord record_of(const Feasibility& found);

/// Processor time of the search. Thousands of contacts take a second or two. A longer search costs a sweep more than it
/// gains.
struct CertifyBudget {
  double problem_s = 10.0;
  double total_s = 60.0;
};

/// Searches for a proof that a problem has no solution, for each of `problems` (indices into `set`) that has cells in
/// the store, none of them solved at its tightest tolerance, and no result of an earlier search. Each search runs in a
/// process of its own. The result is stored in ProblemRecord::feasibility, also if there is no proof; a stored result
/// is replaced only by one that says more. Searches that exceed the budget, or are terminated externally, are deferred
/// to the next run, and a note says so.
Result<void> certify_unsolved(Store& store, const ProblemSet& set, const std::set<std::size_t>& problems,
                              const std::filesystem::path& cache, const std::atomic<bool>* interrupted,
                              Progress& progress, const CertifyBudget& budget = {});

}  // namespace conebench
