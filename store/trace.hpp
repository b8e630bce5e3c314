#pragma once

#include <limits>
#include <optional>
#include <vector>

namespace conebench {

/// A checked iterate of a cell's first run.
struct TracePoint {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  double iteration = 0.0;
  double seconds = 0.0;           ///< of set-up and solve until then, by the clock that times the run
  double own_residual = unknown;  ///< the solver's own measure
  double residual = unknown;      ///< the verdict's, in double

  bool operator==(const TracePoint&) const = default;
};

/// By iteration. What the process that solves reports: nothing is ranked or judged by it.
using Trace = std::vector<TracePoint>;

/// As it is stored and sent: the four numbers of each point, in single precision, one point after the other.
std::vector<double> values_of_trace(const Trace& trace);
/// nullopt: no values_of_trace() made it. Iterations ascend, and times don't go back.
std::optional<Trace> trace_of_values(const std::vector<double>& values);

}  // namespace conebench
