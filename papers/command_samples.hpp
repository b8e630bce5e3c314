#pragma once

#include <string>

#include "base/result.hpp"
#include "papers/command_source.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

/// Makes one sample of the family `source.name` from a command's --json output: run.NAME are its numbers and truths
/// (run.forward.agrees in a nested object, run.impulse.2 in a list), scene.NAME the scene's options that are numbers,
/// scene.seed the seed, option.NAME the command's flags (option.max_iterations of --max-iterations). Errors
/// (bad_input): no JSON object.
Result<Sample> sample_of(const CommandSource& source, const std::string& json);

}  // namespace conebench::papers
