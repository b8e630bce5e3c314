#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "problems/option_words.hpp"
#include "problems/plural.hpp"
#include "reports/report.hpp"
#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/output.hpp"
#include "runners/cli/problem_argument.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/progress.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/filter.hpp"
#include "runners/plan/suite.hpp"
#include "runners/store/store.hpp"
#include "runners/store/store_lock.hpp"
#include "runners/store/suite_scope.hpp"

namespace conebench::cli {

namespace {

constexpr const char* footer = R"(A suite is a file, or the name of one that is built in (`conebench list suites`).
Running it again resumes: cells that the store holds are not run again.
Ctrl-C drops the cell in flight and keeps the rest.

Examples:
  conebench run default --db results.sqlite
  conebench run suites/fclib.json --data problems --db fclib.sqlite
  conebench run suites/fclib.json --data problems --dry-run
  conebench run suites/fclib.json --db fclib.sqlite --retry timeout,crashed
  conebench run nightly.json --db shard-2.sqlite --shard 2/8
  conebench run nightly.json --db nightly.sqlite --require-solved 0.95)";

struct RunArguments {
  std::string suite;
  std::string store;
  std::string data;
  long jobs = 1;
  std::string shard;
  std::string retry;
  std::string filter;
  double share = -1.0;
  bool dry_run = false;
  bool allow_mixed = false;
  bool break_lock = false;
};

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Error> set_shard(const std::string& text, SweepOptions& options) {
  if (text.empty()) return std::nullopt;
  const auto slash = text.find('/');
  const auto part = whole_number(std::string_view(text).substr(0, slash));
  const auto parts = slash == std::string::npos ? std::nullopt : whole_number(std::string_view(text).substr(slash + 1));
  if (!part || !parts || *part < 1 || *part > *parts) {
    return Error{ErrorCode::wrong_usage, fmt::format("--shard {}: must be K/N with 1 <= K <= N, as in 2/8", text)};
  }
  options.shard = *part;
  options.shards = *parts;
  return std::nullopt;
}

int terminal_width() {
  constexpr int usual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

ProgressPrinter progress_on_stderr() {
  const auto write = [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  return {write, isatty(STDERR_FILENO) == 1, terminal_width()};
}

/// Problems without a solve, in the reports' words.
std::string left_out(const auto& outcome) {
  return fmt::format("{} taken by no solver, {} could not be loaded", outcome.untaken_problems, outcome.bad_problems);
}

void print_dry_run(const Suite& suite, long jobs, const DryRun& plan) {
  const std::string copies =
      plan.duplicates > 0 ? fmt::format("; {} more {} one of them and share{} its cells", plan.duplicates,
                                        plan.duplicates == 1 ? "repeats" : "repeat", plan.duplicates == 1 ? "s" : "")
                          : std::string();
  print_text(fmt::format("{}: {} ({}{}), {}, {}\n", suite.name, plural(plan.problems, "problem"), left_out(plan),
                         copies, plural(plan.settings, "setting"), plural(plan.cells, "cell")));
  print_text(fmt::format(
      "stored already: {}; to run: {}, at worst {}: {} killed after {:g} s each ({:g} s are "
      "the suite's limit){}{}\n",
      plan.resumed, plan.cells - plan.resumed, duration_text(plan.worst_s), plural(plan.solvable, "solve"),
      plan.worst_cell_s, suite.limits.seconds,
      plan.of_peers > 0
          ? fmt::format(", those of foreign libraries ({}) in the last of {} tries", plan.of_peers, most_tries)
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

Result<int> run_dry(const Suite& suite, const std::filesystem::path& file, const SweepOptions& options,
                    Progress& progress) {
  std::optional<Store> store;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    auto opened = Store::open(file, Store::Mode::read_only);
    if (!opened) return opened.error();
    store.emplace(std::move(*opened));
  }
  const auto plan = dry_run(suite, store ? &*store : nullptr, options, progress);
  if (!plan) return plan.error();
  print_dry_run(suite, options.jobs, *plan);
  return plan->cells > 0 ? done : nothing_measured;
}

/// What this run did, what the harness took of it, and the statuses of what it ran.
void print_outcome(const SweepOutcome& outcome, long jobs, const std::string& store) {
  const std::string flaky = outcome.flaky > 0 ? fmt::format(" ({} of them flaky)", outcome.flaky) : std::string();
  const std::string retimed =
      outcome.retimed > 0 ? fmt::format(" and {} timed again{}", outcome.retimed, flaky) : std::string();
  print_text(fmt::format("{}: {} of {} cells solved; {} run now{} in {}, {} stored before\n", store, outcome.solved,
                         outcome.cells, outcome.run, retimed, duration_text(outcome.wall_s), outcome.resumed));
  if (outcome.measured > 0) {
    const double sweep_s = outcome.wall_s - outcome.survey_s;
    print_text(fmt::format(
        "taking in the problems took {}; of the rest, {:.1f} % went into processes and the store, not solves and "
        "judging\n",
        duration_text(outcome.survey_s), 100.0 * (1.0 - outcome.busy_s / (static_cast<double>(jobs) * sweep_s))));
  }
  if (!outcome.statuses.empty()) print_text("run now: " + counts_text(outcome.statuses) + "\n");
  for (const auto& reason : outcome.noise) print_note("noise: " + reason);
}

int judge_outcome(const SweepOutcome& outcome, const RunArguments& arguments) {
  if (outcome.stopped) {
    print_error(outcome.stopped->message);
    return exit_code(outcome.stopped->code);
  }
  if (outcome.interrupted) {
    const std::string left = outcome.not_run() > 0 ? fmt::format("with {} cells to run", outcome.not_run())
                                                   : std::string("while solved cells were timed again");
    print_error(fmt::format("interrupted {}; the same command resumes", left));
    return interrupted;
  }
  if (outcome.cells == 0) {
    const std::string part =
        arguments.filter.empty() ? "--shard " + arguments.shard : fmt::format("--filter '{}'", arguments.filter);
    print_error(fmt::format("{}: nothing was measured: {} leaves no cell", arguments.suite, part));
    return nothing_measured;
  }
  if (outcome.measured == 0 && outcome.resumed == 0) {
    print_error(fmt::format("{}: nothing was measured: no solver answered in any of {} ({}); the report says why",
                            arguments.suite, plural(outcome.cells, "cell"), counts_text(outcome.statuses)));
    return nothing_measured;
  }
  const double share = static_cast<double>(outcome.solved) / static_cast<double>(outcome.cells);
  if (share < arguments.share) {
    print_error(
        fmt::format("gate failed: {} of {} cells solved, a share of {:.4g} where --require-solved asks for {:g}",
                    outcome.solved, outcome.cells, share, arguments.share));
    return gate_failed;
  }
  if (outcome.bad_problems + outcome.untaken_problems + outcome.not_run() > 0) {
    print_error(fmt::format(
        "{}: of {} {}{}; the report says why", arguments.suite, plural(outcome.problems, "problem"), left_out(outcome),
        outcome.not_run() > 0 ? fmt::format("; {} cells were not run", outcome.not_run()) : std::string()));
    return not_run;
  }
  return done;
}

Result<int> run_suite(const RunArguments& arguments) {
  SweepOptions options;
  options.data = arguments.data;
  options.jobs = static_cast<int>(arguments.jobs);
  options.retry = split_list(arguments.retry);
  options.filter = arguments.filter;
  options.allow_mixed = arguments.allow_mixed;
  if (auto error = set_shard(arguments.shard, options)) return *error;
  const auto suite = load_suite(arguments.suite);
  if (!suite && !simulation_hint(arguments.suite).empty()) {
    return Error{suite.error().code,
                 fmt::format("{}: no suite; {}, or name it in a suite's problems: {{\"scene\": \"file\", \"options\": "
                             "{{\"path\": \"{}\"}}}}",
                             arguments.suite, simulation_hint(arguments.suite), arguments.suite)};
  }
  if (!suite) return suite.error();

  const std::filesystem::path file = arguments.store.empty() ? suite->name + ".sqlite" : arguments.store;
  options.cache = std::filesystem::path(file).replace_extension(".problems");

  const auto count = count_cells(*suite, options);
  if (!count) return count.error();
  if (count->left == 0) {
    print_error(fmt::format(
        "{}: nothing was measured: --filter '{}' leaves no cell; {}solvers of this suite: {}; families: {}; "
        "tolerances: {:g}",
        arguments.suite, arguments.filter,
        misspelt(*CellFilter::parse(arguments.filter), count->solvers, count->families),
        fmt::join(count->solvers, ", "), fmt::join(count->families, ", "), fmt::join(suite->tolerances, ", ")));
    return nothing_measured;
  }

  ProgressPrinter progress = progress_on_stderr();
  if (arguments.dry_run) return run_dry(*suite, file, options, progress);

  auto store = Store::open(file, Store::Mode::read_write);
  if (!store) return store.error();
  const auto lock = StoreLock::acquire(file, {.break_lock = arguments.break_lock});
  if (!lock) return lock.error();
  if (!lock->note().empty()) print_note(lock->note());
  const InterruptGuard guard;
  options.interrupted = &guard.flag();
  const auto outcome = run_sweep(*suite, *store, options, progress);
  if (!outcome) return outcome.error();

  if (auto read = store->read()) {
    const StoreContents contents = present_contents(std::move(*read));
    const bool colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    print_text(terminal_ranking(contents, colour));
  }
  print_outcome(*outcome, arguments.jobs, file.string());
  return judge_outcome(*outcome, arguments);
}

}  // namespace

Command add_run(CLI::App& root) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* app = root.add_subcommand("run", "Run every solver of a suite on every problem of it");
  app->footer(footer);
  app->add_option("SUITE", arguments->suite, "Suite file (docs/suites.md) or the name of a built-in suite")->required();
  app->add_option("--db", arguments->store,
                  "Store of the results, made or resumed; the suite's name + .sqlite if not "
                  "given")
      ->type_name("FILE");
  app->add_option("--data", arguments->data, "Folder of the problems; else CONEBENCH_DATA, else the suite's own folder")
      ->type_name("DIR");
  add_integer(*app, "--jobs", arguments->jobs, {.minimum = 1.0, .maximum = 1024.0},
              "Workers; more than one marks the results as throughput, without time rankings");
  app->add_option("--shard", arguments->shard, "Run part K of N of the cells, each part into a store of its own")
      ->type_name("K/N");
  app->add_option("--retry", arguments->retry, "Run stored cells of these statuses again, with commas between them")
      ->type_name("LIST");
  app->add_option("--filter", arguments->filter, "Run only the cells that it fits (docs/suites.md)")->type_name("EXPR");
  app->add_flag("--dry-run", arguments->dry_run, "Say what would be run and how long it takes at worst");
  app->add_flag("--allow-mixed", arguments->allow_mixed, "Add to a store of another build, processor or suite");
  app->add_flag("--break-lock", arguments->break_lock,
                "Take over a store that a process of another host, or before a restart, has left locked");
  add_real(*app, "--require-solved", arguments->share, {.minimum = 0.0, .maximum = 1.0},
           "Exit with 1 where a smaller share of all cells is solved")
      ->type_name("SHARE")
      ->default_str("");
  return {app, [arguments] { return run_suite(*arguments); }};
}

}  // namespace conebench::cli
