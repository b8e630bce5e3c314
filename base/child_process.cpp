#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace conebench {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_memory = false;  // the sanitizer's shadow is larger than any limit
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif
#else
constexpr bool limits_memory = true;
#endif

/// The soft limit, and `beyond` more for the hard one. Only a stack may grow by it.
void set_limit(__rlimit_resource resource, double value, double beyond = INFINITY) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(value);
  if (resource != RLIMIT_STACK && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  if (std::isfinite(beyond)) limit.rlim_max = std::min(limit.rlim_max, wanted + static_cast<rlim_t>(beyond));
  setrlimit(resource, &limit);
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
  const sched_param none{};
  if (sched_getscheduler(0) == SCHED_BATCH) sched_setscheduler(0, SCHED_OTHER, &none);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                           SIGABRT, SIGXCPU}) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t nothing_blocked;
  sigemptyset(&nothing_blocked);
  sigprocmask(SIG_SETMASK, &nothing_blocked, nullptr);

  if (!setup.keeps_streams) {
    const int nothing = open("/dev/null", O_RDWR);
    const int output = setup.output >= 0 ? setup.output : nothing;
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
  }
  unsigned first_to_close = child_channel;
  if (setup.channel >= 0) {
    if (setup.channel != child_channel) dup2(setup.channel, child_channel);
    ++first_to_close;
  }
  close_range(first_to_close, ~0U, 0);
}

}  // namespace

pid_t fork_process(const ForkSetup& setup, const std::function<int()>& body) {
  std::fflush(nullptr);  // or the child would print it once more
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  become_child(setup, parent);
  _exit(body());
}

int wait_for_end(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

bool ends_within(pid_t child, double seconds) {
  const Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const double max_wait_s = end.open() ? 60.0 : 0.01;  // old kernels are asked again and again
    const double left = seconds - std::chrono::duration<double>(Clock::now() - begin).count();
    pollfd wanted{end.number(), POLLIN, 0};
    poll(&wanted, end.open() ? 1 : 0, static_cast<int>(std::ceil(1e3 * std::clamp(left, 0.0, max_wait_s))));
    siginfo_t info{};
    const bool ended =
        waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid != 0;
    if (ended || left <= 0.0) return ended;
  }
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  std::filesystem::directory_iterator threads("/proc/" + std::to_string(process) + "/task", gone);
  for (; !gone && threads != std::filesystem::directory_iterator(); threads.increment(gone)) {
    std::ifstream file(threads->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> with_descendants(std::vector<pid_t> processes) {
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto below = children_of(processes[i]);
    processes.insert(processes.end(), below.begin(), below.end());
  }
  return processes;
}

void end_children(const std::set<pid_t>& keep) {
  for (bool more = true; more;) {
    more = false;
    for (const pid_t child : children_of(getpid())) {
      if (keep.contains(child)) continue;
      kill(child, SIGKILL);
      wait_for_end(child);
      more = true;
    }
  }
}

void limit_this_process(const ProcessLimits& limits) {
  set_limit(RLIMIT_CORE, 0.0);
  set_limit(RLIMIT_STACK, 64.0 * 1048576.0);
  if (limits.file_mb > 0.0) {
    set_limit(RLIMIT_FSIZE, limits.file_mb * 1048576.0);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  // Whoever blocks SIGXCPU gets SIGKILL two seconds later.
  if (limits.cpu_s > 0.0) set_limit(RLIMIT_CPU, std::ceil(limits.cpu_s), 2.0);
  if (limits_memory && limits.address_mb > 0.0) {
    set_limit(RLIMIT_AS, (address_space_mb() + limits.address_mb) * 1048576.0);
  }
  if (limits.oom_score > 0) std::ofstream("/proc/self/oom_score_adj") << limits.oom_score;
  if (limits.pinned_processor >= 0) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (int i = std::max(0, limits.pinned_processor + 1 - limits.pinned_count); i <= limits.pinned_processor; ++i) {
      CPU_SET(static_cast<unsigned>(i), &processors);
    }
    sched_setaffinity(0, sizeof processors, &processors);
  }
}

OutputCatcher::OutputCatcher() : file_(memfd_create("conebench-output", MFD_CLOEXEC)) {
  if (file_.open()) fcntl(file_.number(), F_SETFL, O_APPEND);
}

void OutputCatcher::clear() {
  if (file_.open() && ftruncate(file_.number(), 0) != 0) file_.close();
}

/// Of lines that end in a Python traceback the last `File "FILE", line N` that is not of Python's own library.
static std::string python_location(const std::vector<std::string>& lines) {
  std::string location;
  for (const std::string& line : lines) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (line.starts_with("Traceback (most recent call last)")) location.clear();
    if (line.compare(begin, 6, "File \"") != 0 || line.find("\", line ") == std::string::npos) continue;
    const bool is_library = line.find("/lib/python") != std::string::npos || line.compare(begin, 7, "File \"<") == 0;
    if (!is_library) location = line.substr(begin);
  }
  return location;
}

std::string OutputCatcher::last_output() const {
  if (!file_.open()) return {};
  std::array<char, 4096> tail{};
  const off_t end = lseek(file_.number(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(tail.size()));
  const ssize_t count = pread(file_.number(), tail.data(), tail.size(), begin);
  if (count <= 0) return {};
  std::istringstream lines(std::string(tail.data(), static_cast<std::size_t>(count)));
  std::vector<std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    // Printable text of any language; control characters would garble a terminal.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (line.find_first_not_of(' ') != std::string::npos) kept.push_back(std::move(line));
  }
  const std::size_t last = kept.size() > 2 ? kept.size() - 2 : 0;
  std::string text = python_location({kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(last)});
  for (std::size_t i = last; i < kept.size(); ++i) {
    text += (text.empty() ? "" : " / ") + kept[i];
  }
  return text;
}

bool is_terminated_externally(int wait_status) {
  return WIFSIGNALED(wait_status) &&
         std::count(external_signals.begin(), external_signals.end(), WTERMSIG(wait_status));
}

std::string ending_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return fmt::format("signal {} ({})", signal, strsignal(signal));
  }
  return fmt::format("exit code {}", WEXITSTATUS(wait_status));
}

}  // namespace conebench
