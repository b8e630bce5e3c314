#include "runners/execute/descendants.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include "base/child_process.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

namespace {

/// Of all its threads, since each is the parent of what it forked.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> stray_children(const std::set<pid_t>& keep) {
  std::vector<pid_t> found;
  for (const pid_t child : children_of(getpid())) {
    if (!keep.contains(child) && getpgid(child) != getpgrp()) found.push_back(child);
  }
  return found;
}

/// Resident pages, each divided by the number of processes that share it [kB]; 0 where it is gone.
long proportional_kb(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  for (std::string word; file >> word; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    long kb = 0;
    if (word == "Pss:" && file >> kb) return kb;
  }
  return 0;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void die_with_parent() {
  pthread_atfork(nullptr, nullptr, [] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
}

std::vector<pid_t> strays(const std::set<pid_t>& keep) {
  std::vector<pid_t> found = stray_children(keep);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto below = children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

void kill_strays(const std::set<pid_t>& keep) {
  // What the killed ones leave behind is adopted, and found in the next turn.
  for (auto found = stray_children(keep); !found.empty(); found = stray_children(keep)) {
    for (const pid_t process : found) {
      kill(process, SIGKILL);
      wait_for_end(process);
    }
  }
}

long memory_mb(const std::vector<pid_t>& processes) {
  // Exact, but slow in a large process: not for the one that is timed where it is alone.
  if (processes.size() == 1) return resident_mb(processes.front());
  return std::accumulate(processes.begin(), processes.end(), 0L,
                         [](long sum, pid_t process) { return sum + proportional_kb(process); }) /
         1024;
}

}  // namespace conebench
