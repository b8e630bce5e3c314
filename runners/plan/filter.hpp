#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// Values of a filter's fields for one cell. nullopt: not known yet; a term on such a field holds.
struct FilterSubject {
  std::optional<std::string> family, problem, source, kind, category, solver, configuration, status, reason, start,
      solved;
  std::optional<double> tolerance, contacts, joints, limits, intervals, rows, mu, conditioning;
};

/// Context of a filter.
struct FilterRules {
  std::string where = "--filter";  ///< prefix of error messages
  bool of_stored_cells = false;    ///< `status`, `reason`, `start` and `solved` are fields, too
};

/// Terms joined by &&: `family=Capsules && problem~^Box && solver!=NSGS && tolerance<=1e-6 && contacts>100`.
/// Operators: = and != on texts (wildcards * and ? allowed) and numbers, ~ and !~ search a regular expression of
/// RE2 in a text, <, <=, >, >= on numbers. A text may be in double quotes; `solved` is yes or no. An empty filter
/// always holds.
class CellFilter {
 public:
  CellFilter() = default;
  /// Errors (wrong_usage): an unknown field (lists the known ones), a field of stored cells without of_stored_cells, an
  /// operator that the field does not take, an invalid number or regular expression, an unknown category, kind or
  /// status, terms joined by ||, more than 65,536 bytes.
  static Result<CellFilter> parse(const std::string& expression, const FilterRules& rules = {});

  bool holds(const FilterSubject& subject) const;
  /// Whether a term is on the category or the conditioning, which take time to compute.
  bool needs_features() const { return needs_features_; }
  /// Whether a term is on a field of the loaded problem: any except family, problem, source, solver, configuration and
  /// tolerance.
  bool needs_contents() const { return needs_contents_; }
  /// Whether a term is on a field that only cells that ran have.
  bool needs_outcome() const { return needs_outcome_; }
  /// Field and text of every term `field=text`. If nothing matches, one of them may be misspelt.
  const std::vector<std::pair<std::string, std::string>>& named() const { return named_; }

 private:
  using Term = std::function<bool(const FilterSubject&)>;
  Result<Term> parse_term(const std::string& term, const FilterRules& rules);
  std::vector<Term> terms_;
  std::vector<std::pair<std::string, std::string>> named_;
  bool needs_features_ = false;
  bool needs_contents_ = false;
  bool needs_outcome_ = false;
};

/// The fields of a stored problem. The caller sets `solver`, `configuration` and `tolerance` for a cell.
FilterSubject subject_of(const ProblemRecord& problem);

/// The cells that match the filter, with their problems. StoreContents::filter becomes the `expression`. The progress
/// in `suites` counts matching cells: a cell that has not been run counts if it may match, unless the filter has terms
/// on outcomes.
StoreContents filtered(StoreContents contents, const CellFilter& filter, const std::string& expression);

/// "did you mean 'NSGS'? " if a term names a solver or a family that is not among these.
std::string misspelt(const CellFilter& filter, const std::set<std::string>& solvers,
                     const std::set<std::string>& families);

}  // namespace conebench
