#include "solvers/cascade/friction_cascade.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "solvers/admm/admm.hpp"
#include "solvers/cascade/cone_path.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"

namespace conebench::cascade {

namespace {

constexpr long first_sweeps = 60;
constexpr long path_steps = 1200;       ///< of Newton, on each proximal path
constexpr long admm_iterations = 2000;  ///< before the second path

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
std::unique_ptr<Solver> made_admm() {
  static const SolverRow row = row_of(admm_rows(), "ADMM-NCP-SA-S");
  return row.make({}).value();
}

class FrictionCascade final : public Solver, private ConePath::Observer {
 public:
  FrictionCascade(SolverInfo info, std::unique_ptr<Solver> coulomb)
      : info_(std::move(info)), coulomb_(std::move(coulomb)) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return problem.cones().coulomb() ? coulomb_->unsupported_reason(problem) : unsupported_by_flags(info_, problem);
  }

  bool needs_matrix(const ContactProblem& problem) const override {
    return !problem.cones().coulomb() || coulomb_->needs_matrix(problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    general_ = !problem.cones().coulomb();
    if (!general_) return coulomb_->prepare(problem);
    problem_ = problem;
    residuals_ = std::make_unique<gauss_seidel::OwnResiduals>(problem, gauss_seidel::OwnModel::ncp);
    path_.reset();
    admm_prepared_ = false;
    best_.setZero(problem.rows());
    point_ = start_ = best_;
    if (!sweeps_) sweeps_ = made_nsgs();
    return sweeps_->prepare(problem);
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    if (!general_) return coulomb_->solve(guess, stop, monitor, impulse);
    stop_ = stop;
    outer_ = &monitor;
    summary_ = {};
    seen_ = stage_iterations_ = 0;
    min_residual_ = std::numeric_limits<double>::infinity();
    ended_ = Decision::keep_going;
    project_cone(problem_->cones(), guess, point_);
    best_ = point_;
    if (problem_->rows() == 0) {
      summary_.status = SolveStatus::converged;
      summary_.own_residual = 0.0;
      return summary_;
    }
    run(*sweeps_, "cones: sweeps", first_sweeps);
    if (going_on()) follow_path(Vector::Zero(problem_->rows()), tuned.first_shift);
    if (going_on()) run_admm();
    if (going_on()) follow_path(best_, tuned.max_shift);
    if (going_on()) run(*sweeps_, "cones: sweeps to the end", stop_.max_iterations);
    impulse = best_;
    summary_.own_residual = min_residual_;
    summary_.status = ended_ == Decision::accept        ? SolveStatus::converged
                      : ended_ == Decision::out_of_time ? SolveStatus::time_limit
                      : left() <= 0                     ? SolveStatus::max_iterations
                                                        : SolveStatus::stalled;
    if (summary_.status == SolveStatus::stalled) summary_.stall = Stall::stages;
    return summary_;
  }

 private:
  /// Watches one stage: measures its points on a schedule and lets Newton's method start from some of them.
  class Stage final : public Monitor {
   public:
    explicit Stage(FrictionCascade& owner) : owner_(owner) {}

   private:
    Decision check(long iteration, ConstVectorRef impulse, double) override {
      owner_.stage_iterations_ = iteration;
      owner_.see(impulse);
      if (owner_.going_on() && iteration >= next_attempt_) {
        next_attempt_ = 3 * iteration;
        owner_.attempt(impulse);
      }
      next_ = iteration + std::min(1 + iteration / 10, std::max(1L, owner_.left()));
      return owner_.going_on() ? Decision::keep_going : Decision::accept;
    }
    FrictionCascade& owner_;
    long next_attempt_ = 4;
  };

  long left() const { return stop_.max_iterations - summary_.iterations - stage_iterations_; }
  bool going_on() const { return ended_ == Decision::keep_going && left() > 0; }

  bool over() const override { return !going_on(); }
  /// A point of a stage: kept if it is the best, and shown to whom it concerns.
  double see(ConstVectorRef impulse) override {
    if (ended_ != Decision::keep_going) return min_residual_;
    ++seen_;
    ++summary_.operator_products;
    const double error = residuals_->natural_map(impulse);
    if (error < min_residual_) {
      min_residual_ = error;
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
    return error;
  }

  /// Newton steps from a point of another stage.
  void attempt(ConstVectorRef from) {
    const char* const outer = std::exchange(stage_, "cones: Newton");
    path().newton(from, ConePath::first, *this, summary_);
    stage_ = outer;
  }

  void follow_path(const Vector& from, double shift) {
    stage_ = "cones: proximal path";
    start_ = from;
    path().follow(start_, shift, std::min(path_steps, left()), *this, summary_);
  }

  ConePath& path() {
    if (!path_) path_.emplace(*problem_);
    return *path_;
  }

  void run(Solver& stage, const char* name, long max_iterations) {
    stage_ = name;
    start_ = best_;
    Stage watch(*this);
    // The stage's own test is never asked: its monitor decides.
    const StopRule rule{.tolerance = 0.0, .max_iterations = std::min(max_iterations, left()), .stop_by = StopBy::judge};
    const SolveSummary part = stage.solve(start_, rule, watch, point_);
    summary_.iterations += part.iterations;
    stage_iterations_ = 0;
    summary_.factorizations += part.factorizations;
    summary_.operator_products += part.operator_products;
  }

  void run_admm() {
    if (!admm_) admm_ = made_admm();
    if (!std::exchange(admm_prepared_, true)) admm_fits_ = admm_->prepare(*problem_).ok();
    if (!admm_fits_) return;
    run(*admm_, "cones: ADMM", admm_iterations);
  }

  SolverInfo info_;
  std::unique_ptr<Solver> coulomb_;
  bool general_ = false;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<gauss_seidel::OwnResiduals> residuals_;
  std::unique_ptr<Solver> sweeps_, admm_;  ///< made at their first use
  std::optional<ConePath> path_;           ///< the same
  bool admm_prepared_ = false, admm_fits_ = false;
  // Of the solve in progress.
  StopRule stop_;
  Monitor* outer_ = nullptr;
  SolveSummary summary_;
  const char* stage_ = "";
  long stage_iterations_ = 0;  ///< of the stage that runs, which summary_ does not count yet
  long seen_ = 0;
  double min_residual_ = 0.0;
  Decision ended_ = Decision::keep_going;
  Vector best_, point_, start_;
};

}  // namespace

std::unique_ptr<Solver> with_friction_cones(SolverInfo info, std::unique_ptr<Solver> coulomb) {
  return std::make_unique<FrictionCascade>(std::move(info), std::move(coulomb));
}

}  // namespace conebench::cascade
