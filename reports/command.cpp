#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "reports/command.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// A word that no program takes for an option.
std::string file_word(const std::string& path) { return shell(path.starts_with('-') ? "./" + path : path); }

/// The words of "box-stack boxes=5 seed=1" where the source is a scene with its parameters, else nothing.
std::vector<std::string> scene_words(const std::string& source) {
  std::istringstream text(source);
  std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  if (words.size() < 2 || words.front().find_first_of("/.=") != std::string::npos) return {};
  const bool seeded = words.back().starts_with("seed=") || words.back().starts_with("step=");
  const bool assigned = std::all_of(words.begin() + 1, words.end(),
                                    [](const std::string& word) { return word.find('=') != std::string::npos; });
  return seeded && assigned ? words : std::vector<std::string>();
}

}  // namespace

std::string problem_words(const ProblemRecord& problem) {
  if (problem.source.empty()) return {};
  auto scene = scene_words(problem.source);
  if (scene.empty()) return "conebench solve " + file_word(problem.source);
  std::string step;
  if (scene.back().starts_with("step=")) {
    step = scene.back().substr(std::string_view("step=").size());
    scene.pop_back();
  }
  // A simulation leaves a folder, here with the one sample that is wanted.
  const std::string folder = step.empty() ? "." : "sample-" + step;
  std::string generate = "conebench generate " + shell(scene.front()) + " --out " + shell(folder);
  for (std::size_t i = 1; i + 1 < scene.size(); ++i) generate += " --set " + shell(scene[i]);
  generate += " --seed " + shell(scene.back().substr(std::string_view("seed=").size()));
  if (step.empty()) return "conebench solve \"$(" + generate + ")\"";
  generate += " --steps " + shell(step) + " --set " + shell("every=" + step) + " --replace";
  return generate + " && conebench solve " + shell(folder) + "/*.hdf5";
}

std::string setting_words(const SettingRecord& setting) {
  std::string words = "--solver " + shell(setting.solver);
  const auto options = nlohmann::json::parse(setting.options_json, nullptr, false);
  if (!options.is_object()) return words;
  for (const auto& [name, value] : options.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    words += " --set " + shell(name + "=" + text);
  }
  return words;
}

std::string request_words(const CellRecord& cell) {
  // A sequence is run by its suite; alone, the problem can only be solved from λ = 0.
  const bool previous = cell.start == "previous";
  return fmt::format("--tolerance {} --criterion {} --verdict {} --start {} --max-iterations {} --time-limit {}{}",
                     human_tolerance(cell.tolerance), shell(cell.criterion), shell(cell.verdict),
                     previous ? "cold" : shell(cell.start), cell.max_iterations, exact(cell.limit_s),
                     previous ? "  # the sweep started from the answer to the problem before" : "");
}

std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell) {
  if (problem.source.empty()) return {};
  return problem_words(problem) + ' ' + setting_words(setting) + ' ' + request_words(cell);
}

}  // namespace conebench::reports
