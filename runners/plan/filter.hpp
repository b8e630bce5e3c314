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

/// What a filter's fields stand for in one cell; empty or nullopt where it is not known yet, and then a term over it
/// holds.
struct FilterSubject {
  std::optional<std::string> family, problem, source, kind, category, solver, setting, status, reason, start, solved;
  std::optional<double> tolerance, contacts, joints, limits, rows, mu, conditioning;
};

/// Where a filter stands, and what it is asked of.
struct FilterRules {
  std::string where = "--filter";  ///< in front of complaints
  bool of_stored_cells = false;    ///< `status`, `reason`, `start` and `solved` are fields, too
};

/// Terms joined by &&: `family=Capsules && problem~^Box && solver!=NSGS && tolerance<=1e-6 && contacts>100`.
/// Operators: = and != on texts (wildcards * and ? allowed) and numbers, ~ and !~ search a regular expression of
/// RE2's in a text, <, <=, >, >= on numbers. A text may stand in double quotes; `solved` is yes or no. The empty filter
/// holds always.
class CellFilter {
 public:
  CellFilter() = default;
  /// Errors (wrong_usage): an unknown field (lists the known ones), one of stored cells without of_stored_cells, an
  /// operator that the field does not take, a value that is no number or no regular expression, a category, kind or
  /// status that there is none of, terms joined by ||, more than 65,536 bytes.
  static Result<CellFilter> parse(const std::string& expression, const FilterRules& rules = {});

  bool holds(const FilterSubject& subject) const;
  /// Whether a term looks at the category or the conditioning, which take time to find.
  bool needs_features() const { return needs_features_; }
  /// Whether a term looks at what only an opened problem tells: all but family, problem, source, solver, setting and
  /// tolerance.
  bool needs_contents() const { return needs_contents_; }
  /// Whether a term looks at what only a cell that ran has.
  bool needs_outcome() const { return needs_outcome_; }
  /// Field and text of every term `field=text`: where nothing is left, one of them may be misspelt.
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

/// What a stored problem's fields are; of a cell, `solver`, `setting` and `tolerance` are left to the caller.
FilterSubject subject_of(const ProblemRecord& problem);

/// The cells that the filter fits, with the problems that they need; StoreContents::filter is the `expression`, and
/// `suites` tells how far they are in what it fits: a cell that has not been run counts where it may fit, but not where
/// the filter asks how cells ended.
StoreContents filtered(StoreContents contents, const CellFilter& filter, const std::string& expression);

/// "did you mean 'NSGS'? " where a term names a solver or a family that is not among these.
std::string misspelt(const CellFilter& filter, const std::set<std::string>& solvers,
                     const std::set<std::string>& families);

}  // namespace conebench
