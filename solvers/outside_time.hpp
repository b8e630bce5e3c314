#pragma once

#include <optional>

#include "solvers/monitor.hpp"

namespace conebench {

/// What one solve took where another process did it.
struct OutsideTime {
  double wall_s = 0.0;                ///< of that process alone: without files that the harness writes and reads
  double processor_s = 0.0;           ///< that it used
  std::optional<double> own_setup_s;  ///< as it says itself
  std::optional<double> own_solve_s;  ///< as it says itself
  bool own_ranks = false;             ///< its own times are the cell's
};

/// What one solve may use, for another process to be told; 0: not known.
struct OutsideLimits {
  double seconds = 0.0;
  long memory_mb = 0;
};

/// A monitor that times a solve by what the solver tells of another process; monitors of cells have it.
class OutsideTimed {
 public:
  virtual ~OutsideTimed() = default;
  void allow(const OutsideLimits& limits) { limits_ = limits; }
  const OutsideLimits& limits() const { return limits_; }
  /// Of the last try, before it is proposed. `harness_s`: what passed beside it for files and for the program's start,
  /// since the solve or the last try began; no deadline counts it.
  void took(const OutsideTime& time, double harness_s) {
    outside_ = time;
    exclude_time(harness_s);
  }
  /// Nothing where the solve was done in this process.
  const std::optional<OutsideTime>& outside() const { return outside_; }

 protected:
  virtual void exclude_time(double /*seconds*/) {}

 private:
  OutsideLimits limits_;
  std::optional<OutsideTime> outside_;
};

/// That of `monitor`; nullptr where nobody wants to know.
inline OutsideTimed* outside_timed(Monitor& monitor) { return dynamic_cast<OutsideTimed*>(&monitor); }

}  // namespace conebench
