#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulation/mujoco_handle.hpp"
#include "simulation/scenes/urdf.hpp"

namespace conebench::simulation {

/// What compiling found of a robot.
struct UrdfFindings {
  std::vector<ApartBodies> overlapping;  ///< at the start; left out unless self_collision
  std::vector<double> masses;            ///< of UrdfRobot::massless, from their shapes [kg]
  std::vector<std::string> moved;        ///< joints that do not start at 0, which their limits or mimic joints exclude
};

/// The compiled model, with the mimic joints as equalities, contacts left out and, if wanted, a plane just under the
/// lowest point. It starts at keyframe 0, if there is one. Errors (bad_input): MuJoCo's, or those of a mesh; without
/// the file's name. Throws EngineFailure as MuJoCo does; call it in guarded().
Result<ModelHandle> compile_urdf(const UrdfRobot& robot, bool ground, UrdfFindings& found);

/// Mimic joints without the other joint, and limits with lower > upper.
std::vector<LeftOut> left_out_of(const UrdfRobot& robot);

/// One line a kind of change to the robot.
std::vector<std::string> urdf_notes(const UrdfRobot& robot, const UrdfFindings& found);

}  // namespace conebench::simulation
