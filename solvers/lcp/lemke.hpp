#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/lcp/lcp_solver.hpp"
#include "solvers/lcp/pivot_sets.hpp"

namespace conebench::lcp {

/// Which row leaves in Lemke's algorithm.
class RatioTest {
 public:
  /// Entries m'_i ≥ −min_pivot count as 0; 0 in the paper.
  explicit RatioTest(double min_pivot) : min_pivot_(min_pivot) {}
  virtual ~RatioTest() = default;
  virtual void allocate(Index /*size*/) {}
  /// Step 0: the row that z_0 takes, one with the smallest q.
  virtual Index first_row(const Vector& q) const = 0;
  /// The row for the driving variable's column, -1 where no entry of it is negative.
  virtual Index leaving_row(const Tableau& tableau, Index column) = 0;

 protected:
  double min_pivot_;
};

/// The row with the smallest ratio, the first one among equals: Yamane Sec. V-A, Lemke algorithm.
///
/// Yamane Step 1 prints the minimum over m'_i ≤ 0; a zero entry has no ratio, so m'_i < 0 (as in its Algorithm 2).
class SmallestRatio final : public RatioTest {
 public:
  explicit SmallestRatio(double min_pivot = 0.0) : RatioTest(min_pivot) {}
  Index first_row(const Vector& q) const override;
  Index leaving_row(const Tableau& tableau, Index column) override;
};

/// Ratios within Δ of the smallest tie; ties are decided by the lexicographic order, z_0 first: Yamane Sec. V-A,
/// Lexicographic Lemke algorithm. In Step 0, where Yamane is silent, the last of the tied rows is the lexicographic
/// one.
class LexicographicRatio final : public RatioTest {
 public:
  explicit LexicographicRatio(double threshold, double min_pivot = 0.0) : RatioTest(min_pivot), threshold_(threshold) {}
  void allocate(Index size) override { ties_.reserve(static_cast<std::size_t>(size)); }
  Index first_row(const Vector& q) const override;
  Index leaving_row(const Tableau& tableau, Index column) override;

 private:
  struct Tie {
    Index row;
    double value;
  };
  double keep_ties();

  double threshold_;
  std::vector<Tie> ties_;
};

/// Lemke's algorithm on a tableau that has been reset with c = (1, …, 1): Yamane Sec. II-A, endings of Sec. V-A.
/// `watch(pivots)` after each pivot but the last may give an ending. Counts the pivots, that of Step 0 included.
template <class Watch>
Ending run_lemke(Tableau& tableau, RatioTest& rule, PivotSets& met, long max_pivots, long& pivots, Watch watch) {
  met.clear();
  pivots = 0;
  if (tableau.size() == 0 || tableau.q().minCoeff() >= 0.0) return Ending::solved;
  Index row = rule.first_row(tableau.q());  // Step 0
  Index driving = tableau.artificial();
  for (;;) {
    if (pivots >= max_pivots) return Ending::out_of_pivots;
    const Index leaving = tableau.pivot(row, tableau.column_of(driving));  // Step 2
    ++pivots;
    if (leaving == tableau.artificial()) return Ending::solved;
    if (!met.insert(tableau.pivot_set())) return Ending::cycle;
    if (const std::optional<Ending> ending = watch(pivots)) return *ending;
    driving = tableau.complement(leaving);
    row = rule.leaving_row(tableau, tableau.column_of(driving));  // Step 1
    if (row < 0) return Ending::no_solution;
  }
}

struct LemkeOptions : LcpOptions {
  double min_pivot = 0.0;
};
void declare_options(OptionBinder& bind, LemkeOptions& options);

struct LexicographicOptions : LemkeOptions {
  double threshold = 1e-8;  ///< Δ
};
void declare_options(OptionBinder& bind, LexicographicOptions& options);

/// Lemke's algorithm on the facet LCP.
///
///     symbol    meaning
///     z_0       artificial variable of (8), column c = (1, …, 1)
///     driving   y_r, the variable that enters: the complement of the one that left last
///     column    m', its column of the tableau
class LemkeSolver final : public LcpSolver {
 public:
  LemkeSolver(SolverInfo info, LcpOptions options, std::unique_ptr<RatioTest> rule);

 private:
  void allocate(Index size) override;
  Ending search(const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) override;

  std::unique_ptr<RatioTest> rule_;
  PivotSets met_;
  Vector ones_;
};

}  // namespace conebench::lcp
