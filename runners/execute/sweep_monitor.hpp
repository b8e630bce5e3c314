#pragma once

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "metrics/residuals.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/cell_clock.hpp"
#include "solvers/monitor.hpp"
#include "solvers/outside_time.hpp"
#include "solvers/solver.hpp"
#include "solvers/tries.hpp"

namespace conebench {

/// The iteration after `iteration` at which the verdict is looked at: 1, 2, 3, …, then ×1.1 (DESIGN 4).
long next_check(long iteration);
/// How many looks at the verdict the schedule has in so many iterations.
long scheduled_checks(long iterations);

/// A verdict in double that is no more than so many times above the tolerance may be the rounding of one that passes.
inline constexpr double open_verdict = 10.0;

/// Watches the first run of a cell: the verdict on its schedule, the deadline by a clock that it reads seldom.
///
/// The budget is that of each try (start_over). The looks at the clock never move the looks at the verdict, so which
/// iterate is accepted does not depend on the machine's speed; what passes after the deadline is not accepted.
class SweepMonitor final : public Monitor, public Tries, public OutsideTimed {
 public:
  /// `verdict`: null where the monitor may not accept (criterion `own`). `budget`: seconds of solve time from start()
  /// on; looks at the verdict count towards it only where `paid`. `last_iteration`: looked at whatever the schedule
  /// says.
  SweepMonitor(Verdict* verdict, double tolerance, double budget, bool paid, long last_iteration,
               Clock clock = monotonic_seconds);

  /// Call right before Solver::solve.
  void start();

  /// Looks at the verdict only where the solver proposes an iterate: for one that measures the verdict itself.
  void judge_proposals_only() {
    scheduled_ = false;
    next_verdict_ = std::numeric_limits<long>::max();
  }

  /// What is proposed and up to ten times above the tolerance in double is passed where `call` says so. What that takes
  /// is nobody's.
  void settle_by(std::function<bool(ConstVectorRef)> call) { settle_ = std::move(call); }

  /// For a repeat of a run that was stopped at `iteration`: nothing is due before.
  void begin_at(long iteration) { next_ = next_verdict_ = next_clock_ = iteration; }

  void start_over() override;
  double verdict_ratio() const override { return verdict_ratio_; }
  void at_each_new_try(std::function<void()> call) { new_try_ = std::move(call); }
  /// Looks at the verdict now, and goes on with the schedule from here.
  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override;

  /// Where and how the solve was stopped by this monitor; keep_going where it was not.
  Decision decision() const { return decision_; }
  long stopped_at() const { return stopped_at_; }
  /// Seconds spent on the verdict.
  double judge_seconds() const { return judge_seconds_; }
  /// Seconds spent on tries before the last start_over(), their looks at the verdict included.
  double thrown_away_seconds() const { return thrown_away_seconds_; }
  int tries() const { return tries_; }
  /// Looks at the verdict in the last try.
  long checks() const { return checks_; }
  /// Seconds on the verdict of the last try, where those are the solve's.
  double paid_seconds() const { return paid_ ? judge_seconds_ - judge_seconds_before_ : 0.0; }
  /// Seconds on what settled a verdict.
  double settling_seconds() const { return settling_seconds_; }
  /// Seconds since start() that are not the solve's: thrown away, to settle a verdict, and on it where that is not
  /// paid.
  double untimed_seconds() const {
    return thrown_away_seconds_ + settling_seconds_ + (paid_ ? 0.0 : judge_seconds_ - judge_seconds_before_);
  }
  /// Reads of the clock, for tests.
  long clock_reads() const { return clock_reads_; }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double) override {
    return check_iterate(iteration, impulse, false);
  }
  Decision check_iterate(long iteration, ConstVectorRef impulse, bool proposed);
  void exclude_time(double seconds) override { started_ += seconds; }
  double now();
  Decision stop(long iteration, Decision decision);

  Verdict* verdict_;
  double tolerance_;
  double budget_;
  bool paid_;
  long last_allowed_;
  Clock clock_;
  double started_ = 0.0;
  double judge_seconds_ = 0.0;
  double judge_seconds_before_ = 0.0;  ///< those of tries that were thrown away
  double thrown_away_seconds_ = 0.0;
  double settling_seconds_ = 0.0;
  int tries_ = 1;
  long checks_ = 0;
  bool scheduled_ = true;
  double last_elapsed_ = 0.0;
  double verdict_ratio_ = std::numeric_limits<double>::quiet_NaN();
  long last_iteration_ = 0;
  long next_verdict_;
  long next_clock_ = 1;
  long stopped_at_ = -1;
  long clock_reads_ = 0;
  Decision decision_ = Decision::keep_going;
  std::function<void()> new_try_;
  std::function<bool(ConstVectorRef)> settle_;
};

/// Stops a repeat where the first run was stopped, without judging: what is timed is the solver alone.
class ReplayMonitor final : public Monitor, public OutsideTimed {
 public:
  ReplayMonitor(long stop_at, Decision decision);
  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override;

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override;
  long stop_at_;
  Decision decision_;
};

/// Follows a solve iterate by iterate up to where the first run was stopped. Writes one CSV line an iteration:
/// iteration, seconds (of solve, the trace's own cost left out), own_residual, then every residual of the judge;
/// a residual that is not known is an empty field.
class TraceMonitor final : public Monitor, public OutsideTimed {
 public:
  TraceMonitor(const ContactProblem& problem, long stop_at, Decision decision, Clock clock = monotonic_seconds);
  void start();
  const std::string& csv() const { return csv_; }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override;

  const ContactProblem& problem_;
  long stop_at_;
  Decision decision_;
  Clock clock_;
  double resumed_ = 0.0;
  double elapsed_ = 0.0;
  std::string csv_;
};

}  // namespace conebench
