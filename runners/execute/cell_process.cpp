#include "runners/execute/cell_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "runners/execute/descendants.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/processor_probe.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/execute/timing.hpp"
#include "runners/execute/wire.hpp"
#include "runners/programs/ask_served.hpp"
#include "solvers/registry.hpp"
#include "store/time_doubts.hpp"

namespace conebench {

/// Shared memory in which the child reports while it runs. It decides only on a message and, up to max_attempts, on
/// more time.
struct CellProcess::Shared {
  std::atomic<int> phase;
  std::atomic<int> attempts;
  std::atomic<pid_t> served_by;  ///< the kept program that works for the child; -1: it is starting; 0: none
};

/// A forked process with its limits set. It begins when a byte arrives, and exits if the channel is closed.
struct CellProcess::Child {
  pid_t process = -1;
  Descriptor channel;
};

/// How a cell's process ended, as this process saw it.
enum class AttemptEnding { answered, crashed, killed, terminated_externally };

namespace {

enum class Killed { no, for_time, for_memory };

constexpr int watch_interval_ms = 20;
constexpr int max_external_kills = 3;
/// A solver whose time in a fresh process exceeds its shortest claimed time by this factor keeps answers, or has a
/// wrong clock.
constexpr double max_slowdown = 1.5;
/// The same factor if none of the confirming runs had a core to itself, as the repeats had. Next to another thread a
/// solve takes up to 1.5 times as long (RunTimes), and longer if other processes get the processor.
constexpr double max_disturbed_slowdown = 3.0;
/// How long a sleeping process may wait until it is scheduled.
constexpr double wake_up_s = 5e-5;
/// Time of a byte to another process and of an answer back (CellProcess::channel_s): this many round trips are timed,
/// and their median is multiplied by this factor, within these bounds. 0.03 to 0.1 ms were measured.
constexpr std::size_t round_trips = 20;
constexpr double channel_margin = 1.5, min_channel_s = 2e-5, max_channel_s = 2e-4;
/// Extra time of data that is not in the caches yet, as it is for repeats.
constexpr double first_touch_s = 5e-5;
/// The same for a program that has just started: libraries, files and their pages.
constexpr double fresh_program_s = 2e-3;
/// A solver whose first run claims so many times less than a fresh process took has a wrong clock; others keep answers.
constexpr double min_lie = 10.0;
/// The fastest confirming run counts, since other processes may delay any of them; on a busy machine most of the short
/// ones.
constexpr int min_confirmations = 3, max_confirmations = 20;
/// Limit on the total time of further confirming runs.
constexpr double confirmations_s = 1.0;
constexpr double slow_first_ratio = 20.0;

/// How one process ended, as this process saw it.
struct Watched {
  int wait_status = 0;
  Killed killed = Killed::no;
  bool ignored_term = false;
  double wall_s = 0.0;
  long peak_mb = 0;
  long peak_kb = 0;  ///< as the system reports it; for several processes, as sampled by watch()
  std::size_t processes = 0;
  bool out_of_memory_kill = false;
  bool answered = false;
  bool more = false;  ///< it wrote more than one answer
};

struct WatchEvents {
  std::function<std::set<pid_t>()> others;   ///< processes of this one that are not the child's
  std::function<void(const Frame&)> answer;  ///< the child may not have ended yet
  std::function<void()> quiet;               ///< for a while nothing has come
  std::function<void()> ready = nullptr;     ///< a confirming process waits for the start
};

/// Follows a child to its end and keeps it within its limits.
Watched watch(pid_t child, int channel, const std::atomic<int>& attempts, const std::atomic<pid_t>& served_by,
              const IsolationLimits& limits, const WatchEvents& events) {
  Watched watched;
  FrameBuffer received;
  bool is_ready = !events.ready;
  /// Whether it is timed from now on, so that this process must do nothing else until its answer.
  const auto look_for_answer = [&] {
    if (watched.answered) return false;
    const auto frame = received.next();
    if (!frame) return false;
    if (!is_ready && frame->kind == FrameKind::ready) {
      is_ready = true;
      events.ready();
      return true;
    }
    watched.answered = true;
    events.answer(*frame);
    return false;
  };
  CellClock clock(limits.time);
  const long kills_before = out_of_memory_kills();
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  bool reading = true;
  for (;;) {
    std::array<pollfd, 2> wanted = {pollfd{ended.number(), POLLIN, 0}, pollfd{reading ? channel : -1, POLLIN, 0}};
    // Without a pidfd (old kernels) the end of the stream and the clock show the end.
    const int ready = poll(wanted.data(), wanted.size(), ended.open() || reading ? watch_interval_ms : 1);
    if (reading && wanted[1].revents != 0) reading = received.fill_from(channel);
    if (look_for_answer()) continue;
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child) break;

    const pid_t kept = served_by;
    if (kept < 0) clock.exclude_start();
    auto process_tree = strays(events.others());
    if (kept > 0) {
      const auto theirs = with_descendants({kept});
      process_tree.insert(process_tree.end(), theirs.begin(), theirs.end());
    }
    watched.peak_mb = std::max(watched.peak_mb, memory_mb(process_tree));
    watched.processes = std::max(watched.processes, process_tree.size());
    if (watched.killed == Killed::no && watched.peak_mb > limits.memory_mb) {
      watched.killed = Killed::for_memory;
      // At once: in a grace period they could take gigabytes.
      for (const pid_t process : process_tree) kill(process, SIGKILL);
    } else if (watched.killed != Killed::for_memory) {
      const CellClock::Order order = clock.order(attempts);
      if (order != CellClock::Order::none) watched.killed = Killed::for_time;
      if (order == CellClock::Order::end) kill(child, SIGTERM);
      if (order == CellClock::Order::kill) {
        watched.ignored_term = true;
        kill(child, SIGKILL);
      }
    }
    if (ready == 0) events.quiet();
  }
  watched.wall_s = clock.elapsed_s();
  received.fill_from(channel);
  look_for_answer();
  watched.more = !received.empty();
  kill(-child, SIGKILL);  // its orphans in the group
  rusage usage{};
  while (wait4(child, &watched.wait_status, 0, &usage) < 0 && errno == EINTR) continue;
  end_children(events.others());  // and those outside the group
  watched.peak_kb = usage.ru_maxrss;
  if (watched.processes > 1) watched.peak_kb = std::max(watched.peak_kb, 1024 * watched.peak_mb);
  watched.out_of_memory_kill = WIFSIGNALED(watched.wait_status) && WTERMSIG(watched.wait_status) == SIGKILL &&
                               watched.killed == Killed::no && out_of_memory_kills() != kills_before;
  return watched;
}

bool send_claims(const CellRun& run) {
  return write_all(child_channel, encode_frame(FrameKind::claims, encode(claims_of(run))));
}

CellRecord ended_record(const CellRequest& request, CellStatus status, std::string reason) {
  CellRecord record = blank_record(request);
  record.status = status;
  record.reason = std::move(reason);
  return record;
}

/// From the child's report, which may be any number.
const char* phase_text(int phase) {
  const bool known = phase >= 0 && phase <= static_cast<int>(CellPhase::releasing);
  return known ? to_string(static_cast<CellPhase>(phase)) : "an unknown phase";
}

struct Failure {
  AttemptEnding ending = AttemptEnding::crashed;
  CellStatus status = CellStatus::crashed;
  std::string reason;
};

/// The outcome of a cell by the end of its process; nullopt: its answer decides. `output`: its last output.
std::optional<Failure> failure_of(const Watched& watched, bool answered, const std::string& where,
                                  const std::string& output, long limit_mb) {
  const std::string printed = output.empty() ? "" : ": " + output;
  const bool clean_exit = WIFEXITED(watched.wait_status) && WEXITSTATUS(watched.wait_status) == 0;
  if (watched.killed == Killed::for_time) {
    return Failure{AttemptEnding::killed, CellStatus::timeout,
                   fmt::format("killed after {:.1f} s in {}{}", watched.wall_s, where,
                               watched.ignored_term ? "; it ignored SIGTERM" : "")};
  }
  if (watched.killed == Killed::for_memory) {
    return Failure{AttemptEnding::killed, CellStatus::out_of_memory,
                   fmt::format("killed at {} MB (limit {} MB) in {}", watched.peak_mb, limit_mb, where)};
  }
  if (watched.out_of_memory_kill) {
    return Failure{AttemptEnding::killed, CellStatus::out_of_memory,
                   fmt::format("the system ran out of memory and killed it in {}", where)};
  }
  if (is_terminated_externally(watched.wait_status)) {
    return Failure{AttemptEnding::terminated_externally, CellStatus::crashed,
                   fmt::format("terminated externally (signal {}) in {}", WTERMSIG(watched.wait_status), where)};
  }
  if (!clean_exit) {
    return Failure{AttemptEnding::crashed, CellStatus::crashed,
                   fmt::format("{} in {}{}", ending_text(watched.wait_status), where, printed)};
  }
  if (!answered || watched.more) {
    return Failure{AttemptEnding::crashed, CellStatus::crashed,
                   fmt::format("its answer was garbled or missing, in {}{}", where, printed)};
  }
  return std::nullopt;
}

}  // namespace

struct CellProcess::Attempt {
  AttemptEnding ending = AttemptEnding::answered;
  CellRun run;
  double wall_s = 0.0;  ///< from its start to its end
};

struct CellProcess::Confirmation {
  CellRun run;
  double seconds = 0.0;   ///< from the start to the answer, by the child's clock if this process's clock confirms it
  double at_least = 0.0;  ///< the same without the answer's way here: compared with the claim [s]
  double wall_s = 0.0;    ///< decides whether it is late, also if a program's own times rank [s]
  bool had_processor = true;
  double probe_s = 0.0;  ///< the slower probe of those before and after; 0: not probed
};

CellProcess::CellProcess(std::span<const ContactProblem> members, const IsolationLimits& limits)
    : members_(members), limits_(limits) {
  void* const page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  shared_ = new (page) Shared{};
  adopt_orphans();
  const auto children = children_of(getpid());
  not_of_cells_ = {children.begin(), children.end()};
}

/// Children of this process that do not belong to the running cell.
std::set<pid_t> CellProcess::others() const {
  std::set<pid_t> others = not_of_cells_;
  if (waiting_) others.insert(waiting_->process);
  return others;
}

CellProcess::~CellProcess() {
  if (waiting_) {
    kill(waiting_->process, SIGKILL);
    wait_for_end(waiting_->process);
  }
  munmap(shared_, sizeof(Shared));
}

Result<CellProcess::Child> CellProcess::start(const CellRequest& request, const Body& body) {
  auto channel = make_channel();
  if (!channel) return Error{ErrorCode::internal, "the system gave no channel to a new process"};
  scheduling_.restore();  // an earlier child may have changed it
  Child child;
  child.process = fork_process({channel->second.number(), output_.descriptor()}, [&] {
    ProcessLimits own;
    own.cpu_s = limits_.time.processor_s() * threads_of(request);
    own.address_mb = 1.25 * static_cast<double>(limits_.memory_mb) + 256.0;
    own.file_mb = 16.0;
    own.oom_score = 1000;
    own.pinned_processor = limits_.pinned_processor;
    own.pinned_count = threads_of(request);
    prctl(PR_SET_DUMPABLE, 1);  // or its own /proc would be closed to it; the worker's is
    limit_this_process(own);
    die_with_parent();
    char begin = 0;
    if (recv(child_channel, &begin, 1, 0) != 1) return 1;
    on_served_by([shared = shared_](pid_t process) { shared->served_by = process; });
    CellRequest limited = request;
    limited.memory_mb = limits_.memory_mb;
    return body(limited);
  });
  if (child.process < 0) return Error{ErrorCode::internal, "the system refused a new process"};
  child.channel = std::move(channel->first);
  return child;
}

Result<CellProcess::Child> CellProcess::start(const CellRequest& request) {
  return start(request, [this](const CellRequest& limited) {
    Shared* const shared = shared_;
    auto run = run_cell(members_, limited, [shared](CellPhase phase) {
      shared->phase = static_cast<int>(phase);
      if (phase == CellPhase::solving) ++shared->attempts;
    });
    if (!run) return 2;
    if (limited.trace != TraceKind::none && members_.size() == 1) {
      auto csv = trace_cell(members_.front(), limited, *run);
      if (!csv) return 2;
      run->trace = std::move(*csv);
    }
    return send_claims(*run) ? 0 : 3;
  });
}

Result<CellProcess::Child> CellProcess::start_confirmation(const CellRequest& request, const CellRun& done,
                                                           bool warm_up) {
  return start(request, [&](const CellRequest& limited) {
    use_fresh_programs();
    const auto ready = [] {
      char begin = 0;
      return write_all(child_channel, encode_frame(FrameKind::ready, {})) && recv(child_channel, &begin, 1, 0) == 1;
    };
    bool sent = false;
    const auto answer = [&](const CellRun& run) { sent = send_claims(run); };
    return confirm_cell(members_.front(), limited, done, warm_up, ready, answer) && sent ? 0 : 3;
  });
}

/// Time between a byte for a child and its answer that is not the child's work [s]. It is measured once, with a child
/// that has run no solver and sends an answer of this length.
double CellProcess::channel_s(const CellRequest& request) {
  if (channel_s_) return *channel_s_;
  const auto child = start(request, [&](const CellRequest& limited) {
    CellRun run;
    run.record = blank_record(limited);
    run.record.reaction.assign(static_cast<std::size_t>(rows_of(members_)), 0.0);
    char begin = 0;
    for (std::size_t k = 0; k < round_trips; ++k) {
      if (recv(child_channel, &begin, 1, 0) != 1 || !send_claims(run)) return 1;
    }
    return 0;
  });
  std::vector<double> seconds;
  FrameBuffer received;
  const int channel = child ? child->channel.number() : -1;
  if (child) write_all(channel, "1");
  while (child && seconds.size() < round_trips) {
    const double began = monotonic_seconds();
    if (!write_all(channel, "1") || !wait_for_frame(received, channel)) break;
    seconds.push_back(monotonic_seconds() - began);
  }
  if (child) {
    kill(child->process, SIGKILL);
    wait_for_end(child->process);
  }
  const double median_s = seconds.size() == round_trips ? summarise_times(seconds).median : max_channel_s;
  channel_s_ = std::clamp(channel_margin * median_s, min_channel_s, max_channel_s);
  return *channel_s_;
}

/// Runs the request in the child `ready`, or, if that is null, in a new one. `counts` false: an answer is not judged.
CellProcess::Attempt CellProcess::attempt(const CellRequest& request, std::unique_ptr<Child> ready, bool counts,
                                          const Following& following) {
  Attempt attempt;
  auto started = ready ? Result<Child>(std::move(*ready)) : start(request);
  if (!started) {
    attempt.ending = AttemptEnding::terminated_externally;  // it says nothing of the solver
    attempt.run.record = ended_record(request, CellStatus::skipped, started.error().message);
    return attempt;
  }
  const Child child = std::move(*started);
  shared_->phase = static_cast<int>(CellPhase::starting);
  shared_->attempts = 0;
  shared_->served_by = 0;
  output_.clear();
  const double began = monotonic_seconds();
  write_all(child.channel.number(), "1");  // if it has ended, watch() finds out why

  std::optional<CellRun> answer;
  const auto take = [&](const Frame& frame) {
    answer = run_in(frame, request);
    if (!answer || !counts) return;
    // While it judges, the system frees the child's memory.
    const double before_s = answer->record.judge_s;
    judge_cell(members_, answer->record);
    answer->busy_s += answer->record.judge_s - before_s;
  };
  const auto make_following = [&] {
    const auto next = waiting_ || !following ? std::nullopt : following();
    auto next_child = next ? start(*next) : Result<Child>(Error{});
    if (next_child) waiting_ = std::make_unique<Child>(std::move(*next_child));
  };
  const double before_watch_s = monotonic_seconds() - began;
  const Watched watched = watch(child.process, child.channel.number(), shared_->attempts, shared_->served_by, limits_,
                                {[&] { return others(); }, take, make_following});

  if (auto failure = failure_of(watched, answer.has_value(), phase_text(shared_->phase), output_.last_output(),
                                limits_.memory_mb)) {
    attempt.ending = failure->ending;
    attempt.run.record = ended_record(request, failure->status, std::move(failure->reason));
    attempt.run.busy_s = watched.wall_s;
  } else {
    attempt.run = std::move(*answer);
    if (attempt.run.record.status == CellStatus::crashed) attempt.ending = AttemptEnding::crashed;
  }
  attempt.run.record.peak_memory_kb = watched.peak_kb;
  attempt.wall_s = before_watch_s + watched.wall_s;
  return attempt;
}

/// The claims of a frame; nullopt: it has none, or they are impossible.
std::optional<CellRun> CellProcess::run_in(const Frame& frame, const CellRequest& request) const {
  const auto claims = frame.kind == FrameKind::claims ? decode_claims(frame.payload) : std::nullopt;
  return claims ? run_of(*claims, request, static_cast<std::size_t>(rows_of(members_))) : std::nullopt;
}

/// probe_processor() on the children's processor; 0: they are not pinned.
double CellProcess::probe() const {
  cpu_set_t before{}, there{};
  if (limits_.pinned_processor < 0) return 0.0;
  CPU_SET(static_cast<unsigned>(limits_.pinned_processor), &there);
  if (sched_getaffinity(0, sizeof before, &before) != 0 || sched_setaffinity(0, sizeof there, &there) != 0) return 0.0;
  // What comes first is slow for itself; one may meet what is just ending there.
  probe_processor();
  const double seconds = std::min(probe_processor(), probe_processor());
  sched_setaffinity(0, sizeof before, &before);
  return seconds;
}

/// Runs `done` once more in a process that has not seen the problem. If foreign code runs in that process, this
/// process's clock times it. nullopt: it did not finish.
std::optional<CellProcess::Confirmation> CellProcess::confirm(const CellRequest& request, const CellRun& done,
                                                              bool warm_up) {
  const auto child = start_confirmation(request, done, warm_up);
  if (!child) return std::nullopt;
  shared_->attempts = 0;
  shared_->served_by = 0;
  const int channel = child->channel.number();
  write_all(channel, "1");
  double began = 0.0, waited_s = 0.0, probe_s = 0.0;
  std::optional<Confirmation> confirmed;
  const auto ready = [&] {
    probe_s = probe();
    waited_s = waited_seconds(child->process);
    began = monotonic_seconds();
    write_all(channel, "1");
  };
  const auto take = [&](const Frame& frame) {
    const double seconds = monotonic_seconds() - began;
    auto run = run_in(frame, request);
    if (!run || began <= 0.0) return;
    const double lost_s = std::max(0.0, waited_seconds(child->process) - waited_s - wake_up_s);
    const bool had_processor = had_its_processor(seconds - lost_s, seconds);
    confirmed = {.run = std::move(*run), .seconds = seconds, .had_processor = had_processor};
  };
  IsolationLimits limits = limits_;
  limits.time = limits.time.twice();
  const Watched watched = watch(child->process, channel, shared_->attempts, shared_->served_by, limits,
                                {[&] { return others(); }, take, [] {}, ready});
  if (watched.more || watched.killed != Killed::no) return std::nullopt;
  if (confirmed && confirmed->run.record.reaction.size() != done.record.reaction.size()) return std::nullopt;
  if (confirmed) confirmed->probe_s = std::max(probe_s, probe());
  return confirmed;
}

/// Checks the times that foreign code, or the process that it ran in, claims. If they differ too much from those of
/// this process's clock, it replaces them and records a doubt. `wall_s`: of the process of `done`.
void CellProcess::doubt(const CellRequest& request, CellRun& done, double wall_s) {
  const SolverRow& row = *find_solver(request.solver);
  const ForeignCode code = row.foreign;
  CellRecord& record = done.record;
  const bool own_clock = code == ForeignCode::plugin;
  // By that clock; it must not be used for other cells.
  if (own_clock) done.min_probe_s = 0.0;
  const bool batch = members_.size() > 1;
  if (code == ForeignCode::none || request.repeats.counts_only || (!batch && !record.solved) ||
      rows_of(members_) == 0 || request.trace != TraceKind::none)
    return;
  const auto add = [&](const TimeDoubt& doubt) {
    if (std::ranges::find(record.doubts, doubt.code) == record.doubts.end()) record.doubts.emplace_back(doubt.code);
  };
  // Less than 1 ms may be the loading of code.
  if (record.total.cold >= slow_first_ratio * record.total.median && record.total.cold >= 1e-3) add(slow_first);
  if (batch) return add(unconfirmed);
  // The last iteration may have ended the solve unseen.
  const long seen_iterations = std::min<long>(record.iterations, request.max_iterations) - 1;
  const bool hidden = row.info.observed_every_iteration && done.checks < scheduled_checks(seen_iterations);
  if (hidden && request.stop_by == StopBy::judge) add(own_tests);
  if (own_clock) {
    const double share = record.timed_rounds.empty() ? 0.0 : record.timed_rounds[0].cpu_share.value_or(0.0);
    const double threads = limits_.pinned_processor >= 0 ? 1.0 : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    // The system counts processor time in steps of some milliseconds, and may keep this process from its clock as long.
    constexpr double steps_s = 0.02;
    const bool too_busy = share > 1.05 * threads && (share - threads) * wall_s > steps_s;
    const bool too_much = record.repeats * record.total.minimum > wall_s + steps_s;
    if (share < 0.0 || too_busy || too_much) add(wrong_clock);
  }
  const double fresh_s = own_clock ? first_touch_s : fresh_program_s;
  const double claimed_s = std::min(record.total.cold, record.total.minimum);  // no more than the median
  const auto is_slower = [&](double seconds, double than, double factor = max_slowdown) {
    return seconds > factor * than + fresh_s;
  };
  const auto is_late = [&](double seconds) {
    return record.limit_s > 0.0 && CellTime(record.limit_s).is_late(seconds);
  };
  // All that the process did took no longer than that.
  if (own_clock && !is_slower(wall_s, claimed_s) && !is_late(wall_s)) return;

  const double channel = own_clock ? channel_s(request) : 0.0;
  const double began = monotonic_seconds();
  std::optional<Confirmation> fastest;
  RunTimes confirmations(request.repeats.min_probe_s);
  // What runs once has no process that could be warm; its files are in the system's memory from the runs before.
  bool warm_up = code != ForeignCode::program;
  for (int k = 0; k < max_confirmations; ++k) {
    if (k >= min_confirmations && monotonic_seconds() - began > confirmations_s) break;
    auto confirmed = confirm(request, done, warm_up);
    // Perhaps it takes only the first problem that it sees.
    if (!confirmed || confirmed->run.record.reaction.empty()) {
      warm_up = false;
      continue;
    }
    // Of a program the harness's own; else the clock inside is finer, and the one outside vouches for it.
    const double inside_s = confirmed->run.record.total.cold;
    confirmed->at_least = own_clock ? std::max(inside_s, confirmed->seconds - channel) : inside_s;
    if (confirmed->at_least <= inside_s) confirmed->seconds = inside_s;
    confirmed->wall_s = own_clock ? confirmed->at_least : confirmed->run.record.wall_s.value_or(inside_s);
    confirmations.add(
        {.solve_s = confirmed->at_least, .had_processor = confirmed->had_processor, .probe_s = confirmed->probe_s});
    const std::string differs = difference(record.reaction, confirmed->run.record.reaction);
    if (!differs.empty()) {
      CellRecord other = confirmed->run.record;
      judge_cell(members_, other);
      // The worse answer is kept, as for repeats.
      if (!other.solved) {
        other.doubts = record.doubts;
        other.peak_memory_kb = record.peak_memory_kb;
        record = std::move(other);
      }
      record.status = CellStatus::flaky;
      record.reason = "the run in a fresh process " + differs;
      // Its time counts none the less: what it claimed of its first run may be made up to differ here.
      fastest = std::move(confirmed);
      break;
    }
    if (!fastest || confirmed->at_least < fastest->at_least) fastest = std::move(confirmed);
    if (!is_slower(fastest->at_least, claimed_s) && !is_late(fastest->wall_s)) break;
  }
  done.busy_s += monotonic_seconds() - began;
  if (own_clock) done.min_probe_s = confirmations.min_probe();
  if (!fastest) return add(unconfirmed);
  const double seconds = fastest->seconds, inside_s = fastest->run.record.total.cold;
  // Without a probe of the core, several runs must agree. A slowed process does not have a slowed clock.
  const int wanted = fastest->probe_s > 0.0 ? 1 : min_confirmations;
  const bool is_quiet = confirmations.counted() >= wanted || (own_clock && is_slower(fastest->at_least, inside_s));
  if (is_slower(fastest->at_least, claimed_s, is_quiet ? max_slowdown : max_disturbed_slowdown)) {
    const bool lied = own_clock && (seconds > min_lie * record.total.cold + channel || is_slower(seconds, inside_s));
    add(lied ? wrong_clock : kept_answers);
    record.total = {lied ? seconds : record.total.cold, seconds, seconds, 0.0};
    // This process's clock can't separate set-up and solve.
    record.setup = own_clock ? TimingRecord{} : fastest->run.record.setup;
    record.solve = own_clock ? record.total : fastest->run.record.solve;
    if (!own_clock) record.wall_s = fastest->run.record.wall_s;
    record.repeats = 1;
    for (RoundRecord& round : record.timed_rounds) round.minimum = round.median = seconds;
  }
  const double slowest_s = std::max(record.total.cold, fastest->wall_s);
  if (is_late(slowest_s)) {
    record.total.cold = slowest_s;
    record.status = CellStatus::time_limit;
    record.claimed = record.solved = false;
  }
}

CellRun CellProcess::run(const CellRequest& request, const Following& following) {
  std::unique_ptr<Child> ready = std::move(waiting_);
  std::string first_crash;
  int external_kills = 0;
  for (;;) {
    Attempt last = attempt(request, std::move(ready), first_crash.empty(), following);
    CellRecord& record = last.run.record;
    if (last.ending == AttemptEnding::terminated_externally) {
      if (++external_kills < max_external_kills) continue;
      last.run.terminated_externally = true;
    }
    if (last.ending == AttemptEnding::crashed && first_crash.empty()) {
      first_crash = record.reason;
      continue;
    }
    if (!first_crash.empty() && last.ending == AttemptEnding::crashed) {
      // Two equal endings are a crash, even if their texts differ.
      record.reason = first_crash;
    } else if (!first_crash.empty()) {
      record.reason = fmt::format("crashed at first ({}), {} when tried again", first_crash, name(record.status));
      record.status = CellStatus::flaky;
      record.claimed = false;
      record.reaction.clear();
    }
    if (last.ending == AttemptEnding::answered) doubt(request, last.run, last.wall_s);
    return std::move(last.run);
  }
}

}  // namespace conebench
