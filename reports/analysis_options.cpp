#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "metrics/statistics.hpp"
#include "reports/analysis_parts.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::json;

Json options_of(const Column& column) {
  Json options = Json::parse(column.configuration->options_json, nullptr, false);
  return options.is_object() ? options : Json::object();
}

/// Numbers by size before others by name.
bool comes_before(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_number() != b.is_number()) return a.is_number();
  return a.dump() < b.dump();
}

class Study {
 public:
  Study(const Analysis& analysis, std::size_t slice, const std::string& solver, Cost cost)
      : analysis_(analysis), grid_(analysis.slices[slice].grid) {
    study_.slice = slice;
    study_.solver = solver;
    study_.cost = cost;
    for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
      if (analysis.columns[c].configuration->solver != solver) continue;
      if (analysis.slices[slice].ranked[c]) {
        columns_.push_back(c);
      } else {
        study_.dropped += std::any_of(grid_.begin(), grid_.end(),
                                      [c](const auto& row) { return outcome(row[c]) != Outcome::not_run; });
      }
    }
  }

  /// Nothing where the configurations do not differ in options, or solve nothing.
  std::optional<OptionStudy> make() {
    study_.dropped += dropped_by_search();
    find_axes();
    if (study_.axes.empty()) return std::nullopt;
    find_problems();
    if (problems_.empty()) return std::nullopt;
    for (std::size_t k = 0; k < columns_.size(); ++k) add_configuration(k);
    study_.recommended =
        least([](const OptionStudy::Configuration& configuration) { return configuration.times_best; });
    for (std::size_t f = 0; f < study_.families.size(); ++f) leave_out(f);
    sum_up();
    return std::move(study_);
  }

 private:
  /// Configurations without a cell here that an earlier run of the same suite asked for and the latest does not.
  long dropped_by_search() const {
    const StoreContents& contents = *analysis_.contents;
    if (contents.runs.empty()) return 0;
    std::set<std::string> shown;
    std::set<int> versions;
    for (const Column& column : analysis_.columns)
      shown.insert({column.configuration->hash, column.configuration->label});
    for (const std::size_t c : columns_) versions.insert(analysis_.columns[c].configuration->solver_version);
    return std::count_if(
        contents.configurations.begin(), contents.configurations.end(), [&](const ConfigurationRecord& configuration) {
          if (configuration.solver != study_.solver || !versions.contains(configuration.solver_version)) return false;
          if (shown.contains(configuration.hash) || shown.contains(configuration.label)) return false;
          const RunRecord& latest = contents.runs.back();
          return std::any_of(contents.runs.begin(), contents.runs.end(), [&](const RunRecord& run) {
            return run.suite_name == latest.suite_name && run.suite_text == latest.suite_text &&
                   run.scope_json.find('"' + configuration.hash + '"') != std::string::npos;
          });
        });
  }

  /// Records leave out common options at their defaults: what a configuration lacks is null here.
  void find_axes() {
    std::vector<Json> options;
    std::set<std::string> names;
    for (const std::size_t c : columns_) {
      options.push_back(options_of(analysis_.columns[c]));
      for (const auto& [name, value] : options.back().items()) names.insert(name);
    }
    std::vector<std::vector<std::size_t>> indices(columns_.size());
    for (const std::string& name : names) {
      std::vector<Json> values;
      for (const Json& one : options) {
        const Json value = one.value(name, Json());
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      }
      if (values.size() < 2) continue;
      std::sort(values.begin(), values.end(), comes_before);
      OptionStudy::Axis axis{
          name, {}, std::all_of(values.begin(), values.end(), [](const Json& value) { return value.is_number(); })};
      for (const Json& value : values) axis.values.push_back(value.dump());
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        const auto found = std::find(values.begin(), values.end(), options[k].value(name, Json()));
        indices[k].push_back(static_cast<std::size_t>(found - values.begin()));
      }
      study_.axes.push_back(std::move(axis));
    }
    std::vector<std::size_t> order(columns_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return indices[a] < indices[b]; });
    std::vector<std::size_t> columns;
    for (const std::size_t k : order) {
      columns.push_back(columns_[k]);
      indices_.push_back(indices[k]);
    }
    columns_ = std::move(columns);
  }

  /// Costs by problem and configuration, of the problems that some configuration solves.
  void find_problems() {
    const Scope scope = make_scope(analysis_, study_.slice, "");
    std::map<std::string, std::vector<std::size_t>> by_family;
    for (const std::size_t p : scope.problems) {
      std::vector<double> costs;
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t c : columns_) {
        const auto solved = cost(grid_[p][c], study_.cost);
        if (solved) least = std::min(least, *solved);
        costs.push_back(solved ? *solved : penalty(grid_[p][c]));
      }
      if (!std::isfinite(least)) {
        ++study_.unsolved;
        continue;
      }
      for (double& spent : costs) spent /= least;
      by_family[analysis_.problems[p].record->family].push_back(problems_.size());
      problems_.push_back(p);
      ratios_.push_back(std::move(costs));
    }
    for (auto& [name, members] : by_family) {
      study_.families.push_back(
          {.name = name, .problems = static_cast<long>(members.size()), .chosen = {}, .chosen_times_best = {}});
      members_.push_back(std::move(members));
    }
    study_.problems = static_cast<long>(problems_.size());
  }

  double penalty(const CellRecord* cell) const {
    if (cell == nullptr) return std::numeric_limits<double>::infinity();  // not of a headline problem's ranked column
    const double limit = is_time(study_.cost) ? cell->limit_s : static_cast<double>(cell->max_iterations);
    return analysis_.penalty_factor * std::max(limit, 1e-9);
  }

  double mean_of_family(std::size_t f, std::size_t k) const {
    std::vector<double> ratios;
    for (const std::size_t i : members_[f]) ratios.push_back(ratios_[i][k]);
    return *geometric_mean(ratios);
  }

  void add_configuration(std::size_t k) {
    OptionStudy::Configuration configuration;
    configuration.column = columns_[k];
    configuration.indices = indices_[k];
    std::vector<double> ratios;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      ratios.push_back(ratios_[i][k]);
      configuration.solved += outcome(grid_[problems_[i]][columns_[k]]) == Outcome::solved;
    }
    configuration.quartiles = {*quantile(ratios, 0.25), *quantile(ratios, 0.5), *quantile(ratios, 0.75)};
    for (std::size_t f = 0; f < members_.size(); ++f) configuration.by_family.push_back(mean_of_family(f, k));
    configuration.times_best = *geometric_mean(configuration.by_family);
    study_.configurations.push_back(std::move(configuration));
  }

  template <class Value>
  std::size_t least(Value value) const {
    const auto& all = study_.configurations;
    const auto found =
        std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return value(a) < value(b); });
    return static_cast<std::size_t>(found - all.begin());
  }

  void leave_out(std::size_t f) {
    OptionStudy::Family& family = study_.families[f];
    family.best = least([f](const OptionStudy::Configuration& configuration) { return configuration.by_family[f]; });
    if (study_.families.size() < 2 || study_.dropped > 0) return;
    family.chosen = least([f](const OptionStudy::Configuration& configuration) {
      std::vector<double> others = configuration.by_family;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
      return *geometric_mean(others);
    });
    family.chosen_times_best = study_.configurations[*family.chosen].by_family[f];
    for (const std::size_t i : members_[f]) {
      family.chosen_lost += outcome(grid_[problems_[i]][columns_[*family.chosen]]) != Outcome::solved;
    }
  }

  void sum_up() {
    std::vector<double> costs;
    for (const auto& family : study_.families) {
      if (family.chosen_times_best) costs.push_back(*family.chosen_times_best);
      study_.unseen_lost += family.chosen_lost;
    }
    study_.unseen_times_best = geometric_mean(costs);
  }

  const Analysis& analysis_;
  const std::vector<std::vector<const CellRecord*>>& grid_;
  std::vector<std::size_t> columns_;
  std::vector<std::vector<std::size_t>> indices_;  ///< of columns_, as OptionStudy::Configuration::indices
  std::vector<std::size_t> problems_;              ///< of the report, that some configuration solves
  std::vector<std::vector<double>> ratios_;        ///< [of problems_][configuration]: cost / least cost
  std::vector<std::vector<std::size_t>> members_;  ///< of problems_, by family
  OptionStudy study_;
};

}  // namespace

std::string OptionStudy::values(std::size_t configuration) const {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Json value = Json::parse(axes[a].values[configurations[configuration].indices[a]], nullptr, false);
    const std::string shown = value.is_null() || value == "" ? "default"
                              : value.is_string()            ? value.get<std::string>()
                              : value.is_number_float()      ? fmt::format("{}", value.get<double>())
                                                             : value.dump();
    text += (a == 0 ? "" : ", ") + axes[a].option + "=" + shown;
  }
  return text;
}

std::string OptionStudy::unseen_text(const std::string& group) const {
  std::string text =
      fmt::format("A configuration chosen on all {} but one takes {} × the best {} on that one", many_groups(group),
                  human_number(unseen_times_best.value_or(1.0)), is_time(cost) ? "time" : "count");
  return text + (unseen_lost > 0 ? fmt::format(", and does not solve {} that another configuration solves",
                                               plural(unseen_lost, "problem"))
                                 : "");
}

std::string OptionStudy::chosen_among() const {
  if (dropped == 0) return {};
  return fmt::format("chosen among the {} configurations that ran on all problems; {} ran on fewer",
                     configurations.size(), dropped);
}

std::optional<OptionStudy> study_options(const Analysis& analysis, std::size_t slice, const std::string& solver,
                                         Cost cost) {
  return Study(analysis, slice, solver, cost).make();
}

void add_option_studies(Analysis& analysis) {
  std::set<std::string> solvers;
  for (const Column& column : analysis.columns) solvers.insert(column.configuration->solver);
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    for (const std::string& solver : solvers) {
      auto study = study_options(analysis, s, solver, shown_cost(analysis));
      // Where one configuration alone solves anything, there is nothing to choose.
      const auto solves = [](const OptionStudy::Configuration& one) { return one.solved > 0; };
      if (study && std::ranges::count_if(study->configurations, solves) > 1) {
        analysis.option_studies.push_back(std::move(*study));
      }
    }
  }
}

}  // namespace conebench::reports
