#include "base/confinement.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/child_process.hpp"

namespace conebench {

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

}  // namespace conebench
