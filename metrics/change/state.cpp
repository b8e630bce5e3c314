#include "metrics/change/state.hpp"

namespace conebench {

const char* to_string(ChangeState state) {
  switch (state) {
    case ChangeState::same: return "same";
    case ChangeState::slower: return "slower";
    case ChangeState::faster: return "faster";
    case ChangeState::lost: return "lost";
    case ChangeState::won: return "won";
    case ChangeState::undecided: return "undecided";
    case ChangeState::none: break;
  }
  return "none";
}

const char* to_string(ChangeSource source) {
  switch (source) {
    case ChangeSource::two_stores: return "two-stores";
    case ChangeSource::side_by_side: return "side-by-side";
    case ChangeSource::nights: break;
  }
  return "nights";
}

ChangeState state_of(const ChangeFacts& facts) {
  if (facts.lost > 0) return ChangeState::lost;
  if (facts.slower) return ChangeState::slower;
  if (!facts.decided) return ChangeState::undecided;
  if (facts.won > 0) return ChangeState::won;
  return facts.faster ? ChangeState::faster : ChangeState::same;
}

}  // namespace conebench
