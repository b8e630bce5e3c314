#include "reports/paper/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/source_words.hpp"
#include "base/suggestion.hpp"
#include "metrics/residuals.hpp"

namespace conebench::paper {

namespace {

using Getter = std::function<std::optional<double>(const CellRecord&, const ProblemRecord&)>;

struct Field {
  FieldInfo info;
  Getter value;
};

constexpr double milliseconds = 1e3;
constexpr double kilobytes_a_megabyte = 1024.0;

/// Whether a solver ran to an answer: only then are its counters and times any.
bool answered(const CellRecord& cell) { return cell.repeats > 0; }

Getter counter(std::int64_t CellRecord::*member) {
  return [member](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
    if (!answered(cell) || cell.*member < 0) return std::nullopt;
    return static_cast<double>(cell.*member);
  };
}
Getter median_ms(TimingRecord CellRecord::*member) {
  return [member](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
    if (!answered(cell)) return std::nullopt;
    return milliseconds * (cell.*member).median;
  };
}
Getter of_problem(std::int64_t ProblemRecord::*member) {
  return [member](const CellRecord&, const ProblemRecord& problem) -> std::optional<double> {
    return static_cast<double>(problem.*member);
  };
}
Getter truth(bool (*holds)(const CellRecord&)) {
  return [holds](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
    return holds(cell) ? 1.0 : 0.0;
  };
}

std::vector<Field> make_fields() {
  const auto own = [](const CellRecord& cell, const ProblemRecord&) {
    return cell.own_residual_known ? std::optional(cell.own_residual) : std::nullopt;
  };
  const auto number = Kind::number;
  const auto truth_kind = Kind::truth;
  return {
      {{"cells", truth_kind, "true for every cell: count(cells)"}, truth([](const CellRecord&) { return true; })},
      {{"conditioning", number, "of the problem's G, on its range"},
       [](const CellRecord&, const ProblemRecord& problem) { return problem.conditioning; }},
      {{"contacts", number, "of the problem"}, of_problem(&ProblemRecord::contacts)},
      {{"converged", truth_kind, "the solve ended by its own stopping test"},
       truth([](const CellRecord& cell) { return cell.status == "converged"; })},
      {{"factorizations", number, "numeric factorizations, the first included"}, counter(&CellRecord::factorizations)},
      {{"iterations", number, "of the solver"}, counter(&CellRecord::iterations)},
      {{"joints", number, "joint rows of the problem"}, of_problem(&ProblemRecord::joints)},
      {{"limits", number, "limit rows of the problem"}, of_problem(&ProblemRecord::limits)},
      {{"max_iterations", number, "that the cell was allowed"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         return static_cast<double>(cell.max_iterations);
       }},
      {{"memory_mb", number, "most resident memory, MB"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         if (!answered(cell)) return std::nullopt;
         return static_cast<double>(cell.peak_memory_kb) / kilobytes_a_megabyte;
       }},
      {{"mu", number, "largest friction coefficient of the problem"},
       [](const CellRecord&, const ProblemRecord& problem) -> std::optional<double> { return problem.mu_max; }},
      {{"open", number, "open contacts of the answer"}, counter(&CellRecord::open)},
      {{"own_residual", number, "what the solver's own test looks at, as it ended"}, own},
      {{"products", number, "products with G"}, counter(&CellRecord::operator_products)},
      {{"rank", number, "of the problem's G"},
       [](const CellRecord&, const ProblemRecord& problem) -> std::optional<double> {
         return problem.rank ? std::optional(static_cast<double>(*problem.rank)) : std::nullopt;
       }},
      {{"rows", number, "of the problem"}, of_problem(&ProblemRecord::rows)},
      {{"setup_ms", number, "median time of the set-up, ms"}, median_ms(&CellRecord::setup)},
      {{"slip", number, "slipping contacts of the answer"}, counter(&CellRecord::slip)},
      {{"solve_ms", number, "median time of the solve, ms"}, median_ms(&CellRecord::solve)},
      {{"solved", truth_kind, "the judge says so, at the cell's tolerance"},
       truth([](const CellRecord& cell) { return cell.solved; })},
      {{"stick", number, "sticking contacts of the answer"}, counter(&CellRecord::stick)},
      {{"tolerance", number, "of the cell"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> { return cell.tolerance; }},
      {{"total_ms", number, "median time of set-up and solve, ms"}, median_ms(&CellRecord::total)},
      {{"verdict_value", number, "the official residual"},
       [](const CellRecord& cell, const ProblemRecord&) { return cell.verdict_value; }},
  };
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table = make_fields();
  return table;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "box-stack boxes=5 mass_ratio=1000 seed=1" → scene.boxes, scene.mass_ratio, scene.seed.
std::map<std::string, double> scene_numbers(const std::string& source) {
  std::map<std::string, double> numbers;
  for (const std::string& word : source_words(source).value_or(std::vector<std::string>{})) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    if (const auto value = number_of(word.substr(equals + 1))) numbers["scene." + word.substr(0, equals)] = *value;
  }
  return numbers;
}

std::map<std::string, double> option_numbers(const std::string& json) {
  std::map<std::string, double> numbers;
  const auto options = nlohmann::json::parse(json, nullptr, false);
  if (!options.is_object()) return numbers;
  for (const auto& item : options.items()) {
    if (item.value().is_number()) numbers["option." + item.key()] = item.value().get<double>();
    if (item.value().is_boolean()) numbers["option." + item.key()] = item.value().get<bool>() ? 1.0 : 0.0;
  }
  return numbers;
}

Sample sample_of(const CellRecord& cell, const ProblemRecord& problem, const SettingRecord& setting) {
  Sample sample;
  sample.subject = subject_of(problem);
  sample.subject.solver = setting.solver;
  sample.subject.setting = setting.label;
  sample.subject.tolerance = cell.tolerance;
  sample.subject.status = cell.status;
  sample.subject.start = cell.start;
  for (const Field& field : fields()) {
    const auto value = field.value(cell, problem);
    if (value && std::isfinite(*value)) sample.numbers[field.info.name] = *value;
  }
  for (const auto& [name, residual] : cell.residuals) {
    if (residual.value && std::isfinite(*residual.value)) sample.numbers[name] = *residual.value;
  }
  return sample;
}

}  // namespace

std::string Sample::group(const std::string& key) const {
  if (key == "category") return subject.category.value_or("");
  if (key == "family") return subject.family.value_or("");
  if (key == "max_iterations") {
    const auto found = numbers.find(key);
    return found == numbers.end() ? "" : fmt::format("{:g}", found->second);
  }
  if (key == "problem") return subject.source.value_or("");
  if (key == "setting") return subject.setting.value_or("");
  if (key == "solver") return subject.solver.value_or("");
  if (key == "start") return subject.start.value_or("");
  return fmt::format("{:g}", subject.tolerance.value_or(0.0));
}

std::vector<Sample> samples_of(const StoreContents& contents, const std::set<std::string>& keys) {
  std::map<std::string, const ProblemRecord*> problems;
  std::map<std::string, const SettingRecord*> settings;
  std::map<std::string, std::map<std::string, double>> scenes, options;
  for (const ProblemRecord& problem : contents.problems) {
    if (!problem.duplicate_of.empty() || !problem.error.empty()) continue;
    problems[problem.hash] = &problem;
    scenes[problem.hash] = scene_numbers(problem.source);
  }
  for (const SettingRecord& setting : contents.settings) {
    settings[setting.hash] = &setting;
    options[setting.hash] = option_numbers(setting.options_json);
  }
  std::vector<Sample> samples;
  for (const CellRecord& cell : contents.cells) {
    if (!keys.empty() && !keys.contains(cell.key)) continue;
    const auto problem = problems.find(cell.problem);
    const auto setting = settings.find(cell.setting);
    if (problem == problems.end() || setting == settings.end()) continue;
    samples.push_back(sample_of(cell, *problem->second, *setting->second));
    samples.back().numbers.insert(scenes[cell.problem].begin(), scenes[cell.problem].end());
    samples.back().numbers.insert(options[cell.setting].begin(), options[cell.setting].end());
  }
  return samples;
}

const std::vector<FieldInfo>& field_table() {
  static const std::vector<FieldInfo> table = [] {
    std::vector<FieldInfo> infos;
    for (const Field& field : fields()) infos.push_back(field.info);
    return infos;
  }();
  return table;
}

std::optional<Kind> field_kind(const std::string& name) {
  for (const Field& field : fields()) {
    if (field.info.name == name) return field.info.kind;
  }
  for (const ResidualInfo& residual : residual_table()) {
    if (residual.name == name) return Kind::number;
  }
  for (const char* const prefix : {"scene.", "option.", "step.", "run."}) {
    if (name.starts_with(prefix)) return Kind::number;
  }
  return std::nullopt;
}

std::string unknown_field(const std::string& name) {
  std::vector<std::string> known;
  for (const Field& field : fields()) known.push_back(field.info.name);
  std::string list;
  for (const std::string& field : known) list += field + ", ";
  for (const ResidualInfo& residual : residual_table()) known.push_back(residual.name);
  return fmt::format("'{}' is no field; {}known: {}the residuals, scene.NAME, option.NAME, step.COLUMN and run.error",
                     name, did_you_mean(name, known), list);
}

}  // namespace conebench::paper
