#include "runners/execute/cell_clock.hpp"

#include <algorithm>
#include <chrono>

namespace conebench {

namespace {

/// Of a problem, by a process that is watched for its cells, too.
constexpr double loading_s = 60.0;
/// Of a try, for the end of its process and the judge.
constexpr double answering_s = 1.0;
constexpr double min_told_s = 1e-3;

}  // namespace

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CellTime::CellTime(double limit_s) : CellTime(limit_s, 1.5 * limit_s + 2.0, 0.5) {}

double CellTime::told_s(double used_s) const { return std::max(left_s(used_s), min_told_s); }

double CellTime::end_s(int tries) const { return try_s_ * std::clamp(tries, 1, max_tries); }

// A cell that crashed is done once more.
double CellTime::hang_s() const { return loading_s + 2.0 * max_tries * (try_s_ + answering_s); }

double CellTime::command_s() const { return loading_s + try_s_; }

CellClock::CellClock(const CellTime& time, Clock clock) : time_(time), clock_(clock), began_(clock()) {}

void CellClock::exclude_start() { excused_s_ = clock_() - began_; }

double CellClock::elapsed_s() const { return clock_() - began_ - excused_s_; }

CellClock::Order CellClock::order(int tries) {
  const double elapsed = elapsed_s();
  if (given_ == Order::none && elapsed > time_.end_s(tries)) {
    ended_at_s_ = elapsed;
    return given_ = Order::end;
  }
  if (given_ == Order::end && elapsed > ended_at_s_ + time_.grace_s()) return given_ = Order::kill;
  return Order::none;
}

}  // namespace conebench
