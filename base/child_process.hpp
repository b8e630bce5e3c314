#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace conebench {

/// Set-up of a forked process.
struct ForkSetup {
  int channel = -1;            ///< becomes descriptor 3; every other one but 0–2 is closed
  int output = -1;             ///< becomes standard output and error; −1: these are discarded
  bool keeps_streams = false;  ///< standard input, output and error are this process's
};
inline constexpr int child_channel = 3;

/// Forks a process that dies with this one, leads a process group of its own (Ctrl-C on a terminal does not reach it)
/// and has default signal handlers, so that a crash shows as its signal. It runs `body` and calls _exit with its value.
/// −1: the system refuses.
pid_t fork_process(const ForkSetup& setup, const std::function<int()>& body);

/// Waits for the end of a child, and returns its wait status.
int wait_for_end(pid_t child);
/// Whether a child ended within `seconds`; its status is left to wait_for_end.
bool ends_within(pid_t child, double seconds);

/// The children of all its threads.
std::vector<pid_t> children_of(pid_t process);
/// These processes with all their descendants.
std::vector<pid_t> with_descendants(std::vector<pid_t> processes);
/// Kills the children of this process that are not in `keep`, including those that it adopts (PR_SET_CHILD_SUBREAPER),
/// until none is left, and waits for them.
void end_children(const std::set<pid_t>& keep);

struct ProcessLimits {
  double cpu_s = 0.0;         ///< processor time; a second guard in addition to the watching process
  double address_mb = 0.0;    ///< address space beyond the present one; a second guard, too
  double file_mb = 0.0;       ///< size of files and of printed output; excess is lost without a signal
  int pinned_processor = -1;  ///< the last of those that it may run on; −1: anywhere
  int pinned_count = 1;       ///< of processors: it and those before it
  int oom_score = 0;          ///< 0 … 1000: the system kills the largest first if memory runs out; 0: unchanged
};
/// Applies to the calling process. 0 means no limit. An existing limit is never raised. Also sets: no core file, a
/// stack of 64 MB.
void limit_this_process(const ProcessLimits& limits);

/// A nameless file in memory that keeps what a process prints.
class OutputCatcher {
 public:
  OutputCatcher();
  int descriptor() const { return file_.number(); }
  void clear();
  /// The last one or two printed lines, as one line; empty: none.
  std::string last_output() const;

 private:
  Descriptor file_;
};

/// Signals of users, init systems and memory killers.
inline constexpr std::array external_signals = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
/// Whether the process ended by one of these signals.
bool is_terminated_externally(int wait_status);

/// "signal 11 (Segmentation fault)" or "exit code 3", of a wait status.
std::string ending_text(int wait_status);

}  // namespace conebench
