#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace conebench::cli {

/// One topic of `list` in its three forms; docs/options.md, docs/scenes.md and docs/metrics.md are the Markdown.
struct Listing {
  std::string topic;
  std::string text;
  std::string markdown;
  nlohmann::json (*json)();  ///< {"solvers": […]}
};

Listing list_solvers();
Listing list_scenes();
Listing list_metrics();
Listing list_suites();
Listing list_tables();

}  // namespace conebench::cli
