#pragma once

namespace conebench {

/// State of a configuration at a tolerance and start: the answer to "is it slower?" (docs/compare.md) of all commands
/// and pages. The state of its times, its work or a family alone is slower, faster, same, undecided or none.
enum class ChangeState {
  same,  ///< times: within a bound, as far as the noise allows
  slower,
  faster,
  lost,  ///< the candidate lost cells that the baseline solved
  won,
  undecided,  ///< not yet decidable; a change of times of ConfigurationTimes::could_have_seen would have been found
  none        ///< not judged
};
const char* to_string(ChangeState state);

enum class ChangeSource {
  two_stores,    ///< one run against another
  side_by_side,  ///< an A/B run
  nights         ///< a series of runs
};
const char* to_string(ChangeSource source);

struct ChangeFacts {
  long lost = 0, won = 0;
  bool slower = false, faster = false;  ///< by work, time or a family
  bool decided = false;                 ///< false: not slower or faster means undecided
};
/// The worst state wins: a lost cell is not offset by another cell that was won.
ChangeState state_of(const ChangeFacts& facts);

}  // namespace conebench
