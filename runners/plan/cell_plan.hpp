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
struct PlannedSetting {
  SettingRecord record;
  OptionValues options;  ///< as given; the solver adds its defaults
};

/// A solver with all its effective options as the store holds it. Its hash tells builds apart whose answers differ.
SettingRecord setting_record(const SolverRow& row, const OptionValues& effective);

/// Every setting of the suite once (equal effective options are one setting), in its order.
std::vector<PlannedSetting> plan_settings(const Suite& suite);

/// One cell: a setting on a problem at a tolerance, from a start. Indices into the lists that the plan was made of.
struct PlannedCell {
  std::string key;
  std::size_t problem = 0;
  std::size_t setting = 0;
  double tolerance = 0.0;
  Start start = Start::cold;
  /// The cell, of this plan, whose answer it starts from; nullopt where it starts from λ = 0 or the guess.
  std::optional<std::size_t> previous;
};

/// The content address of a cell: problem, setting, limits, tolerance, criterion, verdict with its version, start
/// (DESIGN 8). Repeats are not in it: they change how well a time is known, not what is measured. A cell that starts
/// from another one's answer has that one's key in its own, `previous_key`, and so all problems before it.
std::string cell_key(const Suite& suite, const SurveyedProblem& problem, const SettingRecord& setting, double tolerance,
                     Start start = Start::cold, const std::string& previous_key = {});

/// Part 1 … `shards` that a key falls into.
int shard_of(const std::string& key, int shards);

struct PlanScope {
  int shard = 1;
  int shards = 1;
  CellFilter filter;
  std::optional<std::set<std::string>> keys = {};  ///< only these cells; nullopt: all
};

/// The cells of this scope, in the suite's order. With a warm cell come those whose answers it starts from, whatever
/// the filter and the keys say of them: it is the same cell in every run. A shard takes a setting's cells of a sequence
/// all or none.
std::vector<PlannedCell> plan_cells(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedSetting>& settings, const PlanScope& scope);

/// Cells of one problem, to be run by one worker.
struct CellGroup {
  std::size_t problem = 0;
  std::vector<std::size_t> cells;  ///< indices into the plan's cells
};

/// `cells` (indices of those to run) by problem; groups and the cells in each in an order drawn from `seed`.
std::vector<CellGroup> shuffled_groups(const std::vector<PlannedCell>& plan, const std::vector<std::size_t>& cells,
                                       std::uint64_t seed);

}  // namespace conebench
