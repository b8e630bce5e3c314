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

/// What a forked process has to do before anything else.
struct ForkSetup {
  int channel = -1;            ///< becomes descriptor 3; every other one but 0–2 is closed
  int output = -1;             ///< becomes standard output and error; −1: nothing is kept of them
  bool keeps_streams = false;  ///< standard input, output and error are this process's
};
inline constexpr int child_channel = 3;

/// Forks a process that dies with this one, leads a process group of its own (Ctrl-C on a terminal does not reach it)
/// and has default signal handlers, so that a crash shows as its signal. It runs `body` and leaves by _exit with its
/// value. −1 where the system refuses.
pid_t fork_process(const ForkSetup& setup, const std::function<int()>& body);

/// Waits for the end of a child; its wait status.
int wait_for_end(pid_t child);

/// Its children, whichever of its threads forked them.
std::vector<pid_t> children_of(pid_t process);
/// These processes and all that descends from them.
std::vector<pid_t> with_descendants(std::vector<pid_t> processes);
/// Kills the children of this process but those in `keep`, and what it adopts from them (PR_SET_CHILD_SUBREAPER), until
/// none is left, and waits for them.
void end_children(const std::set<pid_t>& keep);

struct ProcessLimits {
  double cpu_s = 0.0;         ///< processor time; a backstop behind the watch from outside
  double address_mb = 0.0;    ///< address space beyond what the process has already; a backstop too
  double file_mb = 0.0;       ///< size of files, printed output included; what is beyond is lost without a signal
  int pinned_processor = -1;  ///< −1: anywhere
  int oom_score = 0;          ///< 0 … 1000: of the largest the system ends first where memory runs out; 0: as it is
};
/// Applies to the calling process; 0 means no limit, and one that it has already is never loosened. Also: no core file,
/// a stack of 64 MB.
void limit_this_process(const ProcessLimits& limits);

/// A nameless file in memory that keeps what a process prints.
class OutputCatcher {
 public:
  OutputCatcher();
  int descriptor() const { return file_.number(); }
  void clear();
  /// The last line or two that were printed, on one line; empty where there were none.
  std::string last_words() const;

 private:
  Descriptor file_;
};

/// What users, init systems and memory killers send.
inline constexpr std::array outside_signals = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
/// Whether a process that does not send itself one of those was ended by somebody else.
bool sent_from_outside(int wait_status);

/// "signal 11 (Segmentation fault)" or "exit code 3", of a wait status.
std::string ending_text(int wait_status);

}  // namespace conebench
