#pragma once

namespace conebench {

/// Seconds since some fixed instant, never going back.
using Clock = double (*)();
double monotonic_seconds();

/// Tries of a solver that tightens a stop rule of its own (Tries::start_over) which get the limit each; later ones
/// share it.
inline constexpr int max_tries = 5;

/// A cell's limit of time and all that follows from it, in seconds of the wall clock where nothing else is said
/// (docs/suites.md, Time limits).
class CellTime {
 public:
  explicit CellTime(double limit_s);
  /// With a time of its own after which a try is ended, and one to react to that.
  CellTime(double limit_s, double try_s, double grace_s) : limit_s_(limit_s), try_s_(try_s), grace_s_(grace_s) {}

  /// Of a process that does the same cell twice.
  CellTime twice() const { return {limit_s_, 2.0 * try_s_, grace_s_}; }

  /// Of the limit, after `used_s`.
  double left_s(double used_s) const { return limit_s_ - used_s; }
  /// The same for a solver to be told, which is never nothing.
  double told_s(double used_s) const;
  /// Whether set-up and solve of one run took too long: its answer is judged, but not solved.
  bool is_late(double total_s) const { return total_s > limit_s_; }

  /// Of each try, set-up, looks at the verdict and repeats included. Well above the limit, since solvers look at the
  /// deadline between iterations and judging does not count.
  double try_s() const { return try_s_; }
  /// After which a process that has begun so many tries is told to end.
  double end_s(int tries) const;
  /// After which one that was told is killed.
  double grace_s() const { return grace_s_; }
  /// Of the processor, which the system keeps.
  double processor_s() const { return max_tries * try_s_ + grace_s_ + 2.0; }
  /// After which a process that keeps these limits for the cells of one problem, and does not answer, hangs.
  double hang_s() const;
  /// Of a process that loads the problem and solves it once, in one try.
  double command_s() const;

 private:
  double limit_s_, try_s_, grace_s_;
};

/// The clock of one process of a cell, for whoever watches it.
class CellClock {
 public:
  enum class Order { none, end, kill };

  explicit CellClock(const CellTime& time, Clock clock = monotonic_seconds);

  /// What has passed until now is not the cell's: a program is started for it.
  void exclude_start();
  /// Since the object was made, without what was excused.
  double elapsed_s() const;
  /// What is to be done now to a process that has begun so many tries: each order is given once.
  Order order(int tries);

 private:
  CellTime time_;
  Clock clock_;
  double began_;
  double excused_s_ = 0.0;
  Order given_ = Order::none;
  double ended_at_s_ = 0.0;
};

}  // namespace conebench
