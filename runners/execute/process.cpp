#include "runners/execute/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace conebench {

namespace {

/// What users, init systems and memory killers send.
constexpr std::array outside_signals = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};

void set_limit(__rlimit_resource resource, double value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(value);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  setrlimit(resource, &limit);
}

bool change_policy(int from, int to) {
  const sched_param none{};
  return sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
}

double address_space_mb() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

void become_child(const ForkSetup& setup, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
  setpgid(0, 0);
  change_policy(SCHED_BATCH, SCHED_OTHER);  // see Unhurried
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  const int nothing = open("/dev/null", O_RDWR);
  const int output = setup.output >= 0 ? setup.output : nothing;
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  unsigned first_to_close = child_channel;
  if (setup.channel >= 0) {
    if (setup.channel != child_channel) dup2(setup.channel, child_channel);
    ++first_to_close;
  }
  close_range(first_to_close, ~0U, 0);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(number_, -1); }

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

pid_t fork_process(const ForkSetup& setup, const std::function<int()>& body) {
  std::fflush(nullptr);  // or the child would print it once more
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  become_child(setup, parent);
  _exit(body());
}

std::optional<std::pair<Descriptor, Descriptor>> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(int descriptor, const std::string& bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = send(descriptor, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

OutputCatcher::OutputCatcher() : file_(memfd_create("conebench-output", MFD_CLOEXEC)) {
  if (file_.open()) fcntl(file_.number(), F_SETFL, O_APPEND);
}

void OutputCatcher::clear() {
  if (file_.open() && ftruncate(file_.number(), 0) != 0) file_.close();
}

std::string OutputCatcher::last_words() const {
  if (!file_.open()) return {};
  std::array<char, 600> tail{};
  const off_t end = lseek(file_.number(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(tail.size()));
  const ssize_t count = pread(file_.number(), tail.data(), tail.size(), begin);
  if (count <= 0) return {};
  std::istringstream lines(std::string(tail.data(), static_cast<std::size_t>(count)));
  std::vector<std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    // Printable text of any language; control characters would spoil a terminal.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (line.find_first_not_of(' ') != std::string::npos) kept.push_back(std::move(line));
  }
  std::string words;
  for (std::size_t i = kept.size() > 2 ? kept.size() - 2 : 0; i < kept.size(); ++i) {
    words += (words.empty() ? "" : " / ") + kept[i];
  }
  return words;
}

void limit_this_process(const ProcessLimits& limits) {
  set_limit(RLIMIT_CORE, 0.0);
  set_limit(RLIMIT_STACK, 64.0 * 1048576.0);
  if (limits.file_mb > 0.0) {
    set_limit(RLIMIT_FSIZE, limits.file_mb * 1048576.0);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  if (limits.cpu_s > 0.0) set_limit(RLIMIT_CPU, std::ceil(limits.cpu_s));
#if !defined(__SANITIZE_ADDRESS__)
  // The sanitizer's shadow is larger than any limit.
  if (limits.address_mb > 0.0) set_limit(RLIMIT_AS, (address_space_mb() + limits.address_mb) * 1048576.0);
#endif
  std::ofstream("/proc/self/oom_score_adj") << limits.first_to_go;
  if (limits.pinned_processor >= 0) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(static_cast<unsigned>(limits.pinned_processor), &processors);
    sched_setaffinity(0, sizeof processors, &processors);
  }
}

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

Unhurried::Unhurried(bool wanted) : changed_(wanted && change_policy(SCHED_OTHER, SCHED_BATCH)) {}

Unhurried::~Unhurried() {
  if (changed_) change_policy(SCHED_BATCH, SCHED_OTHER);
}

bool sent_from_outside(int wait_status) {
  return WIFSIGNALED(wait_status) && std::count(outside_signals.begin(), outside_signals.end(), WTERMSIG(wait_status));
}

std::string ending_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    if (signal == SIGSYS) return fmt::format("signal {} ({}: it sent itself what ends it)", signal, strsignal(signal));
    return fmt::format("signal {} ({})", signal, strsignal(signal));
  }
  return fmt::format("exit code {}", WEXITSTATUS(wait_status));
}

}  // namespace conebench
