#pragma once

#include <cstddef>

#include "metrics/comparison.hpp"

namespace conebench {

/// The one answer to "is it slower?", of a setting at a tolerance and start: docs/compare.md. All commands and pages
/// show it.
enum class ChangeState {
  same,
  slower,
  faster,
  lost,  ///< cells that the base solved
  won,
  undecided  ///< not yet decidable
};
const char* to_string(ChangeState state);

enum class ChangeSource {
  two_stores,    ///< one run against another
  side_by_side,  ///< two builds in turn
  nights         ///< a series of runs
};
const char* to_string(ChangeSource source);

/// What a state rests on, where times were compared. Log ratios, new over base.
struct ChangeEvidence {
  ChangeSource source = ChangeSource::two_stores;
  double estimate = 0.0;
  double low = 0.0, high = 0.0;  ///< two deviations to each side
  std::size_t cells = 0;
  double could_have_seen = 0.0;
};
ChangeEvidence evidence_of(const SettingTimes& times, ChangeSource source);

struct ChangeFacts {
  long lost = 0, won = 0;
  bool slower = false, faster = false;  ///< by work, time or a family
  bool decided = false;                 ///< else what is not slower or faster may be either
};
/// The worst first: what was lost is not won back by another cell.
ChangeState state_of(const ChangeFacts& facts);

/// Whether times rule out a change of this size that was seen before: theirs and two deviations are below half of it.
bool rules_out(const SettingTimes& times, double effect);

}  // namespace conebench
