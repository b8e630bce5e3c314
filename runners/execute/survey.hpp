#pragma once

#include <atomic>
#include <vector>

#include "runners/execute/progress.hpp"
#include "runners/execute/worker.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/plan/problem_survey.hpp"

namespace conebench {

/// Surveys every source in a process of its own, several at a time. The result has the order of the sources. A source
/// whose process crashes twice, hangs or uses too much memory can't be loaded. A source whose process was terminated
/// externally, or could not be started, ten times is `killed`. Stops early, with blank entries, when `interrupted`
/// becomes true.
std::vector<SurveyedProblem> survey_sources(const SurveyPlan& plan, const std::vector<ProblemSource>& sources,
                                            int at_a_time, const std::atomic<bool>* interrupted, Progress& progress);

}  // namespace conebench
