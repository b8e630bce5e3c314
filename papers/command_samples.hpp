#pragma once

#include <string>

#include "base/result.hpp"
#include "papers/command_source.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

/// What the command printed with --json as one sample of the family `source.name`: run.NAME are its numbers and truths
/// (run.forward.agrees of an object within, run.impulse.2 of a list), scene.NAME the scene's options that are numbers,
/// scene.seed the seed, option.NAME the command's flags (option.max_iterations of --max-iterations). Errors
/// (bad_input): no JSON object.
Result<Sample> sample_of(const CommandSource& source, const std::string& json);

}  // namespace conebench::papers
