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
/// The same of the times whose entry in `count` is true. Cold is the first in any case. If none counts, all do.
TimingRecord summarise_times(const std::vector<double>& seconds, const std::vector<bool>& count);

/// Processor time of the calling thread [s]. It is exact. The clock of the whole process is not: it moves in steps of
/// milliseconds once the process has a limit of processor time.
double processor_seconds();
/// Whether a run used at least 98 % of the time that passed, so that other processes did not interrupt it. True if the
/// difference is less than the clock's own cost.
bool had_its_processor(double processor_s, double passed_s);

/// This process's use of the processor since construction, over all threads, judging included.
class ProcessorUse {
 public:
  ProcessorUse();
  double share() const;           ///< processor time divided by time passed, at most 1 for each thread
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

/// The times of a cell's runs. A run counts if it had the processor, and did not share the core: its probe is within 10
/// % of the minimum. If no run does, all count.
class RunTimes {
 public:
  /// `min_probe_s`: known from elsewhere, or 0.
  explicit RunTimes(double min_probe_s = 0.0) : min_probe_s_(min_probe_s) {}

  void add(const RunTime& run);
  /// Whether a solved cell runs once more, `passed_s` after the first run. It does until enough runs count and took
  /// long enough, or their times have settled; on a shared core for at most ten times as long. A solver that works in
  /// other threads has no run that counts, and does not run longer for it. False if one more run, as long as the
  /// longest, would exceed `budget` seconds in total.
  bool another(const CellRequest::Repeats& repeats, double budget, double passed_s);

  std::size_t size() const { return runs_.size(); }
  int counted() const { return counted_; }  ///< how many count
  double min_probe() const { return min_probe_s_; }
  TimingRecord setup() const;
  TimingRecord solve() const;
  TimingRecord total() const;
  /// Median of a time that another process took; nothing where a run has none.
  std::optional<double> outside(std::optional<double> (*seconds)(const OutsideTime&)) const;

 private:
  bool settled(const CellRequest::Repeats& repeats);
  bool shared(const RunTime& run) const;
  bool counts(const RunTime& run) const { return run.had_processor && !shared(run); }
  template <class Seconds>
  TimingRecord summary(Seconds seconds) const;

  std::vector<RunTime> runs_;
  double min_probe_s_;
  bool was_shared_ = false;  ///< in some run
  int counted_ = 0;
  int next_look_ = 0;       ///< count at which settled() looks
  double counted_s_ = 0.0;  ///< of the runs that count
  double spent_s_ = 0.0;
  double max_s_ = 0.0;
};

}  // namespace conebench
