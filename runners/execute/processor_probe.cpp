#include "runners/execute/processor_probe.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "runners/execute/cell_clock.hpp"

namespace conebench {

namespace {

constexpr double half_minute_s = 30.0;

double lesser(double a, double b) { return a == 0.0 ? b : b == 0.0 ? a : std::min(a, b); }

}  // namespace

double probe_processor() {
  constexpr std::size_t length = 256;
  constexpr std::size_t lanes = 8;  // independent sums, so that the units and not their delay are what counts
  constexpr int passes = 160;
  static std::array<double, length> values = [] {
    std::array<double, length> initial{};
    for (std::size_t i = 0; i < length; ++i) initial[i] = 1e-3 * static_cast<double>(i);
    return initial;
  }();
  const double begin = monotonic_seconds();
  std::array<double, lanes> sums{};
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < length; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += values[i + lane] * values[(i + lane) ^ 64];
    }
  }
  // Kept for the next probe, so that no compiler can leave the work out.
  values[0] = 1e-30 * std::accumulate(sums.begin(), sums.end(), 0.0);
  return monotonic_seconds() - begin;
}

void MinimumProbe::see(double probe_s, double now_s) {
  if (probe_s <= 0.0) return;
  if (now_s - since_ > half_minute_s) {
    before_ = now_s - since_ > 2.0 * half_minute_s ? 0.0 : now_;
    now_ = 0.0;
    since_ = now_s;
  }
  now_ = lesser(now_, probe_s);
}

double MinimumProbe::min_s() const { return lesser(now_, before_); }

}  // namespace conebench
