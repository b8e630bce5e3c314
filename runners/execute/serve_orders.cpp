#include <fmt/format.h>

#include "base/child_process.hpp"
#include "runners/execute/build_protocol.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/wire.hpp"
#include "runners/plan/cell_plan.hpp"

namespace conebench {

namespace {

BuildReply failed(Error error) { return {std::move(error), {}}; }

BuildReply carry_out(const BuildOrder& order) {
  const auto members = load_members(order.source, order.cache, true);
  if (!members) return failed(members.error());
  if (!are_called(*members, order.problem_hash)) {
    return failed({ErrorCode::bad_input, order.source.source + ": this build makes another problem of it"});
  }
  if (order.answered) {
    BuildReply reply{std::nullopt, *order.answered};
    judge_cell(*members, reply.record);
    return reply;
  }
  if (const auto checked = check_request(members->front(), order.request); !checked) {
    return failed({ErrorCode::wrong_usage, checked.error().message});
  }
  leave_processor(order.pinned_processor);
  IsolationLimits limits;
  limits.time = CellTime(order.request.seconds);
  limits.memory_mb = order.memory_mb;
  limits.pinned_processor = order.pinned_processor;
  CellRun run = CellProcess(*members, limits).run(order.request);
  if (run.terminated_externally) return failed({ErrorCode::killed, run.record.reason});
  const SolverRow& row = *find_solver(order.request.solver);
  return {std::nullopt, std::move(run.record), configuration_record(row, *row.effective_options(order.request.options)),
          run.min_probe_s};
}

bool answer(FrameKind kind, const std::string& payload) {
  return write_all(child_channel, encode_frame(kind, payload));
}

}  // namespace

int serve_orders() {
  FrameBuffer received;
  while (const auto frame = wait_for_frame(received, child_channel)) {
    if (frame->kind == FrameKind::greeting) {
      if (!answer(FrameKind::greeting, encode(BuildGreeting{build_protocol, capture_build()}))) return 1;
    } else if (frame->kind == FrameKind::build_order) {
      const auto order = decode_build_order(frame->payload);
      const BuildReply reply =
          order ? carry_out(*order) : failed({ErrorCode::wrong_usage, "this build does not understand the order"});
      if (!answer(FrameKind::build_reply, encode(reply))) return 1;
    } else {
      return 1;
    }
  }
  return 0;
}

}  // namespace conebench
