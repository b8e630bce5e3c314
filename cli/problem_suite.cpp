#include "cli/problem_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/option_parsing.hpp"
#include "base/plural.hpp"
#include "cli/grid_argument.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/recording.hpp"
#include "runners/plan/data_set.hpp"
#include "scenes/scene_table.hpp"
#include "simulation/sampled_scenes.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

/// A file's name as a pattern that only it fits.
std::string as_pattern(const std::string& name) {
  std::string pattern;
  for (const char letter : name) {
    const bool special = letter == '*' || letter == '?' || letter == '[';
    pattern += special ? fmt::format("[{}]", letter) : std::string(1, letter);
  }
  return pattern;
}

/// An argument's entries in a suite's "problems", and what it calls them.
struct NamedEntries {
  std::string name;
  nlohmann::json entries = nlohmann::json::array();
};

Result<NamedEntries> of_folder(const fs::path& folder) {
  CONEBENCH_TRY(const auto files, problem_files_below(folder));
  if (files.empty()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: holds no .hdf5 or .h5 file and no problem in Siconos' text, at "
                                                   "any depth",
                                                   folder.string())};
  }
  NamedEntries named{folder.filename().string()};
  const std::string base = as_pattern(folder.string());
  std::set<std::string> extensions;
  for (const std::string& file : files) {
    const std::string extension = fs::path(file).extension().string();
    // Not every .dat file is a problem.
    const std::string pattern = extension == ".dat" ? as_pattern(file) : "**/*" + extension;
    if (extension == ".dat" || extensions.insert(extension).second)
      named.entries.push_back({{"fclib", base + "/" + pattern}});
  }
  return named;
}

Result<NamedEntries> of_scene(const std::vector<std::string>& words) {
  std::vector<std::string> options = words;
  std::uint64_t seed = 1, step = 0, steps = 0;
  CONEBENCH_CHECK(take_number(options, "seed", seed));
  std::vector<OptionSpec> specs;
  const auto is = [&](const auto& scene) { return scene.id == words.front(); };
  const auto fixed = std::ranges::find_if(scene_table(), is);
  const bool simulated = fixed == scene_table().end();
  if (simulated) {
    CONEBENCH_CHECK(take_number(options, "step", step));
    CONEBENCH_CHECK(take_number(options, "steps", steps));
    specs = simulation::all_options(*std::ranges::find_if(simulated_scene_table(), is));
  } else {
    specs = fixed->options;
  }
  CONEBENCH_TRY(auto values, parse_options(std::span(options).subspan(1), specs, words.front(), ""));
  // The one step's problem.
  if (step > 0) {
    values["every"] = static_cast<long>(step);
    steps = step;
  }
  nlohmann::json entry = {{"scene", words.front()}};
  if (!values.empty()) entry["options"] = to_json(values);
  if (seed != 1) entry["seed"] = seed;
  if (steps > 0) entry["steps"] = steps;
  return NamedEntries{words.front(), nlohmann::json::array({entry})};
}

/// Tells of a recording whose engine had another law than the judge.
void note_law(const std::string& argument) {
  const auto steps = recording_steps(find_problem_file(argument));
  if (!steps || steps->empty()) return;
  const auto first = load_fclib(steps->front());
  if (!first || first->provenance().law != "ccp") return;
  print_note(
      fmt::format("{}: its engine solved the CCP; solvers are judged on Coulomb's NCP, unless you say "
                  "--verdict natural_map_ccp_scaled",
                  argument));
}

Result<NamedEntries> entries_of(const std::string& argument) {
  const fs::path found = find_problem_file(argument);
  std::error_code failed;
  const fs::path path = fs::absolute(found, failed).lexically_normal();
  if (!names_problem_file(path)) {
    if (const auto words = scene_words(argument); !words.empty()) return of_scene(words);
    return Error{ErrorCode::bad_input, fmt::format("{}: no such file, folder or scene; with --solvers it must be a "
                                                   "problem, a recording, a folder of them or a scene",
                                                   argument)};
  }
  if (fs::is_directory(path, failed)) return of_folder(path.has_filename() ? path : path.parent_path());
  if (const auto step = step_address(path)) {
    CONEBENCH_CHECK(load_fclib(path));
    return NamedEntries{step->problem_name(), nlohmann::json::array({{{"fclib", path.string()}}})};
  }
  CONEBENCH_CHECK(check_problem_file(path));
  return NamedEntries{found.stem().string(), nlohmann::json::array({{{"fclib", as_pattern(path.string())}}})};
}

/// The texts of --grid by the solver that they are of.
Result<std::map<std::string, std::vector<std::string>>> grids_of(const std::vector<std::string>& texts,
                                                                 const std::vector<std::string>& solvers) {
  std::map<std::string, std::vector<std::string>> grids;
  for (const std::string& text : texts) {
    const std::string head = text.substr(0, text.find('='));
    const auto dot = head.find('.');
    const std::string solver = dot != std::string::npos ? head.substr(0, dot) : solvers.front();
    const bool known = std::ranges::find(solvers, solver) != solvers.end();
    if (!known || (dot == std::string::npos && solvers.size() > 1)) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--grid {}: must be SOLVER.option=value,value,… with a solver of --solvers ({})", text,
                               fmt::join(solvers, ", "))};
    }
    grids[solver].push_back(dot != std::string::npos ? text.substr(dot + 1) : text);
  }
  return grids;
}

Result<nlohmann::json> solvers_of(const ProblemSuiteArguments& arguments) {
  const std::vector<std::string> solvers = split_list(arguments.solvers);
  if (solvers.empty()) return Error{ErrorCode::wrong_usage, "--solvers: names no solver"};
  CONEBENCH_TRY(const auto grids, grids_of(arguments.grid, solvers));
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& solver : solvers) {
    const auto grid = grids.find(solver);
    if (grid == grids.end()) {
      list.push_back(solver);
      continue;
    }
    const auto row = require_solver(solver);
    if (!row) return Error{row.error().code, "--solvers: " + row.error().message};
    CONEBENCH_TRY(const auto axes, parse_grid(grid->second, **row));
    nlohmann::json entry = {{"id", solver}};
    for (const auto& [option, values] : axes) {
      for (const OptionValue& value : values) entry["grid"][option].push_back(to_json(value));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

Result<Suite> make_problem_suite(const ProblemSuiteArguments& arguments, const ForeignCode& code) {
  nlohmann::ordered_json text = {{"name", ""}, {"problems", nlohmann::ordered_json::array()}};
  std::vector<std::string> names;
  for (const std::string& argument : arguments.problems) {
    CONEBENCH_TRY(const auto named, entries_of(argument));
    if (std::ranges::find(names, named.name) == names.end()) names.push_back(named.name);
    for (const auto& entry : named.entries) text["problems"].push_back(nlohmann::ordered_json(entry));
  }
  text["name"] = names.size() == 1 ? names.front() : fmt::format("{} and {} more", names.front(), names.size() - 1);
  CONEBENCH_TRY(text["solvers"], solvers_of(arguments));
  for (const std::string& tolerance : split_list(arguments.tolerances)) {
    const auto value = nlohmann::json::parse(tolerance, nullptr, false);
    if (!value.is_number()) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--tolerances {}: {} is no number", arguments.tolerances, tolerance)};
    }
    text["tolerances"].push_back(nlohmann::ordered_json(value));
  }
  if (!arguments.verdict.empty()) text["verdict"] = arguments.verdict;
  if (!arguments.start.empty()) text["start"] = split_list(arguments.start);
  if (arguments.seconds > 0.0) text["limits"]["seconds"] = arguments.seconds;
  if (arguments.iterations > 0) text["limits"]["iterations"] = arguments.iterations;
  // Many like steps tell more together than one timed often.
  text["repeats"] = {{"min", 3}, {"min_ms", 5.0}};
  CONEBENCH_TRY(auto suite,
                parse_suite(text.dump(1) + "\n", "--solvers", code.in_suite(), simulation::sampled_scenes()));
  suite.folder = fs::current_path();
  // After all that may be refused.
  if (arguments.verdict.empty()) std::ranges::for_each(arguments.problems, note_law);
  return suite;
}

}  // namespace conebench::cli
