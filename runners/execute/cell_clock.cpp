#include "runners/execute/cell_clock.hpp"

#include <algorithm>
#include <chrono>

namespace conebench {

namespace {

/// For a worker to load a problem.
constexpr double loading_s = 60.0;
/// For each attempt: the end of its process, and the judge.
constexpr double answering_s = 1.0;
constexpr double min_given_s = 1e-3;

}  // namespace

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CellTime::CellTime(double limit_s) : CellTime(limit_s, 1.5 * limit_s + 2.0, 0.5) {}

double CellTime::given_s(double used_s) const { return std::max(left_s(used_s), min_given_s); }

double CellTime::end_s(int attempts) const { return attempt_s_ * std::clamp(attempts, 1, max_attempts); }

// Twice: a cell that crashed is run once more.
double CellTime::hang_s() const { return loading_s + 2.0 * max_attempts * (attempt_s_ + answering_s); }

CellClock::CellClock(const CellTime& time, Clock clock) : time_(time), clock_(clock), began_(clock()) {}

void CellClock::exclude_start() { excluded_s_ = clock_() - began_; }

double CellClock::elapsed_s() const { return clock_() - began_ - excluded_s_; }

CellClock::Order CellClock::order(int attempts) {
  const double elapsed = elapsed_s();
  if (given_ == Order::none && elapsed > time_.end_s(attempts)) {
    ended_at_s_ = elapsed;
    return given_ = Order::end;
  }
  if (given_ == Order::end && elapsed > ended_at_s_ + time_.grace_s()) return given_ = Order::kill;
  return Order::none;
}

}  // namespace conebench
