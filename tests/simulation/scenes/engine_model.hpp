#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {

struct DeleteModel {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DeleteData {
  void operator()(mjData* data) const { mj_deleteData(data); }
};

/// A scene in MuJoCo, at its keyframe where it has one, with positions and contacts computed; errors and warnings of
/// the compiler in `message`, `model` null where there is none.
struct EngineModel {
  std::unique_ptr<mjModel, DeleteModel> model;
  std::unique_ptr<mjData, DeleteData> data;
  std::string message;
};

EngineModel compile(const SimulatedModel& scene);

/// The scene with these values; fails the test where it can't be made.
EngineModel compile_scene(const std::string& id, const OptionValues& values = {}, std::uint64_t seed = 1);

/// What Tsounis's Table II lists of a system, counted in a compiled model in maximal coordinates: every joint towards a
/// parent has 6 rows less its degrees of freedom (a body without a joint is fixed), points that two bodies share make a
/// ball (3 rows), two of them a hinge (5).
struct Counts {
  int bodies = 0;
  int joints = 0;
  int base_joints = 0;  ///< of these, fixed ones to the world
  int rows = 0;
  int joint_drives = 0;  ///< actuators of joints; not external forces
  double mass_ratio = 0.0;
  int coordinates = 0;  ///< degrees of freedom of all joints, six for a free base
  int mobility = 0;     ///< velocities less the rank of the loops' rows, at the start
};

Counts count(EngineModel& engine);

/// Singular values above 1e-9 of the largest.
int rank(const Matrix& rows);

}  // namespace conebench
