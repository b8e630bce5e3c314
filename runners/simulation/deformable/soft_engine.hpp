#pragma once

#include "runners/simulation/engine.hpp"

namespace conebench::simulation {

/// The engine of elastic bodies (docs/deformable.md): co-rotational tetrahedra (corotated_body.hpp), rigid bodies and
/// guides (frames.hpp) with springs between them (spring_joint.hpp); nodes and points touch shapes
/// (shape_distance.hpp). q and v have the nodes first, three each, then the rigid bodies. Errors (bad_input): sizes
/// that don't match, a tetrahedron without volume, a node in none, a slide or a joint on what can't carry it.
Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name, int threads = 1);

/// Hash of all that the model says.
std::string soft_model_hash(const SoftModel& model);

}  // namespace conebench::simulation
