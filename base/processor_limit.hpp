#pragma once

#include <sys/types.h>

#include <chrono>

namespace conebench {

/// A limit of a process's processor time from now on, so that the load of the machine does not count. If the process
/// does not even get that much time, its behaviour is unknown.
class ProcessorLimit {
 public:
  /// Wall clock over processor time, as on a core that ten share.
  static constexpr double max_wait = 10.0;

  ProcessorLimit(pid_t process, double seconds);

  double seconds() const { return seconds_; }
  /// Processor time used. 0: the process has ended. If the system does not report it, the elapsed time.
  double used_s() const;
  double waited_s() const;  ///< by the wall clock
  bool used_up() const { return used_s() >= seconds_; }
  /// Whether `max_wait` times as long has passed. If the limit is not used up then, the process was kept waiting.
  bool overdue() const { return waited_s() >= max_wait * seconds_; }
  /// Time until used_up() or overdue() can hold at the earliest.
  std::chrono::milliseconds left() const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_;
  clockid_t clock_{};
  bool has_clock_ = false;
  double used_before_s_ = 0.0;
};

}  // namespace conebench
