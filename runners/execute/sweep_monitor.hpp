#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/course.hpp"
#include "metrics/residuals.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/cell_clock.hpp"
#include "solvers/attempts.hpp"
#include "solvers/monitor.hpp"
#include "solvers/outside_time.hpp"
#include "solvers/solver.hpp"
#include "store/trace.hpp"

namespace conebench {

/// How many checks of the verdict the schedule has in so many iterations.
long scheduled_checks(long iterations);

/// Where the monitor of a first run ended it, and parts of it before. A repeat ends there, too, without a judge.
struct Stops {
  std::vector<long> accepted_parts = {};     ///< iterations, ascending
  long at = -1;                              ///< iteration
  Decision decision = Decision::keep_going;  ///< keep_going: the solver ended by itself

  /// The decision on this iterate.
  Decision on(long iteration) const;
  /// The first of them that is `iteration` or comes after it; the largest number where there is none.
  long next(long iteration) const;
};

/// Watches the first run of a cell. It checks the verdict on a schedule, and the deadline by a clock that it seldom
/// reads.
///
/// Each attempt (start_over) has the whole budget. Reading the clock never moves the checks of the verdict, so which
/// iterate is accepted does not depend on the machine's speed. An iterate that passes after the deadline is not
/// accepted.
class SweepMonitor final : public Monitor, public Attempts, public OutsideTimed {
 public:
  /// `verdict`: null where the monitor may not accept (stop_by `solver`). `budget`: seconds of solve time from start()
  /// on; checks of the verdict count towards it only where `paid`. `last_iteration`: checked whatever the schedule
  /// is.
  SweepMonitor(Verdict* verdict, double tolerance, double budget, bool paid, long last_iteration,
               Clock clock = monotonic_seconds);

  /// Call right before Solver::solve.
  void start();

  /// Checks the verdict only if the solver proposes an iterate. For a solver that measures the verdict itself.
  void judge_proposals_only() {
    scheduled_ = false;
    next_verdict_ = std::numeric_limits<long>::max();
  }

  /// A proposed iterate whose verdict in double is up to open_verdict times the tolerance passes if `call` returns
  /// true. The time of `call` is charged to nobody.
  void resolve_by(std::function<bool(ConstVectorRef)> call) { resolve_ = std::move(call); }

  /// Keeps trace() from now on: of iterates at which the verdict is checked; of a solver that measures the verdict
  /// itself, those at which the clock is read. Not of parts (turn_to), and of the last attempt alone.
  void follow();
  const Trace& trace() const { return trace_; }

  /// For a repeat of a run that was stopped at `iteration`: nothing is checked before.
  void begin_at(long iteration) { next_ = next_verdict_ = next_clock_ = iteration; }

  void start_over() override;
  double verdict_ratio() const override { return verdict_ratio_; }
  void at_each_new_attempt(std::function<void()> call) { new_attempt_ = std::move(call); }
  /// Checks the verdict now. The schedule goes on from here.
  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override;
  /// Each part has a schedule of its own. Making the part's verdict counts as a check of it.
  void turn_to(const ProblemPart* part, long begun) override;

  /// Where and how the solve was stopped by this monitor.
  const Stops& stops() const { return stops_; }
  Decision decision() const { return stops_.decision; }
  long stopped_at() const { return stops_.at; }
  /// Seconds spent on the verdict.
  double judge_seconds() const { return judge_seconds_; }
  /// Seconds spent on attempts before the last start_over(), their checks of the verdict included.
  double thrown_away_seconds() const { return thrown_away_seconds_; }
  int attempts() const { return attempts_; }
  /// Checks of the verdict in the last attempt.
  long checks() const { return checks_; }
  /// Seconds on the verdict in the last attempt if they count as solve time (`paid`), else 0.
  double paid_seconds() const { return paid_ ? judge_seconds_ - judge_seconds_before_ : 0.0; }
  /// Seconds in the function of resolve_by().
  double resolving_seconds() const { return resolving_seconds_; }
  /// Seconds since start() that are not solve time: earlier attempts, resolve_by(), and the verdict unless `paid`.
  double untimed_seconds() const {
    return thrown_away_seconds_ + resolving_seconds_ + (paid_ ? 0.0 : judge_seconds_ - judge_seconds_before_);
  }
  /// Reads of the clock, for tests.
  long clock_reads() const { return clock_reads_; }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override {
    return check_iterate(iteration, impulse, own_residual, false);
  }
  Decision check_iterate(long iteration, ConstVectorRef impulse, double own_residual, bool proposed);
  void write_down(const TracePoint& point);
  void exclude_time(double seconds) override { started_ += seconds; }
  double now();
  Decision stop(long iteration, Decision decision);
  Decision accept(long iteration);

  Verdict* verdict_;
  double tolerance_;
  double budget_;
  bool paid_;
  long last_allowed_;
  long begun_ = 0;  ///< iterations before the part's
  bool in_part_ = false;
  Clock clock_;
  double started_ = 0.0;
  double judge_seconds_ = 0.0;
  double judge_seconds_before_ = 0.0;  ///< of earlier attempts
  double thrown_away_seconds_ = 0.0;
  double resolving_seconds_ = 0.0;
  int attempts_ = 1;
  long checks_ = 0;
  bool scheduled_ = true;
  double last_elapsed_ = 0.0;
  double verdict_ratio_ = std::numeric_limits<double>::quiet_NaN();
  long last_iteration_ = 0;
  long next_verdict_;
  long next_clock_ = 1;
  long clock_reads_ = 0;
  Stops stops_;
  bool follows_ = false;
  Trace trace_;
  std::function<void()> new_attempt_;
  std::function<bool(ConstVectorRef)> resolve_;
};

/// Stops a repeat where the first run was stopped, without judging: what is timed is the solver alone.
class ReplayMonitor final : public Monitor, public OutsideTimed {
 public:
  explicit ReplayMonitor(Stops stops);
  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override;

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override;
  Stops stops_;
};

/// Follows a solve iterate by iterate up to where the first run was stopped. Writes one CSV line an iteration:
/// iteration, seconds of solve without the trace's own cost, own_residual, then every residual of the judge. An unknown
/// residual is an empty field.
class TraceMonitor final : public Monitor, public OutsideTimed {
 public:
  TraceMonitor(const ContactProblem& problem, Stops stops, Clock clock = monotonic_seconds);
  void start();
  const std::string& csv() const { return csv_; }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override;

  const ContactProblem& problem_;
  Stops stops_;
  Clock clock_;
  double resumed_ = 0.0;
  double elapsed_ = 0.0;
  std::string csv_;
};

/// Follows a solve as TraceMonitor does, and sees what an IterateWatch wants of it.
class CourseMonitor final : public Monitor, public OutsideTimed {
 public:
  CourseMonitor(IterateWatch watch, Stops stops) : watch_(std::move(watch)), stops_(std::move(stops)) {}
  SeenIterates finish() { return watch_.finish(); }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override;

  IterateWatch watch_;
  Stops stops_;
};

/// As text, for CellRun::trace, and back; nothing where the text is none.
std::string to_text(const SeenIterates& seen);
std::optional<SeenIterates> read_seen_iterates(const std::string& text);

}  // namespace conebench
