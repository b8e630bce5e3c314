#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/command.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

/// A word that no program takes for an option.
std::string file_word(const std::string& path) { return shell(path.starts_with('-') ? "./" + path : path); }

}  // namespace

std::string problem_words(const ProblemRecord& problem) {
  return problem.source.empty() ? std::string() : "conebench solve " + file_word(problem.source);
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
  return fmt::format("--tolerance {} --criterion {} --verdict {} --start {} --max-iterations {} --time-limit {}",
                     human_tolerance(cell.tolerance), shell(cell.criterion), shell(cell.verdict), shell(cell.start),
                     cell.max_iterations, exact(cell.limit_s));
}

std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell) {
  if (problem.source.empty()) return {};
  return problem_words(problem) + ' ' + setting_words(setting) + ' ' + request_words(cell);
}

}  // namespace conebench::reports
