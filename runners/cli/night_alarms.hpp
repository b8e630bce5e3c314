#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "reports/comparison/comparison.hpp"
#include "runners/cli/run_beside.hpp"

namespace conebench::cli {

/// The settings that a comparison of two nights calls slower.
struct SlowerSettings {
  struct Place {
    std::size_t slice = 0, row = 0;  ///< Comparison::slices[slice].settings[row]
  };
  /// Slower by the whole setting's time alone: what a run side by side can withdraw. Of one length.
  std::vector<Suspect> suspects;
  std::vector<Place> places;
  /// "NSGS at 1e-06": slower by a family or by its work, which are not judged side by side or need no times.
  std::vector<std::string> certain;
};
SlowerSettings slower_settings(const reports::Comparison& comparison);

/// Takes the alarm "slower" off a setting, in all that the comparison's formats show and what it fails on.
void withdraw_slower(reports::Comparison& comparison, SlowerSettings::Place place,
                     const std::set<std::string>& fail_on);

}  // namespace conebench::cli
