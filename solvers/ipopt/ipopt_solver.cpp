#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "problems/conversions.hpp"
#include "solvers/ipopt/cone_program.hpp"
#include "solvers/ipopt/ipopt_rows.hpp"
#include "solvers/ipopt/library.hpp"
#include "solvers/progress.hpp"
#include "solvers/pyramids.hpp"
#include "solvers/shared_library.hpp"

namespace conebench::ipopt {

namespace {

constexpr double unbounded = 2e19;  // Ipopt takes bounds from 1e19 on for none

/// One run: what Ipopt's callbacks work on.
struct Run {
  const ConeProgram& program;
  SolveProgress progress;
  long points = 0;  ///< what the monitor counts
  long iterations = 0;
  double error = std::numeric_limits<double>::quiet_NaN();
  Vector impulse = {};                    ///< where the gradient was last asked for: the current iterate
  std::optional<SolveStatus> ended = {};  ///< by the monitor
};

Run& of(UserDataPtr data) { return *static_cast<Run*>(data); }

Bool eval_f(int, double* x, Bool, double* value, UserDataPtr data) {
  *value = of(data).program.objective(x);
  return TRUE;
}

Bool eval_grad_f(int, double* x, Bool, double* gradient, UserDataPtr data) {
  of(data).impulse = of(data).program.to_impulse(x);
  of(data).program.gradient(x, gradient);
  return TRUE;
}

Bool eval_g(int, double* x, Bool, int, double* values, UserDataPtr data) {
  of(data).program.constraint_values(x, values);
  return TRUE;
}

Bool eval_jac_g(int, double* x, Bool, int, int, int* rows, int* columns, double* values, UserDataPtr data) {
  if (values == nullptr) {
    of(data).program.jacobian_pattern(rows, columns);
  } else {
    of(data).program.jacobian(x, values);
  }
  return TRUE;
}

Bool eval_h(int, double*, Bool, double factor, int, double* multipliers, Bool, int, int* rows, int* columns,
            double* values, UserDataPtr data) {
  if (values == nullptr) {
    of(data).program.hessian_pattern(rows, columns);
  } else {
    of(data).program.hessian(factor, multipliers, values);
  }
  return TRUE;
}

/// Once an iteration, those that only restore feasibility included.
Bool watch(int, int iteration, double, double inf_primal, double inf_dual, double mu, double, double, double, double,
           int, UserDataPtr data) {
  Run& run = of(data);
  run.iterations = iteration;
  run.error = std::max({inf_primal, inf_dual, run.program.bounded() ? mu : 0.0});
  if (iteration > 0) run.ended = run.progress.check(++run.points, run.error, run.impulse);
  return run.ended ? FALSE : TRUE;
}

SolveStatus status_of(ApplicationReturnStatus status, StopBy stop_by) {
  switch (status) {
    case Solve_Succeeded: return stop_by == StopBy::solver ? SolveStatus::converged : SolveStatus::stalled;
    case Maximum_Iterations_Exceeded: return SolveStatus::max_iterations;
    case Diverging_Iterates:
    case Invalid_Number_Detected: return SolveStatus::diverged;
    case Solved_To_Acceptable_Level:
    case Infeasible_Problem_Detected:
    case Search_Direction_Becomes_Too_Small:
    case Feasible_Point_Found:
    case Restoration_Failed:
    case Error_In_Step_Computation: return SolveStatus::stalled;
    default: return SolveStatus::breakdown;
  }
}

class IpoptSolver final : public Solver {
 public:
  IpoptSolver(SolverInfo info, IpoptOptions options) : info_(std::move(info)), options_(std::move(options)) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (const auto loaded = library(); !loaded) return loaded.error().message;
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    return pyramids_refused(info_, problem, "its constraints are squares");
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = problem;
    program_ = std::make_unique<ConeProgram>(problem);
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    summary.solved_symmetrised = problem_->symmetry_error() > symmetry_tolerance;
    project_cone(problem_->cones(), guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    Run run{*program_, SolveProgress(stop, monitor)};
    // An interior point can't start from a solution, so a guess that is one is returned as it is.
    run.ended = run.progress.check(++run.points, run.error, impulse);
    if (!run.ended && impulse.allFinite()) {
      optimise(run, stop, interior(program_->from_impulse(impulse)), summary);
      impulse = run.impulse;
    }
    if (run.ended) summary.status = *run.ended;
    if (!impulse.allFinite()) summary.status = SolveStatus::diverged;
    return summary;
  }

 private:
  void optimise(Run& run, const StopRule& stop, Vector start, SolveSummary& summary) const {
    const Library& ipopt = **library();
    Vector lower(start.size()), upper(start.size());
    program_->bounds(unbounded, lower.data(), upper.data());
    const int constraints = program_->constraints();
    Vector g_lower = Vector::Zero(constraints);
    Vector g_upper = Vector::Constant(constraints, unbounded);
    const IpoptProblem problem = ipopt.create(
        program_->variables(), lower.data(), upper.data(), constraints, g_lower.data(), g_upper.data(),
        program_->jacobian_entries(), program_->hessian_entries(), 0, eval_f, eval_g, eval_grad_f, eval_jac_g, eval_h);
    run.impulse = program_->to_impulse(start.data());
    if (problem == nullptr) {
      summary.status = SolveStatus::breakdown;
      summary.breakdown = Breakdown::error;
      summary.message = "Ipopt refuses the problem";
      return;
    }
    set_options(ipopt, problem, stop);
    ipopt.set_callback(problem, watch);
    const ApplicationReturnStatus status =
        ipopt.solve(problem, start.data(), nullptr, nullptr, nullptr, nullptr, nullptr, &run);
    ipopt.free(problem);
    summary.iterations = run.iterations;
    summary.factorizations = summary.operator_products = not_counted;
    // Where every variable is fixed there is no iteration that would tell.
    summary.own_residual = status == Solve_Succeeded && std::isnan(run.error) ? 0.0 : run.error;
    summary.status = status_of(status, stop.stop_by);
    if (status == User_Requested_Stop) return;  // by the monitor, whose decision is the status
    if (summary.status == SolveStatus::breakdown) summary.breakdown = Breakdown::error;
    if (summary.status == SolveStatus::stalled) summary.message = "its own test is met, the verdict is not";
    if (status != Solve_Succeeded) summary.message = "Ipopt's return code " + std::to_string(status);
  }

  /// A general-purpose code asks for a start off the cones' tips, where the constraints have no gradient.
  Vector interior(Vector start) const {
    const ConeProduct& cones = problem_->cones();
    for (Index i = cones.first_limit_row(); i < cones.blocks(); ++i) {
      if (cones.block_kind(i) == BlockKind::interval) continue;
      const Index normal = cones.normal_row_of(i);
      start[normal] = std::max(start[normal], 0.1);
    }
    return start;
  }

  void set_options(const Library& ipopt, IpoptProblem problem, const StopRule& stop) const {
    const auto text = [&](std::string name, std::string value) { ipopt.set_text(problem, name.data(), value.data()); };
    const auto number = [&](std::string name, double value) { ipopt.set_number(problem, name.data(), value); };
    const auto integer = [&](std::string name, long value) {
      ipopt.set_integer(problem, name.data(), static_cast<int>(std::min(value, 1000000000L)));
    };
    integer("print_level", 0);
    text("sb", "yes");
    text("linear_solver", "mumps");
    text("mu_strategy", options_.barrier);
    text("nlp_scaling_method", options_.scaling);
    integer("max_iter", stop.max_iterations);
    number("max_cpu_time", 1e9);  // the monitor ends it
    integer("acceptable_iter", 0);
    number("bound_relax_factor", 0.0);  // else every bound is widened by 1e-8, which shows in the answer
    const double tolerance = stop.stop_by == StopBy::solver ? std::max(stop.tolerance, 1e-16) : 1e-16;
    for (const char* name : {"tol", "dual_inf_tol", "constr_viol_tol", "compl_inf_tol"}) number(name, tolerance);
  }

  SolverInfo info_;
  IpoptOptions options_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<ConeProgram> program_;
};

}  // namespace

std::optional<std::string> missing_reason() {
  return missing_peer_library(CONEBENCH_IPOPT_LIBRARY, "coinor-libipopt1v5");
}

std::string library_file() {
  const std::string path = peer_library(CONEBENCH_IPOPT_LIBRARY);
  return path.substr(path.rfind('/') + 1) + (missing_reason() ? " (not found)" : "");
}

std::unique_ptr<Solver> make_solver(const SolverInfo& info, const IpoptOptions& options) {
  return std::make_unique<IpoptSolver>(info, options);
}

}  // namespace conebench::ipopt
