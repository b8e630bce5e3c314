#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/source_text.hpp"
#include "reports/command.hpp"
#include "reports/text.hpp"
#include "store/run_mode.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

namespace {

/// A quoted path that no program takes for an option.
std::string file_word(const std::string& path) { return shell(path.starts_with('-') ? "./" + path : path); }

bool is_of(const std::string& word, std::string_view key) { return word.starts_with(key); }

std::string value_of(const std::string& word, std::string_view key) { return word.substr(key.size()); }

/// A scene with its parameters, as a source names it: "box-stack boxes=5 seed=1", "hand object=ball seed=2 step=12" for
/// a sample, "hand seed=2 steps=200" for a simulation that failed.
struct NamedScene {
  std::string id;
  std::vector<std::string> options;
  std::string seed, step, steps;

  bool failed() const { return !steps.empty() || step == "0"; }
};

std::optional<NamedScene> scene_of(const std::string& source) {
  auto parts = split_source_text(source);
  if (!parts || parts->size() < 2 || parts->front().find_first_of("/.=") != std::string::npos) return std::nullopt;
  NamedScene scene;
  scene.id = parts->front();
  parts->erase(parts->begin());
  if (is_of(parts->back(), "step=")) scene.step = value_of(parts->back(), "step=");
  if (is_of(parts->back(), "steps=")) scene.steps = value_of(parts->back(), "steps=");
  if (!scene.step.empty() || !scene.steps.empty()) parts->pop_back();
  if (parts->empty() || !is_of(parts->back(), "seed=")) return std::nullopt;
  scene.seed = value_of(parts->back(), "seed=");
  parts->pop_back();
  for (const std::string& word : *parts) {
    if (word.find('=') == std::string::npos) return std::nullopt;
  }
  scene.options = std::move(*parts);
  return scene;
}

/// The scene as `solve` takes it, without what is at its default: a problem's name has all else of its source.
/// A sample's source has nothing at its default.
std::string scene_argument(const NamedScene& scene, const std::string& name) {
  std::string text = scene.id;
  const auto is_in_name = [&](const std::string& word) {
    return !scene.step.empty() || !name.starts_with(scene.id) || name.find("_" + word) != std::string::npos;
  };
  const auto add = [&](std::string_view key, const std::string& value) {
    const std::string word = source_word(key, value);
    if (is_in_name(word)) text += ' ' + word;
  };
  for (const std::string& option : scene.options) {
    const std::size_t equals = option.find('=');
    add(std::string_view(option).substr(0, equals), option.substr(equals + 1));
  }
  if (scene.seed != "1") add("seed", scene.seed);
  if (!scene.step.empty()) text += " step=" + scene.step;
  return text;
}

/// Into a temporary folder.
std::string generate(const NamedScene& scene) {
  std::string text = "conebench generate " + shell(scene.id) + " --out $(mktemp -d)";
  for (const std::string& option : scene.options) text += " --set " + shell(option);
  return text + " --seed " + shell(scene.seed);
}

}  // namespace

bool fails_before_a_solve(const ProblemRecord& problem) {
  const auto scene = scene_of(problem.source);
  return scene && scene->failed();
}

std::string problem_arguments(const ProblemRecord& problem, const std::string& data_folder) {
  if (problem.source.empty()) return {};
  const auto scene = scene_of(problem.source);
  if (!scene) {
    const bool relative = !problem.source.starts_with('/') && !data_folder.empty();
    return (relative ? "CONEBENCH_DATA=" + shell(data_folder) + " " : "") + "conebench solve " +
           file_word(problem.source);
  }
  if (scene->failed()) {
    const std::string steps = scene->steps.empty() ? "" : " --steps " + shell(scene->steps);
    return generate(*scene) + steps;
  }
  return "conebench solve " + shell(scene_argument(*scene, problem.name));
}

RepeatLocations repeat_locations(const StoreContents& contents) {
  RepeatLocations locations;
  for (const RunRecord& run : contents.runs) {
    locations.folders[run.id] = run.data_folder.empty() ? run.suite_folder : run.data_folder;
    for (const auto& [solver, arguments] : code_of_scope(run.scope_json)) {
      std::string text;
      for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + shell(argument);
      locations.code[solver] = std::move(text);
    }
  }
  return locations;
}

std::string solver_arguments(const ConfigurationRecord& configuration, const RepeatLocations& locations) {
  if (configuration.origin == submitted_origin) return {};
  std::string text = "--solver " + shell(configuration.solver);
  if (const auto code = locations.code.find(configuration.solver); code != locations.code.end())
    text += ' ' + code->second;
  const auto options = nlohmann::json::parse(configuration.options_json, nullptr, false);
  if (!options.is_object()) return text;
  for (const auto& [name, value] : options.items()) {
    if (!configuration.sets_option(name)) continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += " --set " + shell(name + "=" + shown);
  }
  return text;
}

std::string request_arguments(const CellRecord& cell) {
  std::string text = "--tolerance " + human_tolerance(cell.tolerance);
  const auto add = [&](const char* option, const std::string& value, std::string_view usual) {
    if (value != usual) text += fmt::format(" {} {}", option, shell(value));
  };
  // A sequence is run by its suite; alone, a problem can only be solved from λ = 0.
  const bool previous = cell.start == "previous";
  text += " --stop-by " + shell(cell.stop_by);  // what it is by default depends on the solver
  add("--verdict", cell.verdict, "natural_map_scaled");
  add("--start", previous ? "cold" : cell.start, "cold");
  add("--max-iterations", std::to_string(cell.max_iterations), "20000");
  add("--time-limit", exact(cell.limit_s), "10");
  if (previous) {
    text +=
        "  # a cold solve: the sweep started from the answer to the problem before, which running its suite anew "
        "repeats";
  }
  return text;
}

std::string repeat_command(const ProblemRecord& problem, const ConfigurationRecord& configuration,
                           const CellRecord& cell, const RepeatLocations& locations) {
  if (problem.source.empty() || problem.members > 1) return {};
  const auto folder = locations.folders.find(cell.run_id);
  const std::string text =
      problem_arguments(problem, folder == locations.folders.end() ? std::string() : folder->second);
  if (fails_before_a_solve(problem)) return text;
  const std::string solver = solver_arguments(configuration, locations);
  return solver.empty() ? std::string() : text + ' ' + solver + ' ' + request_arguments(cell);
}

}  // namespace conebench::reports
