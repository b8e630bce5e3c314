#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/night.hpp"

namespace conebench::cli {

namespace {

constexpr const char* nightly_footer =
    R"(A night is a store in DIR by date and build. One that broke off, or was not judged, is resumed by the same build; a
finished one is compared with the last good night (complete, nothing broken) and with --pin. The summary goes to standard
output, pages to DIR/NIGHT.comparison/ and, of all nights, to DIR/history/. A configuration that is slower is run again
side by side with the executable of that night, which DIR/builds/ keeps. docs/nightly.md has recipes for cron, systemd and CI.

Examples:
  conebench nightly fclib --data problems --stores nights
  conebench nightly nightly.json --stores nights --keep 60 --pin nights/release-1.sqlite)";

}  // namespace

Command add_nightly(CLI::App& root) {
  auto arguments = std::make_shared<NightlyArguments>();
  CLI::App* app = root.add_subcommand("nightly", "Run a suite, compare with the last good night, one exit code");
  app->footer(nightly_footer);
  app->add_option("SUITE", arguments->suite, "Suite file (docs/suites.md) or the name of a built-in suite")->required();
  app->add_option("--stores", arguments->folder, "Folder of the nights, made where it is missing")
      ->required()
      ->type_name("DIR");
  app->add_option("--data", arguments->data,
                  "Folder of the problems, or name of a data set; else CONEBENCH_DATA, else the suite's own folder")
      ->type_name("DIR");
  app->add_option("--pin", arguments->pin, "A reference to compare with as well, against slow changes")
      ->type_name("STORE");
  app->add_option("--filter", arguments->filter,
                  "Only the cells that it fits (docs/suites.md); nights with another filter count as another suite's")
      ->type_name("EXPR");
  app->add_option("--measured", arguments->measured,
                  "Store that has tonight's cells already, as `conebench slurm` merges it; only what it lacks is run")
      ->type_name("STORE");
  app->add_option("--survey", arguments->survey, "Folder that keeps what is known of the problems, as of `run`")
      ->type_name("DIR");
  app->add_flag("--quick", arguments->quick,
                "Each cell once, judged by verdicts and counts, as on a shared runner; no times (docs/suites.md)");
  add_integer(*app, "--jobs", arguments->jobs, {.minimum = 1.0, .maximum = 1024.0}, "Worker processes, with --quick");
  app->add_option("--fail-on", arguments->fail_on, "What makes the exit code 1, as of compare")
      ->type_name("LIST")
      ->capture_default_str();
  app->add_option("--artifacts", arguments->artifacts,
                  "Folder for a copy of tonight's pages, night.xml and the page of all nights, as CI keeps them")
      ->type_name("DIR");
  app->add_option("--format", arguments->format, "Format of the summary: md, or text (the default on a terminal)")
      ->check(CLI::IsMember({"md", "text"}))
      ->type_name("FORMAT");
  add_integer(*app, "--keep", arguments->keep, {.minimum = 0.0, .maximum = 1e6},
              "Nights to keep, in addition to the last good and the pinned one; 0: all");
  add_integer(*app, "--keep-stores", arguments->keep_stores, {.minimum = 0.0, .maximum = 1e6},
              "Stores to keep; of older nights the page of all nights needs their summaries alone; 0: all");
  add_foreign_code(*app, arguments->code, true);
  app->add_flag("--break-lock", arguments->break_lock, "Take over a lock of another host or from before a restart");
  return {app, [arguments] { return run_night(*arguments); }};
}

}  // namespace conebench::cli
