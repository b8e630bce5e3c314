#include "runners/execute/process.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace conebench {

namespace {

bool change_policy(int from, int to) {
  const sched_param none{};
  return sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
}

}  // namespace

void drop_shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> shared;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    std::array<char, 5> permissions{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, permissions.data()) != 3) continue;
    if (permissions[3] == 's' && line.find('/') != std::string::npos) shared.emplace_back(begin, end);
  }
  for (const auto& [begin, end] : shared) munmap(reinterpret_cast<void*>(begin), end - begin);
}

long resident_mb(pid_t process) {
  long pages = 0, resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> pages >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

double waited_seconds(pid_t process) {
  double ran_ns = 0.0, waited_ns = 0.0;
  std::ifstream(fmt::format("/proc/{}/schedstat", process)) >> ran_ns >> waited_ns;
  return 1e-9 * waited_ns;
}

long out_of_memory_kills() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  for (long value = 0; file >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return 0;
}

int last_allowed_processor() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return -1;
  for (int i = CPU_SETSIZE - 1; i >= 0; --i) {
    if (CPU_ISSET(static_cast<unsigned>(i), &processors)) return i;
  }
  return -1;
}

void leave_processor(int processor) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (processor < 0 || sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  CPU_CLR(static_cast<unsigned>(processor), &processors);
  sched_setaffinity(0, sizeof processors, &processors);  // refused where none is left
}

SchedulingState::SchedulingState() : priority_(getpriority(PRIO_PROCESS, 0)), policy_(sched_getscheduler(0)) {
  sched_getaffinity(0, sizeof processors_, &processors_);
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    getrlimit(static_cast<__rlimit_resource>(i), &limits_[i]);
  }
}

void SchedulingState::restore() const {
  // Most often there is nothing to do, and asking is cheap.
  if (sched_getscheduler(0) != policy_) {
    const sched_param none{};
    sched_setscheduler(0, policy_, &none);
  }
  if (getpriority(PRIO_PROCESS, 0) != priority_) setpriority(PRIO_PROCESS, 0, priority_);
  cpu_set_t now{};
  if (sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &processors_)) {
    sched_setaffinity(0, sizeof processors_, &processors_);
  }
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const auto resource = static_cast<__rlimit_resource>(i);
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    if (limit.rlim_cur != limits_[i].rlim_cur || limit.rlim_max != limits_[i].rlim_max) {
      setrlimit(resource, &limits_[i]);
    }
  }
}

BatchScheduling::BatchScheduling(bool wanted) : changed_(wanted && change_policy(SCHED_OTHER, SCHED_BATCH)) {}

BatchScheduling::~BatchScheduling() {
  if (changed_) change_policy(SCHED_BATCH, SCHED_OTHER);
}

}  // namespace conebench
