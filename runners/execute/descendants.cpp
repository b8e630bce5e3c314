#include "runners/execute/descendants.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/child_process.hpp"
#include "base/text_file.hpp"
#include "runners/execute/process.hpp"

namespace conebench {

namespace {

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

struct ProcessStat {
  char state = 'X';      ///< as proc(5) has it; X: gone
  double seconds = 0.0;  ///< with those of the children that it has waited for
};

constexpr std::uintmax_t max_bytes_of_stat = 1 << 16;

/// Of a process or a thread, by its stat file.
ProcessStat use_of(const std::filesystem::path& stat) {
  // A stream would throw where the process ends between the file's opening and its reading.
  const auto text = read_text_file(stat, max_bytes_of_stat);
  // A name may hold anything; behind it are the state, ten fields and the four times.
  const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text->substr(name_end + 1));
  ProcessStat use;
  fields >> use.state;
  std::string skipped;
  for (int i = 0; i < 10; ++i) fields >> skipped;
  std::array<double, 4> ticks{};
  for (double& time : ticks) fields >> time;
  use.seconds = std::accumulate(ticks.begin(), ticks.end(), 0.0) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return use;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void die_with_parent() {
  pthread_atfork(nullptr, nullptr, [] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
}

std::vector<pid_t> strays(const std::set<pid_t>& keep) {
  std::vector<pid_t> found = children_of(getpid());
  std::erase_if(found, [&](pid_t child) { return keep.contains(child); });
  return with_descendants(std::move(found));
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

double process_tree_seconds(pid_t process) {
  double seconds = use_of(fmt::format("/proc/{}/stat", process)).seconds;
  for (const pid_t child : children_of(process)) seconds += process_tree_seconds(child);
  return seconds;
}

bool all_asleep(pid_t process) {
  const auto asleep = [](pid_t member) {
    // A process's own state is that of its first thread, which may wait for the others.
    std::error_code gone;
    std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", member), gone);
    for (; !gone && threads != std::filesystem::directory_iterator(); threads.increment(gone)) {
      if (std::string_view("SIZX").find(use_of(threads->path() / "stat").state) == std::string_view::npos) return false;
    }
    return true;
  };
  return std::ranges::all_of(with_descendants({process}), asleep);
}

long memory_mb(const std::vector<pid_t>& processes) {
  // Exact, but slow in a large process: not for the one that is timed where it is alone.
  if (processes.size() == 1) return resident_mb(processes.front());
  return std::accumulate(processes.begin(), processes.end(), 0L,
                         [](long sum, pid_t process) { return sum + proportional_kb(process); }) /
         1024;
}

}  // namespace conebench
