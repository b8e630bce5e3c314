#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace conebench {

/// An open file descriptor, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_ = -1;
};

/// What a forked process has to do before anything else.
struct ForkSetup {
  int channel = -1;  ///< becomes descriptor 3; every other one but 0–2 is closed
  int output = -1;   ///< becomes standard output and error; −1: nothing is kept of them
};
inline constexpr int child_channel = 3;

/// Forks a process that dies with this one, leads a process group of its own (Ctrl-C on a terminal does not reach it)
/// and has default signal handlers. It runs `body` and leaves by _exit with its value. −1 where the system refuses.
pid_t fork_process(const ForkSetup& setup, const std::function<int()>& body);

/// A connected pair of stream sockets; writing to a closed one is an error, not a signal.
std::optional<std::pair<Descriptor, Descriptor>> make_channel();

/// Writes all of `bytes`, waiting where needed. False where the other end is gone.
bool write_all(int descriptor, const std::string& bytes);

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

struct ProcessLimits {
  double cpu_s = 0.0;         ///< processor time; a backstop behind the watch from outside
  double address_mb = 0.0;    ///< address space beyond what the process has already; a backstop too
  double file_mb = 0.0;       ///< size of files, printed output included; what is beyond is lost without a signal
  int pinned_processor = -1;  ///< −1: anywhere
  int first_to_go = 0;        ///< 0 … 1000, where the system runs out of memory
};
/// Applies to the calling process; 0 means no limit. Also: no core file, a stack of 64 MB.
void limit_this_process(const ProcessLimits& limits);

/// Takes from this process and all that it starts the right to send signals to others and to leave its process group,
/// and ends it by SIGSYS where it sends itself one of those that sent_from_outside() tells of: whatever kills it or its
/// parent by them then comes from outside, and its group holds all that it leaves behind. Without a system that can do
/// that (seccomp) nothing changes.
void confine_this_process();

/// Unmaps files that are mapped shared, so that a process gone wild can't write into its parent's.
void drop_shared_mappings();

/// Resident memory of a process now; 0 where it is gone.
long resident_mb(pid_t process);

/// Times that the system has killed a process for want of memory, since boot.
long out_of_memory_kills();

/// The last processor that this process may run on; −1 where that can't be told.
int last_allowed_processor();

/// Keeps the calling process off a processor, where it may run on others.
void leave_processor(int processor);

/// While it lives, and where `wanted`, this process does not push aside another that runs when something comes for it
/// (SCHED_BATCH). Forked processes are as before.
class Unhurried {
 public:
  explicit Unhurried(bool wanted);
  ~Unhurried();
  Unhurried(const Unhurried&) = delete;
  Unhurried& operator=(const Unhurried&) = delete;

 private:
  bool changed_;
};

/// Whether a process, confined or one of ours, was ended by somebody else: SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT.
bool sent_from_outside(int wait_status);

/// "signal 11 (Segmentation fault)" or "exit code 3", of a wait status.
std::string ending_text(int wait_status);

}  // namespace conebench
