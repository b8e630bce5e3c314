#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/plan/sampled_scene.hpp"

namespace conebench {

/// The options of a scene, generated or simulated, by its name.
struct SceneOptions {
  const SampledScene* simulated = nullptr;  ///< null: a generated scene
  std::vector<OptionSpec> specs;            ///< of a simulated scene also those of its loop and its sampling

  /// Removes options without effect from `values`. Errors (wrong_usage): as check_options.
  Result<void> check(OptionValues& values) const;
};

/// Looks the scene up in scene_table() and `scenes`. Errors (wrong_usage): an unknown scene; lists the known ones of
/// both kinds.
Result<SceneOptions> scene_options(const std::string& scene, std::span<const SampledScene> scenes);

}  // namespace conebench
