#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "simulation/deformable/frames.hpp"

namespace conebench::simulation {

/// Draws the surfaces of elastic bodies where their nodes are, links and shapes, seen along a slant, and writes 480 x
/// 360 pixels as PNG, replacing what is there. Errors: unsupported where this build has no libpng, bad_input where the
/// file can't be written.
Result<void> draw_soft_picture(const SoftModel& model, const Frames& frames, const Vector& position,
                               const std::filesystem::path& file);

}  // namespace conebench::simulation
