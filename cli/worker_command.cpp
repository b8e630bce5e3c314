#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "runners/execute/build_protocol.hpp"

namespace conebench::cli {

namespace {

Result<int> run_worker(long protocol) {
  if (protocol != build_protocol) {
    return Error{ErrorCode::wrong_usage, fmt::format("--protocol {}: this build speaks {}", protocol, build_protocol)};
  }
  constexpr int internal = 70;
  return serve_orders() == 0 ? done : internal;
}

}  // namespace

Command add_worker(CLI::App& root) {
  auto protocol = std::make_shared<long>(build_protocol);
  CLI::App* app = root.add_subcommand("worker", "Solve cells for another build of Conebench (run --beside starts it)");
  app->footer(
      "It speaks frames on descriptor 3 (docs/side_by_side.md).\n\nExamples:\n  conebench run nightly --beside "
      "old/conebench "
      "--db ab.sqlite");
  add_integer(*app, "--protocol", *protocol, {.minimum = 1.0}, "Version of the frames");
  return {app, [protocol] { return run_worker(*protocol); }};
}

}  // namespace conebench::cli
