#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/source_words.hpp"
#include "reports/command.hpp"
#include "reports/text.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

namespace {

/// A word that no program takes for an option.
std::string file_word(const std::string& path) { return shell(path.starts_with('-') ? "./" + path : path); }

bool is_of(const std::string& word, std::string_view key) { return word.starts_with(key); }

std::string behind(const std::string& word, std::string_view key) { return word.substr(key.size()); }

/// A scene with its parameters, as a source names it: "box-stack boxes=5 seed=1", "hand object=ball seed=2 step=12" for
/// a sample, "hand seed=2 steps=200" for a simulation that failed.
struct NamedScene {
  std::string id;
  std::vector<std::string> settings;
  std::string seed, step, steps;

  bool failed() const { return !steps.empty() || step == "0"; }
};

std::optional<NamedScene> scene_of(const std::string& source) {
  auto words = source_words(source);
  if (!words || words->size() < 2 || words->front().find_first_of("/.=") != std::string::npos) return std::nullopt;
  NamedScene scene;
  scene.id = words->front();
  words->erase(words->begin());
  if (is_of(words->back(), "step=")) scene.step = behind(words->back(), "step=");
  if (is_of(words->back(), "steps=")) scene.steps = behind(words->back(), "steps=");
  if (!scene.step.empty() || !scene.steps.empty()) words->pop_back();
  if (words->empty() || !is_of(words->back(), "seed=")) return std::nullopt;
  scene.seed = behind(words->back(), "seed=");
  words->pop_back();
  for (const std::string& word : *words) {
    if (word.find('=') == std::string::npos) return std::nullopt;
  }
  scene.settings = std::move(*words);
  return scene;
}

/// The scene as `solve` takes it, without what is at its default: a problem's name has the rest of its source's words.
/// A sample's source has no others.
std::string scene_words(const NamedScene& scene, const std::string& name) {
  std::string words = scene.id;
  const auto is_told = [&](const std::string& word) {
    return !scene.step.empty() || !name.starts_with(scene.id) || name.find("_" + word) != std::string::npos;
  };
  const auto add = [&](std::string_view key, const std::string& value) {
    const std::string word = source_word(key, value);
    if (is_told(word)) words += ' ' + word;
  };
  for (const std::string& setting : scene.settings) {
    const std::size_t equals = setting.find('=');
    add(std::string_view(setting).substr(0, equals), setting.substr(equals + 1));
  }
  if (scene.seed != "1") add("seed", scene.seed);
  if (!scene.step.empty()) words += " step=" + scene.step;
  return words;
}

/// Into a temporary folder.
std::string generate(const NamedScene& scene) {
  std::string words = "conebench generate " + shell(scene.id) + " --out $(mktemp -d)";
  for (const std::string& setting : scene.settings) words += " --set " + shell(setting);
  return words + " --seed " + shell(scene.seed);
}

}  // namespace

bool fails_before_a_solve(const ProblemRecord& problem) {
  const auto scene = scene_of(problem.source);
  return scene && scene->failed();
}

std::string problem_words(const ProblemRecord& problem, const std::string& data_folder) {
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
  return "conebench solve " + shell(scene_words(*scene, problem.name));
}

RepeatPlaces repeat_places(const StoreContents& contents) {
  RepeatPlaces places;
  for (const RunRecord& run : contents.runs) {
    places.folders[run.id] = run.data_folder.empty() ? run.suite_folder : run.data_folder;
    for (const auto& [solver, words] : code_of_scope(run.scope_json)) {
      std::string text;
      for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell(word);
      places.code[solver] = std::move(text);
    }
  }
  return places;
}

std::string setting_words(const SettingRecord& setting, const RepeatPlaces& places) {
  std::string words = "--solver " + shell(setting.solver);
  if (const auto code = places.code.find(setting.solver); code != places.code.end()) words += ' ' + code->second;
  const auto options = nlohmann::json::parse(setting.options_json, nullptr, false);
  if (!options.is_object()) return words;
  for (const auto& [name, value] : options.items()) {
    if (!setting.sets_option(name)) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    words += " --set " + shell(name + "=" + text);
  }
  return words;
}

std::string request_words(const CellRecord& cell) {
  std::string words = "--tolerance " + human_tolerance(cell.tolerance);
  const auto add = [&](const char* option, const std::string& value, std::string_view usual) {
    if (value != usual) words += fmt::format(" {} {}", option, shell(value));
  };
  // A sequence is run by its suite; alone, a problem can only be solved from λ = 0.
  const bool previous = cell.start == "previous";
  words += " --criterion " + shell(cell.criterion);  // what it is by default depends on the solver
  add("--verdict", cell.verdict, "natural_map_scaled");
  add("--start", previous ? "cold" : cell.start, "cold");
  add("--max-iterations", std::to_string(cell.max_iterations), "20000");
  add("--time-limit", exact(cell.limit_s), "10");
  if (previous) {
    words +=
        "  # a cold solve: the sweep started from the answer to the problem before, which running its suite anew "
        "repeats";
  }
  return words;
}

std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell,
                           const RepeatPlaces& places) {
  if (problem.source.empty()) return {};
  const auto folder = places.folders.find(cell.run_id);
  const std::string words = problem_words(problem, folder == places.folders.end() ? std::string() : folder->second);
  if (fails_before_a_solve(problem)) return words;
  return words + ' ' + setting_words(setting, places) + ' ' + request_words(cell);
}

}  // namespace conebench::reports
