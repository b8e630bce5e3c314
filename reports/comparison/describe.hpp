#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/comparison/comparison.hpp"

/// Texts that all formats of a comparison share.
namespace conebench::reports {

std::string per_cent(double log_change);  ///< "+2.3 %"
/// Date, version and commit of a side's runs.
std::string describe_side(const Side& side);
/// "01234567 and fedcba98".
std::string describe_hash(const std::set<std::string>& hashes);
/// "tolerance 1e-6, start guess, stop_by judge (residual checks are not in the times)".
std::string describe_slice(const Comparison& comparison, const TimeSlice& slice);
/// "CASCADE *" of a configuration by Conebench's authors.
std::string marked_label(const ComparedConfiguration& configuration);
/// What the mark means; empty: no configuration has it.
std::string legend(const Comparison& comparison);
bool times_shown(const Comparison& comparison, const ConfigurationChange& change);
/// Reasons of the assessment, or the smallest change that would have been found.
std::string why(const Comparison& comparison, const ConfigurationChange& change);

/// Pairs to list one by one, worst first, without the missing and new ones of whole problems and configurations.
std::vector<const CellPair*> changed_cells(const Comparison& comparison);
struct ChangedCell {
  std::string change, problem, family, configuration, tolerance, baseline, candidate;
};
ChangedCell describe_cell(const Comparison& comparison, const CellPair& pair);

/// A line for each problem and configuration that one side lacks or that changed.
std::vector<std::string> problem_and_configuration_lines(const Comparison& comparison);

/// The layout "conebench.compare/2" with at most so many changed cells.
nlohmann::ordered_json comparison_object(const Comparison& comparison, std::size_t max_cells);

}  // namespace conebench::reports
