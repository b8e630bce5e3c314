#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "simulation/contact_identity.hpp"
#include "simulation/control.hpp"
#include "simulation/deformable/position_based.hpp"
#include "simulation/engine.hpp"
#include "simulation/penalty.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/step_problem.hpp"
#include "simulation/trot_control.hpp"
#include "solvers/solver.hpp"

namespace conebench::simulation {

/// Options of every simulated scene, besides the scene's own.
struct SimulationOptions {
  std::string solver = "NSGS";
  std::string solver_options;  ///< see loop_solver
  double tolerance = 1e-8;
  long max_iterations = 5000;
  std::string stop_by = "judge";
  std::string state = "impulse";
  std::string start = "previous";
  double time_step = 0.0;
  std::string integrator = "euler";
  std::string coordinates = "reduced";
  StepOptions step;
  PenaltyOptions penalty;
  long substeps = 100;
  double contact_margin = -1.0;
  double thinning = 0.0;
  std::string fallback = "none";
  double solver_time_limit = 10.0;  ///< of a solve in a process of its own [s]
  std::string drives = "model";
  double limit_margin = 0.02;
  double identity_radius = 0.02;
  double max_speed = 1e3;
  bool armature = true;
  bool passive = false;
  bool self_contact = false;
  std::string fclib = "global";
  std::string reference;  ///< solver that each step is solved with, too, to 1e-10; empty: none
  long threads = 1;
  ControlOptions control;

  EngineOptions engine() const {
    return {.armature = armature,
            .maximal = coordinates == "maximal",
            .passive = passive,
            .implicit_drives = drives == "implicit",
            .own_rows = step.softening == "engine",
            .self_contact = self_contact,
            .threads = static_cast<int>(threads)};
  }

  static void declare(OptionBinder& bind, SimulationOptions& o);
};

/// Whether steps of this `integrator` solve no contact problem: their impulses are those of a rule (Lee23's baselines).
bool is_experiment(const std::string& integrator);

/// What became of a step whose solve failed (Yamane V-A).
enum class Fallback { unused, frictionless, failed };
std::string to_string(Fallback fallback);

/// One time step: its problem and what came of it.
struct StepRecord {
  long step = 0;              ///< 1, 2, …
  double time = 0.0;          ///< at its end [s]
  State state = {};           ///< that the problem was made at: the step's start, with Moreau's rule its middle
  ContactProblem problem;     ///< with the guess, and the impulse below as its reference; fclib=local: without M and J
  Vector impulse = {};        ///< λ
  SolveSummary summary = {};  ///< of the problem as it is, with friction; its work is that of all passes
  /// Whether λ's residual is within the tolerance; with stop_by=solver, whether the solver converged.
  bool solved = true;
  Fallback fallback = Fallback::unused;
  long passes = 1;                            ///< linearised problems of the step, integrator=newton
  double newton_residual = 0.0;               ///< of the last one, see NewtonStep
  double residual = 0.0;                      ///< natural_map_scaled of λ
  double configuration_residual = 0.0;        ///< r_pen, Tsounis eq. (173), at the start of the step [m, rad]
  double joint_drift = 0.0;                   ///< the same of joints and loops alone
  std::vector<std::int64_t> identities = {};  ///< of the contacts
  bool contacts_cut = false;                  ///< see Mechanics: the problem is no sample
  double internal_force = 0.0;                ///< norm of the elastic forces after the step [N]
  double internal_error = 0.0;  ///< norm of their difference from those after the reference's impulses [N]
  double contact_error = 0.0;   ///< of λ/Δt from the reference's [N]
  /// ‖λ − P(−(J v⁺ + b)/R)‖/Δt, P the cone's projection: of the impulses that Lee23 (37) infers from the motion [N];
  /// nan where some row has no compliance R.
  double inverse_error = std::numeric_limits<double>::quiet_NaN();
};

/// A scene that is stepped through time by semi-implicit Euler (Tsounis eq. 10), Moreau's midpoint rule or Lee23's, or
/// implicit Euler, with any solver of the registry.
class Simulation {
 public:
  /// family and name: of the problems' provenance; messages begin with the name. `own`: the loop's solver, in place of
  /// options.solver's, solved in this process. Errors: those of load_engine and of the options.
  static Result<Simulation> create(const SimulatedModel& model, const SimulationOptions& options, std::uint64_t seed,
                                   const std::string& family, const std::string& name,
                                   std::unique_ptr<Solver> own = nullptr);

  /// Errors: bad_input where the simulation blows up or the engine stops (the state is then that before the step),
  /// unsupported where the solver does not take the problem.
  Result<StepRecord> step();
  /// With fallback=stop: why the run ends after this step (bad_input); nullopt: it goes on.
  std::optional<Error> end_after(const StepRecord& record) const;

  const State& state() const { return state_; }
  /// To start elsewhere. Sizes must fit.
  void set_state(State state) { state_ = std::move(state); }
  Engine& engine() { return *engine_; }
  const Mechanics& mechanics() const { return mechanics_; }
  double time_step() const { return time_step_; }
  /// The solver's id, with those of its options that are not the defaults.
  const std::string& solver() const { return solver_label_; }
  /// Whether a step failed because a velocity passed max_speed, not because something else did.
  bool has_blown_up() const { return blown_up_; }
  /// What is left out of the model, options that do nothing in it, and shapes that overlap by more than 1 cm in the
  /// first step; a line each.
  std::vector<std::string> notes() const;
  /// `stages` is called as each stage of a step begins, from now on.
  void watch(StageWatch stages);

 private:
  /// A problem, its answer and the velocity that this gives.
  struct Pass {
    StepData step;
    StepRecord record;
    Vector velocity;
    std::optional<State> moved = {};  ///< where it leads, if not along the velocity
  };

  /// Of one solve.
  struct Answer {
    Vector impulse;
    std::optional<Vector> velocity;  ///< the solver's own, state=solver

    bool finite() const { return impulse.allFinite() && (!velocity || velocity->allFinite()); }
  };

  Simulation() = default;
  Result<Pass> set_up(const std::vector<std::int64_t>& identities, const PrescribedMotion& prescribed,
                      const Vector* guess = nullptr);
  Result<Pass> solve_pass(const std::vector<std::int64_t>& identities, const PrescribedMotion& prescribed,
                          const Vector* guess = nullptr);
  /// The same, with impulses and velocity by an experiment's rule in place of the solver's.
  Result<Pass> experiment(const std::vector<std::int64_t>& identities);
  Result<Pass> newton(const std::vector<std::int64_t>& identities);
  Result<void> evaluate();
  PrescribedMotion prescribed_motion(double left) const;
  double inverse_error(const Pass& pass) const;
  std::vector<std::string> touched(const StepRecord& record) const;
  SampleFacts facts(const std::vector<std::int64_t>& identities) const;
  Result<Answer> solve(const ContactProblem& problem, StepRecord& record);
  Result<void> compare(const Pass& pass, double time_step, StepRecord& record);
  Result<SolveSummary> run_solver(const ContactProblem& problem, const Vector& guess, Answer& answer);
  Result<void> fall_back(const ContactProblem& problem, StepRecord& record, Answer& answer);
  Result<void> check_speed(const Vector& velocity);
  std::string blow_up_advice() const;
  void note_overlap();
  Error failed(const std::string& what) const;
  Error refused(const std::string& reason) const;
  void begin(Stage stage) const {
    if (stages_) stages_(stage);
  }

  std::string family_, name_;
  std::vector<std::string> notes_;
  std::string overlap_;  ///< "shapes overlap by 0.11 m at the start (a and b)"; empty where they don't
  SimulationOptions options_;
  std::uint64_t seed_ = 1;
  double time_step_ = 0.0;
  long steps_ = 0;
  long missed_ = 0;             ///< steps that were not solved to the tolerance
  long unanswered_ = 0;         ///< steps whose solver crashed or ran out of time
  std::string why_unanswered_;  ///< of the first of these
  long cut_ = 0;                ///< steps with contacts missing
  long unsettled_ = 0;          ///< steps in which Newton's method ran out of passes
  double unsettled_by_ = 0.0;   ///< the largest residual that it left
  bool held_ = false;           ///< some step had a row
  bool blown_up_ = false;
  bool groundless_urdf_ = false;
  std::unique_ptr<Engine> engine_;
  std::string solver_label_;
  std::unique_ptr<Solver> solver_, reference_;
  std::unique_ptr<Control> control_;
  std::vector<std::string> touching_;         ///< bodies that a contact pressed on in the step before, for trot_
  std::optional<TrotControl> trot_;           ///< in place of control_
  std::unique_ptr<PositionBased> positions_;  ///< with integrator=positions
  std::vector<std::optional<Servo>> servos_;  ///< that the joints follow exactly; empty with drives=model
  State state_;
  Mechanics mechanics_;
  ContactIdentities identities_{0.0};
  StageWatch stages_;
  WarmStart warm_;
};

}  // namespace conebench::simulation
