#include <fmt/format.h>

#include <algorithm>

#include "metrics/residuals.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/simulation.hpp"
#include "solvers/velocity_solver.hpp"

// What gives a step its impulses: the loop's solver and its fallback, or an experiment's rule; and the reference that
// they are compared with.

namespace conebench::simulation {

namespace {

/// Of the NCP; where the engine means the CCP and the solver solves that, of the CCP.
Verdict official(const ContactProblem& problem, const Solver& solver) {
  const bool cone = problem.provenance().law == "ccp" && solver.info().formulation == Formulation::ccp;
  return *Verdict::create(cone ? "natural_map_ccp_scaled" : "natural_map_scaled", problem);
}

/// Accepts by the official residual, so that every solver stops at the same accuracy; checked ever more rarely.
class VerdictMonitor final : public Monitor {
 public:
  VerdictMonitor(const Verdict& verdict, double tolerance, StageWatch stages)
      : verdict_(verdict), tolerance_(tolerance), stages_(std::move(stages)) {}

  void turn_to(const ProblemPart* part, long begun) override {
    if (stages_) stages_(Stage::rest);
    verdict_.restrict_to(part);
    begun_ = begun;
    next_ = begun + 1;
    if (stages_) stages_(Stage::solve);
  }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double) override {
    if (stages_) stages_(Stage::rest);
    next_ = iteration + 1 + (iteration - begun_) / 10;
    const double residual = verdict_(impulse);
    if (stages_) stages_(Stage::solve);
    return residual <= tolerance_ ? Decision::accept : Decision::keep_going;
  }
  Verdict verdict_;
  double tolerance_;
  StageWatch stages_;
  long begun_ = 0;
};

/// The same problem with μ = 0, without the answers that belong to friction.
ContactProblem without_friction(const ContactProblem& problem) {
  ContactProblemData data = problem.data();
  const ConeProduct& cones = problem.cones();
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < cones.contacts(); ++i) {
    laws.push_back(cones.law(i));
    std::fill(laws.back().coefficients.begin(), laws.back().coefficients.end(), 0.0);
  }
  data.cones =
      ConeProduct::create(cones.joints(), cones.limits(), {cones.intervals().begin(), cones.intervals().end()}, laws)
          .value();
  data.guess.reset();
  data.reference.reset();
  return ContactProblem::create(std::move(data)).value();
}

}  // namespace

Result<SolveSummary> Simulation::run_solver(const ContactProblem& problem, const Vector& guess, Answer& answer) {
  begin(Stage::setup);
  CONEBENCH_CHECK(solver_->prepare(problem));
  begin(Stage::rest);
  const bool own = options_.stop_by == "solver";
  const StopRule rule{options_.tolerance, options_.max_iterations, own ? StopBy::solver : StopBy::judge};
  SilentMonitor silent;
  VerdictMonitor verdict(official(problem, *solver_), options_.tolerance, stages_);
  begin(Stage::solve);
  SolveSummary summary = solver_->solve(guess, rule, own ? static_cast<Monitor&>(silent) : verdict, answer.impulse);
  if (summary.status == SolveStatus::unsupported) return refused(summary.message);
  if (options_.state == "solver") answer.velocity = solver_->velocities()->velocity();
  begin(Stage::rest);
  return summary;
}

Error Simulation::refused(const std::string& reason) const {
  const auto chosen = loop_solver(options_.solver, options_.solver_options);
  const std::string advice = chosen ? chosen->advice(reason) : "set another solver";
  return {ErrorCode::unsupported, failed(fmt::format("{}: {}; {}", options_.solver, reason, advice)).message};
}

std::optional<Error> Simulation::end_after(const StepRecord& record) const {
  if (options_.fallback != "stop" || record.solved) return std::nullopt;
  const SolveSummary& solve = record.summary;
  return Error{
      ErrorCode::bad_input,
      fmt::format("{}: step {} (t = {:.6g} s): not solved by {} ({}{}{}; residual {:.2g}, tolerance {:g}); "
                  "use another solver, more max_iterations or a smaller time_step, or go on with fallback=none",
                  name_, record.step, record.state.time, solver_label_, to_string(solve.status),
                  solve.message.empty() ? "" : ": ", solve.message, record.residual, options_.tolerance)};
}

/// Yamane V-A: the robot is let slip for a step rather than be thrown.
Result<void> Simulation::fall_back(const ContactProblem& problem, StepRecord& record, Answer& answer) {
  Answer frictionless{Vector::Zero(problem.rows()), {}};
  CONEBENCH_TRY(const auto summary,
                run_solver(without_friction(problem), Vector(Vector::Zero(problem.rows())), frictionless));
  const bool solved = summary.status == SolveStatus::converged && frictionless.finite();
  record.fallback = solved ? Fallback::frictionless : Fallback::failed;
  if (solved) answer = std::move(frictionless);
  return {};
}

Result<Simulation::Answer> Simulation::solve(const ContactProblem& problem, StepRecord& record) {
  Answer answer{Vector::Zero(problem.rows()), {}};
  record.summary.status = SolveStatus::converged;
  if (problem.rows() == 0) return answer;
  if (const auto reason = solver_->unsupported_reason(problem)) return refused(*reason);
  const Vector guess = problem.guess().value_or(Vector::Zero(problem.rows()));
  CONEBENCH_TRY(record.summary, run_solver(problem, guess, answer));
  const bool answered = answer.impulse.allFinite();
  if (!answered) {
    record.summary.status = SolveStatus::diverged;
    record.summary.message = "impulses that are not finite";
    answer = {guess, {}};
  }
  if (!answered || record.summary.breakdown == Breakdown::error || record.summary.status == SolveStatus::time_limit) {
    if (unanswered_++ == 0) why_unanswered_ = fmt::format("step {}: {}", steps_ + 1, record.summary.message);
  }
  record.residual = official(problem, *solver_)(answer.impulse);
  record.solved = answered && (options_.stop_by == "solver" ? record.summary.status == SolveStatus::converged
                                                            : record.residual <= options_.tolerance);
  if (options_.fallback == "frictionless" && !record.solved) {
    CONEBENCH_CHECK(fall_back(problem, record, answer));
    record.residual = official(problem, *solver_)(answer.impulse);
  }
  if (!answer.finite()) {
    return failed(
        fmt::format("{} returned velocities that are not finite ({}); use another solver or a smaller time_step",
                    options_.solver, to_string(record.summary.status)));
  }
  record.problem = problem.with_reference({answer.impulse, record.residual, solver_label_});
  return answer;
}

Result<Simulation::Pass> Simulation::experiment(const std::vector<std::int64_t>& identities) {
  if (!mechanics_.bounded.empty()) {
    return Error{
        ErrorCode::unsupported,
        failed("integrator=" + options_.integrator + " has no friction of joints or tendons; set euler").message};
  }
  CONEBENCH_TRY(auto pass, set_up(identities, {}));
  StepRecord& record = pass.record;
  begin(Stage::solve);
  if (positions_) {
    pass.moved = state_;
    record.impulse = positions_->step(*pass.moved, mechanics_.contacts, time_step_);
    pass.velocity = pass.moved->velocity;
    record.summary.iterations = options_.substeps;
  } else {
    Vector rates = mechanics_.jacobian * state_.velocity;
    if (mechanics_.drift.size() > 0) rates += mechanics_.drift;
    record.impulse = penalty_impulse(mechanics_, rates, time_step_, options_.penalty);
    pass.velocity = velocity_after(pass.step, record.impulse);
  }
  begin(Stage::rest);
  record.summary.status = SolveStatus::converged;
  if (record.problem.rows() > 0) record.residual = official(record.problem, *solver_)(record.impulse);
  return pass;
}

/// Of the same problem, so that what the two differ in is this step's alone.
Result<void> Simulation::compare(const Pass& pass, double time_step, StepRecord& record) {
  const auto force_after = [&](const Vector& velocity) {
    State moved = state_;
    engine_->advance_position(moved, velocity, time_step);
    return engine_->internal_force(moved.position, time_step);
  };
  if (reference_ == nullptr) return {};
  const Vector force =
      pass.moved ? engine_->internal_force(pass.moved->position, time_step) : force_after(pass.velocity);
  record.internal_force = force.norm();
  if (record.problem.rows() == 0) return {};
  begin(Stage::rest);
  CONEBENCH_CHECK(reference_->prepare(record.problem));
  constexpr double accurate = 1e-10;
  VerdictMonitor verdict(official(record.problem, *reference_), accurate, {});
  Vector impulse = Vector::Zero(record.problem.rows());
  SilentMonitor silent;
  const bool own = reference_->info().formulation == Formulation::ccp;  // no verdict is on its model
  const StopRule rule{accurate, options_.max_iterations, own ? StopBy::solver : StopBy::judge};
  reference_->solve(record.impulse, rule, own ? static_cast<Monitor&>(silent) : verdict, impulse);
  record.contact_error = (record.impulse - impulse).norm() / time_step_;
  if (force.size() > 0) record.internal_error = (force - force_after(velocity_after(pass.step, impulse))).norm();
  return {};
}

}  // namespace conebench::simulation
