#include "runners/programs/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include "base/child_process.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;

constexpr const char* socket_name = "keeper";
constexpr std::size_t max_bytes = 1 << 16;
/// Maximum requests of one lease. Each lease has its own range of numbers.
constexpr std::int64_t numbers_of_a_lease = 1'000'000'000;
constexpr int wait_for_end_ms = 1000;

/// Precedes the command of the requested program.
constexpr char kept_word = 'k', fresh_word = 'f';
/// Bytes that the holder of a lease sends.
constexpr char begins_word = 'b', done_word = 'd', ending_word = 'e';

/// Precedes the socket of a lease.
struct Lease {
  pid_t process = -1;
  bool fresh = false;
  std::int64_t first_number = 0;
};

/// The path goes through the folder's descriptor, since paths of sockets must be short.
struct Address {
  Address(const fs::path& folder) : opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", opened.number(), socket_name);
    std::copy(path.begin(), path.end(), address.sun_path);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  Descriptor opened;
  sockaddr_un address{};
};

bool send_word(int socket, std::string_view word) {
  return ::send(socket, word.data(), word.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(word.size());
}

/// Receives one message; nullopt: the other end is closed.
std::optional<std::string> receive_word(int socket) {
  std::string word(max_bytes, '\0');
  ssize_t count = -1;
  while ((count = ::recv(socket, word.data(), word.size(), 0)) < 0 && errno == EINTR) continue;
  if (count <= 0) return std::nullopt;
  word.resize(static_cast<std::size_t>(count));
  return word;
}

bool send_lease(int socket, const Lease& lease, int talk) {
  Lease copy = lease;
  iovec bytes{&copy, sizeof copy};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &talk, sizeof talk);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof copy);
}

std::optional<std::pair<Lease, Descriptor>> receive_lease(int socket) {
  Lease lease;
  iovec bytes{&lease, sizeof lease};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = -1;
  while ((count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (count != static_cast<ssize_t>(sizeof lease) || header == nullptr) return std::nullopt;
  int talk = -1;
  std::memcpy(&talk, CMSG_DATA(header), sizeof talk);
  return std::pair{lease, Descriptor(talk)};
}

/// A started program.
struct Kept {
  std::string command;  ///< arguments with '\0' between them
  pid_t process = -1;
  Descriptor talk;  ///< its holder's end
  OutputCatcher output;
  std::int64_t leases = 0;
  Descriptor holder;  ///< connection to the leaseholder; closed: not leased
  bool busy = false;
  bool for_once = false;  ///< ends with its lease
  std::set<pid_t> stopped;
};

class Keeper {
 public:
  Keeper(int owner, Descriptor listener) : owner_(owner), listener_(std::move(listener)) {}

  /// Runs until the process that started it ends.
  void run() {
    for (;;) {
      std::vector<pollfd> wanted = {{owner_, POLLIN, 0}, {listener_.number(), POLLIN, 0}};
      std::vector<Kept*> asked;
      for (const auto& one : kept_) {
        if (!one->holder.open()) continue;
        wanted.push_back({one->holder.number(), POLLIN, 0});
        asked.push_back(one.get());
      }
      if (::poll(wanted.data(), wanted.size(), -1) < 0) continue;
      if (wanted[0].revents != 0) break;
      for (std::size_t k = 0; k < asked.size(); ++k) {
        if (wanted[k + 2].revents != 0) listen_to(*asked[k]);
      }
      if (wanted[1].revents != 0) lend();
    }
    for (const auto& one : kept_) end(*one);
  }

 private:
  void lend() {
    Descriptor holder(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!holder.open()) return;
    auto command = receive_word(holder.number());
    if (!command || command->size() < 2) return;
    const bool for_once = command->front() == fresh_word;
    command->erase(0, 1);
    kept_.remove_if([&](const auto& one) {
      return one->command == *command && !one->holder.open() && ::waitpid(one->process, nullptr, WNOHANG) != 0;
    });
    const auto waiting = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) {
      return one->command == *command && !one->holder.open() && !for_once;
    });
    Kept* const one = waiting != kept_.end() ? waiting->get() : start(*command);
    if (one == nullptr) return;
    one->output.clear();
    const Lease lease{one->process, one->leases == 0, one->leases * numbers_of_a_lease};
    ++one->leases;
    one->for_once = for_once;
    if (!send_lease(holder.number(), lease, one->talk.number())) return;
    one->holder = std::move(holder);
    one->busy = true;
  }

  Kept* start(const std::string& command) {
    auto channel = make_channel();
    if (!channel) return nullptr;
    auto kept = std::make_unique<Kept>();
    kept->command = command;
    kept->talk = std::move(channel->first);
    std::vector<std::string> split;
    for (std::size_t at = 0; at < command.size(); at += split.back().size() + 1) {
      split.emplace_back(command.c_str() + at);
    }
    std::vector<char*> arguments;
    for (std::string& word : split) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    kept->process = fork_process({channel->second.number(), kept->output.descriptor()}, [&] {
      ProcessLimits limits;
      limits.file_mb = 16.0;
      limits.oom_score = 1000;
      limit_this_process(limits);
      ::dup2(child_channel, STDIN_FILENO);
      ::dup2(child_channel, STDOUT_FILENO);
      ::close(child_channel);
      ::execvp(arguments.front(), arguments.data());
      return 127;
    });
    if (kept->process < 0) return nullptr;
    return kept_.emplace_back(std::move(kept)).get();
  }

  void listen_to(Kept& one) {
    const auto word = receive_word(one.holder.number());
    if (word && word->front() == ending_word) {
      send_word(one.holder.number(), ending_of(one));
    } else if (word) {
      one.busy = word->front() == begins_word;
      if (one.busy) {
        go_on(one);
      } else {
        stop(one);
        end_orphans();
        send_word(one.holder.number(), *word);
      }
      return;
    }
    one.holder.close();
    // A program that was interrupted in a request can't take another.
    if (one.busy || one.for_once) drop(one);
  }

  /// Signals the program and all its descendants, in any process group.
  static void stop(Kept& one) {
    // Stopped processes start nothing, so this ends when no new one is found.
    for (bool more = true; more;) {
      more = false;
      for (const pid_t process : with_descendants({one.process})) {
        if (!one.stopped.insert(process).second) continue;
        ::kill(process, SIGSTOP);
        more = true;
      }
    }
  }
  static void go_on(Kept& one) {
    for (const pid_t process : one.stopped) ::kill(process, SIGCONT);
    one.stopped.clear();
  }

  /// Kills orphans: they are children of this process, and no longer belong to a program.
  void end_orphans() {
    std::set<pid_t> ours;
    for (const auto& one : kept_) ours.insert(one->process);
    end_children(ours);
  }

  std::string ending_of(Kept& one) {
    int status = 0;
    for (int waited = 0; ::waitpid(one.process, &status, WNOHANG) == 0; waited += 5) {
      if (waited >= wait_for_end_ms) {
        end(one);
        return "was ended, since its output was closed";
      }
      ::usleep(5000);
    }
    ::kill(-one.process, SIGKILL);
    one.process = -1;
    const std::string printed = one.output.last_output();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return "can't be started";
    return fmt::format("ended by {}{}", ending_text(status), printed.empty() ? "" : ": " + printed);
  }

  static void end(Kept& one) {
    if (one.process < 0) return;
    for (const pid_t process : with_descendants({one.process})) ::kill(process, SIGKILL);
    ::kill(-one.process, SIGKILL);
    wait_for_end(one.process);
    one.process = -1;
  }
  void drop(Kept& one) {
    end(one);
    kept_.remove_if([&](const auto& other) { return other.get() == &one; });
    end_orphans();
  }

  int owner_;
  Descriptor listener_;
  std::list<std::unique_ptr<Kept>> kept_;
};

/// The keeper's main function, in the forked process.
int keep(const fs::path& scratch, pid_t group) {
  // In the owner's process group, so that it is not killed as a solver's orphan. It ends when the channel closes.
  ::setpgid(0, group);
  ::prctl(PR_SET_PDEATHSIG, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : external_signals) std::signal(signal, SIG_IGN);
  Descriptor listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address(scratch);
  if (!listener.open() || ::bind(listener.number(), address.get(), sizeof address.address) != 0 ||
      ::listen(listener.number(), SOMAXCONN) != 0 || !write_all(child_channel, "1")) {
    return 1;
  }
  Keeper(child_channel, std::move(listener)).run();
  return 0;
}

}  // namespace

Result<void> start_keeper(const fs::path& scratch) {
  static pid_t owner = -1;
  static Descriptor channel;
  if (owner == ::getpid()) return {};
  auto made = make_channel();
  const pid_t group = ::getpgrp();
  const pid_t child =
      made ? fork_process({.channel = made->second.number()}, [&] { return keep(scratch, group); }) : -1;
  char ready = 0;
  if (made) made->second.close();
  if (child < 0 || ::recv(made->first.number(), &ready, 1, 0) != 1) {
    return Error{ErrorCode::killed, "the system gave no process that keeps programs"};
  }
  channel = std::move(made->first);
  owner = ::getpid();
  return {};
}

Result<KeptProgram> KeptProgram::lease(const fs::path& scratch, const std::vector<std::string>& command, bool fresh) {
  const auto refused = [&] {
    return Error{ErrorCode::bad_input, command.front() + ": the system refused to start it"};
  };
  KeptProgram program;
  program.lease_ = Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address(scratch);
  if (!program.lease_.open() || ::connect(program.lease_.number(), address.get(), sizeof address.address) != 0) {
    return refused();
  }
  std::string all(1, fresh ? fresh_word : kept_word);
  for (const std::string& word : command) all += word + '\0';
  if (all.size() >= max_bytes || !send_word(program.lease_.number(), all)) return refused();
  auto lease = receive_lease(program.lease_.number());
  if (!lease) return refused();
  program.talk_ = std::move(lease->second);
  program.process_ = lease->first.process;
  program.fresh_ = lease->first.fresh;
  program.number_ = lease->first.first_number;
  return program;
}

void KeptProgram::begins() { send_word(lease_.number(), std::string_view(&begins_word, 1)); }
void KeptProgram::is_done() {
  send_word(lease_.number(), std::string_view(&done_word, 1));
  receive_word(lease_.number());  // it stands still
}

std::string KeptProgram::ending() {
  send_word(lease_.number(), std::string_view(&ending_word, 1));
  return receive_word(lease_.number()).value_or("ended");
}

}  // namespace conebench
