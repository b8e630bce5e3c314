#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runners/execute/solve_cell.hpp"
#include "solvers/outside_time.hpp"
#include "store/records.hpp"

namespace conebench {

/// Cold (the first), minimum, median and median absolute deviation of at least one time.
TimingRecord summarise_times(const std::vector<double>& seconds);
/// The same of those that `count`, one a time, but for the cold one; of all where none counts.
TimingRecord summarise_times(const std::vector<double>& seconds, const std::vector<bool>& count);

/// Processor time that the calling thread has used [s]. Exact, where the clock of the whole process moves in steps of
/// milliseconds once the process has a limit on its processor time.
double processor_seconds();
/// Whether a run that used so much of the time that passed was not interrupted by other processes (98 %). What is short
/// of the clock's own cost says nothing and counts.
bool had_its_processor(double processor_s, double passed_s);

/// What this process had of its processor since the object was made: over all threads, judging included.
class ProcessorUse {
 public:
  ProcessorUse();
  double share() const;           ///< processor time by time passed, at most 1 for each thread
  std::int64_t switches() const;  ///< times that the system took the processor away

 private:
  double passed_s_;
  double used_s_;
  std::int64_t switches_;
};

/// One set-up and one solve, timed.
struct RunTime {
  double setup_s = 0.0;
  double solve_s = 0.0;
  bool had_processor = true;
  double probe_s = 0.0;  ///< the slower of probe_processor() before and after; 0: not probed
  std::optional<OutsideTime> outside = {};
  double total() const { return setup_s + solve_s; }
};

/// The times of a cell's runs. Those count that had the processor, and its core, for themselves: whose probe is within
/// 10 % of the least. Where none did, all count.
class RunTimes {
 public:
  /// `min_probe_s`: known from elsewhere, or 0.
  explicit RunTimes(double min_probe_s = 0.0) : min_probe_s_(min_probe_s) {}

  void add(const RunTime& run);
  /// Whether a solved cell runs once more (DESIGN 6), `passed_s` after the first: until enough runs count and took long
  /// enough; where the core was shared, for ten times as long at most. A solver that leaves its work to other threads
  /// has no run that counts, and is none the longer. Never where another as long as the longest would exceed `budget`
  /// seconds of all runs.
  bool another(const CellRequest::Repeats& repeats, double budget, double passed_s) const;

  std::size_t size() const { return runs_.size(); }
  int counted() const { return counted_; }  ///< how many count
  double min_probe() const { return min_probe_s_; }
  TimingRecord setup() const;
  TimingRecord solve() const;
  TimingRecord total() const;
  /// Median of a time that another process took; nothing where a run has none.
  std::optional<double> outside(std::optional<double> (*seconds)(const OutsideTime&)) const;

 private:
  bool shared(const RunTime& run) const;
  bool counts(const RunTime& run) const { return run.had_processor && !shared(run); }
  template <class Seconds>
  TimingRecord summary(Seconds seconds) const;

  std::vector<RunTime> runs_;
  double min_probe_s_;
  bool was_shared_ = false;  ///< in some run
  int counted_ = 0;
  double counted_s_ = 0.0;  ///< what those that count took
  double spent_s_ = 0.0;
  double max_s_ = 0.0;
};

}  // namespace conebench
