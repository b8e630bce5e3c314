#include "runners/execute/watched_worker.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <csignal>
#include <limits>
#include <utility>

#include "runners/execute/descendants.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

std::set<pid_t>& WatchedWorker::living() {
  static std::set<pid_t> workers;
  return workers;
}

void WatchedWorker::set_deadline(double at, std::string why) {
  deadline_ = at;
  processor_.reset();
  limit_reason_ = std::move(why);
}

void WatchedWorker::limit_processor(double seconds, std::string why, bool with_children) {
  with_children_ = with_children;
  deadline_ = std::numeric_limits<double>::infinity();
  processor_.emplace(worker_.process, seconds);
  tree_before_s_ = process_tree_seconds(worker_.process);
  checks_ = asleep_ = 0;
  limit_reason_ = std::move(why);
}

bool WatchedWorker::enforce(double now, long memory_mb) {
  if (!running() || !killed_for_.empty()) return false;
  killed_for_ = now > deadline_ ? limit_reason_ : processor_reason();
  if (killed_for_.empty() && memory_mb > 0) {
    const long resident = resident_mb(worker_.process);
    if (resident > memory_mb) killed_for_ = fmt::format("took {} MB (limit {} MB)", resident, memory_mb);
  }
  if (killed_for_.empty()) return false;
  kill(worker_.process, SIGKILL);
  return true;
}

std::string WatchedWorker::processor_reason() {
  if (!processor_) return {};
  if (processor_->used_up()) return limit_reason_;
  const auto tree_s = [this] { return process_tree_seconds(worker_.process) - tree_before_s_; };
  if (with_children_ && tree_s() >= processor_->seconds()) return limit_reason_;
  ++checks_;
  if (all_asleep(worker_.process)) ++asleep_;
  if (!processor_->overdue()) return {};
  const double used_s = tree_s(), waited_s = processor_->waited_s();
  if (used_s >= waited_s / ProcessorLimit::max_wait) return {};
  starved_ = 2 * asleep_ <= checks_;
  return fmt::format("it {} {:.2g} s of the processor in {:.2g} s{}", starved_ ? "got" : "wanted only", used_s,
                     waited_s, starved_ ? " on a busy machine" : ", and slept");
}

void WatchedWorker::kill_now(const std::string& why) {
  if (!running()) return;
  if (killed_for_.empty()) killed_for_ = why;
  reap();
}

WorkerEnd WatchedWorker::reap() {
  // Its children die with it; the group also holds what they left behind.
  kill(-worker_.process, SIGKILL);
  kill(worker_.process, SIGKILL);
  const int status = wait_for_end(worker_.process);
  living().erase(worker_.process);
  kill_strays(living());
  WorkerEnd end;
  end.by_us = !killed_for_.empty();
  end.starved = std::exchange(starved_, false);
  end.terminated_externally = !end.by_us && is_terminated_externally(status);
  const std::string printed = output_.last_output();
  end.why = end.by_us ? killed_for_ : ending_text(status) + (printed.empty() ? "" : ": " + printed);
  worker_ = Worker();
  killed_for_.clear();
  return end;
}

void wait_for_any(const std::vector<WatchedWorker*>& workers) {
  std::vector<pollfd> wanted;
  for (const WatchedWorker* worker : workers) {
    if (worker->running()) wanted.push_back({worker->channel(), POLLIN, 0});
  }
  poll(wanted.data(), wanted.size(), 100);
}

}  // namespace conebench
