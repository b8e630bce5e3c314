#include "solvers/lcp/lemke.hpp"

#include <algorithm>
#include <limits>

namespace conebench::lcp {

void declare_options(OptionBinder& bind, LemkeOptions& o) {
  declare_options(bind, static_cast<LcpOptions&>(o));
  bind.real("min_pivot", o.min_pivot,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "entries of the driving column above minus this count as zero; 0 in the paper"});
}

void declare_options(OptionBinder& bind, LexicographicOptions& o) {
  declare_options(bind, static_cast<LemkeOptions&>(o));
  bind.real("threshold", o.threshold,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "Delta of Yamane Sec. V-A: ratios this close to the smallest are tied"});
}

Index SmallestRatio::first_row(const Vector& q) const {
  Index row = 0;
  q.minCoeff(&row);
  return row;
}

Index SmallestRatio::leaving_row(const Tableau& tableau, Index column) {
  const auto m = tableau.column(column);
  double smallest = std::numeric_limits<double>::infinity();
  Index row = -1;
  for (Index i = 0; i < tableau.size(); ++i) {
    if (!(m[i] < -min_pivot_)) continue;
    const double ratio = -tableau.q()[i] / m[i];
    if (row >= 0 && !(ratio < smallest)) continue;
    smallest = ratio;
    row = i;
  }
  return row;
}

Index LexicographicRatio::first_row(const Vector& q) const {
  const double bound = q.minCoeff() + threshold_;
  for (Index i = q.size() - 1; i >= 0; --i) {
    if (q[i] <= bound) return i;
  }
  return 0;
}

/// Drops what is more than Δ above the smallest value, which it returns.
double LexicographicRatio::keep_ties() {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Tie& tie : ties_) smallest = std::min(smallest, tie.value);
  std::erase_if(ties_, [&](const Tie& tie) { return tie.value > smallest + threshold_; });
  return smallest;
}

Index LexicographicRatio::leaving_row(const Tableau& tableau, Index column) {
  const auto m = tableau.column(column);
  ties_.clear();
  for (Index i = 0; i < tableau.size(); ++i) {
    if (m[i] < -min_pivot_) ties_.push_back({i, -tableau.q()[i] / m[i]});
  }
  double smallest = keep_ties();
  for (const Tie& tie : ties_) {
    if (tableau.basic(tie.row) == tableau.artificial()) return tie.row;
  }
  // Row i of the inverse basis times −1/m'_i, column by column: what q_j + ε^j would add to the ratios.
  for (Index j = 0; j < tableau.size() && ties_.size() > 1; ++j) {
    const bool basic = tableau.is_basic(j);
    for (Tie& tie : ties_) {
      const double beta =
          basic ? (tableau.row_of(j) == tie.row ? 1.0 : 0.0) : -tableau.column(tableau.column_of(j))[tie.row];
      tie.value = -beta / m[tie.row];
    }
    smallest = keep_ties();
  }
  for (const Tie& tie : ties_) {
    if (tie.value <= smallest) return tie.row;
  }
  return ties_.empty() ? -1 : ties_.front().row;
}

LemkeSolver::LemkeSolver(SolverInfo info, LcpOptions options, std::unique_ptr<RatioTest> rule)
    : LcpSolver(std::move(info), options), rule_(std::move(rule)) {}

void LemkeSolver::allocate(Index size) {
  rule_->allocate(size);
  met_.reserve(static_cast<std::size_t>(64 * size + 256));  // far beyond the usual two or three pivots a row
  ones_.setOnes(size);
}

Ending LemkeSolver::search(const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) {
  tableau_.reset(lcp().matrix(), lcp().offset(), ones_);
  const Ending ending = run_lemke(tableau_, *rule_, met_, progress.stop().max_iterations, summary.iterations,
                                  [&](long k) { return observe(progress, k, impulse); });
  tableau_.read_solution(z_);
  return ending;
}

}  // namespace conebench::lcp
