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
  bool by_us = false;         ///< killed by its watcher, for `why`
  bool starved = false;       ///< by us, because the machine kept it waiting: what it was at is as good as before
  bool from_outside = false;  ///< by a signal that nobody raises by itself and that was not ours
  std::string why;            ///< "signal 11 (Segmentation fault): last words"
};

/// A worker as the runner sees it: frames in, a limit of its time, and an end. Killed with all that belongs to it when
/// it goes.
class WatchedWorker {
 public:
  WatchedWorker() = default;
  ~WatchedWorker() { kill_now("not wanted any more"); }
  WatchedWorker(const WatchedWorker&) = delete;
  WatchedWorker& operator=(const WatchedWorker&) = delete;

  /// `start`: start_surveyor or start_worker with the output catcher that it is handed. False where that failed.
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
  /// By the wall clock, for one that hangs; takes the place of limit_processor().
  void set_deadline(double at, std::string why);
  /// Of its own processor time. Where ten times as long has passed, it ends, too: its end has `starved` where it and
  /// what it started were kept waiting, but not where they slept for most of the time. `with_children`: what it started
  /// counts, too.
  void limit_processor(double seconds, std::string why, bool with_children = false);

  /// Reads what has come. False where the worker is gone or was ended by enforce(); then reap() tells how.
  bool read() {
    // What it started may keep the channel open for ever.
    return in_.fill_from(channel()) && killed_for_.empty();
  }
  std::optional<Frame> next_frame() { return in_.next(); }
  bool spoilt() const { return in_.broken(); }
  bool send(FrameKind kind, const std::string& payload) { return write_all(channel(), encode_frame(kind, payload)); }

  /// Past its limit, or above `memory_mb` (0: not looked at): killed, with the reason kept for reap(). True then.
  bool enforce(double now, long memory_mb);
  void kill_now(const std::string& why);
  /// Waits for its end, forced where it lives on.
  WorkerEnd reap();

 private:
  /// Why its limit of processor time ends it; sets starved_. Empty: it goes on.
  std::string processor_reason();
  /// All workers of this process: whatever else is below it was left behind.
  static std::set<pid_t>& living();

  Worker worker_;
  FrameBuffer in_;
  OutputCatcher output_;
  double deadline_ = 0.0;
  std::optional<ProcessorLimit> processor_;
  bool with_children_ = false;
  int checks_ = 0, asleep_ = 0;  ///< how often enforce() looked at it, and found it asleep
  std::string limit_reason_;
  std::string killed_for_;
  bool starved_ = false;
};

/// Waits until one of the workers has something to say, or 100 ms.
void wait_for_any(const std::vector<WatchedWorker*>& workers);

}  // namespace conebench
