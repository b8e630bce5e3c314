#include "runners/execute/watched_worker.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <csignal>

#include "runners/execute/descendants.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

std::set<pid_t>& WatchedWorker::living() {
  static std::set<pid_t> workers;
  return workers;
}

void WatchedWorker::set_deadline(double at, std::string why) {
  deadline_ = at;
  deadline_reason_ = std::move(why);
}

bool WatchedWorker::enforce(double now, long memory_mb) {
  if (!running() || !killed_for_.empty()) return false;
  if (now > deadline_) {
    killed_for_ = deadline_reason_;
  } else if (memory_mb > 0) {
    const long resident = resident_mb(worker_.process);
    if (resident > memory_mb) killed_for_ = fmt::format("took {} MB (limit {} MB)", resident, memory_mb);
  }
  if (killed_for_.empty()) return false;
  kill(worker_.process, SIGKILL);
  return true;
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
  end.from_outside = !end.by_us && sent_from_outside(status);
  const std::string words = output_.last_words();
  end.why = end.by_us ? killed_for_ : ending_text(status) + (words.empty() ? "" : ": " + words);
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
