#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/run_beside.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/history/history.hpp"
#include "store/alarms.hpp"
#include "store/store.hpp"

namespace conebench::cli {

/// The settings that a comparison of two nights calls slower, and that nobody accepted as such.
struct SlowerSettings {
  /// Slower by the whole setting's time alone: what a run side by side can withdraw. Of one length.
  std::vector<Suspect> suspects;
  std::vector<Alarm> alarms;
  /// "NSGS at 1e-06": slower by a family or by its work, which are not judged side by side or need no times.
  std::vector<std::string> certain;
};
/// `night`: what its alarms have in common.
SlowerSettings slower_settings(const reports::Comparison& comparison, const Alarm& night);

/// Whether the nights after an alarm of time show that its setting became faster by more than half of it.
bool is_over(const reports::History& history, const Alarm& alarm);

/// Without what the whole setting's time says, by an alarm of this effect: families up to twice that are part of it.
Alarm without_time(Alarm alarm, double effect);

/// What was accepted and is not gone goes from night to night, so that no old one is needed for it.
Result<void> copy_acceptances(const std::filesystem::path& from, Store& to);

}  // namespace conebench::cli
