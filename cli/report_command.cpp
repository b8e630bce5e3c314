#include "reports/report.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/drawings.hpp"
#include "cli/output.hpp"
#include "cli/stores_argument.hpp"
#include "runners/execute/gates.hpp"
#include "runners/plan/filter.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

constexpr const char* report_footer = R"(Examples:
  conebench report results.sqlite --out report
  conebench report shard-1.sqlite shard-2.sqlite --out report --format html,csv
  conebench report results.sqlite --out report --by category
  conebench report results.sqlite --out dense --filter 'category=dense-contacts && contacts<100'
  conebench report results.sqlite --out paper --format latex --rows 10 --columns solved,time_at_limit,times_best
  conebench report results.sqlite --failed --filter 'status=crashed')";

struct ReportArguments {
  std::vector<std::string> stores;
  std::string out;
  std::string formats = "html,md,latex,csv,json,badge";
  std::string title;
  std::string groups = "family";
  std::string filter;
  ViewText view;
  bool force_time_profiles = false;
  bool all_cells = false;
  bool anonymous = false;
  std::string since;
  bool failed = false;
  bool without_own = false;
};

std::set<std::string> solvers_of(const StoreContents& contents) {
  std::set<std::string> solvers;
  for (const ConfigurationRecord& configuration : contents.configurations) solvers.insert(configuration.solver);
  return solvers;
}

std::set<std::string> families_of(const StoreContents& contents) {
  std::set<std::string> families;
  for (const ProblemRecord& problem : contents.problems) families.insert(problem.family);
  return families;
}

/// Where a filter fits only cells that were not run: not a slip of the pen.
std::string still_to_run(const StoreContents& contents) {
  std::size_t missing = 0;
  for (const SuiteState& suite : contents.suites) missing += suite.missing.size();
  return missing == 0 ? std::string() : fmt::format("{} that may fit it were not run yet; ", missing);
}

/// Why there is no measurement in the stores; nullopt where some cell is_measured().
std::optional<std::string> nothing_answered(const StoreContents& contents) {
  if (contents.cells.empty()) return "no cell is stored";
  std::map<std::string, long> statuses;
  for (const CellRecord& cell : contents.cells) {
    if (is_measured(cell)) return std::nullopt;
    ++statuses[to_string(cell.status)];
  }
  return fmt::format("no solver answered in any of {} ({})", plural(static_cast<long>(contents.cells.size()), "cell"),
                     counts_text(statuses));
}

/// Of the many files for \\input only the document around them.
void print_paths(const std::filesystem::path& out, const std::vector<std::filesystem::path>& paths) {
  const auto is_input = [latex = out / "latex"](const std::filesystem::path& path) {
    return path.parent_path() == latex && path.filename() != "report.tex";
  };
  const auto others = static_cast<long>(std::ranges::count_if(paths, is_input));
  for (const std::filesystem::path& path : paths) {
    if (is_input(path)) continue;
    const bool is_document = path.filename() == "report.tex";
    print_text(path.string() +
               (is_document ? fmt::format(", with {} for \\input beside it", plural(others, "file")) : "") + "\n");
  }
}

Result<int> run_report(const ReportArguments& arguments) {
  ReportOptions options;
  CONEBENCH_TRY(options.formats, parse_report_formats(arguments.formats).within("--format"));
  options.force_time_profiles = arguments.force_time_profiles;
  options.title = arguments.title;
  CONEBENCH_TRY(const auto groups, parse_report_groups(arguments.groups).within("--by"));
  CONEBENCH_TRY(options.view, parse_view(arguments.view));

  CONEBENCH_TRY(const auto filter, CellFilter::parse(arguments.filter, {.of_stored_cells = true}));
  CONEBENCH_TRY(StoreContents joined, read_joined(arguments.stores, arguments.all_cells));
  // Where the samples of a sweep lie, and files that it was given with --data.
  for (const auto& file : arguments.stores) {
    options.folders.push_back(std::filesystem::path(file).replace_extension(".problems"));
  }
  if (const char* const data = std::getenv("CONEBENCH_DATA")) options.folders.emplace_back(data);
  if (!arguments.filter.empty()) {
    const auto all = joined.cells.size();
    const std::string meant = misspelt(filter, solvers_of(joined), families_of(joined));
    joined = filtered(std::move(joined), filter, arguments.filter);
    if (joined.cells.empty() && all > 0) {
      print_error(fmt::format("{}: --filter '{}' leaves 0 of {} cells; {}{}nothing was written",
                              arguments.stores.front(), arguments.filter, all, meant, still_to_run(joined)));
      return nothing_measured;
    }
  }
  if (arguments.without_own) joined = without_own(std::move(joined));
  for (SuiteState& suite : joined.suites) {
    if (suite.missing.empty()) suite.present.clear();  // large, and a complete suite's report has no use for it
  }
  Pseudonyms names(public_solvers());
  if (arguments.anonymous) joined = anonymous(std::move(joined), names);
  if (!arguments.since.empty()) {
    CONEBENCH_TRY(auto earlier, read_joined({arguments.since}, arguments.all_cells));
    if (!arguments.filter.empty()) earlier = filtered(std::move(earlier), filter, arguments.filter);
    if (arguments.without_own) earlier = without_own(std::move(earlier));
    if (arguments.anonymous) earlier = anonymous(std::move(earlier), names);
    options.since = changes_since(earlier, joined);
  }
  const StoreContents contents = grouped(std::move(joined), groups);
  CONEBENCH_CHECK(check_view(options.view, contents));
  options.unsolved = unsolved_list(arguments.stores);
  options.colour = options.unsolved.colour;
  if (arguments.failed) {
    options.unsolved.every_cell = true;
    options.unsolved.command.clear();
  }
  if (arguments.out.empty() && arguments.failed) {
    const std::string list = terminal_unsolved(contents, options.unsolved);
    print_bytes(list.empty() ? "all cells that ran are solved\n" : list);
    return done;
  }
  if (arguments.out.empty()) {
    print_bytes(
        terminal_ranking(contents, options.colour, options.force_time_profiles, &options.unsolved, options.view));
    return done;
  }
  CONEBENCH_TRY(const auto written, write_report(contents, arguments.out, options));
  print_bytes(written.ranking + written.unsolved);
  for (const auto& note : written.notes) print_note(note);
  print_paths(arguments.out, written.paths);
  if (const auto why = draw_figures(written.paths)) print_note(*why);
  if (const auto why = nothing_answered(contents)) {
    print_error(fmt::format("{}: nothing was measured: {}; see the report", arguments.stores.front(), *why));
    return nothing_measured;
  }
  return done;
}

}  // namespace

Command add_report(CLI::App& root) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* app = root.add_subcommand("report", "Tables, profiles and a page from stored results");
  app->footer(report_footer);
  app->add_option("DB", arguments->stores, "Stores, as `conebench run --db` wrote them")->required();
  app->add_option("--out", arguments->out,
                  "Folder for the report, made where it is missing; without it the ranking is printed")
      ->type_name("DIR");
  app->add_flag("--failed", arguments->failed, "List every cell that ran and is not solved, with its reason");
  app->add_option("--format", arguments->formats, "html, md, latex, csv, json, badge (comma-separated)")
      ->type_name("LIST")
      ->capture_default_str();
  app->add_option("--by", arguments->groups, "family, category (of samples) or conditioning")
      ->type_name("GROUPS")
      ->capture_default_str();
  app->add_option("--filter", arguments->filter, "Only the cells that it fits (docs/suites.md)")->type_name("EXPR");
  app->add_option("--columns", arguments->view.columns,
                  "Columns of rankings in their order, or all (docs/reports.md); pages, CSV and JSON have everything")
      ->type_name("LIST");
  app->add_option("--rows", arguments->view.rows,
                  "Rows of rankings: the first N, or configurations (* is any text); changes no number")
      ->type_name("N|LIST");
  app->add_option("--solvers", arguments->view.solvers,
                  "Solvers whose rows and curves are shown; changes no number (--filter compares fewer)")
      ->type_name("LIST");
  app->add_option("--families", arguments->view.families,
                  "Families in tables by family; LaTeX has a ranking and profiles of each, too")
      ->type_name("LIST");
  app->add_flag("--without-own", arguments->without_own, "Leave out the solvers of Conebench's authors");
  app->add_option("--title", arguments->title, "Heading; the suites' names if not given")->type_name("TEXT");
  app->add_option("--since", arguments->since,
                  "Earlier store of the suite: the page says what changed (docs/compare.md)")
      ->type_name("STORE");
  app->add_flag("--anonymous", arguments->anonymous,
                "Publish numbers and solvers alone: no name, path, host or message");
  app->add_flag("--all-cells", arguments->all_cells, "Also what the suite, as it was run last, no longer asks for");
  app->add_flag("--force-time-profiles", arguments->force_time_profiles,
                "Show times of throughput runs too, with a warning");
  return {app, [arguments] { return run_report(*arguments); }};
}

}  // namespace conebench::cli
