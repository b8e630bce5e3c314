#pragma once

#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "problems/result.hpp"

namespace conebench {

/// What a filter's fields stand for in one cell; empty or nullopt where it is not known yet, and then a term over it
/// holds.
struct FilterSubject {
  std::optional<std::string> family, problem, source, kind, category, solver, setting;
  std::optional<double> tolerance, contacts, joints, limits, rows, mu, conditioning;
};

/// Terms joined by &&: `family=Capsules && problem~^Box && solver!=NSGS && tolerance<=1e-6 && contacts>100`.
/// Operators: = and != on texts (wildcards * and ? allowed) and numbers, ~ and !~ search a regular expression in a
/// text,
/// <, <=, >, >= on numbers. A text may stand in double quotes. The empty filter holds always.
class CellFilter {
 public:
  CellFilter() = default;
  /// Errors (wrong_usage): an unknown field (lists the known ones), an operator that the field does not take, a value
  /// that is no number or no regular expression, terms joined by ||.
  static Result<CellFilter> parse(const std::string& expression);

  bool holds(const FilterSubject& subject) const;
  /// Whether a term looks at the category or the conditioning, which take time to find.
  bool needs_features() const { return needs_features_; }

 private:
  using Term = std::function<bool(const FilterSubject&)>;
  Result<Term> parse_term(const std::string& term);
  std::vector<Term> terms_;
  bool needs_features_ = false;
};

}  // namespace conebench
