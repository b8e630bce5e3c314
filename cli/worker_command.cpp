#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "runners/execute/build_protocol.hpp"

namespace conebench::cli {

namespace {

Result<int> run_worker() {
  constexpr int internal = 70;
  return serve_orders() == 0 ? done : internal;
}

}  // namespace

Command add_worker(CLI::App& root) {
  CLI::App* app = root.add_subcommand("worker", "Solve cells for another build of Conebench (run --ab starts it)");
  app->footer(
      "It speaks frames on descriptor 3 (docs/side_by_side.md).\n\nExamples:\n"
      "  conebench run nightly --ab old/conebench --db ab.sqlite");
  return {app, run_worker};
}

}  // namespace conebench::cli
