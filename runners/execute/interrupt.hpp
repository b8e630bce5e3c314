#pragma once

#include <atomic>

namespace conebench {

/// During its lifetime the first SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE sets flag(), and a second one ends the
/// process. A second SIGPIPE does not: each line to a closed pipe raises one. SIGHUP and SIGPIPE stay ignored if they
/// were, as under nohup. Afterwards SIGPIPE is ignored, so that the exit code reports the work, not whether its output
/// was read.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  const std::atomic<bool>& flag() const;
};

}  // namespace conebench
