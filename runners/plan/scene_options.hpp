#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/plan/sampled_scene.hpp"

namespace conebench {

/// What may be set of a scene, generated or simulated, where all that is known of it is its name.
struct SceneOptions {
  const SampledScene* simulated = nullptr;  ///< null of a generated one
  std::vector<OptionSpec> specs;            ///< of a simulated one those of its loop and of its sampling, too

  /// Leaves out of `values` what says nothing. Errors (wrong_usage): as check_options.
  Result<void> check(OptionValues& values) const;
};

/// Of scene_table() or of `scenes`. Errors (wrong_usage): an unknown scene; tells the known ones of both kinds.
Result<SceneOptions> scene_options(const std::string& scene, std::span<const SampledScene> scenes);

}  // namespace conebench
