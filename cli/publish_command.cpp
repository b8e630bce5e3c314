#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/stores_argument.hpp"
#include "reports/site/site.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* publish_footer =
    R"(DIR/index.html lists the stores by suite, date, machine and build. Each has a report of its own, its store, its CSV
files and its answers. Addresses come from what a store holds: they stay when the site is made again with more stores.
Stores of `judge --submission` are listed apart, with times as claimed.

Examples:
  conebench publish monday.sqlite tuesday.sqlite --out site
  conebench publish nights --out site --title "Nightly results"
  conebench publish results.sqlite secret.sqlite --held-out secret.sqlite --out site
  conebench publish results.sqlite --held-out KaplasTower --anonymous --out site)";

struct PublishArguments {
  std::vector<std::string> stores;
  std::string out;
  std::string title = reports::SiteOptions().title;
  std::vector<std::string> held_out;
  bool anonymous = false;
};

/// Stores as they are, and those of folders in the order of their names.
Result<std::vector<fs::path>> listed_stores(const std::vector<std::string>& named) {
  std::vector<fs::path> stores;
  for (const std::string& name : named) {
    std::error_code failure;
    if (!fs::is_directory(name, failure)) {
      stores.emplace_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    for (fs::directory_iterator at(name, failure), end; !failure && at != end; at.increment(failure)) {
      if (at->path().extension() == ".sqlite") inside.push_back(at->path());
    }
    if (inside.empty()) {
      return Error{ErrorCode::bad_input, name + ": has no store (*.sqlite); name a store or a folder of stores"};
    }
    std::ranges::sort(inside);
    stores.insert(stores.end(), inside.begin(), inside.end());
  }
  return stores;
}

Result<int> run_publish(const PublishArguments& arguments) {
  CONEBENCH_TRY(const auto stores, listed_stores(arguments.stores));
  reports::SiteOptions options;
  options.title = arguments.title;
  for (const std::string& held_out : arguments.held_out) {
    if (std::ranges::find(stores, fs::path(held_out)) != stores.end()) {
      options.held_out_stores.insert(held_out);
    } else {
      options.held_out_families.insert(held_out);
    }
  }
  if (arguments.anonymous) options.anonymous_but = public_solvers();
  if (const char* const data = std::getenv("CONEBENCH_DATA")) options.folders.emplace_back(data);
  CONEBENCH_TRY(const auto site, reports::write_site(stores, arguments.out, options));
  for (const std::string& note : site.notes) print_note(note);
  long cells = 0;
  for (const reports::SiteEntry& entry : site.entries) {
    cells += entry.cells;
    print_text((fs::path(arguments.out) / entry.address / "index.html").string() + "\n");
  }
  print_text((fs::path(arguments.out) / "index.html").string() + "\n");
  if (cells == 0) {
    print_error(fmt::format("{}: nothing was measured: no cell in any store", arguments.stores.front()));
    return nothing_measured;
  }
  return done;
}

}  // namespace

Command add_publish(CLI::App& root) {
  auto arguments = std::make_shared<PublishArguments>();
  CLI::App* app = root.add_subcommand("publish", "A static site of many stores: reports, histories, downloads");
  app->footer(publish_footer);
  app->add_option("STORE|DIR", arguments->stores, "Stores, or folders of them")->required()->type_name("PATH");
  app->add_option("--out", arguments->out, "Folder for the site, made where it is missing")
      ->type_name("DIR")
      ->required();
  app->add_option("--title", arguments->title, "Heading of the list")->type_name("TEXT")->capture_default_str();
  app->add_option("--held-out", arguments->held_out,
                  "A family, or a store of the command, that is shown apart; its answers are not published. May be "
                  "repeated")
      ->type_name("FAMILY|STORE")
      ->take_all();
  app->add_flag("--anonymous", arguments->anonymous,
                "Publish numbers and solvers alone: no name, path, host or message, no store and no answers");
  return {app, [arguments] { return run_publish(*arguments); }};
}

}  // namespace conebench::cli
