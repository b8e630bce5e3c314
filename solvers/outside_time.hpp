#pragma once

#include <optional>

#include "solvers/monitor.hpp"

namespace conebench {

/// Time of a solve in another process.
struct OutsideTime {
  double wall_s = 0.0;                ///< of that process only, without the files that the harness writes and reads
  double processor_s = 0.0;           ///< that it used
  std::optional<double> own_setup_s;  ///< as the process reports it
  std::optional<double> own_solve_s;  ///< as the process reports it
  bool own_ranks = false;             ///< its own times are the cell's
};

/// Limits of a solve, for another process. 0: not known.
struct OutsideLimits {
  double seconds = 0.0;
  long memory_mb = 0;
};

/// A monitor that takes the time of another process from the solver. Monitors of cells implement it.
class OutsideTimed {
 public:
  virtual ~OutsideTimed() = default;
  void allow(const OutsideLimits& limits) { limits_ = limits; }
  const OutsideLimits& limits() const { return limits_; }
  /// Sets the time of the last attempt, before its iterate is proposed. `harness_s`: time since the solve or the last
  /// attempt began that went into files and the program's start; deadlines do not count it.
  void took(const OutsideTime& time, double harness_s) {
    outside_ = time;
    exclude_time(harness_s);
  }
  /// nullopt: the solve ran in this process.
  const std::optional<OutsideTime>& outside() const { return outside_; }

 protected:
  virtual void exclude_time(double /*seconds*/) {}

 private:
  OutsideLimits limits_;
  std::optional<OutsideTime> outside_;
};

/// nullptr if `monitor` does not implement it.
inline OutsideTimed* outside_timed(Monitor& monitor) { return dynamic_cast<OutsideTimed*>(&monitor); }

}  // namespace conebench
