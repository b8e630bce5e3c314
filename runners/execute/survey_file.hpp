#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "runners/execute/survey.hpp"

namespace conebench {

/// survey_sources with a cache: `file` keeps the surveys of loaded problems for this executable, each as long as its
/// source has the same size and modification time. New surveys are added. The file is replaced as a whole, so that
/// other processes may read it meanwhile. An empty path: no cache. Errors (bad_input): the file belongs to another
/// executable, or can't be written.
Result<std::vector<SurveyedProblem>> survey_kept(const std::filesystem::path& file, const SurveyPlan& plan,
                                                 const std::vector<ProblemSource>& sources, int at_a_time,
                                                 const std::atomic<bool>* interrupted, Progress& progress);

/// The file in a folder of written scenes (SweepOptions::cache) that keeps the surveys; empty where none was begun.
std::filesystem::path survey_file(const std::filesystem::path& cache);

/// Makes the folder and an empty survey file in it, if they are missing.
void begin_survey(const std::filesystem::path& cache);

/// The same, and empties the file of another executable.
void renew_survey(const std::filesystem::path& cache);

}  // namespace conebench
