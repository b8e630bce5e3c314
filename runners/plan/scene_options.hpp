#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// What may be set of a scene, generated or simulated, where all that is known of it is its name.
struct SceneOptions {
  bool simulated = false;
  std::vector<OptionSpec> specs;  ///< of a simulated one those of its loop and of its sampling, too

  /// Leaves out of `values` what says nothing. Errors (wrong_usage): as check_options.
  Result<std::monostate> check(OptionValues& values) const;
};

/// Errors (wrong_usage): an unknown scene; tells the known ones of both kinds.
Result<SceneOptions> scene_options(const std::string& scene);

}  // namespace conebench
