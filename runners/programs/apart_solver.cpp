#include "runners/programs/apart_solver.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/child_process.hpp"
#include "base/utf8.hpp"
#include "runners/programs/ask_served.hpp"
#include "solvers/outside_time.hpp"

namespace conebench {

namespace {

/// One line that a child leaves in shared memory.
class SharedLine {
 public:
  void set(std::string_view text) {
    const std::string line = shorten(one_line(text), max_columns);
    const std::size_t size = std::min(line.size(), bytes_.size() - 1);
    *std::copy_n(line.begin(), size, bytes_.begin()) = '\0';
  }
  std::string get() const { return {bytes_.begin(), std::find(bytes_.begin(), bytes_.end(), '\0')}; }

 private:
  static constexpr std::size_t max_columns = 500;
  std::array<char, 4 * max_columns + 1> bytes_{};
};

/// A summary without texts of its own.
struct SharedSummary {
  bool starts = false;  ///< a kept program was started for this solve
  bool whole = false;   ///< all of it, and the impulse, were written
  SolveStatus status = SolveStatus::breakdown;
  Breakdown breakdown = Breakdown::none;
  Stall stall = Stall::unstated;
  long iterations = 0, factorizations = 0, operator_products = 0;
  double own_residual = 0.0, compliance_share = 0.0;
  bool solved_symmetrised = false;
  SharedLine message, stage;

  void set(const SolveSummary& summary) {
    status = summary.status;
    breakdown = summary.breakdown;
    stall = summary.stall;
    iterations = summary.iterations;
    factorizations = summary.factorizations;
    operator_products = summary.operator_products;
    own_residual = summary.own_residual;
    compliance_share = summary.compliance_share;
    solved_symmetrised = summary.solved_symmetrised;
    message.set(summary.message);
    stage.set(summary.stage);
  }
  SolveSummary get() const {
    SolveSummary summary;
    summary.status = status;
    summary.breakdown = breakdown;
    summary.stall = stall;
    summary.iterations = iterations;
    summary.factorizations = factorizations;
    summary.operator_products = operator_products;
    summary.own_residual = own_residual;
    summary.compliance_share = compliance_share;
    summary.solved_symmetrised = solved_symmetrised;
    summary.message = message.get();
    summary.stage = stage.get();
    return summary;
  }
};

/// Memory that a forked process shares with this one: a summary, and behind it an impulse.
class SharedAnswer {
 public:
  explicit SharedAnswer(Index rows)
      : bytes_(sizeof(SharedSummary) + sizeof(double) * static_cast<std::size_t>(rows)), rows_(rows) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    new (memory_) SharedSummary{};
  }
  ~SharedAnswer() { ::munmap(memory_, bytes_); }
  SharedAnswer(const SharedAnswer&) = delete;
  SharedAnswer& operator=(const SharedAnswer&) = delete;

  SharedSummary& summary() { return *static_cast<SharedSummary*>(memory_); }
  Eigen::Map<Vector> impulse() { return {reinterpret_cast<double*>(&summary() + 1), rows_}; }

 private:
  std::size_t bytes_;
  Index rows_;
  void* memory_ = nullptr;
};

/// How long a solver that was told its time is up has to end by itself [s].
constexpr double grace_s = 1.0;

/// The given monitor with a time limit, which programs are told.
class TimedMonitor final : public Monitor, public OutsideTimed {
 public:
  TimedMonitor(Monitor& monitor, double seconds) : monitor_(monitor), until_(Clock::now() + Seconds(seconds)) {
    next_ = monitor.next();
    allow({.seconds = seconds});
  }
  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override {
    return in_time(monitor_.propose(iteration, impulse, own_residual));
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override {
    return in_time(monitor_.observe(iteration, impulse, own_residual));
  }
  Decision in_time(Decision decision) {
    next_ = monitor_.next();
    return decision == Decision::keep_going && Clock::now() > until_ ? Decision::out_of_time : decision;
  }

  Monitor& monitor_;
  std::chrono::time_point<Clock, Seconds> until_;
};

SolveSummary without_answer(SolveStatus status, std::string why) {
  SolveSummary summary;
  summary.status = status;
  summary.breakdown = status == SolveStatus::breakdown ? Breakdown::error : Breakdown::none;
  summary.message = std::move(why);
  return summary;
}

class ApartSolver final : public Solver {
 public:
  ApartSolver(std::unique_ptr<Solver> solver, double seconds) : solver_(std::move(solver)), seconds_(seconds) {}

  const SolverInfo& info() const override { return solver_->info(); }

  /// Only by its flags: its own code is asked in the process of the solve.
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info(), problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override { return solver_->needs_matrix(problem); }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = std::make_unique<ContactProblem>(problem);
    if (needs_matrix(problem)) problem_->blocks();  // which the judge here uses, too
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    impulse = guess;
    SharedAnswer answer(problem_->rows());
    output_.clear();
    const pid_t child = fork_process({.channel = -1, .output = output_.descriptor()}, [&] {
      limit_this_process({.file_mb = 16.0, .oom_score = 1000});
      on_served_by([&](pid_t program) { answer.summary().starts = program < 0; });
      answer.summary().set(solve_here(guess, stop, monitor, answer.impulse()));
      answer.summary().whole = true;
      return 0;
    });
    if (child < 0) return without_answer(SolveStatus::breakdown, "the system refused a new process");
    const bool in_time =
        ends_within(child, seconds_ + grace_s) || (answer.summary().starts && ends_within(child, max_seconds_to_start));
    if (!in_time) {
      for (const pid_t process : with_descendants({child})) ::kill(process, SIGKILL);
    }
    ::kill(-child, SIGKILL);  // its orphans
    const int status = wait_for_end(child);
    if (!in_time) return without_answer(SolveStatus::time_limit, fmt::format("ended after its {:g} s", seconds_));
    const SharedSummary& given = answer.summary();
    if (status != 0 || !given.whole || given.status > SolveStatus::unsupported) {
      const std::string printed = output_.last_output();
      return without_answer(SolveStatus::breakdown, fmt::format("its process ended with {}{}{}", ending_text(status),
                                                                printed.empty() ? "" : ": ", printed));
    }
    impulse = answer.impulse();
    return given.get();
  }

 private:
  SolveSummary solve_here(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) noexcept {
    impulse = guess;
    TimedMonitor timed(monitor, seconds_);
    try {
      if (const auto ready = solver_->prepare(*problem_); !ready) {
        return without_answer(SolveStatus::unsupported, ready.error().message);
      }
      return solver_->solve(guess, stop, timed, impulse);
    } catch (const std::exception& failure) {
      impulse = guess;
      return without_answer(SolveStatus::breakdown, failure.what());
    }
  }

  std::unique_ptr<Solver> solver_;
  double seconds_;
  OutputCatcher output_;
  std::unique_ptr<ContactProblem> problem_;
};

}  // namespace

Result<std::unique_ptr<Solver>> make_apart(const SolverRow& row, const OptionValues& options, double seconds) {
  CONEBENCH_TRY(auto solver, row.make(options));
  return std::unique_ptr<Solver>(std::make_unique<ApartSolver>(std::move(solver), seconds));
}

}  // namespace conebench
