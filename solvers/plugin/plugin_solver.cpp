#include "solvers/plugin/plugin_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/utf8.hpp"
#include "solvers/attempts.hpp"
#include "solvers/claimed_iterations.hpp"
#include "solvers/plugin/plugin_file.hpp"
#include "solvers/plugin/problem_view.hpp"

namespace conebench {

namespace {

using Message = std::array<char, CONEBENCH_MESSAGE_BYTES>;

std::string text(const char* message, std::size_t size) {
  return one_line(std::string_view(message, strnlen(message, size)));
}

/// A monitor as plug-ins see it.
class MonitorView {
 public:
  MonitorView(Monitor& monitor, Index rows) : seen_{monitor, rows} {
    view_ = {should_check, observe, propose, start_over, &seen_};
  }
  conebench_monitor* get() { return &view_; }

 private:
  struct Seen {
    Monitor& monitor;
    Index rows;
  };
  static Seen& seen(const conebench_monitor* monitor) { return *static_cast<Seen*>(monitor->harness); }
  static conebench_decision decision(Decision decision) {
    if (decision == Decision::accept) return CONEBENCH_ACCEPT;
    return decision == Decision::out_of_time ? CONEBENCH_OUT_OF_TIME : CONEBENCH_KEEP_GOING;
  }
  static int should_check(const conebench_monitor* monitor, std::int64_t k) {
    return seen(monitor).monitor.should_check(k) ? 1 : 0;
  }
  static conebench_decision observe(conebench_monitor* monitor, std::int64_t k, const double* impulse, double own) {
    const Seen& s = seen(monitor);
    return decision(s.monitor.observe(k, Eigen::Map<const Vector>(impulse, s.rows), own));
  }
  static conebench_decision propose(conebench_monitor* monitor, std::int64_t k, const double* impulse, double own) {
    const Seen& s = seen(monitor);
    return decision(s.monitor.propose(k, Eigen::Map<const Vector>(impulse, s.rows), own));
  }
  static void start_over(conebench_monitor* monitor) {
    if (Attempts* const attempts = attempts_of(seen(monitor).monitor)) attempts->start_over();
  }

  Seen seen_;
  conebench_monitor view_{};
};

SolveSummary summary_of(const conebench_summary& reported, const std::string& id, long max_iterations) {
  constexpr std::array statuses = {SolveStatus::converged, SolveStatus::max_iterations, SolveStatus::time_limit,
                                   SolveStatus::stalled,   SolveStatus::diverged,       SolveStatus::breakdown};
  constexpr std::array breakdowns = {Breakdown::none,        Breakdown::singular, Breakdown::cycle,
                                     Breakdown::no_solution, Breakdown::error,    Breakdown::queue_exhausted};
  const auto status = static_cast<long>(reported.status), breakdown = static_cast<long>(reported.breakdown);
  if (status < 0 || status >= static_cast<long>(statuses.size()) || breakdown < 0 ||
      breakdown >= static_cast<long>(breakdowns.size()) || reported.iterations < 0) {
    throw std::runtime_error(fmt::format("{} answered with status {}, breakdown {} and {} iterations", id, status,
                                         breakdown, reported.iterations));
  }
  SolveSummary summary;
  summary.status = statuses[static_cast<std::size_t>(status)];
  summary.breakdown = breakdowns[static_cast<std::size_t>(breakdown)];
  summary.message = text(reported.message, sizeof reported.message);
  summary.iterations = claimed_iterations(reported.iterations, max_iterations);
  summary.factorizations = std::max<long>(reported.factorizations, not_counted);
  summary.operator_products = std::max<long>(reported.operator_products, not_counted);
  summary.own_residual = reported.own_residual;
  summary.solved_symmetrised = reported.solved_symmetrised != 0;
  return summary;
}

/// A solver of a library that is loaded where it is first needed, with its options.
class Loaded {
 public:
  Loaded(const FileStamp& file, std::size_t index, SolverInfo info, const std::vector<OptionSpec>& specs,
         const OptionValues& values)
      : file_(file), index_(index), info_(std::move(info)), texts_(specs.size()) {
    for (std::size_t k = 0; k < specs.size(); ++k) options_.push_back(value_of(values.at(specs[k].name), texts_[k]));
  }

  const SolverInfo& info() const { return info_; }
  const conebench_value* options() const { return options_.data(); }

  const conebench_solver& solver() const {
    if (solver_ == nullptr) {
      const bool unchanged = file_.same_now();
      const PluginFile library = unchanged ? open_plugin(file_.file.string()) : PluginFile{};
      const bool same = unchanged && library.failure.empty() && index_ < library.plugin->solver_count &&
                        info_.id == library.plugin->solvers[index_].id &&
                        options_.size() == library.plugin->solvers[index_].option_count;
      if (!same) {
        throw std::runtime_error(file_.file.string() + ": " +
                                 (library.failure.empty() ? "has changed meanwhile; run again" : library.failure));
      }
      solver_ = &library.plugin->solvers[index_];
      many_ = library.many == nullptr ? nullptr : library.many(index_);
    }
    return *solver_;
  }
  /// Null where it takes one problem at a time only.
  const conebench_many* many() const { return solver(), many_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const {
    // Asked once a problem: the answer is the same, and what it takes is the solver's time.
    if (supported_ == problem.data_hash()) return std::nullopt;
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    if (solver().supports == nullptr) return std::nullopt;
    Message reason{};
    if (solver().supports(ProblemView(problem, 0).get(), options(), reason.data()) != 0) {
      supported_ = problem.data_hash();
      return std::nullopt;
    }
    const std::string given = text(reason.data(), reason.size());
    return given.empty() ? info_.id + " gives no reason" : given;
  }

  Error set_up_failed(const Message& message) const {
    const std::string given = text(message.data(), message.size());
    return {ErrorCode::unsupported, given.empty() ? info_.id + "'s set-up failed without a reason" : given};
  }

 private:
  static conebench_value value_of(const OptionValue& value, std::string& kept) {
    conebench_value out{};
    if (const auto* real = std::get_if<double>(&value)) out.real = *real;
    if (const auto* integer = std::get_if<long>(&value)) out.integer = *integer;
    if (const auto* flag = std::get_if<bool>(&value)) out.flag = *flag ? 1 : 0;
    if (const auto* choice = std::get_if<std::string>(&value)) {
      kept = *choice;
      out.text = kept.c_str();
    }
    return out;
  }

  FileStamp file_;
  std::size_t index_;
  SolverInfo info_;
  std::vector<std::string> texts_;
  std::vector<conebench_value> options_;
  mutable const conebench_solver* solver_ = nullptr;
  mutable const conebench_many* many_ = nullptr;
  mutable std::string supported_;  ///< hash of the problem that it takes
};

conebench_stop rule_of(const StopRule& stop) {
  return {stop.tolerance, stop.max_iterations,
          stop.stop_by == StopBy::solver ? CONEBENCH_STOP_BY_SOLVER : CONEBENCH_STOP_BY_JUDGE};
}

conebench_summary blank_summary() {
  conebench_summary summary{};
  summary.factorizations = summary.operator_products = not_counted;
  summary.own_residual = std::numeric_limits<double>::quiet_NaN();
  return summary;
}

class PluginSolver final : public Solver {
 public:
  PluginSolver(Loaded loaded, unsigned uses) : loaded_(std::move(loaded)), uses_(uses) {}
  ~PluginSolver() override { release(); }

  const SolverInfo& info() const override { return loaded_.info(); }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return loaded_.unsupported_reason(problem);
  }
  bool needs_matrix(const ContactProblem&) const override {
    return (uses_ & (CONEBENCH_BLOCKS | CONEBENCH_DENSE)) != 0;
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    release();
    problem_ = std::make_unique<ProblemView>(problem, uses_);
    Message message{};
    state_ = loaded_.solver().prepare(problem_->get(), loaded_.options(), message.data());
    if (state_ == nullptr) return loaded_.set_up_failed(message);
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary nothing;
    if (guess.size() == 0) return nothing.status = SolveStatus::converged, nothing;
    const conebench_stop rule = rule_of(stop);
    MonitorView view(monitor, impulse.size());
    conebench_summary reported = blank_summary();
    loaded_.solver().solve(state_, guess.data(), &rule, view.get(), impulse.data(), &reported);
    return summary_of(reported, info().id, stop.max_iterations);
  }

 private:
  void release() {
    if (state_ != nullptr) loaded_.solver().release(state_);
    state_ = nullptr;
  }

  Loaded loaded_;
  unsigned uses_;
  std::unique_ptr<ProblemView> problem_;
  void* state_ = nullptr;
};

class PluginManySolver final : public ManySolver {
 public:
  PluginManySolver(Loaded loaded, unsigned uses) : loaded_(std::move(loaded)), uses_(uses) {}
  ~PluginManySolver() override { release(); }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return loaded_.unsupported_reason(problem);
  }

  Result<void> prepare(std::span<const ContactProblem> problems) override {
    release();
    std::vector<const conebench_problem*> views;
    problems_.clear();
    for (const ContactProblem& problem : problems) {
      views.push_back(problems_.emplace_back(std::make_unique<ProblemView>(problem, uses_))->get());
    }
    reported_.resize(problems.size());
    Message message{};
    state_ = loaded_.many()->prepare(views.size(), views.data(), loaded_.options(), message.data());
    if (state_ == nullptr) return loaded_.set_up_failed(message);
    return {};
  }

  void solve(std::span<const double* const> guesses, const StopRule& stop, std::span<double* const> impulses,
             std::span<SolveSummary> summaries) override {
    if (guesses.empty()) return;
    const conebench_stop rule = rule_of(stop);
    std::fill(reported_.begin(), reported_.end(), blank_summary());
    loaded_.many()->solve(state_, guesses.data(), &rule, impulses.data(), reported_.data());
    for (std::size_t k = 0; k < summaries.size(); ++k) {
      summaries[k] = summary_of(reported_[k], loaded_.info().id, stop.max_iterations);
    }
  }

 private:
  void release() {
    if (state_ != nullptr) loaded_.many()->release(state_);
    state_ = nullptr;
  }

  Loaded loaded_;
  unsigned uses_;
  std::vector<std::unique_ptr<ProblemView>> problems_;
  std::vector<conebench_summary> reported_;
  void* state_ = nullptr;
};

}  // namespace

std::unique_ptr<Solver> make_plugin_solver(const FileStamp& file, std::size_t index, SolverInfo info,
                                           const std::vector<OptionSpec>& specs, const OptionValues& values,
                                           unsigned uses) {
  return std::make_unique<PluginSolver>(Loaded(file, index, std::move(info), specs, values), uses);
}

std::unique_ptr<ManySolver> make_plugin_many_solver(const FileStamp& file, std::size_t index, SolverInfo info,
                                                    const std::vector<OptionSpec>& specs, const OptionValues& values,
                                                    unsigned uses) {
  return std::make_unique<PluginManySolver>(Loaded(file, index, std::move(info), specs, values), uses);
}

}  // namespace conebench
