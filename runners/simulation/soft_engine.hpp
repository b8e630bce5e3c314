#pragma once

#include "runners/simulation/engine.hpp"

namespace conebench::simulation {

/// The engine of elastic bodies: co-rotational tetrahedra (corotated_body.hpp) whose nodes touch the ground. q and v
/// are the nodes' positions and velocities, three each, so that every contact is a node's. Errors (bad_input): sizes
/// that don't match, a tetrahedron without volume.
Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name);

/// Hash of all that the model says.
std::string soft_model_hash(const SoftModel& model);

}  // namespace conebench::simulation
