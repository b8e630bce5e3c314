#include <CLI/CLI.hpp>

#include "runners/cli/command.hpp"

namespace conebench::cli {

namespace {

/// A command whose name and arguments are settled and that says so until it is built.
Command not_built(CLI::App& root, const char* name, const char* summary, const char* instead) {
  CLI::App* app = root.add_subcommand(name, std::string(summary) + " (not built yet)");
  app->allow_extras();
  const std::string message = std::string(name) + ": this command is not built yet; " + instead;
  return {app, [message]() -> Result<int> { return Error{ErrorCode::unsupported, message}; }};
}

}  // namespace

Command add_paper(CLI::App& root) {
  return not_built(root, "paper", "A paper's table or figure, published values beside the measured ones",
                   "use `conebench run` with a suite of the paper's problems and `conebench report`");
}

}  // namespace conebench::cli
