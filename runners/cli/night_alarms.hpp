#pragma once

#include <string>
#include <vector>

#include "reports/comparison/comparison.hpp"
#include "runners/cli/run_beside.hpp"
#include "runners/store/alarms.hpp"

namespace conebench::cli {

/// The settings that a comparison of two nights calls slower.
struct SlowerSettings {
  /// Slower by the whole setting's time alone: what a run side by side can withdraw. Of one length.
  std::vector<Suspect> suspects;
  std::vector<Alarm> alarms;
  /// "NSGS at 1e-06": slower by a family or by its work, which are not judged side by side or need no times.
  std::vector<std::string> certain;
};
SlowerSettings slower_settings(const reports::Comparison& comparison);

}  // namespace conebench::cli
