#include "simulation/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/plural.hpp"
#include "scenes/scene_support.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/newton_step.hpp"
#include "simulation/scenes/urdf.hpp"
#include "simulation/thinning.hpp"
#include "solvers/velocity_solver.hpp"

namespace conebench::simulation {

namespace {

/// Where the first step's contacts are deeper than this [m], the model is placed wrongly: simulated scenes start with
/// 1 mm at most.
constexpr double deep_overlap = 0.01;

/// The same problem by its G alone, which FCLIB's local form is for.
Result<ContactProblem> without_primal(const ContactProblem& problem) {
  ContactProblemData data = problem.data();
  data.primal.reset();
  if (data.delassus->form() == DelassusForm::factored) data.delassus = make_block_sparse_delassus(problem.blocks());
  return ContactProblem::create(std::move(data));
}

bool has_velocity(const Solver& solver) { return solver.velocities() != nullptr; }

/// Their ids.
std::vector<std::string> solvers_with_velocities() {
  std::vector<std::string> ids;
  for (const SolverRow& row : solver_table()) {
    if (row.info.own_process) continue;
    if (const auto solver = row.make({}); solver && has_velocity(**solver)) ids.push_back(row.info.id);
  }
  return ids;
}

void add_work(const SolveSummary& from, SolveSummary& to) {
  const auto add = [](long more, long& sum) {
    sum = more == not_counted || sum == not_counted ? not_counted : sum + more;
  };
  add(from.iterations, to.iterations);
  add(from.factorizations, to.factorizations);
  add(from.operator_products, to.operator_products);
}

}  // namespace

bool is_experiment(const std::string& integrator) { return integrator == "penalty" || integrator == "positions"; }

std::string to_string(Fallback fallback) {
  switch (fallback) {
    case Fallback::unused: return "unused";
    case Fallback::frictionless: return "frictionless";
    case Fallback::failed: return "failed";
  }
  return "unknown";
}

void SimulationOptions::declare(OptionBinder& bind, SimulationOptions& o) {
  bind.text("solver", o.solver, "id of the solver in the loop, see `conebench list solvers`");
  bind.text("solver_options", o.solver_options,
            "options of the loop's solver, as increment=0.02; several with commas between them");
  bind.real("tolerance", o.tolerance,
            {.minimum = 1e-15, .maximum = 1, .scale = OptionScale::logarithmic, .doc = "of every step's solve"});
  bind.integer("max_iterations", o.max_iterations, {.minimum = 1, .maximum = 1e9, .doc = "of every step's solve"});
  bind.choice("stop_by", o.stop_by, {"judge", "solver"}, "a solve ends by natural_map_scaled or by the solver's test");
  bind.choice("state", o.state, {"impulse", "solver"},
              "after a step: the velocity of its impulses, or that which the solver has (COND), as unbalanced as its "
              "tolerance leaves it (Lee23)");
  bind.choice("start", o.start, {"previous", "cold"}, "of every solve: the last step's impulses, or zero");
  bind.real("time_step", o.time_step,
            {.minimum = 0, .maximum = 1, .unit = "s", .doc = "Δt; 0: the scene's, of a file its <option timestep>"});
  bind.choice("integrator", o.integrator, {"euler", "moreau", "midpoint", "newton", "penalty", "positions"},
              "semi-implicit Euler, Moreau's midpoint rule, the one that keeps energy, solved for the step's mean "
              "velocity (Lee23), Euler with elastic forces at the step's end; without a solver, as Lee23's baselines: "
              "springs under contacts, position-based dynamics of rods");
  PenaltyOptions::declare(bind, o.penalty);
  bind.integer("substeps", o.substeps, {.minimum = 1, .maximum = 1e6, .doc = "of a step, integrator=positions"});
  bind.choice("coordinates", o.coordinates, {"reduced", "maximal"},
              "the joints' own, or every body free and the joints as bilateral rows");
  StepOptions::declare(bind, o.step);
  bind.real(
      "contact_margin", o.contact_margin,
      {.minimum = -1, .maximum = 1e3, .unit = "m", .doc = "contacts up to this gap; below 0: those within two steps"});
  bind.real("thinning", o.thinning,
            {.minimum = 0,
             .maximum = 1e3,
             .unit = "m",
             .doc = "of contacts of the same two bodies nearer to each other only the deepest stays, Yamane's δ"});
  bind.choice("fallback", o.fallback, {"none", "frictionless", "stop"},
              "where a step is not solved: its last impulses, as Yamane V-A those of the step without friction, or the "
              "end of the run");
  bind.real("solver_time_limit", o.solver_time_limit,
            {.minimum = 1e-3,
             .maximum = 1e6,
             .unit = "s",
             .doc = "of a solve in a process of its own, which Siconos, plug-ins and programs have"});
  bind.choice(
      "drives", o.drives, {"model", "implicit", "prescribed"},
      "joints are driven as the model says; its position and velocity servos act at the velocity after the step, "
      "within their ranges of force; or joints move as their position servos are commanded, whatever acts: Yamane's "
      "high-gain control");
  bind.real(
      "limit_margin", o.limit_margin,
      {.minimum = 0, .maximum = 1e3, .unit = "m, rad", .doc = "limits up to this gap, and those within two steps"});
  bind.real(
      "identity_radius", o.identity_radius,
      {.minimum = 0, .maximum = 1e3, .unit = "m", .doc = "how far a contact may move in a step and stay the same"});
  bind.real("max_speed", o.max_speed,
            {.minimum = 0, .maximum = 1e12, .unit = "m/s, rad/s", .doc = "above it the simulation has blown up"});
  bind.flag("armature", o.armature, "the rotors' inertia that the model adds to its joints");
  bind.flag("passive", o.passive, "joints without limits, damping, springs, dry friction and drives");
  bind.flag("self_contact", o.self_contact, "all bodies can touch each other but those that a joint connects");
  bind.choice("fclib", o.fclib, {"global", "local"},
              "FCLIB's form of the samples: with M, J and v_free, or with G alone, as most of FCLIB's own are");
  bind.text("reference", o.reference,
            "solver that each step is solved with, too, to 1e-10: its forces are compared with; empty: none");
  bind.integer(
      "threads", o.threads,
      {.minimum = 1, .maximum = 256, .doc = "that work on the elements of elastic bodies; no bit depends on it"});
  ControlOptions::declare(bind, o.control);
}

Result<Simulation> Simulation::create(const SimulatedModel& model, const SimulationOptions& options, std::uint64_t seed,
                                      const std::string& family, const std::string& name, std::unique_ptr<Solver> own) {
  Simulation made;
  made.family_ = family;
  made.name_ = name;
  made.seed_ = seed;
  made.options_ = options;
  made.options_.step.midpoint = options.integrator == "midpoint";
  if (options.drives == "implicit" && options.integrator != "euler") {
    return Error{ErrorCode::wrong_usage, name + ": drives=implicit takes integrator=euler"};
  }
  if (options.step.softening == "engine") {
    if (model.soft || options.coordinates != "reduced" || options.integrator != "euler" || options.drives != "model") {
      return Error{ErrorCode::wrong_usage,
                   name +
                       ": softening=engine takes MuJoCo's own step of a rigid model: coordinates=reduced, "
                       "integrator=euler, drives=model"};
    }
    made.options_.step.damping = "explicit";  // its solver has M
  }
  made.groundless_urdf_ = !model.source_file.empty() && !model.ground && is_urdf(model.mjcf);
  if (own != nullptr) {
    made.options_.solver = made.solver_label_ = own->info().id;
    made.solver_ = std::move(own);
  } else {
    CONEBENCH_TRY(const auto chosen, loop_solver(options.solver, options.solver_options));
    CONEBENCH_TRY(made.solver_, chosen.make(options.solver_time_limit));
    made.solver_label_ = chosen.label();
  }
  if (options.state == "solver" && (!has_velocity(*made.solver_) || options.integrator == "newton")) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: state=solver takes a solver with velocities of its own ({}) and no integrator=newton",
                             name, fmt::join(solvers_with_velocities(), ", "))};
  }
  if (!options.reference.empty()) {
    CONEBENCH_TRY(const auto reference, loop_solver(options.reference, {}));
    CONEBENCH_TRY(made.reference_, reference.make(options.solver_time_limit));
  }
  CONEBENCH_TRY(made.engine_, load_engine(model, name, options.engine()));
  if (options.integrator == "newton" && !model.soft) {
    return Error{ErrorCode::wrong_usage, name + ": integrator=newton is for scenes of elastic bodies; set euler"};
  }
  if (options.integrator == "positions") {
    const auto fault = model.soft ? PositionBased::fault_of(*model.soft)
                                  : std::optional<std::string>("integrator=positions is for scenes of elastic bodies");
    if (fault) return Error{ErrorCode::wrong_usage, name + ": " + *fault};
    made.positions_ = std::make_unique<PositionBased>(*model.soft, options.substeps);
  }
  const double own_step = model.time_step > 0.0 ? model.time_step : made.engine_->dimensions().time_step;
  made.time_step_ = options.time_step > 0.0 ? options.time_step : own_step;
  made.state_ = made.engine_->start();
  made.identities_ = ContactIdentities(options.identity_radius);
  const std::string kind = options.control.control == "scene" ? model.control : options.control.control;
  if (options.control.control != "scene" && options.control.control != "none" &&
      made.engine_->dimensions().controls == 0) {
    made.notes_.push_back(fmt::format("{}: control={} does nothing: the model has no actuators", name, kind));
  }
  if (options.drives == "prescribed") {
    made.servos_ = made.engine_->servos();
    const auto driven =
        std::count_if(made.servos_.begin(), made.servos_.end(), [](const auto& s) { return s.has_value(); });
    if (driven == made.engine_->dimensions().velocities) {
      return Error{ErrorCode::wrong_usage, name + ": drives=prescribed leaves nothing that contacts could move"};
    }
    const bool any = driven > 0;
    if (options.coordinates != "reduced" || kind == "trot" || !any) {
      return Error{ErrorCode::wrong_usage,
                   name + ": drives=prescribed takes coordinates=reduced, position servos and a gait that they follow"};
    }
  }
  if (kind == "trot") {
    if (options.coordinates != "reduced") {
      return Error{ErrorCode::wrong_usage,
                   name + ": a gait that tracks a velocity reads the joints' angles; set coordinates=reduced"};
    }
    made.trot_.emplace(*model.trot, made.engine_->control_ranges());
    return made;
  }
  made.control_ = std::make_unique<Control>(kind, options.control, made.engine_->control_ranges(),
                                            made.engine_->control_waves(), made.state_.control, seed);
  return made;
}

Error Simulation::failed(const std::string& what) const {
  return Error{ErrorCode::bad_input,
               fmt::format("{}: step {} (t = {:.6g} s): {}", name_, steps_ + 1, state_.time, what)};
}

Result<void> Simulation::check_speed(const Vector& velocity) {
  for (Index i = 0; i < velocity.size(); ++i) {
    if (std::abs(velocity[i]) <= options_.max_speed) continue;
    blown_up_ = true;
    return failed(
        fmt::format("the simulation has blown up: velocity {} of {} is {:.3g}, more than max_speed = {:.3g}; {}", i + 1,
                    velocity.size(), velocity[i], options_.max_speed, blow_up_advice()));
  }
  return {};
}

void Simulation::note_overlap() {
  const auto& contacts = mechanics_.contacts;
  const auto deepest = std::min_element(contacts.begin(), contacts.end(),
                                        [](const ContactPoint& a, const ContactPoint& b) { return a.gap < b.gap; });
  if (deepest == contacts.end() || -deepest->gap <= deep_overlap || !overlap_.empty()) return;
  overlap_ = fmt::format("shapes overlap by {:.2g} m at the start ({} and {})", -deepest->gap,
                         engine_->shape_name(deepest->first_shape), engine_->shape_name(deepest->second_shape));
  notes_.push_back(fmt::format("{}: {}; they will be pushed apart", name_, overlap_));
}

std::string Simulation::blow_up_advice() const {
  if (!held_) {
    return fmt::format(
        "no contact, limit or joint row has held it so far: it falls or spins freely (put something under "
        "it{}), or its forces are too stiff for the time_step",
        groundless_urdf_ ? ": ground=plane" : "");
  }
  const std::string apart = overlap_.empty() ? "" : overlap_ + ": move them apart, or ";
  if (missed_ == 0) return apart + "use a smaller time_step";
  return apart + fmt::format("use another solver ({} missed its tolerance in {}) or a smaller time_step", solver_label_,
                             plural(missed_, "step"));
}

Result<void> Simulation::evaluate() {
  const Reach reach{.time_step = time_step_,
                    .contact_margin = options_.contact_margin,
                    .lifts = solver_->info().formulation == Formulation::ccp,
                    .limit_margin = options_.limit_margin,
                    .ahead = options_.step.midpoint ? 0.5 * time_step_ : time_step_};
  if (auto done = engine_->evaluate(state_, reach, mechanics_); !done) return failed(done.error().message);
  if (options_.thinning > 0.0) thin_contacts(mechanics_, options_.thinning);
  return {};
}

std::vector<std::string> Simulation::notes() const {
  std::vector<std::string> all = engine_->notes();
  for (const LeftOut& left : engine_->left_out()) {
    all.push_back(fmt::format("{}: left out: {} ({})", name_, left.element, left.reason));
  }
  all.insert(all.end(), notes_.begin(), notes_.end());
  if (cut_ > 0) {
    all.push_back(
        fmt::format("{}: {} left out of the samples: MuJoCo keeps 50 contacts of two shapes, and others are "
                    "missing there; use a coarser height field, or smaller or round shapes",
                    name_, cut_ == 1 ? "1 step is" : fmt::format("{} steps are", cut_)));
  }
  if (unanswered_ > 0) {
    all.push_back(fmt::format("{}: {} gave no answer in {}; the first is {}", name_, solver_label_,
                              plural(unanswered_, "step"), why_unanswered_));
  }
  if (unsettled_ > 0) {
    all.push_back(fmt::format("{}: in {} Newton's method did not reach {:g} in {} passes, at worst {:.2g}", name_,
                              plural(unsettled_, "step"), NewtonStep::accurate, NewtonStep::max_passes, unsettled_by_));
  }
  return all;
}

void Simulation::watch(StageWatch stages) {
  engine_->watch(stages);
  stages_ = std::move(stages);
}

PrescribedMotion Simulation::prescribed_motion(double left) const {
  std::vector<double> velocities;
  PrescribedMotion motion;
  for (std::size_t a = 0; a < servos_.size(); ++a) {
    if (!servos_[a]) continue;
    motion.which.push_back(servos_[a]->velocity);
    velocities.push_back((state_.control[Index(a)] - state_.position[servos_[a]->position]) / left);
  }
  motion.velocity = Eigen::Map<const Vector>(velocities.data(), Index(velocities.size()));
  return motion;
}

Result<StepRecord> Simulation::step() {
  CONEBENCH_CHECK(check_speed(state_.velocity));
  const State before = state_;
  const auto outcome = [&]() -> Result<StepRecord> {
    // Prescribed joints take the command for the step's end.
    const double command_time = state_.time + (servos_.empty() ? 0.0 : time_step_);
    state_.control = trot_ ? trot_->at(state_, touching_) : control_->at(command_time);
    // Moreau's rule evaluates everything in the middle of the step (Tsounis III-A).
    const double first = options_.integrator == "moreau" ? 0.5 * time_step_ : 0.0;
    if (first > 0.0) engine_->advance_position(state_, state_.velocity, first);
    state_.time += first;
    const PrescribedMotion prescribed = prescribed_motion(time_step_ - first);
    begin(Stage::assembly);
    CONEBENCH_CHECK(evaluate());
    if (steps_ == 0) note_overlap();

    begin(Stage::rest);
    auto identities = identities_.follow(mechanics_.contacts);
    const bool alone = is_experiment(options_.integrator);
    CONEBENCH_TRY(auto pass, alone                             ? experiment(identities)
                             : options_.integrator == "newton" ? newton(identities)
                                                               : solve_pass(identities, prescribed));
    StepRecord& record = pass.record;
    record.configuration_residual = configuration_residual(mechanics_);
    for (const double f : mechanics_.joint_residuals) record.joint_drift = std::max(record.joint_drift, std::abs(f));
    record.identities = std::move(identities);
    record.contacts_cut = mechanics_.contacts_cut;
    cut_ += record.contacts_cut ? 1 : 0;
    held_ = held_ || record.problem.rows() > 0;
    missed_ += alone || record.solved ? 0 : 1;
    CONEBENCH_CHECK(check_speed(pass.velocity));
    record.inverse_error = inverse_error(pass);
    CONEBENCH_CHECK(compare(pass, time_step_ - first, record));

    if (pass.moved) {
      state_ = std::move(*pass.moved);
    } else {
      const Vector& velocity = pass.velocity;
      engine_->advance_position(state_, velocity, time_step_ - first);  // Tsounis eq. (10b)
      state_.velocity = options_.step.midpoint ? Vector(2.0 * velocity - before.velocity) : velocity;  // Lee23 (4)
    }
    engine_->advance_activation(state_, time_step_);
    state_.time = before.time + time_step_;
    ++steps_;
    record.time = state_.time;
    if (trot_) touching_ = touched(record);
    warm_.keep(mechanics_, record.identities, record.impulse);
    if (options_.fclib == "local") {
      CONEBENCH_TRY(record.problem, without_primal(record.problem));
    }
    return std::move(record);
  }();
  if (!outcome) state_ = before;
  return outcome;
}

/// A problem from the mechanics as they are, without an answer.
Result<Simulation::Pass> Simulation::set_up(const std::vector<std::int64_t>& identities,
                                            const PrescribedMotion& prescribed, const Vector* guess) {
  begin(Stage::assembly);
  CONEBENCH_TRY(auto step, discretise(mechanics_, state_.velocity, time_step_, options_.step, name_, prescribed));
  begin(Stage::rest);
  SampleFacts known = facts(identities);
  if (guess != nullptr && options_.start == "previous") known.guess = *guess;
  begin(Stage::assembly);
  CONEBENCH_TRY(auto problem, step_problem(mechanics_, step, time_step_, options_.step, std::move(known)));
  begin(Stage::rest);
  return Pass{std::move(step), {.step = steps_ + 1, .state = state_, .problem = std::move(problem)}, {}};
}

Result<Simulation::Pass> Simulation::solve_pass(const std::vector<std::int64_t>& identities,
                                                const PrescribedMotion& prescribed, const Vector* guess) {
  CONEBENCH_TRY(auto pass, set_up(identities, prescribed, guess));
  CONEBENCH_TRY(auto answer, solve(pass.record.problem, pass.record));
  pass.record.impulse = std::move(answer.impulse);
  pass.velocity = answer.velocity ? std::move(*answer.velocity)
                                  : velocity_after(pass.step, pass.record.impulse);  // Tsounis eq. (76)
  return pass;
}

/// Passes until what the last one linearised holds at its end; the record is that one's, with the work of all.
Result<Simulation::Pass> Simulation::newton(const std::vector<std::int64_t>& identities) {
  NewtonStep step(*engine_, state_, time_step_, mechanics_, options_.step.damping == "implicit");
  step.linearise(Vector::Zero(state_.velocity.size()));
  CONEBENCH_TRY(auto last, solve_pass(identities, {}));
  for (long pass = 1;; ++pass) {
    held_ = held_ || last.record.problem.rows() > 0;
    CONEBENCH_CHECK(check_speed(last.velocity));
    last.record.passes = pass;
    last.record.newton_residual = step.linearise(last.velocity);
    if (last.record.newton_residual <= NewtonStep::accurate || pass == NewtonStep::max_passes) break;
    CONEBENCH_TRY(auto next, solve_pass(identities, {}, &last.record.impulse));
    add_work(last.record.summary, next.record.summary);
    last = std::move(next);
  }
  if (const double left = last.record.newton_residual; !(left <= NewtonStep::accurate)) {
    ++unsettled_;
    unsettled_by_ = std::max(unsettled_by_, left);
  }
  return last;
}

double Simulation::inverse_error(const Pass& pass) const {
  const ContactProblem& problem = pass.record.problem;
  const Vector& compliance = problem.compliance();
  if (compliance.size() == 0 || compliance.minCoeff() <= 0.0) return std::numeric_limits<double>::quiet_NaN();
  Vector motion = pass.step.jacobian * pass.velocity + pass.step.bias;
  if (pass.step.drift.size() > 0) motion += pass.step.drift;
  Vector inferred(motion.size());
  project_cone(problem.cones(), -motion.cwiseQuotient(compliance), inferred);
  return (pass.record.impulse - inferred).norm() / time_step_;
}

std::vector<std::string> Simulation::touched(const StepRecord& record) const {
  std::vector<std::string> bodies;
  for (std::size_t c = 0; c < mechanics_.contacts.size(); ++c) {
    const ConeProduct& cones = record.problem.cones();
    if (record.impulse[cones.contact_row(Index(c)) + cones.normal_of(Index(c))] <= 0.0) continue;
    bodies.push_back(engine_->body_name(mechanics_.contacts[c].first_body));
    bodies.push_back(engine_->body_name(mechanics_.contacts[c].second_body));
  }
  return bodies;
}

SampleFacts Simulation::facts(const std::vector<std::int64_t>& identities) const {
  SampleFacts known;
  const Dimensions& size = engine_->dimensions();
  Configuration& c = known.configuration;
  c.joint_count = size.joints;
  c.bodies = size.bodies;
  c.generalised_velocities = size.velocities;
  c.coordinates = options_.coordinates == "maximal" ? Coordinates::maximal : Coordinates::reduced;
  const auto masses = engine_->body_masses();
  c.body_masses = Eigen::Map<const Vector>(masses.data(), Index(masses.size()));
  c.contact_identities = identities;
  c.limit_identities = {mechanics_.limit_names.begin(), mechanics_.limit_names.end()};
  c.contact_frames.emplace(9 * Index(mechanics_.contacts.size()));
  for (std::size_t i = 0; i < mechanics_.contacts.size(); ++i) {
    c.contact_frames->segment<9>(9 * Index(i)) = mechanics_.contacts[i].frame.reshaped();
  }
  const auto& contacts = mechanics_.contacts;
  if (std::any_of(contacts.begin(), contacts.end(), [](const ContactPoint& p) { return p.across != 1.0; })) {
    c.friction_axes.emplace(2 * Index(contacts.size()));
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      c.friction_axes->segment<2>(2 * Index(i)) << contacts[i].friction, contacts[i].across * contacts[i].friction;
    }
  }
  if (auto nodes = engine_->nodes(); !nodes.empty()) {
    c.nodes = std::move(nodes);
    c.velocity = state_.velocity;
    c.inertia = mechanics_.mass.diagonal();
  }
  c.scene = name_;
  c.step = steps_ + 1;
  c.seed = seed_;
  if (options_.start == "previous") known.guess = warm_.guess(mechanics_, identities);
  known.provenance.family = family_;
  known.provenance.name = fmt::format("{}_step={:05}", name_, steps_ + 1);
  known.provenance.form = family_;
  if (mechanics_.own) known.provenance.law = "ccp";
  return known;
}

}  // namespace conebench::simulation
