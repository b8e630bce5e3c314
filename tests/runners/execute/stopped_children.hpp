#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>

namespace conebench::testing {

/// While it lives and `when` holds, what this process forks gets no processor. One at a time.
class StoppedChildren {
 public:
  explicit StoppedChildren(const std::atomic<bool>& when) {
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
      if (when_ != nullptr && *when_) raise(SIGSTOP);
    });
    when_ = &when;
  }
  ~StoppedChildren() { when_ = nullptr; }
  StoppedChildren(const StoppedChildren&) = delete;
  StoppedChildren& operator=(const StoppedChildren&) = delete;

 private:
  static inline const std::atomic<bool>* when_ = nullptr;
};

}  // namespace conebench::testing
