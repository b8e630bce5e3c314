#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench::cli {

/// Exit codes in addition to those that an Error's code maps to (see exit_code).
inline constexpr int done = 0;
inline constexpr int gate_failed = 1;
inline constexpr int not_run = 4;
inline constexpr int nothing_measured = 5;
inline constexpr int interrupted = 130;
int exit_code(ErrorCode code);
/// All exit codes with their meaning, for help and docs.
const char* exit_code_table();

/// One subcommand: its parser, and the function to run after parsing. An Error becomes one line on standard error and
/// an exit code.
struct Command {
  CLI::App* parser = nullptr;
  std::function<Result<int>()> run;
};

Command add_run(CLI::App& root);
Command add_solve(CLI::App& root);
Command add_judge(CLI::App& root);
Command add_inspect(CLI::App& root);
Command add_explain(CLI::App& root);
Command add_list(CLI::App& root);
Command add_generate(CLI::App& root);
Command add_inverse_dynamics(CLI::App& root);
Command add_loop(CLI::App& root);
Command add_phenomena(CLI::App& root);
Command add_report(CLI::App& root);
Command add_compare(CLI::App& root);
Command add_compare_trajectories(CLI::App& root);
Command add_nightly(CLI::App& root);
Command add_accept(CLI::App& root);
Command add_history(CLI::App& root);
Command add_paper(CLI::App& root);
Command add_publish(CLI::App& root);
Command add_merge(CLI::App& root);
Command add_tune(CLI::App& root);
Command add_rejudge(CLI::App& root);
Command add_doctor(CLI::App& root);
Command add_data(CLI::App& root);
Command add_worker(CLI::App& root);
Command add_completion(CLI::App& root);

/// A bash script that completes everything that `root` declares.
std::string bash_completion(const CLI::App& root);

/// "conebench 0.2.0 (…)", one line.
std::string version_line();

}  // namespace conebench::cli
