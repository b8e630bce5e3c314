#pragma once

#include <cstdint>
#include <vector>

#include "runners/execute/solve_cell.hpp"
#include "runners/store/records.hpp"

namespace conebench {

/// Cold (the first), minimum, median and median absolute deviation of at least one time.
TimingRecord summarise_times(const std::vector<double>& seconds);

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
