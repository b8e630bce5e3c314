#pragma once

#include <cstdint>
#include <vector>

#include "runners/execute/solve_cell.hpp"
#include "runners/store/records.hpp"

namespace conebench {

/// Cold (the first), minimum, median and median absolute deviation of at least one time.
TimingRecord summarise_times(const std::vector<double>& seconds);
/// The same of those that `count`, one a time, but for the cold one; of all where none counts.
TimingRecord summarise_times(const std::vector<double>& seconds, const std::vector<bool>& count);

/// Processor time that this process has used, all threads [s].
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

/// Whether a solved cell runs once more after runs of these lengths (DESIGN 6): until there are enough and they took
/// long enough, unless another as long as the longest would exceed `budget` seconds in all.
bool another_repeat(const CellRequest::Repeats& repeats, double budget, const std::vector<double>& seconds);

}  // namespace conebench
