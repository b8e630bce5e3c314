#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/grid_argument.hpp"
#include "cli/output.hpp"
#include "cli/tune.hpp"
#include "reports/report.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/simulate.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/grid.hpp"
#include "runners/plan/problem_source.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"
#include "store/store_lock.hpp"

namespace conebench::cli {

namespace {

constexpr const char* tune_footer =
    R"(Successive halving: all configurations run on a few problems of every family, the best
third goes on to three times as many, until two or three are left on all. The
solver's defaults stay to the end. The configurations are those of --grid, or else
those that the suite has for the solver.
The store keeps every cell: the same command goes on where the budget ended,
and `conebench report` shows the configurations that ran on all problems.

Examples:
  conebench tune PGS-NCP --suite default --grid relaxation=0.5,0.8,1,1.3
  conebench tune ADMM-NCP-SA --suite nightly.json --data problems --budget 3600
  conebench tune NSGS --suite default --grid relaxation=0.8,1,1.2 --out nsgs.json)";

constexpr std::size_t kept_share = 3;

struct TuneArguments {
  std::string solver;
  std::string suite;
  std::vector<std::string> grid;
  std::string store;
  std::string data;
  std::string out;
  std::string cost = "time";
  double budget = 600.0;
  bool json = false;
  bool break_lock = false;
  ForeignCode code;
};

/// Configurations to choose from, the defaults first, each effective one once.
Result<std::vector<OptionValues>> candidates(const TuneArguments& arguments, const Suite& suite, const SolverRow& row) {
  std::vector<OptionValues> wanted{{}};
  if (!arguments.grid.empty()) {
    CONEBENCH_TRY(const auto axes, parse_grid(arguments.grid, row));
    for (OptionValues& options : cartesian({}, axes)) wanted.push_back(std::move(options));
  } else {
    for (const SolverEntry& entry : suite.solvers) {
      if (entry.id == row.info.id) wanted.insert(wanted.end(), entry.options.begin(), entry.options.end());
    }
  }
  std::vector<OptionValues> found;
  std::set<std::string> known;
  for (OptionValues& options : wanted) {
    CONEBENCH_TRY(const auto effective, row.effective_options(options));
    if (known.insert(configuration_record(row, effective).hash).second) found.push_back(std::move(options));
  }
  if (found.size() < 2) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: one configuration of {} is nothing to choose from; give --grid option=value,value,… "
                             "(`conebench list solvers {}` has its options)",
                             arguments.suite, row.info.id, row.info.id)};
  }
  return found;
}

/// Shows a sweep's progress, and stops it when the time is over or the user wants it.
class Stopwatch final : public Progress {
 public:
  Stopwatch(double budget, const std::atomic<bool>& interrupted)
      : end_(monotonic_seconds() + budget), interrupted_(interrupted), shown_(progress_on_stderr()) {}

  const std::atomic<bool>& stop() const { return stop_; }
  bool over() const { return stop_; }

  void surveyed(long done, long total) override {
    check_limits();
    shown_.surveyed(done, total);
  }
  void began(const SweepState& state) override { shown_.began(state); }
  void cell_done(const CellRecord& cell, const ProblemRecord& problem, const ConfigurationRecord& configuration,
                 const SweepState& state) override {
    check_limits();
    shown_.cell_done(cell, problem, configuration, state);
  }
  void note(const std::string& line) override { shown_.note(line); }
  void ended(const SweepState& state) override { shown_.ended(state); }

 private:
  void check_limits() {
    if (interrupted_ || monotonic_seconds() > end_) stop_ = true;
  }

  double end_;
  const std::atomic<bool>& interrupted_;
  std::atomic<bool> stop_ = false;
  ProgressPrinter shown_;
};

/// A rung that all of its cells were run for.
struct RanRung {
  std::size_t problems = 0;
  RungResult result;
};

class Tuning {
 public:
  Tuning(const TuneArguments& arguments, Suite suite, const SolverRow& row, std::vector<OptionValues> configurations,
         SweepOptions options)
      : arguments_(arguments),
        suite_(std::move(suite)),
        row_(row),
        options_(std::move(options)),
        cost_(arguments.cost == "time" ? reports::Cost::time : reports::Cost::iterations) {
    for (OptionValues& one : configurations) {
      const ConfigurationRecord record = configuration_record(row, *row.effective_options(one));
      hashes_.push_back(record.hash);
      labels_[record.hash] = record.label;
      values_[record.hash] = std::move(one);
    }
  }

  /// Runs what the budget allows. Errors as run_sweep.
  Result<void> run(Store& store, Stopwatch& watch) {
    CONEBENCH_TRY(const auto order, problem_order());
    std::vector<std::string> alive = hashes_;
    std::set<std::string> families(groups_.begin(), groups_.end());
    for (const Rung& rung : plan_rungs(alive.size(), order.size(), 2 * families.size(), kept_share)) {
      if (watch.over()) return {};
      const bool distinguished = rungs_.empty() || rungs_.back().result.scores.front().solved > 0;
      if (distinguished) cut(alive, rung.configurations);
      const std::vector<std::string> problems(order.begin(),
                                              order.begin() + static_cast<std::ptrdiff_t>(rung.problems));
      CONEBENCH_TRY(auto result, run_rung(store, watch, alive, problems));
      if (!result) return {};
      print(rung.problems, *result);
      alive.clear();
      for (const RungScore& score : result->scores) alive.push_back(score.configuration);
      if (!rungs_.empty()) result->unseen.reset();  // every family has chosen these configurations already
      rungs_.push_back({rung.problems, std::move(*result)});
      complete_ = rung.problems == order.size();
    }
    return {};
  }

  bool complete() const { return complete_; }
  const std::vector<RanRung>& rungs() const { return rungs_; }
  const std::string& label(const std::string& hash) const { return labels_.at(hash); }
  const std::string& standard() const { return hashes_.front(); }

  nlohmann::ordered_json snippet(const std::string& hash) const {
    nlohmann::ordered_json entry = {{"id", row_.info.id}};
    if (!values_.at(hash).empty()) entry["options"] = cli::to_json(values_.at(hash));
    return entry;
  }

 private:
  /// All problems of the suite, by family in turn.
  Result<std::vector<std::string>> problem_order() {
    SceneWatch scenes;
    scenes.interrupted = options_.interrupted;
    scenes.note = [](const std::string& line) { print_note(line); };
    scenes.make = isolated_samples(suite_.limits, options_.interrupted);
    CONEBENCH_TRY(const auto sources,
                  list_sources(suite_, options_.data, data_folder_of_environment(), options_.cache, scenes));
    std::vector<std::string> names;
    for (const ProblemSource& source : sources) {
      names.push_back(source.source);
      groups_.push_back(!source.family.empty() ? source.family
                                               : std::filesystem::path(source.source).parent_path().string());
    }
    return in_turn(names, groups_, suite_.seed);
  }

  /// The defaults stay, whatever is better.
  void cut(std::vector<std::string>& alive, std::size_t most) const {
    if (alive.size() <= most) return;
    const auto index = std::find(alive.begin(), alive.end(), standard());
    if (index >= alive.begin() + static_cast<std::ptrdiff_t>(most))
      std::iter_swap(index, alive.begin() + static_cast<std::ptrdiff_t>(most) - 1);
    alive.resize(most);
  }

  /// Nothing: it was stopped before all cells were run.
  Result<std::optional<RungResult>> run_rung(Store& store, Stopwatch& watch, const std::vector<std::string>& alive,
                                             const std::vector<std::string>& problems) {
    Suite suite = suite_;
    SolverEntry entry{row_.info.id, {}, suite_.solvers.empty() ? std::string() : suite_.solvers.front().where};
    for (const std::string& hash : alive) entry.options.push_back(values_.at(hash));
    suite.solvers = {std::move(entry)};
    SweepOptions options = options_;
    options.interrupted = &watch.stop();
    options.sources = {problems.begin(), problems.end()};
    CONEBENCH_TRY(const auto outcome, run_sweep(suite, store, options, watch));
    if (outcome.stopped) return *outcome.stopped;
    if (outcome.interrupted || outcome.left() > 0) return std::optional<RungResult>();
    CONEBENCH_TRY(auto contents, store.read());
    std::erase_if(contents.cells, [&](const CellRecord& cell) { return !outcome.keys.contains(cell.key); });
    const reports::Analysis analysis = reports::analyse(contents, false);
    return std::optional(score_rung(analysis, row_.info.id, cost_, alive));
  }

  void print(std::size_t problems, const RungResult& result) const {
    if (arguments_.json) return;
    const RungScore& best = result.scores.front();
    print_text(fmt::format(
        "{} on {}: {}\n", plural(static_cast<long>(result.scores.size()), "configuration"),
        plural(static_cast<long>(problems), "problem"),
        best.solved > 0 ? fmt::format("{}, {:.3g} x the best of each", label(best.configuration), best.times_best)
                        : std::string("none solves any")));
  }

  const TuneArguments& arguments_;
  Suite suite_;
  const SolverRow& row_;
  SweepOptions options_;
  reports::Cost cost_;
  std::vector<std::string> hashes_;  ///< of configurations, the defaults in front
  std::vector<std::string> groups_;  ///< of problems, by source
  std::map<std::string, std::string> labels_;
  std::map<std::string, OptionValues> values_;
  std::vector<RanRung> rungs_;
  bool complete_ = false;
};

nlohmann::json to_json(const TuneArguments& arguments, const Tuning& tuning, const std::string& store) {
  nlohmann::json rungs = nlohmann::json::array();
  for (const RanRung& rung : tuning.rungs()) {
    nlohmann::json configurations = nlohmann::json::array();
    for (const RungScore& score : rung.result.scores) {
      configurations.push_back(
          {{"label", tuning.label(score.configuration)},
           {"hash", score.configuration},
           {"options", tuning.snippet(score.configuration).value("options", nlohmann::ordered_json::object())},
           {"times_best", number(score.times_best)},
           {"solved", score.solved}});
    }
    rungs.push_back({{"problems", rung.problems},
                     {"unseen_times_best", number(rung.result.unseen)},
                     {"configurations", std::move(configurations)}});
  }
  nlohmann::json json = {{"solver", arguments.solver}, {"suite", arguments.suite},      {"store", store},
                         {"cost", arguments.cost},     {"complete", tuning.complete()}, {"rungs", std::move(rungs)}};
  json["entry"] = tuning.rungs().empty()
                      ? nlohmann::json(nullptr)
                      : nlohmann::json(tuning.snippet(tuning.rungs().back().result.scores.front().configuration));
  return json;
}

void print_result(const Tuning& tuning) {
  const RanRung& last = tuning.rungs().back();
  const RungScore& best = last.result.scores.front();
  const auto standard = std::find_if(last.result.scores.begin(), last.result.scores.end(),
                                     [&](const RungScore& score) { return score.configuration == tuning.standard(); });
  std::string text = fmt::format("{}: {:.3g} x the best of these {} on each problem", tuning.label(best.configuration),
                                 best.times_best, last.result.scores.size());
  if (best.configuration != tuning.standard()) text += fmt::format("; the defaults {:.3g} x", standard->times_best);
  const RanRung& first = tuning.rungs().front();
  if (first.result.unseen) {
    text += fmt::format("; chosen without a family, {:.3g} x the best of {} on that one ({})", *first.result.unseen,
                        first.result.scores.size(), plural(static_cast<long>(first.problems), "problem"));
  }
  print_text(text + "\n");
}

Result<int> tune(const TuneArguments& arguments) {
  if (arguments.cost != "time" && arguments.cost != "iterations") {
    return Error{ErrorCode::wrong_usage, fmt::format("--cost {}: must be time or iterations", arguments.cost)};
  }
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  CONEBENCH_TRY(auto suite, load_suite(arguments.suite, arguments.code.in_suite(), simulation::sampled_scenes()));
  CONEBENCH_TRY(const SolverRow* const row, require_solver(arguments.solver));
  if (std::count(suite.starts.begin(), suite.starts.end(), Start::previous) > 0) {
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("{}: starts \"previous\" need every step of a sequence; tune on cold starts", arguments.suite)};
  }
  CONEBENCH_TRY(auto configurations, candidates(arguments, suite, *row));
  if (!arguments.out.empty()) CONEBENCH_CHECK(check_location(arguments.out));

  const std::filesystem::path file =
      arguments.store.empty() ? fmt::format("tune-{}-{}.sqlite", row->info.id, suite.name) : arguments.store;
  suite.name = fmt::format("{}, {} tuned", suite.name, row->info.id);
  const InterruptGuard guard;
  SweepOptions options;
  options.data = arguments.data;
  options.cache = std::filesystem::path(file).replace_extension(".problems");
  options.interrupted = &guard.flag();
  CONEBENCH_TRY(const auto lock, StoreLock::acquire(file, {.break_lock = arguments.break_lock}));
  if (!lock.note().empty()) print_note(lock.note());
  CONEBENCH_TRY(auto store, Store::open(file, Store::Mode::read_write));
  renew_survey(options.cache);
  Stopwatch watch(arguments.budget, guard.flag());
  Tuning tuning(arguments, std::move(suite), *row, std::move(configurations), options);
  CONEBENCH_CHECK(tuning.run(store, watch));

  const bool decided = !tuning.rungs().empty() && tuning.rungs().back().result.scores.front().solved > 0;
  if (arguments.json) print_json("tune", to_json(arguments, tuning, file.string()));
  if (decided) {
    const std::string entry = tuning.snippet(tuning.rungs().back().result.scores.front().configuration).dump();
    if (!arguments.json) {
      print_result(tuning);
      print_text(entry + "\n");
    }
    if (!arguments.out.empty()) {
      const std::filesystem::path out = arguments.out;
      const auto folder = out.parent_path().empty() ? std::filesystem::path(".") : out.parent_path();
      CONEBENCH_CHECK(write_files(folder, {{out.filename().string(), entry + "\n"}}));
    }
  }
  if (guard.flag()) return interrupted;
  if (!tuning.complete()) {
    print_error(fmt::format(
        "{}: {}; the same command goes on", file.string(),
        decided ? "the budget ended before all problems were used: the configuration is that of the last whole rung"
                : "the budget ended before any configuration was compared"));
    return not_run;
  }
  if (!decided) {
    print_error(fmt::format("{}: no configuration of {} solves any problem", file.string(), row->info.id));
    return nothing_measured;
  }
  return done;
}

}  // namespace

Command add_tune(CLI::App& root) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* app = root.add_subcommand("tune", "Choose a solver's options on a suite, in a budget of time");
  app->footer(tune_footer);
  app->add_option("SOLVER", arguments->solver, "Id of the solver (`conebench list solvers`)")->required();
  app->add_option("--suite", arguments->suite, "Suite file (docs/suites.md) or the name of a built-in suite")
      ->required();
  app->add_option("--grid", arguments->grid, "Values of an option; with several, every combination")
      ->type_name("OPTION=V,V…")
      ->allow_extra_args(false);
  add_real(*app, "--budget", arguments->budget, {.minimum = 0.0, .above_minimum = true},
           "Seconds after which no further cell begins");
  app->add_option("--cost", arguments->cost, "Cost that decides: time or iterations")
      ->type_name("COST")
      ->capture_default_str();
  app->add_option("--db", arguments->store,
                  "Store of the cells, made or resumed; tune-SOLVER-SUITE.sqlite if not given")
      ->type_name("FILE");
  app->add_option("--data", arguments->data, "Folder of the problems; else CONEBENCH_DATA, else the suite's own folder")
      ->type_name("DIR");
  app->add_option("--out", arguments->out, "File for the entry of a suite's \"solvers\"; it is printed, too")
      ->type_name("FILE");
  add_break_lock(*app, arguments->break_lock);
  add_foreign_code(*app, arguments->code, true);
  app->add_flag("--json", arguments->json, "Print one JSON object: every rung and the entry");
  return {app, [arguments] { return tune(*arguments); }};
}

}  // namespace conebench::cli
