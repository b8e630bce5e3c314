#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/plan/filter.hpp"

/// The small language in which a paper's entries state quantities and checks: arithmetic, comparisons, and / or / not,
/// and twelve reductions over selected cells. No loops, no functions by users: docs/add_a_paper.md has all of it.
namespace conebench::papers {

enum class Kind { number, truth };

enum class Operation {
  literal,      ///< `number`
  field,        ///< `name`, of one sample
  function,     ///< `name`: abs, log10, sqrt
  negate,       ///< of a number
  arithmetic,   ///< `name`: + - * /
  comparison,   ///< `name`: < <= > >= = !=
  conjunction,  ///< and
  disjunction,  ///< or
  negation,     ///< not
  reduction,    ///< `name`, over the samples that fit `where`, or over their groups by `key`
};

/// A parsed expression; `parts` are its operands.
struct Expression {
  Operation operation = Operation::literal;
  Kind kind = Kind::number;
  std::string name;
  double number = 0.0;
  std::vector<Expression> parts;
  CellFilter where;
  std::string where_text;
  std::vector<Expression> condition;  ///< of a reduction: none, or a truth of single samples behind `where`
  std::string key;                    ///< of a reduction over groups: one of group_keys(); else empty
  std::string outer_key;              ///< of groups of groups, which weigh the same each; else empty
  std::vector<Expression> of_groups;  ///< none, or a truth of single groups behind `having`: the others are left out
  std::string text;                   ///< as it was written; of the outermost one and of the sides of comparisons
};

/// Errors (wrong_usage), in one line with the expression and the column: a name that is no field, function or
/// reduction, a field outside a reduction, a reduction inside one without `by`, a truth where a number belongs or the
/// other way round, a filter that is none, more than 10,000 bytes or 50 brackets deep.
Result<Expression> parse_expression(const std::string& text, Kind wanted);

/// The filter of a selection, with the fields that only stored cells have (status, start).
Result<CellFilter> parse_selection(const std::string& text);

/// Names for messages and documents, in alphabetical order.
const std::vector<std::string>& reduction_names();
const std::vector<std::string>& group_keys();

}  // namespace conebench::papers
