#pragma once

#include "base/result.hpp"
#include "cli/generate.hpp"

namespace conebench::cli {

/// Simulates every model below the folder `arguments.all`, each in a process of its own, and prints what became of it.
/// Models are URDF files, and XML files whose root <mujoco> has a <worldbody>, in itself or in what it includes. One
/// that others include and that can't stand alone is no model. Errors: wrong_usage; bad_input: no folder, or no model
/// in it; unsupported: the build has no MuJoCo.
Result<int> generate_all(const GenerateArguments& arguments);

}  // namespace conebench::cli
