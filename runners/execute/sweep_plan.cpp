#include "runners/execute/sweep_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/temporary_folder.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/simulate.hpp"
#include "runners/execute/survey.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "runners/plan/problem_source.hpp"

namespace conebench {

namespace {

Error usage(std::string message) { return Error{ErrorCode::wrong_usage, std::move(message)}; }

std::optional<Error> check(const SweepOptions& options) {
  if (options.jobs < 1 || options.jobs > 1024) return usage(fmt::format("--jobs {}: must be 1 to 1024", options.jobs));
  if (options.shards < 1 || options.shard < 1 || options.shard > options.shards) {
    return usage(fmt::format("--shard {}/{}: must be K/N with 1 <= K <= N", options.shard, options.shards));
  }
  for (const std::string& status : options.retry) {
    if (cell_status(status) != CellStatus::unknown) continue;
    std::string known;
    for (const CellStatusRow& row : cell_status_table()) known += (known.empty() ? "" : ", ") + std::string(row.name);
    return usage(fmt::format("--retry: unknown status '{}'; known: {}", status, known));
  }
  return std::nullopt;
}

/// What is known of a problem without opening it.
FilterSubject subject_of(const ProblemSource& source) {
  FilterSubject subject;
  subject.family = source.family;
  subject.source = source.source;
  if (!source.name.empty()) subject.problem = source.name;
  return subject;
}

Result<std::vector<ProblemSource>> all_sources(const Suite& suite, const SweepOptions& options,
                                               const SceneWatch& watch) {
  return list_sources(suite, options.data, data_folder_of_environment(), options.cache, watch);
}

/// All that the suite asks for, whatever the filter and the shard leave of it.
void complete_scope(const Suite& suite, SweepPlan& plan) {
  SuiteScope& scope = plan.scope;
  for (const SurveyedProblem& problem : plan.problems.problems) {
    scope.problems[problem.record.source] = problem.record.hash;
    for (const std::string& copy : problem.record.copies) scope.problems[copy] = problem.record.hash;
  }
  for (const PlannedSetting& setting : plan.settings) {
    scope.settings[setting.record.hash] = {setting.record.solver, setting.record.label};
    auto code = foreign_code_words(setting.record.solver);
    if (!code.empty()) scope.code.emplace(setting.record.solver, std::move(code));
    const SolverRow* const row = find_solver(setting.record.solver);
    if (row != nullptr && !row->content_hash.empty()) scope.code_hashes[row->info.id] = row->content_hash;
  }
  scope.tolerances.insert(suite.tolerances.begin(), suite.tolerances.end());
  for (const Start start : suite.starts) scope.starts.insert(to_string(start));
  scope.criterion = to_string(suite.criterion);
  scope.verdict = suite.verdict;
  scope.max_iterations = suite.limits.iterations;
  scope.limit_s = suite.limits.seconds;
  scope.limit_mb = suite.limits.memory_mb;
}

std::set<WantedCell> wanted_cells(const SweepPlan& plan, const std::vector<PlannedCell>& planned) {
  std::set<WantedCell> cells;
  for (const PlannedCell& cell : planned) {
    cells.insert({plan.problems.problems[cell.problem].record.hash, plan.settings[cell.setting].record.hash,
                  cell.tolerance, to_string(cell.start)});
  }
  return cells;
}

/// Every key is a cell's: a suite that was edited meanwhile has others.
std::optional<Error> check_keys(std::set<std::string> keys, const SweepPlan& plan) {
  const std::size_t all = keys.size();
  for (const PlannedCell& cell : plan.cells) keys.erase(cell.key);
  if (keys.empty()) return std::nullopt;
  return Error{ErrorCode::bad_input,
               fmt::format("--keys: {} of {} are of no cell of this suite and filter, {} is one; was the suite or a "
                           "problem's file changed?",
                           keys.size(), all, *keys.begin())};
}

void leave_out_killed(SweepPlan& plan, std::vector<ProblemSource>& sources, std::vector<SurveyedProblem>& surveyed) {
  for (std::size_t i = surveyed.size(); i-- > 0;) {
    if (!surveyed[i].killed) continue;
    plan.killed.push_back(sources[i].source);
    sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(i));
    surveyed.erase(surveyed.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// A filter hides other sources of the same problem, and the original of a twin: the store knows them.
void keep_relatives(const ProblemRecord& known, ProblemRecord& record) {
  if (record.duplicate_of.empty()) record.duplicate_of = known.duplicate_of;
  std::vector<std::string> sources = known.copies;
  sources.push_back(known.source);
  for (std::string& source : sources) {
    const bool is_there = source == record.source || std::count(record.copies.begin(), record.copies.end(), source) > 0;
    if (!is_there) record.copies.push_back(std::move(source));
  }
}

}  // namespace

std::set<std::size_t> SweepPlan::asked_for() const {
  std::set<std::size_t> indices;
  for (const PlannedCell& cell : cells) indices.insert(cell.problem);
  return indices;
}

Result<SweepPlan> make_sweep_plan(const Suite& suite, const SweepOptions& options,
                                  const std::vector<ProblemRecord>* known, Progress& progress) {
  if (const auto error = check(options)) return *error;
  auto filter = CellFilter::parse(options.filter);
  if (!filter) return filter.error();
  const auto note = [&](const std::string& line) { progress.note(line); };
  const auto family_fits = [&](const std::string& family) {
    FilterSubject subject;
    subject.family = family;
    return filter->holds(subject);
  };
  SceneWatch watch{known != nullptr, options.interrupted, note, isolated_samples(suite.limits, options.interrupted)};
  watch.wanted = family_fits;
  auto sources = all_sources(suite, options, watch);
  if (!sources) return sources.error();
  SweepPlan plan;
  for (const ProblemSource& source : *sources) {
    plan.scope.problems[source.source];
    plan.scope.names[source.source] = {source.name, source.family, source.source};
  }
  // A warm cell's start may be the answer to a problem that the filter does not fit, of the same simulation.
  const bool warm = std::count(suite.starts.begin(), suite.starts.end(), Start::previous) > 0;
  std::erase_if(*sources, [&](const ProblemSource& source) {
    if (!options.sources.empty() && !options.sources.contains(source.source)) return true;
    if (!warm) return !filter->holds(subject_of(source));
    return (!source.place || source.pending) && !family_fits(source.family);
  });

  plan.interrupted = options.interrupted != nullptr && *options.interrupted;
  if (plan.interrupted) return plan;
  std::optional<TemporaryFolder> passing;
  if (known == nullptr) passing.emplace();
  const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool conditional = std::any_of(sources->begin(), sources->end(),
                                       [](const ProblemSource& source) { return !source.conditions.empty(); });
  SurveyPlan survey{suite,
                    passing ? passing->path() : options.cache,
                    known != nullptr || conditional || filter->needs_features(),
                    {},
                    known != nullptr};
  std::map<std::string, const ProblemRecord*> record_of;
  if (known != nullptr) {
    for (const ProblemRecord& record : *known) {
      survey.known[record.hash] = record.rank;
      record_of[record.hash] = &record;
    }
  }
  std::vector<SurveyedProblem> pending;
  std::vector<ProblemSource> pending_sources;
  for (const ProblemSource& source : *sources) {
    if (!source.pending) continue;
    pending.push_back(survey_pending(source));
    pending_sources.push_back(source);
  }
  std::erase_if(*sources, [](const ProblemSource& source) { return source.pending; });
  // A shard takes the word of the survey: each of many would read all bytes of the set.
  if (options.shards == 1 && !options.keys) {
    if (const auto altered = altered_data(*sources, options.interrupted)) return *altered;
  }
  const int at_a_time = std::max(options.jobs, processors);
  // A look alone leaves no features to keep.
  const std::filesystem::path file = known != nullptr ? survey_file(options.cache) : std::filesystem::path();
  auto looked = survey_kept(file, survey, *sources, at_a_time, options.interrupted, progress);
  if (!looked) return looked.error();
  std::vector<SurveyedProblem> surveyed = std::move(*looked);
  std::move(pending.begin(), pending.end(), std::back_inserter(surveyed));
  std::move(pending_sources.begin(), pending_sources.end(), std::back_inserter(*sources));
  plan.interrupted = options.interrupted != nullptr && *options.interrupted;
  if (plan.interrupted) return plan;
  leave_out_killed(plan, *sources, surveyed);
  if (warm && !plan.killed.empty()) {
    // The step after it would start from another answer than it should.
    return Error{
        ErrorCode::killed,
        fmt::format("{}: what looks at it was killed from outside, and starts \"previous\" need every step of a "
                    "sequence; nothing was run, run the same command again",
                    plan.killed.front())};
  }
  for (SurveyedProblem& problem : surveyed) {
    if (const auto found = record_of.find(problem.record.hash); found != record_of.end()) {
      copy_features(*found->second, problem.record);
    }
  }
  if (conditional) {
    for (const std::string& left_out : leave_out_unwanted(*sources, surveyed)) {
      plan.scope.problems.erase(left_out);
      plan.scope.names.erase(left_out);
    }
  }
  plan.problems = resolve_duplicates(std::move(*sources), std::move(surveyed));
  if (!options.filter.empty()) {
    for (SurveyedProblem& problem : plan.problems.problems) {
      const auto found = record_of.find(problem.record.hash);
      if (found != record_of.end()) keep_relatives(*found->second, problem.record);
    }
  }
  plan.settings = plan_settings(suite);
  complete_scope(suite, plan);
  const auto cells_of_shard = [&](int shard, int shards, const std::optional<std::set<std::string>>& keys) {
    return plan_cells(suite, plan.problems.problems, plan.settings, {shard, shards, *filter, keys});
  };
  plan.cells = cells_of_shard(options.shard, options.shards, options.keys);
  if (known != nullptr && options.keys) {
    if (auto error = check_keys(*options.keys, plan)) return *error;
  }
  // What the filter leaves is asked for, by whatever shard.
  if (!options.filter.empty()) plan.scope.part = wanted_cells(plan, cells_of_shard(1, 1, std::nullopt));
  return plan;
}

void describe_run(const Suite& suite, const SweepOptions& options, const SweepPlan& plan, RunRecord& run) {
  run.suite_name = suite.name;
  run.suite_text = suite.text;
  const auto data = data_folder(options.data.empty() ? data_folder_of_environment() : options.data);
  std::error_code ignored;
  if (!suite.folder.empty()) run.suite_folder = std::filesystem::absolute(suite.folder, ignored).string();
  if (!data.empty()) run.data_folder = std::filesystem::absolute(data, ignored).string();
  for (const ProblemSource& source : plan.problems.sources) {
    if (!source.data_set.empty()) run.data_sets[source.data_set] = source.data_version;
  }
  run.seed = suite.seed;
  run.started_utc = utc_now();
  run.mode = options.jobs == 1 ? "timed" : "throughput";
  run.jobs = options.jobs;
}

std::optional<Error> put_plan(Store& store, const SweepPlan& plan) {
  std::set<std::size_t> problems, settings;
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < plan.problems.problems.size(); ++i) index_of[plan.problems.problems[i].record.hash] = i;
  for (const PlannedCell& cell : plan.cells) {
    problems.insert(cell.problem);
    settings.insert(cell.setting);
    // The original that a twin names is described, too, though this shard or filter may hold no cell of it.
    const auto original = index_of.find(plan.problems.problems[cell.problem].record.duplicate_of);
    if (original != index_of.end()) problems.insert(original->second);
  }
  for (const std::size_t problem : problems) {
    if (const auto put = store.put_problem(plan.problems.problems[problem].record); !put) return put.error();
  }
  for (const std::size_t setting : settings) {
    if (const auto put = store.put_setting(plan.settings[setting].record); !put) return put.error();
  }
  return std::nullopt;
}

Work work_left(const SweepPlan& plan, const std::vector<std::pair<std::string, std::string>>& stored,
               const std::vector<std::string>& retry) {
  const std::map<std::string, std::string> status_of(stored.begin(), stored.end());
  const std::set<std::string> again(retry.begin(), retry.end());
  const auto is_done = [&](const PlannedCell& cell) {
    const auto found = status_of.find(cell.key);
    return found != status_of.end() && !again.contains(found->second);
  };
  // What starts from an answer that is to be found again is to be done again, too.
  std::vector<std::optional<bool>> done(plan.cells.size());
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    std::vector<std::size_t> chain;
    std::optional<std::size_t> cell = i;
    while (cell && !done[*cell]) {
      chain.push_back(*cell);
      cell = plan.cells[*cell].previous;
    }
    bool before = !cell || *done[*cell];
    for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
      before = before && is_done(plan.cells[*link]);
      done[*link] = before;
    }
  }
  Work work;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    if (*done[i]) {
      ++work.resumed;
    } else {
      work.to_run.push_back(i);
    }
  }
  return work;
}

Result<CellCount> count_cells(const Suite& suite, const SweepOptions& options) {
  if (const auto error = check(options)) return *error;
  const auto filter = CellFilter::parse(options.filter);
  if (!filter) return filter.error();
  const auto sources = all_sources(suite, options, {.simulate = false, .interrupted = nullptr, .note = {}});
  if (!sources) return sources.error();
  CellCount count;
  for (const PlannedSetting& setting : plan_settings(suite)) {
    count.solvers.insert(setting.record.solver);
    for (const ProblemSource& source : *sources) {
      count.families.insert(source.family);
      FilterSubject subject = subject_of(source);
      subject.solver = setting.record.solver;
      subject.setting = setting.record.label;
      for (const double tolerance : suite.tolerances) {
        subject.tolerance = tolerance;
        if (filter->holds(subject)) count.left += static_cast<long>(suite.starts.size());
      }
    }
  }
  return count;
}

}  // namespace conebench
