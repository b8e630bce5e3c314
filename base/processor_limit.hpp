#pragma once

#include <sys/types.h>

#include <chrono>

namespace conebench {

/// A limit of a process's own processor time, so that a busy machine does not count against what it does. Where the
/// machine does not give it that much, nothing is known of what it does.
class ProcessorLimit {
 public:
  /// Wall clock over processor time, as on a core that ten share.
  static constexpr double max_wait = 10.0;

  ProcessorLimit(pid_t process, double seconds);

  double seconds() const { return seconds_; }
  /// Of the processor; 0 where the process is gone, the time waited where the system never told.
  double used_s() const;
  double waited_s() const;  ///< by the wall clock
  bool used_up() const { return used_s() >= seconds_; }
  /// `max_wait` times as long has passed; where it is not used up, the process was kept waiting.
  bool overdue() const { return waited_s() >= max_wait * seconds_; }
  /// Until one of the two can hold at the earliest.
  std::chrono::milliseconds left() const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_;
  clockid_t clock_{};
  bool has_clock_ = false;
};

}  // namespace conebench
