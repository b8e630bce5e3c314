#pragma once

#include <optional>
#include <string>
#include <vector>

#include "papers/language.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

/// Why there is no value.
enum class Gap {
  none,
  not_run,         ///< nothing was measured
  not_comparable,  ///< measured, but the number can't be computed: cells without a value, a division by zero, …
};

/// A number, or a truth as 0 or 1, or the reason why there is none: never a silent zero.
struct Value {
  std::optional<double> number;
  Gap gap = Gap::none;
  std::string reason;

  bool known() const { return number.has_value(); }
  bool holds() const { return number && *number != 0.0; }
};

/// "12", "0.571": as human_number, and whole numbers without decimals.
std::string number_text(double number);

using Selection = std::vector<const Sample*>;

Selection select(const std::vector<Sample>& samples, const CellFilter& filter = {});
Selection select(const Selection& samples, const CellFilter& filter);

/// A comparison with its numbers.
struct Comparison {
  struct Side {
    std::string text;  ///< as the expression has it: "mean(iterations){solver=NSGS}"
    double value = 0.0;
    bool literal = false;  ///< the text is the number
    Expression expression;
  };
  Side left, right;
  std::string relation;  ///< "<", "=", …
  bool holds = false;
};
/// What an evaluation saw on its way.
struct Evaluation {
  Value value;
  std::vector<Comparison> comparisons;  ///< those that were made outside reductions
  /// Different problems in the smallest selection that a reduction had; −1 where there was no reduction.
  long min_problems = -1;
  long min_cells = -1;  ///< cells in it, likewise
};

/// Of an expression that parse_expression() gave. A reduction of no cells, or of a field that one of its cells lacks,
/// is no value; "and" is false where one side is, whatever the other lacks, and so is "or" true.
Evaluation evaluate(const Expression& expression, const Selection& samples);

/// One of reduction_names() but count and share, of what was collected; `second` for pairs, `p` for quantile. The
/// quantile interpolates between order statistics (R's type 7); sd is √(Σ (x − mean)² / (n − 1)); slope is that of the
/// least-squares line of `second` over `values`; rank_correlation is Spearman's, ties at their mean rank. Without a
/// value (not_comparable): sd of one, slope over fewer than three values of x, correlation where one of the two is
/// constant, geometric_mean of what is not positive.
Value reduce(const std::string& name, const std::vector<double>& values, const std::vector<double>& second = {},
             double p = 0.0);

}  // namespace conebench::papers
