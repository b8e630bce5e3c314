#pragma once

namespace conebench {

/// Seconds since some fixed instant, never going back.
using Clock = double (*)();
double monotonic_seconds();

/// A solver that tightens a stop rule of its own (Attempts::start_over) gets the time limit anew for each of so many
/// attempts. Later attempts share the last one's.
inline constexpr int max_attempts = 5;

/// A cell's time limit and every deadline that follows from it, in seconds of the wall clock unless stated otherwise
/// (docs/suites.md, Time limits).
class CellTime {
 public:
  explicit CellTime(double limit_s);
  /// With another deadline of an attempt, and another grace period.
  CellTime(double limit_s, double attempt_s, double grace_s)
      : limit_s_(limit_s), attempt_s_(attempt_s), grace_s_(grace_s) {}

  /// For a process that solves the cell twice.
  CellTime twice() const { return {limit_s_, 2.0 * attempt_s_, grace_s_}; }

  /// What `used_s` leaves of the limit.
  double left_s(double used_s) const { return limit_s_ - used_s; }
  /// What a solver gets as its limit after `used_s`: left_s(), but never 0.
  double given_s(double used_s) const;
  /// Whether set-up and solve of one run exceeded the limit. Such an answer is judged, but the cell is not solved.
  bool is_late(double total_s) const { return total_s > limit_s_; }

  /// Deadline of one attempt, with its set-up, checks of the verdict and repeats. It is well above the limit, because
  /// solvers check the limit between iterations only, and because judging does not count.
  double attempt_s() const { return attempt_s_; }
  /// Deadline of a process that has begun so many attempts. It is asked to end then.
  double end_s(int attempts) const;
  /// How long such a process has to end before it is killed.
  double grace_s() const { return grace_s_; }
  /// Limit of processor time, which the system enforces.
  double processor_s() const { return max_attempts * attempt_s_ + grace_s_ + 2.0; }
  /// A worker that enforces these limits for one problem's cells, and is silent for so long, counts as hung.
  double hang_s() const;

 private:
  double limit_s_, attempt_s_, grace_s_;
};

/// Clock of a cell's process, for the process that watches it.
class CellClock {
 public:
  enum class Order { none, end, kill };

  explicit CellClock(const CellTime& time, Clock clock = monotonic_seconds);

  /// Excludes the time until now, in which a program was started for the cell.
  void exclude_start();
  /// Since construction, without the time that exclude_start() excludes.
  double elapsed_s() const;
  /// What to do now to a process that has begun so many attempts. Each order is given once.
  Order order(int attempts);

 private:
  CellTime time_;
  Clock clock_;
  double began_;
  double excluded_s_ = 0.0;
  Order given_ = Order::none;
  double ended_at_s_ = 0.0;
};

}  // namespace conebench
