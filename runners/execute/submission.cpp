#include "runners/execute/submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/content_address.hpp"
#include "base/json_reader.hpp"
#include "base/plural.hpp"
#include "base/suggestion.hpp"
#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/certify.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/sweep_plan.hpp"
#include "runners/plan/cell_plan.hpp"
#include "store/run_mode.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* manifest_name = "manifest.json";
constexpr const char* schema = "conebench.submission/1";
constexpr std::uintmax_t max_manifest = std::uintmax_t{32} << 20U;
constexpr std::size_t max_line = 200;
constexpr double max_seconds = 1e9;

Error bad(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }

/// A text of one line that is not too long for a table.
std::string line_of(JsonReader& reader, const Json& manifest, const char* key) {
  if (!manifest.contains(key)) return {};
  const std::string text = reader.text(manifest[key], key);
  if (text != one_line(text) || text.size() > max_line) {
    reader.fail(key, fmt::format("must be one line of printable text, of at most {} bytes", max_line));
  }
  return text;
}

SubmittedAnswer read_answer(JsonReader& reader, const Json& entry, const std::string& path) {
  SubmittedAnswer answer;
  if (!reader.is_object(entry, path, {"problem", "file", "seconds", "iterations"})) return answer;
  for (const char* key : {"problem", "file"}) {
    if (!entry.contains(key)) reader.fail(child_path(path, key), "is missing");
  }
  if (reader.error()) return answer;
  answer.problem = reader.text(entry["problem"], child_path(path, "problem"));
  answer.file = reader.text(entry["file"], child_path(path, "file"));
  if (entry.contains("seconds")) {
    answer.seconds = reader.number(entry["seconds"], child_path(path, "seconds"), 0.0, max_seconds);
  }
  if (entry.contains("iterations")) {
    answer.iterations = reader.integer(entry["iterations"], child_path(path, "iterations"), 0, 1L << 53U);
  }
  return answer;
}

void read_manifest(JsonReader& reader, const Json& manifest, Submission& submission) {
  const bool known =
      reader.is_object(manifest, "", {"schema", "solver", "version", "by", "url", "machine", "rows", "answers"});
  if (!known) return;
  for (const char* key : {"schema", "solver", "version", "answers"}) {
    if (!manifest.contains(key)) reader.fail(key, "is missing");
  }
  if (reader.error()) return;
  reader.choice(manifest["schema"], "schema", {schema});
  submission.solver = line_of(reader, manifest, "solver");
  submission.version = line_of(reader, manifest, "version");
  submission.by = line_of(reader, manifest, "by");
  submission.url = line_of(reader, manifest, "url");
  submission.machine = line_of(reader, manifest, "machine");
  if (manifest.contains("rows")) {
    const bool of_problem = reader.choice(manifest["rows"], "rows", {"file", "problem"}) == "problem";
    submission.rows = of_problem ? AnswerOf::problem : AnswerOf::source;
  }
  const Json& answers = manifest["answers"];
  if (!answers.is_array() || answers.empty()) return reader.fail("answers", "must be a list of one or more answers");
  for (std::size_t i = 0; i < answers.size() && !reader.error(); ++i) {
    submission.answers.push_back(read_answer(reader, answers[i], child_path("answers", i)));
    if (submission.answers.back().seconds && submission.machine.empty()) {
      reader.fail("machine", "is missing: say on what the times were taken, or claim no \"seconds\"");
    }
  }
}

/// "r/12.npy" → its path below the folder. Errors: it leads out of the folder, or over a link; no regular file.
Result<fs::path> inside(const fs::path& folder, const std::string& file) {
  const fs::path given(file);
  if (given.is_absolute() || std::ranges::find(given, "..") != given.end()) {
    return bad("leads out of the folder");
  }
  fs::path path = folder;
  fs::file_status status;
  for (const fs::path& part : given) {
    path /= part;
    std::error_code ignored;
    status = fs::symlink_status(path, ignored);
    if (fs::is_symlink(status)) return bad("is a link, or below one; send the file itself");
  }
  if (!fs::exists(status)) return bad("is not in the folder");
  if (!fs::is_regular_file(status)) return bad("is no regular file");
  return path;
}

std::vector<std::string> unlisted_files(const Submission& submission) {
  std::set<fs::path> named = {submission.folder / manifest_name};
  for (const SubmittedAnswer& answer : submission.answers) {
    named.insert((submission.folder / answer.file).lexically_normal());
  }
  std::vector<std::string> others;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(submission.folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) continue;
    if (!named.contains(at->path())) others.push_back(one_line(fs::relative(at->path(), submission.folder).string()));
  }
  std::ranges::sort(others);
  return others;
}

/// No answer needs more, whatever its file declares: HDF5 may keep velocities beside the impulses.
std::uintmax_t max_answer_bytes(const ContactProblem& problem) {
  return (std::uintmax_t{1} << 20U) + 64 * static_cast<std::uintmax_t>(problem.rows());
}

/// What was submitted, by the suite's problems.
class Judging {
 public:
  Judging(const Submission& submission, const Suite& suite, const SweepPlan& plan, Store& store,
          const SweepOptions& options)
      : submission_(submission),
        suite_(suite),
        plan_(plan),
        store_(store),
        options_(options),
        answers_of_(plan.problems.problems.size()) {
    outcome_.problems = static_cast<long>(plan.problems.problems.size());
  }

  Result<SubmissionOutcome> run(std::int64_t run_id, const ConfigurationRecord& configuration) {
    run_id_ = run_id;
    configuration_ = &configuration;
    find_problems();
    for (std::size_t p = 0; p < answers_of_.size(); ++p) {
      if (options_.interrupted != nullptr && *options_.interrupted) {
        return Error{ErrorCode::killed, "interrupted; nothing was kept"};
      }
      CONEBENCH_CHECK(store_.put_problem(plan_.problems.problems[p].record));
      CONEBENCH_CHECK(judge(p));
    }
    return std::move(outcome_);
  }

 private:
  std::string place(std::size_t answer) const {
    return fmt::format("answers[{}] ({})", answer, one_line(submission_.answers[answer].file));
  }

  void refuse(std::size_t answer, const std::string& why) {
    outcome_.unusable.push_back(place(answer) + ": " + one_line(why));
  }

  /// By hash or source first: several problems may have one name.
  void find_problems() {
    std::map<std::string, std::set<std::size_t>> by_identity, by_name;
    for (std::size_t p = 0; p < plan_.problems.problems.size(); ++p) {
      const ProblemRecord& record = plan_.problems.problems[p].record;
      by_name[record.name].insert(p);
      std::vector<std::string> identities = record.copies;
      identities.insert(identities.end(), {record.hash, oldest_hash(record), record.source});
      for (const std::string& identity : identities) by_identity[identity].insert(p);
    }
    std::vector<std::string> names;
    for (const auto& [name, unused] : by_name) names.push_back(name);
    for (std::size_t i = 0; i < submission_.answers.size(); ++i) {
      const std::string& problem = submission_.answers[i].problem;
      const auto& known = by_identity.contains(problem) ? by_identity : by_name;
      const auto found = known.find(problem);
      if (found == known.end()) {
        refuse(i,
               fmt::format("no problem of the suite {} is called '{}'; {}names, sources and hashes are in a report's "
                           "problems.csv",
                           suite_.name, shorten(one_line(problem), max_line), did_you_mean(problem, names)));
      } else if (found->second.size() > 1) {
        refuse(i, fmt::format("{} are called '{}'; name one by its source or hash",
                              plural(std::ssize(found->second), "problem"), problem));
      } else {
        answers_of_[*found->second.begin()].push_back(i);
      }
    }
  }

  Result<void> judge(std::size_t p) {
    const SurveyedProblem& problem = plan_.problems.problems[p];
    const std::vector<std::size_t>& answers = answers_of_[p];
    if (!problem.loaded) {
      const auto status = problem.unsupported ? CellStatus::unsupported : CellStatus::bad_problem;
      return put_without(p, status, problem.record.error);
    }
    if (answers.empty()) {
      ++outcome_.missing;
      return put_without(p, CellStatus::unsupported, "no answer was submitted");
    }
    if (answers.size() > 1) {
      // Which of them counts is not for the judge to choose.
      const std::string why =
          fmt::format("{} for the problem {}", plural(std::ssize(answers), "answer"), problem.record.name);
      for (const std::size_t answer : answers) refuse(answer, why + "; send one");
      return put_without(p, CellStatus::breakdown, why);
    }
    const SubmittedAnswer& answer = submission_.answers[answers.front()];
    CONEBENCH_TRY(const auto loaded, load_source(plan_.problems.sources[p], options_.cache, true));
    const auto impulse = read(answer, loaded);
    if (!impulse) {
      refuse(answers.front(), impulse.error().message);
      return put_without(p, CellStatus::breakdown, "the answer could not be read: " + impulse.error().message);
    }
    if (!impulse->allFinite()) {
      const auto* const first = std::find_if_not(impulse->data(), impulse->data() + impulse->size(),
                                                 [](double value) { return std::isfinite(value); });
      refuse(answers.front(), fmt::format("holds {}, which is no impulse", *first));
      return put_without(p, CellStatus::breakdown, "the answer is not finite");
    }
    ++outcome_.answers;
    for (const double tolerance : suite_.tolerances) {
      CellRecord cell = cell_of(p, tolerance);
      cell.status = CellStatus::converged;
      cell.claimed = true;
      cell.iterations = -1;  // a claimed count would rank beside counted ones
      cell.own_solve_s = answer.seconds;
      cell.reaction.assign(impulse->data(), impulse->data() + impulse->size());
      judge_cell(loaded, cell);
      ++outcome_.cells;
      outcome_.solved += cell.solved ? 1 : 0;
      CONEBENCH_CHECK(store_.put_cell(cell));
    }
    return {};
  }

  Result<Vector> read(const SubmittedAnswer& answer, const ContactProblem& problem) const {
    CONEBENCH_TRY(const auto file, inside(submission_.folder, answer.file));
    std::error_code failure;
    const std::uintmax_t bytes = fs::file_size(file, failure);
    if (failure || bytes > max_answer_bytes(problem)) {
      return bad(fmt::format("has {} bytes; an answer of {} needs {}", bytes, plural(problem.rows(), "row"),
                             8 * problem.rows()));
    }
    auto impulse = read_reaction(file, problem, submission_.rows);
    if (impulse) return impulse;
    // The place says which file it is.
    std::string why = impulse.error().message;
    if (why.starts_with(one_line(file.string()) + ": ")) why = why.substr(one_line(file.string()).size() + 2);
    return bad(std::move(why));
  }

  CellRecord cell_of(std::size_t p, double tolerance) const {
    const SurveyedProblem& problem = plan_.problems.problems[p];
    CellRecord cell;
    cell.key = cell_key(suite_, problem, *configuration_, tolerance);
    cell.problem = problem.record.hash;
    cell.configuration = configuration_->hash;
    cell.tolerance = tolerance;
    cell.stop_by = to_string(suite_.stop_by);
    cell.verdict = suite_.verdict;
    cell.start = cell.start_used = to_string(Start::cold);
    cell.max_iterations = suite_.limits.iterations;
    cell.limit_s = suite_.limits.seconds;
    cell.limit_mb = suite_.limits.memory_mb;
    cell.iterations = cell.factorizations = cell.operator_products = -1;
    cell.run_id = run_id_;
    return cell;
  }

  Result<void> put_without(std::size_t p, CellStatus status, const std::string& reason) {
    for (const double tolerance : suite_.tolerances) {
      CellRecord cell = cell_of(p, tolerance);
      cell.status = status;
      cell.reason = reason;
      CONEBENCH_CHECK(store_.put_cell(cell));
    }
    return {};
  }

  const Submission& submission_;
  const Suite& suite_;
  const SweepPlan& plan_;
  Store& store_;
  const SweepOptions& options_;
  std::vector<std::vector<std::size_t>> answers_of_;  ///< by problem
  std::int64_t run_id_ = 0;
  const ConfigurationRecord* configuration_ = nullptr;
  SubmissionOutcome outcome_;
};

/// A label of its own: no submission can pass for a solver that was run.
ConfigurationRecord configuration_of(const Submission& submission) {
  ConfigurationRecord record;
  record.solver = submission.solver;
  record.label = submission.solver + " (submitted)";
  record.origin = submitted_origin;
  record.formulation = "NCP";
  record.peer_version = submission.version;
  record.peer_build = "answers sent in" + (submission.by.empty() ? std::string() : " by " + submission.by);
  const Json stated = {{"by", submission.by}, {"machine", submission.machine}, {"url", submission.url}};
  record.options_json = stated.dump(-1, ' ', false, Json::error_handler_t::replace);
  record.hash = content_address({"submission", record.solver, submission.version, record.options_json});
  return record;
}

}  // namespace

Result<Submission> read_submission(const fs::path& folder) {
  Submission submission;
  submission.folder = folder;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return bad(
        fmt::format("{}: is no folder; a submission is a folder with {} and answers", folder.string(), manifest_name));
  }
  const std::string where = (folder / manifest_name).string();
  CONEBENCH_TRY(const auto file, inside(folder, manifest_name).within(where));
  CONEBENCH_TRY(const auto text, read_text_file(file, max_manifest));
  const auto manifest = parse_json(text, where);
  if (!manifest) return bad(manifest.error().message);
  JsonReader reader(where);
  read_manifest(reader, *manifest, submission);
  if (reader.error()) return bad(shorten(reader.error()->message, 1000));
  submission.unlisted = unlisted_files(submission);
  return submission;
}

Result<SubmissionOutcome> judge_submission(const Submission& submission, const Suite& given, Store& store,
                                           const SweepOptions& options, Progress& progress) {
  Suite suite = given;
  suite.solvers.clear();  // nothing is run
  suite.starts = {Start::cold};
  CONEBENCH_TRY(auto plan, make_sweep_plan(suite, options, {}, progress));
  if (plan.interrupted) return Error{ErrorCode::killed, "interrupted; nothing was kept"};
  if (!plan.killed.empty()) {
    return Error{ErrorCode::killed, plan.killed.front() +
                                        ": the process that loads it was terminated externally; run "
                                        "the same command again"};
  }
  const ConfigurationRecord configuration = configuration_of(submission);
  plan.scope.configurations[configuration.hash] = {configuration.solver, configuration.label};

  RunRecord run;
  describe_run(suite, options, plan, run);
  run.mode = submitted_mode;
  run.build = capture_build();
  run.machine.cpu = submission.machine.empty() ? "not stated" : submission.machine;
  run.scope_json = to_json_text(plan.scope);
  CONEBENCH_TRY(run.id, store.begin_run(run));
  CONEBENCH_CHECK(store.put_configuration(configuration));
  store.batch({.max_s = 0.25, .max_writes = 32});
  auto outcome = Judging(submission, suite, plan, store, options).run(run.id, configuration);
  CONEBENCH_CHECK(store.commit());
  store.batch({});
  if (!outcome) return outcome;
  std::set<std::size_t> all;
  for (std::size_t p = 0; p < plan.problems.problems.size(); ++p) all.insert(p);
  CONEBENCH_CHECK(certify_unsolved(store, plan.problems, all, options.cache, options.interrupted, progress));
  run.finished_utc = utc_now();
  CONEBENCH_CHECK(store.finish_run(run));
  return outcome;
}

}  // namespace conebench
