#include "cli/paper_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "base/plural.hpp"
#include "cli/paper_commands.hpp"
#include "cli/paper_trajectories.hpp"
#include "reports/text.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store_lock.hpp"

namespace conebench::cli {

namespace {

bool data_given(const PaperRunOptions& options) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const variable = std::getenv("CONEBENCH_DATA");
  return !options.data.empty() || (variable != nullptr && *variable != '\0');
}

std::string problems_text(const PaperRun& run, const std::string& what) {
  std::set<std::string> problems;
  for (const papers::Sample& sample : run.samples) problems.insert(sample.group("problem"));
  return fmt::format("{} ({})", plural(static_cast<long>(problems.size()), "problem"), what);
}

/// One store for all suites. A cell that two of them ask for is then measured once, with the repeats of the first.
bool is_one_store(const std::filesystem::path& stores) {
  std::error_code ignored;
  return stores.extension() == ".sqlite" && !std::filesystem::is_directory(stores, ignored);
}

constexpr std::size_t length_of_day = 10;  // "2026-11-25"

std::string build_name(const BuildRecord& build) { return fmt::format("{} ({})", build.version, build.commit); }

/// Which builds measured the cells, by which criterion, and when.
void note_runs(const StoreContents& contents, const std::set<std::string>& keys, PaperRun& run) {
  std::set<std::int64_t> runs;
  for (const CellRecord& cell : contents.cells) {
    if (!keys.contains(cell.key)) continue;
    runs.insert(cell.run_id);
    run.stopped_by.insert(cell.stop_by);
    run.verdicts.insert(cell.verdict);
    run.tolerances.insert(cell.tolerance);
  }
  for (const RunRecord& record : contents.runs) {
    if (!runs.contains(record.id)) continue;
    run.builds.insert(build_name(record.build));
    run.days.insert(record.started_utc.substr(0, length_of_day));
  }
}

}  // namespace

std::string PaperRun::made() const {
  if (days.empty()) return "on a day that is not known";
  return fmt::format("on {} by Conebench {}", fmt::join(days, ", "), fmt::join(builds, ", "));
}

std::string PaperRun::criterion() const {
  if (stopped_by.empty()) return {};
  std::vector<std::string> texts;
  for (const double tolerance : tolerances) texts.push_back(reports::human_tolerance(tolerance));
  return fmt::format("stop_by {}, {} at {}", fmt::join(stopped_by, " and "), fmt::join(verdicts, " and "),
                     fmt::join(texts, ", "));
}

Result<std::vector<Suite>> PaperRunner::suites(const papers::Entry& owner, PaperRun& run) {
  run.problems = "generated";
  run.data_name = owner.data_name;
  if (owner.data_problems.empty() || !data_given(options_))
    return suites_of(owner, options_.size, false, entries_, simulation::sampled_scenes());
  CONEBENCH_TRY(auto with_data, suites_of(owner, options_.size, true, entries_, simulation::sampled_scenes()));
  for (const Suite& suite : with_data) {
    SweepOptions look;
    look.data = options_.data;
    if (const auto count = count_cells(suite, look); !count) {
      run.notes.push_back(
          fmt::format("{}: generated problems stand in for {}: {}", owner.id, owner.data_name, count.error().message));
      return suites_of(owner, options_.size, false, entries_, simulation::sampled_scenes());
    }
  }
  run.problems = std::exchange(run.data_name, {});
  return with_data;
}

Result<void> PaperRunner::run_suite(const Suite& suite, PaperRun& run) {
  const std::filesystem::path file =
      is_one_store(options_.stores) ? options_.stores : options_.stores / (suite.name + ".sqlite");
  std::error_code failed;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failed);
  if (failed) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {}", file.parent_path().string(), failed.message())};
  }
  CONEBENCH_TRY(const auto lock, StoreLock::acquire(file));
  CONEBENCH_TRY(auto store, Store::open(file, Store::Mode::read_write));
  SweepOptions options;
  options.data = options_.data;
  options.cache = std::filesystem::path(file).replace_extension(".problems");
  options.jobs = options_.jobs;
  options.allow_mixed = options_.allow_mixed;
  options.interrupted = options_.interrupted;
  renew_survey(options.cache);
  CONEBENCH_TRY(const auto outcome, run_sweep(suite, store, options, progress_));
  if (outcome.stopped) return *outcome.stopped;
  run.interrupted = run.interrupted || outcome.interrupted;
  run.left += outcome.left();
  for (const NoiseRecord& noise : outcome.noise)
    run.notes.push_back(suite.name + ": noise: " + reports::noise_text(noise));
  CONEBENCH_TRY(const auto contents, store.read());
  note_runs(contents, outcome.keys, run);
  auto samples = papers::samples_of(contents, outcome.keys);
  std::move(samples.begin(), samples.end(), std::back_inserter(run.samples));
  return {};
}

std::filesystem::path PaperRunner::folder_for(const std::string& what) const {
  return is_one_store(options_.stores) ? std::filesystem::path(options_.stores).replace_extension("." + what)
                                       : options_.stores / what;
}

template <class Sources>
Result<void> PaperRunner::measure(const Sources& sources, const std::filesystem::path& folder, auto make,
                                  auto samples_of, PaperRun& run) {
  CONEBENCH_TRY(const auto made, make(sources, folder, options_.interrupted, progress_));
  run.interrupted = !made;
  if (run.interrupted) return {};
  CONEBENCH_TRY(auto samples, samples_of(sources, folder));
  std::move(samples.begin(), samples.end(), std::back_inserter(run.samples));
  run.builds.insert(build_name(capture_build()));
  run.days.insert(utc_now().substr(0, length_of_day));
  return {};
}

Result<void> PaperRunner::simulate(const papers::Entry& owner, PaperRun& run) {
  const bool quick = options_.size == papers::Size::quick;
  const auto& simulations = quick ? owner.quick_trajectories : owner.full_trajectories;
  if (!simulations.empty()) {
    const auto folder = folder_for("trajectories");
    CONEBENCH_CHECK(measure(simulations, folder, make_trajectories, trajectory_samples, run));
    if (run.interrupted) return {};
    for (std::string& line : trajectory_failures(simulations, folder)) run.notes.push_back(std::move(line));
  }
  const auto& commands = quick ? owner.quick_commands : owner.full_commands;
  if (commands.empty()) return {};
  return measure(commands, folder_for("commands"), run_commands, command_samples, run);
}

Result<PaperRun> PaperRunner::run(const papers::Entry& entry) {
  const std::string& owner_id = entry.suites_of.empty() ? entry.id : entry.suites_of;
  if (const auto known = done_.find(owner_id); known != done_.end()) return known->second;
  const auto owner = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.id == owner_id; });
  PaperRun run;
  const papers::Entry& with_source = owner == entries_.end() ? entry : *owner;
  if (!with_source.quick.empty()) {
    CONEBENCH_TRY(const auto list, suites(with_source, run));
    for (const Suite& suite : list) {
      CONEBENCH_CHECK(run_suite(suite, run));
      if (run.interrupted) return run;
    }
  }
  CONEBENCH_CHECK(simulate(with_source, run));
  if (run.interrupted) return run;
  run.problems = problems_text(run, run.problems.empty() ? "simulated" : run.problems);
  done_[owner_id] = run;
  return run;
}

}  // namespace conebench::cli
