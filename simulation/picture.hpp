#pragma once

#include <mujoco/mujoco.h>

#include <filesystem>

#include "base/result.hpp"

namespace conebench::simulation {

/// Draws the bodies where the data has them and writes 480 x 360 pixels as PNG, replacing what is there, with MuJoCo's
/// renderer on Mesa's OSMesa: no screen, no graphics card. It happens in a process of its own, so that nothing of Mesa
/// (threads, memory, its failures) stays in this one.
///
/// Errors: unsupported where this machine has no OSMesa or this build no libpng, bad_input where the file can't be
/// written.
Result<void> draw_picture(const mjModel& model, const mjData& data, const std::filesystem::path& file);

}  // namespace conebench::simulation
