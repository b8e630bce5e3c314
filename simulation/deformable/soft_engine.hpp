#pragma once

#include "simulation/engine.hpp"

namespace conebench::simulation {

/// The engine of elastic bodies (docs/deformable.md): co-rotational tetrahedra (corotated_body.hpp), rigid bodies and
/// guides (frames.hpp) with springs between them (spring_joint.hpp); nodes and points touch shapes
/// (surface_contacts.hpp), with options.self_contact capsules each other. Of the options only that and the threads
/// count. q and v have the nodes first, three each, then the rigid bodies. Errors (bad_input): sizes
/// that don't match, a tetrahedron without volume, a node in none, a slide or a joint on what can't carry it.
Result<std::unique_ptr<Engine>> make_soft_engine(const SoftModel& model, const std::string& name,
                                                 const EngineOptions& options = {});

/// Hash of the whole model.
std::string soft_model_hash(const SoftModel& model);

}  // namespace conebench::simulation
