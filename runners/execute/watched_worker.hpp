#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/processor_limit.hpp"
#include "runners/execute/wire.hpp"
#include "runners/execute/worker.hpp"

namespace conebench {

/// How a worker process ended.
struct WorkerEnd {
  bool by_us = false;                  ///< killed by its watcher, for `why`
  bool starved = false;                ///< by us, because the machine kept it waiting; its task can be run again
  bool terminated_externally = false;  ///< by a signal that is neither ours nor raised by its own fault
  std::string why;                     ///< "signal 11 (Segmentation fault): last words"
};

/// A worker as the runner sees it: its frames, its deadlines and its end. The destructor kills it with its descendants.
class WatchedWorker {
 public:
  WatchedWorker() = default;
  ~WatchedWorker() { kill_now("not wanted any more"); }
  WatchedWorker(const WatchedWorker&) = delete;
  WatchedWorker& operator=(const WatchedWorker&) = delete;

  /// `start_process(output)` calls start_surveyor, start_worker or the like. False: it failed.
  template <class Start>
  bool start(Start start_process) {
    output_.clear();
    in_ = FrameBuffer();
    auto worker = start_process(output_);
    if (!worker) return false;
    worker_ = std::move(*worker);
    living().insert(worker_.process);
    return true;
  }
  bool running() const { return worker_.process > 0; }
  pid_t process() const { return worker_.process; }
  int channel() const { return worker_.channel.number(); }
  /// Deadline by the wall clock, for a worker that hangs. Replaces limit_processor().
  void set_deadline(double at, std::string why);
  /// Limit of its processor time from now on; with `with_children` that of its descendants counts, too. It is also
  /// killed after ten times as long by the wall clock: as `starved` if it and its descendants waited for the processor,
  /// not if they slept for most of the time.
  void limit_processor(double seconds, std::string why, bool with_children = false);

  /// Reads what has arrived. False: the worker has ended, or enforce() killed it; then reap() returns how.
  bool read() {
    // Its descendants may keep the channel open for ever.
    return in_.fill_from(channel()) && killed_for_.empty();
  }
  std::optional<Frame> next_frame() { return in_.next(); }
  /// What it printed until now is not about what comes.
  void forget_output() { output_.clear(); }
  bool garbled() const { return in_.broken(); }
  bool send(FrameKind kind, const std::string& payload) { return write_all(channel(), encode_frame(kind, payload)); }

  /// Kills it if it is past a limit or above `memory_mb` (0: not checked), and keeps the reason for reap(). True:
  /// killed.
  bool enforce(double now, long memory_mb);
  void kill_now(const std::string& why);
  /// Waits for its end. Kills it if it does not end.
  WorkerEnd reap();

 private:
  /// Why its limit of processor time is exceeded; sets starved_. Empty: it is not.
  std::string processor_reason();
  /// All workers of this process. Its other descendants were left behind.
  static std::set<pid_t>& living();

  Worker worker_;
  FrameBuffer in_;
  OutputCatcher output_;
  double deadline_ = 0.0;
  std::optional<ProcessorLimit> processor_;
  double tree_before_s_ = 0.0;  ///< processor time of it and its descendants when the limit was set
  bool with_children_ = false;
  int checks_ = 0, asleep_ = 0;  ///< how often enforce() checked it, and found it asleep
  std::string limit_reason_;
  std::string killed_for_;
  bool starved_ = false;
};

/// Waits until one of the workers has sent something, or 100 ms.
void wait_for_any(const std::vector<WatchedWorker*>& workers);

}  // namespace conebench
