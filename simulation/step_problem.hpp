#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/mass_solve.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// How a time step becomes a problem: stabilisation, restitution, compliance.
struct StepOptions {
  double baumgarte_joints = 0.2;
  double baumgarte_limits = 0.2;
  double baumgarte_contacts = 0.2;
  double penetration_margin = 0.0;
  double max_depenetration = 1e12;
  std::string impact_rule = "closing";
  std::string damping = "implicit";
  double compliance = 0.0;
  double tangential_compliance = 0.0;
  double joint_compliance = 0.0;
  double regularisation = 0.0;
  std::string softening = "none";
  bool soft_joints = true;
  double soft_time = 0.0;
  double soft_damping = 0.0;
  double soft_impedance = 0.0;
  double soft_max_impedance = 0.0;
  std::string redundant_rows = "exact";
  std::string form = "block_sparse";
  bool midpoint = false;  ///< of SimulationOptions::integrator

  static void declare(OptionBinder& bind, StepOptions& o);
};

/// Velocities that are prescribed for the step (Yamane's high-gain control): v_i = velocity[k] for i = which[k] [m/s,
/// rad/s].
struct PrescribedMotion {
  std::vector<Index> which;
  Vector velocity;
};

/// The quantities of one step that its problem is made of.
struct StepData {
  SparseMatrix mass;  ///< of the step: M, or A = M + Δt D + Δt² K, or 2 M + Δt D + ½ Δt² K with the midpoint rule
  FactoredMass factor;  ///< of this mass
  Metric metric = Metric::unknown;
  Vector free_velocity;   ///< after the step; with the midpoint rule that in its middle
  SparseMatrix jacobian;  ///< J, redundant rows of loops made exactly so unless they are kept
  Vector bias;            ///< b
  Vector drift;           ///< J's part of prescribed velocities, not in `jacobian`, rows [m/s]; empty without any
  Vector compliance;      ///< R of the engine's own rows; empty: by options and softness
  Vector softness;        ///< share of diag(G) that is compliance, by row (Tsounis's c); empty without softening
};

/// M, v_free and b of the step from `velocity`. With the midpoint rule (paper Lee23 (4) to (9), times Δt) all
/// velocities are v̂ = (v + v⁺)/2, and a closed contact that stops there leaves with −v_N: restitution is not asked for.
/// Of prescribed velocities no impulse changes anything: their columns of J are zero, M has the block of the others.
/// Errors (bad_input): M singular.
Result<StepData> discretise(const Mechanics& mechanics, const Vector& velocity, double time_step,
                            const StepOptions& options, const std::string& name,
                            const PrescribedMotion& prescribed = {});

/// Facts of a step in addition to its mechanics.
struct SampleFacts {
  Configuration configuration;  ///< gaps and Δt are filled in
  std::optional<Vector> guess;
  Provenance provenance;
};

/// The step's problem in primal form: G = J M⁻¹ Jᵀ, g = J v_free + b; with prescribed velocities by G and g alone.
Result<ContactProblem> step_problem(const Mechanics& mechanics, const StepData& step, double time_step,
                                    const StepOptions& options, SampleFacts facts);

/// v⁺ = v_free + M⁻¹ Jᵀ λ (Tsounis eq. 76).
Vector velocity_after(const StepData& step, const Vector& impulse);

/// ‖f(s)‖∞ of Tsounis eq. (173): the worst violation of a joint, a limit or a contact [m, rad].
double configuration_residual(const Mechanics& mechanics);

}  // namespace conebench::simulation
