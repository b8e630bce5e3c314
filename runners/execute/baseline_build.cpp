#include "runners/execute/baseline_build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/watched_worker.hpp"

namespace conebench {

namespace {

constexpr double greeting_s = 20.0;

/// Forks and becomes the build's worker, with the channel as child_channel.
std::optional<Worker> start_executable(const std::filesystem::path& executable, const OutputCatcher& output) {
  auto channel = make_channel();
  if (!channel) return std::nullopt;
  std::string path = executable.string(), command = "worker";
  const std::array<char*, 3> arguments = {path.data(), command.data(), nullptr};
  Worker worker;
  worker.process = fork_process({channel->second.number(), output.descriptor()}, [&] {
    fcntl(child_channel, F_SETFD, 0);
    execv(arguments[0], arguments.data());
    return 127;
  });
  if (worker.process < 0) return std::nullopt;
  worker.channel = std::move(channel->first);
  return worker;
}

/// How a process ended, with the frame that it sent.
struct Ended {
  std::optional<Frame> frame;
  WorkerEnd end;
  bool late = false;
  bool started = true;
};

/// Sends one request and waits for one frame. `limit_s`: of the process's own processor time.
Ended ask(const std::filesystem::path& executable, const std::string& request, double limit_s,
          const std::atomic<bool>* interrupted) {
  Ended ended;
  WatchedWorker process;
  ended.started = process.start([&](const OutputCatcher& output) { return start_executable(executable, output); });
  if (!ended.started) return ended;
  process.limit_processor(limit_s, fmt::format("killed after {:g} s of the processor", limit_s), true);
  write_all(process.channel(), request);  // a process that has ended is reported by its end
  for (;;) {
    wait_for_any({&process});
    const bool alive = process.read();
    ended.frame = process.next_frame();
    if (ended.frame || (interrupted != nullptr && *interrupted)) process.kill_now("done");
    if (!process.running()) return ended;
    ended.late = process.enforce(monotonic_seconds(), 0) || ended.late;
    if (alive && !process.garbled()) continue;
    ended.end = process.reap();
    ended.late = ended.late && !ended.end.starved;
    return ended;
  }
}

BuildReply without_answer(const BuildOrder& order, CellStatus status, std::string reason) {
  BuildReply reply{std::nullopt, blank_record(order.request)};
  reply.record.status = status;
  reply.record.reason = std::move(reason);
  return reply;
}

}  // namespace

BaselineBuild::BaselineBuild(std::filesystem::path executable, BuildRecord build)
    : executable_(std::move(executable)), build_(std::move(build)) {}

Result<BaselineBuild> BaselineBuild::greet(const std::filesystem::path& executable,
                                           const std::atomic<bool>* interrupted) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {}", executable.string(), why)};
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(executable, ignored) || access(executable.c_str(), X_OK) != 0) {
    return refused("no executable file; give the path of another conebench");
  }
  const auto path = std::filesystem::absolute(executable);
  const Ended asked = ask(path, encode_frame(FrameKind::greeting, {}), greeting_s, interrupted);
  const auto wanted = [&](const std::string& found) {
    return refused(fmt::format("{}; --ab needs a conebench that speaks protocol {}", found, build_protocol));
  };
  if (!asked.frame) return wanted(fmt::format("speaks no protocol of builds ({})", asked.end.why));
  const auto greeting = decode_build_greeting(asked.frame->payload);
  if (!greeting) return wanted("its greeting cannot be read");
  if (greeting->protocol != build_protocol) return wanted(fmt::format("speaks protocol {}", greeting->protocol));
  return BaselineBuild(path, greeting->build);
}

BuildReply BaselineBuild::carry_out(const BuildOrder& order, const std::atomic<bool>* interrupted) const {
  const std::string request = encode_frame(FrameKind::build_order, encode(order));
  // The worker keeps the limits itself; this is for one that hangs.
  const double limit_s = CellTime(order.request.seconds).hang_s();
  int external_kills = 0;
  for (int crashes = 0;;) {
    const Ended ended = ask(executable_, request, limit_s, interrupted);
    if (auto reply = ended.frame ? decode_build_reply(ended.frame->payload) : std::nullopt) return std::move(*reply);
    if (interrupted != nullptr && *interrupted) return without_answer(order, CellStatus::skipped, "interrupted");
    if (ended.late) return without_answer(order, CellStatus::timeout, ended.end.why);
    if (ended.end.starved) return {Error{ErrorCode::killed, "its process: " + ended.end.why}, {}};
    if (!ended.started || ended.end.terminated_externally) {
      if (++external_kills < max_worker_kills) continue;
      if (!ended.started) return {Error{ErrorCode::killed, "the system refused a new process"}, {}};
      return {Error{ErrorCode::killed, "its process was terminated externally: " + ended.end.why}, {}};
    }
    if (++crashes < 2) continue;
    return without_answer(order, CellStatus::crashed, "the build's process ended without a reply: " + ended.end.why);
  }
}

}  // namespace conebench
