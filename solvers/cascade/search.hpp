#pragma once

#include <limits>
#include <optional>

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/solver.hpp"

namespace conebench::cascade {

/// What all parts of one solve share: the best point found so far, the stop test and the counts.
///
/// Budgets are counted in Newton steps (one factorization each) and sweeps, never in seconds, so that runs repeat bit
/// for bit; only the monitor can end a search for time.
class Search {
 public:
  /// A search on the problem itself, for now of impulses alone. `impulse`, rows() long, holds the answer in the end.
  Search(const StopRule& stop, Monitor& monitor, VectorRef impulse);
  /// An inner search on a neighbouring problem, accepted at `tolerance`; steps and halts are those of `outer`, whose
  /// monitor counts its points, too. It is also accepted, to end it, where that monitor accepts what `outer` has.
  Search(const ScaledProblem& problem, double tolerance, Search& outer);

  /// From here on points of `problem` are offered, too.
  void take_points_of(const ScaledProblem& problem);

  /// Takes note of an impulse as such. True: it passes and is accepted, stop.
  bool propose(ConstVectorRef impulse, double residual);
  /// Takes note of r, whose scaled natural map is `residual` with joints that are satisfied. True: accepted, stop.
  /// Where r would pass or be the best all rows are measured: rounding of large impulses, or joints that contradict
  /// each other, leave joints a velocity, and contacts have it, too.
  /// What was `proposed` as an impulse is not proposed again.
  bool offer(const Vector& r, double residual, bool proposed = false);
  /// Takes note of r without asking the monitor.
  void keep_best(const Vector& r, double residual);
  /// The scaled natural map of all rows of an impulse.
  double residual_of(ConstVectorRef impulse);

  void count_newton() {
    ++newton_steps_;
    if (outer_ != nullptr) outer_->count_newton();
  }
  void count_sweep() { ++sweeps_; }
  /// An iteration whose product the problem counts.
  void count_gradient() { ++gradient_steps_; }
  void count_product() { ++products_; }
  /// Out of time or of iterations.
  bool halted() const { return outer_ ? outer_->halted() : out_of_time_ || iterations() >= max_iterations_; }
  bool accepted() const { return accepted_; }
  /// By the monitor.
  bool ended() const { return accepted_ || out_of_time_; }

  double tolerance() const { return tolerance_; }
  /// Of the points, and their residual.
  const Vector& best_point() const { return best_point_; }
  double best() const { return best_; }
  long newton_steps() const { return newton_steps_; }
  long sweeps() const { return sweeps_; }
  /// What works from here on, for the summary.
  void begin_stage(const char* name) { stage_ = name; }
  /// Alternates between two regularisations from attempt to attempt.
  bool odd_attempt() { return (attempts_++ & 1) != 0; }

  /// Leaves what the monitor ended the search at, or else the best point, in `impulse`, and returns the summary.
  SolveSummary finish();

 private:
  long iterations() const { return newton_steps_ + sweeps_ + gradient_steps_; }
  /// Takes the monitor's decision on the impulse as it stands.
  void follow(Decision decision, double residual);
  /// Counts a point of this search or of one within it. True: the monitor, where it is due, accepts the best point.
  bool check();

  const ScaledProblem* problem_ = nullptr;
  long products_ = 0;  ///< besides those that the problem counts from here on
  double tolerance_;
  StopBy stop_by_ = StopBy::solver;
  Monitor* monitor_ = nullptr;
  Eigen::Map<Vector> impulse_{nullptr, 0};
  Search* outer_ = nullptr;
  long max_iterations_ = std::numeric_limits<long>::max();
  long newton_steps_ = 0;
  long sweeps_ = 0;
  long gradient_steps_ = 0;
  long attempts_ = 0;
  const char* stage_ = "";
  long offers_ = 0;  ///< what the monitor counts: every point that was measured, those of inner searches included
  double best_ = std::numeric_limits<double>::infinity();
  Vector best_point_;
  std::optional<gauss_seidel::OwnResiduals> all_rows_;
  bool accepted_ = false;
  bool out_of_time_ = false;
};

}  // namespace conebench::cascade
