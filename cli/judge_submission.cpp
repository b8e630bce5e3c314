#include "cli/judge_submission.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "base/temporary_folder.hpp"
#include "base/unfinished.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/submission.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_named = 5;

Error usage(const char* message) { return {ErrorCode::wrong_usage, message}; }

std::string described(const Submission& submission) {
  return fmt::format("{} {}", submission.solver, submission.version);
}

/// Made under another name and renamed when it is whole.
Result<SubmissionOutcome> fill_store(const SubmissionRequest& request, const Submission& submission, const Suite& suite,
                                     const SweepOptions& options, Progress& progress) {
  const fs::path unfinished = unfinished_path(request.store);
  const auto filled = [&]() -> Result<SubmissionOutcome> {
    CONEBENCH_TRY(auto store, Store::open(unfinished, Store::Mode::read_write));
    return judge_submission(submission, suite, store, options, progress);
  }();
  std::error_code failure;
  if (filled) fs::rename(unfinished, request.store, failure);
  if (!filled || failure) {
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(unfinished.string() + end, ignored);
  }
  if (failure) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", request.store, failure.message())};
  }
  return filled;
}

nlohmann::json outcome_json(const SubmissionRequest& request, const Submission& submission, const Suite& suite,
                            const SubmissionOutcome& outcome) {
  return {{"folder", request.folder},    {"store", request.store},        {"suite", suite.name},
          {"solver", submission.solver}, {"version", submission.version}, {"problems", outcome.problems},
          {"answers", outcome.answers},  {"missing", outcome.missing},    {"cells", outcome.cells},
          {"solved", outcome.solved},    {"unusable", outcome.unusable},  {"unlisted", submission.unlisted}};
}

}  // namespace

Result<int> judge_submission(const SubmissionRequest& request) {
  if (request.suite.empty()) return usage("judge --submission: name the suite of the problems with --suite");
  if (request.store.empty()) return usage("judge --submission: name the store of the verdicts with --db");
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(request.store, ignored))) {
    return Error{ErrorCode::bad_input, request.store + ": exists; a submission has a store of its own"};
  }
  CONEBENCH_CHECK(check_location(request.store));
  CONEBENCH_TRY(const auto submission, read_submission(request.folder));
  CONEBENCH_TRY(const auto suite, load_suite(request.suite, CodeInSuite::leave_out, simulation::sampled_scenes()));
  const InterruptGuard guard;
  SweepOptions options;
  options.data = request.data;
  options.cache = fs::path(request.store).replace_extension(".problems");
  options.interrupted = &guard.flag();
  ProgressPrinter progress = progress_on_stderr();
  auto outcome = fill_store(request, submission, suite, options, progress);
  progress.clear();
  if (!outcome && guard.flag()) {
    print_error("interrupted; nothing was kept");
    return interrupted;
  }
  CONEBENCH_CHECK(outcome);
  for (const std::string& line : outcome->unusable) print_note(request.folder + ": " + line);
  if (!submission.unlisted.empty()) {
    const auto& others = submission.unlisted;
    const std::vector<std::string> shown(others.begin(), others.begin() + std::min(max_named, others.size()));
    print_note(fmt::format("{}: {} that the manifest does not name: {}{}", request.folder,
                           plural(std::ssize(others), "file"), fmt::join(shown, ", "),
                           others.size() > shown.size() ? ", …" : ""));
  }
  if (request.json) {
    print_json("judge_submission", outcome_json(request, submission, suite, *outcome));
  } else {
    print_text(fmt::format("{} on {}: {} judged, {} of {} solved; {} without an answer\n{}\n", described(submission),
                           suite.name, plural(outcome->answers, "answer"), outcome->solved,
                           plural(outcome->cells, "cell"), plural(outcome->missing, "problem"), request.store));
  }
  if (outcome->answers == 0) {
    print_error(request.folder + ": nothing was judged: no answer could be used");
    return nothing_measured;
  }
  if (!outcome->unusable.empty()) {
    print_error(fmt::format("{}: {} could not be judged, see the lines above", request.folder,
                            plural(std::ssize(outcome->unusable), "answer")));
    return not_run;
  }
  return done;
}

}  // namespace conebench::cli
