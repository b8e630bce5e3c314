#pragma once

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace conebench::testing {

/// While it lives and `when` holds, no child of the thread that made it gets the processor.
class StoppedChildren {
 public:
  explicit StoppedChildren(const std::atomic<bool>& when)
      : stopper_([this, &when, list = "/proc/self/task/" + std::to_string(gettid()) + "/children"] {
          while (!done_) {
            std::ifstream children(list);
            for (pid_t child = 0; when && children >> child;) kill(child, SIGSTOP);
            std::this_thread::yield();
          }
        }) {}
  ~StoppedChildren() {
    done_ = true;
    stopper_.join();
  }
  StoppedChildren(const StoppedChildren&) = delete;
  StoppedChildren& operator=(const StoppedChildren&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread stopper_;
};

}  // namespace conebench::testing
