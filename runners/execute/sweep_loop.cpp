#include "runners/execute/sweep_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/wire.hpp"

namespace conebench {

namespace {

/// Further cells in a worker's queue, so that it need not wait for the store.
constexpr std::size_t look_ahead = 1;
constexpr int max_worker_deaths = 3;

}  // namespace

SweepLoop::SweepLoop(const Input& input, Store& store, Progress& progress, SweepState& state)
    : input_(input), store_(store), progress_(progress), state_(state), kept_(state) {}

void SweepLoop::run(std::vector<CellGroup> groups, int jobs) {
  const BatchScheduling batch(jobs == 1);  // one worker does not wait for the store; several wait for the runner
  began_ = monotonic_seconds();
  std::vector<std::size_t> unsolvable;
  for (CellGroup& group : groups) {
    const SurveyedProblem& problem = input_.problems.problems[group.problem];
    if (problem.loaded) {
      group_of_[group.problem] = groups_.size();
      groups_.push_back(
          {group.problem, {group.cells.begin(), group.cells.end()}, static_cast<long>(group.cells.size())});
      continue;
    }
    unsolvable.insert(unsolvable.end(), group.cells.begin(), group.cells.end());
  }
  link_sequences();
  for (int i = 0; i < jobs; ++i) slots_.push_back(std::make_unique<Slot>());
  while (!stopped_ && !interrupted()) {
    std::vector<WatchedWorker*> busy;
    for (auto& slot : slots_) {
      if (slot->group == nullptr) assign(*slot);
      if (slot->group != nullptr) busy.push_back(&slot->worker);
    }
    if (busy.empty()) break;
    wait_for_any(busy);
    for (auto& slot : slots_) {
      if (slot->group != nullptr && !stopped_) attend(*slot);
    }
    if (store_.due() && !stopped_) commit();
  }
  slots_.clear();  // kills what still runs
  commit();
  // Last, so that after an early Ctrl-C there is something to rank.
  for (const std::size_t cell : unsolvable) {
    if (stopped_ || interrupted()) break;
    const SurveyedProblem& problem = input_.problems.problems[input_.cells[cell].problem];
    store_without_run(cell, problem.unsupported ? CellStatus::unsupported : CellStatus::bad_problem,
                      problem.record.error);
  }
  commit();
}

void SweepLoop::commit() {
  if (const auto done = store_.commit(); !done) return lose_uncommitted(done.error());
  kept_ = state_;
  kept_statuses_ = statuses_;
}

/// The cells since the last commit are for the next run.
void SweepLoop::lose_uncommitted(Error why) {
  state_ = kept_;
  statuses_ = kept_statuses_;
  stopped_ = std::move(why);
  if (!store_.in_place()) return;
  stopped_->message +=
      fmt::format("; {} cells of this run are stored, run the same command again to resume", state_.done);
}

/// A step of a sequence does not begin before the answers that it starts from are stored.
void SweepLoop::link_sequences() {
  for (Group& group : groups_) {
    for (const std::size_t cell : group.pending) {
      const auto& previous = input_.cells[cell].previous;
      if (!previous) continue;
      const auto found = group_of_.find(input_.cells[*previous].problem);
      if (found != group_of_.end()) group.after.insert(found->second);
    }
  }
}

bool SweepLoop::waits(const Group& group) const {
  return std::any_of(group.after.begin(), group.after.end(),
                     [&](std::size_t before) { return groups_[before].open > 0; });
}

/// A problem without a worker; else the one with most cells left, which workers then share.
SweepLoop::Group* SweepLoop::next_group() {
  Group* fullest = nullptr;
  for (Group& group : groups_) {
    const auto coming = std::count_if(slots_.begin(), slots_.end(), [&](const std::unique_ptr<Slot>& slot) {
      return slot->group == &group && !slot->loaded;
    });
    if (group.pending.size() <= static_cast<std::size_t>(coming) || waits(group)) continue;
    if (group.workers == 0) return &group;
    if (fullest == nullptr || group.pending.size() > fullest->pending.size()) fullest = &group;
  }
  return fullest;
}

/// The slot's worker stays for the next problem; it is started where there is none.
void SweepLoop::assign(Slot& slot) {
  Group* const group = next_group();
  if (group == nullptr) return;
  const WorkerPlan plan{.suite = input_.suite,
                        .problems = input_.problems,
                        .configurations = input_.configurations,
                        .cells = input_.cells,
                        .cache = input_.cache,
                        .pinned_processor = input_.pinned_processor};
  const bool there = slot.worker.running() ||
                     slot.worker.start([&](const OutputCatcher& output) { return start_worker(plan, output); });
  if (!there) {
    stopped_ = Error{ErrorCode::internal, "the system refused a new process; run the same command again to resume"};
    return;
  }
  slot.loaded = false;
  slot.in_flight.clear();
  slot.group = group;
  ++group->workers;
  slot.worker.forget_output();
  slot.worker.limit_processor(input_.suite.limits.load_seconds,
                              fmt::format("loading took more than {} s", input_.suite.limits.load_seconds));
  // If it has ended, attend() sees it.
  slot.worker.send(FrameKind::problem_request,
                   encode(ProblemOrder{group->problem, costs_of(group->problem).assemble_s.has_value()}));
}

void SweepLoop::attend(Slot& slot) {
  const bool alive = slot.worker.read();
  const pid_t process = slot.worker.process();
  while (slot.worker.process() == process && !stopped_ && !interrupted()) {
    const auto frame = slot.worker.next_frame();
    if (!frame) break;
    take(slot, *frame);
  }
  if (slot.worker.process() != process) return;
  if (slot.worker.garbled()) return reap(slot);
  slot.worker.enforce(monotonic_seconds(), slot.loaded ? 0 : input_.suite.limits.memory_mb);
  if (!alive) reap(slot);
}

void SweepLoop::take(Slot& slot, const Frame& frame) {
  if (slot.group == nullptr) return reap(slot);  // it was asked for nothing
  if (frame.kind == FrameKind::loaded) {
    if (const auto report = decode_load_report(frame.payload)) return take_load(slot, *report);
  } else if (frame.kind == FrameKind::cell_done) {
    if (auto report = decode_cell_report(frame.payload)) return take_cell(slot, std::move(*report));
  }
  reap(slot);
}

void SweepLoop::take_load(Slot& slot, const LoadReport& report) {
  const SurveyedProblem& problem = input_.problems.problems[slot.group->problem];
  if (!report.error.empty() || report.hash != problem.record.hash) {
    Group& group = *slot.group;
    dismiss(slot);
    if (report.killed) return after_kill(group, report.error);
    return give_up(group, report.error.empty() ? problem.record.source + " changed while the sweep ran" : report.error);
  }
  slot.loaded = true;
  slot.group->load_crashes = 0;
  if (report.cost.factor_s) {
    costs_.emplace(slot.group->problem, report.cost);
    ProblemRecord record = problem.record;
    record.factor_s = report.cost.factor_s;
    record.assemble_s = report.cost.assemble_s;
    record.diagonal_s = report.cost.diagonal_s;
    if (const auto put = store_.put_problem(record); !put) return lose_uncommitted(put.error());
  }
  feed(slot);
}

/// The costs as a worker reported them, or as the store has them.
CondensationCost SweepLoop::costs_of(std::size_t problem) const {
  if (const auto reported = costs_.find(problem); reported != costs_.end()) return reported->second;
  const ProblemRecord& record = input_.problems.problems[problem].record;
  return {record.factor_s, record.assemble_s, record.diagonal_s};
}

void SweepLoop::take_cell(Slot& slot, CellReport report) {
  if (slot.in_flight.empty() || slot.in_flight.front() != report.cell) return reap(slot);
  slot.in_flight.pop_front();
  busy_s_ += report.busy_s;
  probes_.see(report.min_probe_s, monotonic_seconds());
  // The worker goes on with the next cell, or another with the next problem, while this one is stored.
  feed(slot);
  if (slot.group == nullptr) assign(slot);
  if (report.terminated_externally) return defer(report.cell, report.record.reason);
  store(report.cell, std::move(report.record));
}

/// Sends the worker further cells, if there are any.
void SweepLoop::feed(Slot& slot) {
  std::size_t left = 0;
  for (const Group& group : groups_) left += group.pending.size();
  // The last cells wait for the first free worker. So does an order with a start vector, which may exceed the channel's
  // buffer while the worker is busy.
  const auto& pending = slot.group->pending;
  const bool with_starts = std::any_of(
      pending.begin(), pending.end(), [this](std::size_t cell) { return input_.cells[cell].start == Start::previous; });
  const std::size_t wanted = left < slots_.size() || with_starts ? 1 : 1 + look_ahead;
  while (slot.in_flight.size() < wanted && !slot.group->pending.empty()) {
    const std::size_t cell = slot.group->pending.front();
    const auto order = order_for(cell);
    if (!order) {
      stopped_ = order.error();
      return;
    }
    slot.group->pending.pop_front();
    slot.in_flight.push_back(cell);
    // If the worker has ended, reap() returns the cell to the queue.
    if (!slot.worker.send(FrameKind::cell_request, encode(*order))) break;
  }
  if (slot.in_flight.empty()) return dismiss(slot);
  expect_next(slot);
}

/// A start `previous` is the stored answer, solved or not. If there is none, it is λ = 0, and the record says so.
/// Errors: the store's.
Result<CellOrder> SweepLoop::order_for(std::size_t cell) const {
  const PlannedCell& planned = input_.cells[cell];
  CellOrder order{cell};
  order.min_probe_s = probes_.min_s();
  if (planned.start != Start::previous) return order;
  const auto& problems = input_.problems.problems;
  if (!planned.previous) {
    order.note = problems[planned.problem].position ? "started cold: the first of its sequence"
                                                    : "started cold: the problem is in no sequence";
    return order;
  }
  const PlannedCell& before = input_.cells[*planned.previous];
  const SurveyedProblem& previous = problems[before.problem];
  const auto stored = store_.reaction(before.key);
  if (!stored) return stored.error();
  const std::vector<double> answer = *stored ? **stored : std::vector<double>{};
  if (static_cast<Index>(answer.size()) != previous.layout.rows()) {
    order.note = fmt::format("started cold: {} left no answer", previous.record.name);
  } else if (!std::all_of(answer.begin(), answer.end(), [](double value) { return std::isfinite(value); })) {
    order.note = fmt::format("started cold: the answer to {} is not finite", previous.record.name);
  } else {
    const Eigen::Map<const Vector> impulse(answer.data(), static_cast<Index>(answer.size()));
    const Vector start = carried_impulse(previous.layout, impulse, problems[planned.problem].layout);
    order.start.assign(start.begin(), start.end());
  }
  return order;
}

void SweepLoop::expect_next(Slot& slot) {
  // The worker enforces the limits; this deadline is for a worker that hangs.
  slot.worker.set_deadline(monotonic_seconds() + CellTime(input_.suite.limits.seconds).hang_s(), "the worker hung");
}

void SweepLoop::dismiss(Slot& slot) {
  --slot.group->workers;
  slot.group = nullptr;
}

/// A worker died or wrote a garbled frame. Its cells return to the queue, and the death counts against the suspected
/// cell.
void SweepLoop::reap(Slot& slot) {
  const WorkerEnd end = slot.worker.reap();
  if (slot.group == nullptr) return;
  Group& group = *slot.group;
  --group.workers;
  slot.group = nullptr;
  if (!slot.loaded) {
    if (end.starved) return defer(group, "loading " + end.why);
    if (end.terminated_externally) return after_kill(group, "its worker was terminated externally: " + end.why);
    const bool again = !end.by_us && ++group.load_crashes < 2;
    if (!again) give_up(group, (end.by_us ? "" : "loading it crashed: ") + end.why);
    return;
  }
  group.pending.insert(group.pending.begin(), slot.in_flight.begin(), slot.in_flight.end());
  if (slot.in_flight.empty()) return;
  const std::size_t suspect = slot.in_flight.front();
  const std::string name = input_.configurations[input_.cells[suspect].configuration].record.label;
  progress_.note(fmt::format("a worker ended at {} on {} ({}); a new one goes on", name,
                             input_.problems.problems[group.problem].record.name, end.why));
  if (end.terminated_externally) {
    // The system does not show by whom. The next run tries the cell again.
    if (++external_kills_[suspect] < max_worker_kills) return;
    group.pending.pop_front();
    defer(suspect, fmt::format("its worker was terminated externally {} times", max_worker_kills));
    return;
  }
  if (++deaths_[suspect] < max_worker_deaths) return;
  group.pending.pop_front();
  store_without_run(suspect, CellStatus::crashed,
                    fmt::format("its worker died {} times: {}", max_worker_deaths, end.why));
}

void SweepLoop::give_up(Group& group, const std::string& reason) {
  progress_.note(reason);
  while (!group.pending.empty() && !stopped_) {
    store_without_run(group.pending.front(), CellStatus::bad_problem, reason);
    group.pending.pop_front();
  }
}

void SweepLoop::defer(std::size_t cell, const std::string& why) {
  progress_.note(fmt::format("{} on {} is left for the next run: {}",
                             input_.configurations[input_.cells[cell].configuration].record.label,
                             input_.problems.problems[input_.cells[cell].problem].record.name, why));
}

void SweepLoop::defer(Group& group, const std::string& why) {
  progress_.note(fmt::format("{}: {}; its cells are left for the next run",
                             input_.problems.problems[group.problem].record.name, why));
  group.pending.clear();
}

/// If a problem's reader or worker was terminated externally, nothing is stored. After many kills the problem is
/// deferred to the next run.
void SweepLoop::after_kill(Group& group, const std::string& why) {
  if (++group.external_kills < max_worker_kills) return;
  defer(group, why);
}

void SweepLoop::store_without_run(std::size_t cell, CellStatus status, const std::string& reason) {
  const PlannedCell& planned = input_.cells[cell];
  CellRecord record = blank_record(request_of(input_.suite, input_.configurations[planned.configuration], planned));
  record.status = status;
  record.reason = reason;
  store(cell, std::move(record));
}

void SweepLoop::store(std::size_t cell, CellRecord record) {
  const PlannedCell& planned = input_.cells[cell];
  const ProblemRecord& problem = input_.problems.problems[planned.problem].record;
  const ConfigurationRecord& configuration = input_.configurations[planned.configuration].record;
  record.key = planned.key;
  record.run_id = input_.run_id;
  for (RoundRecord& round : record.timed_rounds) round.run_id = input_.run_id;
  record.problem = problem.hash;
  record.configuration = configuration.hash;
  record.limit_mb = input_.suite.limits.memory_mb;
  record.condensation_s = seconds_of_use(costs_of(planned.problem), record.used);
  if (const auto done = input_.put(cell, record); !done) return lose_uncommitted(done.error());
  if (const auto found = group_of_.find(planned.problem); found != group_of_.end()) --groups_[found->second].open;
  ++statuses_[to_string(record.status)];
  ++state_.done;
  if (record.solved) ++state_.solved;
  if (record.repeats > 0) ++measured_;
  state_.elapsed_s = monotonic_seconds() - began_;
  state_.cells_per_s = state_.elapsed_s > 0.0 ? static_cast<double>(state_.done) / state_.elapsed_s : 0.0;
  const auto left = static_cast<double>(state_.total - state_.resumed - state_.done);
  state_.left_s = state_.cells_per_s > 0.0 ? left / state_.cells_per_s : 0.0;
  if (!store_.uncommitted()) commit();
  progress_.cell_done(record, problem, configuration, state_);
}

}  // namespace conebench
