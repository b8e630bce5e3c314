#pragma once

#include <span>

#include "runners/plan/sampled_scene.hpp"

namespace conebench::simulation {

/// simulated_scene_table() as runners take it.
std::span<const SampledScene> sampled_scenes();

}  // namespace conebench::simulation
