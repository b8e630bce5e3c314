#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>

namespace conebench {

/// Unmaps files that are mapped shared, so that a process gone wild can't write into its parent's.
void drop_shared_mappings();

/// Resident memory of a process now; 0 where it is gone.
long resident_mb(pid_t process);

/// How long its first thread has waited for a processor since its start [s]; 0 where that can't be told.
double waited_seconds(pid_t process);

/// Times that the system has killed a process for want of memory, since boot.
long out_of_memory_kills();

/// The last processor that this process may run on; −1 where that can't be told.
int last_allowed_processor();

/// Keeps the calling process off a processor, where it may run on others.
void leave_processor(int processor);

/// Priority, scheduling policy, processors and limits of this process as they were when the object was made. A child
/// may change those of its parent, and later children would inherit them.
class SchedulingState {
 public:
  SchedulingState();
  /// As far as the system allows: without privileges a priority or a hard limit that was lowered stays so.
  void restore() const;

 private:
  int priority_ = 0;
  int policy_ = 0;
  cpu_set_t processors_{};
  std::array<rlimit, RLIM_NLIMITS> limits_{};
};

/// While it lives, and where `wanted`, this process does not push aside another that runs when something comes for it
/// (SCHED_BATCH). Forked processes are as before.
class BatchScheduling {
 public:
  explicit BatchScheduling(bool wanted);
  ~BatchScheduling();
  BatchScheduling(const BatchScheduling&) = delete;
  BatchScheduling& operator=(const BatchScheduling&) = delete;

 private:
  bool changed_;
};

}  // namespace conebench
