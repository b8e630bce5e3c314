#pragma once

#include <mujoco/mujoco.h>

#include <vector>

#include "problems/types.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// An actuator without dynamics whose force is k_p (u − c) − k_d ċ, c its length.
struct Drive {
  int actuator = 0;
  double gain = 0.0;                ///< of the control u [N, N m a unit]
  double bias = 0.0;                ///< [N, N m]
  double stiffness = 0.0;           ///< k_p [N/m, N m/rad]
  double damping = 0.0;             ///< k_d [N s/m, N m s/rad]
  double lower = 0.0, upper = 0.0;  ///< of its force; ±∞ where it has no range
};

/// Takes the drives out of the model, whose forces are from then on without them. One whose joint or tendon has a range
/// for the forces of several stays in.
std::vector<Drive> take_drives(mjModel& model);

/// The row of a drive at the data's lengths and controls.
BoundedRow row_of(const Drive& drive, const mjModel& model, const mjData& data);

/// Whether all viscous forces are taken at the velocity after the step: with the model's implicit integrators, and
/// where actuators damp by themselves, which MuJoCo's Euler takes so, too.
bool integrates_implicitly(const mjModel& model);

/// −∂τ/∂v, symmetric part, of all forces but those from rotations, n_v × n_v: what MuJoCo's implicitfast integrator
/// has. Needs the forces of the state in `data`, whose state stays as it is.
SparseMatrix viscous_damping(mjModel& model, mjData& data);

}  // namespace conebench::simulation
