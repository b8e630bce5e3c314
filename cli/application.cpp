#include "cli/application.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "base/suggestion.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/own_solver_commands.hpp"
#include "cli/slurm.hpp"
#include "runners/execute/environment.hpp"
#include "runners/plan/peer_programs.hpp"

namespace conebench::cli {

namespace {

constexpr const char* description = "Conebench compares solvers of rigid and deformable frictional contact.";
constexpr const char* examples = R"(
Examples:
  conebench run default --db results.sqlite
  conebench report results.sqlite --out report
  conebench solve problem.hdf5 --solver NSGS --tolerance 1e-8
  conebench solve --help)";

/// CLI11's own texts can span lines and end in a full stop or not.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

const CLI::App* parsed_command(const CLI::App& root) {
  const auto parsed = root.get_subcommands();
  return parsed.empty() ? nullptr : parsed.front();
}

/// What was left over, in the order in which it was written, which CLI11's own text reverses.
std::string not_expected(const CLI::App& root) {
  const std::vector<std::string> words = root.remaining(true);
  std::string text = fmt::format("not expected: {}", fmt::join(words, " "));
  if (!words.empty() && !words.front().starts_with("-") && words.front().find('=') != std::string::npos) {
    const CLI::App* const command = parsed_command(root);
    return text + (command != nullptr && command->get_name() == "generate"
                       ? "; give a scene's options with --set " + words.front()
                       : "; put a scene and its options in quotes, \"box-stack boxes=5\"");
  }
  if (words.empty() || !words.front().starts_with("--")) return text;
  std::vector<std::string> known;
  for (const CLI::App* app = &root; app != nullptr; app = parsed_command(*app)) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  const std::string given = words.front().substr(0, words.front().find('='));
  std::string meant = did_you_mean(given, known);
  if (!meant.empty()) text += "; " + meant.substr(0, meant.size() - 1);
  return text;
}

int wrong_usage(const CLI::App& root, const std::string& what) {
  const CLI::App* command = parsed_command(root);
  const std::string name = command == nullptr ? "conebench" : "conebench " + command->get_name();
  print_error(
      fmt::format("{}{}; see {} --help", command == nullptr ? "" : command->get_name() + ": ", one_line(what), name));
  return exit_code(ErrorCode::wrong_usage);
}

/// What is wrong with the first word, which CLI11 would take for an argument that nobody expects.
std::optional<std::string> wrong_first_word(const CLI::App& root, int argc, char** argv) {
  if (argc < 2) return "no command given";
  const std::string word = argv[1];
  if (word.starts_with('-')) {
    for (const char* known : {"-h", "--help", "--version"}) {
      if (word == known) return std::nullopt;
    }
    return fmt::format("unknown option '{}' where a command was expected", word);
  }
  const auto commands = root.get_subcommands([](const CLI::App*) { return true; });
  const bool known =
      std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) { return command->check_name(word); });
  if (known) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  std::string meant = did_you_mean(word, names);
  if (!meant.empty()) meant = "; " + meant.substr(0, meant.size() - 1);
  return fmt::format("unknown command '{}'{}", word, meant);
}

int parse_and_run(int argc, char** argv) {
  CLI::App root(description, "conebench");
  root.set_version_flag("--version", version_line, "Print the version and how it was built");
  root.require_subcommand(1);
  const std::vector<Command> commands = {add_run(root),
                                         add_solve(root),
                                         add_judge(root),
                                         add_inspect(root),
                                         add_explain(root),
                                         add_list(root),
                                         add_generate(root),
                                         add_phenomena(root),
                                         add_report(root),
                                         add_compare(root),
                                         add_compare_trajectories(root),
                                         add_nightly(root),
                                         add_accept(root),
                                         add_history(root),
                                         add_paper(root),
                                         add_publish(root),
                                         add_merge(root),
                                         add_rejudge(root),
                                         add_doctor(root),
                                         add_completion(root),
                                         add_worker(root),
                                         add_inverse_dynamics(root),
                                         add_loop(root),
                                         add_new(root),
                                         add_check_solver(root),
                                         add_slurm(root),
                                         add_tune(root),
                                         add_data(root)};

  root.footer(std::string(exit_code_table()) + examples);  // last, because commands would inherit it

  if (const auto problem = wrong_first_word(root, argc, argv)) return wrong_usage(root, *problem);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_text(root.help());
    return done;
  } catch (const CLI::CallForVersion&) {
    print_text(version_line() + "\n");
    return done;
  } catch (const CLI::ExtrasError&) {
    return wrong_usage(root, not_expected(root));
  } catch (const CLI::ParseError& error) {
    return wrong_usage(root, error.what());
  }
  for (const auto& command : commands) {
    if (!command.parser->parsed()) continue;
    const auto outcome = command.run();
    if (outcome) return *outcome;
    print_error(outcome.error().message);
    return exit_code(outcome.error().code);
  }
  return wrong_usage(root, "no command given");
}

}  // namespace

const char* exit_code_table() {
  return R"(Exit codes:
  0   done; unsolved and unsupported cells are results, counted and shown
  1   a gate failed (--require-solved): the line says which share was found;
      `conebench report` shows the cells
  2   wrong usage: nothing was run; correct what the line names
  3   bad input: a file, store or folder that the line names; mend or replace it.
      Or a simulation that blew up: the line names the step and what to set
  4   some cells broke: a file that could not be read, a crash or too little
      memory that --baseline did not have, a cell without a process; the report has
      the reasons, `run --retry crashed,out_of_memory` runs them again.
      Or a process of the run was terminated externally: the same command goes on.
      Of one problem: the solver does not support it, or this build lacks what
      it needs (`conebench doctor`)
  5   nothing was measured: no cell, or no solver answered or ran to its limit
      in any and nothing broke; look at the filter, the data folder and the report
  70  internal error; please report it with the command
  130 interrupted (Ctrl-C, a closed terminal or pipe); what was done is kept,
      the same command resumes
)";
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::wrong_usage: return 2;
    case ErrorCode::bad_input: return 3;
    case ErrorCode::unsupported:
    case ErrorCode::killed: return not_run;
    case ErrorCode::internal: break;
  }
  return 70;
}

/// Standard output is a pipe that nobody reads any more, as with `| head`: by choice, so the exit code stays.
static bool reader_has_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/// As InterruptGuard ends a sweep whose reader has gone.
static void end_as_interrupted(int /*signal*/) { _exit(interrupted); }

int run_application(int argc, char** argv) {
  if (std::signal(SIGPIPE, end_as_interrupted) == SIG_IGN) std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is reported as a full disk is
  constexpr int internal = 70;
  int code = internal;
  try {
    limit_library_threads();
    offer_peer_programs();
    code = parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory; close other programs or use a smaller problem");
  } catch (const std::exception& exception) {
    print_error(fmt::format("internal error: {}; please report it with the command", one_line(exception.what())));
  } catch (...) {
    print_error("internal error of an unknown kind; please report it with the command");
  }
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && !reader_has_gone()) {
    print_error(
        fmt::format("standard output cannot be written: {}; what was printed is incomplete", std::strerror(errno)));
    return code == done ? exit_code(ErrorCode::bad_input) : code;
  }
  return code;
}

}  // namespace conebench::cli
