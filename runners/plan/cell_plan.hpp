#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "runners/plan/filter.hpp"
#include "runners/plan/problem_survey.hpp"
#include "runners/plan/suite.hpp"
#include "solvers/registry.hpp"
#include "store/records.hpp"

namespace conebench {

/// A solver with one set of options.
struct PlannedConfiguration {
  ConfigurationRecord record;
  OptionValues options;  ///< as given; the solver adds its defaults
};

/// A solver with all its effective options as the store holds it. Its hash differs between builds whose answers differ.
ConfigurationRecord configuration_record(const SolverRow& row, const OptionValues& effective);

/// Every configuration of the suite once (equal effective options are one configuration), in its order.
std::vector<PlannedConfiguration> plan_configurations(const Suite& suite);

/// One cell: a configuration on a problem at a tolerance, from a start. Indices refer to the plan's lists.
struct PlannedCell {
  std::string key;
  std::size_t problem = 0;
  std::size_t configuration = 0;
  double tolerance = 0.0;
  Start start = Start::cold;
  /// The cell of this plan whose answer it starts from; nullopt: it starts from λ = 0 or the guess.
  std::optional<std::size_t> previous;
};

/// The content address of a cell: problem, configuration, limits, tolerance, stop_by, verdict with its version, start
/// (docs/store.md). Repeats are not in it: they change how precisely a time is known, not what is measured. The key of
/// a cell that starts from another cell's answer covers that cell's key, `previous_key`, and so all problems before it.
std::string cell_key(const Suite& suite, const SurveyedProblem& problem, const ConfigurationRecord& configuration,
                     double tolerance, Start start = Start::cold, const std::string& previous_key = {});

/// The shard, 1 … `shards`, of a key.
int shard_of(const std::string& key, int shards);

struct PlanScope {
  int shard = 1;
  int shards = 1;
  CellFilter filter;
  std::optional<std::set<std::string>> keys = {};  ///< only these cells; nullopt: all
};

/// The cells of this scope, in the suite's order. The cells whose answers a warm cell starts from are included even if
/// the filter or the keys exclude them, so that it is the same cell in every run. A shard has all or none of the cells
/// of a sequence and a configuration.
std::vector<PlannedCell> plan_cells(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedConfiguration>& configurations, const PlanScope& scope);

/// Cells of one problem for one worker.
struct CellGroup {
  std::size_t problem = 0;
  std::vector<std::size_t> cells;  ///< indices into the plan's cells
};

/// `cells` (indices of those to run) by problem; groups and the cells in each in an order drawn from `seed`.
std::vector<CellGroup> shuffled_groups(const std::vector<PlannedCell>& plan, const std::vector<std::size_t>& cells,
                                       std::uint64_t seed);

}  // namespace conebench
