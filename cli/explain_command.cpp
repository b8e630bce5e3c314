#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/option_parsing.hpp"
#include "base/plural.hpp"
#include "base/suggestion.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/explain.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "cli/stores_argument.hpp"
#include "reports/text.hpp"
#include "runners/execute/stored_problems.hpp"
#include "runners/plan/filter.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

constexpr const char* explain_footer =
    R"(Of a store, CELL is the cell's key or its first digits (in cells.csv), or the problem's
name; --solver, --tolerance and --filter choose further. What the store lacks
is run here: the cell once more, for its iterates, and, where no stored solver solves
the problem, those of --solvers. Each run has a process of its own and the cell's limits;
a cell that ended by its time is run for as many iterations as it made.

Examples:
  conebench explain problem.hdf5 --solver PGS-NCP
  conebench explain "box-stack boxes=5 mass_ratio=1000" --solver NSGS --tolerance 1e-8
  conebench explain problem.hdf5 --solver PGS-NCP --try 12
  conebench explain results.sqlite 3f9ac1
  conebench explain results.sqlite box-stack_boxes=5 --solver NSGS
  conebench explain results.sqlite --filter 'solver=NSGS && status=stalled' --json)";

struct ExplainArguments {
  std::string target;
  std::string cell;
  std::string filter;
  std::string data;
  std::string solver;
  std::vector<std::string> set_values;
  CellRequest request;
  bool tolerance_given = false;
  std::string stop_by;
  std::string start = "cold";
  std::string solvers = "CASCADE,NSN-AC,ADMM-NCP-SA-S,PGS-NCP-SAFE,NSGS";
  long variants = 0;
  bool no_run = false;
  bool json = false;
  ForeignCode code;
};

/// By its first bytes; an empty or damaged one by its name.
bool is_store(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::path(file).extension() == ".sqlite" && std::filesystem::exists(file, ignored)) return true;
  constexpr std::string_view magic = "SQLite format 3";
  std::string begin(magic.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

/// The options that differ from the solver's defaults.
Result<OptionValues> stored_options(const ConfigurationRecord& configuration) {
  CONEBENCH_TRY(const SolverRow* const row, require_solver(configuration.solver));
  const auto stored = nlohmann::json::parse(configuration.options_json, nullptr, false);
  std::vector<std::string> words;
  for (const std::string& name : configuration.changed_options) {
    const auto value = stored.is_object() ? stored.find(name) : stored.end();
    if (value == stored.end()) continue;
    words.push_back(name + "=" + (value->is_string() ? value->get<std::string>() : value->dump()));
  }
  return parse_set_values(words, row->all_options(), row->info.id);
}

std::string describe(const StoredCell& one) {
  return fmt::format("{}  {}  {}  {:g}  {}", one.cell->key.substr(0, 12), reports::one_line(one.problem->name),
                     reports::one_line(one.configuration->label), one.cell->tolerance,
                     one.cell->solved ? "solved" : name(one.cell->status));
}

/// All cells that the arguments name; of several, those that are not solved.
std::vector<StoredCell> named_cells(const StoreContents& contents, const ExplainArguments& arguments) {
  std::map<std::string, const ProblemRecord*> problems;
  std::map<std::string, const ConfigurationRecord*> configurations;
  for (const ProblemRecord& one : contents.problems) problems[one.hash] = &one;
  for (const ConfigurationRecord& one : contents.configurations) configurations[one.hash] = &one;
  std::vector<StoredCell> found;
  for (const CellRecord& cell : contents.cells) {
    const StoredCell one{&contents, &cell, problems[cell.problem], configurations[cell.configuration]};
    if (one.problem == nullptr || one.configuration == nullptr) continue;
    const bool named = arguments.cell.empty() || cell.key.starts_with(arguments.cell) ||
                       one.problem->name == arguments.cell || one.problem->source == arguments.cell;
    const bool solver = arguments.solver.empty() || one.configuration->solver == arguments.solver ||
                        one.configuration->label == arguments.solver;
    if (named && solver && (!arguments.tolerance_given || cell.tolerance == arguments.request.tolerance))
      found.push_back(one);
  }
  const auto unsolved = std::ranges::count_if(found, [](const StoredCell& one) { return !one.cell->solved; });
  if (found.size() > 1 && unsolved > 0) std::erase_if(found, [](const StoredCell& one) { return one.cell->solved; });
  return found;
}

Result<StoredCell> choose_cell(const StoreContents& contents, const ExplainArguments& arguments) {
  constexpr std::size_t shown = 8;
  const auto found = named_cells(contents, arguments);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    std::set<std::string> names;
    for (const ProblemRecord& one : contents.problems) names.insert(one.name);
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("{}: no cell {}{}; {}`conebench report {} --failed` lists what is not solved", arguments.target,
                    arguments.cell.empty() ? "fits" : "is called " + arguments.cell,
                    arguments.solver.empty() ? "" : " of " + arguments.solver,
                    did_you_mean(arguments.cell, {names.begin(), names.end()}), reports::shell(arguments.target))};
  }
  std::string list;
  for (std::size_t k = 0; k < std::min(shown, found.size()); ++k) list += "\n  " + describe(found[k]);
  if (found.size() > shown) list += fmt::format("\n  … and {} more", found.size() - shown);
  print_note(fmt::format("key           problem  configuration  tolerance  status{}", list));
  return Error{
      ErrorCode::wrong_usage,
      fmt::format("{}: {} fit; add the key of one, as in `conebench explain {} {}`", arguments.target,
                  plural(static_cast<long>(found.size()), found.front().cell->solved ? "cell" : "unsolved cell"),
                  reports::shell(arguments.target), found.front().cell->key.substr(0, 12))};
}

/// The request that the cell is of.
Result<CellRequest> request_of(const StoredCell& stored) {
  const CellRecord& cell = *stored.cell;
  CellRequest request;
  request.solver = stored.configuration->solver;
  CONEBENCH_TRY(request.options, stored_options(*stored.configuration));
  request.tolerance = cell.tolerance;
  request.max_iterations = static_cast<long>(cell.max_iterations);
  request.seconds = cell.limit_s;
  request.memory_mb = static_cast<long>(cell.limit_mb);
  request.stop_by = stop_by_named(cell.stop_by).value_or(StopBy::judge);
  request.verdict = cell.verdict;
  // The answer to the problem before is not at hand: it is started cold.
  request.start = cell.start == "guess" ? Start::guess : Start::cold;
  return request;
}

ExplainScope scope_of(const ExplainArguments& arguments) {
  ExplainScope scope;
  scope.run = !arguments.no_run;
  scope.max_variants = arguments.variants;
  scope.solvers = split_list(arguments.solvers);
  return scope;
}

void print(const Explanation& known, const ExplainArguments& arguments) {
  if (arguments.json) {
    print_json("explain", to_json(known));
  } else {
    print_text(explanation_text(known));
  }
}

Result<int> explain_stored(const ExplainArguments& arguments) {
  if (!arguments.set_values.empty() || !arguments.stop_by.empty() || arguments.start != "cold") {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: --set, --stop-by and --start are for files and scenes; a stored cell has its own",
                             arguments.target)};
  }
  CONEBENCH_TRY(const auto filter, CellFilter::parse(arguments.filter, {.of_stored_cells = true}));
  CONEBENCH_TRY(auto contents, read_joined({arguments.target}, false));
  // What is compared is looked for in all of the store.
  const StoreContents chosen = arguments.filter.empty() ? contents : filtered(contents, filter, arguments.filter);
  CONEBENCH_TRY(const StoredCell named, choose_cell(chosen, arguments));
  StoredCell stored = named;
  stored.contents = &contents;
  if (!stored.problem->error.empty()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: could not be loaded: {}", stored.problem->name, stored.problem->error)};
  }
  if (stored.problem->members > 1) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: is a batch of {} problems; explain one of them, which the cell's reason names",
                             stored.problem->name, stored.problem->members)};
  }
  CONEBENCH_TRY(const auto problems,
                StoredProblems::list(contents.runs,
                                     {.data = arguments.data,
                                      .environment = data_folder_of_environment(),
                                      .cache = std::filesystem::path(arguments.target).replace_extension(".problems"),
                                      .scenes = simulation::sampled_scenes(),
                                      .family = stored.problem->family}));
  CONEBENCH_TRY(const auto members, problems.load(*stored.problem));
  CONEBENCH_TRY(const auto request, request_of(stored));
  CellRecord cell = *stored.cell;
  {
    CONEBENCH_TRY(const auto store, Store::open(arguments.target, Store::Mode::read_only));
    CONEBENCH_TRY(auto answer, store.reaction(cell.key));
    if (answer) cell.reaction = std::move(*answer);
  }
  stored.cell = &cell;
  CONEBENCH_TRY(auto known, explain(members.front(), request, &stored, scope_of(arguments)));
  known.problem = stored.problem->name;
  known.store = arguments.target;
  print(known, arguments);
  return done;
}

Result<int> explain_problem(ExplainArguments& arguments) {
  if (!arguments.cell.empty() || !arguments.filter.empty()) {
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("{}: no store, so that it has no cells; CELL and --filter go with a store", arguments.target)};
  }
  if (arguments.solver.empty()) {
    return Error{ErrorCode::wrong_usage, fmt::format("{}: say which solver: --solver ID", arguments.target)};
  }
  const auto row = require_solver(arguments.solver);
  if (!row) return Error{row.error().code, "--solver: " + with_foreign_code(row.error(), arguments.code).message};
  CellRequest& request = arguments.request;
  CONEBENCH_TRY(request.options, parse_set_values(arguments.set_values, (*row)->all_options(), arguments.solver));
  request.solver = arguments.solver;
  request.stop_by = *stop_by_for(arguments.stop_by, arguments.solver);
  request.start = arguments.start == "guess" ? Start::guess : Start::cold;
  CONEBENCH_TRY(const auto given, load_given_problem(arguments.target));
  if (request.start == Start::guess && !given.problem.guess()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: has no guess to start from; use --start cold", arguments.target)};
  }
  CONEBENCH_TRY(auto known, explain(given.problem, request, nullptr, scope_of(arguments)));
  known.problem = arguments.target;
  print(known, arguments);
  return done;
}

Result<int> run_explain(ExplainArguments& arguments) {
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  for (const std::string& solver : split_list(arguments.solvers)) {
    if (const auto row = require_solver(solver); !row && row.error().code == ErrorCode::wrong_usage)
      return Error{row.error().code, "--solvers: " + row.error().message};
  }
  return is_store(arguments.target) ? explain_stored(arguments) : explain_problem(arguments);
}

}  // namespace

Command add_explain(CLI::App& root) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* app =
      root.add_subcommand("explain", "Why a problem is or is not solved: facts about it and about the solve");
  app->footer(explain_footer);
  app->add_option("TARGET", arguments->target,
                  "Store of a run; or a problem as `solve` takes it: FCLIB HDF5 file, step of a recording, scene")
      ->required();
  app->add_option("CELL", arguments->cell, "Of a store: key or its first digits, or the problem's name");
  app->add_option("--filter", arguments->filter, "Of a store: the cell that it fits (docs/suites.md)")
      ->type_name("EXPR");
  app->add_option("--data", arguments->data, "Of a store: folder of its problems, as for `conebench run`")
      ->type_name("DIR");
  app->add_option("--solver", arguments->solver, "Solver, see `conebench list solvers`")->type_name("ID");
  auto& request = arguments->request;
  auto* const tolerance = add_real(*app, "--tolerance", request.tolerance, {.minimum = 0.0, .above_minimum = true},
                                   "Upper bound for the verdict");
  tolerance->each([arguments](const std::string&) { arguments->tolerance_given = true; });
  add_set_option(*app, arguments->set_values, "Of a problem: set an option of the solver; may be repeated");
  add_integer(*app, "--max-iterations", request.max_iterations, {.minimum = 0.0}, "Of a problem: limit on iterations");
  add_real(*app, "--time-limit", request.seconds, {.minimum = 0.0, .above_minimum = true},
           "Of a problem: limit on set-up and solve together [s]");
  app->add_option("--stop-by", arguments->stop_by,
                  "Of a problem: solver, judge or judge_timed, as for `conebench solve`")
      ->check(CLI::Validator(
          [](const std::string& word) {
            return stop_by_named(word) ? std::string() : word + " is none of solver, judge, judge_timed";
          },
          "{solver,judge,judge_timed}"));
  app->add_option("--verdict", request.verdict, "Of a problem: residual that decides, see `conebench list metrics`")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--start", arguments->start, "Of a problem: from zero or from the file's first guess")
      ->check(CLI::IsMember({"cold", "guess"}))
      ->capture_default_str();
  add_integer(
      *app, "--try", arguments->variants, {.minimum = 0.0, .maximum = 1000.0},
      "Run up to N variants of the solver, each with one option changed; without it, stored cells are compared");
  app->add_option("--solvers", arguments->solvers, "Other solvers to run where the store has none that solves it")
      ->type_name("LIST")
      ->capture_default_str();
  app->add_flag("--no-run", arguments->no_run, "Solve nothing: only what the store and the problem's data say");
  add_foreign_code(*app, arguments->code, false);
  app->add_flag("--json", arguments->json, "Print one JSON object: the facts");
  add_read_limit(*app);
  return {app, [arguments] { return run_explain(*arguments); }};
}

}  // namespace conebench::cli
