#pragma once

#include <vector>

#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

/// How long one run goes on, and how strongly it regularises: α = min(largest, max(1e-12, relative · residual)).
struct NewtonBudget {
  int steps = 4 * tuned.stall_window;
  int stall_window = tuned.stall_window;  ///< steps without the residual falling to 0.7 of the run's best
  double relative = tuned.relative;
  double largest = tuned.largest;
  bool start_counts =
      true;  ///< false: the best to fall below is that of the steps, which often begin far above the start
  /// Each step after which the modes stayed takes a hundredth of the regularisation of the one before.
  bool trusts_modes = false;
  double scale = 1.0;  ///< ρ of the natural map
  /// Each second step in a row without progress multiplies `scale` by another factor: 3, 1, 1/3, 1, …
  bool changes_scale = false;
  /// Where a residual comes back the run goes on from halfway to the point before, the second time with a step at nine
  /// times `scale`, and the third time it ends.
  bool leaves_cycles = false;
};

/// Along G's null space, from a point that is near.
inline constexpr NewtonBudget strong_newton{.relative = tuned.strong, .largest = tuned.max_far_step};

/// Where nobody knows yet whether it will do: its first steps often go far up before they go down.
inline constexpr NewtonBudget first_newton{.steps = 2 * tuned.first_stall_window,
                                           .stall_window = tuned.first_stall_window,
                                           .relative = 2.0,
                                           .largest = tuned.max_far_step,
                                           .start_counts = false,
                                           .trusts_modes = true,
                                           .changes_scale = true,
                                           .leaves_cycles = true};

/// What is known of a point that was measured.
struct Measured {
  double residual = 0.0;
  Vector velocity;  ///< w; empty where nothing was measured
};

/// Semi-smooth Newton on F(r) = r − P(r − ρ u(w(r))), reduced contact by contact to the unknowns that its mode leaves
/// free, without line search: takes the last digits from a point near a solution.
///
/// With y = r − u(w), ŷ = y_T/‖y_T‖, ŵ = w_T/‖w_T‖ and the eigenbasis f1 = (ŷ, 1)/√2, f2 = (−ŷ, 1)/√2, f3 = (ŷ⊥, 0),
/// every mode gives rows L and columns R with (L G R + B) z = right side and r += R z + k:
///
/// - stick (y in the cone): L = R = I, B = α I, right side −w;
/// - open (−y in the cone): step −r, row and column dropped;
/// - slip: τ = (‖y_T‖ + y_n)/(2‖y_T‖); k = −F_2 f2; rows of L ((ŷ + ŵ)/√2, 1/√2), 0, τ f3; columns of R f1, 0, f3;
///   B = α L R + diag(0, 1, 1 − τ); right side (−F_1, 0, −F_3) − α L k.
///
/// An interval within its bounds is a row that sticks, and at a bound one that opens, whose step leads to the bound.
///
/// With another ρ every w above is ρ w and L G is ρ L G, α L R stays. The solutions are the same, but a point's modes
/// may be others: contacts that would change theirs to and fro for good leave off.
///
/// A regularisation that is large against the residual (α = 1e3 residual) is what rank-deficient G needs; it alternates
/// with a small one from run to run.
class SemismoothNewton {
 public:
  using Block = BlockSystem::Block;

  /// Both must outlive this object; `linear` is made for `problem`'s pattern.
  SemismoothNewton(const ScaledProblem& problem, LinearSolver& linear);

  /// True: `search` accepted a point. `known`: what was measured at `start` and offered to `search` already.
  bool run(Search& search, const Vector& start, const NewtonBudget& budget, const Measured& known = {});

  /// One step with regularisation `alpha` from r, whose velocity is w.
  void step_from(Vector& r, const Vector& w, double alpha);

  /// Strongly regularised from the best point, as long as the best keeps shrinking.
  void rescue(Search& search);

 private:
  /// Fills system_, right_side_ and known_ for the point (r_, w_), with α = 0.
  void linearise();
  void linearise_interval(int i);
  /// Adds the terms with α and solves.
  void step(double alpha);

  const ScaledProblem& problem_;
  LinearSolver& linear_;
  double rho_ = 1.0;
  BlockSystem system_;
  enum class Mode : char { stick, open, slip, at_lower, at_upper };
  std::vector<Mode> modes_, factored_;  ///< of the point, of the last factors
  Vector r_, w_, known_, right_side_, z_, previous_;
};

}  // namespace conebench::cascade
