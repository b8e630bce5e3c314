#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/option_parsing.hpp"
#include "base/plural.hpp"
#include "base/suggestion.hpp"
#include "base/text_file.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "cli/problem_suite.hpp"
#include "cli/run_ab.hpp"
#include "cli/run_ending.hpp"
#include "cli/stores_argument.hpp"
#include "reports/report.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/gates.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/progress.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/filter.hpp"
#include "runners/plan/suite.hpp"
#include "simulation/sampled_scenes.hpp"
#include "solvers/registry.hpp"
#include "store/store.hpp"
#include "store/store_lock.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

constexpr const char* run_footer = R"(A suite is a file, or the name of one that is built in (`conebench list suites`).
With --solvers the arguments are problems: files, recordings, steps of recordings, folders
of such files, and scenes with their options. They make a suite, which is printed.
The same command again resumes: cells that the store holds are not run again.
Ctrl-C drops the cell in flight and keeps the rest.

Examples:
  conebench run default --db results.sqlite
  conebench run robot.hdf5 --solvers CASCADE,NSGS
  conebench run problems/ --solvers CASCADE,NSGS --tolerances 1e-4,1e-8 --db mine.sqlite
  conebench run problems/ "box-stack boxes=5" --solvers NSGS,CASCADE --grid NSGS.relaxation=1,1.2 --save-suite mine.json
  conebench run suites/fclib.json --data problems --db fclib.sqlite
  conebench run suites/fclib.json --data problems --dry-run
  conebench run fclib --data problems --filter 'solver~^(NSGS|CASCADE)$ && contacts<=100'
  conebench run suites/fclib.json --db fclib.sqlite --retry timeout,crashed
  conebench run nightly.json --db shard-2.sqlite --shard 2/8
  conebench run nightly.json --db nightly.sqlite --require-solved 0.95
  conebench run mine.json --plugin ./jacobi.so --db mine.sqlite
  conebench run default --quick --db pull-request.sqlite
  conebench run nightly.json --ab old/conebench --db ab.sqlite
  conebench run nightly.json --db tuesday.sqlite --baseline monday.sqlite --require-solved CASCADE:0.99@supported)";

struct RunArguments {
  std::vector<std::string> targets;
  ProblemSuiteArguments of_problems;
  std::string save_suite;
  std::string store;
  std::string data;
  long jobs = 1;
  std::string shard;
  std::string keys;
  std::string survey;
  std::string retry;
  std::string filter;
  std::vector<std::string> gates;
  std::string baseline;
  bool json = false;
  bool dry_run = false;
  bool quick = false;
  bool allow_mixed = false;
  bool break_lock = false;
  std::string ab;
  long rounds = 6;
  std::string fail_on = default_gate;
  ForeignCode code;
};

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> set_shard(const std::string& text, SweepOptions& options) {
  if (text.empty()) return {};
  const auto slash = text.find('/');
  const auto part = whole_number(std::string_view(text).substr(0, slash));
  const auto parts = slash == std::string::npos ? std::nullopt : whole_number(std::string_view(text).substr(slash + 1));
  if (!part || !parts || *part < 1 || *part > *parts) {
    return Error{ErrorCode::wrong_usage, fmt::format("--shard {}: must be K/N with 1 <= K <= N, as in 2/8", text)};
  }
  options.shard = *part;
  options.shards = *parts;
  return {};
}

Result<void> set_keys(const std::string& file, SweepOptions& options) {
  if (file.empty()) return {};
  constexpr std::uintmax_t max_bytes = std::uintmax_t{1} << 30;
  CONEBENCH_TRY(const auto text, read_text_file(file, max_bytes));
  std::istringstream lines(text);
  options.keys.emplace();
  for (std::string key; lines >> key;) options.keys->insert(key);
  return {};
}

void print_dry_run(const Suite& suite, long jobs, const DryRun& plan) {
  const std::string copies =
      plan.duplicates > 0 ? fmt::format("; {} more {} one of them and share{} its cells", plan.duplicates,
                                        plan.duplicates == 1 ? "repeats" : "repeat", plan.duplicates == 1 ? "s" : "")
                          : std::string();
  print_text(fmt::format("{}: {} ({}{}), {}, {}\n", suite.name, plural(plan.problems, "problem"), left_out(plan),
                         copies, plural(plan.configurations, "configuration"), plural(plan.cells, "cell")));
  print_text(fmt::format(
      "stored already: {}; to run: {}, at worst {}: {} killed after {:g} s each ({:g} s are "
      "the suite's limit){}{}\n",
      plan.resumed, plan.cells - plan.resumed, duration_text(plan.worst_s), plural(plan.solvable, "solve"),
      plan.worst_cell_s, suite.limits.seconds,
      plan.of_peers > 0
          ? fmt::format(", those of foreign libraries ({}) in the last of {} attempts", plan.of_peers, max_attempts)
          : std::string(),
      jobs > 1 ? fmt::format(", {} at a time", jobs) : std::string()));
  if (suite.repeats.rounds > 1) {
    print_text(fmt::format("in {} rounds, which that time has in it; stored cells are timed again {} times\n",
                           suite.repeats.rounds, plan.to_retime));
  }
  if (plan.pending > 0) {
    print_text(
        fmt::format("{} known by name only and may repeat another, be none or not fit: samples that the run will "
                    "simulate first\n",
                    plural(plan.pending, "problem") + (plan.pending == 1 ? " is" : " are")));
  }
  for (const auto& note : plan.notes) print_text(note + "\n");
}

nlohmann::json to_json(const std::string& suite, const DryRun& plan) {
  return {{"suite", suite},
          {"problems", plan.problems},
          {"problems_not_loaded", plan.bad_problems},
          {"problems_taken_by_none", plan.untaken_problems},
          {"problems_pending", plan.pending},
          {"configurations", plan.configurations},
          {"cells", plan.cells},
          {"cells_stored_before", plan.resumed},
          {"cells_to_run", plan.cells - plan.resumed},
          {"cells_to_time_again", plan.to_retime},
          {"worst_s", number(plan.worst_s)},
          {"notes", plan.notes}};
}

Result<int> run_dry(const RunArguments& arguments, const std::string& called, const Suite& suite,
                    const std::filesystem::path& file, const SweepOptions& options, Progress& progress) {
  StoreContents stored;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
    CONEBENCH_TRY(stored, store.read_outcomes());
  }
  CONEBENCH_TRY(const auto plan, dry_run(suite, stored, options, progress));
  if (arguments.json) {
    print_json("dry_run", to_json(called, plan));
  } else {
    print_dry_run(suite, options.jobs, plan);
  }
  return plan.cells > 0 ? done : nothing_measured;
}

std::string part_of(const RunArguments& arguments) {
  if (!arguments.keys.empty()) return "--keys " + arguments.keys;
  return arguments.filter.empty() ? "--shard " + arguments.shard : fmt::format("--filter '{}'", arguments.filter);
}

/// The gates, of solvers that the suite has.
Result<std::vector<SolvedGate>> parse_gates(const RunArguments& arguments, const CellCount& count) {
  std::vector<SolvedGate> gates;
  for (const std::string& text : arguments.gates) {
    CONEBENCH_TRY(auto gate, parse_gate(text));
    if (!gate.solver.empty() && !count.solvers.contains(gate.solver)) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--require-solved {}: the suite has no solver {}; {}it has {}", text, gate.solver,
                               did_you_mean(gate.solver, {count.solvers.begin(), count.solvers.end()}),
                               fmt::join(count.solvers, ", "))};
    }
    gates.push_back(std::move(gate));
  }
  return gates;
}

/// The part of the baseline store that a run is compared with: the suite's cells under the same filter.
Result<StoreContents> read_baseline(const RunArguments& arguments, const Suite& suite,
                                    const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::equivalent(arguments.baseline, file, ignored)) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("--baseline {}: is the store that is written; give an earlier one", arguments.baseline)};
  }
  CONEBENCH_TRY(const auto store, Store::open(arguments.baseline, Store::Mode::read_only));
  CONEBENCH_TRY(auto read, store.read_outcomes());
  if (std::none_of(read.runs.begin(), read.runs.end(),
                   [&](const RunRecord& run) { return run.suite_name == suite.name; })) {
    return Error{ErrorCode::bad_input, fmt::format("--baseline {}: holds no run of the suite {}; give a store of it",
                                                   arguments.baseline, suite.name)};
  }
  CONEBENCH_TRY(const auto filter, CellFilter::parse(arguments.filter));
  StoreContents contents = present_contents(std::move(read));
  return arguments.filter.empty() ? contents : filtered(std::move(contents), filter, arguments.filter);
}

/// Error: options that can't be combined with --ab.
Result<void> check_ab(const RunArguments& arguments) {
  if (arguments.ab.empty()) return {};
  const char* wrong = nullptr;
  if (arguments.jobs > 1) wrong = "--jobs: cells run one after the other";
  if (!arguments.shard.empty() || !arguments.keys.empty()) wrong = "--shard and --keys: use --filter for a part";
  if (!arguments.retry.empty()) wrong = "--retry";
  if (arguments.quick) wrong = "--quick: it compares times";
  if (!arguments.gates.empty() || !arguments.baseline.empty())
    wrong = "--require-solved and --baseline: it has --fail-on";
  if (wrong != nullptr) return Error{ErrorCode::wrong_usage, fmt::format("--ab does not go with {}", wrong)};
  if (arguments.rounds % 2 == 0) return {};
  return Error{ErrorCode::wrong_usage,
               fmt::format("--rounds {}: must be even: each side runs twice in A B B A", arguments.rounds)};
}

/// Error: an A/B run has no foreign solvers.
Result<void> check_ab(const RunArguments& arguments, const Suite& suite) {
  if (arguments.ab.empty()) return {};
  for (const SolverEntry& entry : suite.solvers) {
    const SolverRow* const row = find_solver(entry.id);
    if (row == nullptr || row->content_hash.empty()) continue;
    return Error{ErrorCode::wrong_usage,
                 fmt::format("--ab does not go with {}, which is part of neither build; compare plug-ins and "
                             "programs as solvers of one run",
                             entry.id)};
  }
  return {};
}

Result<Suite> suite_of(const RunArguments& arguments) {
  if (!arguments.of_problems.solvers.empty()) {
    ProblemSuiteArguments parts = arguments.of_problems;
    parts.problems = arguments.targets;
    return make_problem_suite(parts, arguments.code);
  }
  const ProblemSuiteArguments& parts = arguments.of_problems;
  if (!parts.tolerances.empty() || !parts.start.empty() || !parts.verdict.empty() || !parts.grid.empty() ||
      parts.seconds > 0.0 || parts.iterations > 0 || !arguments.save_suite.empty()) {
    return Error{ErrorCode::wrong_usage,
                 "--grid, --tolerances, --start, --verdict, --time-limit, --max-iterations and --save-suite go with "
                 "--solvers; a suite has its own"};
  }
  const std::string& target = arguments.targets.front();
  std::error_code ignored;
  const auto extension = std::filesystem::path(target).extension();
  const bool problem = extension == ".hdf5" || extension == ".h5" || std::filesystem::is_directory(target, ignored) ||
                       !scene_words(target).empty();
  if (problem || arguments.targets.size() > 1) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: {}; say which solvers: --solvers LIST",
                             arguments.targets.size() > 1 ? arguments.targets[1] : target,
                             problem ? "a problem and no suite" : "one suite is run at a time, or problems")};
  }
  return load_suite(target, arguments.code.in_suite(), simulation::sampled_scenes());
}

/// Prints the suite that was made of problems and solvers, and saves it.
Result<void> show_made(const RunArguments& arguments, const Suite& suite) {
  const std::string& file = arguments.save_suite;
  if (!file.empty()) {
    CONEBENCH_CHECK(check_location(file));
    CONEBENCH_CHECK(write_files({}, {{file, suite.text}}));
  }
  if (!arguments.json) {
    print_text(fmt::format("suite{}:\n{}", file.empty() ? ", which --save-suite FILE writes" : ", written to " + file,
                           suite.text));
  }
  return {};
}

Result<int> run_suite(const RunArguments& arguments) {
  SweepOptions options;
  options.data = arguments.data;
  options.jobs = static_cast<int>(arguments.jobs);
  options.retry = split_list(arguments.retry);
  options.filter = arguments.filter;
  options.allow_mixed = arguments.allow_mixed;
  CONEBENCH_CHECK(set_shard(arguments.shard, options));
  CONEBENCH_CHECK(set_keys(arguments.keys, options));
  CONEBENCH_CHECK(check_ab(arguments));
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  auto suite = suite_of(arguments);
  const bool made = !arguments.of_problems.solvers.empty();
  if (const std::string& target = arguments.targets.front(); !suite && !made && !simulation_hint(target).empty()) {
    return Error{suite.error().code,
                 fmt::format("{}: no suite; {}, or name it in a suite's problems: {{\"scene\": \"file\", \"options\": "
                             "{{\"path\": \"{}\"}}}}",
                             target, simulation_hint(target), target)};
  }
  CONEBENCH_CHECK(suite);
  if (made) CONEBENCH_CHECK(show_made(arguments, *suite));
  if (!suite->not_threaded.empty()) {
    print_note(fmt::format("threads: with one thread only, because they can't share their work: {}",
                           fmt::join(suite->not_threaded, ", ")));
  }
  // As messages call it.
  const std::string called = arguments.targets.size() == 1 ? arguments.targets.front() : suite->name;
  CONEBENCH_CHECK(check_ab(arguments, *suite));
  if (arguments.quick) suite->repeats = quick_look;

  const std::filesystem::path file = arguments.store.empty() ? suite->name + ".sqlite" : arguments.store;
  options.cache = std::filesystem::path(file).replace_extension(".problems");
  if (!arguments.survey.empty()) {
    options.cache = arguments.survey;
    begin_survey(options.cache);
  }

  CONEBENCH_TRY(const auto count, count_cells(*suite, options));
  if (count.left == 0) {
    print_error(fmt::format(
        "{}: nothing was measured: --filter '{}' leaves no cell; {}solvers of this suite: {}; families: {}; "
        "tolerances: {:g}",
        called, arguments.filter, misspelt(*CellFilter::parse(arguments.filter), count.solvers, count.families),
        fmt::join(count.solvers, ", "), fmt::join(count.families, ", "), fmt::join(suite->tolerances, ", ")));
    return nothing_measured;
  }

  CONEBENCH_TRY(const auto gates, parse_gates(arguments, count));
  ProgressPrinter progress = progress_on_stderr();
  if (arguments.dry_run) return run_dry(arguments, called, *suite, file, options, progress);
  std::optional<StoreContents> baseline;
  if (!arguments.baseline.empty()) {
    CONEBENCH_TRY(baseline, read_baseline(arguments, *suite, file));
  }

  const InterruptGuard guard;
  options.interrupted = &guard.flag();
  // Before it is opened, which makes it.
  CONEBENCH_TRY(const auto lock, StoreLock::acquire(file, {.break_lock = arguments.break_lock}));
  if (!lock.note().empty()) print_note(lock.note());
  CONEBENCH_TRY(auto store, Store::open(file, Store::Mode::read_write));
  if (arguments.survey.empty()) renew_survey(options.cache);
  if (!arguments.ab.empty()) {
    return run_and_compare(*suite, store, file,
                           {.sweep = options, .other = arguments.ab, .rounds = static_cast<int>(arguments.rounds)},
                           {.fail_on = arguments.fail_on, .json = arguments.json}, progress);
  }
  CONEBENCH_TRY(const auto outcome, run_sweep(*suite, store, options, progress));

  auto read = store.read();
  if (!read && !outcome.stopped) return read.error();
  EndedRun run{.suite = called,
               .store = file.string(),
               .baseline = arguments.baseline,
               .part = part_of(arguments),
               .jobs = arguments.jobs,
               .outcome = outcome,
               .verdict = {}};
  if (read && baseline && (!arguments.shard.empty() || options.keys))
    baseline = with_partners(std::move(*baseline), *read, outcome.keys);
  if (read) run.verdict = judge_sweep(*read, outcome.keys, gates, baseline ? &*baseline : nullptr);
  const Ending ending = ending_of(run);
  if (arguments.json) {
    print_json("run", to_json(run, ending));
  } else {
    if (read) {
      const UnsolvedList unsolved = unsolved_list({file.string()});
      print_bytes(terminal_ranking(present_contents(std::move(*read)), unsolved.colour, false, &unsolved));
    }
    print_ended(run);
  }
  for (const std::string& reason : ending.reasons) print_error(reason);
  return ending.code;
}

}  // namespace

Command add_run(CLI::App& root) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* app = root.add_subcommand("run", "Run every solver of a suite on every problem of it");
  app->footer(run_footer);
  ProblemSuiteArguments& parts = arguments->of_problems;
  app->add_option("SUITE", arguments->targets,
                  "Suite file (docs/suites.md) or the name of a built-in suite; with --solvers problems: files, "
                  "recordings, folders of them, scenes with their options")
      ->required();
  app->add_option("--solvers", parts.solvers, "Solvers for such problems, separated by commas")->type_name("LIST");
  app->add_option("--grid", parts.grid,
                  "With --solvers: values of a solver's option; with several, every combination. May be repeated")
      ->type_name("SOLVER.OPTION=V,V…")
      ->allow_extra_args(false);
  app->add_option("--tolerances,--tolerance", parts.tolerances, "With --solvers: separated by commas (1e-6)")
      ->type_name("LIST");
  app->add_option("--start", parts.start, "With --solvers: cold, guess, previous, separated by commas (cold)")
      ->type_name("LIST");
  app->add_option("--verdict", parts.verdict,
                  "With --solvers: residual that decides, see `conebench list metrics` (natural_map_scaled)")
      ->type_name("NAME");
  add_real(*app, "--time-limit", parts.seconds, {.minimum = 0.0, .above_minimum = true},
           "With --solvers: limit on a cell's set-up and solve [s] (10)")
      ->default_str("");
  add_integer(*app, "--max-iterations", parts.iterations, {.minimum = 1.0},
              "With --solvers: limit on iterations (20000)")
      ->default_str("");
  app->add_option("--save-suite", arguments->save_suite,
                  "With --solvers: write the suite that they make; running it makes the same cells")
      ->type_name("FILE");
  app->add_option("--db", arguments->store,
                  "Store of the results, made or resumed; the suite's name + .sqlite if not "
                  "given")
      ->type_name("FILE");
  app->add_option("--data", arguments->data,
                  "Folder of the problems, or name of a data set; else CONEBENCH_DATA, else the suite's own folder")
      ->type_name("DIR");
  add_integer(*app, "--jobs", arguments->jobs, {.minimum = 1.0, .maximum = 1024.0},
              "Worker processes; with more than one the results are marked as throughput and times are not ranked");
  app->add_option("--shard", arguments->shard, "Run part K of N of the cells, each part into a store of its own")
      ->type_name("K/N");
  app->add_option("--keys", arguments->keys, "Run only the cells whose keys FILE lists, one on each line")
      ->type_name("FILE");
  app->add_option("--survey", arguments->survey,
                  "Folder that keeps what is known of the problems, for all runs of the suite (docs/slurm.md)")
      ->type_name("DIR");
  app->add_option("--retry", arguments->retry, "Run stored cells of these statuses again (comma-separated)")
      ->type_name("LIST");
  app->add_option("--filter", arguments->filter, "Run only the cells that it fits (docs/suites.md)")->type_name("EXPR");
  app->add_flag("--quick", arguments->quick,
                "Each cell once, for verdicts and counts: what `compare` of two such stores goes by (docs/suites.md)");
  app->add_flag("--dry-run", arguments->dry_run, "Print what would be run and how long it can take; run nothing");
  app->add_flag("--allow-mixed", arguments->allow_mixed, "Add to a store of another build, processor or suite");
  add_break_lock(*app, arguments->break_lock);
  app->add_option("--require-solved", arguments->gates,
                  "Exit with 1 where a smaller share of the cells is solved; may be repeated")
      ->type_name("[SOLVER:]SHARE[@supported]")
      ->allow_extra_args(false);
  app->add_option("--baseline,--base", arguments->baseline,
                  "Earlier store: --require-solved fails below its supported cells, its crashes are known")
      ->type_name("STORE");
  app->add_option("--ab,--beside", arguments->ab,
                  "Another conebench: both builds run every cell in turn, and are compared (docs/side_by_side.md)")
      ->type_name("EXECUTABLE");
  add_integer(*app, "--rounds", arguments->rounds, {.minimum = 2.0, .maximum = 200.0},
              "With --ab: how often each side times every cell; even");
  const auto set_passes = [arguments](const long& passes) { arguments->rounds = 2 * passes; };
  app->add_option_function<long>("--passes", set_passes, "Half of --rounds, as it was called before")
      ->check(CLI::Range(1, 100))
      ->group("");
  app->add_option("--fail-on", arguments->fail_on, "With --ab: what makes the exit code 1, as of `compare`")
      ->type_name("LIST")
      ->capture_default_str();
  add_foreign_code(*app, arguments->code, true);
  app->add_flag("--json", arguments->json, "Print one JSON object instead of the ranking");
  return {app, [arguments] { return run_suite(*arguments); }};
}

}  // namespace conebench::cli
