#include "runners/programs/ask_served.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "base/child_process.hpp"
#include "base/utf8.hpp"
#include "runners/programs/keeper.hpp"
#include "runners/programs/reply.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_shown_bytes = 200;

ServedBy served_by;
bool fresh_programs = false;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double processor_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0.0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Sets only the soft limit, so that the next cell can have another.
void set_soft_limit(pid_t process, __rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::prlimit(process, resource, nullptr, &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::prlimit(process, resource, &limit, nullptr);
}

/// Moves all threads of the program and its descendants to this process's processors. Later descendants inherit them.
void pin_as_this_process(pid_t process) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  std::error_code gone;
  for (const pid_t one : with_descendants({process})) {
    std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", one), gone);
    for (; !gone && threads != std::filesystem::directory_iterator(); threads.increment(gone)) {
      ::sched_setaffinity(std::stoi(threads->path().filename().string()), sizeof processors, &processors);
    }
  }
}

/// Copies this process's limits of address space and processor time.
void limit_as_this_process(pid_t process, double file_mb) {
  rlimit own{};
  if (::getrlimit(RLIMIT_AS, &own) == 0) set_soft_limit(process, RLIMIT_AS, own.rlim_cur);
  if (::getrlimit(RLIMIT_CPU, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
    const auto used = static_cast<rlim_t>(std::ceil(processor_seconds_of(process)));
    set_soft_limit(process, RLIMIT_CPU, own.rlim_cur + used);
  }
  set_soft_limit(process, RLIMIT_FSIZE, static_cast<rlim_t>(file_mb * 1048576.0));
}

/// The lease of a program, with its unread output.
class Conversation {
 public:
  Conversation(KeptProgram program, std::string name) : program_(std::move(program)), name_(std::move(name)) {}

  KeptProgram& program() { return program_; }

  /// `max_seconds`: 0 for no limit.
  Result<ProgramReply> ask(Json request, double max_seconds, const TakeAnswer& take) {
    const std::int64_t number = program_.next_number();
    request["number"] = number;
    const std::string line = request.dump() + "\n";
    const double used = processor_seconds_of(program_.process());
    const auto begin = Clock::now();
    program_.begins();
    if (!write_all(program_.talk(), line)) return ended();
    CONEBENCH_TRY(const auto answer, next_line(begin, max_seconds));
    ProgramReply reply;
    reply.object = parse_reply(answer);
    if (!reply.object.is_object() || reply.object.value("number", Json()) != Json(number)) return not_the_reply(answer);
    if (take) take();
    reply.wall_s = seconds_since(begin);
    reply.processor_s = processor_seconds_of(program_.process()) - used;
    program_.is_done();
    return reply;
  }

 private:
  Error not_the_reply(const std::string& line) const {
    return {
        ErrorCode::bad_input,
        fmt::format("{}: printed \"{}\", which is no JSON object with the request's number; on standard output it may "
                    "print replies alone",
                    name_, shorten(one_line(line), max_shown_bytes))};
  }
  Error ended() { return {ErrorCode::bad_input, name_ + ": " + program_.ending()}; }

  Result<std::string> next_line(Clock::time_point begin, double max_seconds) {
    for (;;) {
      const std::size_t end = unread_.find('\n', searched_);
      if (end != std::string::npos) {
        std::string line = unread_.substr(line_begin_, end - line_begin_);
        line_begin_ = searched_ = end + 1;
        if (line.size() > largest_reply) return Error{ErrorCode::bad_input, name_ + ": " + too_long};
        return line;
      }
      unread_.erase(0, line_begin_);
      line_begin_ = 0;
      searched_ = unread_.size();
      if (searched_ > largest_reply) return Error{ErrorCode::bad_input, name_ + ": " + too_long};
      pollfd wanted{program_.talk(), POLLIN, 0};
      const double left = max_seconds > 0.0 ? max_seconds - seconds_since(begin) : 3600.0;
      if (left <= 0.0) {
        return Error{ErrorCode::bad_input, fmt::format("{}: it was not ready within {:g} s", name_, max_seconds)};
      }
      if (::poll(&wanted, 1, static_cast<int>(std::ceil(1e3 * left))) <= 0) continue;
      std::array<char, 1 << 16> bytes{};
      const ssize_t count = ::recv(program_.talk(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return ended();
      unread_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

  KeptProgram program_;
  std::string name_;
  std::string unread_;
  std::size_t line_begin_ = 0;  ///< in unread_
  std::size_t searched_ = 0;    ///< no end of line before this index
};

}  // namespace

void use_fresh_programs() { fresh_programs = true; }
void on_served_by(ServedBy call) { served_by = std::move(call); }

Result<ProgramReply> ask_served(const SolverProgram& program, Json request, double file_mb, const TakeAnswer& take) {
  using Leased = std::map<std::vector<std::string>, Conversation>;
  static pid_t owner = -1;
  static Leased* all = nullptr;
  // After a fork the lease belongs to the parent. Its descriptors are closed here already, and must not be closed
  // again.
  if (owner != ::getpid()) all = new Leased;
  owner = ::getpid();
  Leased& leased = *all;
  const auto report = [](pid_t process) {
    if (served_by) served_by(process);
  };
  auto found = leased.find(program.command);
  if (found == leased.end()) {
    report(-1);
    CONEBENCH_TRY(auto lent, KeptProgram::lease(program.scratch, program.command, fresh_programs));
    found = leased.emplace(program.command, Conversation(std::move(lent), program.command.front())).first;
    KeptProgram& kept = found->second.program();
    pin_as_this_process(kept.process());
    if (kept.fresh()) {
      // Until it has answered once it may still be loading what it needs.
      const auto ready = found->second.ask({{"request", "describe"}}, max_seconds_to_start, {});
      if (!ready) {
        leased.erase(found);
        return ready;
      }
      pin_as_this_process(kept.process());
    }
    limit_as_this_process(kept.process(), file_mb);
    report(kept.process());
  }
  auto reply = found->second.ask(std::move(request), 0.0, take);
  if (!reply) leased.erase(found);
  return reply;
}

}  // namespace conebench
