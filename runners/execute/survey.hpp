#pragma once

#include <atomic>
#include <vector>

#include "runners/execute/progress.hpp"
#include "runners/execute/worker.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/plan/problem_survey.hpp"

namespace conebench {

/// Loads every source in a process of its own, several at a time, and answers what they say, in the order of the
/// sources. One that crashes (twice), hangs or takes too much memory is a problem that can't be loaded. Ends early,
/// with blank entries, where `interrupted` is set. What was killed from outside or refused by the system ten times is
/// `killed`.
std::vector<SurveyedProblem> survey_sources(const SurveyPlan& plan, const std::vector<ProblemSource>& sources,
                                            int at_a_time, const std::atomic<bool>* interrupted, Progress& progress);

}  // namespace conebench
