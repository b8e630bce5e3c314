#include "runners/execute/process.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.hpp"

namespace conebench {

namespace {

bool change_policy(int from, int to) {
  const sched_param none{};
  return sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
}

}  // namespace

void confine_this_process() {
#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
  constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#else
  constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif
  const auto self = static_cast<std::uint32_t>(getpid());
  std::vector<sock_filter> filter;
  const auto load = [&](std::size_t offset) {
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  const auto argument = [](int number) { return offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(number); };
  const auto allow = [&] { filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)); };
  const auto end = [&] { filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)); };
  const auto deny = [&] { filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)); };
  const auto skip_unless = [&](long value, std::uint8_t steps) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(value), 0, steps));
  };
  load(offsetof(seccomp_data, arch));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0));
  allow();
  load(offsetof(seccomp_data, nr));
  for (const long call : {SYS_setsid, SYS_setpgid, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_ptrace,
                          SYS_process_vm_writev}) {
    skip_unless(call, 1);
    deny();
  }
  // To itself; one that others send as well ends it by SIGSYS instead, which tells the two apart.
  for (const auto& [call, signal_argument] : {std::pair{SYS_kill, 1}, {SYS_tgkill, 2}}) {
    constexpr std::uint8_t choices = 2 * outside_signals.size();
    skip_unless(call, choices + 5);
    load(argument(0));
    skip_unless(self, choices + 2);
    load(argument(signal_argument));
    for (const int signal : outside_signals) {
      skip_unless(signal, 1);
      end();
    }
    allow();
    deny();
  }
  allow();
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // Without this flag older kernels slow the process down, as if it ran foreign code.
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
#endif
}

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

BatchScheduling::BatchScheduling(bool wanted) : changed_(wanted && change_policy(SCHED_OTHER, SCHED_BATCH)) {}

BatchScheduling::~BatchScheduling() {
  if (changed_) change_policy(SCHED_BATCH, SCHED_OTHER);
}

}  // namespace conebench
