#include "solvers/batch/batch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/workers.hpp"
#include "metrics/residuals.hpp"
#include "problems/scaled_rows.hpp"
#include "solvers/many_solver.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Accepts by the verdict where the rule says so, ends at the time limit, and keeps its own time apart.
class BatchMonitor final : public Monitor {
 public:
  BatchMonitor(Verdict* verdict, double tolerance, double limit_s)
      : verdict_(verdict), tolerance_(tolerance), begin_(seconds_now()), limit_s_(limit_s) {}
  double checks_s() const { return checks_s_; }
  void turn_to(const ProblemPart* part, long begun) override {
    const double begin = seconds_now();
    if (verdict_ != nullptr) verdict_->restrict_to(part);
    begun_ = begun;
    next_ = begun + 1;
    checks_s_ += seconds_now() - begin;
  }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double) override {
    next_ = begun_ + next_check(iteration - begun_);
    const double begin = seconds_now();
    const bool passed = verdict_ != nullptr && (*verdict_)(impulse) <= tolerance_;
    const double end = seconds_now();
    checks_s_ += end - begin;
    if (end - begin_ - checks_s_ > limit_s_) return Decision::out_of_time;
    return passed ? Decision::accept : Decision::keep_going;
  }

  Verdict* verdict_;
  double tolerance_, begin_, limit_s_;
  double checks_s_ = 0.0;
  long begun_ = 0;  ///< iterations before the part's
};

struct Member {
  ContactProblem problem;
  Verdict verdict;
  Index first_row;
  std::unique_ptr<Solver> solver = nullptr;
};

}  // namespace

struct Batch::Parts {
  BatchOptions options;
  Workers workers;
  std::vector<Member> members;
  std::vector<BatchAnswer> answers;
  Index rows = 0;
  double wall_s = 0.0;
  /// Where the solver takes many problems at once; the members that it was given, and what it is told and says.
  std::unique_ptr<ManySolver> many;
  std::vector<std::size_t> given;
  Vector row_units, scaled_guess;
  std::vector<const double*> guesses;
  std::vector<double*> impulses;
  std::vector<SolveSummary> summaries;

  explicit Parts(const BatchOptions& wanted) : options(wanted), workers(wanted.threads) {}

  /// work(k) for every member, each by the next thread that is free.
  template <class Work>
  void for_each_member(const Work& work) {
    std::atomic<std::size_t> next = 0;
    workers.run(static_cast<std::size_t>(workers.count()), [&](std::size_t, std::size_t) {
      for (std::size_t k = next++; k < members.size(); k = next++) work(k);
    });
  }

  void set_up(const SolverRow& row);
  void set_up_member(const SolverRow& row, std::size_t k);
  Result<void> set_up_many(const SolverRow& row);
  void refuse(std::size_t k, std::string reason);
  void solve_member(std::size_t k, ConstVectorRef guess, VectorRef impulse);
  void solve_many(ConstVectorRef from, VectorRef to);
  void judge_member(std::size_t k, ConstVectorRef impulse);
  auto part(std::size_t k, auto& vector) const {
    return vector.segment(members[k].first_row, members[k].problem.rows());
  }
};

void Batch::Parts::refuse(std::size_t k, std::string reason) {
  answers[k].summary.status = SolveStatus::unsupported;
  answers[k].summary.message = std::move(reason);
  members[k].solver.reset();
}

void Batch::Parts::set_up_member(const SolverRow& row, std::size_t k) try {
  Member& member = members[k];
  member.solver = std::move(row.make(options.options)).value();
  if (auto reason = member.solver->unsupported_reason(member.problem)) return refuse(k, std::move(*reason));
  const double begin = seconds_now();
  const auto ready = member.solver->prepare(member.problem);
  answers[k].setup_s = seconds_now() - begin;
  if (!ready) refuse(k, ready.error().message);
} catch (const std::exception& exception) {
  refuse(k, exception.what());
}

Result<void> Batch::Parts::set_up_many(const SolverRow& row) {
  CONEBENCH_TRY(auto made, row.make_many(options.options));
  many = std::move(made);
  row_units.setOnes(rows);
  std::vector<ContactProblem> taken;
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (auto reason = many->unsupported_reason(members[k].problem)) {
      refuse(k, std::move(*reason));
    } else {
      given.push_back(k);
      const Vector units = row_units_of(members[k].problem);
      CONEBENCH_TRY(auto scaled, in_row_units(members[k].problem, units));
      part(k, row_units) = units;
      taken.push_back(std::move(scaled));
    }
  }
  scaled_guess.setZero(rows);
  guesses.resize(given.size());
  impulses.resize(given.size());
  summaries.resize(given.size());
  const double begin = seconds_now();
  CONEBENCH_CHECK(many->prepare(taken));
  for (const std::size_t k : given) answers[k].setup_s = (seconds_now() - begin) / static_cast<double>(given.size());
  return {};
}

void Batch::Parts::judge_member(std::size_t k, ConstVectorRef impulse) {
  BatchAnswer& answer = answers[k];
  answer.verdict = members[k].verdict(impulse);
  answer.solved = answer.verdict <= options.stop.tolerance;
  const bool open = answer.verdict <= open_verdict * options.stop.tolerance;
  if (!answer.solved && open) {
    const Judgement judgement = judge(members[k].problem, impulse);
    answer.solved = is_solved(judgement[options.verdict], options.stop.tolerance);
    answer.verdict = judgement[options.verdict].value;
  }
}

void Batch::Parts::solve_member(std::size_t k, ConstVectorRef guess, VectorRef impulse) {
  Member& member = members[k];
  BatchAnswer& answer = answers[k];
  impulse.setZero();
  if (!member.solver) return;
  const bool judged = options.stop.stop_by != StopBy::solver;
  const double begin = seconds_now();
  BatchMonitor monitor(judged ? &member.verdict : nullptr, options.stop.tolerance, options.time_limit_s);
  try {
    answer.summary = member.solver->solve(guess, options.stop, monitor, impulse);
  } catch (const std::exception& exception) {
    answer.summary = {};
    answer.summary.status = SolveStatus::breakdown;
    answer.summary.breakdown = Breakdown::error;
    answer.summary.message = exception.what();
  }
  answer.solve_s = seconds_now() - begin - monitor.checks_s();
  judge_member(k, impulse);
}

void Batch::Parts::solve_many(ConstVectorRef from, VectorRef to) {
  to.setZero();
  scaled_guess = from.cwiseQuotient(row_units);
  for (std::size_t i = 0; i < given.size(); ++i) {
    guesses[i] = scaled_guess.data() + members[given[i]].first_row;
    impulses[i] = to.data() + members[given[i]].first_row;
  }
  StopRule own = options.stop;
  own.stop_by = StopBy::solver;
  many->solve(guesses, own, impulses, summaries);
  to.array() *= row_units.array();
  for (std::size_t i = 0; i < given.size(); ++i) {
    answers[given[i]].summary = summaries[i];
    answers[given[i]].solve_s = std::numeric_limits<double>::quiet_NaN();
    judge_member(given[i], part(given[i], to));
  }
}

Result<Batch> Batch::create(const BatchOptions& options, std::span<const ContactProblem> problems) {
  if (options.threads < 1) {
    return Error{ErrorCode::wrong_usage, fmt::format("threads: {} must be 1 or more", options.threads)};
  }
  CONEBENCH_TRY(const SolverRow* const row, require_solver(options.solver));
  CONEBENCH_CHECK(row->effective_options(options.options));
  if (row->info.own_process && row->foreign == ForeignCode::none) {
    return Error{ErrorCode::wrong_usage, options.solver + ": runs in a process of its own, which no batch can hold"};
  }
  auto parts = std::make_unique<Parts>(options);
  parts->answers.resize(problems.size());
  for (const ContactProblem& problem : problems) {
    CONEBENCH_TRY(auto verdict, Verdict::create(options.verdict, problem));
    parts->members.push_back({.problem = problem, .verdict = std::move(verdict), .first_row = parts->rows});
    parts->rows += problem.rows();
  }
  if (row->load) row->load();
  if (row->make_many) {
    CONEBENCH_CHECK(parts->set_up_many(*row));
  } else {
    parts->for_each_member([&](std::size_t k) { parts->set_up_member(*row, k); });
  }
  return Batch(std::move(parts));
}

std::span<const BatchAnswer> Batch::solve(ConstVectorRef guesses, VectorRef impulses) {
  const double begin = seconds_now();
  if (parts_->many) {
    parts_->solve_many(guesses, impulses);
  } else {
    parts_->for_each_member(
        [&](std::size_t k) { parts_->solve_member(k, parts_->part(k, guesses), parts_->part(k, impulses)); });
  }
  parts_->wall_s = seconds_now() - begin;
  return parts_->answers;
}

Batch::Batch(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

Index Batch::size() const { return static_cast<Index>(parts_->members.size()); }
Index Batch::rows() const { return parts_->rows; }
Index Batch::first_row(Index k) const { return parts_->members[static_cast<std::size_t>(k)].first_row; }
double Batch::wall_s() const { return parts_->wall_s; }

}  // namespace conebench
