#include "solvers/rolling/rolling_cascade.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "solvers/admm/admm.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/newton/nonsmooth_newton.hpp"

namespace conebench {

namespace {

constexpr long first_sweeps = 60;
constexpr long newton_steps = 30;  ///< of one attempt

SolverRow row_of(std::vector<SolverRow> rows, const std::string& id) {
  for (SolverRow& row : rows) {
    if (row.info.id == id) return std::move(row);
  }
  throw std::logic_error("no solver row " + id);
}

// The tables of rows take longer to make than a small problem to solve.
std::unique_ptr<Solver> made_nsgs() {
  static const SolverRow row = row_of(gauss_seidel::solver_rows(), "NSGS");
  return row.make({}).value();
}
std::unique_ptr<Solver> made_newton() {
  static const SolverRow row = row_of(nonsmooth_newton_rows(), "NSN-NM");
  return row.make({}).value();
}
std::unique_ptr<Solver> made_admm() {
  static const SolverRow row = row_of(admm_rows(), "ADMM-NCP-SA-S");
  return row.make({}).value();
}

class RollingCascade final : public Solver {
 public:
  RollingCascade(SolverInfo info, std::unique_ptr<Solver> coulomb)
      : info_(std::move(info)), coulomb_(std::move(coulomb)) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return problem.cones().rolls() ? unsupported_by_flags(info_, problem) : coulomb_->unsupported_reason(problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override {
    return problem.cones().rolls() || coulomb_->needs_matrix(problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    rolls_ = problem.cones().rolls();
    if (!rolls_) return coulomb_->prepare(problem);
    problem_ = problem;
    residuals_ = std::make_unique<gauss_seidel::OwnResiduals>(problem, gauss_seidel::OwnModel::ncp);
    newton_prepared_ = admm_prepared_ = false;
    best_.setZero(problem.rows());
    point_ = start_ = best_;
    if (!sweeps_) sweeps_ = made_nsgs();
    return sweeps_->prepare(problem);
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    if (!rolls_) return coulomb_->solve(guess, stop, monitor, impulse);
    stop_ = stop;
    outer_ = &monitor;
    summary_ = {};
    seen_ = 0;
    least_ = std::numeric_limits<double>::infinity();
    ended_ = Decision::keep_going;
    project_cone(problem_->cones(), guess, point_);
    best_ = point_;
    if (problem_->rows() == 0) {
      summary_.status = SolveStatus::converged;
      summary_.own_residual = 0.0;
      return summary_;
    }
    run(*sweeps_, "rolling: sweeps", first_sweeps);
    if (going_on()) run_admm();
    if (going_on()) run(*sweeps_, "rolling: sweeps to the end", stop_.max_iterations);
    impulse = best_;
    summary_.own_residual = least_;
    summary_.status = ended_ == Decision::accept        ? SolveStatus::converged
                      : ended_ == Decision::out_of_time ? SolveStatus::time_limit
                      : left() <= 0                     ? SolveStatus::max_iterations
                                                        : SolveStatus::stalled;
    if (summary_.status == SolveStatus::stalled) summary_.stall = Stall::stages;
    return summary_;
  }

 private:
  enum class Newton { never, from_the_fourth };

  /// Watches one stage: measures its points on a schedule and lets Newton's method start from some of them.
  class Stage final : public Monitor {
   public:
    Stage(RollingCascade& owner, Newton newton) : owner_(owner), newton_(newton) {}

   private:
    Decision check(long iteration, ConstVectorRef impulse, double) override {
      Decision decision = owner_.see(impulse);
      if (decision == Decision::keep_going && newton_ != Newton::never && iteration >= next_attempt_) {
        next_attempt_ = 3 * iteration;
        decision = owner_.attempt(impulse);
      }
      next_ = newton_ == Newton::never ? iteration + 1 : iteration + 1 + iteration / 10;
      return decision == Decision::keep_going ? decision : Decision::accept;
    }
    RollingCascade& owner_;
    Newton newton_;
    long next_attempt_ = 4;
  };

  long left() const { return stop_.max_iterations - summary_.iterations; }
  bool going_on() const { return ended_ == Decision::keep_going && left() > 0; }

  /// A point of a stage: kept if it is the best, and shown to whom it concerns.
  Decision see(ConstVectorRef impulse) {
    ++seen_;
    ++summary_.operator_products;
    const double error = residuals_->natural_map(impulse);
    if (error < least_) {
      least_ = error;
      best_ = impulse;
    }
    const bool good = error <= stop_.tolerance;
    if (good && stop_.stop_by == StopBy::solver) {
      ended_ = Decision::accept;
    } else if (good) {
      ended_ = outer_->propose(seen_, impulse, error);
    } else if (outer_->should_check(seen_)) {
      ended_ = outer_->observe(seen_, impulse, error);
    }
    if (ended_ == Decision::accept) {
      best_ = impulse;
      summary_.stage = stage_;
    }
    return ended_;
  }

  /// Newton steps from a point of another stage.
  Decision attempt(ConstVectorRef from) {
    if (!newton_) newton_ = made_newton();
    if (!std::exchange(newton_prepared_, true)) newton_fits_ = newton_->prepare(*problem_).ok();
    if (!newton_fits_) return ended_;
    const char* const outer = std::exchange(stage_, "rolling: Newton");
    run_from(*newton_, from, std::min(newton_steps, left()), Newton::never);
    stage_ = outer;
    return ended_;
  }

  void run(Solver& stage, const char* name, long max_iterations) {
    stage_ = name;
    start_ = best_;
    run_from(stage, start_, std::min(max_iterations, left()), Newton::from_the_fourth);
  }
  void run_from(Solver& stage, ConstVectorRef from, long max_iterations, Newton newton) {
    if (max_iterations <= 0) return;
    Stage watch(*this, newton);
    // The stage's own test is never asked: its monitor decides.
    const StopRule rule{.tolerance = 0.0, .max_iterations = max_iterations, .stop_by = StopBy::judge};
    Vector& end = newton == Newton::never ? newton_end_ : point_;
    end.resize(problem_->rows());
    const SolveSummary part = stage.solve(from, rule, watch, end);
    summary_.iterations += part.iterations;
    summary_.factorizations += part.factorizations;
    summary_.operator_products += part.operator_products;
  }

  void run_admm() {
    if (!admm_) admm_ = made_admm();
    if (!std::exchange(admm_prepared_, true)) admm_fits_ = admm_->prepare(*problem_).ok();
    if (!admm_fits_) return;
    run(*admm_, "rolling: ADMM", stop_.max_iterations);
  }

  SolverInfo info_;
  std::unique_ptr<Solver> coulomb_;
  bool rolls_ = false;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<gauss_seidel::OwnResiduals> residuals_;
  std::unique_ptr<Solver> sweeps_, newton_, admm_;  ///< made at their first use
  bool newton_prepared_ = false, newton_fits_ = false, admm_prepared_ = false, admm_fits_ = false;
  // Of the solve in progress.
  StopRule stop_;
  Monitor* outer_ = nullptr;
  SolveSummary summary_;
  const char* stage_ = "";
  long seen_ = 0;
  double least_ = 0.0;
  Decision ended_ = Decision::keep_going;
  Vector best_, point_, start_, newton_end_;
};

}  // namespace

std::unique_ptr<Solver> with_rolling_friction(SolverInfo info, std::unique_ptr<Solver> coulomb) {
  return std::make_unique<RollingCascade>(std::move(info), std::move(coulomb));
}

}  // namespace conebench
