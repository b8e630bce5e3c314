#include "store/trace.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace conebench {

namespace {

constexpr std::size_t numbers = 4;  // of a point
/// A trace is thinned to fewer (SweepMonitor).
constexpr std::size_t max_points = 1024;

/// To the 24 bits of a float, by the bits: GCC 12 leaves a conversion there and back out where it vectorises.
double single(double value) {
  constexpr std::uint64_t lost = (std::uint64_t{1} << 29U) - 1U;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return std::isfinite(value) ? std::bit_cast<double>((bits + (lost + 1U) / 2U) & ~lost) : value;
}

}  // namespace

std::vector<double> values_of_trace(const Trace& trace) {
  std::vector<double> values;
  values.reserve(numbers * trace.size());
  for (const TracePoint& point : trace) {
    values.insert(values.end(),
                  {single(point.iteration), single(point.seconds), single(point.own_residual), single(point.residual)});
  }
  return values;
}

std::optional<Trace> trace_of_values(const std::vector<double>& values) {
  if (values.size() % numbers != 0 || values.size() / numbers > max_points) return std::nullopt;
  Trace trace;
  trace.reserve(values.size() / numbers);
  for (std::size_t i = 0; i < values.size(); i += numbers) {
    const TracePoint point{values[i], values[i + 1], values[i + 2], values[i + 3]};
    const TracePoint before = trace.empty() ? TracePoint{} : trace.back();
    if (!(point.iteration >= before.iteration && point.seconds >= before.seconds) || std::isinf(point.iteration) ||
        std::isinf(point.seconds)) {
      return std::nullopt;
    }
    trace.push_back(point);
  }
  return trace;
}

}  // namespace conebench
