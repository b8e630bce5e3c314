#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/plan/foreign_solvers.hpp"

namespace conebench::cli {

/// Solvers that are not part of the build, as a command line names them.
struct ForeignCode {
  std::vector<std::string> plugins;
  std::vector<std::string> programs;  ///< each with its arguments, blanks between them
  bool allowed = false;               ///< those that a suite names

  CodeInSuite in_suite() const { return allowed ? CodeInSuite::load : CodeInSuite::refuse; }
};

/// `--plugin` and `--program`; of a command that takes a suite also `--allow-code`.
void add_foreign_code(CLI::App& app, ForeignCode& code, bool takes_suite);

/// Puts the solvers of CONEBENCH_PLUGINS (files with ':' between them) and of `code` into the table of solvers. Errors:
/// as add_plugin and add_program.
Result<void> load_foreign_code(const ForeignCode& code);

/// What require_solver says, with how to name a solver of one's own where none was named.
Error with_foreign_code(const Error& unknown, const ForeignCode& code);

}  // namespace conebench::cli
