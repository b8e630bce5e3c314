#pragma once

#include <algorithm>
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
  /// A search on the problem itself. `impulse_workspace` is rows() long.
  Search(const ScaledProblem& problem, const StopRule& stop, Monitor& monitor, VectorRef impulse_workspace);
  /// An inner search on a neighbouring problem, accepted at `tolerance`; steps and halts are those of `outer`, whose
  /// monitor counts its points, too. It is also accepted, to end it, where that monitor accepts what `outer` has.
  Search(const ScaledProblem& problem, double tolerance, Search& outer);

  /// Counts what was done before this search began.
  void go_on_after(long sweeps, long products);
  /// A point that was measured then, and proposed where it passes; only where neither joints are measured nor answers
  /// projected.
  void resume(const Vector& r, double residual);

  /// From here on a point is accepted as its projection onto the cones, and by the projection's residual.
  void project_answers() { projects_ = true; }

  /// From here on an impulse that would pass or be the best is measured with its joints, which the search takes for
  /// satisfied. Where rounding of large impulses, or joints that contradict each other, leave them a velocity that
  /// shows beside the residual, contacts have it, too: then all rows are measured. `problem` must outlive the search.
  void measure_joints(const ContactProblem& problem);

  /// Takes note of r, whose scaled natural map is `residual`. True: accepted, stop.
  bool offer(const Vector& r, double residual);
  /// The same of an impulse whose joints are not those that its other rows would be completed with, measured with all
  /// rows; only after measure_joints().
  bool offer_impulse(Vector& impulse);
  void count_newton();
  void count_sweep();
  /// Out of time or of iterations.
  bool halted() const { return outer_ ? outer_->halted() : halted_; }
  bool accepted() const { return accepted_; }

  double tolerance() const { return tolerance_; }
  double best() const { return best_; }
  /// Of the points; an impulse that was offered as such is none.
  const Vector& best_point() const { return best_point_; }
  /// What the search found: the best impulse, the accepted one where there is one. Returns its residual, which is not
  /// best() where the impulse is projected and was not accepted.
  double write_answer(VectorRef impulse);
  long newton_steps() const { return newton_steps_; }
  long sweeps() const { return sweeps_; }
  long iterations() const { return newton_steps_ + sweeps_; }
  /// What works from here on, for the summary.
  void begin_stage(const char* name) { stage_ = name; }
  /// Alternates between two regularisations from attempt to attempt.
  bool odd_attempt() { return (attempts_++ & 1) != 0; }

  SolveStatus status() const;
  /// write_answer() and what there is to say of it.
  SolveSummary finish(VectorRef impulse);

 private:
  void hold_to_limit();
  /// What the monitor said, and whether it accepted.
  bool follow(Decision decision);
  /// Asks about the answer so far.
  bool observe();
  /// Of a search that works within this one: its points are measured, and the monitor may end this one between them.
  bool look_meanwhile();
  bool take(const Vector& r, double residual);
  /// Whether what was `found`, a point or an impulse that `best` holds the best of, ends the search.
  bool weigh(Vector& best, const Vector& found, double residual);
  double with_joints(const Vector& r, double residual);

  const ScaledProblem* problem_;
  long products_before_;
  double tolerance_;
  Criterion criterion_ = Criterion::own;
  Monitor* monitor_ = nullptr;
  Eigen::Map<Vector> impulse_{nullptr, 0};
  Search* outer_ = nullptr;
  long max_iterations_ = std::numeric_limits<long>::max();
  long newton_steps_ = 0;
  long sweeps_ = 0;
  long attempts_ = 0;
  const char* stage_ = "";
  long offers_ = 0;  ///< what the monitor counts: every point that was measured, those of inner searches included
  double best_ = std::numeric_limits<double>::infinity();
  Vector best_point_;
  bool projects_ = false;
  Vector projected_, velocity_;
  Vector best_impulse_;                     ///< if not empty, better than best_point_
  const ContactProblem* joints_ = nullptr;  ///< the problem whose joints are measured
  std::optional<gauss_seidel::OwnResiduals> whole_;
  bool accepted_ = false;
  bool halted_ = false;
  bool out_of_time_ = false;
};

}  // namespace conebench::cascade
