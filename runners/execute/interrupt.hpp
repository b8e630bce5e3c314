#pragma once

#include <atomic>

namespace conebench {

/// While it lives, the first SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE sets flag(), and a second one ends the process
/// (but SIGPIPE: whoever read has gone, and every further line would send one). SIGHUP and SIGPIPE stay ignored
/// where they were, as under nohup. Afterwards SIGPIPE is ignored, so that the exit code says how the work
/// ended, not how much of its report was read.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  const std::atomic<bool>& flag() const;
};

}  // namespace conebench
