#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "runners/execute/sweep.hpp"

/// Answers that somebody sent in, judged without running their solver. docs/submissions.md has the format.
namespace conebench {

struct SubmittedAnswer {
  std::string problem;                     ///< its hash, its source or its name in the suite
  std::string file;                        ///< below the folder, `.npy` or `.hdf5`
  std::optional<double> seconds;           ///< as the submitter claims
  std::optional<std::int64_t> iterations;  ///< as the submitter claims
};

/// What the manifest.json of a folder says. All of it is a claim.
struct Submission {
  std::filesystem::path folder;
  std::string solver, version;
  std::string by, url, machine;      ///< empty: not stated
  AnswerOf rows = AnswerOf::source;  ///< what the order of an answer's rows is that of
  std::vector<SubmittedAnswer> answers;
  std::vector<std::string> unlisted;  ///< files of the folder that no answer names
};

/// Reads the manifest alone. Errors (bad_input): there is none, it is a link, not valid or claims times without a
/// machine.
Result<Submission> read_submission(const std::filesystem::path& folder);

struct SubmissionOutcome {
  long problems = 0;                  ///< of the suite
  long answers = 0;                   ///< problems with an answer that was judged
  long missing = 0;                   ///< problems without one
  long cells = 0;                     ///< judged: an answer has one at each tolerance
  long solved = 0;                    ///< of `cells`
  std::vector<std::string> unusable;  ///< a line for each answer that could not be judged
};

/// Judges the answers by the suite's verdict at each of its tolerances and puts them into the empty store, as a run in
/// the mode `submitted`. A problem without an answer is stored as `unsupported`, so that it stays in denominators.
/// Cells have the suite's stop_by, so that solved shares are compared with those of measured cells.
/// `options`: data, cache and interrupted. Errors as run_sweep.
Result<SubmissionOutcome> judge_submission(const Submission& submission, const Suite& suite, Store& store,
                                           const SweepOptions& options, Progress& progress);

}  // namespace conebench
