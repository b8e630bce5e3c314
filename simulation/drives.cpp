#include "simulation/drives.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

struct Range {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();

  void narrow(const mjtNum* range, double scale) {
    const auto [low, high] = std::minmax({range[0] * scale, range[1] * scale});
    lower = std::max(lower, low);
    upper = std::min(upper, high);
  }
};

/// The joint or tendon whose actuators have a range for the sum of their forces; nullopt: there is none.
std::optional<std::pair<int, int>> shared_range(const mjModel& m, int actuator) {
  const int type = m.actuator_trntype[actuator], object = m.actuator_trnid[2 * actuator];
  const bool of_joint = type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
  if (of_joint && m.jnt_actfrclimited[object] != 0) return std::pair(int{mjTRN_JOINT}, object);
  if (type == mjTRN_TENDON && m.tendon_actfrclimited[object] != 0) return std::pair(type, object);
  return std::nullopt;
}

/// Whether the range bounds the forces of others, too: of actuators, or of gravity compensation.
bool is_shared(const mjModel& m, int actuator) {
  const auto range = shared_range(m, actuator);
  if (!range) return false;
  if (range->first == mjTRN_JOINT && m.jnt_actgravcomp[range->second] != 0) return true;
  for (int other = 0; other < actuators(m); ++other) {
    if (other != actuator && shared_range(m, other) == range) return true;
  }
  return false;
}

Range force_range(const mjModel& m, int actuator) {
  Range range;
  if (m.actuator_forcelimited[actuator] != 0) range.narrow(m.actuator_forcerange + 2 * actuator, 1.0);
  const double gear = m.actuator_gear[6 * first_force(m, actuator)];
  const auto shared = shared_range(m, actuator);
  if (!shared || gear == 0.0) return range;
  const mjtNum* const own = shared->first == mjTRN_JOINT ? m.jnt_actfrcrange : m.tendon_actfrcrange;
  range.narrow(own + 2 * shared->second, 1.0 / gear);
  return range;
}

bool is_disabled(const mjModel& m, int actuator) {
  constexpr int groups = 31;
  const int group = m.actuator_group[actuator];
  return group >= 0 && group < groups && ((m.opt.disableactuator >> group) & 1) != 0;
}

}  // namespace

std::vector<Drive> take_drives(mjModel& m) {
  std::vector<Drive> drives;
  if ((m.opt.disableflags & mjDSBL_ACTUATION) != 0) return drives;
  for (int a = 0; a < actuators(m); ++a) {
    mjtNum* const gain = m.actuator_gainprm + mjNGAIN * a;
    mjtNum* const bias = m.actuator_biasprm + mjNBIAS * a;
    const bool affine = m.actuator_dyntype[a] == mjDYN_NONE && m.actuator_gaintype[a] == mjGAIN_FIXED &&
                        m.actuator_biastype[a] == mjBIAS_AFFINE && m.actuator_trntype[a] != mjTRN_BODY;
    if (!affine || bias[1] > 0.0 || bias[2] > 0.0 || (bias[1] == 0.0 && bias[2] == 0.0)) continue;
    if (is_disabled(m, a) || is_shared(m, a)) continue;
    const Range range = force_range(m, a);
    drives.push_back({a, gain[0], bias[0], -bias[1], -bias[2], range.lower, range.upper});
    gain[0] = bias[0] = bias[1] = bias[2] = 0.0;
  }
  return drives;
}

BoundedRow row_of(const Drive& drive, const mjModel& model, const mjData& data) {
  const int number = first_control(model, drive.actuator);
  double control = data.ctrl[number];
  if (model.actuator_ctrllimited[number] != 0 && (model.opt.disableflags & mjDSBL_CLAMPCTRL) == 0) {
    const mjtNum* const range = model.actuator_ctrlrange + 2 * number;
    control = std::clamp(control, range[0], range[1]);
  }
  return {.name = drive.actuator,
          .lower = drive.lower,
          .upper = drive.upper,
          .force = drive.gain * control + drive.bias -
                   drive.stiffness * data.actuator_length[first_force(model, drive.actuator)],
          .stiffness = drive.stiffness,
          .damping = drive.damping,
          .softness = {}};
}

bool integrates_implicitly(const mjModel& model) {
#if mjVERSION_HEADER >= 3011000
  const auto damped = [](mjtNum value) { return value != 0.0; };
  if (std::any_of(model.actuator_damping, model.actuator_damping + model.nactuator, damped)) return true;
#endif
  return model.opt.integrator != mjINT_EULER && model.opt.integrator != mjINT_RK4;
}

SparseMatrix viscous_damping(mjModel& m, mjData& d) {
  // MuJoCo makes the derivative for a step of its integrator, which is taken back.
  constexpr int whole = mjSTATE_FULLPHYSICS;
  std::vector<mjtNum> state(static_cast<std::size_t>(mj_stateSize(&m, whole)));
  mj_getState(&m, &d, state.data(), whole);
  const int integrator = std::exchange(m.opt.integrator, mjINT_IMPLICITFAST);
  mj_factorM(&m, &d);
  mj_implicit(&m, &d);
  m.opt.integrator = integrator;
  mj_setState(&m, &d, state.data(), whole);
  Triplets entries;
  for (int i = 0; i < m.nv; ++i) {
    for (int k = m.D_rowadr[i]; k < m.D_rowadr[i] + m.D_rownnz[i]; ++k) {
      if (d.qDeriv[k] == 0.0) continue;
      entries.emplace_back(i, m.D_colind[k], -0.5 * d.qDeriv[k]);
      entries.emplace_back(m.D_colind[k], i, -0.5 * d.qDeriv[k]);
    }
  }
  SparseMatrix damping(m.nv, m.nv);
  damping.setFromTriplets(entries.begin(), entries.end());
  return damping;
}

}  // namespace conebench::simulation
