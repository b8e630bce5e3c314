#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/comparison/comparison.hpp"

/// What the formats of a comparison say alike.
namespace conebench::reports {

std::string per_cent(double log_change);  ///< "+2.3 %"
/// Date, version and commit of a side's runs.
std::string side_words(const Side& side);
/// "01234567 and fedcba98": as long as it takes to tell two apart.
std::string hash_words(const std::set<std::string>& hashes);
/// "tolerance 1e-6, start guess, criterion verdict (residual checks are in no time)".
std::string slice_words(const Comparison& comparison, const TimeSlice& slice);
/// "CASCADE *" of a setting by Conebench's authors.
std::string marked_label(const ComparedSetting& setting);
/// What the mark means; empty: no setting has it.
std::string legend(const Comparison& comparison);
bool times_shown(const Comparison& comparison, const SettingChange& change);
/// Reasons of the assessment, or what could have been seen.
std::string why(const Comparison& comparison, const SettingChange& change);

/// Pairs that a reader wants to see one by one, worst first; missing and new ones of whole problems and settings are
/// not among them.
std::vector<const CellPair*> changed_cells(const Comparison& comparison);
struct ChangedCell {
  std::string change, problem, family, setting, tolerance, base, fresh;
};
ChangedCell words_of(const Comparison& comparison, const CellPair& pair);

/// A line for each problem and setting that one side lacks or that changed.
std::vector<std::string> problem_and_setting_lines(const Comparison& comparison);

/// The layout "conebench.compare/1" with at most so many changed cells.
nlohmann::ordered_json comparison_object(const Comparison& comparison, std::size_t max_cells);

}  // namespace conebench::reports
