#include "simulation/step_problem.hpp"

#include <algorithm>
#include <cmath>

#include "problems/factored_delassus.hpp"
#include "scenes/scene_support.hpp"
#include "simulation/redundant_rows.hpp"

// Symbols, as in papers Carpentier24, LeLidec24 and Tsounis:
//   M         mass matrix, n_v × n_v            v, v⁺     velocity before and after the step
//   τ         smooth generalised forces (Tsounis: h)  v_free    velocity after a step without impulses
//   J         rows × n_v; c = J v                λ         impulses [N s]
//   f_J, g_l  residuals of joints, gaps of limits; φ gap of a contact; δ penetration margin
//   α, β, γ   Baumgarte factors of joints, limits and contacts (Tsounis eq. 89–91); ε restitution
//   c, v_r    compliance as a share of diag(G) and regulation velocity of softened rows (Tsounis eq. 103–110)

namespace conebench::simulation {

namespace {

/// b of one contact's normal row.
///
/// Closed contacts, r = φ + δ ≤ 0: ε v⁻_N + γ r/Δt (Tsounis eq. 80, 91). For open ones the printed sum of (80) and
/// (91b), ε v⁻_N + r/Δt, only lets the shapes come near: nothing is left to bounce with once they touch. So an open
/// contact that would close within the step takes the impact in this step, without the gap's term; `printed` keeps the
/// paper's sum.
double contact_bias(const ContactPoint& contact, double velocity_before, double free_velocity, double time_step,
                    const StepOptions& o) {
  const double r = contact.gap + o.penetration_margin;
  const double impact = o.midpoint ? 0.0 : contact.restitution * velocity_before;
  if (r <= 0.0) return impact + std::max(o.baumgarte_contacts * r / time_step, -o.max_depenetration);
  if (o.impact_rule == "printed") return impact + r / time_step;
  const bool bounces = impact != 0.0 && velocity_before < 0.0 && r + time_step * free_velocity < 0.0;
  return bounces ? impact : r / time_step;
}

/// A drive's impulse Δt (f − (k_d + Δt k_p) ċ⁺) within its bounds is that of a row with R = 1/(Δt k_d + Δt² k_p) and
/// b = −R Δt f.
double drive_compliance(const BoundedRow& row, double time_step) {
  const double damping = row.damping + time_step * row.stiffness;
  return damping > 0.0 ? 1.0 / (time_step * damping) : 0.0;
}

double drive_bias(const BoundedRow& row, double time_step) {
  return -drive_compliance(row, time_step) * time_step * row.force;
}

Vector bias(const Mechanics& mechanics, const Vector& before, const Vector& free, double time_step,
            const StepOptions& o) {
  Vector b = Vector::Zero(mechanics.rows());
  const Index joints = mechanics.joint_residuals.size();
  const Index limits = mechanics.limit_gaps.size();
  b.head(joints) = o.baumgarte_joints / time_step * mechanics.joint_residuals;  // Tsounis eq. (89b)
  for (Index l = 0; l < limits; ++l) {
    const double gap = mechanics.limit_gaps[l];
    // Tsounis eq. (90b) knows active limits only; one that is near is double-sided, as contacts are (91b).
    b[joints + l] = (o.baumgarte_limits * std::min(0.0, gap) + std::max(0.0, gap)) / time_step;
  }
  Index row = mechanics.first_bounded_row();
  for (const BoundedRow& bounded : mechanics.bounded) b[row++] = drive_bias(bounded, time_step);
  for (const ContactPoint& contact : mechanics.contacts) {
    const Index normal = row + contact.normal();
    b[normal] = contact_bias(contact, before[normal], free[normal], time_step, o);
    row += contact.rows();
  }
  return b;
}

/// The laws of the step's contacts: one ellipsoid each.
Result<ConeProduct> cones_of(const Mechanics& mechanics, double time_step) {
  const Index joints = mechanics.joint_residuals.size(), limits = mechanics.limit_gaps.size();
  std::vector<Interval> intervals;
  for (const BoundedRow& bounded : mechanics.bounded) {
    intervals.push_back({time_step * bounded.lower, time_step * bounded.upper});
  }
  std::vector<FrictionLaw> laws;
  for (const ContactPoint& contact : mechanics.contacts) {
    const auto tangents = static_cast<int>(contact.coefficients.size());
    laws.push_back(tangents == 0 ? FrictionLaw::coulomb(contact.friction)
                                 : FrictionLaw{ConeShape::discs, {tangents}, contact.coefficients});
  }
  return ConeProduct::create(joints, limits, std::move(intervals), laws);
}

Result<std::shared_ptr<const DelassusOperator>> delassus(const FactoredMass& mass, const SparseMatrix& jacobian,
                                                         const ConeProduct& cones, const std::string& form) {
  auto factored = make_factored_delassus(mass, jacobian);
  if (!factored || form == "factored") return factored;
  if (form == "dense") return make_dense_delassus((*factored)->dense());
  return make_block_sparse_delassus((*factored)->assemble(cones));
}

/// The model's parameters, with those that the options set in their place.
Softness with_options(Softness s, const StepOptions& o) {
  if (o.soft_time > 0.0) s.time_constant = o.soft_time;
  if (o.soft_damping > 0.0) s.damping_ratio = o.soft_damping;
  if (o.soft_impedance > 0.0) s.min_impedance = o.soft_impedance;
  if (o.soft_max_impedance > 0.0) s.max_impedance = o.soft_max_impedance;
  return s;
}

/// Softens the rows (Tsounis eq. 103–110): their c, and v_r in place of the stabilisation in b. Limits and contacts
/// that are open, which MuJoCo has no rows for, take no impulse by themselves, b ≥ −J v_free: the spring takes what
/// lands, whatever part of a step that comes in. `free` is J v_free. As printed they keep their b.
Vector soften(const Mechanics& mechanics, const Vector& before, const Vector& free, double time_step,
              const StepOptions& o, Vector& b) {
  Vector c = Vector::Zero(mechanics.rows());
  const bool printed = o.softening == "printed";
  const Index joints = mechanics.joint_residuals.size();
  const auto soften_row = [&](Index row, const Softness& softness, double residual) {
    const Impedance at = impedance_at(with_options(softness, o), residual, time_step);
    c[row] = at.compliance;
    b[row] = regulation_velocity(at, before[row], residual, time_step, printed);
  };
  for (Index j = 0; j < (o.soft_joints ? joints : 0); ++j) {
    soften_row(j, mechanics.joint_softness[std::size_t(j)], mechanics.joint_residuals[j]);
  }
  for (Index l = 0; l < mechanics.limit_gaps.size(); ++l) {
    const Softness& softness = mechanics.limit_softness[std::size_t(l)];
    if (mechanics.limit_gaps[l] <= 0.0) {
      soften_row(joints + l, softness, mechanics.limit_gaps[l]);
    } else {
      c[joints + l] = impedance_at(with_options(softness, o), 0.0, time_step).compliance;
      if (!printed) b[joints + l] = std::max(b[joints + l], -free[joints + l]);
    }
  }
  Index row = mechanics.first_bounded_row();
  for (const BoundedRow& bounded : mechanics.bounded) {
    if (bounded.softness) soften_row(row, *bounded.softness, 0.0);
    ++row;
  }
  for (const ContactPoint& contact : mechanics.contacts) {
    const double r = contact.gap + o.penetration_margin;
    const Impedance at = impedance_at(with_options(contact.softness, o), std::min(0.0, r), time_step);
    const Index normal = row + contact.normal();
    c.segment(row, contact.rows()).setConstant(at.compliance);
    if (r <= 0.0) {
      // As in MuJoCo, tangents have the normal's impedance and its damping, and no stiffness.
      for (Index t = row; t < normal; ++t) b[t] = regulation_velocity(at, before[t], 0.0, time_step, printed);
      const double impact = printed ? contact.restitution * before[normal] : 0.0;  // a spring bounces by itself
      b[normal] = impact + regulation_velocity(at, before[normal], r, time_step, printed);
    } else if (!printed) {
      b[normal] = std::max(b[normal], -free[normal]);
    }
    row += contact.rows();
  }
  return c;
}

/// R: `compliance` on the normal rows (Carpentier24 eq. 24), `tangential_compliance` on the tangential ones,
/// `joint_compliance` (ξ of Tsounis eq. 87) on the bilateral ones, a share of each block's mean of diag(G) on all
/// (LeLidec24's R = α diag(G), made equal in a contact so that the tangent frame does not matter), and c D_jj of
/// softened rows (Tsounis eq. 106), for the same reason with the mean of a contact's two tangents.
Vector compliance(const ContactProblemData& data, const Mechanics& mechanics, double time_step, const Vector& softness,
                  const StepOptions& o) {
  const ConeProduct& cones = data.cones;
  Vector r = Vector::Zero(cones.rows());
  r.head(cones.joints()).setConstant(o.joint_compliance);
  for (std::size_t i = 0; i < mechanics.bounded.size(); ++i) {
    r[cones.first_interval_row() + Index(i)] = drive_compliance(mechanics.bounded[i], time_step);
  }
  for (Index i = 0; i < cones.contacts(); ++i) {
    r.segment(cones.contact_row(i), cones.contact_rows(i)).setConstant(o.tangential_compliance);
    r[cones.contact_row(i) + cones.normal_of(i)] = o.compliance;
  }
  if (o.regularisation == 0.0 && softness.size() == 0) return r;
  const DiagonalBlocks blocks = data.delassus->diagonal(cones);
  for (Index b = 0; b < cones.blocks(); ++b) {
    const int size = cones.block_size(b);
    const auto block = blocks.block(b);
    auto own = r.segment(cones.block_row(b), size);
    own.array() += o.regularisation * block.trace() / size;
    if (softness.size() == 0) continue;
    Vector diagonal = block.diagonal();
    if (size >= 3) diagonal.head<2>().setConstant(diagonal.head<2>().mean());
    own += softness.segment(cones.block_row(b), size).cwiseProduct(diagonal);
  }
  return r;
}

/// M_FF v_F = (M v_free)_F − M_FP v_P for the velocities F that are not prescribed.
Result<void> move_as(const PrescribedMotion& prescribed, const std::string& name, StepData& step) {
  const Index size = step.free_velocity.size();
  std::vector<bool> given(static_cast<std::size_t>(size), false);
  Vector velocity = Vector::Zero(size);
  for (std::size_t k = 0; k < prescribed.which.size(); ++k) {
    given[static_cast<std::size_t>(prescribed.which[k])] = true;
    velocity[prescribed.which[k]] = prescribed.velocity[Index(k)];
  }
  Vector momentum = step.mass * (step.free_velocity - velocity);
  for (const Index i : prescribed.which) momentum[i] = 0.0;
  step.mass.prune([&](Index i, Index j, double) {
    const bool both_free = !given[static_cast<std::size_t>(i)] && !given[static_cast<std::size_t>(j)];
    return both_free || i == j;
  });
  auto factor = FactoredMass::create(step.mass);
  if (!factor) return Error{ErrorCode::bad_input, name + ": the mass matrix of what moves freely is singular"};
  step.factor = std::move(*factor);
  step.free_velocity = velocity + step.factor.solve(momentum);
  return {};
}

/// Splits J v into J_F v_F and the drift J_P v_P.
void take_from_jacobian(const PrescribedMotion& prescribed, StepData& step) {
  Vector velocity = Vector::Zero(step.free_velocity.size());
  std::vector<bool> given(static_cast<std::size_t>(velocity.size()), false);
  for (const Index i : prescribed.which) {
    velocity[i] = step.free_velocity[i];
    given[static_cast<std::size_t>(i)] = true;
  }
  step.drift = step.jacobian * velocity;
  step.jacobian.prune([&](Index, Index j, double) { return !given[static_cast<std::size_t>(j)]; });
}

}  // namespace

void StepOptions::declare(OptionBinder& bind, StepOptions& o) {
  const auto factor = [](const char* doc) { return OptionBinder::Details{.minimum = 0, .maximum = 1, .doc = doc}; };
  bind.real("baumgarte_joints", o.baumgarte_joints,
            factor("α of Tsounis eq. (89b), share of a joint's error undone a step"));
  bind.real("baumgarte_limits", o.baumgarte_limits, factor("β of Tsounis eq. (90b)"));
  bind.real("baumgarte_contacts", o.baumgarte_contacts, factor("γ of Tsounis eq. (91b)"));
  bind.real("penetration_margin", o.penetration_margin,
            {.minimum = -1, .maximum = 1, .unit = "m", .doc = "δ of Tsounis eq. (91a), admissible depth"});
  bind.real("max_depenetration", o.max_depenetration,
            {.minimum = 0, .maximum = 1e12, .unit = "m/s", .doc = "what baumgarte_contacts drives shapes apart with"});
  bind.choice("impact_rule", o.impact_rule, {"closing", "printed"},
              "open contacts that close within the step bounce at once, or as Tsounis eq. (80) and (91b) print it");
  bind.choice("damping", o.damping, {"implicit", "explicit"}, "of joints: M + Δt D in place of M, or a force");
  bind.real("compliance", o.compliance,
            {.minimum = 0, .maximum = 1e9, .unit = "1/kg", .doc = "R of contacts' normal rows, Carpentier24 eq. (24)"});
  bind.real("tangential_compliance", o.tangential_compliance,
            {.minimum = 0, .maximum = 1e9, .unit = "1/kg", .doc = "R of contacts' tangential rows, LeLidec24 Fig. 14"});
  bind.real(
      "joint_compliance", o.joint_compliance,
      {.minimum = 0, .maximum = 1e9, .unit = "1/kg", .doc = "R of joints' and loops' rows, ξ of Tsounis eq. (87)"});
  bind.real("regularisation", o.regularisation,
            {.minimum = 0, .maximum = 1, .doc = "share of diag(G) added to R in every row, LeLidec24's α"});
  bind.choice(
      "softening", o.softening, {"none", "mujoco", "engine", "printed"},
      "compliance and regulation velocity of every row from the model's solref and solimp, Tsounis eq. (103)-(110), "
      "in place of Baumgarte's factors; engine: exactly MuJoCo's own rows, R and reference accelerations (its step is "
      "the "
      "CCP with these); printed: without the v- that (106) lacks");
  bind.flag("soft_joints", o.soft_joints, "softening softens joints and loops, too");
  bind.real(
      "soft_time", o.soft_time,
      {.minimum = 0, .maximum = 1e6, .unit = "s", .doc = "T of softened rows, Tsounis eq. (105); 0: the model's"});
  bind.real("soft_damping", o.soft_damping,
            {.minimum = 0, .maximum = 1e6, .doc = "their damping ratio ζ; 0: the model's"});
  bind.real("soft_impedance", o.soft_impedance,
            {.minimum = 0, .maximum = 1, .doc = "their d_0, Tsounis eq. (104); 0: the model's"});
  bind.real("soft_max_impedance", o.soft_max_impedance,
            {.minimum = 0, .maximum = 1, .doc = "their d_w; 0: the model's"});
  bind.choice(
      "redundant_rows", o.redundant_rows, {"exact", "drifted"},
      "loops' rows that depend on others: exactly so, with right-hand sides that agree, or as the joints' errors "
      "leave them, Tsounis");
  declare_form(bind, o.form);
}

Result<StepData> discretise(const Mechanics& mechanics, const Vector& velocity, double time_step,
                            const StepOptions& options, const std::string& name, const PrescribedMotion& prescribed) {
  SparseMatrix mass = options.midpoint ? SparseMatrix(2.0 * mechanics.mass) : mechanics.mass;
  const bool viscous = options.damping == "implicit" && mechanics.damping.nonZeros() > 0;
  if (options.damping == "implicit") {
    // M (v⁺ − v) = Δt (τ − D (v⁺ − v)) + Jᵀ λ: the damping acts at the velocity after the step, as in MuJoCo's Euler.
    mass += time_step * mechanics.damping;
  }
  Vector force = mechanics.force;
  if (mechanics.stiffness.rows() > 0) {
    // Elastic forces at the end of the step, τ − Δt K v⁺, or of its first half, τ − ½ Δt K v̂, which are linear in it.
    const double ahead = options.midpoint ? 0.5 * time_step : time_step;
    mass += time_step * ahead * mechanics.stiffness;
    force -= ahead * (mechanics.stiffness * velocity);
  }
  auto factor = FactoredMass::create(mass);
  if (!factor) {
    return Error{ErrorCode::bad_input,
                 name + ": the mass matrix is singular; give every moving body a mass and inertia"};
  }
  const Vector change = factor->solve(Vector(time_step * force));
  StepData step{
      .mass = std::move(mass),
      .factor = std::move(*factor),
      .metric = viscous || options.midpoint || mechanics.stiffness.rows() > 0 ? Metric::effective : Metric::mass,
      .free_velocity = velocity + change,  // Tsounis eq. (12)
      .jacobian = mechanics.jacobian,
      .bias = {},
      .drift = {},
      .compliance = {},
      .softness = {}};
  if (!prescribed.which.empty()) CONEBENCH_CHECK(move_as(prescribed, name, step));
  Vector before = mechanics.jacobian * velocity, free = mechanics.jacobian * step.free_velocity;
  if (mechanics.own) {
    step.bias = -before - mechanics.own->aimed_change;
    step.compliance = mechanics.own->compliance;
    return step;
  }
  if (mechanics.drift.size() > 0) {
    before += mechanics.drift;
    free += mechanics.drift;
  }
  step.bias = bias(mechanics, before, free, time_step, options);
  const bool softened = options.softening != "none";
  if (softened) step.softness = soften(mechanics, before, free, time_step, options, step.bias);
  if (mechanics.drift.size() > 0) step.bias += mechanics.drift;
  if (options.redundant_rows == "exact" && !(softened && options.soft_joints)) {
    if (const auto exact = exact_redundancy(mechanics)) {
      step.jacobian = *exact * mechanics.jacobian;
      step.bias = *exact * step.bias;
    }
  }
  if (!prescribed.which.empty()) take_from_jacobian(prescribed, step);
  return step;
}

Result<ContactProblem> step_problem(const Mechanics& mechanics, const StepData& step, double time_step,
                                    const StepOptions& options, SampleFacts facts) {
  const auto contacts = static_cast<Index>(mechanics.contacts.size());
  Vector gaps(contacts);
  for (Index i = 0; i < contacts; ++i) gaps[i] = mechanics.contacts[static_cast<std::size_t>(i)].gap;
  ContactProblemData data;
  CONEBENCH_TRY(data.cones, cones_of(mechanics, time_step));
  const bool whole = step.drift.size() == 0;
  if (whole) data.primal = PrimalForm{step.mass, step.jacobian, step.free_velocity, step.metric};
  CONEBENCH_TRY(data.delassus, delassus(step.factor, step.jacobian, data.cones,
                                        whole || options.form == "dense" ? options.form : "block_sparse")
                                   .within(facts.provenance.name));
  data.compliance =
      step.compliance.size() > 0 ? step.compliance : compliance(data, mechanics, time_step, step.softness, options);
  data.bias = step.bias;
  // As in MuJoCo, adhesion does not press softened contacts in.
  for (std::size_t i = 0; step.softness.size() > 0 && i < mechanics.contacts.size(); ++i) {
    const ContactPoint& contact = mechanics.contacts[i];
    const Index normal = data.cones.contact_row(Index(i)) + contact.normal();
    if (contact.gap <= 0.0) (*data.bias)[normal] -= data.compliance[normal] * time_step * contact.adhesion;
  }
  data.free_term = step.jacobian * step.free_velocity + *data.bias;  // Tsounis eq. (94)
  if (!whole) data.free_term += step.drift;
  facts.configuration.gaps = std::move(gaps);
  facts.configuration.time_step = time_step;
  data.configuration = std::move(facts.configuration);
  data.guess = std::move(facts.guess);
  data.provenance = std::move(facts.provenance);
  return ContactProblem::create(std::move(data));
}

Vector velocity_after(const StepData& step, const Vector& impulse) {
  if (impulse.size() == 0) return step.free_velocity;
  return step.free_velocity + step.factor.solve(Vector(step.jacobian.transpose() * impulse));
}

double configuration_residual(const Mechanics& mechanics) {
  double worst = 0.0;
  for (const double f : mechanics.joint_residuals) worst = std::max(worst, std::abs(f));
  for (const double gap : mechanics.limit_gaps) worst = std::max(worst, -gap);
  for (const ContactPoint& contact : mechanics.contacts) worst = std::max(worst, -contact.gap);
  return worst;
}

}  // namespace conebench::simulation
