#include "runners/plan/source_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/source_text.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {

namespace {

constexpr const char* of_the_solves[] = {"solver", "solver_options", "tolerance", "max_iterations", "stop_by", "start"};

}  // namespace

std::string scene_text(const std::string& scene, const OptionValues& options, std::uint64_t seed) {
  std::string text = scene;
  for (const auto& [name, value] : options) text += ' ' + source_word(name, to_text(value));
  return fmt::format("{} seed={}", text, seed);
}

std::string sample_text(const std::string& scene, const SampledSimulation& plan, long step) {
  return fmt::format("{} step={}", scene_text(scene, plan.of_steps, plan.seed), step);
}

long step_of_name(const std::string& name) {
  const std::size_t number = name.rfind("_step=");
  return number == std::string::npos ? 0 : std::atol(name.c_str() + number + 6);
}

std::set<std::string> solve_options_that_differ(const Suite& suite, const std::string& scene,
                                                const std::vector<OptionSpec>& specs) {
  std::set<std::string> differ;
  for (const OptionSpec& spec : specs) {
    if (std::find(std::begin(of_the_solves), std::end(of_the_solves), spec.name) == std::end(of_the_solves)) continue;
    std::set<std::string> values;
    for (const ProblemEntry& entry : suite.problems) {
      if (entry.scene != scene) continue;
      for (const OptionValues& options : entry.options) {
        const auto set = options.find(spec.name);
        values.insert(to_text(set == options.end() ? spec.default_value : set->second));
      }
    }
    if (values.size() > 1) differ.insert(spec.name);
  }
  return differ;
}

std::string short_name(const SampledSimulation& plan, const std::set<std::string>& kept) {
  std::string name = plan.family;
  for (const auto& [key, value] : plan.of_steps) {
    const bool of_solves =
        std::find(std::begin(of_the_solves), std::end(of_the_solves), key) != std::end(of_the_solves);
    const bool of_file = !plan.model_file.empty() && (key == "path" || key == "package_dir");
    if (of_file || (of_solves && !kept.contains(key))) continue;
    name += fmt::format("_{}={}", key, to_text(value));
  }
  return plan.seed == 1 ? name : fmt::format("{}_seed={}", name, plan.seed);
}

void name_scenes(std::vector<ProblemSource>& sources) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;  // by scene and word
  const auto split = [](const std::string& word) {
    const std::size_t at = word.find('=');
    return std::pair(word.substr(0, at), word.substr(at + 1));
  };
  std::vector<std::vector<std::string>> split_words(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].scene.empty()) continue;
    split_words[i] = split_source_text(sources[i].source).value_or(std::vector<std::string>{});
    for (std::size_t k = 1; k < split_words[i].size(); ++k) {
      const auto [key, value] = split(split_words[i][k]);
      values[sources[i].scene][key].insert(value);
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ProblemSource& source = sources[i];
    const auto row = source.scene.empty() ? Result<const SceneRow*>(nullptr) : require_scene(source.scene);
    if (!row || *row == nullptr) continue;
    std::map<std::string, std::string> usual;
    for (const OptionSpec& spec : (*row)->options) usual[spec.name] = to_text(spec.default_value);
    usual["seed"] = "1";
    source.name = source.scene;
    for (std::size_t k = 1; k < split_words[i].size(); ++k) {
      const auto [key, value] = split(split_words[i][k]);
      const bool differs = values[source.scene][key].size() > 1;
      if (differs || usual[key] != value) source.name += "_" + split_words[i][k];
    }
  }
}

void make_names_unique(std::vector<ProblemSource>& sources) {
  std::map<std::string, int> count;
  for (const ProblemSource& source : sources) ++count[source.name];
  for (ProblemSource& source : sources) {
    if (source.file.empty() || count[source.name] == 1) continue;
    const std::filesystem::path path(source.source);
    source.name = path.extension() == source.file.extension()
                      ? std::filesystem::path(path).replace_extension().generic_string()
                      : source.source;
  }
}

bool comes_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& k) {
      while (k < text.size() && text[k] == '0') ++k;
      const std::size_t begin = k;
      while (k < text.size() && is_digit(text[k])) ++k;
      return text.substr(begin, k - begin);
    };
    const std::string first = number(a, i);
    const std::string second = number(b, j);
    if (first.size() != second.size()) return first.size() < second.size();
    if (first != second) return first < second;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace conebench
