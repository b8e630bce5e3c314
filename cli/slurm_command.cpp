#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/content_address.hpp"
#include "base/folder.hpp"
#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/slurm.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep_plan.hpp"
#include "runners/plan/cell_parts.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/suite.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* slurm_footer = R"(The same command again submits the shards with missing cells. docs/slurm.md

Examples:
  conebench slurm fclib --data problems --shards 200 --out sweep --sbatch "--partition=long --constraint=epyc"
  conebench slurm fclib --shards 200 --out sweep --dry-run
  conebench slurm status sweep)";

struct SlurmArguments {
  std::string suite;
  std::string out;
  std::string data;
  std::string filter;
  std::string sbatch;
  std::string costs;
  std::string baseline;
  std::string nights;
  ForeignCode code;
  long shards = 0;
  bool dry_run = false;
  bool allow_mixed = false;
  std::string status;
  bool json = false;
};

constexpr long slurms_default = 1001;  ///< MaxArraySize where the cluster does not say
constexpr long memory_of_worker_mb = 2000;

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

/// The name of a data set, which every task finds by itself, or the absolute path of the folder.
std::string location_of_data(const std::string& data) {
  const auto set = data_set_of(data);
  return set && *set ? data : absolute(data);
}

/// The folder, as every task finds it.
struct Location {
  fs::path folder;
  std::string executable;
};

/// What a command needs to load plug-ins and programs.
std::vector<std::string> code_arguments(const ForeignCode& code) {
  std::vector<std::string> command;
  for (const std::string& file : code.plugins) command.insert(command.end(), {"--plugin", absolute(file)});
  for (const std::string& program : code.programs) command.insert(command.end(), {"--program", program});
  if (code.allowed) command.emplace_back("--allow-code");
  return command;
}

/// Of sbatch's --output, which takes %% for a % of the folder's own name.
std::string log_pattern(const fs::path& folder, const std::string& file) {
  std::string path;
  for (const char letter : (folder / "logs").string()) path += letter == '%' ? "%%" : std::string(1, letter);
  return slurm::quoted(path + "/" + file);
}

std::string array_script(const SlurmArguments& arguments, const Suite& suite, const SlurmPlan& plan,
                         const Location& location) {
  std::vector<std::string> command = {location.executable, "run", plan.suite_file};
  if (!arguments.data.empty()) command.insert(command.end(), {"--data", location_of_data(arguments.data)});
  if (!arguments.filter.empty()) command.insert(command.end(), {"--filter", arguments.filter});
  if (arguments.allow_mixed) command.emplace_back("--allow-mixed");
  const std::vector<std::string> code = code_arguments(arguments.code);
  command.insert(command.end(), code.begin(), code.end());
  command.insert(command.end(), {"--survey", (location.folder / "survey").string(), "--break-lock"});
  std::string line;
  for (const std::string& word : command) line += slurm::quoted(word) + " ";
  const std::string memory =
      suite.limits.memory_mb > 0
          ? fmt::format("#SBATCH --mem={:.0f}M\n", static_cast<double>(suite.limits.memory_mb) + memory_of_worker_mb)
          : std::string();
  return fmt::format(
      R"(#!/bin/bash
#SBATCH --job-name={}
#SBATCH --ntasks=1 --cpus-per-task=1
{}#SBATCH --requeue --open-mode=append
#SBATCH --output={}
{}
# One task runs one shard of {}: sbatch --array=INDICES array.sh [FIRST]; shard = FIRST + index + 1.
# A task that is run again resumes. Slurm runs a shard once at a time, so that a lock of a lost node may be broken.
export CONEBENCH_SHARED_DISK=1  # the stores are read from other nodes meanwhile
index=${{SLURM_ARRAY_TASK_ID:?is set by sbatch --array; by hand: SLURM_ARRAY_TASK_ID=0 bash array.sh}}
shard=$((${{1:-0}} + index + 1))
exec {}--keys {}/$shard.txt --db {}/$shard.sqlite
)",
      slurm::quoted("conebench-" + suite.name), memory, log_pattern(location.folder, "%A-%a.txt"),
      arguments.sbatch.empty() ? std::string() : "#SBATCH " + arguments.sbatch + "\n", plan.cells.size(), line,
      slurm::quoted((location.folder / "parts").string()), slurm::quoted((location.folder / "shards").string()));
}

std::string line_of(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + slurm::quoted(word);
  return line + "\n";
}

std::string merge_script(const SlurmArguments& arguments, const Suite& suite, const SlurmPlan& plan,
                         const Location& location) {
  const std::string conebench = slurm::quoted(location.executable);
  const std::string merged = slurm::quoted(merged_store(location.folder).string());
  std::string text = fmt::format(
      R"(#!/bin/bash
#SBATCH --job-name={}
#SBATCH --ntasks=1 --cpus-per-task=1
#SBATCH --output={}
{}
# Joins the shards when all are complete; else says what is missing and ends with 4.
{} slurm status {} || exit
rm -f {}.new
{} merge{} {}/*.sqlite --out {}.new && mv {}.new {} || exit
)",
      slurm::quoted("conebench-" + suite.name + "-merge"), log_pattern(location.folder, "merge-%j.txt"),
      arguments.sbatch.empty() ? std::string() : "#SBATCH " + arguments.sbatch + "\n", conebench,
      slurm::quoted(location.folder.string()), merged, conebench, arguments.allow_mixed ? " --allow-mixed" : "",
      slurm::quoted((location.folder / "shards").string()), merged, merged, merged);
  if (!arguments.baseline.empty()) {
    text += line_of({location.executable, "compare", absolute(arguments.baseline),
                     merged_store(location.folder).string(), "--out", (location.folder / "comparison").string()});
  }
  if (!arguments.nights.empty()) {
    std::vector<std::string> command = {location.executable, "nightly", plan.suite_file, "--stores",
                                        absolute(arguments.nights)};
    if (!arguments.data.empty()) command.insert(command.end(), {"--data", location_of_data(arguments.data)});
    if (!arguments.filter.empty()) command.insert(command.end(), {"--filter", arguments.filter});
    const std::vector<std::string> code = code_arguments(arguments.code);
    command.insert(command.end(), code.begin(), code.end());
    command.insert(command.end(), {"--measured", merged_store(location.folder).string(), "--survey",
                                   (location.folder / "survey").string()});
    text += line_of(command);
  }
  return text;
}

Result<void> write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written", file.string())};
  return {};
}

std::string digest_of(const std::vector<PlannedCell>& cells) {
  std::string keys;
  for (const PlannedCell& cell : cells) keys += cell.key;
  return content_address({keys});
}

/// Writes the keys of each shard's cells, and what they are thought to cost into the plan.
Result<void> share_out(const SlurmArguments& arguments, const Suite& suite, const SweepPlan& sweep,
                       const Location& location, SlurmPlan& plan) {
  StoreContents earlier;
  if (!arguments.costs.empty()) {
    CONEBENCH_TRY(const auto store, Store::open(arguments.costs, Store::Mode::read_only));
    CONEBENCH_TRY(earlier, store.read_outcomes());
  }
  const auto costs = estimated_costs(suite, sweep.problems.problems, sweep.configurations, sweep.cells, earlier);
  const auto shard_of = balanced_parts(sweep.cells, costs, static_cast<int>(arguments.shards));
  const auto shards = static_cast<std::size_t>(arguments.shards);
  std::vector<std::string> keys(shards);
  plan.cells.assign(shards, 0);
  plan.seconds.assign(shards, 0.0);
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const auto shard = static_cast<std::size_t>(shard_of[i] - 1);
    keys[shard] += sweep.cells[i].key + "\n";
    plan.seconds[shard] += costs[i];
    ++plan.cells[shard];
  }
  for (std::size_t shard = 0; shard < shards; ++shard) {
    CONEBENCH_CHECK(write_text(shard_keys(location.folder, shard + 1), keys[shard]));
  }
  return {};
}

/// What the folder holds already into the plan; an error where it is another sweep's, or still at work.
Result<void> take_earlier(const SlurmArguments& arguments, long cells, const fs::path& folder, SlurmPlan& plan) {
  CONEBENCH_TRY(const auto earlier, read_slurm_plan(folder));
  if (earlier.digest != plan.digest || earlier.cells.size() != static_cast<std::size_t>(arguments.shards)) {
    return Error{
        ErrorCode::bad_input,
        fmt::format("{}: holds another sweep ({} in {}, here {} in {}); give another folder", folder.string(),
                    plural(earlier.all_cells(), "cell"), plural(static_cast<long>(earlier.cells.size()), "shard"),
                    plural(cells, "cell"), plural(arguments.shards, "shard"))};
  }
  const auto live = slurm::live_tasks(earlier.jobs);
  if (!live && !earlier.jobs.empty()) {
    return Error{ErrorCode::bad_input,
                 "squeue does not answer, so that nobody knows whether the earlier jobs still "
                 "run; try again on a host of the cluster"};
  }
  if (live && !live->empty()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: its jobs {} are not at their end ({}); wait or scancel them",
                                                   folder.string(), fmt::join(earlier.jobs, ", "), counts_text(*live))};
  }
  plan.cells = earlier.cells;
  plan.seconds = earlier.seconds;
  plan.jobs = earlier.jobs;
  return {};
}

/// Surveys the problems into the folder, or takes what it keeps of them. A plan without cells: the suite has none.
Result<SlurmPlan> make_plan(const SlurmArguments& arguments, const Suite& suite, const Location& location) {
  SweepOptions options;
  options.data = arguments.data;
  options.filter = arguments.filter;
  options.cache = location.folder / "survey";
  begin_survey(options.cache);
  const InterruptGuard guard;
  options.interrupted = &guard.flag();
  ProgressPrinter progress = progress_on_stderr();
  CONEBENCH_TRY(const auto sweep, make_sweep_plan(suite, options, {}, progress));
  if (sweep.interrupted || !sweep.killed.empty()) {
    return Error{ErrorCode::killed, "interrupted while the problems were surveyed; the same command goes on"};
  }
  SlurmPlan plan;
  plan.suite = suite.name;
  std::error_code ignored;
  plan.suite_file = fs::exists(arguments.suite, ignored) ? absolute(arguments.suite) : arguments.suite;
  plan.digest = digest_of(sweep.cells);
  plan.rounds = suite.repeats.rounds;
  if (sweep.cells.empty()) return plan;
  if (fs::exists(location.folder / "plan.json", ignored)) {
    const auto cells = static_cast<long>(sweep.cells.size());
    CONEBENCH_CHECK(take_earlier(arguments, cells, location.folder, plan));
    return plan;
  }
  if (static_cast<long>(sweep.cells.size()) < arguments.shards) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("--shards {}: more than the sweep has cells, {}", arguments.shards, sweep.cells.size())};
  }
  CONEBENCH_CHECK(share_out(arguments, suite, sweep, location, plan));
  return plan;
}

/// The sbatch commands of the shards that miss cells, one for each MaxArraySize of them.
std::vector<std::vector<std::string>> array_commands(const std::vector<ShardState>& states, long max_tasks,
                                                     const Location& location) {
  std::map<long, std::vector<long>> indices;  // by the array's first shard
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto shard = static_cast<long>(i);
    if (!states[i].complete) indices[shard / max_tasks * max_tasks].push_back(shard % max_tasks);
  }
  std::vector<std::vector<std::string>> commands;
  for (const auto& [first, members] : indices) {
    commands.push_back({"sbatch", "--parsable", "--array=" + slurm::ranges(members),
                        (location.folder / "array.sh").string(), std::to_string(first)});
  }
  return commands;
}

Result<int> submit_all(const std::vector<std::vector<std::string>>& arrays, const Location& location, SlurmPlan& plan) {
  std::string after = "afterany";
  std::vector<std::string> made;
  for (const auto& command : arrays) {
    CONEBENCH_TRY(const auto job, slurm::submit(command));
    plan.jobs.push_back(job);
    made.push_back(job);
    after += ":" + job;
    // At once: a submitted array that the folder does not know could be submitted again.
    CONEBENCH_CHECK(write_slurm_plan(location.folder, plan));
  }
  std::vector<std::string> command = {"sbatch", "--parsable"};
  if (!made.empty()) command.push_back("--dependency=" + after);
  command.push_back((location.folder / "merge.sh").string());
  CONEBENCH_TRY(const auto merge, slurm::submit(command));
  plan.jobs.push_back(merge);
  CONEBENCH_CHECK(write_slurm_plan(location.folder, plan));
  print_text(fmt::format("submitted: {}the merge as {}; conebench slurm status {}\n",
                         made.empty() ? "" : fmt::format("array {}, ", fmt::join(made, ", ")), merge,
                         slurm::quoted(location.folder.string())));
  return done;
}

Result<int> plan_and_submit(const SlurmArguments& arguments) {
  for (const auto& [name, given] : {std::pair{"SUITE", !arguments.suite.empty()},
                                    {"--shards", arguments.shards > 0},
                                    {"--out", !arguments.out.empty()}}) {
    if (!given) return Error{ErrorCode::wrong_usage, fmt::format("slurm: {} is required", name)};
  }
  if (arguments.sbatch.find('\n') != std::string::npos) {
    return Error{ErrorCode::wrong_usage, "--sbatch: one line of options, as in \"--partition=long --time=4:00:00\""};
  }
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  CONEBENCH_TRY(const auto suite, load_suite(arguments.suite, arguments.code.in_suite(), simulation::sampled_scenes()));
  std::error_code failed;
  const Location location{absolute(arguments.out), fs::read_symlink("/proc/self/exe", failed).string()};
  // It stands in comments of the scripts, which a new line would end.
  if (location.folder.string().find('\n') != std::string::npos) {
    return Error{ErrorCode::wrong_usage, "--out: the folder's path has more than one line; give another"};
  }
  for (const char* folder : {"parts", "shards", "logs", "survey"})
    CONEBENCH_CHECK(make_folder(location.folder / folder));
  CONEBENCH_TRY(auto plan, make_plan(arguments, suite, location));
  if (plan.all_cells() == 0) {
    print_error(fmt::format("{}: nothing to measure: the suite and its filter leave no cell", arguments.suite));
    return nothing_measured;
  }
  CONEBENCH_TRY(const auto states, shard_states(location.folder, plan));
  for (const auto& [name, text] : {std::pair{"array.sh", array_script(arguments, suite, plan, location)},
                                   {"merge.sh", merge_script(arguments, suite, plan, location)}}) {
    CONEBENCH_CHECK(write_text(location.folder / name, text));
  }
  CONEBENCH_CHECK(write_slurm_plan(location.folder, plan));

  long stored = 0;
  for (const ShardState& state : states) stored += state.stored;
  const auto max_tasks = slurm::max_indices();
  const auto arrays = array_commands(states, max_tasks.value_or(slurms_default), location);
  print_text(fmt::format("{}: {} in {}, {} stored\n", suite.name, plural(plan.all_cells(), "cell"),
                         plural(arguments.shards, "shard"), stored));
  const double all_s = std::accumulate(plan.seconds.begin(), plan.seconds.end(), 0.0);
  print_text(fmt::format("about {} of one processor, {} in the longest shard; {}\n", duration_text(all_s),
                         duration_text(*std::max_element(plan.seconds.begin(), plan.seconds.end())),
                         arguments.costs.empty() ? "from the problems' sizes alone; --costs STORE is more precise"
                                                 : "from " + arguments.costs));
  if (!arguments.dry_run) return submit_all(arrays, location, plan);
  if (!max_tasks) print_note(fmt::format("Slurm does not answer here: arrays of at most {} tasks", slurms_default));
  for (const auto& command : arrays) print_text(line_of(command));
  print_text(line_of({"sbatch", arrays.empty() ? "--parsable" : "--dependency=afterany:JOBS",
                      (location.folder / "merge.sh").string()}));
  return done;
}

Result<int> print_status(const SlurmArguments& arguments) {
  CONEBENCH_TRY(const auto plan, read_slurm_plan(arguments.status));
  CONEBENCH_TRY(const auto states, shard_states(arguments.status, plan));
  long stored = 0;
  std::vector<long> missing;
  for (std::size_t i = 0; i < states.size(); ++i) {
    stored += states[i].stored;
    if (!states[i].complete) missing.push_back(static_cast<long>(i) + 1);
  }
  const auto live = slurm::live_tasks(plan.jobs);
  std::error_code ignored;
  const bool merged = fs::exists(merged_store(arguments.status), ignored);
  if (arguments.json) {
    print_json("slurm_status", {{"suite", plan.suite},
                                {"cells", plan.all_cells()},
                                {"cells_stored", stored},
                                {"shards", plan.cells.size()},
                                {"shards_incomplete", missing},
                                {"jobs", plan.jobs},
                                {"tasks", live ? nlohmann::json(*live) : nlohmann::json()},
                                {"merged", merged}});
  } else {
    print_text(fmt::format("{}: {} of {} stored; {} of {} complete\n", plan.suite, stored,
                           plural(plan.all_cells(), "cell"), plan.cells.size() - missing.size(),
                           plural(static_cast<long>(plan.cells.size()), "shard")));
    if (!missing.empty()) print_text(fmt::format("incomplete shards: {}\n", slurm::ranges(missing)));
    if (!live) {
      print_text("squeue does not answer here, so that the jobs' states are not known\n");
    } else if (!live->empty()) {
      print_text(fmt::format("tasks in Slurm: {}\n", counts_text(*live)));
    }
    if (merged) print_text(fmt::format("merged: {}\n", merged_store(arguments.status).string()));
  }
  return missing.empty() ? done : not_run;
}

}  // namespace

Command add_slurm(CLI::App& root) {
  auto arguments = std::make_shared<SlurmArguments>();
  CLI::App* app = root.add_subcommand("slurm", "Run a suite on a cluster: plan, submit, merge");
  app->footer(slurm_footer);
  app->add_option("SUITE", arguments->suite, "Suite file or the name of a built-in suite");
  add_integer(*app, "--shards", arguments->shards, {.minimum = 1.0, .maximum = 1e6},
              "Parts, each a task of a job array; several times as many as processors");
  app->add_option("--out", arguments->out, "Folder on a disk that all nodes share: scripts, stores, logs")
      ->type_name("DIR");
  app->add_option("--data", arguments->data, "Folder of the problems or name of a data set, as of `run`")
      ->type_name("DIR");
  app->add_option("--filter", arguments->filter, "Only the cells that it fits, as of `run`")->type_name("EXPR");
  app->add_option("--sbatch", arguments->sbatch, "More options of sbatch, as one argument")->type_name("OPTIONS");
  app->add_option("--costs", arguments->costs,
                  "Earlier store, of a part of the suite at least: its times balance the shards")
      ->type_name("STORE");
  app->add_option("--baseline,--base", arguments->baseline, "Earlier store: the merge ends with a comparison")
      ->type_name("STORE");
  app->add_option("--nights", arguments->nights, "Folder of `conebench nightly`: the merge becomes a night of it")
      ->excludes("--baseline")
      ->type_name("DIR");
  app->add_flag("--allow-mixed", arguments->allow_mixed, "Accept processors of several kinds in one store");
  add_foreign_code(*app, arguments->code, true);
  app->add_flag("--dry-run", arguments->dry_run, "Plan and write the scripts; print the commands that submit them");
  CLI::App* status =
      app->add_subcommand("status", "Progress of a folder's shards; exit code 4 while cells are missing");
  status->add_option("DIR", arguments->status, "The folder of --out")->required();
  status->add_flag("--json", arguments->json, "One JSON object on standard output");
  app->require_subcommand(0, 1);
  return {app,
          [arguments, status] { return status->parsed() ? print_status(*arguments) : plan_and_submit(*arguments); }};
}

}  // namespace conebench::cli
