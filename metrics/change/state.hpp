#pragma once

namespace conebench {

/// The one answer to "is it slower?", of a setting at a tolerance and start: docs/compare.md. All commands and pages
/// show it. Of its times, its work or a family alone it is slower, faster, same, undecided or none.
enum class ChangeState {
  same,  ///< of times: within a bound that the noise allows to tell
  slower,
  faster,
  lost,  ///< cells that the base solved
  won,
  undecided,  ///< not yet decidable; of times SettingTimes::could_have_seen says what would have been seen
  none        ///< not judged
};
const char* to_string(ChangeState state);

enum class ChangeSource {
  two_stores,    ///< one run against another
  side_by_side,  ///< two builds in turn
  nights         ///< a series of runs
};
const char* to_string(ChangeSource source);

struct ChangeFacts {
  long lost = 0, won = 0;
  bool slower = false, faster = false;  ///< by work, time or a family
  bool decided = false;                 ///< else what is not slower or faster may be either
};
/// The worst first: what was lost is not won back by another cell.
ChangeState state_of(const ChangeFacts& facts);

}  // namespace conebench
