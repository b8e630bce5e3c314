#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"
#include "runners/execute/survey.hpp"

namespace conebench {

/// As survey_sources, of what `file` does not know: it keeps the surveys of problems that could be loaded, for this
/// executable alone, each while its source has the same size and time of change. New ones are added; the file is
/// replaced whole, so that others may read it meanwhile. An empty path: nothing is kept. Errors (bad_input): the file
/// is none of this executable's, or can't be written.
Result<std::vector<SurveyedProblem>> survey_kept(const std::filesystem::path& file, const SurveyPlan& plan,
                                                 const std::vector<ProblemSource>& sources, int at_a_time,
                                                 const std::atomic<bool>* interrupted, Progress& progress);

/// The file in a folder of written scenes (SweepOptions::cache) that keeps the surveys; empty where none was begun.
std::filesystem::path survey_file(const std::filesystem::path& cache);

/// Makes the folder, and begins a file in it that knows no problem yet, where it is missing.
void begin_survey(const std::filesystem::path& cache);

}  // namespace conebench
