#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>

namespace conebench {

/// Unmaps shared file mappings, so that stray writes of this process can't reach its parent's files.
void drop_shared_mappings();

/// Resident memory of a process now [MB]; 0: it has ended.
long resident_mb(pid_t process);

/// How long a process's first thread has waited for a processor since its start [s]; 0: not known.
double waited_seconds(pid_t process);

/// How many processes the system has killed for lack of memory since boot.
long out_of_memory_kills();

/// The last processor that this process may run on; −1: not known.
int last_allowed_processor();

/// Takes a processor from the calling process's affinity mask, if others are left.
void leave_processor(int processor);

/// Priority, scheduling policy, affinity and limits of this process at construction. A child may change them in its
/// parent, and later children would inherit the change.
class SchedulingState {
 public:
  SchedulingState();
  /// Restores them, as far as the system allows: without privileges a lowered priority or hard limit stays.
  void restore() const;

 private:
  int priority_ = 0;
  int policy_ = 0;
  cpu_set_t processors_{};
  std::array<rlimit, RLIM_NLIMITS> limits_{};
};

/// If `wanted`, this process does not preempt others when it wakes up (SCHED_BATCH), for the object's lifetime. Forked
/// processes keep the former policy.
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
