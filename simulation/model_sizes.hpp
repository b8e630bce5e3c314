#pragma once

#include <map>
#include <string>

#include "simulation/simulation.hpp"

namespace conebench::simulation {

/// What Tsounis's Table II lists of a system, at the simulation's last state that was evaluated; all but the mobility
/// are the same in every state and in both coordinates (its rank is that of closed loops where these have not drifted):
/// bodies; joints (of the tree, fixed ones to the world included, and those that close loops); loops; coordinates
/// (degrees of freedom of all joints, six for a free base); joint_rows (in maximal coordinates); joint_drives
/// (actuators of joints); mass_ratio; mobility (velocities less the rank of the bilateral rows; absent where these are
/// over 500).
std::map<std::string, double> model_sizes(Simulation& simulation);

}  // namespace conebench::simulation
