#include "runners/execute/rejudge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "runners/plan/problem_source.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store_lock.hpp"

namespace conebench::cli {

namespace {

constexpr const char* rejudge_footer =
    R"(The problems are loaded again, from --data, CONEBENCH_DATA or by making their scenes;
one that has changed since is left out. Times and answers stay as they are. A problem
certified to have no solution keeps that where its certificate still proves it.

Examples:
  conebench rejudge results.sqlite
  conebench rejudge fclib.sqlite --data problems)";

struct RejudgeArguments {
  std::string store;
  std::string data;
  bool break_lock = false;
};

Result<int> run_rejudge(const RejudgeArguments& arguments) {
  std::error_code ignored;
  if (!std::filesystem::exists(arguments.store, ignored)) {
    return Error{ErrorCode::bad_input, arguments.store + ": cannot be read: no such file; check the path"};
  }
  CONEBENCH_TRY(const auto lock, StoreLock::acquire(arguments.store, {.break_lock = arguments.break_lock}));
  if (!lock.note().empty()) print_note(lock.note());
  CONEBENCH_TRY(auto store, Store::open(arguments.store, Store::Mode::read_write));
  RejudgeOptions options;
  options.problems = {.data = arguments.data,
                      .environment = data_folder_of_environment(),
                      .cache = std::filesystem::path(arguments.store).replace_extension(".problems"),
                      .scenes = simulation::sampled_scenes()};
  const bool terminal = isatty(STDERR_FILENO) == 1;
  if (terminal) {
    options.progress = [](long done_cells, long total) {
      std::fprintf(stderr, "\rjudged %ld of %ld cells%s", done_cells, total, done_cells == total ? "\n" : "");
    };
  }
  CONEBENCH_TRY(const auto outcome, rejudge(store, options));
  for (const auto& note : outcome.notes) print_note(note);
  print_text(fmt::format("{}: {} of {} cells judged anew; {} became solved, {} unsolved; {} have no answer\n",
                         arguments.store, outcome.judged, outcome.cells, outcome.newly_solved, outcome.newly_unsolved,
                         outcome.without_answer));
  if (outcome.certificates_dropped > 0) {
    print_note(fmt::format(
        "{} no longer marked infeasible: the stored certificate is missing or proves nothing; `conebench run` on this "
        "store looks for a new one",
        plural(outcome.certificates_dropped, "problem")));
  }
  if (outcome.unavailable > 0) {
    print_error(fmt::format(
        "{}: left as they were, because their problems are not to be had: {}; give their folder with --data",
        arguments.store, plural(outcome.unavailable, "cell")));
    return not_run;
  }
  if (outcome.judged == 0) {
    print_error(arguments.store + ": nothing to judge: no cell has an answer");
    return nothing_measured;
  }
  return done;
}

}  // namespace

Command add_rejudge(CLI::App& root) {
  auto arguments = std::make_shared<RejudgeArguments>();
  CLI::App* app = root.add_subcommand("rejudge", "Compute the residuals of stored answers anew");
  app->footer(rejudge_footer);
  app->add_option("DB", arguments->store, "Store, which is changed")->required();
  app->add_option("--data", arguments->data, "Folder of the problems or name of a data set, as for `conebench run`")
      ->type_name("DIR");
  add_break_lock(*app, arguments->break_lock);
  return {app, [arguments] { return run_rejudge(*arguments); }};
}

}  // namespace conebench::cli
