#include "papers/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/source_text.hpp"
#include "base/suggestion.hpp"
#include "metrics/residuals.hpp"
#include "reports/terms.hpp"

namespace conebench::papers {

namespace {

using Getter = std::function<std::optional<double>(const CellRecord&, const ProblemRecord&)>;

struct Field {
  FieldInfo info;
  Getter value;  ///< empty: it takes more than the cell and its problem
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
      {{"cells", truth_kind, "true for every cell: count(cells)", "cells"},
       truth([](const CellRecord&) { return true; })},
      {{"condensed_ms", number, "total_ms and what the solver needs of G, of a problem given as M and J, ms",
        "time with condensation", "ms"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         if (!answered(cell) || !cell.condensation_s) return std::nullopt;
         return milliseconds * (cell.total.median + *cell.condensation_s);
       }},
      {{"conditioning", number, "of the problem's G, on its range", "conditioning of G"},
       [](const CellRecord&, const ProblemRecord& problem) { return problem.conditioning; }},
      {{"contacts", number, "of the problem", "number of contacts"}, of_problem(&ProblemRecord::contacts)},
      {{"converged", truth_kind, "the solve ended by its own stopping test", "converged"},
       truth([](const CellRecord& cell) { return cell.status == CellStatus::converged; })},
      {{"factorizations", number, "numeric factorizations, the first included", "number of factorizations"},
       counter(&CellRecord::factorizations)},
      {{"iterations", number, "of the solver", "number of iterations"}, counter(&CellRecord::iterations)},
      {{"joints", number, "joint rows of the problem", "number of joint rows"}, of_problem(&ProblemRecord::joints)},
      {{"limits", number, "limit rows of the problem", "number of limit rows"}, of_problem(&ProblemRecord::limits)},
      {{"max_iterations", number, "that the cell was allowed", "iteration limit"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         return static_cast<double>(cell.max_iterations);
       }},
      {{"memory_mb", number, "maximum resident memory, MB", "memory", "MB"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         if (!answered(cell)) return std::nullopt;
         return static_cast<double>(cell.peak_memory_kb) / kilobytes_a_megabyte;
       }},
      {{"minimum_ms", number, "minimum time of set-up and solve over all repeats, ms", "time", "ms"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> {
         if (!answered(cell)) return std::nullopt;
         return milliseconds * cell.total.minimum;
       }},
      {{"model_solved", truth_kind,
        "by the residual of the model that the solver solves: NCP, CCP, box, facets or RaiSim's",
        "solved on their own model"},
       {}},
      {{"mu", number, "largest friction coefficient of the problem", "friction coefficient"},
       [](const CellRecord&, const ProblemRecord& problem) -> std::optional<double> { return problem.mu_max; }},
      {{"open", number, "open contacts of the answer", "number of open contacts"}, counter(&CellRecord::open)},
      {{"others", truth_kind, "another configuration solves the problem, too", "solved by another configuration"}, {}},
      {{"own_residual", number, "of the solver's own stopping test, at its end", "own residual"}, own},
      {{"products", number, "products with G", "number of products with G"}, counter(&CellRecord::operator_products)},
      {{"rank", number, "of the problem's G", "rank of G"},
       [](const CellRecord&, const ProblemRecord& problem) -> std::optional<double> {
         return problem.rank ? std::optional(static_cast<double>(*problem.rank)) : std::nullopt;
       }},
      {{"rows", number, "of the problem", "number of rows"}, of_problem(&ProblemRecord::rows)},
      {{"setup_ms", number, "median time of the set-up, ms", "set-up time", "ms"}, median_ms(&CellRecord::setup)},
      {{"slip", number, "slipping contacts of the answer", "number of slipping contacts"}, counter(&CellRecord::slip)},
      {{"solve_ms", number, "median time of the solve, ms", "solve time", "ms"}, median_ms(&CellRecord::solve)},
      {{"solved", truth_kind, "by the judge, at the cell's tolerance", "solved"},
       truth([](const CellRecord& cell) { return cell.solved; })},
      {{"stick", number, "sticking contacts of the answer", "number of sticking contacts"},
       counter(&CellRecord::stick)},
      {{"times_fastest", number,
        "of a solved cell: minimum_ms over that of the fastest configuration that solves the problem",
        "time over that of the fastest configuration"},
       {}},
      {{"times_others", number,
        "of a solved cell: minimum_ms over that of the fastest other configuration that solves it",
        "time over that of the fastest other configuration"},
       {}},
      {{"tolerance", number, "of the cell", "tolerance"},
       [](const CellRecord& cell, const ProblemRecord&) -> std::optional<double> { return cell.tolerance; }},
      {{"total_ms", number, "median time of set-up and solve, ms", "time", "ms"}, median_ms(&CellRecord::total)},
      {{"trivial", truth_kind, "no impulse at all solves the problem at the cell's tolerance",
        "solved by zero impulse"},
       [](const CellRecord& cell, const ProblemRecord& problem) -> std::optional<double> {
         const auto at_zero = problem.zero_impulse.find(cell.verdict);
         return at_zero != problem.zero_impulse.end() && at_zero->second <= cell.tolerance ? 1.0 : 0.0;
       }},
      {{"verdict_value", number, "the official residual", "official residual"},
       [](const CellRecord& cell, const ProblemRecord&) { return cell.verdict_value; }},
      {{"warm", truth_kind, "it started from the answer to the step before", "started warm"},
       truth([](const CellRecord& cell) { return cell.start_used == "previous"; })},
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
  for (const std::string& word : split_source_text(source).value_or(std::vector<std::string>{})) {
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

/// Of the problem with the compliance that the solver added, where it did.
std::optional<double> model_value(const CellRecord& cell, const ConfigurationRecord& configuration) {
  if (configuration.formulation == "CCP" && cell.ccp_compliant) return cell.ccp_compliant;
  const std::string_view name = own_model_residual(configuration.formulation, configuration.solver);
  for (const auto& [residual, found] : cell.residuals) {
    if (residual == name) return found.value;
  }
  return std::nullopt;
}

Sample sample_of(const CellRecord& cell, const ProblemRecord& problem, const ConfigurationRecord& configuration) {
  Sample sample;
  sample.subject = subject_of(problem);
  sample.subject.solver = configuration.solver;
  sample.subject.configuration = configuration.label;
  sample.own = reports::is_own(configuration);
  sample.subject.tolerance = cell.tolerance;
  sample.subject.status = to_string(cell.status);
  sample.subject.reason = cell.reason;
  sample.subject.start = cell.start;
  sample.subject.solved = cell.solved ? "yes" : "no";
  for (const Field& field : fields()) {
    if (!field.value) continue;
    const auto value = field.value(cell, problem);
    if (value && std::isfinite(*value)) sample.numbers[field.info.name] = *value;
  }
  const auto of_model = model_value(cell, configuration);
  sample.numbers["model_solved"] = of_model && *of_model <= cell.tolerance ? 1.0 : 0.0;
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
  if (key == "configuration") return subject.configuration.value_or("");
  if (key == "solver") return subject.solver.value_or("");
  if (key == "start") return subject.start.value_or("");
  return fmt::format("{:g}", subject.tolerance.value_or(0.0));
}

namespace {

/// times_fastest and times_others: among the cells that ask the same of a problem.
void set_time_ratios(std::vector<Sample>& samples) {
  using Question = std::tuple<std::string, double, std::string, double>;
  const auto question = [](const Sample& s) {
    return Question{s.group("problem"), s.subject.tolerance.value_or(0.0), s.group("start"),
                    s.numbers.at("max_iterations")};
  };
  const auto time = [](const Sample& s) -> std::optional<double> {
    const auto minimum = s.numbers.find("minimum_ms");
    return s.numbers.at("solved") == 0.0 || minimum == s.numbers.end() ? std::nullopt : std::optional(minimum->second);
  };
  std::map<Question, std::map<std::string, double>> times;  // by configuration
  for (const Sample& sample : samples) {
    if (const auto own = time(sample)) times[question(sample)][sample.group("configuration")] = *own;
  }
  for (Sample& sample : samples) {
    double fastest = std::numeric_limits<double>::infinity(), other = fastest;
    for (const auto& [configuration, ms] : times[question(sample)]) {
      fastest = std::min(fastest, ms);
      if (configuration != sample.group("configuration")) other = std::min(other, ms);
    }
    sample.numbers["others"] = std::isfinite(other) ? 1.0 : 0.0;
    const auto own = time(sample);
    if (own && fastest > 0.0) sample.numbers["times_fastest"] = *own / fastest;
    if (own && std::isfinite(other) && other > 0.0) sample.numbers["times_others"] = *own / other;
  }
}

}  // namespace

std::vector<Sample> samples_of(const StoreContents& contents, const std::set<std::string>& keys) {
  std::map<std::string, const ProblemRecord*> problems;
  std::map<std::string, const ConfigurationRecord*> configurations;
  std::map<std::string, std::map<std::string, double>> scenes, options;
  for (const ProblemRecord& problem : contents.problems) {
    if (!problem.duplicate_of.empty() || !problem.error.empty()) continue;
    problems[problem.hash] = &problem;
    scenes[problem.hash] = scene_numbers(problem.source);
  }
  for (const ConfigurationRecord& configuration : contents.configurations) {
    configurations[configuration.hash] = &configuration;
    options[configuration.hash] = option_numbers(configuration.options_json);
  }
  std::vector<Sample> samples;
  for (const CellRecord& cell : contents.cells) {
    if (!keys.empty() && !keys.contains(cell.key)) continue;
    const auto problem = problems.find(cell.problem);
    const auto configuration = configurations.find(cell.configuration);
    if (problem == problems.end() || configuration == configurations.end()) continue;
    samples.push_back(sample_of(cell, *problem->second, *configuration->second));
    samples.back().numbers.insert(scenes[cell.problem].begin(), scenes[cell.problem].end());
    samples.back().numbers.insert(options[cell.configuration].begin(), options[cell.configuration].end());
  }
  set_time_ratios(samples);
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

}  // namespace conebench::papers
