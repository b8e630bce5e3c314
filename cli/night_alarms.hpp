#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/run_ab.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/history/history.hpp"
#include "store/alarms.hpp"
#include "store/store.hpp"

namespace conebench::cli {

/// The configurations that a comparison of two nights finds slower, except those whose alarm was accepted.
struct SlowerConfigurations {
  /// Slower only by the whole configuration's time, so that an A/B run can withdraw the alarm. As many as `alarms`.
  std::vector<Suspect> suspects;
  std::vector<Alarm> alarms;
  /// "NSGS at 1e-06": slower by a family, which A/B runs do not judge, or by its work, which needs no times.
  std::vector<std::string> certain;
};
/// `night`: fields that all its alarms share.
SlowerConfigurations slower_configurations(const reports::Comparison& comparison, const Alarm& night);

/// Whether the nights after an alarm of time show that its configuration became faster by more than half of its effect.
bool is_over(const reports::History& history, const Alarm& alarm);

/// The alarm without the part that an alarm of this effect on the whole configuration's time explains: families with up
/// to twice the effect.
Alarm without_time(Alarm alarm, double effect);

/// Copies acceptances that still hold to the new store, so that no older night is needed.
Result<void> copy_acceptances(const std::filesystem::path& from, Store& to);

}  // namespace conebench::cli
