#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "reports/history/history.hpp"
#include "store/merge.hpp"

namespace conebench::cli {

namespace {

constexpr const char* history_footer =
    R"(A summary is kept next to each store, so that many nights open at once; it is made anew where it is stale or damaged.

Examples:
  conebench history nights --out history
  conebench history monday.sqlite tuesday.sqlite --json)";

struct HistoryArguments {
  std::vector<std::string> stores;
  std::string out;
  bool json = false;
};

Result<int> run_history(const HistoryArguments& arguments) {
  const std::vector<std::filesystem::path> stores(arguments.stores.begin(), arguments.stores.end());
  CONEBENCH_CHECK(check_named_once(stores));
  CONEBENCH_TRY(const auto history, reports::read_history(stores));
  for (const std::string& note : history.notes) print_note(note);
  if (!arguments.out.empty()) {
    CONEBENCH_TRY(const auto written, reports::write_history(history, arguments.out));
    for (const auto& path : written) print_note(path.string());
  }
  print_text(arguments.json ? reports::history_json(history) : reports::history_markdown(history));
  if (history.suites.empty()) {
    print_error(fmt::format("{}: nothing was measured: no run in any store", arguments.stores.front()));
    return nothing_measured;
  }
  return done;
}

}  // namespace

Command add_history(CLI::App& root) {
  auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* app = root.add_subcommand("history", "Share solved and time of many nights, and where they changed");
  app->footer(history_footer);
  app->add_option("STORE|DIR", arguments->stores, "Stores, or folders of them, as `conebench nightly` leaves")
      ->required()
      ->type_name("PATH");
  app->add_option("--out", arguments->out,
                  "Folder for index.html, history.md and history.json, made where it is missing")
      ->type_name("DIR");
  app->add_flag("--json", arguments->json, "One JSON object on standard output instead of Markdown");
  return {app, [arguments] { return run_history(*arguments); }};
}

}  // namespace conebench::cli
