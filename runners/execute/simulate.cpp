#include "runners/execute/simulate.hpp"

#include <fmt/format.h>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/watched_worker.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

constexpr int max_crashes = 2;

Error failed(const SampledSimulation& plan, const std::string& why) {
  return Error{ErrorCode::bad_input, fmt::format("{}: {}", plan.name, why)};
}

/// One attempt. nullopt where it crashed, with the reason in `end`.
std::optional<Result<void>> simulate_once(const SuiteLimits& limits, const std::atomic<bool>* interrupted,
                                          const fs::path& folder, const SampledSimulation& plan, long steps,
                                          WorkerEnd& end) {
  WatchedWorker worker;
  const bool started =
      worker.start([&](const OutputCatcher& output) { return start_simulator(folder, plan, steps, output); });
  if (!started) return Error{ErrorCode::killed, plan.name + ": the system refused a new process; run again"};
  worker.limit_processor(
      limits.simulation_seconds,
      fmt::format("simulating took more than limits.simulation_seconds = {}", limits.simulation_seconds));
  for (;;) {
    wait_for_any({&worker});
    if (interrupted != nullptr && *interrupted) return failed(plan, "interrupted");
    const bool alive = worker.read();
    if (const auto frame = worker.next_frame()) {
      if (const auto report = decode_simulation_report(frame->payload)) {
        worker.kill_now("done");
        if (report->error < 0) return Result<void>();
        return Error{static_cast<ErrorCode>(report->error), report->message};
      }
    }
    worker.enforce(monotonic_seconds(), limits.memory_mb);
    if (alive) continue;
    end = worker.reap();
    if (end.starved) {
      return Error{ErrorCode::killed, fmt::format("{}: simulating it: {}; run again", plan.name, end.why)};
    }
    if (end.by_us) return failed(plan, end.why);
    return std::nullopt;
  }
}

}  // namespace

SampleMaker isolated_samples(const SuiteLimits& limits, const std::atomic<bool>* interrupted) {
  return [limits, interrupted](const fs::path& folder, const SampledSimulation& plan, long steps) -> Result<void> {
    WorkerEnd end;
    int crashes = 0, kills = 0;
    for (;;) {
      auto outcome = simulate_once(limits, interrupted, folder, plan, steps, end);
      // Once the list is whole, what fails is the picture.
      if ((!outcome || !*outcome) && plan.made(folder)) return {};
      if (outcome) return *outcome;
      const bool again = end.terminated_externally ? ++kills < max_worker_kills : ++crashes < max_crashes;
      if (!again) {
        Error error =
            failed(plan, fmt::format("simulating it crashed: {}; repeat it with conebench generate", end.why));
        if (end.terminated_externally) {
          error = {ErrorCode::killed,
                   fmt::format("{}: what simulates it was terminated externally {} times ({}); run again", plan.name,
                               kills, end.why)};
        }
        return error;
      }
    }
  };
}

}  // namespace conebench
